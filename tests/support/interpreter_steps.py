"""How long something takes, in steps of the interpreter: the same on every machine, whatever else runs there."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(run: Callable[[], object], within: str = "") -> int:
    """How many functions of Python's are called, and lines run, while run goes; a loop on one line counts each time.

    within: where the files are whose code counts, as the beginning of their paths.
    """
    count = 0

    def step(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        return step

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        return step(frame, event, argument) if frame.f_code.co_filename.startswith(within) else None

    sys.settrace(call)
    try:
        run()
    finally:
        sys.settrace(None)
    return count
