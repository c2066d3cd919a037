"""The program of one start, as it was read and is kept; and what that means on an architecture.

right     it is built for the architecture
wrong     it is built for another machine, so it does not start
unread    nobody knows, and why
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from archfit.images.platforms import Platform
from archfit.programs.heads import machine_of, program_words, runs
from archfit.programs.start import Start
from archfit.startup.record import Record

State: TypeAlias = Literal["right", "wrong", "unread"]


class Program(Record):
    """files: (normal path, head) of the program; of a script, the interpreters follow. looked: all paths on the way.

    reason: why the last of them was not read, the end of a sentence; "" where it was. final: it will not be read later.
    """

    files: tuple[tuple[str, str], ...] = ()
    looked: tuple[str, ...] = ()
    reason: str = ""
    final: bool = False


class Programs(Record):
    """Of one image. entrypoint: it has one, so that no arguments choose the program. by_key: those of starts."""

    entrypoint: bool
    by_key: Mapping[str, Program]

    def of(self, start: Start) -> Program | None:
        """The program of a start, None where it was not read."""
        program = self.by_key.get(start.key_of(entrypoint=self.entrypoint))
        covered = next(filter(start.covers, program.looked), None) if program else None
        return program if covered is None else Program(reason=f"a volume is mounted over /{covered}")


class Verdict(Record):
    """state: see the module. words: `/app, an x86-64 program`; why it was not read, where it was not."""

    state: State
    words: str


ProgramsOf: TypeAlias = Callable[[str, Platform, Start], Verdict | None]
"""(image as written, platform, what the container says) -> its program there; None where there is none to judge."""


def judged(program: Program, architecture: str) -> Verdict:
    """Whether the program is one for Linux nodes of the architecture."""
    if program.reason or not program.files:
        return Verdict("unread", program.reason or "nothing was read")
    path, head = program.files[-1]
    if not machine_of(head):
        what = {"empty": "is empty", "wasm": "is WebAssembly"}.get(head, "is no program that archfit knows")
        return Verdict("unread", f"/{path} {what}")
    runs_there = runs(head, architecture)
    if isinstance(runs_there, str):
        return Verdict("unread", f"/{path} is for {runs_there}")
    first, words = program.files[0][0], program_words(head)
    shown = f"/{first}, {words}" if first == path else f"/{first}, whose interpreter /{path} is {words}"
    return Verdict("right" if runs_there else "wrong", shown)


def wrong_words(platform: Platform, words: str) -> str:
    """The sentence for a wrong one."""
    return f"its entry for {platform} starts {words}"
