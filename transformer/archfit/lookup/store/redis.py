"""A store on a Redis or Valkey server, which many machines share.

    archfit:v2:tag:..                            expires after --cache-ttl or --max-stale, the longer
    archfit:v2:digest:.., archfit:v2:host:..     expire 30 days after they were last confirmed
    archfit:v2:claim:<key>                       SET NX PX: expires when the claim ends
    archfit:budget:{<host>}:free                 when the host may be asked again, in microseconds of the server's clock
    archfit:budget:{<host>}:owners               sorted set: who reserved a time in the last minute

The server may be down, slow, read-only or send anything: each command, with the resolution of its name, runs in a
thread that is abandoned after some seconds. Only keys under these prefixes are ever touched.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from archfit.base.printable import visible
from archfit.lookup.store import StoreTrouble
from archfit.options.settings import CacheServer

T = TypeVar("T")
SCHEMA = 2
PREFIX = f"archfit:v{SCHEMA}:"
KEEP_SECONDS = 30 * 86400
BUDGET_PREFIX = "archfit:budget:"
_PATIENCE_SECONDS = 2.0
_LONGEST_TEXT = 64 * 1024
_AT_ONCE = 500
_LONGEST_ANSWER = _AT_ONCE * (_LONGEST_TEXT + 1024)
# KEYS: free, owners. ARGV: owner, microseconds between requests, the longest wait. -> [wait or -1, owners]
_RESERVE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local minute = 60000000
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - minute)
redis.call('ZADD', KEYS[2], now, ARGV[1])
redis.call('PEXPIRE', KEYS[2], 60000)
local owners = redis.call('ZCARD', KEYS[2])
local start = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
if start - now >= tonumber(ARGV[3]) then return {-1, owners} end
local free = start + tonumber(ARGV[2])
redis.call('SET', KEYS[1], string.format('%.0f', free), 'PX', math.ceil((free - now) / 1000) + 1000)
return {start - now, owners}
"""
_LONGEST_WAIT_SECONDS = 86400.0
_AGAIN_SECONDS = 5.0


class _Bounded:
    """A connection that breaks where an answer is longer than any that it asks for: the client would keep it whole."""

    def _connect(self) -> _BoundedSocket:
        return _BoundedSocket(super()._connect())  # type: ignore[misc]  # of the client's own connection

    def send_packed_command(self, *words: Any, **named: Any) -> None:
        if sock := self._sock:  # type: ignore[attr-defined]
            sock.left = _LONGEST_ANSWER
        super().send_packed_command(*words, **named)  # type: ignore[misc]


