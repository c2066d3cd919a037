"""What the scripted registry holds, and streams that ask for it.

    both amd arm        an index of one, two platforms        nested      an index in an index
    docker              a Docker list                         plain       an index whose entry states no platform
    single              a manifest with its config            pinned      an index that is asked for by digest
    moving              an index whose tag moves: amd64, then amd64 and arm64

The platforms are stated here once. The truth of a stream is what the program writes when it is told the platforms
with --image-platforms and asks nobody.
"""

import random
from typing import NamedTuple

from image_documents import Document

from archfit.registry import manifest as media
from fake_registry import FakeRegistry, as_json, descriptor, platform_of

AMD, ARM = "linux/amd64", "linux/arm64"
HOST = "x.io"
MOVED = (AMD, ARM)
STREAMS = 24


class Image(NamedTuple):
    """reference: as a pod names it. documents: path -> what is there."""

    reference: str
    platforms: tuple[str, ...]
    documents: dict[str, Document]


def _manifest(name: str, platform: str) -> tuple[Document, Document]:
    """A manifest and its config."""
    config = Document(media.OCI_CONFIG, as_json({**platform_of(platform), "rootfs": {}, "author": name}))
    body = FakeRegistry.manifest(descriptor(config.media_type, config.body))
    return Document(media.OCI_MANIFEST, body), config


def _index(entries: list[dict[str, object]], kind: str = media.OCI_INDEX) -> Document:
    return Document(kind, as_json({"schemaVersion": 2, "mediaType": kind, "manifests": entries}))


def _listed(name: str, platforms: tuple[str, ...], kind: str = media.OCI_INDEX) -> Document:
    child = media.OCI_MANIFEST if kind == media.OCI_INDEX else media.DOCKER_MANIFEST
    return _index(
        [
            descriptor(child, f"{name} {text}".encode(), platform=platform_of(text))
            for text in (*platforms, "unknown/unknown")
        ],
        kind,
    )


def _paths(name: str, top: Document, *below: Document, blob: Document | None = None) -> dict[str, Document]:
    found = {f"/v2/{name}/manifests/{one.digest}": one for one in (top, *below)}
    found[f"/v2/{name}/manifests/1"] = top
    return found | ({f"/v2/{name}/blobs/{blob.digest}": blob} if blob else {})


def _made(name: str, platforms: tuple[str, ...]) -> Image:
    blob: Document | None = None
    below: list[Document] = []
    if name == "single":
        top, blob = _manifest(name, platforms[0])
    elif name == "plain":
        child, blob = _manifest(name, platforms[0])
        below, top = [child], _index([descriptor(child.media_type, child.body)])
    elif name == "nested":
        inner = _listed(name, platforms)
        below, top = [inner], _index([descriptor(inner.media_type, inner.body)])
    else:
        top = _listed(name, platforms, media.DOCKER_LIST if name == "docker" else media.OCI_INDEX)
    reference = f"{HOST}/{name}@{top.digest}" if name == "pinned" else f"{HOST}/{name}:1"
    return Image(reference, platforms, _paths(name, top, *below, blob=blob))


IMAGES = {
    name: _made(name, platforms)
    for name, platforms in (
        ("both", (AMD, ARM)),
        ("amd", (AMD,)),
        ("arm", (ARM,)),
        ("docker", (AMD, ARM)),
        ("single", (AMD,)),
        ("plain", (AMD,)),
        ("nested", (AMD, ARM)),
        ("pinned", (AMD,)),
        ("moving", (AMD,)),
    )
}
DOCUMENTS = {path: document for image in IMAGES.values() for path, document in image.documents.items()}
AFTER_THE_MOVE = _paths("moving", _listed("moving", MOVED))
"""`moving` once its tag has moved; the old digest stays."""


class Stream(NamedTuple):
    """Rendered YAML. names: of IMAGES."""

    text: bytes
    names: tuple[str, ...]

    def overrides(self, *, moved: bool) -> list[str]:
        """Options that state the platforms of every image."""
        told = ((IMAGES[name].reference, _platforms(name, moved=moved)) for name in self.names)
        return [f"--image-platforms={reference}={','.join(platforms)}" for reference, platforms in told]


def _platforms(name: str, *, moved: bool) -> tuple[str, ...]:
    return MOVED if moved and name == "moving" else IMAGES[name].platforms


_SHAPES = (
    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\nspec:\n  containers:\n  - name: a\n    image: {image}\n",
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  template:\n    spec:\n"
    "      containers:\n      - {{name: a, image: '{image}'}}  # the one\n",
    '{{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {{"name": "{name}"}}, "spec": {{"template": '
    '{{"spec": {{"containers": [{{"name": "a", "image": "{image}"}}]}}}}}}}}\n',
    "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: {name}\nspec:\n  jobTemplate:\n    spec:\n"
    '      template:\n        spec:\n          containers:\n            - image: "{image}"\n              name: a\n',
)


def streams(seed: int) -> list[Stream]:
    drawn = random.Random(f"{seed} streams")
    made = []
    for number in range(STREAMS):
        names = tuple(drawn.sample(sorted(IMAGES), drawn.randint(1, 6)))
        parts = [
            drawn.choice(_SHAPES).format(name=f"p{number}-{place}", image=IMAGES[name].reference)
            for place, name in enumerate(names)
        ]
        made.append(Stream("---\n".join(parts).encode(), names))
    return made
