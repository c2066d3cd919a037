"""Entries that do not count as they stand: what becomes of the pod, and what is said."""

from typing import Any

import pytest

from archfit.base.results import Location
from archfit.images.platforms import Found, ImagePlatforms, parse_platform
from archfit.options.settings import Options
from archfit.pipeline import transform
from archfit.placement.requirement import judge
from archfit.placement.selection import pod_options
from archfit.yaml.stream import split
from pod_decisions import GKE, Outcome, a_pod, answers, decided, found, in_, one, term, terms_of, using

RUNTIME = {"runtimeClassName": "wasmtime"}
EVERYWHERE = "amd64 arm64"
FOUR = Options(cluster_architectures=("386", "amd64", "arm", "arm64"))


def about(outcome: Outcome, severity: str) -> list[str]:
    return [result.text for result in outcome.decision.messages if result.severity == severity]


@pytest.mark.parametrize(
    "platforms", ["amd64 arm64", "amd64 arm64 amd64/v3", "amd64 386 arm64 arm/v5 arm/v7"]
)
def test_what_runs_everywhere_is_not_talked_about(platforms):
    outcome = one(platforms)
    assert outcome.added == {"tolerations": [GKE]}
    assert outcome.messages == []


# WebAssembly


@pytest.mark.parametrize(
    ("platforms", "spec", "added"),
    [
        pytest.param("amd64 wasi/wasm", {}, {"amd64"}, id="the-native-entry-runs"),
        pytest.param("amd64 arm64 wasi/wasm", {}, None, id="native-entries-for-all"),
        pytest.param("amd64 wasi/wasm", RUNTIME, None, id="a-runtime-class-runs-wasm"),
        pytest.param("amd64 wasi/wasm", {"runtimeClassName": ""}, {"amd64"}, id="an-empty-name-is-none"),
        pytest.param(
            "amd64 wasi/wasm", {"runtimeClassName": "nvidia"}, {"amd64"}, id="nvidia-runs-native-code"
        ),
        pytest.param("amd64 wasi/wasm", {"runtimeClassName": "gvisor"}, {"amd64"}, id="gvisor-does"),
        pytest.param("amd64 wasi/wasm", {"runtimeClassName": "kata-qemu"}, {"amd64"}, id="kata-does"),
        pytest.param("amd64 wasi/wasm", {"runtimeClassName": "Spin-V2"}, None, id="spin-runs-wasm"),
        pytest.param("wasi/wasm", {}, None, id="wasm-alone-restricts-nothing"),
        pytest.param("amd64", RUNTIME, {"amd64"}, id="a-runtime-class-alone-changes-nothing"),
    ],
)
def test_wasm(platforms, spec, added):
    outcome = one(platforms, **spec) if spec else one(platforms)
    assert terms_of(outcome.spec) == ([term(in_(*added))] if added else None)
    assert ("tolerations" in outcome.spec) is (added is None)
    assert outcome.messages == []


def test_the_handler_of_a_runtime_class_in_the_stream_counts():
    """Its name may be anything."""
    pod = (
        b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
        b"spec: {runtimeClassName: x, containers: [{name: a, image: r/a}]}\n"
    )
    runtime = b"---\napiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: x}\nhandler: %s\n"

    def narrowed(data: bytes) -> bool:
        done = transform(
            data, split(data), Options(), lambda texts: {text: found("amd64 wasi/wasm") for text in texts}
        )
        return any(decision.patch for _, decision in done.decisions)

    assert narrowed(pod)
    assert narrowed(pod + runtime % b"runc")
    assert not narrowed(pod + runtime % b"wasmtime")


def test_wasm_counts_for_the_pod_that_names_a_runtime_class_and_for_no_other():
    images = {"w": "amd64 wasi/wasm", "b": EVERYWHERE}
    assert terms_of(decided(using("w", "b"), images).spec) == [term(in_("amd64"))]
    assert terms_of(decided({**using("w", "b"), **RUNTIME}, images).spec) is None


# Variants


