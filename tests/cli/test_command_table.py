"""The table of commands agrees with what starts them and with what their parsers take."""

import io
from importlib import import_module

import pytest

from archfit.cli.usage.command_row import GENERAL, MESSAGES, Command, flags_of
from archfit.cli.usage.command_table import COMMANDS
from archfit.options.arguments import Parser
from file_runs import run

STARTED = [command for command in COMMANDS if command.run]


def function(command: Command):
    module, _, name = command.run.partition(":")
    return getattr(import_module(module), name)


class Read(Exception):
    """The parser is about to read."""


@pytest.mark.parametrize("command", STARTED, ids=lambda command: command.name)
def test_each_row_has_the_flags_that_the_command_takes(command, monkeypatch):
    taken: set[str] = set()

    def parse(parser, _argv):
        taken.update(parser.flags())
        raise Read

    monkeypatch.setattr(Parser, "parse", parse)
    streams = {"stdin": io.BytesIO(), "stdout": io.BytesIO(), "stderr": io.StringIO(), "environ": {}}
    with pytest.raises(Read):
        function(command)(
            *command.leading,
            [*command.words[:1], "--config="],  # a mistake: usual flags are read without the parser
            *(streams[name] for name in command.streams),
        )
    expected = {name for flag in command.flags for name in flag.names}
    expected |= {"--json" for flag in command.flags if "json" in flag.words}
    options = command.options or MESSAGES
    expected |= {name for option in options for name in (*option.flags, option.short) if name}
    assert taken == expected | ({"--config"} if command.options else set())


@pytest.mark.parametrize("command", STARTED, ids=lambda command: command.name)
def test_two_dashes_are_no_value_of_any_flag(command):
    """Argparse itself takes them away, and leaves a list without an item, or keeps them, by its version."""
    flags = [flag for flag in flags_of(command) if flag not in GENERAL]
    ended = {flag: run((*command.name.split(), f"{flag}=--")) for flag in flags}
    assert {flag: one for flag, one in ended.items() if (one.status, one.stdout) != (2, b"")} == {}
