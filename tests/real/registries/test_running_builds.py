"""Which build runs, judged by the runtimes' own code, and proven over a real registry's documents."""

import itertools
import json

from tests.real.registries.drawn_indexes import Index, drawn, normal, stated
from tests.real.registries.runtime_judge import NODES

from archfit.audit.builds import taken
from archfit.images.contents import Build
from archfit.registry import manifest as media
from archfit.registry.manifest import Descriptor
from archfit.registry.registry_errors import InvalidManifest
from archfit.registry.resolve_platforms import resolve_platforms

RUNTIMES = {
    "containerd": "containerd://1.7.28",
    "containerd-transfer": "containerd://2.1.4",
    "cri-o": "cri-o://1.33.2",
}


def builds_of(index: Index) -> tuple[Build, ...]:
    def read(_kind: str, wanted: Descriptor) -> bytes:
        return index.documents.blobs[wanted.digest]

    try:
        parsed = media.parse(index.documents.body, index.media_type)
        return resolve_platforms(parsed, index.documents.top, read).builds
    except InvalidManifest:
        return ()


def config_of(index: Index, build: Build) -> str:
    digest: str = json.loads(index.documents.blobs[build.digest]).get("config", {}).get("digest", "")
    return digest


def platform_of_config(index: Index, config: str) -> str:
    return str(normal(json.loads(index.documents.blobs[config])))


def is_usual(index: Index) -> bool:
    """As tools write it: every entry is an image of a stated platform, each platform once; or an attestation."""
    images = [entry for entry in index.entries if not entry.attests]
    platforms = [normal(entry.platform or {}) for entry in images]
    spelt = [(stated(str(platform)), {**stated(str(platform)), "variant": "v8"}) for platform in platforms]
    return (
        len(set(platforms)) == len(platforms)
        and all(entry.platform in known for entry, known in zip(images, spelt, strict=True))
        and all(entry.media_type in media.MANIFESTS and not entry.nested for entry in images)
        and all(
            (entry.platform or {}).get("architecture") == "unknown"
            for entry in index.entries
            if entry.attests
        )
    )


def test_the_build_is_the_one_that_the_runtimes_take(runtimes):
    """For what tools write, exactly; for accidents, its platform, but in one of a hundred of them."""
    usual, right, wrong = 0, 0, 0
    for index, (node, platform) in itertools.product(drawn(), NODES.items()):
        builds = builds_of(index)
        for runtime, config in runtimes.taken(index.documents, platform).items():
            found = [config_of(index, build) for build in taken(builds, "linux", node, RUNTIMES[runtime])]
            if not (config and found):
                continue
            if is_usual(index):
                usual += 1
                assert config in found, (runtime, node, index.documents.body)
            elif platform_of_config(index, config) in {platform_of_config(index, one) for one in found}:
                right += 1
            else:
                wrong += 1
    assert usual > 500
    assert wrong < 0.01 * (right + wrong)
