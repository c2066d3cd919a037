"""What the server and its lookup processes (`lookup_worker`) tell each other, pickled, through a socket pair.

to a process      Ask, one pickle after the other
to the server     4 bytes, big-endian: how many follow; these: one of the other records
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from archfit.images.platforms import Answer, Found, ImagePlatforms
from archfit.options.settings import Operator
from archfit.startup.record import Record

WORKERS = 2
HEAD = struct.Struct(">I")
Replies: TypeAlias = Mapping[tuple[str, int], int]
"""How many answers of each (server, HTTP status) there were."""
Secrets: TypeAlias = tuple[str, ...]
"""Those that the operator named, of a Pod that refers to them: NAMESPACE/NAME."""


class WorkerOptions(Record):
    """What a lookup process is started with.

    architectures: what a node may have. memory_bytes: address space, above what it begins with. reads_secrets: pull
    secrets count. keeps_cache: it prunes the cache's file.
    """

    operator: Operator
    image_platforms: tuple[ImagePlatforms, ...]
    environ: Mapping[str, str]
    architectures: frozenset[str]
    memory_bytes: int
    reads_secrets: bool = False
    keeps_cache: bool = False


class Ask(Record):
    """An image to look up. number: of this question. seconds: how long it may take. rank: lower ones go first."""

    number: int
    text: str
    secrets: Secrets
    seconds: float
    rank: int


class Ready(Record):
    """The process takes questions."""


class Failed(Record):
    """The process ends."""

    why: str


class Answered(Record):
    """number: of the question. cut_off: it took all the time that it had."""

    number: int
    answer: Answer
    cut_off: bool = False


class HasStale(Record):
    """The cache has an answer that is too old to be used before the registry was asked."""

    number: int
    answer: Found


class Noted(Record):
    """For log and metrics. messages: sentences. cache: bytes of its file, and how many entries were removed."""

    messages: Sequence[str]
    replies: Replies
    cache: tuple[int, int] | None = None


Told: TypeAlias = Ready | Failed | Answered | HasStale | Noted


def framed(message: Record) -> bytes:
    """The message, as it goes through the pair."""
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(content)) + content
