"""JSON's own values as the parser would give them, and how deep they may be nested."""

from typing import Any

import pytest

from archfit.yaml.values import DEEPEST_JSON, Typed, typed


def nested(depth: int, *, in_mappings: bool) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value} if in_mappings else [value]
    return value


@pytest.mark.parametrize("in_mappings", [False, True], ids=["lists", "mappings"])
def test_noop_what_is_not_too_deep_is_read(in_mappings):
    found = typed(nested(DEEPEST_JSON, in_mappings=in_mappings))
    for _ in range(DEEPEST_JSON):
        found = found["a" if in_mappings else 0]
    assert found == Typed("int", "1")


@pytest.mark.parametrize("in_mappings", [False, True], ids=["lists", "mappings"])
@pytest.mark.parametrize("depth", [DEEPEST_JSON + 1, 100_000])
def test_what_is_nested_too_deeply_is_an_error_not_a_crash(depth, in_mappings):
    with pytest.raises(RecursionError):
        typed(nested(depth, in_mappings=in_mappings))
