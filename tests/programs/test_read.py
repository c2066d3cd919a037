"""Which program an image starts: the pod's words before the image's, and the walk through its layers."""

import gzip
from dataclasses import dataclass
from hashlib import sha256

import pytest
import zstandard

from archfit.programs import layer as layers_module
from archfit.programs.layer import Bounds, LayersOfRun, Meter
from archfit.programs.program import judged
from archfit.programs.read import read_programs
from archfit.programs.start import Start, start_of
from archfit.registry.manifest import Descriptor
from program_images import OCI_LAYER, elf, hard, layer

ARM, X86 = elf("arm64"), elf("amd64")
USUAL = {"Entrypoint": ["/app"]}


@dataclass
class Reading:
    """One image. given: how many bytes of each layer were taken, the lowest first."""

    program: object
    given: list[int]

    @property
    def said(self) -> str:
        verdict = judged(self.program, "arm64")
        return f"{verdict.state}: {verdict.words}"


def read(blobs, config=None, start=None, *, types=(), bounds=None, part=512, digests=(), left=lambda: 1.0):
    kinds = [*types, *[f"{OCI_LAYER}+gzip"] * (len(blobs) - len(types))]
    digests = [*digests, *(f"sha256:{sha256(blob).hexdigest()}" for blob in blobs[len(digests) :])]
    layers = [
        Descriptor(kind, digest, len(blob)) for kind, digest, blob in zip(kinds, digests, blobs, strict=True)
    ]
    given = [0] * len(blobs)

    def opened(wanted, take):
        number = layers.index(wanted)
        assert not given[number], "a layer is read once"

        def parts():
            blob = blobs[number]
            for at in range(0, len(blob), part):
                given[number] = at + part
                yield blob[at : at + part]

        take(parts())

    meter = Meter(left, LayersOfRun(), bounds or Bounds())
    start = start or Start()
    programs = read_programs({"config": config or USUAL}, layers, [start], opened, meter)
    return Reading(programs.of(start), given)


@pytest.mark.parametrize(
    ("container", "config", "said"),
    [
        pytest.param({}, {"Entrypoint": ["/a"], "Cmd": ["/b"]}, "/a", id="entrypoint"),
        pytest.param({}, {"Cmd": ["/b"]}, "/b", id="cmd-alone"),
        pytest.param(
            {"args": ["/c"]}, {"Entrypoint": ["/a"], "Cmd": ["/b"]}, "/a", id="arguments-of-an-entrypoint"
        ),
        pytest.param({"args": ["/c"]}, {"Cmd": ["/b"]}, "/c", id="arguments-instead-of-cmd"),
        pytest.param({"command": ["/c", "x"]}, {"Entrypoint": ["/a"]}, "/c", id="command"),
        pytest.param({"command": []}, {"Entrypoint": ["/a"]}, "/a", id="an-empty-command-is-none"),
        pytest.param({"command": ["b"]}, {"Env": ["PATH=/opt/bin:/"]}, "/b", id="on-the-image's-path"),
        pytest.param(
            {"command": ["c"], "env": [{"name": "PATH", "value": "/opt"}]},
            {"Env": ["PATH=/"]},
            "/opt/c",
            id="on-the-pod's",
        ),
        pytest.param(
            {"command": ["./c"], "workingDir": "/opt"}, {"WorkingDir": "/"}, "/opt/c", id="the-pod's-folder"
        ),
        pytest.param({"command": ["./c"]}, {"WorkingDir": "/opt/"}, "/opt/c", id="the-image's-folder"),
    ],
)
def test_which_program_a_container_starts(container, config, said):
    blob = layer({"a": ARM, "b": ARM, "c": ARM, "opt/c": ARM})
    assert read([blob], config, start_of(container)).said == f"right: {said}, an arm64 program"


@pytest.mark.parametrize(
    ("container", "config", "why"),
    [
        pytest.param({}, {"Env": ["A=1"]}, "it names no program to start", id="no-entry-point"),
        pytest.param({"command": ["$(APP)"]}, USUAL, "its command or PATH holds a variable", id="a-variable"),
        pytest.param(
            {"env": [{"name": "PATH", "valueFrom": {"configMapKeyRef": {"name": "c"}}}]},
            USUAL,
            "its PATH comes from elsewhere",
            id="another's-path",
        ),
        pytest.param(
            {"volumeMounts": [{"mountPath": "/app"}]},
            USUAL,
            "a volume is mounted over /app",
            id="a-mounted-file",
        ),
        pytest.param(
            {"command": ["/opt/x"], "volumeMounts": [{"mountPath": "/opt/"}]},
            USUAL,
            "a volume is mounted over /opt/x",
            id="below-a-mount",
        ),
        pytest.param(
            {"command": ["x"], "volumeMounts": [{"mountPath": "/usr/local"}]},
            USUAL,
            "a volume is mounted over /usr/local/sbin/x",
            id="a-mount-on-the-path",
        ),
        pytest.param({"command": ["/lost"]}, USUAL, "its layers have no program /lost", id="no-such-program"),
        pytest.param({"command": ["/opt"]}, USUAL, "its layers have no program /opt", id="a-folder"),
        pytest.param(
            {"command": ["/dev/null"]}, USUAL, "/dev/null is no program that archfit knows", id="a-device"
        ),
    ],
)
def test_what_is_not_read_for_what_the_pod_says(container, config, why):
    device = hard("")
    device.type = b"3"
    blob = layer({"app": ARM, "opt": None, "dev/null": device})
    assert read([blob], config, start_of(container)).said == f"unread: {why}"


