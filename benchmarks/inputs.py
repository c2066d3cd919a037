"""What is measured: manifests of the shared corpus, and streams made from them.

argo-cd     1.9 MB, 59 objects, 7 with pods
boutique    22 KB, 35 objects, 12 with pods
dense       boutique x 85, names made unique: 1,020 Deployments
dense10     dense x 10
nothing     argo-cd less its workloads
dense50     dense x 50: 96 MB
many        40 Pods, an image each
dense-json  dense as one List, as `kubectl get -o json` prints it
crds        27 MB of CustomResourceDefinitions
crds-list   the same as one List

    python benchmarks/inputs.py FOLDER      writes them all (dense50 only here), and says what they hold
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from definitions import as_list, definitions, repeated

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TEST_SHARED", ROOT.parent / "shared"))
_PIN = re.compile(rb"@sha256:[0-9a-f]{64}")
_CONTAINERS = re.compile(rb"^ +containers:", re.MULTILINE)
_RELEASES = [
    "argo-cd",
    "aws-ebs-csi-driver",
    "aws-vpc-cni",
    "cert-manager",
    "gpu-operator",
    "ingress-nginx",
    "jenkins",
    "kube-prometheus-stack",
    "loki",
    "longhorn",
    "metrics-server",
    "redis",
    "traefik",
    "velero",
]
_CRDS_BYTES = 27_000_000


class Inputs(NamedTuple):
    """Paths of the streams, and the platforms of their images."""

    folder: Path
    platforms: dict[str, list[str]]

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.yaml"


def made(folder: Path, *, largest: bool = False) -> Inputs:
    """Writes the streams into folder, dense50 only if it has to be the largest.

    Pins are taken off: no registry here can serve their digests.
    """
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
    items = {"apiVersion": "v1", "items": decoded(dense), "kind": "List"}
    streams["dense-json"] = json.dumps(items, indent=4).encode()
    crds = tuple(repeated(definitions([argo, *_releases().values()]), _CRDS_BYTES))
    streams |= {"crds": b"---\n".join(crds), "crds-list": as_list(crds)}
    if largest:
        streams["dense50"] = _repeated(boutique, 4250)
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


def _releases() -> dict[str, bytes]:
    charts = SHARED / "corpus" / "helm3"
    return {name: _PIN.sub(b"", (charts / f"{name}.yaml").read_bytes()) for name in _RELEASES}


_TEXT = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value"}


class _Loader(yaml.CSafeLoader):
    """As kubectl reads YAML: dates and `=` stay text."""


_Loader.yaml_implicit_resolvers = {
    first: [one for one in resolvers if one[0] not in _TEXT]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def decoded(stream: bytes) -> list[dict[str, Any]]:
    """The objects of a stream, in order."""
    return [one for one in yaml.load_all(stream, Loader=_Loader) if one]


def _described(stream: bytes) -> tuple[int, int]:
    """(objects, pods and pod templates) of a stream."""
    documents = decoded(stream)
    items = [item for one in documents for item in (one["items"] if one["kind"] == "List" else [one])]
    templates = {"Pod", "CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"}
    return len(items), sum(item["kind"] in templates for item in items)


def main() -> None:
    """Writes the streams, and prints a table of them."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    inputs = made(folder, largest=True)
    print("| stream | bytes | objects | with pods |\n| --- | --- | --- | --- |")
    for path in sorted(inputs.folder.glob("*.yaml")):
        stream = path.read_bytes()
        counts = _described(stream) if len(stream) < 50_000_000 else ("", "")
        print(f"| {path.stem} | {len(stream):,} | {counts[0]} | {counts[1]} |", flush=True)


if __name__ == "__main__":
    main()
