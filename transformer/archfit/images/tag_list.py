"""The tags of a repository, as a registry lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from archfit.images.platforms import Platform
from archfit.startup.record import Record

Read: TypeAlias = Literal["complete", "partial", "no"]


class TagList(Record):
    """The tags of a repository, as far as they were read.

    tags: in the order of the registry; any of them may be missing or gone. read: "complete" to the end of the list;
    "no" where none was given. why: what ended it before, a sentence, or "". offers: what the list itself says of a
    tag's platforms; only few registries do.
    """

    tags: tuple[str, ...]
    read: Read
    why: str = ""
    offers: Mapping[str, tuple[Platform, ...]] = {}
