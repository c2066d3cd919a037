"""How many lines of archfit something runs: work, counted and not timed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import archfit

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

PACKAGE = archfit.__path__[0]


def lines(run: Callable[[], object]) -> int:
    """A loop on one line counts each time round. Raises what the call raises."""
    count = 0

    def line(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        return line

    def call(frame: FrameType, _event: str, _argument: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(PACKAGE) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        run()
    finally:
        sys.settrace(before)
    return count