def test_an_image_without_layers_has_no_program():
    assert read([]).said == "unread: its layers have no program /app"


@pytest.mark.parametrize(
    ("layers", "said"),
    [
        pytest.param([{"app": X86}, {"app": ARM}], "right: /app", id="the-upper-one"),
        pytest.param([{"./app": X86}, {"/x": ARM}], "wrong: /app", id="spellings-of-names"),
        pytest.param([{"app": ARM}, {".wh.app": b""}], "unread: its layers have no program /app", id="whiteout"),
        pytest.param([{"app": X86}, {".wh.app": b"", "app": ARM}], "right: /app", id="whiteout-and-anew"),
        pytest.param([{"app": ARM}, {".wh..wh..opq": b""}], "unread: its layers have no program", id="opaque-root"),
        pytest.param([{"app": ARM}, {"app": "opt/app", "opt/app": X86}], "wrong: /app", id="a-link-above"),
        pytest.param([{"app": "opt/app"}, {"opt/app": ARM}], "right: /app", id="a-link-below-its-target"),
        pytest.param([{"app": "/opt/app", "opt": "srv"}, {"srv/app": ARM}], "right: /app", id="a-link-to-a-link"),
        pytest.param([{"app": "../../x/../opt/app"}, {"opt/app": ARM}], "right: /app", id="dots-stop-at-the-root"),
        pytest.param([{"opt/app": ARM, "app": hard("opt/app")}], "right: /app", id="hard-link"),
        pytest.param([{"opt/app": ARM}, {"app": hard("opt/app")}], "right: /app", id="hard-link-to-below"),
        pytest.param(
            [{"opt/app": ARM}, {"opt/app": X86}, {"app": hard("opt/app")}], "wrong: /app", id="hard-link-to-the-next"
        ),
        pytest.param([{"app": "app2", "app2": "app"}], "unread: its links lead to one another", id="a-loop-of-links"),
        pytest.param([{"app": b"#!/bin/sh\n", "bin/sh": ARM}], "right: /app, whose interpreter /bin/sh", id="script"),
        pytest.param(
            [{"bin": "usr/bin", "usr/bin/sh": X86}, {"app": b"#!/bin/sh\n"}],
            "wrong: /app, whose interpreter /bin/sh",
            id="merged-usr",
        ),
        pytest.param(
            [{"usr/bin/env": X86, "bin/node": ARM}, {"app": b"#!/usr/bin/env node\n"}],
            "right: /app, whose interpreter /bin/node",
            id="env",
        ),
        pytest.param([{"app": b"#!/app\n"}], "unread: its interpreters lead to one another", id="its-own-interpreter"),
        pytest.param([{"app": b"#!/bin/sh\n"}], "unread: its layers have no program /bin/sh", id="no-interpreter"),
        pytest.param([{"app": b""}], "unread: /app is empty", id="an-empty-file"),
    ],
)  # fmt: skip
def test_the_walk_through_the_layers(layers, said):
    assert read([layer(files) for files in layers]).said.startswith(said)


@pytest.mark.parametrize(
    ("layers", "said"),
    [
        pytest.param(
            [{"opt": "srv", "srv/app": ARM}, {"opt/": None, "opt/x": X86}],
            "no program",
            id="a-folder-hides-a-link",
        ),
        pytest.param([{"opt/app": ARM}, {"opt": X86}], "no program", id="a-file-hides-a-folder"),
        pytest.param([{"opt/app": ARM}, {".wh.opt": b""}], "no program", id="a-folder-is-gone"),
        pytest.param([{"opt/app": ARM}, {"opt/.wh..wh..opq": b"", "opt/x": X86}], "no program", id="opaque"),
        pytest.param([{"opt/app": ARM}, {"opt/": None}], "right", id="a-folder-is-merged"),
        pytest.param(
            [{"opt": "srv", "srv/app": X86}, {"opt/app": ARM}], "right", id="a-file-at-the-very-path"
        ),
    ],
)
def test_what_upper_layers_hide(layers, said):
    assert said in read([layer(files) for files in layers], {"Entrypoint": ["/opt/app"]}).said


