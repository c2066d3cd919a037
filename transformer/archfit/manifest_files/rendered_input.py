"""What `--helm` and `--kustomize` of a command line ask for: the renderer's words, and its output as an input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit import standard_streams
from archfit.errors import UsageError
from archfit.integrations.renderer_command import Rendering, reads_standard_input, rendered, taken_apart
from archfit.manifest_files.input_files import Input, Inputs
from archfit.usage.command_row import Command
from archfit.usage.completion import flags_of


def without_renderer(command: Command, argv: Sequence[str]) -> tuple[list[str], Rendering | None]:
    """The words of a command line that are archfit's, and the renderer that the others ask for. Raises UsageError.

    command: one with the flags of `RENDERERS`.
    """
    return taken_apart(argv, {name: values is None for name, values in flags_of(command).items()})


def rendered_inputs(
    rendering: Rendering, words: Sequence[str], stdin: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> Inputs:
    """The renderer's output as the only input. words: of the command, which must name none. Raises ArchfitError."""
    if words:
        raise UsageError(
            f"{words[0]!r}: name files, or a chart with {rendering.flag}, but not both: run archfit for each"
        )
    given = standard_streams.read(stdin) if reads_standard_input(rendering) else b""
    data = rendered(rendering, given, stderr, environ)
    return Inputs((Input("", data, below=rendering.name.replace(" ", "-")),))
