"""What `make bench` says of a value beyond the bound that its row states."""

import pytest

from measured import Table


@pytest.mark.parametrize(
    ("value", "limit", "words", "missed"),
    [
        pytest.param(1.0, 1.0, "≤ 1", 0, id="at its bound"),
        pytest.param(1.01, 1.0, "≤ 1 (missed)", 1, id="beyond it"),
        pytest.param(9.0, 0.0, "-", 0, id="a row that states none"),
    ],
)
def test_a_value_beyond_its_bound_is_missed(value, limit, words, missed):
    table = Table("rows", "What")
    assert (table.bound(value, limit), table.missed) == (words, missed)
