"""The registries of a storm, a process of its own; each name of MOODS is a registry `NAME.invalid` with its own port.

    python -m campaign.webhook.registries
    {"good.invalid": PORT, ..}

    good     answers at once              slow, slow2    answer after 15 seconds      stuck    never answers
    twin     the same, for others         large          indexes of 1,024 invented architectures
    crumbs   4 MiB of JSON in chunks of one byte         continues      `100 Continue` without end

The last part of a repository says what an image offers: `team/amd`, `team/arm`, `team/both`; `team/none` does not
exist. Any tag is there. It ends when its standard input does.
"""

import contextlib
import itertools
import json
import sys
import threading
import time
from collections.abc import Callable
from functools import lru_cache

from loopback_server import Answer, Asked, LoopbackServer

from archfit.registry import manifest as media
from fake_registry import as_json, descriptor, digest_of, platform_of

SLOW_SECONDS = 15.0
OFFERS = {"amd": ("linux/amd64",), "arm": ("linux/arm64",), "both": ("linux/amd64", "linux/arm64")}
_INVENTED = 1024


@lru_cache(maxsize=4096)
def index(repository: str, tag: str) -> bytes:
    """The index of an image, b"" where there is none. Equal names have equal bytes."""
    platforms = OFFERS.get(repository.rpartition("/")[2], ())
    entries = [
        descriptor(media.OCI_MANIFEST, f"{repository}:{tag} {text}".encode(), platform=platform_of(text))
        for text in platforms
    ]
    return (
        as_json({"schemaVersion": 2, "mediaType": media.OCI_INDEX, "manifests": entries}) if entries else b""
    )


@lru_cache(maxsize=1)
def _invented() -> bytes:
    entries = [
        descriptor(
            media.OCI_MANIFEST, b"%d" % number, platform={"os": "linux", "architecture": f"x{number}" * 9}
        )
        for number in range(_INVENTED)
    ]
    entries[0]["platform"] = platform_of("linux/amd64")
    return json.dumps(entries).encode()


def _large(repository: str, tag: str) -> bytes:
    head = json.dumps(
        {"schemaVersion": 2, "mediaType": media.OCI_INDEX, "annotations": {"of": f"{repository}:{tag}"}}
    )
    return head[:-1].encode() + b', "manifests": ' + _invented() + b"}"


class Registry(LoopbackServer):
    def __init__(self, made: Callable[[str, str], bytes], seconds: float = 0.0) -> None:
        self._made = made
        self._seconds = seconds
        super().__init__()
        self.on(self._answered)

    def _answered(self, asked: Asked) -> Answer:
        del self.asked[:]  # a storm asks too often for all of it to be kept
        body = self._made(asked.repository, asked.reference)
        if not body:
            return Answer(
                404, b'{"errors":[{"code":"MANIFEST_UNKNOWN"}]}', {"Content-Type": "application/json"}
            )
        headers = {"Content-Type": media.OCI_INDEX, "Docker-Content-Digest": digest_of(body)}
        held = _after(self._seconds) if self._seconds else None
        return Answer(200, body, headers, hold=held)


class Crumbling(LoopbackServer):
    """Its answers are these bytes behind a head, to each request as many as the client takes."""

    def __init__(self, status: int, headers: dict[str, str], part: bytes, parts: int) -> None:
        super().__init__()
        self.on(lambda _: Answer(status, headers=headers, chunks=itertools.repeat(part, parts)))


class _after(threading.Event):  # noqa: N801 - reads as what it is
    """An event that is set so many seconds after it was made."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end = time.monotonic() + seconds

    def wait(self, timeout: float | None = None) -> bool:
        """Ten times longer than it is asked to: many requests wait here at once."""
        left = max(0.0, self._end - time.monotonic())
        return super().wait(min(left, 10 * (timeout or 0.0))) or not left


MOODS: dict[str, Callable[[], LoopbackServer]] = {
    "good": lambda: Registry(index), "twin": lambda: Registry(index),
    "slow": lambda: Registry(index, SLOW_SECONDS), "slow2": lambda: Registry(index, SLOW_SECONDS),
    "stuck": lambda: Registry(index, 3600.0), "large": lambda: Registry(_large),
    "crumbs": lambda: Crumbling(200, {"Transfer-Encoding": "chunked"}, b"1\r\n \r\n" * 4096, 1024),
    "continues": lambda: Crumbling(100, {}, b"HTTP/1.1 100 Continue\r\n\r\n" * 1024, 1 << 30),
}  # fmt: skip


def main() -> None:
    with contextlib.ExitStack() as running:
        servers = {name: running.enter_context(made()) for name, made in MOODS.items()}
        print(json.dumps({f"{name}.invalid": server.port for name, server in servers.items()}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
