"""Images whose layers crane, skopeo and umoci write: `archfit inspect --programs` finds what each entry starts."""

import io
import os
import shutil

import pytest

import machine
from archfit.inspect.command import inspect
from program_images import elf, layer
from real_registries import distribution

BUILT = {"right": ("amd64", "arm64"), "wrong": ("amd64", "amd64")}
"""The machine of the program in the entries for amd64 and for arm64."""
LAYOUTS = ("crane", "flat", "v2s2", "umoci", "zstd", "zstd-chunked")


def run(*words: object, **environ: str) -> None:
    done = machine.run([*map(str, words)], env=environ)
    assert done.returncode == 0, f"{words}: {done.stderr}"


class Tools:
    """Images of every layout in one registry, at host/LAYOUT:KIND-ARCHITECTURE."""

    def __init__(self, host, folder):
        self._host, self._folder = host, folder
        self._environ = {**os.environ, "HOME": str(folder)}

    def build(self, kind, architecture, machine_of_program):
        tag = f"{kind}-{architecture}"
        layers = self._folder / f"{tag}.tar.gz", self._folder / "base.tar.gz"
        layers[0].write_bytes(layer({"usr/bin/app": elf(machine_of_program), "bin": "usr/bin"}))
        layers[1].write_bytes(layer({"data": os.urandom(1 << 20)}))
        names = {name: f"{self._host}/{name}:{tag}" for name in LAYOUTS}
        self._crane("append", "-f", layers[1], "-f", layers[0], "-t", names["crane"])
        start = ("--entrypoint", "app", "--env", "PATH=/bin")
        self._crane(
            "mutate", names["crane"], "--set-platform", f"linux/{architecture}", *start, "-t", names["crane"]
        )
        self._crane("flatten", names["crane"], "-t", names["flat"])
        self._skopeo(f"docker://{names['crane']}", f"docker://{names['v2s2']}", "--format", "v2s2")
        self._skopeo(f"docker://{names['crane']}", f"oci:{self._folder}/layout:{tag}")
        self._moved(tag)
        self._skopeo(f"oci:{self._folder}/layout:{tag}", f"docker://{names['umoci']}")
        self._skopeo(f"docker://{names['umoci']}", f"dir:{self._folder}/{tag}", "--dest-decompress")
        for name in ("zstd", "zstd-chunked"):
            compressed = ("--format", "oci", "--dest-compress-format", name.replace("-", ":"))
            self._skopeo(f"dir:{self._folder}/{tag}", f"docker://{names[name]}", *compressed)

    def index(self, name, kind):
        at = f"{self._host}/{name}:{kind}"
        self._crane("index", "append", "-m", f"{at}-amd64", "-m", f"{at}-arm64", "-t", at)

    def _moved(self, tag):
        """A layer that takes /usr and the link /bin away, and has the program under two names behind another link."""
        bundle, image = self._folder / f"bundle-{tag}", ("--image", f"{self._folder}/layout:{tag}")
        run(machine.tool("umoci"), "unpack", "--rootless", *image, bundle, **self._environ)
        root = bundle / "rootfs"
        (root / "opt").mkdir()
        shutil.move(root / "usr/bin/app", root / "opt/program")
        (root / "opt/app").hardlink_to(root / "opt/program")
        shutil.rmtree(root / "usr")
        (root / "bin").unlink()
        (root / "bin").symlink_to("opt")
        run(machine.tool("umoci"), "repack", *image, bundle, **self._environ)

    def _crane(self, *words):
        run(machine.tool("crane"), *words, **self._environ)

    def _skopeo(self, source, target, *words):
        insecure = ("--src-tls-verify=false", "--dest-tls-verify=false")
        run(
            machine.tool("skopeo"),
            "--insecure-policy",
            "copy",
            *insecure,
            *words,
            source,
            target,
            **self._environ,
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layers")
    with distribution(folder) as running:
        tools = Tools(running.host, folder)
        for kind, programs in BUILT.items():
            for architecture, machine_of_program in zip(("amd64", "arm64"), programs, strict=True):
                tools.build(kind, architecture, machine_of_program)
            for name in LAYOUTS:
                tools.index(name, kind)
        yield running


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize(
    ("kind", "code", "program"), [("right", 0, "an arm64 program"), ("wrong", 3, "an x86-64 program")]
)
def test_the_program_of_each_entry_is_found(server, tmp_path, name, kind, code, program):
    out, err = io.BytesIO(), io.StringIO()
    environ = {"HOME": str(tmp_path), "ARCHFIT_MIRROR": f"*={server.url}"}
    assert inspect(["--programs", f"x.example/{name}:{kind}"], out, err, environ) == code, err.getvalue()
    assert f"linux/arm64 starts /bin/app, {program}" in out.getvalue().decode()
