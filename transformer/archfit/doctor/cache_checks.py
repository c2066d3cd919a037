"""The cache, and the place of the last run's report. A server is asked once, within the patience that a run has."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing

from archfit.base.printable import visible
from archfit.doctor.findings import Diagnostic, note, ok, wrong
from archfit.lookup.store import StoreTrouble
from archfit.lookup.store.open import cache_location, open_store
from archfit.options.settings import CacheServer, Operator
from archfit.registry.http.servers import elsewhere, leads
from archfit.reports.report import state_path

_COUNTED = 64 * 1024 * 1024


def cache(operator: Operator, environ: Mapping[str, str], clock: Callable[[], float]) -> Iterator[Diagnostic]:
    """clock: Unix seconds."""
    if operator.no_cache:
        yield note("cache", "is off (--no-cache): every run asks the registries")
        return
    try:
        where = cache_location(operator, environ)
        if isinstance(operator.cache, CacheServer):
            yield from _server(where, operator, environ, clock)
        else:
            yield from _file(where, operator, environ, clock)
    except StoreTrouble as error:
        yield wrong("cache", str(error), _remedy(operator))


def last_report(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Where `archfit last` reads, the only place for messages under Helm 4."""
    path = state_path(environ)
    if not path:
        yield note(
            "last report", "has no place: there is no home directory", "export HOME=/path/of/your/home"
        )
        return
    if refused := _unwritable(path):
        yield wrong("last report", f"{path} cannot be written: {refused}", _owned(path))
    else:
        state = "; archfit last shows it" if os.path.exists(path) else " is not written yet"
        yield ok("last report", f"{path}{state}")


def _server(
    where: str, operator: Operator, environ: Mapping[str, str], clock: Callable[[], float]
) -> Iterator[Diagnostic]:
    if operator.offline:
        yield note("cache", f"{where} was not asked, as --offline forbids it")
        return
    with closing(open_store(operator, environ, clock)) as store:
        store.get_many(["archfit-doctor"])
    yield ok("cache", f"{where} answers")


def _file(
    where: str, operator: Operator, environ: Mapping[str, str], clock: Callable[[], float]
) -> Iterator[Diagnostic]:
    refused = _unwritable(where)
    if refused:
        yield wrong("cache", f"{where} cannot be written: {refused}", _owned(where))
        return
    if not os.path.exists(where):
        yield ok("cache", f"{where} is not written yet")
        return
    with closing(open_store(operator, environ, clock)) as store:
        size = store.size()
        items = store.items() if size <= _COUNTED else []
    entries = f", {len(items)} {'entry' if len(items) == 1 else 'entries'}" if size <= _COUNTED else ""
    yield ok("cache", f"{where}, {_amount(size)}{entries}")
    for key, text in items:
        other = elsewhere(text) if key.startswith("host:") else ""
        if other:
            remedy = f"on nodes with CRI-O, write {other.partition('://')[2]} into the manifest"
            yield note("cache", leads(visible(key.removeprefix("host:")), other), remedy)


def _unwritable(path: str) -> str:
    """Why the file cannot be written, or made, "" if it can be. Nothing is written to find out."""
    if os.path.exists(path):
        if not os.path.isfile(path):
            return "it is not a file"
        if not os.access(path, os.R_OK | os.W_OK):
            return "it belongs to another user, or its mode forbids it"
    folder = _nearest(os.path.dirname(os.path.abspath(path)))
    if not os.path.isdir(folder):
        return f"{folder} is not a directory"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the directory {folder} does not allow it"
    return ""


def _nearest(path: str) -> str:
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path


def _owned(path: str) -> str:
    """What makes the nearest existing place of the path writable."""
    place = _nearest(path)
    if os.path.exists(place) and not os.path.isdir(place) and not os.path.isfile(place):
        return f"name another place; {place} is not a file"
    return f"ls -ld {shlex.quote(place)} shows its owner and mode; correct them, or name another place"


def _remedy(operator: Operator) -> str:
    if isinstance(operator.cache, CacheServer):
        return "correct --cache, or run without the server: archfit --no-cache"
    return "archfit cache path names it; move the file away, or name another with --cache"


def _amount(size: int) -> str:
    if size < 10_000:
        return f"{size} bytes"
    return f"{size // 1024} KiB" if size < 10_000_000 else f"{size >> 20} MiB"
