"""Samples of operators, after their own examples: where archfit adds an affinity, or why not.

    # affinity: spec.redis spec.sentinel       what the sample's images need: they offer linux/amd64 alone
    # left: the controller chooses             part of what is said of a sample that stays as it is

The judges read what the patch says, and the scheduler's own code lets no pod of a sample onto a node that cannot run
it.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from archfit.base.patch import dotted
from custom_pods import projected
from stream_edits import edited, placed

FOLDER = Path(__file__).parent / "samples"
_HEAD = re.compile(r"\A# (affinity|left): (.*)\n")
_IDENTITY = re.compile(r"^apiVersion: (\S+)\nkind: (\S+)$", re.MULTILINE)


def samples() -> list[Any]:
    made = []
    for file in sorted(FOLDER.iterdir()):
        for number, text in enumerate(
            re.split(r"^---\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        ):
            head, identity = _HEAD.match(text), _IDENTITY.search(text)
            assert head, f"{file.name} {number}: begin it with `# affinity: PATH` or `# left: REASON`"
            assert identity
            made.append(
                pytest.param(text.encode(), head[1], head[2], id=f"{identity[2]}-{file.stem}-{number}")
            )
    return made


def holders(data: bytes) -> list[str]:
    """Where affinity is added: what holds `affinity`, or the mapping that holds nodeAffinity."""
    made = []
    for pod, decision in edited(data).edits.decisions:
        if decision.outcome == "Change":
            at = pod.at("affinity")
            made.append(dotted(at[:-1] if at[-1] == "affinity" else at))
    return made


@pytest.mark.usefixtures("twins_for_read")
@pytest.mark.parametrize(("data", "kind", "expected"), samples())
def test_a_sample_is_changed_where_its_operator_looks(judge, data, kind, expected):
    if kind == "left":
        output = edited(data)
        assert output.data == data
        said = [str(result) for result in output.edits.messages]
        assert any(expected in one for one in said), said
        return
    assert sorted(holders(data)) == sorted(expected.split())
    assert placed(judge, data) != data


CHANGED = [
    pytest.param(sample.values[0], sample.values[2], id=sample.id)
    for sample in samples()
    if sample.values[1] == "affinity"
]


@pytest.mark.parametrize(("data", "expected"), CHANGED)
def test_no_pod_of_a_sample_can_reach_a_node_it_cannot_run_on(judge, oracle, data, expected):
    """And the twin: as they were, they can."""
    output = edited(data)
    before, after = projected(judge.kubectl(data)), projected(judge.kubectl(output.data))
    uses = [use.text for pod, _ in output.edits.decisions for use in pod.images if use.text]
    platforms = {text: ["linux/amd64"] for text in (*uses, "unseen.example/image")}
    verdict = oracle(before, after, platforms=platforms)
    assert verdict.violations == []
    assert verdict.pod_specs >= len(expected.split())
    assert oracle(before, before, platforms=platforms).violations != []
