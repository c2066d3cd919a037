"""Layers that no tool writes, to be read within bounds: each kind is a blob, drawn by a Random."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Callable
from random import Random

import zstandard

from program_images import elf, layer, tar

MAY_BE_READ = {"gzip-in-many-members", "a-flipped-byte", "links-that-lead-out"}
"""The kinds whose program is there, whatever is around it."""
_NOISE = b"\0" * 1_000_000


def _head(name: str, size: int, kind: bytes = b"0", **more: object) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type, member.mode = size, kind, 0o755
    for key, value in more.items():
        setattr(member, key, value)
    return member.tobuf(tarfile.GNU_FORMAT)


def _packed(*parts: bytes) -> bytes:
    out, packer = io.BytesIO(), zlib.compressobj(wbits=31)
    for part in parts:
        out.write(packer.compress(part))
    return out.getvalue() + packer.flush()


def _pax(text: bytes, kind: bytes = b"x") -> bytes:
    return _head("pax", len(text), kind) + text + b"\0" * (-len(text) % 512)


def _record(key: str, value: str) -> bytes:
    body = f" {key}={value}\n"
    size = len(body) + len(str(len(body)))
    size = len(body) + len(str(size))
    return f"{size}{body}".encode()


def _sparse(random: Random, entries: int) -> bytes:
    pairs = ",".join(f"{random.randrange(10**9)},{random.randrange(1, 10**6)}" for _ in range(entries))
    return _pax(_record("GNU.sparse.map", pairs) + _record("GNU.sparse.size", "1000000000"))


def _old_sparse(blocks: int) -> bytes:
    """GNU's own form: a list of holes that goes on in more and more blocks."""
    head = bytearray(_head("app", 0, b"S"))
    head[482] = 1
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + (b"\0" * 504 + b"\1" + b"\0" * 7) * blocks


_APP = layer({"app": elf("arm64")}, bytes)
_LONG = _head("././@LongLink", 2, b"L") + b"a".ljust(512, b"\0")
_GONE = layer({"x": elf("arm64")}, bytes)[:1024]

KINDS: dict[str, Callable[[Random], bytes]] = {
    "a-bomb-in-gzip": lambda draw: _packed(_head("x", 10**10), *[_NOISE] * draw.randrange(10, 60)),
    "a-bomb-in-zstd": lambda draw: zstandard.compress(_head("x", 10**10) + _NOISE * draw.randrange(10, 60)),
    "a-window-of-zstd": lambda _: zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters(window_log=30)
    ).compressobj().compress(b"x" * 200_000) or b"\x28\xb5\x2f\xfd\x00\xa0" + b"\0" * 40,
    "a-pax-head-of-300-mb": lambda _: _packed(_head("pax", 300_000_000, b"x"), *[_NOISE] * 3),
    "a-global-head-of-300-mb": lambda _: _packed(_head("pax", 300_000_000, b"g"), *[_NOISE] * 3),
    "global-heads-that-add-up": lambda draw: _packed(
        *[_pax(_record(f"k{at}", "b" * 100_000), b"g") + _head("x", 0) for at in range(draw.randrange(600, 900))]
    ),
    "chained-pax-heads": lambda draw: _packed(*[_pax(_record("path", "a"))] * draw.randrange(3000, 4000)),
    "chained-long-names": lambda draw: _packed(*[_LONG] * draw.randrange(900, 3000)),
    "a-long-name-of-300-mb": lambda _: _packed(_head("././@LongLink", 300_000_000, b"L"), *[_NOISE] * 3),
    "a-long-link": lambda _: _packed(_head("././@LongLink", 100_000, b"K"), b"a" * 100_352, _head("app", 0, b"2")),
    "numbers-that-are-none": lambda draw: _packed(_pax(_record("size", "x" * draw.randrange(1, 900))), _head("app", 4)),
    "a-size-of-many-digits": lambda _: _packed(_pax(_record("size", "9" * 5000)), _head("app", 4), b"ab"),
    "a-negative-size": lambda _: _packed(_head("app", -512), b"ab"),
    "a-size-beyond-its-end": lambda draw: _packed(_head("app", draw.randrange(10**6, 10**12)), b"ab"),
    "a-pax-record-that-ends-early": lambda _: _packed(_pax(b"9999 path=app\n"), _head("app", 0)),
    "a-sparse-map-backwards": lambda draw: _packed(_sparse(draw, 50), _head("app", 4000), b"x" * 4096),
    "a-sparse-map-of-many": lambda draw: _packed(_sparse(draw, 30_000), _head("app", 4000), b"x" * 4096),
    "an-old-sparse-map": lambda draw: _packed(_old_sparse(draw.randrange(3000, 30_000))),
    "names-that-lead-out": lambda draw: layer({"../" * draw.randrange(1, 90) + "app": elf("arm64")}),
    "links-that-lead-out": lambda _: layer({"app": "../../../../../../etc/passwd", "etc/passwd": elf("arm64")}),
    "links-in-a-circle": lambda _: layer({"app": "l0", **{f"l{at}": f"l{(at + 1) % 50}" for at in range(50)}}),
    "folders-in-a-circle": lambda _: layer({"a": "b", "b": "a", "app": "a/a/a/app"}),
    "a-hard-link-to-itself": lambda _: _packed(_head("app", 0, b"1", linkname="app")),
    "a-deep-name": lambda draw: layer({"a/" * draw.randrange(5000, 30_000) + "x": elf("arm64")}),
    "many-members": lambda draw: _packed(_head("x", 0) * draw.randrange(2_000, 6_000)),
    "an-unknown-kind": lambda draw: _packed(_head("app", 0, bytes([draw.randrange(128, 256)]))),
    "noise": lambda draw: draw.randbytes(draw.randrange(1, 5000)),
    "noise-in-gzip": lambda draw: gzip.compress(draw.randbytes(5000)),
    "noise-behind-an-archive": lambda draw: _packed(_GONE, draw.randbytes(1024)),
    "cut-off-gzip": lambda draw: layer({"x": draw.randbytes(9000)})[: draw.randrange(5, 9000)],
    "cut-off-zstd": lambda draw: layer({"x": draw.randbytes(9000)}, zstandard.compress)[: draw.randrange(5, 9000)],
    "a-name-of-gzip-without-end": lambda _: b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * 90_000,
    "gzip-in-many-members": lambda draw: gzip.compress(b"") * draw.randrange(1_000, 5_000) + gzip.compress(_APP),
    "nothing": lambda _: b"",
    "a-flipped-byte": lambda draw: _flipped(layer({"app": elf("arm64"), "x": draw.randbytes(900)}), draw),
    "whiteouts-of-nothing": lambda _: layer({".wh.": b"", ".wh..wh..opq": b"", ".wh..wh.": b"", "a/.wh...": b""}),
}  # fmt: skip


def _flipped(blob: bytes, draw: Random) -> bytes:
    flipped = bytearray(tar({"app": elf("arm64")}) if draw.random() < 0.5 else blob)
    for _ in range(draw.randrange(1, 9)):
        flipped[draw.randrange(len(flipped))] ^= 1 << draw.randrange(8)
    return bytes(flipped)
