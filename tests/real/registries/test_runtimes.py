"""archfit beside containerd and CRI-O: it counts an architecture where a baseline node of it would find an image.

Indexes are drawn from a table of entries, the same in every run. On each node of NODES the runtimes' own code
(tests/judges/runtime) says what is taken, and archfit, from the documents to the decision's S, what it counts. They
agree, or a row of DIFFERENCES says why not; a row that explains nothing is an error, too.
"""

import itertools
import json
from collections.abc import Callable
from typing import NamedTuple

import pytest
from tests.real.registries.drawn_indexes import (
    ATTESTATION,
    SOCI,
    Entry,
    Index,
    built,
    drawn,
    normal,
    plain,
    stated,
)
from tests.real.registries.runtime_judge import NODES as LINUX
from tests.real.registries.runtime_judge import RUNTIMES

from archfit.images.platforms import Found, Unknown
from archfit.placement.evidence import offered
from archfit.placement.uncounted import counted
from archfit.registry import manifest as media
from archfit.registry.manifest import Descriptor
from archfit.registry.registry_errors import InvalidManifest
from archfit.registry.resolve_platforms import resolve_platforms
from archfit.workloads.pods import ImageUse

USE = ImageUse((), "app:1")
NODES = {
    **LINUX,
    "ppc64le": {"os": "linux", "architecture": "ppc64le"},
    "windows/amd64": {"os": "windows", "architecture": "amd64", "os.version": "10.0.20348.2402"},
}


def counts(index: Index) -> Callable[[str], bool]:
    """Whether archfit counts an architecture of Linux, or `windows/amd64`, for a pod that names no runtime class."""

    def read(_kind: str, wanted: Descriptor) -> bytes:
        return index.documents.blobs[wanted.digest]

    try:
        offer = resolve_platforms(
            media.parse(index.documents.body, index.media_type), index.documents.top, read
        )
    except InvalidManifest:
        return lambda _node: False
    found = Found(offer.platforms, index.documents.top, offer.index, offer.image)
    answer, _ = counted(USE, found, runtime_class=False, wanted=None)
    if isinstance(answer, Unknown):
        return lambda _node: False

    def of(node: str) -> bool:
        os, _, architecture = node.rpartition("/")
        names = offered(USE, answer, os or "linux")
        return names is not None and architecture in names

    return of


class Difference(NamedTuple):
    """One reason why archfit counts what a runtime does not take, or the other way round.

    counted: archfit counts it. runtimes: those that it concerns. holds: index and node -> it applies.
    """

    why: str
    counted: bool
    runtimes: tuple[str, ...]
    holds: Callable[[Index, str], bool]


def _spelt_otherwise(index: Index, node: str) -> bool:
    """An entry for the node is written in a spelling that has to be normalised."""
    platform = NODES[node]
    return any(
        (entry.platform or {}).get("os") != "linux"
        or (entry.platform or {}).get("architecture") != platform["architecture"]
        or (entry.platform or {}).get("variant", "") in ("v1", "v8.0")
        for entry in index.platforms(os="linux", architecture=platform["architecture"])
    )


def _first_is_no_image(index: Index, **platform: str) -> bool:
    first: dict[str, Entry] = {}
    for entry in index.platforms(**platform):
        first.setdefault(normal(entry.platform or {}).variant, entry)
    return any(entry.media_type != media.OCI_MANIFEST or entry.attests for entry in first.values())


DIFFERENCES = [
    Difference(
        "a warning says so: only client.Pull of containerd takes 386 on amd64 nodes",
        True,
        ("containerd-transfer", "cri-o"),
        lambda index, node: node == "amd64" and bool(index.platforms(os="linux", architecture="386")),
    ),
    Difference(
        "the same, where the 386 entry has no platform, or stands in a nested index",
        True,
        ("containerd-transfer", "cri-o"),
        lambda index, node: node == "amd64" and any(entry.nested for entry in index.entries),
    ),
    Difference(
        "arm is one label for all variants, and here the nodes are v7",
        True,
        RUNTIMES,
        lambda index, node: (
            node == "arm" and bool(index.platforms(os="linux", architecture="arm", variant="v8"))
        ),
    ),
    Difference(
        "the same: the transfer service takes no lower variant",
        True,
        ("containerd-transfer",),
        lambda index, node: (
            node == "arm"
            and any(index.platforms(os="linux", architecture="arm", variant=one) for one in ("v5", "v6"))
        ),
    ),
    Difference(
        "containerd's client takes arm on arm64 nodes, where few kernels run it",
        False,
        ("containerd",),
        lambda index, node: node == "arm64" and bool(index.platforms(os="linux", architecture="arm")),
    ),
    Difference(
        "nobody knows the nodes' versions of Windows",
        True,
        ("containerd", "containerd-transfer"),
        lambda index, node: (
            node == "windows/amd64"
            and any(
                (entry.platform or {}).get("os.version", "").startswith(("10.0.17763", "10.0.26100"))
                for entry in index.platforms(os="windows")
            )
        ),
    ),
    Difference("CRI-O compares names as they are written", True, ("cri-o",), _spelt_otherwise),
    Difference(
        "CRI-O takes no index within an index",
        True,
        ("cri-o",),
        lambda index, _node: any(entry.nested for entry in index.entries),
    ),
    Difference(
        "CRI-O wants a platform in each entry of a Docker list",
        True,
        ("cri-o",),
        lambda index, _node: (
            index.media_type == media.DOCKER_LIST and any(entry.platform is None for entry in index.entries)
        ),
    ),
    Difference(
        "CRI-O looks at the media type of the document, not at that of the entry",
        False,
        ("cri-o",),
        lambda index, _node: any(entry.media_type != media.OCI_MANIFEST for entry in index.entries),
    ),
    Difference(
        "CRI-O does not look at os.features",
        False,
        ("cri-o",),
        lambda index, node: (
            node == "amd64"
            and any("erofs" in (entry.platform or {}).get("os.features", ()) for entry in index.entries)
        ),
    ),
    Difference(
        "no tool gives an attestation the platform of a node, and nothing in one runs",
        False,
        RUNTIMES,
        lambda index, node: (
            _first_is_no_image(index, os="linux", architecture=node)
            or (any(entry.attests and entry.platform is None for entry in index.entries))
        ),
    ),
    Difference(
        "an entry that is no image stands before another that the node would take too (386, arm, without a platform)",
        True,
        RUNTIMES,
        lambda index, node: (
            _first_is_no_image(index, os="linux", architecture=node)
            and (
                any(entry.platform is None for entry in index.entries)
                or (node == "amd64" and bool(index.platforms(os="linux", architecture="386")))
                or (node == "arm" and len(index.platforms(os="linux", architecture="arm")) > 1)
            )
        ),
    ),
    Difference(
        "an arm entry stands before the one without a platform, and the transfer service has not fetched it",
        True,
        ("containerd-transfer",),
        lambda index, node: (
            node == "arm64"
            and bool(index.platforms(os="linux", architecture="arm"))
            and any(entry.platform is None for entry in index.entries)
        ),
    ),
]


