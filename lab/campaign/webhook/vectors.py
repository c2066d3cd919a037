"""Hostile tenants, each a process of its own, which ends by itself.

python -m campaign.webhook.vectors NAME PORT SIZE SECONDS SEED
{"answered": {"200": 450}, "lost": 0}

answered    requests by HTTP status
lost        requests whose connection ended, or whose time was over, before a status came
"""

import asyncio
import contextlib
import json
import random
import ssl
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import NamedTuple

from admission_reviews import body, pod, review
from campaign.webhook.tenants import forged, injected, request
from repeated_fields import POD, repeatable, repeated

_PATIENCE_SECONDS = 20.0
_IMAGES = 900
SWOLLEN = "twin.invalid/swollen/both:1"
_OPENING = 32
_AGAIN_SECONDS = 5.0


class Flood:
    """Where a vector sends, for how long, and what came back."""

    def __init__(self, port: int, seconds: float) -> None:
        self.port = port
        self.until = time.monotonic() + seconds
        self.lost = 0
        self.answered: Counter[int] = Counter()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._context.check_hostname = False
        self._context.verify_mode = ssl.CERT_NONE

    @property
    def left(self) -> float:
        return max(0.0, self.until - time.monotonic())

    async def post(self, bodies: Iterable[bytes], at_once: int) -> None:
        """Send each body, so many at a time, on connections of their own."""
        waiting = iter(bodies)

        async def worker() -> None:
            for content in waiting:
                if not self.left:
                    return
                await self.one(content)

        await asyncio.gather(*(worker() for _ in range(at_once)))

    async def one(self, content: bytes, declared: int = 0) -> None:
        """One request on a connection of its own. declared: its length, where another one is said."""
        head = (
            f"POST /mutate?timeout=10s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Connection: close\r\nContent-Length: {declared or len(content)}\r\n\r\n"
        )
        status = 0
        with contextlib.suppress(OSError, TimeoutError, ValueError, IndexError):
            async with asyncio.timeout(max(1.0, min(self.left, _PATIENCE_SECONDS))):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self._context)
                try:
                    with contextlib.suppress(OSError):
                        writer.write(head.encode() + content)
                        await writer.drain()
                    status = int((await reader.readline()).split()[1])
                finally:
                    writer.transport.abort()
        if status:
            self.answered[status] += 1
        else:
            self.lost += 1

    async def hold(self, number: int, first: bytes, *, secure: bool) -> None:
        """So many connections with these first bytes, until the time is over; one that is closed is opened again."""
        opening = asyncio.Semaphore(_OPENING)

        async def place() -> None:
            while self.left:
                await self._held(first, opening, secure=secure)
                await asyncio.sleep(min(self.left, _AGAIN_SECONDS))

        await asyncio.gather(*(place() for _ in range(number)))

    async def _held(self, first: bytes, opening: asyncio.Semaphore, *, secure: bool) -> None:
        """One connection, until it is closed or the time is over."""
        answered = 0
        with contextlib.suppress(OSError, TimeoutError, ValueError, IndexError):
            async with asyncio.timeout(self.left):
                async with opening:
                    reader, writer = await asyncio.open_connection(
                        "127.0.0.1", self.port, ssl=self._context if secure else None
                    )
                try:
                    writer.write(first)
                    while line := await reader.readline():
                        if line.startswith(b"HTTP/1.1 "):
                            answered += 1
                            self.answered[int(line.split()[1])] += 1
                finally:
                    writer.transport.abort()
        self.lost += bool(first) and secure and not answered


