"""The store that the operator's options name.

    --cache redis://.., rediss://..     store.redis, shared with other machines
    --cache PATH, or nothing            store.sqlite, in the user's cache directory (XDG Base Directory: absolute paths)

Each store is imported only where it is used: sqlite3 and redis may be missing, and importing them takes time.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

from archfit.base.files import read_regular, user_folder
from archfit.lookup.store import StoreTrouble
from archfit.options.settings import Operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from archfit.lookup.store.redis import RedisStore, SharedBudget
    from archfit.lookup.store.sqlite import SqliteStore
    from archfit.options.settings import CacheServer
    from archfit.registry.lookup_context import LookupContext

_LONGEST_PASSWORD = 4096


def cache_location(operator: Operator, environ: Mapping[str, str]) -> str:
    """The cache's path or URL, without any credential. Raises StoreTrouble where there is none."""
    if not isinstance(operator.cache, str):
        return str(operator.cache)
    path = operator.cache or default_path(environ)
    if not path:
        raise StoreTrouble("there is no home directory for a cache: name a file in --cache")
    return path


def open_store(
    operator: Operator,
    environ: Mapping[str, str],
    clock: Callable[[], float],
    left: Callable[[], float] = lambda: float("inf"),
) -> SqliteStore | RedisStore:
    """The store, opened; a server is not asked yet. clock: Unix seconds. left: seconds that a command may take now.

    Raises StoreTrouble.
    """
    if not isinstance(operator.cache, str):
        return _server(operator.cache, operator, environ, clock, left)
    path = cache_location(operator, environ)
    try:
        from archfit.lookup.store.sqlite import SqliteStore
    except ImportError:
        raise StoreTrouble(
            "this Python has no sqlite3, so there is no cache: install it, or set --no-cache"
        ) from None
    return SqliteStore(path, clock, left)


def open_budget(
    operator: Operator, context: LookupContext, warn: Callable[[str], None]
) -> SharedBudget | None:
    """The request budgets that processes share, None where the operator names no server for them.

    warn: takes a sentence for the user. A server that cannot be used is a warning of the cache's already.
    """
    if not operator.requests_per_second or operator.no_cache or isinstance(operator.cache, str):
        return None
    left = context.deadline.left_for_cache
    try:
        store = _server(operator.cache, operator, context.environ, context.clock, left)
    except StoreTrouble:
        return None
    from archfit.lookup.store.redis import SharedBudget

    return SharedBudget(store, os.urandom(8).hex(), monotonic, warn)


def _server(
    server: CacheServer,
    operator: Operator,
    environ: Mapping[str, str],
    clock: Callable[[], float],
    left: Callable[[], float],
) -> RedisStore:
    try:
        from archfit.lookup.store.redis import RedisStore
    except ImportError:
        from archfit.base.packages import missing  # only this error needs it

        raise StoreTrouble(missing(f"a cache at {server}", "redis", "redis")) from None
    return RedisStore(
        server,
        password=_password(operator.cache_password_file, environ),
        ca_file=operator.cache_ca_file,
        tag_seconds=max(operator.cache_ttl_seconds, operator.max_stale_seconds),
        patience_seconds=operator.timeout_seconds / 4,
        clock=clock,
        left=left,
    )


def _password(file: str, environ: Mapping[str, str]) -> str:
    """The server's password: the file's first line, else that of the environment. Raises StoreTrouble."""
    if not file:
        return environ.get("ARCHFIT_CACHE_PASSWORD", "")
    try:
        text = read_regular(file, _LONGEST_PASSWORD).partition(b"\n")[0].rstrip(b"\r").decode()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise StoreTrouble(f"--cache-password-file: cannot read {file!r} ({why})") from None
    if not text:
        raise StoreTrouble(f"--cache-password-file: the first line of {file!r} is empty")
    return text


FILE = "lookups.sqlite"


def default_path(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """Where the cache file belongs, "" where the user has no directory for it. platform: as sys.platform."""
    caches = "Library/Caches" if platform == "darwin" else ".cache"
    folder = user_folder(environ, "XDG_CACHE_HOME", caches)
    return folder and os.path.join(folder, FILE)
