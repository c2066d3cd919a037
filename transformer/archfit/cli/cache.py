"""`archfit cache`: where the cache is, what it holds, and how to get rid of that.

    path     where it is
    info     size, entries by kind, the oldest and the newest
    prune    removes what no run would use any more, or cannot read
    clear    removes everything of archfit, and nothing else

`lookup.cache_contents` decides what is of use; a Redis server forgets by the same rules. No command
here creates a cache.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from archfit.base.errors import UsageError
from archfit.base.printable import encoded
from archfit.base.spelling import refused
from archfit.cli.invocation import read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.lookup.cache_contents import confirmed_at, counts, expired, readable
from archfit.lookup.store import sqlite
from archfit.lookup.store.open import cache_location, open_store
from archfit.options.option_entries import CacheServer
from archfit.options.settings import Operator
from archfit.yaml.json_output import json_output

if TYPE_CHECKING:
    from archfit.lookup.store import StoreContents

_COMMAND = BY_NAME["cache"]


def run(
    argv: Sequence[str],
    stdout: BinaryIO,
    environ: Mapping[str, str],
    clock: Callable[[], float] = time.time,
) -> int:
    """The command, after its name. clock: Unix seconds. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ)
    word, *more = invocation.words or [""]
    if word and word not in _WORDS:
        raise UsageError(f"archfit cache: {refused(word, _WORDS)}")
    if more:
        raise UsageError(
            f"archfit cache {word} takes no name: it is about all answers; --no-cache asks again, and changes none"
        )
    if not word:
        raise UsageError("name an action: archfit cache path, info, prune or clear; see archfit cache --help")
    value, text = _WORDS[word](invocation.settings.operator, environ, clock)
    stdout.write(json_output(value, indent=None) if invocation.flags.format == "json" else encoded(text))
    return 0


def _path(
    operator: Operator, environ: Mapping[str, str], clock: Callable[[], float]
) -> tuple[dict[str, Any], str]:
    del clock
    where = cache_location(operator, environ)
    return {"place": where}, f"{where}\n"


def _info(
    operator: Operator, environ: Mapping[str, str], clock: Callable[[], float]
) -> tuple[dict[str, Any], str]:
    def look(contents: StoreContents) -> tuple[list[tuple[str, str]], int]:
        return contents.items(), contents.size()

    where, (items, size) = _with_store(operator, environ, clock, look, ([], 0))
    times = [when for key, text in items if (when := confirmed_at(key, text))]
    value = {
        "place": where,
        "format": _format(operator),
        "size": size,
        **counts(key for key, _ in items),
        "unreadable": sum(not readable(key, text) for key, text in items),
        "oldest": _date(min(times, default=0)),
        "newest": _date(max(times, default=0)),
    }
    lines = [f"{name + ':':12}{'-' if shown is None else shown}" for name, shown in value.items()]
    lines[2] += " bytes"
    return value, "".join(f"{line}\n" for line in lines)


def _prune(
    operator: Operator, environ: Mapping[str, str], clock: Callable[[], float]
) -> tuple[dict[str, Any], str]:
    tag_seconds = max(operator.cache_ttl_seconds, operator.max_stale_seconds)
    return _removed(operator, environ, clock, lambda items: expired(items, clock(), tag_seconds))


def _clear(
    operator: Operator, environ: Mapping[str, str], clock: Callable[[], float]
) -> tuple[dict[str, Any], str]:
    return _removed(operator, environ, clock, lambda items: [key for key, _ in items])


_WORDS = {"path": _path, "info": _info, "prune": _prune, "clear": _clear}


def _removed(
    operator: Operator,
    environ: Mapping[str, str],
    clock: Callable[[], float],
    choose: Callable[[Sequence[tuple[str, str]]], list[str]],
) -> tuple[dict[str, Any], str]:
    def work(contents: StoreContents) -> tuple[list[str], int]:
        items = contents.items()
        chosen = choose(items)
        if chosen:
            contents.remove(chosen)
        return chosen, len(items)

    where, (chosen, there) = _with_store(operator, environ, clock, work, ([], 0))
    by_kind = counts(chosen)
    value = {"place": where, "removed": len(chosen), "left": there - len(chosen), **by_kind}
    kinds = ", ".join(
        f"{count} {name if count > 1 else name[:-1]}" for name, count in by_kind.items() if count
    )
    return value, f"removed {len(chosen)} of {there} entries{': ' if kinds else ''}{kinds} ({where})\n"


def _with_store(
    operator: Operator,
    environ: Mapping[str, str],
    clock: Callable[[], float],
    work: Callable[[StoreContents], tuple[Any, int]],
    nothing: tuple[Any, int],
) -> tuple[str, tuple[Any, int]]:
    """The place, and what `work` makes of the store there; `nothing` where no file has been written yet."""
    where = cache_location(operator, environ)
    if "://" not in where and not os.path.exists(where):
        return where, nothing
    store = open_store(operator, environ, clock)
    try:
        return where, work(store)
    finally:
        store.close()


def _format(operator: Operator) -> int:
    if isinstance(operator.cache, CacheServer):
        from archfit.lookup.store import redis

        return redis.SCHEMA
    return sqlite.SCHEMA


def _date(seconds: int) -> str | None:
    """ISO 8601 in UTC, None for 0."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)) if seconds else None
