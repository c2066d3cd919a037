"""The KRM function that a stream may call: its frame, its options, its run. Any other stream has no frame."""

from __future__ import annotations

from archfit.explain.verbose import verbose_lines
from archfit.run import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from archfit.options.settings import Layer, Settings
    from archfit.rewrite.resource_list import FunctionFrame

PROGRAM = "archfit transform"


def run_of(
    settings: Settings, environ: Mapping[str, str], stderr: TextIO, frame: FunctionFrame | None
) -> Run:
    """The run. A function runs wherever its caller does, on whatever images the package names."""
    function = frame is not None
    return Run(
        PROGRAM, settings, environ, stderr, frame=frame, explain=verbose_lines, named_hosts_only=function
    )


def frame_of(data: bytes) -> FunctionFrame | None:
    """The frame of the ResourceList that the stream is, None for any other stream."""
    # `find` takes three times as long for a text that is not there. `Run.outcome` refuses one that an escape spells.
    if data.rfind(b"ResourceList") < 0:
        return None
    from archfit.rewrite.resource_list import recognised

    return recognised(data)


def layer_of(frame: FunctionFrame) -> Layer | None:
    """The options that the functionConfig gives. Raises InvalidInput and UsageError."""
    from archfit.options.config_file import from_function_config
    from archfit.rewrite.resource_list import function_config

    return from_function_config(function_config(frame))
