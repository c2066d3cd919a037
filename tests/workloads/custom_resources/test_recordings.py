"""Recordings of operators (lab/operators/recordings.py), played again: archfit still writes what they were given.

What they made of it is judged in tests/real/operators.
"""

import pytest

from machine import ROOT
from operators import recordings

CASES = sorted(path.parent for path in (ROOT / "fixtures" / "operators").glob("*/*/object.yaml"))
OPERATORS = sorted({case.parent for case in CASES})


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_archfit_writes_what_the_operator_was_given(operator):
    cases = [case for case in CASES if case.parent == operator]
    assert [one for case in cases for one in recordings.changed(case, recordings.ALL)] == []
