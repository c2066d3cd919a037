"""Which build runs, for every form of an imageID, every runtime, and every verdict."""

import hashlib
from typing import Any

import pytest

from archfit.audit.builds import ImageId, Known, image_id, proof
from archfit.facts.facts import BuildFacts
from archfit.images.contents import Build, ImageContents
from archfit.images.platforms import parse_platform

CONTAINERD, CRI_O, DOCKER = "containerd://2.1.4", "cri-o://1.33.2", "docker://28.0.1"
NAME = "docker.io/library/app"
OTHER = "mirror.example/app"


def digest(word: str) -> str:
    return f"sha256:{hashlib.sha256(word.encode()).hexdigest()}"


def index(*platforms: str, of: str = "") -> ImageContents:
    return ImageContents("index", tuple(Build(digest(of + text), parse_platform(text)) for text in platforms))


def manifest(platform: str, config: str = "C") -> ImageContents:
    return ImageContents("manifest", config=digest(config), platform=parse_platform(platform))


def build(
    image_id: str, node: str = "linux/amd64", runtime: str = CONTAINERD, image: str = "app:1"
) -> BuildFacts:
    os, _, architecture = node.partition("/")
    return BuildFacts("s", "shop", "Deployment", "web", "c", image, image_id, os, architecture, runtime, 2)


INDEX, M, C = digest("I"), digest("M"), digest("C")
BOTH = index("linux/amd64", "linux/arm64")
AMD64, ARM64 = digest("linux/amd64"), digest("linux/arm64")


def known(
    contents: dict[str, ImageContents] | None = None, *indexes: str, current: str = "", **more: Any
) -> Known:
    return Known(contents or {}, indexes, current, **more)