class _BoundedSocket:
    """left: how many bytes may come."""

    def __init__(self, real: Any) -> None:
        self._real, self.left = real, _LONGEST_ANSWER

    def recv(self, *words: Any) -> bytes:
        data: bytes = self._real.recv(*words)
        self._counted(len(data))
        return data

    def recv_into(self, *words: Any) -> int:
        return self._counted(self._real.recv_into(*words))

    def _counted(self, number: int) -> int:
        self.left -= number
        if self.left < 0:
            raise OSError("it sends more than it was asked for")
        return number

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class RedisStore:
    """See `archfit.lookup.store`. The server is asked at the first use.

    tag_seconds: for how long a tag's entry can be of use. patience_seconds: at most so long for each command, and
    never longer than two. clock: Unix seconds. left: seconds that a command may take now; after its end none is sent.
    """

    shared = True

    def __init__(
        self,
        server: CacheServer,
        *,
        password: str = "",
        ca_file: str = "",
        tag_seconds: int = KEEP_SECONDS,
        patience_seconds: float = _PATIENCE_SECONDS,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        left: Callable[[], float] = lambda: _PATIENCE_SECONDS,
    ) -> None:
        self._place = str(server)
        self._password = password
        self._tag_seconds = max(60, min(tag_seconds, KEEP_SECONDS))
        self._patience = min(patience_seconds, _PATIENCE_SECONDS)
        self._clock = clock
        self._monotonic = monotonic
        self._left = left
        self._claimed: dict[str, float] = {}
        # Nothing is sent but what is meant: no HELLO, no CLIENT SETINFO, no tries again.
        options: dict[str, Any] = {
            "username": server.user or None,
            "password": password or None,
            "socket_connect_timeout": self._patience,
            "socket_timeout": self._patience,
            "retry": Retry(NoBackoff(), 0),
            "protocol": 2,
            "driver_info": None,
        }
        if server.tls:
            options |= {"ssl": True, "ssl_ca_certs": ca_file or None, "ssl_check_hostname": True}
        self._client = redis.Redis(server.host, server.port, server.database, **options)
        pool = self._client.connection_pool
        pool.connection_class = type("Bounded", (_Bounded, pool.connection_class), {})

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        if not keys:
            return {}
        names, values = [PREFIX + key for key in keys], list[Any]()
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            values += self._do(partial(_values, names=some))
        texts = ((key, _text(value)) for key, value in zip(keys, values, strict=True))
        return {key: text for key, text in texts if text}

    def put_many(self, entries: Mapping[str, str]) -> None:

        def work(client: redis.Redis) -> None:
            with client.pipeline(transaction=True) as pipeline:
                for key, text in sorted(entries.items()):
                    seconds = self._tag_seconds if key.startswith("tag:") else KEEP_SECONDS
                    pipeline.set(PREFIX + key, text, ex=seconds)
                pipeline.execute()

        if entries:
            self._do(work)

    def claim(self, keys: Sequence[str], owner: str, seconds: float) -> set[str]:
        text = json.dumps({"owner": owner, "until": self._clock() + seconds})

        def work(client: redis.Redis) -> list[Any]:
            with client.pipeline(transaction=False) as pipeline:
                for key in keys:
                    pipeline.set(_claim(key), text, nx=True, px=max(1, int(seconds * 1000)))
                return _list(pipeline.execute(), len(keys))

        end = self._monotonic() + seconds
        won = {key for key, done in zip(keys, self._do(work), strict=True) if done} if keys else set()
        self._claimed |= dict.fromkeys(won, end)
        return won

    def release(self, keys: Sequence[str], owner: str) -> None:
        """Ends the owner's claims; one that has ended by itself may be another's by now. Raises StoreTrouble."""
        del owner
        ends = {key: self._claimed.pop(key, 0.0) for key in keys}
        own = [_claim(key) for key, end in ends.items() if self._monotonic() < end]
        if own:
            self._delete(own)

    def reserve(self, host: str, owner: str, interval: float, longest: float) -> tuple[float | None, int]:
        """The next free time of a host, for all that share this server; safe to use from several threads.

        interval: seconds between two requests. longest: the longest wait in seconds. Returns the seconds to wait, None
        for more than that, where nothing is reserved; and how many owners there were in the last minute. Raises
        StoreTrouble.
        """
        names = [f"{BUDGET_PREFIX}{{{host}}}:{part}" for part in ("free", "owners")]
        micro = [round(1e6 * min(seconds, _LONGEST_WAIT_SECONDS)) for seconds in (interval, longest)]

        def work(client: redis.Redis) -> tuple[float | None, int]:
            wait, owners = (int(value) for value in _list(client.eval(_RESERVE, 2, *names, owner, *micro), 2))
            return (None if wait < 0 else wait / 1e6), max(1, owners)

        return self._do(work)

    def items(self) -> list[tuple[str, str]]:
        """Everything there is of this format. Raises StoreTrouble."""
        items: set[tuple[str, str]] = set()
        cursor = 0
        while True:
            cursor, some = self._page(cursor)
            items.update(some)
            if cursor == 0:
                return sorted(items)

    def remove(self, keys: Iterable[str]) -> int:
        """How many there were. Raises StoreTrouble."""
        names, removed = [(PREFIX + key).encode("utf-8", "surrogateescape") for key in keys], 0
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            removed += self._delete(some)
        return removed

    def size(self) -> int:
        """Bytes of keys and texts; the server needs somewhat more."""
        return sum(
            len(PREFIX) + len(key.encode("utf-8", "surrogateescape")) + len(text.encode())
            for key, text in self.items()
        )

    def close(self) -> None:
        self._client.close()

    def _delete(self, names: Sequence[str | bytes]) -> int:
        return self._do(lambda client: int(client.delete(*names)))

    def _page(self, cursor: int) -> tuple[int, list[tuple[str, str]]]:
        def work(client: redis.Redis) -> tuple[int, list[Any], list[Any]]:
            following, names = client.scan(cursor, match=f"{PREFIX}*", count=_AT_ONCE)
            return following, names, _values(client, names)

        following, names, values = self._do(work)
        keys = [name.decode("utf-8", "surrogateescape").removeprefix(PREFIX) for name in names]
        return following, [(key, _text(value)) for key, value in zip(keys, values, strict=True)]

    def _do(self, work: Callable[[redis.Redis], T]) -> T:
        patience = min(self._patience, self._left())
        if patience <= 0:
            raise self._trouble("the time of the run was over", "allow more with --timeout")
        done: queue.SimpleQueue[tuple[T | None, Exception | None]] = queue.SimpleQueue()

        def run() -> None:
            try:
                done.put((work(self._client), None))
            except Exception as error:  # noqa: BLE001 - a server's answer may raise anything in the client
                done.put((None, error))

        try:
            threading.Thread(target=run, daemon=True).start()
        except RuntimeError:
            raise self._trouble("this machine allows no more threads", "raise `ulimit -u`") from None
        try:
            value, error = done.get(timeout=patience)
        except queue.Empty:
            value, error = None, redis.TimeoutError()
        if error:
            raise self._failed(error)
        return value  # type: ignore[return-value]  # without an error it is what work gave

    def _failed(self, error: Exception) -> StoreTrouble:
        if isinstance(error, redis.TimeoutError):
            return self._trouble("it gave no answer in time", "check the server")
        why = str(error) or type(error).__name__
        if self._password:
            why = why.replace(self._password, "***")
        why = visible(why[:200]).rstrip(".")
        return self._trouble(why, _advice(error))

    def _trouble(self, why: str, advice: str) -> StoreTrouble:
        return StoreTrouble(f"the cache {self._place} cannot be used ({why}): {advice}")


