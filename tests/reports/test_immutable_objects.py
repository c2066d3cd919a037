"""The objects that an API server may refuse: named, counted, and with a command that can be pasted."""

import pytest

from archfit.base.results import ObjectRef
from archfit.reports.immutable_objects import immutable_advice


def job(name: str, namespace: str = "shop", kind: str = "Job", api_version: str = "batch/v1") -> ObjectRef:
    return ObjectRef(api_version, kind, namespace, name)


@pytest.mark.parametrize(
    ("refs", "commands"),
    [
        pytest.param([job("a")], ["kubectl delete -n shop job/a"], id="one"),
        pytest.param([job("a"), job("b")], ["kubectl delete -n shop job/a job/b"], id="two"),
        pytest.param([job("a"), job("a")], ["kubectl delete -n shop job/a"], id="the-same-object-twice"),
        pytest.param([job("a"), job("b", "etl")], ["kubectl delete -n shop job/a", "kubectl delete -n etl job/b"], id="two-namespaces"),
        pytest.param([job("p", kind="Pod", api_version="v1")], ["kubectl delete -n shop pod/p"], id="pod"),
        pytest.param([job("v", api_version="batch.volcano.sh/v1alpha1")], ["kubectl delete -n shop job.batch.volcano.sh/v"], id="the-group-tells-kinds-of-one-name-apart"),
        pytest.param([job("a", "")], ["kubectl delete -n NAMESPACE job/a"], id="no-namespace-in-the-stream"),
        pytest.param([job("$(reboot)")], [], id="a-name-that-is-a-command"),
        pytest.param([job("-f"), job("b")], ["kubectl delete -n shop job/b"], id="a-name-that-is-a-flag"),
        pytest.param([job("{{ .Release.Name }}")], [], id="a-template"),
        pytest.param([job("a", "x;y")], [], id="a-namespace-that-is-none"),
    ],
)  # fmt: skip
def test_the_command_deletes_what_would_be_refused(refs, commands):
    text = immutable_advice(refs)
    _, _, after = text.partition(" first: ")
    assert [one for one in after.split("; ") if one.startswith("kubectl ")] == commands
    for command in commands:
        assert not set(command) & set("$`;&|<>(){}'\"\\")


def test_nothing_is_said_of_nothing():
    assert immutable_advice([]) == ""


@pytest.mark.parametrize(
    ("number", "tail"),
    [
        pytest.param(3, "batch/v1/Job/shop/j2. Where", id="noop-three"),
        pytest.param(4, "batch/v1/Job/shop/j2 and 1 more. Where", id="four"),
        pytest.param(10000, "batch/v1/Job/shop/j2 and 9997 more. Where", id="many"),
    ],
)
def test_the_text_is_bounded(number, tail):
    text = immutable_advice([job(f"j{one}") for one in range(number)])
    assert tail in text
    assert text.startswith(f"archfit: the API server may refuse the change of {number} objects: ")
    assert "\n" not in text
    assert len(text) < 600


@pytest.mark.parametrize(
    ("namespace", "pattern"),
    [pytest.param("shop", "Job/shop/a", id="known"), pytest.param("", "'Job/*/a'", id="unknown")],
)
def test_the_exclusion_can_be_pasted(namespace, pattern):
    assert immutable_advice([job("a", namespace)]).endswith(f"keep it so with --exclude={pattern}")
