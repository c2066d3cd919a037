"""What `archfit lock` asks for, and how the lock file changes.

The contents of a digest never change, but people edit lock files: so pinned references are asked for, too.
An entry of the cache for a digest counts as an answer, because it follows from verified bytes. Globs are those of
fnmatch, matched against the whole normalised reference; `*` also matches "/".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from typing import Any

from archfit.base.errors import UsageError
from archfit.images.platforms import Found
from archfit.startup.record import Record

EVERY = "*"


class LockChange(Record):
    """How one entry changes. before, after: None where there is no entry."""

    reference: str
    before: Found | None
    after: Found | None

    @property
    def verb(self) -> str:
        """`corrected`: the same digest, with another kind or other platforms."""
        if self.before is None:
            return "added"
        if self.after is None:
            return "dropped"
        return "corrected" if self.before.digest == self.after.digest else "moved"

    @property
    def gained(self) -> list[str]:
        """Platforms that the entry has now and had not before."""
        return _names(self.after, self.before)

    @property
    def lost(self) -> list[str]:
        """Platforms that the entry had and has no longer."""
        return _names(self.before, self.after)

    def as_json(self) -> dict[str, Any]:
        """As `archfit lock --json` prints it."""
        return {
            "reference": self.reference,
            "change": self.verb,
            "from": self.before.digest if self.before else None,
            "to": self.after.digest if self.after else None,
            "gained": self.gained,
            "lost": self.lost,
        }


def chosen(needed: Iterable[str], held: Mapping[str, Found], globs: Sequence[str], *, add: bool) -> list[str]:
    """The references to ask for, of those that the streams need. add: `--add-missing`.

    Raises UsageError for a glob that matches none: it is a mistake, and the file would not change.
    """
    needed = list(needed)
    every = EVERY in globs or not (globs or add)
    wanted = {name for name in needed if every or (add and name not in held)}
    for glob in globs:
        matched = set(filter(re.compile(translate(glob)).match, needed))
        if not matched and glob != EVERY:
            raise UsageError(
                f"--update: {glob!r} matches no image of the manifests: write it for whole references, as in "
                "'docker.io/library/*:1.*'"
            )
        wanted |= matched
    return [name for name in needed if name in wanted]


def merged(
    held: Mapping[str, Found], answers: Mapping[str, Found], needed: Iterable[str], *, prune: bool
) -> dict[str, Found]:
    """The entries of the new file."""
    images = {**held, **answers}
    return {name: images[name] for name in needed if name in images} if prune else images


def changes(before: Mapping[str, Found], after: Mapping[str, Found]) -> list[LockChange]:
    """What differs, sorted by reference."""
    return [
        LockChange(name, before.get(name), after.get(name))
        for name in sorted({**before, **after})
        if before.get(name) != after.get(name)
    ]


def _names(these: Found | None, those: Found | None) -> list[str]:
    without = those.platforms if those else ()
    return [str(platform) for platform in (these.platforms if these else ()) if platform not in without]
