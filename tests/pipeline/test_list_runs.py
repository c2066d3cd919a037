"""A large list that is settled some items at a time has the outcome of one that is transformed as a whole.

`_SMALL` and `_RUN` are set so low that these short lists count as large ones.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from archfit import document_runs, pipeline
from archfit.options.settings import Options
from archfit.source import scan
from archfit.workloads import documents
from fuzz import texts
from fuzz.objects import objects
from fuzz.streams import OPTIONS
from fuzz.writing import as_json, written
from json_layouts import LAYOUTS
from kubectl_output import to_yaml
from stream_runs import Asked, as_a_whole, in_runs, readable, settled_alike

EVERY_ITEM, SOME = 1, 700
RUNS = pytest.mark.parametrize("size", [EVERY_ITEM, SOME], ids=["every-item", "some"])


@pytest.fixture(autouse=True)
def every_list_counts_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "_SMALL", -1)
    monkeypatch.setattr(scan, "_LARGE", -1)


OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "controller": True}


def drawn_list(chance: random.Random) -> str:
    """A list in YAML or JSON, alone or among documents; sometimes damaged."""
    items: list[Any] = [one for _ in range(chance.randint(2, 6)) for one in objects(chance)]
    for item in items:
        if chance.random() < 0.1 and isinstance(item.get("metadata"), dict):
            item["metadata"]["ownerReferences"] = [OWNER]
    if chance.random() < 0.1:
        items.insert(chance.randrange(len(items)), {"apiVersion": "v1", "kind": "List", "items": items[:2]})
    value: Any = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    draw = chance.random()
    if draw < 0.4:
        text = chance.choice(list(LAYOUTS.values()))(plain(value))
    elif draw < 0.8:
        text = to_yaml(map(plain, items)).decode()
    else:
        text = written(value, chance)
    if chance.random() < 0.3:
        text = texts.changed(text, chance)
    if chance.random() < 0.3:
        text = (
            f"{written(objects(chance)[0], chance)}\n---\n{text}\n---\n{written(objects(chance)[0], chance)}"
        )
    return text


def plain(tree: Any) -> Any:
    """A tree of the fuzzer's as values, without what is YAML only."""
    return json.loads(as_json(tree, random.Random(0)))


@pytest.mark.parametrize("share", [0, 0.5, 1], ids=["none-known", "some-known", "all-known"])
@RUNS
def test_drawn_lists_have_the_same_outcome(size: int, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "_RUN", size)
    chance, settled = random.Random(41), 0
    for text in readable([drawn_list(chance).encode(errors="replace") for _ in range(60)]):
        options = OPTIONS[chance.choice(["default", "prefer", "always", "full"])]
        settled += settled_alike(text, options, share)
    assert settled >= 15


def item(name: str, image: str = "amd:1", kind: str = "Pod", more: str = "") -> str:
    return (
        f"- apiVersion: v1\n  kind: {kind}\n  metadata:\n    name: {name}\n{more}"
        f"  spec:\n    containers:\n    - image: {image}\n      name: a\n"
    )


def listed(*items: str) -> bytes:
    return f"apiVersion: v1\nitems:\n{''.join(items)}kind: List\n".encode()


def listed_as_json(*items: dict[str, Any], kind: str = "List") -> bytes:
    return LAYOUTS["kubectl"]({"apiVersion": "v1", "items": items, "kind": kind}).encode()


