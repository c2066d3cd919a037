"""A page of docs/ followed literally: each command of its `sh` and `console` blocks, in order, in a clean home.

    blocks(page)       what the page shows:   ```sh       every line is a command, or goes on with one
                                              ```console  lines behind "$ " are commands, the others are output
    walk(plan, ..)     one bash runs all of them, in a folder that `plan.prepare` has filled; a Step for each command

A command is run as it stands in the page. What cannot be here is named in the plan, with the reason: a program that is
stood in for (a script on PATH that keeps its arguments), a text that is replaced, a command that is left out, and an
exit code other than 0.
"""

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import machine
from program import PROGRAM

DOCS = machine.ROOT / "docs"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
_LONGEST_SECONDS = 240
_BLOCK = re.compile(r"^( *)```(sh|console)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_HERE = re.compile(r"<<-?'?\"?(\w+)'?\"?")


class Block(NamedTuple):
    """heading: the nearest one above. commands: each with all of its lines.

    shown: with output; a command that stands above already is there for its output, and not run again.
    """

    page: str
    heading: str
    commands: tuple[str, ...]
    shown: bool


class Because(NamedTuple):
    """Something that differs from the page, and why."""

    value: str
    reason: str


class Plan(NamedTuple):
    """How one page is followed.

    prepare: fills the folder, from (folder, environment). programs: other names on PATH -> a tool of machine.TABLE.
    under: heading -> programs from there on. stand_ins: name -> a script in sh, which has $REAL where a real program
    of that name is on PATH. replaced: text of a command -> another text. left_out, ends: command -> why it is not run,
    or the exit code that it has to have, with the reason. says: command -> a part of its output. before: command -> a
    script that is run before it. These may name a command by how it begins, and so
    may left_out.
    """

    page: str
    prepare: Callable[[Path, dict[str, str]], None]
    programs: Mapping[str, str] = {}
    under: Mapping[str, Mapping[str, str]] = {}
    stand_ins: Mapping[str, Because] = {}
    replaced: Mapping[str, Because] = {}
    left_out: Mapping[str, str] = {}
    ends: Mapping[str, tuple[int, str]] = {}
    says: Mapping[str, str] = {}
    before: Mapping[str, Because] = {}


class Step(NamedTuple):
    """One command and how it ended."""

    command: str
    status: int
    wanted: int
    says: str
    stdout: str
    stderr: str


def text_of(page: str) -> str:
    """The page's text."""
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


def pages() -> list[str]:
    """The names of all pages."""
    return sorted(path.stem for path in DOCS.glob("*.md"))


def blocks(page: str) -> list[Block]:
    """The page's blocks of commands."""
    text = text_of(page)
    headings = [(found.start(), found[1]) for found in _HEADING.finditer(text)]
    made = []
    for found in _BLOCK.finditer(text):
        lines = [line.removeprefix(found[1]) for line in found[3].splitlines()]
        above = [name for at, name in headings if at < found.start()]
        shown = found[2] == "console"
        commands = _shown(lines) if shown else _commands(lines)
        made.append(Block(page, above[-1] if above else "", tuple(commands), shown))
    return made


def _shown(lines: Sequence[str]) -> list[str]:
    return _commands([line.removeprefix("$ ") for line in lines if line.startswith("$ ")])


def _commands(lines: Sequence[str]) -> list[str]:
    """Lines as commands: one that ends with a backslash goes on, and so does one with a here-document."""
    made: list[str] = []
    going_on, until = False, ""
    for line in lines:
        if going_on or until:
            made[-1] += "\n" + line
        elif line.strip() and not line.startswith("#"):
            made.append(line)
        else:
            continue
        here = _HERE.search(line) if not until else None
        until = here[1] if here else ("" if line == until else until)
        going_on = line.endswith("\\")
    return made


def walk(plan: Plan, folder: Path, environ: Mapping[str, str]) -> list[Step]:
    """Follow a page in a new folder. environ: more variables, for all commands."""
    house, home, bin_ = folder / "work", folder / "home", folder / "bin"
    for made in (house, home, bin_):
        made.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ARCHFIT_"))}
    log = folder / "stood-in.log"
    log.touch()
    whole = {**kept, "HOME": str(home), "PATH": f"{bin_}:{SYSTEM_PATH}", "LOG": str(log), **environ}
    (bin_ / "archfit").symlink_to(PROGRAM)
    for name, tool in plan.programs.items():
        _link(bin_, name, tool, plan)
    for name, (text, _reason) in plan.stand_ins.items():
        if name not in plan.programs:
            _script(bin_ / name, text, "/bin/false")
    plan.prepare(house, whole)
    script, walked = ["set -o pipefail", "exec </dev/null"], list[str]()
    for block in blocks(plan.page):
        script += [
            f"ln -sf {machine.tool(tool)} {bin_}/{name}"
            for name, tool in plan.under.get(block.heading, {}).items()
        ]
        for command in block.commands:
            if command.startswith(tuple(plan.left_out)) or (
                block.shown and _bare(command) in map(_bare, walked)
            ):
                continue
            number = len(walked)
            walked.append(command)
            first = next(
                (value for begin, (value, _) in plan.before.items() if command.startswith(begin)), ":"
            )
            script.append(
                f"{{ {first}\n}} >{folder}/{number}.before 2>&1 || exit 1\n"
                f"{{ {_replaced(plan, command)}\n}} >{folder}/{number}.out 2>{folder}/{number}.err\n"
                f"echo $? >{folder}/{number}.status"
            )
    (folder / "walk.sh").write_text("\n".join(script) + "\n", encoding="utf-8")
    subprocess.run(
        ["/bin/bash", "--norc", folder / "walk.sh"],
        cwd=house,
        env=whole,
        check=True,
        timeout=_LONGEST_SECONDS,
    )
    return [_step(plan, folder, number, command) for number, command in enumerate(walked)]


def _bare(command: str) -> str:
    """Without a comment at its end."""
    return re.sub(r"\s+#.*$", "", command)


def _link(bin_: Path, name: str, tool: str, plan: Plan) -> None:
    real = machine.tool(tool) if tool in machine.TABLE else machine.find(tool) or "/bin/false"
    if name in plan.stand_ins:
        _script(bin_ / name, plan.stand_ins[name].value, real)
    else:
        (bin_ / name).symlink_to(real)


def _script(path: Path, text: str, real: str | Path) -> None:
    head = f'#!/bin/sh\nREAL={real}\necho "{path.name} $*" >> "$LOG"\n'
    path.write_text(head + text + "\n", encoding="utf-8")
    path.chmod(0o755)


def _replaced(plan: Plan, command: str) -> str:
    for text, (new, _reason) in plan.replaced.items():
        command = command.replace(text, new)
    return command


def _step(plan: Plan, folder: Path, number: int, command: str) -> Step:
    def read(ending: str) -> str:
        return (folder / f"{number}.{ending}").read_text(encoding="utf-8", errors="replace")

    wanted = next((code for begin, (code, _) in plan.ends.items() if command.startswith(begin)), 0)
    says = next((text for begin, text in plan.says.items() if command.startswith(begin)), "")
    return Step(command, int(read("status")), wanted, says, read("out"), read("err"))
