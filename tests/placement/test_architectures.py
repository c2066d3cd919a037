"""S(os): what images offer, what restricts and what does not."""

import pytest

from archfit.images.platforms import Found, Platform
from archfit.options.settings import Options
from archfit.placement.evidence import offered, removed, supported
from archfit.workloads.pods import ImageUse
from pod_decisions import decided, found, in_, one, term, terms_of, using

USE = ImageUse(("spec", "containers", 0, "image"), "app:1")
VOLUME = ImageUse(("spec", "volumes", 0, "image", "reference"), "data:1", volume=True)


@pytest.mark.parametrize(
    ("platforms", "os", "architectures"),
    [
        pytest.param("amd64 arm64", "linux", {"amd64", "arm64"}, id="plain"),
        pytest.param("arm/v6 arm/v7 arm64/v8", "linux", {"arm", "arm64"}, id="variants-fold-to-the-label"),
        pytest.param("amd64/v3 arm64", "linux", {"arm64"}, id="no-baseline-node-takes-amd64-v3"),
        pytest.param("amd64/v1 arm64/v8", "linux", {"amd64", "arm64"}, id="the-baseline-may-be-spelt-out"),
        pytest.param("amd64 amd64/v2 amd64/v3", "linux", {"amd64"}, id="higher-variants-beside-the-baseline"),
        pytest.param("arm64/v9 amd64", "linux", {"amd64"}, id="nor-arm64-v9"),
        pytest.param("s390x/z15 ppc64le", "linux", {"ppc64le"}, id="nor-a-variant-of-anything-else"),
        pytest.param("arm/v8", "linux", {"arm"}, id="any-variant-of-arm"),
        pytest.param("386", "linux", {"386", "amd64"}, id="386-runs-on-amd64"),
        pytest.param("windows/386", "windows", {"386"}, id="386-of-windows-does-not"),
        pytest.param("386 arm64", "windows", set(), id="386-of-another-os"),
        pytest.param("arm/v7", "linux", {"arm"}, id="arm-is-not-arm64"),
        pytest.param("amd64 windows/arm64", "linux", {"amd64"}, id="other-os-is-not-counted"),
        pytest.param("amd64 windows/arm64", "windows", {"arm64"}, id="windows"),
        pytest.param("wasip1/wasm", "linux", None, id="wasm-restricts-nothing"),
        pytest.param("wasi/amd64", "linux", None, id="wasi-restricts-nothing"),
        pytest.param("amd64 wasi/wasm32", "linux", {"amd64"}, id="wasm-beside-native-does-not-count"),
        pytest.param("wasip1/wasm wasi/wasm32", "linux", None, id="several-of-wasm-restrict-nothing"),
        pytest.param("windows/amd64 wasi/wasm", "linux", set(), id="wasm-beside-another-os-does-not-count"),
        pytest.param("", "linux", set(), id="no-platform-offers-nothing"),
    ],
)
def test_offered(platforms, os, architectures):
    assert offered(USE, found(platforms), os) == architectures


@pytest.mark.parametrize(
    ("use", "answer", "architectures"),
    [
        pytest.param(VOLUME, found("amd64"), {"amd64"}, id="volume-of-an-index-restricts"),
        pytest.param(VOLUME, found("amd64", index=False), None, id="volume-of-a-manifest-restricts-nothing"),
        pytest.param(USE, found("amd64", index=False), {"amd64"}, id="container-of-a-manifest-restricts"),
        pytest.param(USE, found("", image=False), None, id="artifact"),
        pytest.param(VOLUME, found("", image=False), None, id="artifact-as-volume"),
    ],
)
def test_volumes_and_artifacts(use, answer, architectures):
    assert offered(use, answer, "linux") == architectures


@pytest.mark.parametrize("platform", ["amd64/v3", "arm64/v9", "s390x/z15", "arm/v6", "amd64"])
def test_a_single_manifest_counts_whatever_its_variant(platform):
    assert offered(USE, found(platform, index=False), "linux") == {platform.split("/", maxsplit=1)[0]}


def test_no_image_restricts():
    assert supported([(VOLUME, found("amd64", index=False))], "linux") is None
    assert supported([], "linux") is None


def test_removed_names_each_image_once():
    images = [(USE, found("amd64")), (USE, found("amd64")), (VOLUME, found("arm64"))]
    assert [
        (one.architecture, one.images) for one in removed(images, "linux", ("arm64", "amd64", "s390x"))
    ] == [
        ("amd64", ("data:1",)),
        ("arm64", ("app:1",)),
        ("s390x", ("app:1", "data:1")),
    ]


def test_spelling_of_platforms_is_normalised_by_who_answers():
    assert offered(USE, Found((Platform("linux", "amd64"),)), "linux") == {"amd64"}


def test_386_keeps_a_pod_on_amd64():
    assert terms_of(one("386").spec) == [term(in_("amd64"))]
    assert terms_of(one("386", Options(cluster_architectures=("386", "amd64"))).spec) is None


@pytest.mark.parametrize(
    ("volume", "terms"),
    [
        pytest.param(found("amd64"), [term(in_("amd64"))], id="index"),
        pytest.param(found("amd64", index=False), None, id="manifest"),
        pytest.param(found("", image=False), None, id="artifact"),
    ],
)
def test_image_volumes(volume, terms):
    spec = {**using("app:1"), "volumes": [{"name": "v", "image": {"reference": "data:1"}}, {"name": "w"}]}
    assert terms_of(decided(spec, {"app:1": "amd64 arm64", "data:1": volume}).spec) == terms


def test_wasm_beside_an_image_that_restricts():
    outcome = decided(using("a", "w"), {"a": "amd64", "w": "wasi/wasm"})
    assert terms_of(outcome.spec) == [term(in_("amd64"))]
    assert outcome.decision.removed[0].images == ("a",)


def test_no_image_restricts_and_the_decision_says_so():
    decision = one("wasi/wasm").decision
    assert decision.supported is None
    assert decision.reachable == ("amd64", "arm64")