PODS = [item(f"pod-{number}", image) for number, image in enumerate(("amd:1", "both:1", "amd:2", "arm:1"))]
# A line of the text begins as an item does.
CUT = item("cut").replace("name: cut", 'name: "cut\n- a"')
BROKEN = item("broken").replace("containers:", "containers: [")
OWNED = item("owned", more="    ownerReferences:\n    - {kind: Web, name: a, controller: true}\n")
SKIPPED = item("misplaced", more='    archfit.dev/skip: "true"\n')
NESTED = "- apiVersion: v1\n  kind: List\n  items:\n" + "".join(
    f"  {line}\n" for pod in PODS for line in pod.splitlines()
)
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a"},
    "spec": {"containers": [{"image": "amd:1"}]},
}
TYPED = [{"metadata": {"name": f"typed-{number}"}, "spec": POD["spec"]} for number in range(3)]
POOL = {
    "apiVersion": "kafka.strimzi.io/v1",
    "kind": "KafkaNodePool",
    "metadata": {"name": "a", "labels": {"strimzi.io/cluster": "k"}},
    "spec": {"template": {"pod": {}}},
}
LISTS = {
    "usual": (listed(*PODS, OWNED, *PODS, OWNED.replace("owned", "other")), True),
    "misplaced": (listed(*PODS, SKIPPED, SKIPPED, *PODS), True),
    "nested": (listed(*PODS, NESTED, *PODS), True),
    "cut-first": (listed(CUT, *PODS), False),
    "cut-first-before-documents": (b"---\n".join((listed(CUT, *PODS), listed(*PODS))), False),
    "cut-last": (listed(*PODS, CUT), False),
    "cut-among-documents": (b"---\n".join((listed(*PODS), listed(*PODS, CUT), listed(*PODS))), False),
    "broken-first": (listed(BROKEN, *PODS), False),
    "broken-last": (listed(*PODS, BROKEN), False),
    "cut-then-broken": (listed(*PODS, CUT, BROKEN), False),
    "json": (
        listed_as_json(POD, {**POD, "metadata": {"name": "b", "ownerReferences": [OWNER]}}, POD, POD),
        True,
    ),
    "json-misplaced": (listed_as_json(*[{**POD, "archfit.dev/skip": "true"}] * 3), True),
    "json-typed": (listed_as_json(*TYPED, kind="PodList"), True),
    "json-not-alone": (listed_as_json(POD, POD, POOL, POD), False),
    "json-and-documents": (
        b"---\n".join((listed_as_json(POD, POD), listed(*PODS), listed_as_json(POD))),
        True,
    ),
}


@pytest.mark.parametrize("share", [0, 0.5, 1], ids=["none-known", "some-known", "all-known"])
@pytest.mark.parametrize("name", LISTS)
@RUNS
def test_each_list_has_the_same_outcome(
    size: int, name: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_RUN", size)
    text, _ = LISTS[name]
    for options in (Options(), OPTIONS["prefer"], OPTIONS["full"].replace(affinity="always")):
        expected = as_a_whole(text, options, Asked(share))
        assert in_runs(text, options, Asked(share))[0] == expected


@pytest.mark.parametrize("name", LISTS)
def test_only_a_list_that_turns_out_to_be_one_document_is_transformed_as_a_whole(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_RUN", EVERY_ITEM)
    text, lean = LISTS[name]
    assert in_runs(text, Options(), Asked(1))[1] == lean


def test_a_list_shorter_than_a_run_is_one_document_without_the_rest_of_the_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = listed(*PODS, CUT)
    monkeypatch.setattr(pipeline, "_RUN", len(short))
    text = b"---\n".join((listed(*PODS), short, listed(*PODS, *PODS, *PODS), short))
    found, lean = in_runs(text, Options(), Asked(1))
    assert lean
    assert found == as_a_whole(text, Options(), Asked(1))


def test_what_was_settled_of_such_a_list_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its items are in one document then, which is another place for people."""
    monkeypatch.setattr(pipeline, "_RUN", EVERY_ITEM)
    settled: list[int] = []
    take = document_runs.DocumentRuns.take

    def counting(self: document_runs.DocumentRuns, found: Any) -> Any:
        settled.append(len(found))
        return take(self, found)

    monkeypatch.setattr(document_runs.DocumentRuns, "take", counting)
    outcome, _ = in_runs(listed(*PODS, CUT), Options(), Asked(1))
    assert len(settled) > 2
    assert {pod[1].line for pod in outcome[0]} == {1}


def test_one_item_at_most_is_read_before_those_in_front_of_it_are_settled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pipeline, "_RUN", EVERY_ITEM)
    steps: list[str] = []
    read, take = documents.read, document_runs.DocumentRuns.take

    def reading(*given: Any, **named: Any) -> Any:
        steps.append("read")
        return read(*given, **named)

    def taking(*given: Any) -> Any:
        steps.append("settle")
        return take(*given)

    monkeypatch.setattr(documents, "read", reading)
    monkeypatch.setattr(document_runs.DocumentRuns, "take", taking)
    assert in_runs(listed(*PODS), Options(), Asked(1))[1]
    assert steps == ["read", *["read", "settle"] * (len(PODS) - 1), "settle"]
