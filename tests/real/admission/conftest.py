"""What the tests of policies share: policies in the session's API server, and the judge of CEL."""

import pytest

from policy_judge import PolicyJudge, judge_binary
from policy_runs import Policies


@pytest.fixture(scope="session")
def policies(control_plane):
    """See policy_runs. The RuntimeClasses that drawn pods name are there."""
    made = Policies(control_plane)
    made.runtime_classes()
    return made


@pytest.fixture(scope="module")
def judge():
    """The API server's own CEL, see policy_judge."""
    with PolicyJudge(judge_binary()) as running:
        yield running