def test_a_file_on_path_has_to_be_executable():
    plain = hard("")
    plain.type, plain.mode = b"0", 0o644
    blob = layer({"a/app": plain, "b/app": ARM})
    assert read([blob], {"Cmd": ["app"], "Env": ["PATH=/a:/b"]}).said == "right: /b/app, an arm64 program"


def _zst(data: bytes) -> bytes:
    half = len(data) // 2
    frames = [zstandard.compress(part) for part in (data[:half], data[half:])]
    return b"".join([frames[0], b"\x50\x2a\x4d\x18\3\0\0\0abc", *frames[1:]])


@pytest.mark.parametrize(
    ("pack", "kind"),
    [
        pytest.param(bytes, OCI_LAYER, id="plain"),
        pytest.param(gzip.compress, f"{OCI_LAYER}+gzip", id="gzip"),
        pytest.param(
            lambda data: gzip.compress(data[:700]) + gzip.compress(data[700:]),
            f"{OCI_LAYER}+gzip",
            id="estargz",
        ),
        pytest.param(zstandard.compress, f"{OCI_LAYER}+zstd", id="zstd"),
        pytest.param(_zst, f"{OCI_LAYER}+zstd", id="zstd-chunked"),
        pytest.param(zstandard.compress, f"{OCI_LAYER}+gzip", id="what-it-is-counts"),
        pytest.param(gzip.compress, "application/vnd.docker.image.rootfs.diff.tar.gzip", id="docker"),
    ],
)
@pytest.mark.parametrize("path", ["app", "zz"])
def test_how_layers_are_packed(pack, kind, path):
    blob = layer({"app": ARM, "x": b"x" * 5000, "zz": ARM}, pack)
    assert (
        read([blob], {"Entrypoint": [f"/{path}"]}, types=[kind]).said == f"right: /{path}, an arm64 program"
    )


def test_no_layer_is_read_that_is_not_needed_and_none_to_its_end():
    base, noise = layer({"x": X86}), bytes(range(256)) * 400
    top = layer({"app": ARM, "noise": sha256(noise).digest() + noise}, bytes)
    reading = read([base, top])
    assert reading.said == "right: /app, an arm64 program"
    assert reading.given[0] == 0
    assert reading.given[1] <= 4096 < len(top)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        pytest.param(
            "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
            "kept outside of registries",
            id="foreign",
        ),
        pytest.param(
            "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
            "kept outside of registries",
            id="nondistributable",
        ),
        pytest.param(f"{OCI_LAYER}+gzip+encrypted", "encrypted", id="encrypted"),
        pytest.param(
            "application/vnd.cncf.helm.chart", "of the type 'application/vnd.cncf.helm.chart'", id="other"
        ),
    ],
)
def test_layers_that_are_not_read(kind, why):
    blobs = [layer({"x": ARM}), layer({"app": ARM})]
    assert read(blobs, types=[kind]).said == "right: /app, an arm64 program"
    assert read(blobs, {"Entrypoint": ["/x"]}, types=[kind]).said == f"unread: a layer of it is {why}"


def test_without_its_package_zstd_is_not_read(monkeypatch):
    monkeypatch.setattr(layers_module, "zstandard", None)
    monkeypatch.setattr(layers_module, "zstd", None)
    said = read([layer({"app": ARM}, zstandard.compress)]).said
    assert said.startswith("unread: zstd needs packages that are not installed (zstandard): ")


def test_a_layer_that_was_read_whole_has_its_digest():
    wrong = f"sha256:{'0' * 64}"
    blob = layer({"app": ARM})
    assert (
        read([blob], {"Entrypoint": ["/x"]}, digests=[wrong]).said
        == "unread: a layer of it does not have its digest"
    )


@pytest.mark.parametrize(
    ("bounds", "why"),
    [
        pytest.param(Bounds(sent=100), "it is behind more than 100 bytes of layers", id="bytes"),
        pytest.param(
            Bounds(sent_in_run=100),
            "it is behind more than 100 bytes of layers in one run",
            id="bytes-of-the-run",
        ),
        pytest.param(
            Bounds(unpacked=2000), "it is behind more than 2000 bytes of unpacked layers", id="unpacked"
        ),
        pytest.param(Bounds(members=3), "it is behind more than 3 files", id="members"),
        pytest.param(Bounds(names=500), "it is behind more than 500 bytes of file names", id="names"),
    ],
)
def test_bounds(bounds, why):
    blob = layer({f"x{number}{'y' * 80}": X86 for number in range(9)})
    assert read([blob], bounds=bounds).said == f"unread: {why}"


def test_the_deadline_ends_the_reading():
    assert "allow more with --timeout" in read([layer({"app": ARM})], left=lambda: 0.0).said