def client_hello() -> bytes:
    """The first message of a handshake, after which a client owes the rest."""
    context = ssl.create_default_context()
    said = ssl.MemoryBIO()
    connection = context.wrap_bio(ssl.MemoryBIO(), said, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        connection.do_handshake()
    return said.read()


def _named(number: int, namespace: str, *images: str, **spec: object) -> bytes:
    return request(pod(*images, spec=spec, name=f"h-{number}", namespace=namespace), namespace, f"h-{number}")


def _tolerations(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        value = pod("good.invalid/team/amd:0", name=f"t-{number}-{drawn.random()}", namespace="evil")
        text = json.dumps(review(value, namespace="evil", uid="t"))
        yield text.replace(
            '"containers"', f'"tolerations": [{",".join(["{}"] * 16_000)}], "containers"', 1
        ).encode()


def _long_images(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        yield _named(number, "evil", f"good.invalid/{number}{'a/' * 1_250_000}b:1")


def _architectures(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        names = [f"large.invalid/i{number}/{image}:1" for image in range(_IMAGES)]
        yield _named(number, f"evil{number % 4}", *names)


def _bodies(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        text = _named(number, "evil", "good.invalid/team/amd:0").decode()
        items = ",".join(["{}"] * ((4 * 1024 * 1024 - len(text) - 40) // 3))
        yield text.replace('"containers"', f'"tolerations": [{items}], "containers"', 1).encode()


def _names(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        name = f"{number}{'n' * 3_000_000}"
        yield request(pod("good.invalid/team/amd:0", name=name), "evil", f"n-{number}")


def _slow(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        of = number % 2
        yield _named(
            number, f"evil{of}", f"{('slow', 'slow2')[of]}.invalid/team/amd:x{number}-{drawn.random()}"
        )


def _stalls(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        yield _named(number, "evil", f"stuck.invalid/s{number}/both:{drawn.randrange(1 << 40):x}")


def _annotations(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        unknown = {f"archfit.dev/{number}-{key}": "x" for key in range(2400)}
        value = pod("good.invalid/team/amd:0", name=f"a-{number}", annotations=unknown)
        yield request(value, "evil", f"a-{number}")


def _repeated_fields(size: int, drawn: random.Random) -> Iterator[bytes]:
    """Pods of up to 128 KiB, each with one of its fields many times."""
    paths = list(repeatable(POD))
    for number in range(size):
        value = repeated(POD, drawn.choice(paths), drawn.randrange(1, 400))
        value["metadata"]["name"] = f"r-{number}"
        text = request({"apiVersion": "v1", "kind": "Pod", **value}, "evil", f"r-{number}")
        for name in (b"both", b"amd"):
            text = text.replace(b'"%s:1' % name, b'"good.invalid/team/%s:1' % name)
        yield text


def _queue(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        names = [f"stuck.invalid/q{number}-{image}/both:1" for image in range(_IMAGES)]
        yield _named(number, f"evil{number}", *names)


def _new_images(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        yield _named(number, f"evil{number % 8}", f"twin.invalid/r{number}/both:{drawn.randrange(1 << 40):x}")


def _swollen(size: int, drawn: random.Random) -> Iterator[bytes]:
    for number in range(size):
        yield _named(number, f"evil{number % 4}", SWOLLEN)


def _odd(size: int, drawn: random.Random) -> Iterator[bytes]:
    """What no API server sends, and pods with a record that somebody made up."""
    value = pod("good.invalid/team/amd:0", name="odd")
    for number in range(size):
        good = request(value, "evil", f"o-{number}")
        yield drawn.choice(
            [
                good[: drawn.randrange(len(good))],
                good.replace(b'"Pod"', b'"Service"'),
                body({**review(value), "kind": "ConversionReview"}),
                request(value, "evil", "u", operation="UPDATE"),
                request(None, "evil", "u"),
                request(value, "evil", "u", operation="DELETE", object=None, oldObject=value),
                request({**value, "spec": drawn.choice([None, [], "x", {"containers": 3}])}, "evil", "u"),
                request(forged(drawn, number), "evil", "u"),
                request(injected(value, drawn.choice(["", "::", "x" * 5000])), "evil", "u"),
                b"[" * 100_000,
                b"\xff\xfe" + good,
            ]
        )


def _paced(registry: str, namespaces: int) -> Callable[[Flood, int, random.Random], Awaitable[None]]:
    """So many pods of new images, at the same pace for all of the time, whether or not they are answered."""

    async def run(flood: Flood, size: int, drawn: random.Random) -> None:
        pause = flood.left / size
        async with asyncio.TaskGroup() as group:
            for number in range(size):
                image = f"{registry}.invalid/p{number}/both:{drawn.randrange(1 << 40):x}"
                group.create_task(flood.one(_named(number, f"evil{number % namespaces}", image)))
                await asyncio.sleep(pause)

    return run


async def _silent(flood: Flood, size: int, drawn: random.Random) -> None:
    await flood.hold(size, b"", secure=False)


async def _half_bodies(flood: Flood, size: int, drawn: random.Random) -> None:
    """Bodies that end in the middle: so much is declared, half of it comes, and then nothing."""
    half = b'{"apiVersion": "' + b"x" * (2 * 1024 * 1024)
    workers = (flood.one(half, declared=4 * 1024 * 1024) for _ in range(size))
    await asyncio.gather(*workers)


async def _small_half_bodies(flood: Flood, size: int, drawn: random.Random) -> None:
    """As many as all bodies may hold: the larger ones first, then what is kept for small ones. All come again."""
    large = size // 2
    half = b'{"apiVersion": "' + b"x" * 4096

    async def worker(number: int) -> None:
        if number >= large:
            await asyncio.sleep(min(flood.left, 1))
        while flood.left:
            await flood.one(half, declared=(128 if number < large else 16) * 1024)

    await asyncio.gather(*map(worker, range(size)))


async def _idle(flood: Flood, size: int, drawn: random.Random) -> None:
    await flood.hold(size, b"", secure=True)


async def _idle_after_one(flood: Flood, size: int, drawn: random.Random) -> None:
    request = (
        b"POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )
    await flood.hold(size, request, secure=True)


async def _trailers(flood: Flood, size: int, drawn: random.Random) -> None:
    head = b"POST /mutate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    await flood.hold(size, head + b"t: v\r\n" * 1_000_000, secure=True)


async def _pipelined(flood: Flood, size: int, drawn: random.Random) -> None:
    await flood.hold(size, b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n" * 100_000, secure=True)


async def _handshakes(flood: Flood, size: int, drawn: random.Random) -> None:
    await flood.hold(size, client_hello(), secure=False)


class Vector(NamedTuple):
    """size: as the finding had it. at_once: connections of its own. seconds: how long it lasts at most.

    paced: its size is a number of pods for all of the time. words: more arguments of the server.
    """

    size: int
    seconds: float
    run: Callable[[Flood, int, random.Random], Awaitable[None]]
    what: str
    paced: bool = False
    words: tuple[str, ...] = ()


def _posting(
    bodies: Callable[[int, random.Random], Iterator[bytes]], at_once: int
) -> Callable[[Flood, int, random.Random], Awaitable[None]]:
    return lambda flood, size, drawn: flood.post(bodies(size, drawn), at_once)


VECTORS: dict[str, Vector] = {
    "tolerations": Vector(450, 180, _posting(_tolerations, 4), "450 pods of 63 KB with 16,000 tolerations `{}`"),
    "long images": Vector(160, 180, _posting(_long_images, 2), "160 pods with an image string of 2.5 MB"),
    "architectures": Vector(
        12, 180, _posting(_architectures, 4), "12 pods of 900 images whose index has 1,024 architectures"
    ),
    "bodies": Vector(15, 180, _posting(_bodies, 15), "15 bodies of 4 MiB at once, full of `{}`"),
    "handshakes": Vector(6000, 30, _handshakes, "6,000 TLS handshakes that do not go on"),
    "long names": Vector(250, 180, _posting(_names, 4), "250 pod names of 3 MB, and nobody reads the log"),
    "slow registries": Vector(200, 30, _posting(_slow, 40), "two namespaces with two registries of 15 s"),
    "queue": Vector(6, 30, _posting(_queue, 6), "six pods of 900 images of a registry that never answers"),
    "stalls": Vector(600, 30, _posting(_stalls, 300), "600 pods of a registry that never answers, 300 at once"),
    "crumbs": Vector(600, 30, _paced("crumbs", 5), "pods of a registry with answers in chunks of one byte", True),
    "crumbs of one": Vector(600, 30, _paced("crumbs", 1), "the same from one namespace", True),
    "continues": Vector(600, 30, _paced("continues", 5), "pods of a registry that says 100 Continue", True),
    "continues of one": Vector(600, 30, _paced("continues", 1), "the same from one namespace", True),
    "silent": Vector(
        1500, 30, _silent, "1,500 connections without a byte, more than there are descriptors",
        words=("--memory-limit", "4Gi"),
    ),
    "annotations": Vector(400, 30, _posting(_annotations, 8), "400 pods with 2,400 unknown annotations"),
    "repeated fields": Vector(
        1000, 30, _posting(_repeated_fields, 8), "1,000 pods with one of their fields up to 400 times"
    ),
    "idle": Vector(2100, 40, _idle, "2,100 connections without a request"),
    "idle after one": Vector(2100, 60, _idle_after_one, "2,100 connections that stay after one `{}`"),
    "trailers": Vector(20, 30, _trailers, "20 bodies with a million lines behind them"),
    "pipelined": Vector(20, 30, _pipelined, "20 connections with 100,000 requests in a row"),
    "half bodies": Vector(60, 30, _half_bodies, "60 bodies of 4 MiB of which half comes"),
    "small half bodies": Vector(280, 30, _small_half_bodies, "280 bodies of 16 and 128 KiB that do not arrive"),
    "new images": Vector(5000, 180, _posting(_new_images, 16), "5,000 pods of new images"),
    "swollen entry": Vector(100, 30, _posting(_swollen, 4), "one entry of 400 MiB in a shared Redis"),
    "odd requests": Vector(2000, 30, _posting(_odd, 4), "2,000 requests that no API server sends"),
}  # fmt: skip
STUCK_LOG = frozenset({"long names"})


def main() -> None:
    name, port, size, seconds, seed = sys.argv[1:]
    flood = Flood(int(port), float(seconds))

    async def run() -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(float(seconds) + _PATIENCE_SECONDS):
                await VECTORS[name].run(flood, int(size), random.Random(seed))

    asyncio.run(run())
    print(json.dumps({"answered": flood.answered, "lost": flood.lost}))


if __name__ == "__main__":
    main()