class SharedBudget:
    """The request budget that processes share on a Redis or Valkey server; while it fails, one warning.

    It is asked again after five seconds. owner: names this process among those that share the server. clock: seconds
    that never go back.
    """

    def __init__(
        self, store: RedisStore, owner: str, clock: Callable[[], float], warn: Callable[[str], None]
    ) -> None:
        self._store = store
        self._owner = owner
        self._clock = clock
        self._warn = warn
        self._failed_until = float("-inf")
        self._warned = False

    def reserve(self, host: str, interval: float, longest: float) -> tuple[float | None, int] | None:
        """As `registry.http.limits.Reserve`; None while the server fails."""
        if self._clock() < self._failed_until:
            return None
        try:
            return self._store.reserve(host, self._owner, interval, longest)
        except StoreTrouble as trouble:
            self._failed_until = self._clock() + _AGAIN_SECONDS
            if not self._warned:
                self._warned = True
                self._warn(f"{trouble}; this process keeps to its part of --requests-per-second by itself")
            return None

    def close(self) -> None:
        self._store.close()


def _advice(error: Exception) -> str:
    if isinstance(error, redis.AuthenticationError):
        return "set ARCHFIT_CACHE_PASSWORD or --cache-password-file, and the user in the URL if it needs one"
    if isinstance(error, redis.exceptions.ReadOnlyError | redis.exceptions.NoPermissionError):
        return "name a server in --cache that may be written to"
    if "CERTIFICATE" in str(error):
        return "name its CA certificates in --cache-ca-file"
    return "start it, or name another in --cache"


def _list(answer: object, length: int) -> list[Any]:
    if not isinstance(answer, list) or len(answer) != length:
        raise ValueError("the answer is not that of a Redis server")
    return answer


def _values(client: redis.Redis, names: Sequence[str | bytes]) -> list[Any]:
    """The value of each name, "" where there is none; of a longer one than archfit puts there the beginning."""
    with client.pipeline(transaction=False) as pipeline:
        for name in names:
            pipeline.getrange(name, 0, _LONGEST_TEXT)
        values = _list(pipeline.execute(raise_on_error=False), len(names))
    for value in values:
        if isinstance(value, Exception) and not str(value).startswith("WRONGTYPE"):
            raise value
    return values


def _claim(key: str) -> str:
    return f"{PREFIX}claim:{key}"


def _text(value: object) -> str:
    """The text of a value, "" for what archfit has not put there."""
    if not isinstance(value, bytes) or len(value) > _LONGEST_TEXT:
        return ""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return ""