PROOFS = [
    pytest.param(build(f"{NAME}@{INDEX}"), known({INDEX: BOTH}, INDEX, current=INDEX), ("proven", "linux/amd64", AMD64, INDEX, ""), id="containerd-index-digest"),
    pytest.param(build(f"{NAME}@{INDEX}", "linux/arm64"), known({INDEX: BOTH}, INDEX, current=INDEX), ("proven", "linux/arm64", ARM64, INDEX, ""), id="containerd-index-digest-on-arm64"),
    pytest.param(build(f"docker-pullable://app@{INDEX}", runtime=DOCKER), known({INDEX: BOTH}, INDEX), ("proven", "linux/amd64", AMD64, INDEX, ""), id="docker-pullable-index-digest"),
    pytest.param(build(f"{NAME}@{INDEX}", "linux/arm64", CRI_O), known({INDEX: BOTH}, INDEX), ("proven", "linux/arm64", ARM64, INDEX, ""), id="cri-o-index-digest"),
    pytest.param(build(f"{NAME}@{ARM64}", "linux/arm64", CRI_O), known({INDEX: BOTH}, INDEX, current=INDEX), ("proven", "linux/arm64", ARM64, INDEX, ""), id="cri-o-manifest-digest"),
    pytest.param(build(f"{NAME}@{M}"), known({M: manifest("linux/amd64")}), ("proven", "linux/amd64", M, "", ""), id="manifest-without-index"),
    pytest.param(build(f"{OTHER}@{INDEX}"), known({INDEX: BOTH}), ("proven", "linux/amd64", AMD64, INDEX, ""), id="another-repository-than-the-pods"),
    pytest.param(build(f"docker://{C}", runtime=DOCKER), known({INDEX: BOTH, AMD64: ImageContents("manifest", config=C)}, INDEX), ("proven", "linux/amd64", AMD64, INDEX, ""), id="docker-config"),
    pytest.param(
        build(C), known({INDEX: BOTH, ARM64: ImageContents("manifest", config=C)}, INDEX),
        ("mismatch", "linux/arm64", ARM64, INDEX, "linux/arm64 on linux/amd64: it is emulated, or the container fails"),
        id="loaded-image-for-another-architecture",
    ),
    pytest.param(
        build(C.removeprefix("sha256:"), runtime=CRI_O),
        known({INDEX: BOTH, AMD64: ImageContents("manifest", config=C)}, INDEX),
        ("proven", "linux/amd64", AMD64, INDEX, ""), id="cri-o-bare-id",
    ),
    pytest.param(build(C), known({M: manifest("linux/amd64")}, M), ("proven", "linux/amd64", M, "", ""), id="config-of-a-single-manifest"),
    pytest.param(
        build(C), known({INDEX: BOTH, C: ImageContents("config", platform=parse_platform("linux/amd64"))}, INDEX),
        ("proven", "linux/amd64", "", "", ""), id="config-alone-says-its-platform",
    ),
    pytest.param(build(f"docker://{INDEX}", runtime=DOCKER), known({INDEX: BOTH}, INDEX), ("proven", "linux/amd64", AMD64, INDEX, ""), id="docker-with-the-containerd-store"),
    pytest.param(
        build(f"{NAME}@{INDEX}"), known({INDEX: index("linux/386", "linux/arm64")}),
        ("proven", "linux/386", digest("linux/386"), INDEX, "linux/386 (32-bit) on amd64"), id="386-on-amd64",
    ),
    pytest.param(build(f"{NAME}@{INDEX}"), known({INDEX: index("linux/386", "linux/amd64")}), ("proven", "linux/amd64", AMD64, INDEX, ""), id="386-beside-amd64"),
    pytest.param(
        build(f"{NAME}@{INDEX}", "linux/arm64"), known({INDEX: index("linux/amd64", "linux/arm/v6", "linux/arm/v7")}),
        ("proven", "linux/arm/v7", digest("linux/arm/v7"), INDEX, "linux/arm/v7 (32-bit) on arm64"), id="arm-on-arm64",
    ),
    pytest.param(
        build(f"{NAME}@{INDEX}", "linux/arm64", CRI_O), known({INDEX: index("linux/amd64", "linux/arm/v7")}),
        ("mismatch", "", "", INDEX,
         "the index has no build for linux/arm64, only linux/amd64, linux/arm/v7: it is emulated, or the container "
         "fails"),
        id="cri-o-takes-no-arm-on-arm64",
    ),
    pytest.param(
        build(f"{NAME}@{INDEX}", "linux/arm64"), known({INDEX: index("linux/amd64")}),
        ("mismatch", "linux/amd64", AMD64, INDEX, "linux/amd64 on linux/arm64: it is emulated, or the container fails"),
        id="emulated-from-an-index-without-the-architecture",
    ),
    pytest.param(
        build(f"{NAME}@{M}", "linux/arm64"), known({M: manifest("linux/amd64")}),
        ("mismatch", "linux/amd64", M, "", "linux/amd64 on linux/arm64: it is emulated, or the container fails"),
        id="emulated-single-manifest",
    ),
    pytest.param(
        build(f"{NAME}@{INDEX}", "windows/amd64"),
        known({INDEX: ImageContents("index", tuple(Build(digest(n), parse_platform("windows/amd64")) for n in "ab"))}),
        ("ambiguous", "", "", INDEX, "the index has several builds for windows/amd64: windows/amd64"),
        id="versions-of-windows",
    ),
    pytest.param(
        build(f"{NAME}@{INDEX}", "linux/arm"), known({INDEX: index("linux/arm/v6", "linux/arm/v7")}),
        ("ambiguous", "", "", INDEX, "the index has several builds for linux/arm: linux/arm/v6, linux/arm/v7"),
        id="variants-of-arm",
    ),
    pytest.param(
        build(f"{NAME}@{INDEX}"), known({INDEX: index("linux/amd64", "wasi/wasm")}),
        ("ambiguous", "", "", INDEX, "the index has several builds for linux/amd64: linux/amd64, wasi/wasm"),
        id="webassembly-beside-native",
    ),
    pytest.param(
        build(f"{NAME}@{INDEX}"), known({INDEX: index("wasi/wasm")}),
        ("proven", "wasi/wasm", digest("wasi/wasm"), INDEX, "WebAssembly, which a runtime class runs on any node"),
        id="webassembly",
    ),
    pytest.param(build(f"{NAME}@{INDEX}"), known({INDEX: index("linux/amd64", "linux/amd64/v3")}), ("proven", "linux/amd64", AMD64, INDEX, ""), id="higher-variant-beside-the-baseline"),
    pytest.param(build(f"{NAME}@{INDEX}"), known({INDEX: index("linux/amd64/v3", "linux/arm64")}), ("proven", "linux/amd64/v3", digest("linux/amd64/v3"), INDEX, ""), id="higher-variant-alone"),
    pytest.param(
        build(f"{NAME}@{INDEX}"), known({INDEX: index("linux/amd64/v2", "linux/amd64/v3")}),
        ("ambiguous", "", "", INDEX, "the index has several builds for linux/amd64: linux/amd64/v2, linux/amd64/v3"),
        id="several-higher-variants",
    ),
    pytest.param(
        build(f"{NAME}@{INDEX}", "linux/"), known({INDEX: BOTH}),
        ("ambiguous", "", "", INDEX, "the node is not known, and the index has linux/amd64, linux/arm64"),
        id="index-without-a-node",
    ),
    pytest.param(
        build(f"{NAME}@{M}", "linux/"), known({M: manifest("linux/amd64")}),
        ("proven", "linux/amd64", M, "", "the node is not known, so that the two cannot be compared"),
        id="manifest-without-a-node",
    ),
    pytest.param(
        build(f"{NAME}@{INDEX}"), known({INDEX: ImageContents("index", (Build("", parse_platform("linux/amd64")),))}),
        ("proven", "linux/amd64", "", INDEX, ""), id="only-the-platforms-of-the-index-are-known",
    ),
    pytest.param(
        build(f"{NAME}@{INDEX}", runtime=CRI_O),
        known({INDEX: ImageContents("index", (Build(M, parse_platform("linux/amd64"), stated=False),))}),
        ("proven", "linux/amd64", M, INDEX, ""), id="an-entry-without-a-platform",
    ),
    pytest.param(
        build(f"{NAME}@{INDEX}"),
        known({INDEX: ImageContents("index", (Build(M, parse_platform("linux/s390x"), stated=False), *BOTH.children))}),
        ("ambiguous", "", "", INDEX, "the index has several builds for linux/amd64: linux/amd64, linux/s390x"),
        id="an-entry-without-a-platform-beside-others",
    ),
    pytest.param(build(""), known(), ("unknown", "", "", "", "the container has not started"), id="not-started"),
    pytest.param(build("app:1"), known(), ("unknown", "", "", "", "the runtime reports an imageID that archfit does not know"), id="malformed"),
    pytest.param(build(f"{NAME}@{INDEX}"), known(failure="https://x.example answered 401"), ("unknown", "", "", "", "https://x.example answered 401"), id="could-not-be-asked"),
    pytest.param(build(f"{NAME}@{INDEX}"), known({INDEX: ImageContents("index")}), ("unknown", "", "", "", "its index lists no build"), id="an-artifacts-index"),
]  # fmt: skip


