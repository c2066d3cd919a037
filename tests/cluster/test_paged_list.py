"""A list of the API is read page by page, and read anew where its token is too old."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from archfit.cluster.cluster_error import ClusterError
from archfit.cluster.live_objects import CRON_JOBS, PODS, anew_once, list_objects, live_objects


class Pages:
    """An API whose lists have pages of two objects. broken: answers by the number of the call."""

    def __init__(self, objects: int, broken: dict[int, Any] | None = None) -> None:
        self.objects = [{"metadata": {"name": f"n{number}"}} for number in range(objects)]
        self.broken = broken or {}
        self.asked: list[str] = []

    def get(self, path: str) -> Any:
        self.asked.append(path)
        answer = self.broken.get(len(self.asked))
        if isinstance(answer, Exception):
            raise answer
        if answer is not None:
            return answer
        query = parse_qs(urlsplit(path).query)
        start = int(query.get("continue", ["0"])[0])
        end = start + 2
        token = {"continue": str(end)} if end < len(self.objects) else {}
        return {"metadata": token, "items": self.objects[start:end]}

    def context(self) -> str:
        return ""

    def apply(self, objects: Any) -> list[str]:
        raise NotImplementedError

    def close(self) -> None:
        pass


def names(pages: Pages) -> list[str]:
    return [one["metadata"]["name"] for one in list_objects(pages, "/api/v1/pods", 2)]


@pytest.mark.parametrize("objects", [0, 1, 2, 3, 5], ids=str)
def test_every_object_comes_once(objects):
    pages = Pages(objects)
    assert names(pages) == [f"n{number}" for number in range(objects)]
    assert len(pages.asked) == max(1, (objects + 1) // 2)
    assert pages.asked[0] == "/api/v1/pods?limit=2"


def test_an_old_token_begins_anew_once_and_drops_what_was_read():
    pages = Pages(5, {2: ClusterError("too old", "expired")})
    assert anew_once(lambda: names(pages)) == ["n0", "n1", "n2", "n3", "n4"]
    twice = Pages(5, {2: ClusterError("too old", "expired"), 4: ClusterError("too old", "expired")})
    with pytest.raises(ClusterError, match="too old; the cluster changes faster than it is read: try again"):
        anew_once(lambda: names(twice))


def test_another_error_begins_nothing_anew():
    pages = Pages(5, {2: ClusterError("no", "forbidden")})
    with pytest.raises(ClusterError, match="no"):
        anew_once(lambda: names(pages))
    assert len(pages.asked) == 2


@pytest.mark.parametrize(
    ("answers", "calls"),
    [
        pytest.param(["a"] * 9, 2, id="the same token each time"),
        pytest.param(["a", "b", "a", "b"], 3, id="two tokens in turn"),
    ],
)
def test_an_api_that_repeats_its_token_is_an_error(answers, calls):
    pages = Pages(1, {n: {"metadata": {"continue": one}, "items": []} for n, one in enumerate(answers, 1)})
    with pytest.raises(ClusterError, match="/api/v1/pods gives the same page again and again"):
        names(pages)
    assert len(pages.asked) == calls


@pytest.mark.parametrize("answer", [[], "x", {"items": "x"}, {"items": {}}], ids=repr)
def test_what_is_no_list_is_refused(answer):
    with pytest.raises(ClusterError, match="is no list of objects"):
        names(Pages(1, {1: answer}))


def test_items_without_a_list_are_an_empty_list():
    assert names(Pages(1, {1: {"items": None, "metadata": {}}})) == []


def test_items_get_the_kind_that_a_list_leaves_out():
    (pod,) = live_objects(Pages(1), [PODS])
    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
    assert (PODS.path(), CRON_JOBS.path()) == ("/api/v1/pods", "/apis/batch/v1/cronjobs")