def runs(index: Index, node: str, config: str) -> bool:
    """What a runtime takes is built for the node; CRI-O takes the first entry without a platform unseen."""
    if not config:
        return False
    built_for = json.loads(index.documents.blobs[config])
    architecture = NODES[node]["architecture"]
    allowed = {"amd64": {"386"}, "arm64": {"arm"}}.get(architecture, set()) | {architecture}
    platform = normal(built_for)
    higher = bool(platform.variant) and platform.architecture != "arm"
    return platform.os == NODES[node]["os"] and platform.architecture in allowed and not higher


def test_archfit_counts_what_a_baseline_node_takes(runtimes):
    unexplained, used, agreed = [], set(), dict.fromkeys(RUNTIMES, 0)
    indexes = list(drawn())
    assert len(indexes) >= 600
    for index, node in itertools.product(indexes, NODES):
        counted_here = counts(index)(node)
        taken = runtimes.taken(index.documents, NODES[node])
        for runtime in RUNTIMES:
            if runtime == "cri-o" and node == "windows/amd64":
                continue  # there is none
            if runs(index, node, taken[runtime]) == counted_here:
                agreed[runtime] += 1
                continue
            reasons = [
                number
                for number, row in enumerate(DIFFERENCES)
                if row.counted == counted_here and runtime in row.runtimes and row.holds(index, node)
            ]
            used.update(reasons)
            if not reasons:
                unexplained.append((runtime, node, counted_here, index.documents.body.decode()))
    assert unexplained == []
    assert [row.why for number, row in enumerate(DIFFERENCES) if number not in used] == []
    assert min(agreed.values()) > len(indexes) * 5


# What tools write; every runtime and archfit agree on every node.

BUILDX = (
    plain("linux/amd64"),
    plain("linux/arm64"),
    Entry(
        stated("unknown/unknown"),
        "unknown/unknown",
        annotations={**ATTESTATION, "vnd.docker.reference.digest": "x"},
    ),
    Entry(
        stated("unknown/unknown"),
        "unknown/unknown",
        annotations={**ATTESTATION, "vnd.docker.reference.digest": "y"},
    ),
)
KO = tuple(map(plain, ("linux/amd64", "linux/arm/v7", "linux/arm64", "linux/ppc64le", "linux/s390x")))
WITH_SOCI = (
    plain("linux/amd64"),
    plain("linux/arm64"),
    plain("linux/amd64", artifact_type=SOCI),
    plain("linux/arm64", artifact_type=SOCI),
)
WINDOWS = (
    *WITH_SOCI[:2],
    Entry(stated("windows/amd64", **{"os.version": "10.0.20348.2402"}), "windows/amd64"),
)


@pytest.mark.parametrize(
    ("entries", "nodes"),
    [
        pytest.param(KO, {"amd64", "arm", "arm64", "ppc64le", "s390x"}, id="ko"),
        pytest.param(BUILDX, {"amd64", "arm64"}, id="docker-buildx-with-attestations"),
        pytest.param(WITH_SOCI, {"amd64", "arm64"}, id="soci-v2"),
        pytest.param(WINDOWS, {"amd64", "arm64", "windows/amd64"}, id="windows"),
        pytest.param(tuple(map(plain, ("linux/amd64/v3", "linux/arm64/v9"))), set(), id="higher-variants"),
        pytest.param(
            tuple(map(plain, ("linux/amd64/v3", "linux/amd64/v2", "linux/amd64", "linux/arm64/v8"))),
            {"amd64", "arm64"},
            id="higher-variants-before-the-baseline",
        ),
        pytest.param(tuple(map(plain, ("linux/amd64", "wasi/wasm"))), {"amd64"}, id="wasm-beside-native"),
    ],
)
@pytest.mark.parametrize("media_type", [media.OCI_INDEX, media.DOCKER_LIST])
@pytest.mark.parametrize("artifact_types", [False, True], ids=["plain", "artifact-types-as-crane-writes"])
def test_what_tools_write(runtimes, entries, nodes, media_type, artifact_types):
    index = built(entries, media_type, artifact_types=artifact_types)
    here = counts(index)
    assert {node for node in NODES if here(node)} == nodes
    for node, platform in NODES.items():
        for runtime, config in runtimes.taken(index.documents, platform).items():
            assert runs(index, node, config) == (node in nodes), (runtime, node)
