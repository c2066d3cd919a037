"""Commands and messages that the pages quote are those of the program.

A command is a line of a code block, or a span in a sentence, that begins with `archfit` or pipes into it: it stands in
the table of commands and takes the flags that the page gives it. The messages are those of the table in
docs/troubleshooting.md: each part between `...` is in a string of the program.
"""

import ast
import re
import shlex
from itertools import takewhile

import pytest
from command_pages import commands_page

from archfit.cli.usage.command_row import Command
from archfit.cli.usage.command_table import COMMANDS
from machine import ROOT

PAGES = {
    path.name: path.read_text(encoding="utf-8")
    for folder in (ROOT, ROOT / ".github", ROOT / "docs")
    for path in sorted(folder.glob("*.md"))
} | {"the page of commands": commands_page()}
BY_NAME = {command.name: command for command in COMMANDS}
ENDS = re.compile(r"^(?:\||\|\||&&|;|[0-9]?>>?|<|&)")


def command_lines(text: str) -> list[str]:
    """What follows `archfit` in each code block and in each code span that begins with it or with a pipe into it."""
    found: list[str] = []
    for _, block in re.findall(r"^```(sh|console|yaml|text)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            found += re.findall(r"(?:^|[|;&(] ?|\$ |run: )archfit( [a-z-].*|$)", line.split(" #")[0].strip())
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for span in re.findall(r"`([^`]+)`", outside):
        found += re.findall(r"(?:^|\| )archfit( [a-z-].*|$)", span.replace("\n", " ").replace("\\|", "|"))
    return found


def words_of(line: str) -> list[str]:
    """The words of one command: up to a pipe, a redirection or the end of a substitution."""
    words = shlex.split(line.partition(")")[0], comments=True)
    return list(takewhile(lambda word: not ENDS.match(word), words))


def command_of(words: list[str]) -> tuple[Command | None, list[str]]:
    for length in (2, 1):
        if " ".join(words[:length]) in BY_NAME:
            return BY_NAME[" ".join(words[:length])], words[length:]
    named = not words or words[0].startswith("-") or "/" in words[0] or words[0].endswith(".yaml")
    return (BY_NAME["transform"], words) if named else (None, words)


def flags_of(command: Command) -> set[str]:
    own = {name for flag in command.flags for name in flag.names}
    taken = {flag for option in command.options for flag in (*option.flags, option.short)}
    return own | taken | {"--help", "--help-all", "-h", "--version", "-V", "--config", "--debug", "--"}


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_exist_and_take_its_flags(page):
    for line in command_lines(PAGES[page]):
        words = words_of(line)
        command, rest = command_of(words)
        if command is None:
            assert words[0] in {"setup", "COMMAND", "argocd"}, line
            continue
        # What stands behind these words is another program's.
        rest = list(takewhile(lambda word: word != "--", rest))
        flags = [word.partition("=")[0] for word in rest if word.startswith("-") and word != "-"]
        assert [flag for flag in flags if flag not in flags_of(command)] == [], line


def test_messages_of_the_troubleshooting_page_are_the_programs():
    strings = [
        node.value
        for path in (ROOT / "transformer").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    part = page.partition("\n## It fails with")[2].partition("\nOther symptoms")[0]
    rows = re.findall(r"^\| (`.+?`) \|", part, re.MULTILINE)
    quoted = {
        piece.strip() for row in rows for span in re.findall(r"`([^`]+)`", row) for piece in span.split("...")
    }
    quoted -= {"", "field is immutable", "; write it in"}
    assert len(quoted) > 12
    assert [piece for piece in sorted(quoted) if not any(piece in string for string in strings)] == []
