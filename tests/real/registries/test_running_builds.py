"""Which build runs, judged by the runtimes' own code, and proven over a real registry's documents."""

from __future__ import annotations

import io
import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

import machine
from archfit.audit.build_lookup import answered
from archfit.audit.builds import taken
from archfit.audit.running.collect import Collector
from archfit.options.hosts import mirror
from archfit.options.settings import Operator, Settings
from archfit.registry import manifest as media
from archfit.registry.registry_errors import InvalidManifest
from archfit.registry.resolve_platforms import resolve_platforms
from drawn_indexes import drawn, normal, stated
from fake_registry import as_json, digest_of, platform_of
from real_registries import distribution
from runtime_judge import RuntimeJudge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from archfit.images.contents import Build
    from archfit.registry.manifest import Descriptor
    from drawn_indexes import Index

NODES = {
    "amd64": {"os": "linux", "architecture": "amd64"},
    "arm64": {"os": "linux", "architecture": "arm64", "variant": "v8"},
    "arm": {"os": "linux", "architecture": "arm", "variant": "v7"},
    "386": {"os": "linux", "architecture": "386"},
    "s390x": {"os": "linux", "architecture": "s390x"},
}
RUNTIMES = {
    "containerd": "containerd://1.7.28",
    "containerd-transfer": "containerd://2.1.4",
    "cri-o": "cri-o://1.33.2",
}


@pytest.fixture(scope="module")
def runtimes() -> Iterator[RuntimeJudge]:
    binary = machine.go_build(machine.ROOT / "tests" / "judges" / "runtime", "runtime_judge")
    with RuntimeJudge(binary) as judge:
        yield judge


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


def test_the_build_is_the_one_that_the_runtimes_take(runtimes: RuntimeJudge) -> None:
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


def config_digest(repository: str, platform: str) -> str:
    """Of the config that `real_registries` pushes."""
    body = {**platform_of(platform), "rootfs": {"type": "layers", "diff_ids": []}, "x": repository}
    return digest_of(as_json(body))


def node(name: str, architecture: str, runtime: str) -> dict[str, Any]:
    labels = {"kubernetes.io/arch": architecture, "kubernetes.io/os": "linux"}
    info = {"architecture": architecture, "operatingSystem": "linux", "containerRuntimeVersion": runtime}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"nodeInfo": info, "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }


def pod(name: str, on: str, image: str, image_id: str, **status: Any) -> dict[str, Any]:
    entry = {"name": "c", "image": image, "imageID": image_id, "restartCount": 0, "state": {"running": {}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": image}]},
        "status": {"phase": "Running", "containerStatuses": [{**entry, **status}]},
    }


def test_pods_of_all_runtimes_over_a_real_registry(real: object, tmp_path: Path) -> None:
    del real
    with distribution(tmp_path) as registry:
        app, other = f"{registry.host}/team/app", f"{registry.host}/copies/app"
        both = ["linux/amd64", "linux/arm64"]
        index = registry.index("team/app", "1", [*both, "linux/s390x"])
        arm64 = str(registry.single("team/app", "", "linux/arm64")["digest"])
        copy = registry.index("copies/app", "9", both, docker=True)
        arm = registry.index("team/arm", "1", ["linux/amd64", "linux/arm/v7"])
        amd64 = str(registry.single("team/one", "1", "linux/amd64")["digest"])
        config = config_digest("team/app", "linux/arm64")
        containerd, cri_o, docker = "containerd://2.1.4", "cri-o://1.33.2", "docker://28.0.1"
        failed = {
            "restartCount": 4,
            "lastState": {"terminated": {"exitCode": 1, "message": "exec format error"}},
        }
        items = [
            node("c-amd64", "amd64", containerd),
            node("c-arm64", "arm64", containerd),
            node("o-arm64", "arm64", cri_o),
            node("d-arm64", "arm64", docker),
            pod("index", "c-amd64", f"{app}:1", f"{app}@{index}"),
            pod("child", "o-arm64", f"{app}:1", f"{app}@{arm64}"),
            pod("list", "o-arm64", f"{app}:1", f"{app}@{index}"),
            pod("pullable", "d-arm64", f"{app}:1", f"docker-pullable://{app}@{index}"),
            pod("config", "d-arm64", f"{app}:1", f"docker://{config}"),
            pod("loaded", "c-arm64", f"{app}:1", config),
            pod("bare", "o-arm64", f"{app}:1", config.removeprefix("sha256:")),
            pod("copy", "c-arm64", f"{app}:1", f"{other}@{copy}"),
            pod("arm", "c-arm64", f"{registry.host}/team/arm:1", f"{registry.host}/team/arm@{arm}"),
            pod(
                "wrong",
                "c-arm64",
                f"{registry.host}/team/one:1",
                f"{registry.host}/team/one@{amd64}",
                **failed,
            ),
            pod("waits", "c-arm64", f"{app}:1", ""),
            pod("gone", "c-arm64", f"{app}:1", f"{app}@sha256:{'0' * 64}"),
        ]
        collector = Collector("lists", "fixture")
        collector.add({"apiVersion": "v1", "kind": "List", "items": items})
        settings = Settings(
            operator=Operator(
                mirrors=(mirror(registry.host, registry.url),), cache=str(tmp_path / "x.sqlite")
            )
        )
        environ = {"HOME": str(tmp_path)}
        registry.forget()
        facts = answered(collector.facts(), settings, environ, io.StringIO())
        first = registry.asked()
        registry.forget()
        again = answered(collector.facts(), settings, environ, io.StringIO())
        # The digest that is nowhere is asked for again; everything else is kept.
        assert {path.rpartition("/")[2] for _, path, _ in registry.asked()} == {f"sha256:{'0' * 64}"}
    assert again.builds == facts.builds
    assert len(first) == len(set(first))
    verdicts = {build.name: (build.verdict, build.platform, build.reason) for build in facts.builds}
    emulated = "it is emulated, or the container fails"
    assert {name: found for name, found in verdicts.items() if name != "gone"} == {
        "index": ("proven", "linux/amd64", ""),
        "child": ("proven", "linux/arm64", ""),
        "list": ("proven", "linux/arm64", ""),
        "pullable": ("proven", "linux/arm64", ""),
        "config": ("proven", "linux/arm64", ""),
        "loaded": ("proven", "linux/arm64", ""),
        "bare": ("proven", "linux/arm64", ""),
        "copy": ("proven", "linux/arm64", ""),
        "arm": ("proven", "linux/arm/v7", "linux/arm/v7 (32-bit) on arm64"),
        "wrong": ("mismatch", "linux/amd64", f"linux/amd64 on linux/arm64: {emulated}"),
        "waits": ("unknown", "", "the container has not started"),
    }
    assert verdicts["gone"][0] == "unknown"
    assert "has no team/app@sha256:000" in verdicts["gone"][2]
    assert {build.name: build.evidence for build in facts.builds if build.evidence} == {
        "wrong": "exec format error"
    }
    # Whatever the form, they are one build.
    found = {
        build.manifest for build in facts.builds if build.platform == "linux/arm64" and build.index == index
    }
    assert found == {arm64}