@pytest.mark.parametrize(("running", "given", "expected"), PROOFS)
def test_the_verdict_of(running, given, expected):
    judged = proof(running, given)
    assert (judged.verdict, judged.platform, judged.manifest, judged.index, judged.reason) == expected
    assert judged.moved == ""
    same = judged.replace(verdict="unread", platform="", manifest="", index="", reason="")
    assert same == running


NEW = digest("new")
HINTS = [
    pytest.param(build(f"{NAME}@{INDEX}"), index("linux/amd64", "linux/arm64", of="n"), "app:1", f"{NAME}:1 names another image now, for the same platforms", id="same-platforms"),
    pytest.param(build(f"{NAME}@{INDEX}"), index("linux/amd64", "linux/arm64", "linux/s390x", of="n"), "app:1", f"{NAME}:1 names another image now, with linux/s390x in addition", id="gains"),
    pytest.param(build(f"{NAME}@{INDEX}"), index("linux/amd64", "linux/riscv64", of="n"), "app:1",
        f"{NAME}:1 names another image now, with linux/riscv64 in addition and without linux/arm64",
        id="gains-and-loses"),
    pytest.param(build(f"{NAME}@{INDEX}"), manifest("linux/amd64"), "app:1", f"{NAME}:1 names another image now, without linux/arm64", id="a-single-manifest-now"),
    pytest.param(build(f"{NAME}@{INDEX}"), index("linux/amd64", of="n"), f"app@{INDEX}", "", id="pinned-to-a-digest"),
    pytest.param(build(f"{NAME}@{INDEX}"), index("linux/amd64", "linux/s390x"), "app:1", "", id="the-same-build-in-a-new-index"),
    pytest.param(build(f"{NAME}@{M}"), index("linux/amd64", "linux/arm64", of="n"), "app:1",
        f"{NAME}:1 names another image now, with linux/amd64, linux/arm64", id="manifest-that-the-index-does-not-list"),
    pytest.param(build(f"{OTHER}@{INDEX}"), index("linux/amd64", of="n"), "app:1", "", id="another-repository-may-have-another-index"),
]  # fmt: skip


