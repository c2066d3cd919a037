"""How long something takes, in steps of the interpreter: the same on every machine, whatever else runs there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any


def steps(run: Callable[[], object]) -> int:
    """How many functions of Python's are called, and lines of loops begun again, while run goes."""
    count = 0

    def trace(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(None)
    return count
