"""Images with programs in them: layers as archives, and manifests for a FakeRegistry.

layer({"app": elf("arm64"), "bin": "usr/bin", "etc/": None})      a file, a link, a folder; gzip
image(fake, "app", "1", "linux/arm64", [base, top], Entrypoint=["/app"])
index(fake, "app", "1", {"linux/amd64": [..], "linux/arm64": [..]}, Entrypoint=["/app"])
"""

import gzip
import io
import struct
import tarfile
from collections.abc import Callable, Iterable, Mapping

import fake_registry as fakes
from archfit.registry import manifest as media
from fake_registry import FakeRegistry

OCI_LAYER = "application/vnd.oci.image.layer.v1.tar"
MACHINES = {
    "amd64": (64, "<", 62), "386": (32, "<", 3), "arm64": (64, "<", 183), "arm": (32, "<", 40),
    "ppc64le": (64, "<", 21), "ppc64": (64, ">", 21), "s390x": (64, ">", 22), "riscv64": (64, "<", 243),
    "loong64": (64, "<", 258), "mips": (32, ">", 8), "mipsle": (32, "<", 8), "mips64": (64, ">", 8),
    "mips64le": (64, "<", 8),
}  # fmt: skip


def elf(architecture: str) -> bytes:
    """A program without a segment: an ELF header alone, 64 bytes (32 bit: 52)."""
    bits, order, machine = MACHINES[architecture]
    ident = b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2, 1]) + bytes(9)
    rest = (0, 0, 0, 5 if architecture == "arm" else 0, 52 if bits == 32 else 64, 0, 0, 0, 0, 0)
    form = "HHIIIIIHHHHHH" if bits == 32 else "HHIQQQIHHHHHH"
    return ident + struct.pack(order + form, 2, machine, 1, *rest)


def tar(files: Mapping[str, object], form: int = tarfile.PAX_FORMAT) -> bytes:
    """An archive. A value is the content of an executable, the target of a link, None for a folder or a TarInfo."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, value in files.items():
            member = value if isinstance(value, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.name = name
            if isinstance(value, bytes):
                member.mode, member.size = 0o755, len(value)
                archive.addfile(member, io.BytesIO(value))
                continue
            if isinstance(value, str):
                member.type, member.linkname = tarfile.SYMTYPE, value
            elif value is None:
                member.type = tarfile.DIRTYPE
            archive.addfile(member)
    return out.getvalue()


def hard(target: str) -> tarfile.TarInfo:
    """A hard link."""
    member = tarfile.TarInfo()
    member.type, member.linkname = tarfile.LNKTYPE, target
    return member


def layer(files: Mapping[str, object], pack: Callable[[bytes], bytes] = gzip.compress) -> bytes:
    """A layer as a blob."""
    return pack(tar(files))


def image(
    fake: FakeRegistry,
    repository: str,
    tag: str,
    platform: str,
    layers: Iterable[bytes],
    media_type: str = f"{OCI_LAYER}+gzip",
    **config: object,
) -> dict[str, object]:
    """One image, the lowest layer first; its descriptor."""
    blobs = list(layers)
    stated = fakes.as_json({**fakes.platform_of(platform), "rootfs": {}, "config": config})
    for blob in (stated, *blobs):
        fake.blob(repository, blob)
    body = fakes.as_json(
        {
            "schemaVersion": 2,
            "mediaType": media.OCI_MANIFEST,
            "config": fakes.descriptor(media.OCI_CONFIG, stated),
            "layers": [fakes.descriptor(media_type, blob) for blob in blobs],
        }
    )
    fake.put(repository, tag, media.OCI_MANIFEST, body)
    return fakes.descriptor(media.OCI_MANIFEST, body)


def index(
    fake: FakeRegistry, repository: str, tag: str, entries: Mapping[str, Iterable[bytes]], **config: object
) -> str:
    """An index of images; its digest."""
    manifests = [
        {
            **image(fake, repository, "", platform, layers, f"{OCI_LAYER}+gzip", **config),
            "platform": fakes.platform_of(platform),
        }
        for platform, layers in entries.items()
    ]
    body = fakes.as_json({"schemaVersion": 2, "mediaType": media.OCI_INDEX, "manifests": manifests})
    return fake.put(repository, tag, media.OCI_INDEX, body)
