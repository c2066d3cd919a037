"""Images whose every document exists, and the facts of pods that run them as runtimes report them.

app = pushed(fake, "team/app", "1", ["linux/amd64", "linux/arm64"])
app.index, app.manifests["linux/arm64"], app.configs["linux/arm64"]       digests
facts = running(Pod("r.example/team/app:1", f"r.example/team/app@{app.index}", "linux/arm64"), ..)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from archfit.base.errors import InvalidReference
from archfit.facts.facts import AuditFacts, BuildFacts, ImageFacts, Snapshot
from archfit.facts.merge import sorted_facts
from archfit.images.reference import parse
from archfit.registry import manifest as media
from fake_registry import FakeRegistry, as_json, descriptor, digest_of, platform_of

CONTAINERD, CRI_O, DOCKER = "containerd://2.1.4", "cri-o://1.33.2", "docker://28.0.1"


@dataclass(frozen=True)
class Pushed:
    """Digests of an index and of what it names, by platform."""

    index: str
    manifests: dict[str, str]
    configs: dict[str, str]


def pushed(fake: FakeRegistry, repository: str, tag: str, platforms: Sequence[str], salt: str = "") -> Pushed:
    """Put an index, its manifests and their configs. salt: makes another image of the same platforms."""
    manifests, configs, entries = {}, {}, []
    for text in platforms:
        config = as_json({**platform_of(text), "rootfs": {}, "x": f"{repository}:{tag} {salt}"})
        body = fake.manifest(descriptor(media.OCI_CONFIG, config))
        configs[text] = fake.blob(repository, config)
        manifests[text] = fake.put(repository, "", media.OCI_MANIFEST, body)
        entries.append(descriptor(media.OCI_MANIFEST, body, platform=platform_of(text)))
    whole = as_json({"schemaVersion": 2, "mediaType": media.OCI_INDEX, "manifests": entries})
    fake.put(repository, tag, media.OCI_INDEX, whole)
    return Pushed(digest_of(whole), manifests, configs)


class Pod(NamedTuple):
    """One container that runs. node: `os/architecture`."""

    image: str
    image_id: str
    node: str = "linux/amd64"
    runtime: str = CONTAINERD
    name: str = ""


def running(*pods: Pod) -> AuditFacts:
    """Facts as a collector has them: nothing is looked up."""
    builds = [
        BuildFacts(
            "s", "shop", "Deployment", pod.name or f"w{number}", "c", pod.image, pod.image_id,
            pod.node.partition("/")[0], pod.node.partition("/")[2], pod.runtime, 1,
        )
        for number, pod in enumerate(pods)
    ]  # fmt: skip
    images = [ImageFacts(_reference(pod.image), "Unread") for pod in pods]
    return sorted_facts(
        AuditFacts((Snapshot("s", "lists", "x", True),), builds=tuple(builds), images=tuple(images))
    )


def _reference(image: str) -> str:
    try:
        return parse(image).normalised
    except InvalidReference:
        return image