def test_an_index_with_only_a_higher_variant_is_not_understood():
    outcome = one("amd64/v3")
    assert (outcome.name, outcome.added) == ("Unresolved", {})
    assert outcome.messages == [
        "error: app:1: its platforms are not known: no entry of its index counts (linux/amd64/v3), as no runtime takes "
        "an entry of a higher variant on a node that is not set up for it; if your nodes take it, state "
        "--image-platforms 'docker.io/library/app=linux/amd64', or choose --on-unknown assume or leave"
    ]


@pytest.mark.parametrize(
    ("options", "name", "added"),
    [
        pytest.param(Options(on_unknown="leave"), "Unresolved", None, id="leave"),
        pytest.param(
            Options(on_unknown="assume", assume=(parse_platform("linux/amd64"),)),
            "Change",
            ["amd64"],
            id="assume",
        ),
    ],
)
def test_and_the_policy_for_unknown_images_applies(options, name, added):
    outcome = one("amd64/v3", options)
    assert outcome.name == name
    assert terms_of(outcome.spec) == ([term(in_(*added))] if added else None)
    assert not about(outcome, "error")


def test_beside_other_entries_it_is_a_warning_that_names_the_way_out():
    outcome = one("amd64/v2 amd64/v3 arm64 arm/v7")
    assert terms_of(outcome.spec) == [term(in_("arm64"))]
    assert about(outcome, "warning") == [
        "app:1: linux/amd64/v2, linux/amd64/v3 does not count for amd64, as no runtime takes an entry of a higher "
        "variant on a node that is not set up for it; if your nodes take it, state --image-platforms "
        "'docker.io/library/app=linux/amd64,linux/arm/v7,linux/arm64'"
    ]
    assert outcome.decision.messages[0].field == "spec.template.spec.containers[0].image"
    assert outcome.decision.messages[0].location == Location(1, 1)


def test_following_the_advice_ends_it():
    rows = (
        ImagePlatforms("docker.io/library/app", tuple(map(parse_platform, ("linux/amd64", "linux/arm64")))),
    )
    outcome = decided(
        using("app:1"), {"app:1": Found(rows[0].platforms, origin="override")}, Options(image_platforms=rows)
    )
    assert outcome.added == {"tolerations": [GKE]}
    assert not about(outcome, "warning")


def test_variants_of_architectures_that_the_cluster_lacks_are_not_talked_about():
    assert one("amd64 arm64 riscv64/rva23").messages == []
    assert about(one("amd64 riscv64/rva23", Options(cluster_architectures=("amd64", "riscv64"))), "warning")


@pytest.mark.parametrize("origin", ["cache", "lock", "registry"])
def test_what_was_stored_earlier_is_judged_the_same(origin):
    outcome = decided(using("app:1"), {"app:1": found("amd64/v3 arm64", origin=origin)})
    assert terms_of(outcome.spec) == [term(in_("arm64"))]


@pytest.mark.parametrize(
    ("stated", "architectures"),
    [
        pytest.param("amd64/v3 arm64", ["arm64"], id="beside-another"),
        pytest.param("amd64/v3", None, id="alone"),
    ],
)
def test_stated_platforms_count_like_entries(stated, architectures):
    outcome = decided(using("app:1"), {"app:1": found(stated, origin="override", digest="")})
    assert terms_of(outcome.spec) == ([term(in_(*architectures))] if architectures else None)
    (said,) = about(outcome, "warning" if architectures else "error")
    assert "linux/amd64/v3" in said
    plain = "linux/amd64,linux/arm64" if architectures else "linux/amd64"
    assert f"if your nodes take it, state {plain} instead (--image-platforms or archfit.dev/image-p" in said


def test_stated_by_annotation_of_a_placeholder():
    notes = {"annotations": {"archfit.dev/image-platforms": "linux/amd64/v3,linux/arm64"}}
    outcome = decided(using("$(image)"), {}, metadata=notes)
    assert terms_of(outcome.spec) == [term(in_("arm64"))]
    assert "state linux/amd64,linux/arm64 instead" in about(outcome, "warning")[0]


@pytest.mark.parametrize("on_unknown", ["leave", "assume"])
def test_no_policy_for_unknown_images_applies_to_what_is_stated(on_unknown):
    options = Options(on_unknown=on_unknown, assume=(parse_platform("linux/amd64"),))
    outcome = decided(using("app:1"), {"app:1": found("amd64/v3", origin="override")}, options)
    assert (outcome.name, len(about(outcome, "error"))) == ("Unresolved", 1)


