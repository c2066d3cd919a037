"""Help: one text for each command, all from the table, at most 100 columns wide."""

from __future__ import annotations

from pathlib import Path

import pytest

from archfit.options.table import TABLE
from archfit.usage.command_table import BY_NAME, COMMANDS
from archfit.usage.help import WIDTH, help_text, listed
from program import archfit

HELP = Path(__file__).with_name("help.txt")


def test_help_is_what_users_saw_last():
    """After a change on purpose: archfit --help > tests/usage/help.txt"""
    assert help_text(BY_NAME["transform"]) == HELP.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_help_fits_and_names_every_flag(command):
    text = help_text(command)
    assert text.startswith("usage: archfit ")
    assert max(map(len, text.splitlines())) <= WIDTH
    names = [name for flag in command.flags for name in flag.names]
    names += [option.flags[0] for option in command.options if option.flags]
    assert [name for name in names if name not in text] == []


def test_the_main_help_lists_every_command_once_on_one_line():
    lines = help_text(BY_NAME["transform"]).splitlines()
    for name, summary in listed():
        assert lines.count(f"  {name}".ljust(30) + summary) == 1
    assert [
        option for option in TABLE if option.flags and f" {option.flags[0]}" not in "\n".join(lines)
    ] == []


def test_help_of_a_command_has_its_own_options_only():
    text = help_text(BY_NAME["cache"])
    assert "placement:" not in text
    assert "--cache PATH" in text
    assert "--mirror" not in text


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_answers_help_and_version(command):
    assert archfit(b"", *command.name.split(), "--help").ok().decode() == help_text(command)
    assert archfit(b"", *command.name.split(), "-V").ok().startswith(b"archfit ")


def test_what_follows_two_dashes_is_another_programs():
    ran = archfit(b"", "setup", "kustomize", "--check", "--", "build", "--help")
    assert b"usage:" not in ran.stdout
