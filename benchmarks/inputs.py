"""What is measured: manifests of the shared corpus, streams made from them, charts, and a clean environment.

argo-cd     1.9 MB, 59 objects, 7 with pods
boutique    22 KB, 35 objects, 12 with pods
dense       boutique x 85, names made unique: 1,020 Deployments
dense10     dense x 10
nothing     argo-cd less its workloads
many        40 Pods, an image each
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TEST_SHARED", ROOT.parent / "shared"))
_PIN = re.compile(rb"@sha256:[0-9a-f]{64}")
_CONTAINERS = re.compile(rb"^ +containers:", re.MULTILINE)


class Inputs(NamedTuple):
    """Paths of the streams, and the platforms of their images."""

    folder: Path
    platforms: dict[str, list[str]]

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.yaml"


def made(folder: Path) -> Inputs:
    """Writes the streams into folder. Pins are taken off: no registry here can serve their digests."""
    manifests = SHARED / "corpus" / "manifests"
    argo = (manifests / "argo-cd.yaml").read_bytes()
    boutique = _PIN.sub(b"", (manifests / "online-boutique.yaml").read_bytes())
    dense = _repeated(boutique, 85)
    documents = argo.split(b"\n---\n")
    streams = {
        "argo-cd": argo,
        "boutique": boutique,
        "dense": dense,
        "dense10": _repeated(boutique, 850),
        "nothing": b"\n---\n".join(
            one for one in documents if not (_CONTAINERS.search(one) and b"kind: CustomRes" not in one)
        ),
        "many": b"---\n".join(
            b"apiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\n"
            b"spec: {containers: [{name: a, image: 'h.example/a%d:1'}]}\n" % (number, number)
            for number in range(40)
        ),
    }
    for name, stream in streams.items():
        (folder / f"{name}.yaml").write_bytes(stream)
    table = json.loads((SHARED / "corpus" / "platforms.json").read_text(encoding="utf-8"))
    platforms = {image.partition("@")[0]: offered for image, offered in table.items() if offered}
    platforms |= json.loads((ROOT / "fixtures" / "demo" / "platforms.json").read_text(encoding="utf-8"))
    platforms |= {f"h.example/a{number}:1": ["linux/amd64", "linux/arm64"] for number in range(40)}
    return Inputs(folder, platforms)


def _repeated(stream: bytes, times: int) -> bytes:
    documents = stream.split(b"\n---\n")
    return b"\n---\n".join(
        re.sub(rb"^(  name: )(\S+)$", rb"\g<1>\g<2>-%d" % number, document, count=1, flags=re.MULTILINE)
        for number in range(times)
        for document in documents
    )


def kustomization(folder: Path, stream: Path) -> Path:
    """A folder that `kustomize build` turns into the stream."""
    target = folder / f"kustomize-{stream.stem}"
    target.mkdir()
    (target / stream.name).write_bytes(stream.read_bytes())
    (target / "kustomization.yaml").write_text(f"resources: [{stream.name}]\n", encoding="utf-8")
    return target


def function(folder: Path, stream: Path, name: str, program: str) -> Path:
    """The same, with a program as its exec function."""
    target = folder / f"kustomize-{stream.stem}-{name}"
    target.mkdir()
    (target / stream.name).write_bytes(stream.read_bytes())
    (target / "kustomization.yaml").write_text(
        f"resources: [{stream.name}]\ntransformers: [function.yaml]\n", encoding="utf-8"
    )
    (target / "function.yaml").write_text(
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nmetadata:\n  name: function\n  annotations:\n"
        f"    config.kubernetes.io/function: |\n      exec:\n        path: {program}\n",
        encoding="utf-8",
    )
    return target


def chart(folder: Path, stream: Path) -> Path:
    """A chart that renders the stream through `.Files.Get`."""
    target = folder / f"chart-{stream.stem}"
    (target / "templates").mkdir(parents=True)
    (target / "Chart.yaml").write_text("apiVersion: v2\nname: big\nversion: 0.1.0\n", encoding="utf-8")
    (target / stream.name).write_bytes(stream.read_bytes())
    (target / "templates" / "all.yaml").write_text(
        f'{{{{ .Files.Get "{stream.name}" }}}}\n', encoding="utf-8"
    )
    return target


def clean_environment(folder: Path) -> Path:
    """A virtual environment with archfit as users install it, bytecode compiled; the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, ROOT], check=True)
    return folder / "bin"
