"""`archfit cache`: where the cache is, what it holds, and how to get rid of that.

`lookup.cache_contents` decides what is of use. No command here creates a cache.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from archfit.base.errors import UsageError
from archfit.base.printable import TIME, encoded
from archfit.base.spelling import refused
from archfit.cli.invocation import read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.lookup.cache_contents import confirmed_at, counts, expired, readable
from archfit.lookup.store import sqlite
from archfit.lookup.store.open import cache_location, open_store
from archfit.options.settings import CacheServer, Operator
from archfit.yaml.json_output import document_head, json_output

if TYPE_CHECKING:
    from archfit.lookup.store.redis import RedisStore

_COMMAND = BY_NAME["cache"]


def manage_cache(
    argv: Sequence[str], stdout: BinaryIO, environ: Mapping[str, str], clock: Callable[[], float] = time.time
) -> int:
    """The command, after its name. clock: Unix seconds. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ)
    word, *more = invocation.words or [""]
    if word and word not in _COMMAND.words:
        raise UsageError(f"archfit cache: {refused(word, _COMMAND.words)}")
    if more:
        raise UsageError(
            f"archfit cache {word} takes no name: it is about all answers; --no-cache asks again, and changes none"
        )
    if not word:
        raise UsageError("name an action: archfit cache path, info, prune or clear; see archfit cache --help")
    operator = invocation.settings.operator
    where = cache_location(operator, environ)
    if word == "path":
        value, text = {"place": where}, f"{where}\n"
    else:
        is_there = "://" in where or os.path.exists(where)
        store = open_store(operator, environ, clock) if is_there else None
        try:
            if word == "info":
                value, text = _info(store, where, _format(operator))
            else:
                age = max(operator.cache_ttl_seconds, operator.max_stale_seconds) if word == "prune" else None
                value, text = _removed(store, where, clock(), age)
        finally:
            if store:
                store.close()
    whole = {**document_head("cache"), **value}
    stdout.write(json_output(whole, indent=None) if invocation.flags.format == "json" else encoded(text))
    return 0


def _info(
    store: sqlite.SqliteStore | RedisStore | None, where: str, format_: int
) -> tuple[dict[str, Any], str]:
    items = store.items() if store else []
    times = [when for key, text in items if (when := confirmed_at(key, text))]
    value = {
        "place": where,
        "format": format_,
        "size": store.size() if store else 0,
        **counts(key for key, _ in items),
        "unreadable": sum(not readable(key, text) for key, text in items),
        "oldest": _date(min(times, default=0)),
        "newest": _date(max(times, default=0)),
    }
    lines = [f"{name + ':':12}{'-' if shown is None else shown}" for name, shown in value.items()]
    lines[2] += " bytes"
    return value, "".join(f"{line}\n" for line in lines)


def _removed(
    store: sqlite.SqliteStore | RedisStore | None, where: str, now: float, age: int | None
) -> tuple[dict[str, Any], str]:
    """Removes what is older than an answer may be in seconds, everything without an age."""
    items = store.items() if store else []
    chosen = [key for key, _ in items] if age is None else expired(items, now, age)
    if store and chosen:
        store.remove(chosen)
    by_kind = counts(chosen)
    value = {"place": where, "removed": len(chosen), "left": len(items) - len(chosen), **by_kind}
    kinds = ", ".join(
        f"{count} {name if count > 1 else name[:-1]}" for name, count in by_kind.items() if count
    )
    return value, f"removed {len(chosen)} of {len(items)} entries{': ' if kinds else ''}{kinds} ({where})\n"


def _format(operator: Operator) -> int:
    if isinstance(operator.cache, CacheServer):
        from archfit.lookup.store import redis

        return redis.SCHEMA
    return sqlite.SCHEMA


def _date(seconds: int) -> str | None:
    """ISO 8601 in UTC, None for 0."""
    return time.strftime(TIME, time.gmtime(seconds)) if seconds else None
