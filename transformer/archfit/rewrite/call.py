"""The command line of `archfit [transform]`. A mistake in it is raised when the settings are read, as one in a
configuration is: a KRM function that fails gives its input back.
"""

from __future__ import annotations

import os
import re
import shlex
from argparse import Namespace

from archfit.base.errors import UnknownFlag, UsageError
from archfit.cli.usage.command_row import flags_of
from archfit.cli.usage.command_table import first_words
from archfit.cli.usage.manifest_commands import TRANSFORM
from archfit.options import arguments
from archfit.options.settings import Layer
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class TransformCall(Record):
    """A command line, read, as an `Invocation`. config: the configuration file that it names. error: what is wrong."""

    layer: Layer
    config: str | None
    flags: Namespace
    words: tuple[str, ...]
    error: UsageError | None = None

    @property
    def options(self) -> tuple[Layer, str | None]:
        """The layer and the configuration file. Raises UsageError for what is wrong with the command line."""
        if self.error:
            raise self.error
        return self.layer, self.config

    @property
    def is_stream(self) -> bool:
        """Whether the run is the plain one: standard input to standard output."""
        flags = self.flags
        return not (flags.diff or flags.in_place or flags.output) and self.words in ((), ("-",))


def _check_command(argv: Sequence[str]) -> None:
    """Raises UsageError for a command behind flags, which may be its own."""
    takers = {flag for flag, values in flags_of(TRANSFORM).items() if values is not None}
    for at, word in enumerate(argv):
        if word in first_words() and not os.path.exists(word) and not (at and argv[at - 1] in takers):
            meant = ("archfit", word, *argv[at + 1 :], *argv[:at])
            shown = shlex.join(re.sub("://.*@", "://***@", part) for part in meant)
            raise UsageError(f"{word!r} is a command: write it first, as in {shown}")


def read_call(argv: Sequence[str]) -> TransformCall:
    """The command line after the name of the command."""
    try:
        try:
            layer, config, flags, words = arguments.parse(TRANSFORM.parser(), argv, TRANSFORM.options)
        except UnknownFlag:
            _check_command(argv)
            raise
        if words:
            _check_command(argv)
    except UsageError as error:
        nothing = Namespace(diff=False, in_place=False, output=None)
        return TransformCall(Layer("flags", {}), None, nothing, (), error=error)
    return TransformCall(layer, config, flags, tuple(words))
