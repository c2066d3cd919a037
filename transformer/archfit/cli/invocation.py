"""The command line of one command, read: its own flags, its words, and its settings."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TextIO

from archfit.base.errors import Problem, UsageError
from archfit.base.files import read_file
from archfit.base.terminal import style
from archfit.cli.usage.command_row import Command
from archfit.images.platforms import Platform
from archfit.lookup import operator_files
from archfit.options import arguments
from archfit.options.architectures import architecture, in_order
from archfit.options.layers import load
from archfit.options.settings import Layer, Settings
from archfit.startup.record import Record


class Invocation(Record):
    """A command line, read.

    flags: the command's own, by name. words: the arguments that are not flags. layer: the options among the flags.
    program: as in `archfit check`.
    """

    flags: Namespace
    words: list[str]
    layer: Layer
    settings: Settings
    program: str


def read_invocation(
    command: Command,
    argv: Sequence[str],
    environ: Mapping[str, str],
    stderr: TextIO | None = None,
    *,
    fallback: Layer | None = None,
) -> Invocation:
    """The command line, the environment and the configuration file together. Raises UsageError.

    stderr: shows messages as the settings say from now on. fallback: the command's own defaults.
    """
    layer, config, flags, words = arguments.parse(command.parser(), argv, command.options)
    settings = load(argv, environ, read_file, flags=(layer, config), fallback=fallback)
    operator_files.check(settings.operator)
    if stderr:
        style(stderr, settings.operator.color, environ, quiet=settings.operator.quiet)
    return Invocation(flags, words, layer, settings, command.program)


def required_platforms(texts: Sequence[str]) -> tuple[Platform, ...]:
    """The platforms in their order, each once; () where the flag is not given. Raises UsageError."""
    try:
        required = tuple(dict.fromkeys(platform for text in texts for platform in in_order(text)))
        for platform in required:
            architecture(platform.architecture)
    except Problem as problem:
        raise UsageError(f"--require: {problem.message}") from None
    return required