@pytest.mark.parametrize(("running", "now", "image", "hint"), HINTS)
def test_a_tag_that_moved_is_a_hint(running, now, image, hint):
    given = known({INDEX: BOTH, M: manifest("linux/amd64"), NEW: now}, NEW, INDEX, current=NEW)
    judged = proof(running.replace(image=image), given)
    assert judged.verdict == "proven"
    assert judged.moved == hint


def test_without_a_current_answer_there_is_no_hint():
    assert proof(build(f"{NAME}@{INDEX}"), known({INDEX: BOTH}, INDEX)).moved == ""


HEX = "ab" * 32
DIGEST = f"sha256:{HEX}"
NGINX = "docker.io/library/nginx"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(f"{NGINX}@{DIGEST}", ImageId("digest", DIGEST, NGINX), id="containerd"),
        pytest.param(f"nginx@{DIGEST}", ImageId("digest", DIGEST, NGINX), id="short-name"),
        pytest.param(f"registry.example:5000/team/app@{DIGEST}", ImageId("digest", DIGEST, "registry.example:5000/team/app"), id="host-with-port"),
        pytest.param(f"docker-pullable://nginx@{DIGEST}", ImageId("digest", DIGEST, NGINX), id="docker-pullable"),
        pytest.param(f"docker://{DIGEST}", ImageId("image", DIGEST), id="docker-config"),
        pytest.param(DIGEST, ImageId("image", DIGEST), id="bare-config-of-a-loaded-image"),
        pytest.param(HEX, ImageId("image", DIGEST), id="cri-o-after-a-restart"),
        pytest.param(f"docker.io/library/import-2026-03-15@{DIGEST}", ImageId("digest", DIGEST), id="name-that-containerd-makes-up"),
        pytest.param("", ImageId("none"), id="not-started"),
        pytest.param("  ", ImageId("none"), id="blank"),
        pytest.param("nginx:1.27", ImageId("malformed"), id="a-tag-proves-nothing"),
        pytest.param(f"nginx:1.27@{DIGEST}", ImageId("digest", DIGEST, NGINX), id="tag-beside-the-digest"),
        pytest.param("sha256:abc", ImageId("malformed"), id="short-digest"),
        pytest.param(f"nginx@md5:{'a' * 32}", ImageId("malformed"), id="unknown-algorithm"),
        pytest.param("rocket://x", ImageId("malformed"), id="unknown-scheme"),
        pytest.param("</script>" * 200, ImageId("malformed"), id="hostile-and-long"),
        pytest.param(f"{'a' * 1100}@{DIGEST}", ImageId("malformed"), id="too-long"),
    ],
)  # fmt: skip
def test_an_imageid_is_read(text, found):
    assert image_id(text) == found
