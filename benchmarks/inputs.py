"""What is measured: the manifest that Argo CD publishes, a shop, and streams made from them.

argo-cd     1.9 MB, 7 of its objects with pods
shop        22 KB, 36 objects, 12 with pods
dense       shop x 85, names made unique: 1,020 Deployments
dense10     dense x 10
nothing     argo-cd less its workloads
dense50     dense x 50: 96 MB
many        40 Pods, an image each
dense-json  dense as one List, as `kubectl get -o json` prints it
crds        27 MB of CustomResourceDefinitions
crds-list   the same as one List

    python benchmarks/inputs.py FOLDER      writes them all, and says what they hold

Argo CD's manifest comes from its Go module (`published_crds`), which is fetched once.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from definitions import as_list, definitions, repeated

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import machine
from published_crds import Module, files

ROOT = machine.ROOT
_ARGOCD = Module(
    *("github.com/argoproj/argo-cd/v3", "v3.5.1", "h1:jtwPLEFX9mNj3jSq88ugFcScGnOZVs2DWaXFuZxrRT8="),
    ("manifests/install.yaml",),
)
_IMAGE = re.compile(rb"^ +(?:- )?image: [\"']?([^\s\"']+)", re.MULTILINE)
_CONTAINERS = re.compile(rb"^ +containers:", re.MULTILINE)
_CRDS_BYTES = 27_000_000
_NAMES = "ads basket carts checkout currency emails frontend loads payment products shipping stock"
# One service of the shop, with what charts of services usually state.
_SERVICE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
  labels:
    app: NAME
spec:
  selector:
    matchLabels:
      app: NAME
  template:
    metadata:
      labels:
        app: NAME
    spec:
      serviceAccountName: NAME
      terminationGracePeriodSeconds: 5
      securityContext:
        fsGroup: 1000
        runAsNonRoot: true
        runAsUser: 1000
      containers:
      - name: server
        image: registry.example.com/shop/NAME:v1.4.2
        securityContext:
          allowPrivilegeEscalation: false
          capabilities:
            drop:
              - ALL
          readOnlyRootFilesystem: true
        ports:
        - name: grpc
          containerPort: 7000
        env:
        - name: PORT
          value: "7000"
        - name: CATALOG_ADDRESS
          value: "products.shop.svc:3550"
        - name: CURRENCY_ADDRESS
          value: "currency.shop.svc:7000"
        - name: ENABLE_PROFILER
          value: "0"
        # - name: BRAND
        readinessProbe:
          initialDelaySeconds: 20
          periodSeconds: 15
          grpc:
            port: 7000
        livenessProbe:
          initialDelaySeconds: 20
          periodSeconds: 15
          grpc:
            port: 7000
        resources:
          requests:
            cpu: 100m
            memory: 64Mi
          limits:
            cpu: 200m
            memory: 128Mi
---
apiVersion: v1
kind: Service
metadata:
  name: NAME
  labels:
    app: NAME
spec:
  type: ClusterIP
  selector:
    app: NAME
  ports:
  - name: grpc
    port: 7000
    targetPort: 7000
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: NAME
"""


class Inputs(NamedTuple):
    """Paths of the streams, and the platforms of their images."""

    folder: Path
    platforms: dict[str, list[str]]

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.yaml"


def made(folder: Path) -> Inputs:
    """Writes the streams into folder. Every third image is built for amd64 alone."""
    (manifest,) = files((_ARGOCD,))
    argo = manifest.read_bytes()
    shop = "---\n".join(_SERVICE.replace("NAME", name) for name in _NAMES.split()).encode()
    dense = _repeated(shop, 85)
    documents = argo.split(b"\n---\n")
    streams = {
        "argo-cd": argo,
        "shop": shop,
        "dense": dense,
        "dense10": _repeated(shop, 850),
        "dense50": _repeated(shop, 4250),
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
    crds = tuple(repeated(definitions([argo]), _CRDS_BYTES))
    streams |= {"crds": b"---\n".join(crds), "crds-list": as_list(crds)}
    for name, stream in streams.items():
        (folder / f"{name}.yaml").write_bytes(stream)
    offered = (["linux/amd64"], ["linux/amd64", "linux/arm64"], ["linux/amd64", "linux/arm64"])
    images = sorted(set(_IMAGE.findall(argo + shop)))
    platforms = {image.decode(): offered[number % 3] for number, image in enumerate(images)}
    platforms |= json.loads((ROOT / "fixtures" / "demo" / "platforms.json").read_text(encoding="utf-8"))
    platforms |= {f"h.example/a{number}:1": offered[1] for number in range(40)}
    return Inputs(folder, platforms)


def _repeated(stream: bytes, times: int) -> bytes:
    documents = stream.split(b"\n---\n")
    return b"\n---\n".join(
        re.sub(rb"^(  name: )(\S+)$", rb"\g<1>\g<2>-%d" % number, document, count=1, flags=re.MULTILINE)
        for number in range(times)
        for document in documents
    )


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
    inputs = made(folder)
    print("| stream | bytes | objects | with pods |\n| --- | --- | --- | --- |")
    for path in sorted(inputs.folder.glob("*.yaml")):
        stream = path.read_bytes()
        counts = _described(stream) if len(stream) < 50_000_000 else ("", "")
        print(f"| {path.stem} | {len(stream):,} | {counts[0]} | {counts[1]} |", flush=True)


if __name__ == "__main__":
    main()
