"""Help: one that fits a screen and a whole one for each command, both from the table."""

import pytest

from archfit.cli.usage.command_table import BY_NAME, COMMANDS, words_below
from archfit.cli.usage.help import COLUMNS, EXAMPLE, LINES, WIDTH, help_text, short_help
from file_runs import run
from program import archfit

MAIN = BY_NAME["transform"]


def shown(*words: str) -> str:
    """What `archfit WORDS` writes."""
    ended = run(words)
    assert ended.status == 0, ended.stderr
    return ended.stdout.decode()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_short_help_fits_a_screen(command):
    """An example may be longer: a user copies it as one line."""
    lines = short_help(command).splitlines()
    assert len(lines) <= LINES
    assert [line for line in lines if len(line) > COLUMNS and not line.startswith(EXAMPLE)] == []
    assert max(map(len, lines)) <= WIDTH


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_short_help_has_the_examples_and_the_commands_own_flags(command):
    text = short_help(command)
    examples = [line for line in command.about.split("\n") if line.startswith(EXAMPLE)]
    flags = [name for flag in command.flags for name in flag.names]
    assert [one for one in (*examples, *flags) if one not in text] == []


def test_the_short_help_lists_every_command_once():
    lines = short_help(MAIN).splitlines()
    listing = lines[lines.index("commands:") + 1 : lines.index("options:") - 1]
    words = " ".join(line[24:] for line in listing)
    own = [command.name for command in COMMANDS if command.run and " " not in command.name]
    assert sorted(words.replace(",", "").split()) == sorted([*own, *words_below(BY_NAME["setup"])])


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_whole_help_fits_and_names_every_flag(command):
    text = help_text(command)
    assert text.startswith("usage: archfit ")
    assert max(map(len, text.splitlines())) <= WIDTH
    names = [name for flag in command.flags for name in flag.names]
    names += [option.flags[0] for option in command.options if option.flags]
    assert [name for name in names if name not in text] == []


def test_help_of_a_command_has_its_own_options_only():
    text = help_text(BY_NAME["cache"])
    assert "placement:" not in text
    assert "--cache PATH" in text
    assert "--mirror" not in text


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_answers_help_and_version(command):
    words = command.name.split()
    short = short_help(command)
    assert shown(*words, "--help") == short
    assert shown(*words, "--help-all") == help_text(command)
    page = f"Its page: archfit help {command.name}.md\n"
    assert shown("help", *words) in {short, short + page}
    assert shown(*words, "-V").startswith("archfit ")


@pytest.mark.parametrize(
    ("words", "of"),
    [
        pytest.param(["help", "setup", "kpt"], "setup kpt", id="help-of-a-tool"),
        pytest.param(["check", "help"], "check", id="help-behind-a-command"),
        pytest.param(["setup", "help"], "setup", id="help-behind-a-group"),
        pytest.param(["setup", "kpt", "help"], "setup kpt", id="help-behind-a-tool"),
        pytest.param(["help", "check", "--help"], "check", id="help-of-help"),
    ],
)
def test_help_where_users_of_other_programs_type_it(words, of):
    """Words that are no command's are read as help by the program alone."""
    assert archfit(b"", *words).ok().decode() == short_help(BY_NAME[of])


def test_a_file_with_the_name_help_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "help").write_bytes(b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert "usage:" not in shown("check", "help")


def test_what_follows_two_dashes_is_another_programs():
    assert b"usage:" not in run(("setup", "kustomize", "--check", "--", "build", "--help")).stdout
