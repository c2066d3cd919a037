"""`archfit help [COMMAND|PAGE]`: the help of a command, or a page of the documentation, offline.

`check.md` is the page where a command has the name; `check.md#formats` is a part of it, from one heading to the next
of its level. It is plain text of 80 columns.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from archfit.base import standard_streams
from archfit.base.documentation import pages_folder
from archfit.base.errors import ArchfitError, UsageError
from archfit.base.printable import encoded
from archfit.base.spelling import nearest
from archfit.cli.page_text import anchor, headings, page_lines
from archfit.cli.usage.command_table import BY_NAME, COMMANDS, MAIN, find
from archfit.cli.usage.help import COLUMNS, short_help


def show_help(argv: Sequence[str], stdout: BinaryIO) -> int:
    """The command, after its name. The exit code; raises UsageError."""
    words = BY_NAME["help"].parser().parse(argv)[1]
    command = find(words)[0] if words else MAIN
    if command:
        page = f"Its page: archfit help {command.name}.md\n" if command.name in topics() else ""
        stdout.write(encoded(short_help(command) + (page if words else _listing())))
        return 0
    page_text = "\n".join([*page_lines(_page(words).strip("\n"), COLUMNS), ""])
    standard_streams.write_report(stdout, [page_text.encode()])
    return 0


def topics() -> list[str]:
    """The names of the pages, sorted; none where an installation holds none."""
    try:
        files = os.listdir(pages_folder())
    except OSError:
        return []
    return sorted(name[:-3] for name in files if name.endswith(".md"))


def _listing() -> str:
    names = topics()
    if not names:
        return ""
    wrapped = textwrap.wrap(
        ", ".join(names), COLUMNS, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
    return "\n".join(["", "pages, shown by `archfit help PAGE`:", *wrapped]) + "\n"


def _page(words: Sequence[str]) -> str:
    word = words[0]
    name, _, wanted = word.removeprefix("docs/").partition("#")
    name = name.removesuffix(".md")
    known = topics()
    if len(words) > 1:
        raise UsageError(
            f"'archfit help' shows one page or command: {word!r} is no command, so name it alone"
        )
    if name not in known:
        raise UsageError(_unknown(word, name, known))
    try:
        with open(os.path.join(pages_folder(), f"{name}.md"), encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise ArchfitError(f"the page {name!r} cannot be read: {error.strerror}") from None
    return _part(name, text, wanted) if wanted else text


def _unknown(word: str, name: str, known: Iterable[str]) -> str:
    commands = [command.name for command in COMMANDS]
    near = nearest(name, commands) or nearest(name, known)
    if near in commands:
        return f"{word!r} is not a command: did you mean {near!r}? See archfit --help"
    hint = f"did you mean archfit help {near}?" if near else "`archfit help` lists both"
    return f"{word!r} is neither a command nor a page: {hint}"


def _part(name: str, text: str, wanted: str) -> str:
    parts = [(line, level, anchor(heading)) for line, level, heading in headings(text)]
    for at, (line, level, own) in enumerate(parts):
        if own == wanted.lower():
            ends = (start for start, other, _ in parts[at + 1 :] if other <= level)
            return "\n".join(text.split("\n")[line : next(ends, None)])
    near = nearest(wanted, [own for _, _, own in parts])
    hint = f"did you mean {name}.md#{near}?" if near else f"see archfit help {name}.md"
    raise UsageError(f"the page {name!r} has no heading {wanted!r}: {hint}")
