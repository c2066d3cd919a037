"""The dry run: a hundred pods in a call, answers found again by their names, refusals with kubectl's own words."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from archfit.base.external_program import Ran
from archfit.base.results import Location, ObjectRef
from archfit.cluster.cluster_error import ClusterError
from archfit.policy.installed.dry_run import SKIP, SamplePod, admitted


def sample(number: int) -> SamplePod:
    value = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": f"archfit-check-{number}-"},
        "spec": {"containers": []},
    }
    return SamplePod(ObjectRef("v1", "Pod", "", ""), Location(1, 1), value)


class Kubectl:
    """Gives back the pods that it is sent, less those for which `refuse` has a complaint."""

    def __init__(self, refuse: Callable[[str], str] = lambda _name: "", form: str = "one by one") -> None:
        self.refuse, self.form = refuse, form
        self.calls: list[list[dict[str, Any]]] = []
        self.words: tuple[str, ...] = ()

    def run(self, *words: str, given: bytes = b"") -> Ran:
        self.words = words
        sent = json.loads(given)
        assert (sent["apiVersion"], sent["kind"]) == ("v1", "List")
        values = sent["items"]
        self.calls.append(values)
        complaints = [self.refuse(one["metadata"]["generateName"]) for one in values]
        kept = [one for one, complaint in zip(values, complaints, strict=True) if not complaint]
        text = "\n".join(json.dumps(one, indent=2) for one in kept)
        if self.form == "a list":
            text = json.dumps({"kind": "List", "items": kept})
        said = "".join(f"{complaint}\n" for complaint in complaints if complaint)
        return Ran(int(bool(said)), text.encode(), f"Warning: something\n{said}")


def refuse(number: int, words: str) -> Callable[[str], str]:
    return lambda name: words.format(name) if name == f"archfit-check-{number}-" else ""


@pytest.mark.parametrize("form", ["one by one", "a list"])
def test_each_pod_is_sent_as_it_is_and_with_skip(form):
    kubectl = Kubectl(form=form)
    found = admitted(kubectl, [sample(0), sample(1)])
    assert [bool(one.plain and one.skipped) for one in found] == [True, True]
    assert [one.refused for one in found] == ["", ""]
    assert found[1].plain
    assert SKIP not in found[1].plain["metadata"].get("annotations", {})
    assert found[1].skipped
    assert found[1].skipped["metadata"]["annotations"] == {SKIP: "true"}
    assert "--dry-run=server" in kubectl.words


def test_a_call_has_a_hundred_pods_at_most():
    kubectl = Kubectl()
    found = admitted(kubectl, [sample(number) for number in range(120)])
    assert [len(call) for call in kubectl.calls] == [100, 100, 40]
    assert all(one.plain and one.skipped for one in found)


def test_a_refusal_belongs_to_the_pod_that_it_names():
    kubectl = Kubectl(refuse(1, 'Error from server (Forbidden): pods "{}" is forbidden: no'))
    first, second, third = admitted(kubectl, [sample(0), sample(1), sample(12)])
    assert (first.refused, third.refused) == ("", "")
    assert second.refused == 'Error from server (Forbidden): pods "archfit-check-1-" is forbidden: no'


def test_a_refusal_without_a_name_is_shown_with_each_pod_that_is_missing():
    kubectl = Kubectl(refuse(0, 'Error from server (NotFound): namespaces "x" not found'))
    first, second = admitted(kubectl, [sample(0), sample(1)])
    assert first.refused == 'Error from server (NotFound): namespaces "x" not found'
    assert second.refused == ""


def test_a_cluster_that_does_not_answer_ends_the_check():
    kubectl = Kubectl(lambda _name: "The connection to the server 127.0.0.1:1 was refused")
    with pytest.raises(ClusterError, match="was refused") as raised:
        admitted(kubectl, [sample(0)])
    assert raised.value.reason == "unreachable"


def test_an_answer_that_is_no_json_ends_the_check():
    class Odd(Kubectl):
        def run(self, *words: str, given: bytes = b"") -> Ran:
            del words, given
            return Ran(0, b"pod/x created", "")

    with pytest.raises(ClusterError, match="gave no JSON"):
        admitted(Odd(), [sample(0)])


def test_pods_that_are_not_known_are_not_sent():
    kubectl = Kubectl()
    assert admitted(kubectl, [sample(0).replace(value=None)]) == []
    assert kubectl.calls == []
