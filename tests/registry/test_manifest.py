"""Documents: what they offer, and what makes them refused. Bodies are hostile until proven otherwise."""

import base64
import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archfit.registry.manifest import (
    DOCKER_CONFIG,
    DOCKER_LIST,
    DOCKER_MANIFEST,
    MAX_ENTRIES,
    OCI_ARTIFACT,
    OCI_CONFIG,
    OCI_INDEX,
    OCI_MANIFEST,
    Descriptor,
    Index,
    parse,
    parse_config,
)
from archfit.registry.registry_errors import InvalidManifest
from archfit.registry.resolve_platforms import MAX_NESTING, Offer, resolve_platforms
from fake_registry import FakeRegistry, as_json, descriptor, digest_of, platform_of

TOP = "sha256:" + "0" * 64


class Shelf:
    """Documents that a walk may read, and those it did read."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}
        self.read: list[str] = []

    def put(self, media_type: str, body: bytes, **more: object) -> dict[str, object]:
        self.bodies[digest_of(body)] = body
        return descriptor(media_type, body, **more)

    def image(self, text: str | None, **more: object) -> dict[str, object]:
        """A descriptor without a platform of an image whose config states one."""
        config = self.put(OCI_CONFIG, as_json(platform_of(text) if text else {"created": "x"}))
        return self.put(OCI_MANIFEST, FakeRegistry.manifest(config), **more)

    def __call__(self, kind: str, wanted: Descriptor) -> bytes:
        self.read.append(kind)
        return self.bodies[wanted.digest]

    def offer(self, document: dict[str, Any] | bytes, content_type: str = "") -> Offer:
        body = document if isinstance(document, bytes) else as_json(document)
        return resolve_platforms(parse(body, content_type), TOP, self)


def index(*entries: dict[str, object], **more: object) -> dict[str, object]:
    return {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": list(entries), **more}


def entry(platform: str, **more: object) -> dict[str, object]:
    return descriptor(OCI_MANIFEST, platform.encode(), platform=platform_of(platform), **more)


def names(offer: Offer) -> list[str]:
    return [str(platform) for platform in offer.platforms]


AMD64 = entry("linux/amd64")
ATTESTATION = {"vnd.docker.reference.type": "attestation-manifest"}
SOCI = {"artifactType": "application/vnd.amazon.soci.index.v2+json", "digest": "sha256:" + "5" * 64}


@pytest.mark.parametrize(
    ("entries", "platforms"),
    [
        pytest.param(
            [AMD64, entry("linux/arm64"), entry("unknown/unknown", annotations=ATTESTATION)], ["linux/amd64", "linux/arm64"], id="attestations-are-left-out"
        ),
        pytest.param([AMD64, entry("unknown/unknown", annotations=ATTESTATION)], ["linux/amd64"], id="one-image-and-its-attestation-is-one-architecture"),
        pytest.param([AMD64, entry("linux/s390x", annotations={"vnd.docker.reference.type": "whatever"})], ["linux/amd64"], id="any-reference-type"),
        pytest.param([AMD64, entry("linux/s390x", annotations={"vnd.docker.reference.digest": "x"})], ["linux/amd64"], id="any-reference-digest"),
        pytest.param([AMD64, entry("unknown/s390x")], ["linux/amd64"], id="unknown-os"),
        pytest.param([AMD64, entry("linux/unknown")], ["linux/amd64"], id="unknown-architecture"),
        pytest.param(
            [entry("linux/amd64", artifactType=OCI_CONFIG), entry("linux/arm64", artifactType=OCI_CONFIG)],
            ["linux/amd64", "linux/arm64"],
            id="artifact-type-of-every-entry-as-crane-writes-it",
        ),
        pytest.param([AMD64, entry("linux/s390x", artifactType="a/b")], ["linux/amd64", "linux/s390x"], id="artifact-type-of-one-entry"),
        pytest.param(
            [AMD64, entry("linux/arm64"), {**entry("linux/amd64"), **SOCI}, {**entry("linux/arm64"), **SOCI}],
            ["linux/amd64", "linux/arm64"],
            id="soci-v2-beside-images",
        ),
        pytest.param(
            [{**entry("linux/amd64"), "mediaType": "application/vnd.new"}, AMD64, entry("linux/arm64")],
            ["linux/arm64"],
            id="the-first-of-a-platform-is-taken-and-is-no-image",
        ),
        pytest.param([entry("linux/amd64", annotations=ATTESTATION), entry("linux/x86_64"), entry("linux/arm64")], ["linux/arm64"], id="the-first-in-any-spelling"),
        pytest.param([AMD64, {**entry("linux/s390x"), "platform": {"os": "linux"}}], ["linux/amd64"], id="a-platform-without-architecture-is-none-of-a-node"),
        pytest.param([AMD64, {**entry("linux/s390x"), "platform": {}}], ["linux/amd64"], id="empty-platform"),
        pytest.param(
            [{**entry("linux/amd64"), "platform": {**platform_of("linux/amd64"), "os.features": ["erofs"]}}, entry("linux/arm64")],
            ["linux/amd64/os.features", "linux/arm64"],
            id="os-features-of-linux",
        ),
        pytest.param(
            [{**entry("linux/arm/v7"), "platform": {**platform_of("linux/arm/v7"), "os.features": ["erofs"]}}, entry("linux/arm64")],
            ["linux/arm64"],
            id="os-features-of-32-bit-arm",
        ),
        pytest.param(
            [{**entry("windows/amd64"), "platform": {**platform_of("windows/amd64"), "os.features": ["win32k"]}}, AMD64],
            ["linux/amd64", "windows/amd64"],
            id="win32k",
        ),
        pytest.param(
            [
                {**entry("windows/amd64"), "mediaType": "application/vnd.new", "platform": {**platform_of("windows/amd64"), "os.version": "10.0.17763.1"}},
                {**entry("windows/amd64"), "platform": {**platform_of("windows/amd64"), "os.version": "10.0.20348.1"}},
            ],
            ["windows/amd64"],
            id="the-first-of-each-version-of-windows",
        ),
        pytest.param(
            [entry("linux/amd64/v3"), entry("linux/arm64/v9"), AMD64], ["linux/amd64", "linux/amd64/v3", "linux/arm64/v9"], id="higher-variants-are-facts-too"
        ),
        pytest.param([AMD64, {**entry("linux/s390x"), "mediaType": "application/vnd.new"}], ["linux/amd64"], id="unknown-media-types-are-skipped"),
        pytest.param([AMD64, {"anything": []}], ["linux/amd64"], id="no-media-type"),
        pytest.param(
            [{**entry("windows/amd64"), "platform": {"os": "windows", "architecture": "amd64", "os.version": v}} for v in ("10.0.17763.1", "10.0.20348.1")]
            + [AMD64],
            ["linux/amd64", "windows/amd64"],
            id="windows-versions-collapse",
        ),
        pytest.param(
            [entry("linux/arm/v6"), entry("linux/arm/v7"), entry("linux/arm64/v8"), entry("Linux/x86_64")],
            ["linux/amd64", "linux/arm/v6", "linux/arm/v7", "linux/arm64"],
            id="spellings",
        ),
        pytest.param([entry("linux/aarch64"), entry("linux/arm64"), entry("linux/armhf")], ["linux/arm/v7", "linux/arm64"], id="aliases"),
        pytest.param([AMD64, entry("wasi/wasm")], ["linux/amd64", "wasi/wasm"], id="wasm-is-listed"),
        pytest.param([{**AMD64, "mediaType": DOCKER_MANIFEST}], ["linux/amd64"], id="docker-child-in-oci-index"),
        pytest.param([{**AMD64, "annotations": None}], ["linux/amd64"], id="null-annotations"),
        *(
            pytest.param([AMD64, {**entry("linux/arm64"), "platform": odd}], ["linux/amd64"], id=name)
            for name, odd in (
                ("a-slash-in-the-architecture", {"os": "linux", "architecture": "arm64/v8"}),
                ("an-odd-variant", {"os": "linux", "architecture": "arm64", "variant": "v8.2-a+crypto"}),
                ("blanks-in-the-os", {"os": "Debian GNU/Linux", "architecture": "arm64"}),
            )
        ),
        pytest.param([AMD64, {**entry("unknown/unknown"), "digest": ""}], ["linux/amd64"], id="an-attestation-without-a-digest"),
        pytest.param([{**AMD64, "urls": ["http://169.254.169.254/"]}], ["linux/amd64"], id="urls-are-not-read"),
        pytest.param([{**AMD64, "size": 2**62}], ["linux/amd64"], id="declared-sizes-mean-nothing"),
    ],
)  # fmt: skip
def test_an_index_offers_its_runnable_entries(entries, platforms):
    shelf = Shelf()
    offer = shelf.offer(index(*entries))
    assert (names(offer), offer.index, offer.image, shelf.read) == (platforms, True, True, [])


def test_a_docker_list_is_an_index():
    entries = [{**entry(text), "mediaType": DOCKER_MANIFEST} for text in ("linux/amd64", "linux/arm64")]
    offer = Shelf().offer(index(*entries, mediaType=DOCKER_LIST), DOCKER_LIST)
    assert names(offer) == ["linux/amd64", "linux/arm64"]


@pytest.mark.parametrize(
    ("content_type", "stated"),
    [
        pytest.param(OCI_INDEX, OCI_INDEX, id="both"),
        pytest.param(f"{OCI_INDEX}; charset=utf-8", OCI_INDEX, id="parameters"),
        pytest.param(OCI_INDEX.upper(), OCI_INDEX, id="case"),
        pytest.param("", OCI_INDEX, id="no-content-type"),
        pytest.param("application/octet-stream", OCI_INDEX, id="generic"),
        pytest.param("text/plain", OCI_INDEX, id="text"),
        pytest.param(OCI_INDEX, None, id="no-media-type-in-the-body"),
        pytest.param("application/json", None, id="decided-by-the-fields"),
        pytest.param(DOCKER_LIST, OCI_INDEX, id="a-cache-says-docker"),
        pytest.param(OCI_INDEX, DOCKER_LIST, id="a-cache-says-oci"),
    ],
)
def test_the_kind_is_known_from_header_or_body(content_type, stated):
    assert isinstance(parse(as_json({**index(AMD64), "mediaType": stated}), content_type), Index)


def test_only_the_first_entry_without_platform_is_read_as_runtimes_do():
    shelf = Shelf()
    children = [shelf.image(f"linux/a{number}") for number in range(MAX_ENTRIES)]
    assert names(shelf.offer(index(*children))) == ["linux/a0"]
    assert shelf.read == ["manifests", "blobs"]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param({"annotations": ATTESTATION}, id="attestation"),
        pytest.param({"mediaType": "application/vnd.new"}, id="media-type"),
    ],
)
def test_nor_is_one_read_behind_something_else_without_platform(first):
    shelf = Shelf()
    other = {**descriptor(OCI_MANIFEST, b"other"), **first}
    assert names(shelf.offer(index(AMD64, other, shelf.image("linux/arm64")))) == ["linux/amd64"]
    assert shelf.read == []


@pytest.mark.parametrize(
    "child",
    [
        pytest.param("application/vnd.oci.empty.v1+json", id="artifact"),
        pytest.param(OCI_CONFIG, id="no-architecture"),
    ],
)
def test_an_entry_without_platform_that_is_no_image_does_not_count(child):
    shelf = Shelf()
    config = shelf.put(child, b"{}")
    document = index(AMD64, shelf.put(OCI_MANIFEST, FakeRegistry.manifest(config)))
    assert names(shelf.offer(document)) == ["linux/amd64"]


def nested(shelf: Shelf, depth: int) -> dict[str, object]:
    document = index(AMD64, entry(f"linux/depth{depth}"))
    for _ in range(depth - 1):
        document = index(shelf.put(OCI_INDEX, as_json(document)))
    return document


def test_nested_indexes_are_followed():
    shelf = Shelf()
    assert names(shelf.offer(nested(shelf, MAX_NESTING))) == ["linux/amd64", f"linux/depth{MAX_NESTING}"]


def test_but_not_for_ever():
    shelf = Shelf()
    with pytest.raises(InvalidManifest, match="nested more than"):
        shelf.offer(nested(shelf, MAX_NESTING + 1))


def test_an_index_that_names_itself_ends():
    shelf = Shelf()
    itself = {"mediaType": OCI_INDEX, "digest": TOP, "size": 3}
    assert names(shelf.offer(index(itself, AMD64))) == ["linux/amd64"]
    assert shelf.read == []


@pytest.mark.parametrize("config", [OCI_CONFIG, DOCKER_CONFIG])
def test_a_single_manifest_reads_its_config(config):
    shelf = Shelf()
    body = as_json({"os": "linux", "architecture": "arm", "variant": "v6"})
    offer = shelf.offer(FakeRegistry.manifest(shelf.put(config, body)))
    assert (names(offer), offer.index, offer.image, shelf.read) == (["linux/arm/v6"], False, True, ["blobs"])


CONFIG = as_json({"os": "linux", "architecture": "arm64"})
EMBEDDED = {**descriptor(OCI_CONFIG, CONFIG), "data": base64.b64encode(CONFIG).decode()}
OTHER = base64.b64encode(b'{"os": "linux", "architecture": "amd64"}').decode()


@pytest.mark.parametrize(
    ("config", "read"),
    [
        pytest.param(EMBEDDED, [], id="matches"),
        pytest.param({**EMBEDDED, "data": OTHER}, ["blobs"], id="wrong-digest"),
        pytest.param({**EMBEDDED, "size": 5}, ["blobs"], id="wrong-size"),
        pytest.param({**EMBEDDED, "data": "%%%"}, ["blobs"], id="no-base64"),
        pytest.param({**EMBEDDED, "data": ""}, ["blobs"], id="empty"),
    ],
)
def test_embedded_data_saves_the_request_when_it_matches(config, read):
    shelf = Shelf()
    shelf.put(OCI_CONFIG, CONFIG)
    assert names(shelf.offer(FakeRegistry.manifest(config))) == ["linux/arm64"]
    assert shelf.read == read


SIGNATURE = [descriptor("application/vnd.dev.cosign.simplesigning.v1+json", b"s")]
IN_TOTO = [descriptor("application/vnd.in-toto+json", b"s")]


@pytest.mark.parametrize(
    ("config", "more"),
    [
        pytest.param("application/vnd.cncf.helm.config.v1+json", {}, id="helm-chart"),
        pytest.param("application/vnd.oci.empty.v1+json", {"artifactType": "a/b"}, id="empty-config"),
        pytest.param(OCI_CONFIG, {"layers": SIGNATURE}, id="cosign-signature"),
        pytest.param(OCI_CONFIG, {"layers": IN_TOTO}, id="attestation"),
        pytest.param("application/vnd.wasm.config.v0+json", {}, id="wasm-component"),
    ],
)
def test_what_is_no_image_offers_nothing_and_is_not_read(config, more):
    shelf = Shelf()
    offer = shelf.offer(FakeRegistry.manifest(descriptor(config, b"{}"), **more))
    assert (offer.platforms, offer.index, offer.image, shelf.read) == ((), False, False, [])


def test_a_bundle_of_olm_is_no_image_by_its_labels():
    """It holds files that OLM unpacks on any node, whatever its config says."""
    labels = {"operators.operatorframework.io.bundle.mediatype.v1": "registry+v1"}
    for stated, image in ((labels, False), ({"operators.example/bundle": "a"}, True)):
        shelf = Shelf()
        config = {"os": "linux", "architecture": "amd64", "config": {"Labels": stated}}
        offer = shelf.offer(FakeRegistry.manifest(shelf.put(OCI_CONFIG, as_json(config))))
        assert (offer.index, offer.image, bool(offer.platforms)) == (False, image, image)


def test_an_oci_artifact_manifest_is_no_image():
    offer = Shelf().offer({"mediaType": OCI_ARTIFACT, "artifactType": "a/b", "blobs": []}, OCI_ARTIFACT)
    assert not offer.image


def test_an_index_that_declares_itself_an_artifact_is_no_image():
    offer = Shelf().offer(index(artifactType="application/vnd.example"))
    assert (offer.platforms, offer.index, offer.image) == ((), True, False)


@pytest.mark.parametrize("config", [{}, {"os": "linux"}, {"os": "linux", "architecture": ""}], ids=str)
def test_a_config_without_architecture_is_an_error_not_amd64(config):
    shelf = Shelf()
    with pytest.raises(InvalidManifest, match="names no architecture"):
        shelf.offer(FakeRegistry.manifest(shelf.put(OCI_CONFIG, as_json(config))))


LAYERS = [descriptor("application/vnd.oci.image.layer.v1.tar", b"l")]
GOOD = descriptor(OCI_CONFIG, b"c")


@pytest.mark.parametrize(
    ("body", "content_type", "why"),
    [
        pytest.param(index(AMD64), DOCKER_MANIFEST, "but the registry announced", id="classes-differ"),
        pytest.param(index(AMD64), OCI_ARTIFACT, "but the registry announced", id="an-artifact-is-announced"),
        pytest.param(index(AMD64, config=GOOD), "", "fields of an index and those of a manifest", id="config-beside-manifests"),
        pytest.param(index(AMD64, layers=LAYERS), "", "fields of an index and", id="layers-beside-manifests"),
        pytest.param({"schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": GOOD, "layers": [], "manifests": []}, "", "fields of", id="manifests-in-a-manifest"),
        pytest.param(
            {"schemaVersion": 1, "fsLayers": [], "architecture": "amd64"},
            "application/vnd.docker.distribution.manifest.v1+prettyjws",
            "schema 1",
            id="schema-1",
        ),
        pytest.param({"schemaVersion": 1, "architecture": "amd64"}, "text/plain", "schema 1", id="schema-1-as-text"),
        pytest.param(index(entry("unknown/unknown")), "", "none of whose entries", id="nothing-counts"),
        pytest.param(index(), "", "none of whose entries", id="empty-index"),
        pytest.param(b"<html>please log in</html>", "text/html", "is a web page", id="web-page"),
        pytest.param(b"", "", "not valid JSON", id="empty"),
        pytest.param(b"\xff\xfe", "", "not valid JSON", id="no-utf-8"),
        pytest.param(b"[]", "", "not an object", id="list"),
        pytest.param(b"null", "", "not an object", id="null"),
        pytest.param(b'{"a": NaN}', "", "NaN", id="nan"),
        pytest.param(b'{"a": ' + b"9" * 10_000 + b"}", "", "without a config", id="a-huge-number-is-one"),
        pytest.param(b'{"manifests": [], "manifests": []}', "", "same key twice", id="key-twice"),
        pytest.param(b'{"a":' * 40 + b"1" + b"}" * 40, "", "nested more than", id="deep"),
        pytest.param(b"[" * 500_000, "", "more than 200000 values", id="more-values-than-an-image-needs"),
        pytest.param(b"[" * 100_000, "", "nested too deeply", id="very-deep"),
        pytest.param(b'{"a":' * 100_000, "", "nested too deeply", id="very-deep-objects"),
        pytest.param(index(*[{}] * (MAX_ENTRIES + 1)), "", f"at most {MAX_ENTRIES}", id="entries"),
        pytest.param(index(manifests={}), "", "without a list", id="manifests-type"),
        pytest.param(index("x"), "", "not an object", id="entry-type"),
        pytest.param(index({**AMD64, "digest": "sha256:../../etc"}), "", "malformed digest", id="digest"),
        pytest.param(index({**AMD64, "digest": None}), "", "malformed digest", id="no-digest"),
        pytest.param(index({**AMD64, "size": -1}), "", "malformed size", id="negative-size"),
        pytest.param(index({**AMD64, "size": True}), "", "malformed size", id="boolean-size"),
        pytest.param(index({**AMD64, "size": "5"}), "", "malformed size", id="string-size"),
        pytest.param(index({**AMD64, "data": 5}), "", "data that is not a string", id="data-type"),
        pytest.param(index({**AMD64, "annotations": ["x"]}), "", "annotations are not an object", id="annotations-type"),
        pytest.param(index({**AMD64, "platform": "linux/amd64"}), "", "platform that is not an object", id="platform-type"),
        pytest.param(index({**AMD64, "platform": {"os": 5, "architecture": "amd64"}}), "", "malformed platform", id="platform-word-type"),
        pytest.param({"mediaType": 5}, "", "mediaType is not a string", id="media-type-type"),
        pytest.param({"mediaType": "application/vnd.new"}, "", "not that of an image", id="unknown-type"),
        pytest.param({"mediaType": OCI_MANIFEST}, "", "without a config", id="no-config"),
        pytest.param({"mediaType": OCI_MANIFEST, "config": []}, "", "without a config", id="config-type"),
        pytest.param({"mediaType": OCI_MANIFEST, "config": GOOD, "layers": {}}, "", "layers are not a list", id="layers-type"),
        pytest.param({"mediaType": OCI_MANIFEST, "config": GOOD, "layers": [5]}, "", "layers are not a list", id="layer-type"),
        pytest.param({"mediaType": OCI_MANIFEST, "config": {**GOOD, "mediaType": None}}, "", "no media type", id="config-without-type"),
        pytest.param({}, "", "without a config", id="empty-object"),
    ],
)  # fmt: skip
def test_what_is_refused_says_why(body, content_type, why):
    with pytest.raises(InvalidManifest) as caught:
        Shelf().offer(body, content_type)
    assert why in str(caught.value)
    assert len(str(caught.value)) < 400


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("ab:/\x00é", max_size=8),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(st.text("ab:/\x00é", max_size=8), children, max_size=4)
    ),
    max_leaves=6,
)
KEYS = [
    "schemaVersion", "mediaType", "manifests", "config", "layers", "annotations", "platform", "digest", "size",
    "data", "os", "architecture", "variant", "artifactType",
]  # fmt: skip


@given(
    st.dictionaries(
        st.sampled_from(KEYS),
        json_values | st.lists(st.dictionaries(st.sampled_from(KEYS), json_values, max_size=6), max_size=3),
    ),
    st.sampled_from(["", OCI_INDEX, OCI_MANIFEST]),
)
def test_nothing_but_invalid_manifest_is_ever_raised(document, content_type):
    body = json.dumps(document).encode()
    for read in (lambda: parse(body, content_type), lambda: parse_config(body)):
        with contextlib.suppress(InvalidManifest):
            read()


@given(st.binary(max_size=200))
def test_nor_for_any_bytes(body):
    with pytest.raises(InvalidManifest):
        parse(body)
