"""The table of commands agrees with what starts them and with what their parsers take."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import inspect
import io
from importlib import import_module

import pytest

from archfit.cli.usage.command_row import ALL_STREAMS, MESSAGES, Command
from archfit.cli.usage.command_table import BY_NAME, COMMANDS, find, first_words, members
from archfit.options.arguments import Parser
from program import archfit

STARTED = [command for command in COMMANDS if command.run]


def function(command: Command):
    module, _, name = command.run.partition(":")
    return getattr(import_module(module), name)


@pytest.mark.parametrize("command", STARTED, ids=lambda command: command.name)
def test_each_row_names_a_function_that_takes_the_streams_of_the_row(command):
    parameters = list(inspect.signature(function(command)).parameters.values())
    needed = [one.name for one in parameters if one.default is inspect.Parameter.empty]
    assert needed[len(command.leading) :] == ["argv", *command.streams]


class Read(Exception):
    """The parser is about to read."""


@pytest.mark.parametrize("command", STARTED, ids=lambda command: command.name)
def test_each_row_has_the_flags_that_the_command_takes(command, monkeypatch):
    taken: set[str] = set()

    def read(parser, _argv):
        taken.update(parser.flags())
        raise Read

    monkeypatch.setattr(Parser, "read", read)
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


def test_names_are_unique_and_streams_are_known():
    assert len(BY_NAME) == len(COMMANDS)
    assert {name for command in COMMANDS for name in command.streams} <= set(ALL_STREAMS)


def test_a_group_is_a_row_without_a_function():
    assert {command.name for command in COMMANDS if not command.run} == {"setup"}
    assert [command.name for command in members(BY_NAME["setup"])] == [
        command.name for command in COMMANDS if " " in command.name
    ]


@pytest.mark.parametrize(
    ("words", "name", "rest"),
    [
        pytest.param(["check", "a.yaml"], "check", ["a.yaml"], id="one word"),
        pytest.param(["setup", "helm", "--check"], "setup helm", ["--check"], id="two words"),
        pytest.param(["setup", "nothing"], "setup", ["nothing"], id="a group"),
    ],
)
def test_the_longest_name_wins(words, name, rest):
    command, left = find(words)
    assert (command.name, left) == (name, rest)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["chekc"], "'chekc' is not a command: did you mean 'check'? See archfit --help", id="typo"),
        pytest.param(["web.yaml"], "cannot read 'web.yaml' (No such file or directory): name a file or a folder of manifests", id="a file"),
        pytest.param(["setup", "kustomiz"], "archfit setup kustomiz: there is no such tool: did you mean archfit setup kustomize?", id="a tool's typo"),
        pytest.param(
            ["setup"], "name what to set up: archfit setup cluster, autoscaler, workloads, helm, argocd, kustomize, kpt, flux, policy, webhook or fleet", id="no tool"
        ),
        pytest.param(["xyzzy"], f"'xyzzy' is not a command: the commands are {', '.join(first_words())}. See archfit --help", id="nothing near"),
    ],
)  # fmt: skip
def test_a_word_that_is_no_command_is_wrong_usage_with_the_nearest_one(words, message):
    ran = archfit(b"", *words)
    assert (ran.status, ran.stdout, ran.stderr) == (2, b"", f"archfit: error: {message}\n")
