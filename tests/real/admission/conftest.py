"""What the tests of policies share: policies in the session's API server, and random pods as it makes them."""

from __future__ import annotations

from random import Random

import pytest

from control_plane import Refused
from drawn_pods import at_creation
from drawn_pods.drawing import RUNTIME_CLASSES
from policy_judge import PolicyJudge, judge_binary
from policy_runs import Policies

ARCHITECTURES = ("amd64", "arm64", "s390x")


@pytest.fixture(scope="session")
def policies(control_plane):
    """See policy_runs. The RuntimeClasses that drawn pods name are there."""
    made = Policies(control_plane)
    for name, scheduling in RUNTIME_CLASSES.items():
        made.runtime_class(name, scheduling)
    return made


@pytest.fixture(scope="module")
def judge():
    """The API server's own CEL, see policy_judge."""
    with PolicyJudge(judge_binary()) as running:
        yield running


@pytest.fixture(scope="session")
def drawn(policies):
    """`drawn(seed, count)` are random pods as the API server makes them without a policy. It refuses none."""
    made = {}

    def drawn(seed, count, **words):
        key = (seed, count, *words.items())
        if key not in made:
            pods = [
                at_creation.pod(Random(f"{seed}/{number}"), ARCHITECTURES, "plain", **words)
                for number in range(count)
            ]
            made[key] = policies.plain(pods)
            assert [str(pod) for pod in made[key] if isinstance(pod, Refused)] == []
        return made[key]

    return drawn