def test_nor_does_assume_of_what_does_not_count():
    options = Options(on_unknown="assume", assume=(parse_platform("linux/amd64/v3"),))
    (said,) = about(one("arm64/v9", options), "error")
    assert said.endswith("if your nodes take it, write --assume linux/amd64")


def test_a_single_manifest_of_a_higher_variant_counts_with_a_warning():
    outcome = decided(using("app:1"), {"app:1": found("amd64/v3", index=False)})
    assert terms_of(outcome.spec) == [term(in_("amd64"))]
    assert about(outcome, "warning") == [
        "app:1: it is built for linux/amd64/v3, and is pulled by nodes that lack v3 too; keep it off them with a "
        "nodeSelector, or if your nodes take it, state --image-platforms 'docker.io/library/app=linux/amd64'"
    ]


def test_single_manifests_of_the_baseline_are_not_talked_about():
    for platform in ("amd64", "arm64/v8", "arm/v6", "386"):
        outcome = decided(using("app:1"), {"app:1": found(platform, index=False)}, FOUR)
        assert outcome.messages == []


def test_an_image_volume_of_a_manifest_has_no_variant_to_speak_of():
    spec = {**using("app:1"), "volumes": [{"name": "v", "image": {"reference": "data:1"}}]}
    images: dict[str, Any] = {"app:1": EVERYWHERE, "data:1": found("amd64/v3", index=False)}
    assert decided(spec, images).messages == []
    images["data:1"] = found("amd64/v3")
    assert decided(spec, images).name == "Unresolved"


# 386


@pytest.mark.parametrize("platforms", ["386", "386 amd64/v3", "386 arm64"])
def test_amd64_by_386_alone_is_a_warning(platforms):
    outcome = one(platforms)
    (said,) = about(outcome, "warning")
    assert said.startswith("app:1: it counts for amd64 by linux/386 alone, which CRI-O does not take")
    assert said.endswith("linux/amd64'" if "arm64" not in platforms else "linux/amd64,linux/arm64'")


def test_386_without_amd64_nodes_is_not_talked_about():
    assert one("386 arm64", Options(cluster_architectures=("arm64",))).messages == []


# The same images before `check --require`


@pytest.mark.parametrize(
    ("platforms", "spec", "lacks", "severities"),
    [
        pytest.param("amd64 arm64/v9", {}, 1, ["warning"], id="variant"),
        pytest.param("arm64/v9", {}, 0, [], id="nothing-counts"),
        pytest.param("amd64 wasi/wasm", {}, 1, [], id="wasm-beside-native"),
        pytest.param("amd64 wasi/wasm", RUNTIME, 0, [], id="wasm-with-a-runtime-class"),
    ],
)
def test_require(platforms, spec, lacks, severities):
    pod = a_pod({**using("app:1"), **spec})
    verdict = judge(
        pod,
        pod_options(pod, Options()),
        answers({"app:1": platforms}),
        Options(),
        (parse_platform("linux/arm64"),),
    )
    assert len(verdict.lacks) == lacks
    assert [one.reason for one in verdict.unknown] == (["no answer"] if platforms == "arm64/v9" else [])
    assert [result.severity for result in verdict.messages] == severities


@pytest.mark.parametrize(
    ("image", "change", "warned"),
    [
        pytest.param("amd64", {}, True, id="it counts nodes that the affinity shuts out"),
        pytest.param("amd64", {"nodeAffinityPolicy": "Honor"}, False, id="noop-honoured"),
        pytest.param("amd64", {"whenUnsatisfiable": "ScheduleAnyway"}, False, id="noop-no-demand"),
        pytest.param(EVERYWHERE, {}, False, id="noop-nothing-is-narrowed"),
    ],
)
def test_a_spread_that_ignores_affinity_is_warned_of(image, change, warned):
    zones = {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "nodeAffinityPolicy": "Ignore"}
    warnings = about(one(image, topologySpreadConstraints=[{**zones, **change}]), "warning")
    said = "nodeAffinityPolicy: Ignore counts every zone as a domain"
    assert [said in warning for warning in warnings] == [True] * warned
