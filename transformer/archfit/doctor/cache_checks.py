"""The cache, and the place of the last run's report.

a file      its place; it is archfit's, of this user, can be read and written; size and entries
no file     whether it could be written
a server    one request, within the patience that a run has
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping

from archfit.base.printable import visible
from archfit.doctor.findings import NOTE, OK, WRONG, Diagnostic
from archfit.lookup.store import StoreTrouble
from archfit.lookup.store.open import cache_location, open_store
from archfit.options.option_entries import CacheServer
from archfit.options.settings import Operator
from archfit.registry.http.servers import elsewhere, leads
from archfit.reports.report import state_path

_COUNTED = 64 * 1024 * 1024


def cache(operator: Operator, environ: Mapping[str, str], clock: Callable[[], float]) -> Iterator[Diagnostic]:
    """clock: Unix seconds."""
    if operator.no_cache:
        yield Diagnostic("cache", NOTE, "is off (--no-cache): every run asks the registries")
        return
    try:
        where = cache_location(operator, environ)
        if isinstance(operator.cache, CacheServer):
            yield from _server(where, operator, environ, clock)
        else:
            yield from _file(where, operator, environ, clock)
    except StoreTrouble as error:
        yield Diagnostic("cache", WRONG, str(error), _remedy(operator))


def last_report(environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Where `archfit last` reads, the only place for messages under Helm 4."""
    path = state_path(environ)
    if not path:
        yield Diagnostic(
            "last report", NOTE, "has no place: there is no home directory", "export HOME=/path/of/your/home"
        )
        return
    refused = _unwritable(path)
    if refused:
        yield Diagnostic("last report", WRONG, f"{path} cannot be written: {refused}", _owned(path))
    elif os.path.exists(path):
        yield Diagnostic("last report", OK, f"{path}; archfit last shows it")
    else:
        yield Diagnostic("last report", OK, f"{path} is not written yet")


def _server(
    where: str, operator: Operator, environ: Mapping[str, str], clock: Callable[[], float]
) -> Iterator[Diagnostic]:
    if operator.offline:
        yield Diagnostic("cache", NOTE, f"{where} was not asked, as --offline forbids it")
        return
    store = open_store(operator, environ, clock)
    try:
        store.get_many(["archfit-doctor"])
    finally:
        store.close()
    yield Diagnostic("cache", OK, f"{where} answers")


def _file(
    where: str, operator: Operator, environ: Mapping[str, str], clock: Callable[[], float]
) -> Iterator[Diagnostic]:
    refused = _unwritable(where)
    if refused:
        yield Diagnostic("cache", WRONG, f"{where} cannot be written: {refused}", _owned(where))
        return
    if not os.path.exists(where):
        yield Diagnostic("cache", OK, f"{where} is not written yet")
        return
    store = open_store(operator, environ, clock)
    try:
        size = store.size()
        items = store.items() if size <= _COUNTED else []
    finally:
        store.close()
    entries = f", {_entries(len(items))}" if size <= _COUNTED else ""
    yield Diagnostic("cache", OK, f"{where}, {_amount(size)}{entries}")
    for key, text in items:
        other = elsewhere(text) if key.startswith("host:") else ""
        if other:
            remedy = f"on nodes with CRI-O, write {other.partition('://')[2]} into the manifest"
            yield Diagnostic("cache", NOTE, leads(visible(key.removeprefix("host:")), other), remedy)


def _unwritable(path: str) -> str:
    """Why the file cannot be written, or made, "" if it can be. Nothing is written to find out."""
    if os.path.exists(path):
        if not os.path.isfile(path):
            return "it is not a file"
        if not os.access(path, os.R_OK | os.W_OK):
            return "it belongs to another user, or its mode forbids it"
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.exists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        return f"{folder} is not a directory"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the directory {folder} does not allow it"
    return ""


def _owned(path: str) -> str:
    """What makes the nearest existing place of the path writable."""
    place = path
    while not os.path.exists(place) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    if os.path.exists(place) and not os.path.isdir(place) and not os.path.isfile(place):
        return f"name another place; {place} is not a file"
    return f"ls -ld {shlex.quote(place)} shows its owner and mode; correct them, or name another place"


def _remedy(operator: Operator) -> str:
    if isinstance(operator.cache, CacheServer):
        return "correct --cache, or run without the server: archfit --no-cache"
    return "archfit cache path names it; move the file away, or name another with --cache"


def _amount(size: int) -> str:
    return (
        f"{size} bytes"
        if size < 10_000
        else f"{size // 1024} KiB"
        if size < 10_000_000
        else f"{size >> 20} MiB"
    )


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"
