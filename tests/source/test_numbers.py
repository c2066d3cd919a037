"""Plain numbers as Go's YAML reads them: int64, uint64, float64, else a text."""

from __future__ import annotations

import pytest

from archfit.source.values import plain, resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("17", 17),
        ("-17", -17),
        ("017", 15),
        ("0o17", 15),
        ("0x1f", 31),
        ("1_000", 1000),
        ("08", 8.0),
        ("0x_", "0x_"),
        ("0b_", "0b_"),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", float(2**64)),
        ("9" * 300, float("9" * 300)),
        ("9" * 5000, "9" * 5000),
        ("1e3", 1000.0),
        ("1e400", "1e400"),
        (".inf", float("inf")),
        ("-.inf", float("-inf")),
        ("on", True),
    ],
)
def test_a_plain_number_is_what_go_makes_of_it(text: str, value: object) -> None:
    found = plain(resolve(text))
    assert found == value
    assert type(found) is type(value)
