"""The placement cases of eleven peers, re-expressed; ids name the peer, and where we differ from it.

A = amd64, R = arm64, AR = both, F = the four architectures of the peers' test images. Case 5 is in
test_images, cases 30 to 35 are in test_prefer; case 45 needs the network and cannot run here.
"""

from __future__ import annotations

from typing import Any

import pytest

from archfit.images.platforms import Absent, Unknown
from archfit.options.option_entries import Exclude, Match, Rule
from archfit.options.settings import Options, Toleration, TolerationRule
from pod_decisions import (
    ARCH,
    BETA,
    DEFAULT,
    GKE,
    decided,
    in_,
    one,
    requiring,
    term,
    terms_of,
    using,
)

A, R, AR = "amd64", "arm64", "amd64 arm64"
F = "amd64 arm64 ppc64le s390x"
C4 = Options(cluster_architectures=("amd64", "arm64", "ppc64le", "s390x"))
ALWAYS = Options(affinity="always")


def two(first: str, second: str, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return {**using("a:1", "b:1"), **fields}, {"a:1": first, "b:1": second}


@pytest.mark.parametrize(
    ("platforms", "options", "terms", "tolerated"),
    [
        pytest.param(AR, DEFAULT, None, True, id="mto-differs-all-of-the-cluster-needs-no-affinity"),
        pytest.param(AR, ALWAYS, [term(in_("amd64", "arm64"))], True, id="mto-affinity-always"),
        pytest.param(R, DEFAULT, [term(in_("arm64"))], True, id="mto-one-architecture"),
        pytest.param(A, DEFAULT, [term(in_("amd64"))], False, id="mto-the-other"),
        pytest.param(
            AR, C4, [term(in_("amd64", "arm64"))], True, id="skaffold-differs-one-sorted-list-of-values"
        ),
    ],
)
def test_a_pod_without_affinity(platforms: str, options: Options, terms: object, *, tolerated: bool) -> None:
    outcome = one(platforms, options)
    assert terms_of(outcome.spec) == terms
    assert outcome.spec.get("tolerations") == ([GKE] if tolerated else None)


@pytest.mark.parametrize(
    ("spec", "images", "terms"),
    [
        pytest.param(using("a", "b"), {"a": AR, "b": R}, [term(in_("arm64"))], id="mto-two-containers"),
        pytest.param(
            {**using("a"), "initContainers": [{"image": "b"}]},
            {"a": AR, "b": F},
            None,
            id="mto-differs-init-container-with-more-takes-nothing-away",
        ),
        pytest.param(using("a", "a"), {"a": A}, [term(in_("amd64"))], id="mto-duplicate-image"),
        pytest.param(using("u", "al"), {"u": AR, "al": R}, [term(in_("arm64"))], id="noe-intersection"),
        pytest.param(
            {**using("u", "al"), "initContainers": [{"image": "n"}]},
            {"n": A, "u": AR, "al": A},
            [term(in_("amd64"))],
            id="noe-init-container-counts",
        ),
        pytest.param(
            using("", "b"), {"b": A}, [term(in_("amd64"))], id="noe-empty-image-skipped-others-decide"
        ),
        pytest.param(
            using("a", "b"),
            {"a": AR, "b": "arm64 freebsd/arm"},
            [term(in_("arm64"))],
            id="skaffold-other-os-is-not-counted",
        ),
    ],
)
def test_several_images(spec: dict[str, Any], images: dict[str, Any], terms: object) -> None:
    assert terms_of(decided(spec, images).spec) == terms


FOO, BAZ = ("foo", "In", ["bar"]), ("baz", "In", ["foo"])


@pytest.mark.parametrize(
    ("platforms", "options", "before", "after"),
    [
        pytest.param(
            AR,
            C4,
            [term(FOO), term(BAZ)],
            [term(FOO, in_("amd64", "arm64")), term(BAZ, in_("amd64", "arm64"))],
            id="mto-appended-to-both-terms",
        ),
        pytest.param(
            AR, DEFAULT, [term(FOO), term(BAZ)], None, id="mto-differs-all-of-the-cluster-needs-none"
        ),
        pytest.param(
            AR,
            C4,
            [term(FOO, in_("s390x")), term(BAZ)],
            [term(FOO, in_("s390x"), in_("amd64", "arm64")), term(BAZ, in_("amd64", "arm64"))],
            id="mto-differs-a-term-that-names-an-unsupported-architecture-is-closed",
        ),
        pytest.param(
            AR,
            C4,
            [term(FOO, in_("arm64")), term(BAZ)],
            [term(FOO, in_("arm64")), term(BAZ, in_("amd64", "arm64"))],
            id="mto-differs-from-noe-and-skaffold-only-the-wide-term-is-completed",
        ),
        pytest.param(
            F,
            C4.replace(cluster_architectures=(*C4.cluster_architectures, "riscv64")),
            [term(in_("arm64")), term(("kubernetes.io/hostname", "Exists"))],
            [
                term(in_("arm64")),
                term(("kubernetes.io/hostname", "Exists"), in_("amd64", "arm64", "ppc64le", "s390x")),
            ],
            id="mto-only-the-hostname-term",
        ),
        pytest.param(
            A,
            DEFAULT,
            [{"matchExpressions": []}, term(FOO)],
            [{"matchExpressions": []}, term(FOO, in_("amd64"))],
            id="mto-differs-empty-term-matches-nothing",
        ),
        pytest.param(
            A,
            DEFAULT,
            [{"matchExpressions": None}, term(FOO)],
            [{"matchExpressions": None}, term(FOO, in_("amd64"))],
            id="mto-differs-null-term-matches-nothing",
        ),
        pytest.param(
            AR, DEFAULT, [term((ARCH, "Exists")), term(in_("arm64"))], None, id="mto-arch-in-every-term"
        ),
        pytest.param(
            A,
            DEFAULT,
            [term((ARCH, "Exists"))],
            [term((ARCH, "Exists"), in_("amd64"))],
            id="mto-differs-any-arch-expression-is-narrowed-where-it-is-too-wide",
        ),
        pytest.param(
            A,
            DEFAULT,
            [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}],
            [
                {
                    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
                    **term(in_("amd64")),
                }
            ],
            id="noe-differs-a-node-by-name-may-have-any-architecture",
        ),
        pytest.param(
            AR,
            DEFAULT,
            [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}],
            None,
            id="noe-match-fields-unchanged",
        ),
        pytest.param(
            AR,
            C4,
            [term(("foo1", "Exists")), term(("foo2", "Exists"))],
            [
                term(("foo1", "Exists"), in_("amd64", "arm64")),
                term(("foo2", "Exists"), in_("amd64", "arm64")),
            ],
            id="skaffold-differs-two-terms-with-both-values-instead-of-four",
        ),
    ],
)
def test_existing_terms(platforms: str, options: Options, before: list[Any], after: list[Any] | None) -> None:
    outcome = one(platforms, options, affinity=requiring(*before))
    assert terms_of(outcome.spec) == (before if after is None else after)


@pytest.mark.parametrize(
    ("platforms", "selector", "terms"),
    [
        pytest.param(
            A, {"foo": "bar"}, [term(in_("amd64"))], id="mto-differs-from-archy-other-label-is-kept"
        ),
        pytest.param(AR, {ARCH: "amd64"}, None, id="mto-pinned"),
        pytest.param(A, {ARCH: "amd64"}, None, id="mto-pinned-to-the-only-one"),
        pytest.param(AR, {BETA: "amd64"}, None, id="noe-differs-from-mto-beta-label-pins"),
        pytest.param(A, {BETA: "amd64"}, None, id="noe-differs-from-mto-beta-label-pins-to-the-only-one"),
        pytest.param(
            A,
            {"node-role.kubernetes.io/control-plane": ""},
            [term(in_("amd64"))],
            id="mto-differs-control-plane-is-no-reason-to-skip",
        ),
    ],
)
def test_node_selector(platforms: str, selector: dict[str, str], terms: object) -> None:
    outcome = one(platforms, nodeSelector=selector)
    assert outcome.spec["nodeSelector"] == selector
    assert terms_of(outcome.spec) == terms


def test_other_affinity_is_kept() -> None:
    others = {
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]},
    }
    preferred = [{"weight": "7", "preference": term(FOO)}]
    node = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    outcome = one(A, affinity={**others, "nodeAffinity": node})
    assert outcome.spec["affinity"] == {
        **others,
        "nodeAffinity": {**node, **requiring(term(in_("amd64")))["nodeAffinity"]},
    }


def test_disjoint_images_are_a_conflict() -> None:
    outcome = decided(*two(A, R))
    assert outcome.name == "Conflict"
    assert outcome.messages == [
        (
            "error: no architecture is left: the cluster has amd64, arm64, but a:1 offers only amd64; "
            "b:1 offers only arm64. Use images that share an architecture the pod can reach, change what the "
            'pod asks for, or set archfit.dev/skip: "true" on it; '
            "--on-conflict leave leaves such pods as they are"
        )
    ]


@pytest.mark.parametrize(
    ("platforms", "outcome"),
    [
        pytest.param(AR, "NotNeeded", id="noe-in-the-cluster"),
        pytest.param(R, "Conflict", id="noe-not-in-the-cluster"),
    ],
)
def test_architectures_outside_the_cluster(platforms: str, outcome: str) -> None:
    assert one(platforms, Options(cluster_architectures=("amd64",))).name == outcome


def test_node_name() -> None:
    assert one(A, nodeName="n1").name == "OptedOut"


@pytest.mark.parametrize(
    "owners",
    [
        pytest.param([{"kind": "DaemonSet", "controller": "true"}], id="mto-differs-owners-do-not-count"),
        pytest.param([{"kind": "DaemonSet"}], id="mto-no-controller"),
    ],
)
def test_owned_pods(owners: list[Any]) -> None:
    spec = using("a")
    outcome = decided(spec, {"a": R}, kind="Pod", object_metadata={"ownerReferences": owners})
    assert terms_of(outcome.spec) == [term(in_("arm64"))]


def test_daemon_sets_are_placed() -> None:
    outcome = one(R, kind="DaemonSet")
    assert terms_of(outcome.spec) == [term(in_("arm64"))]
    assert outcome.decision.patch[-1].path == ("spec", "template", "spec", "tolerations")


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        pytest.param(Options(), "Change", id="mto-differs-kube-system-is-no-reason-to-skip"),
        pytest.param(
            Options(exclude=(Exclude("*", "kube-system"),)), "OptedOut", id="mto-excluded-by-the-user"
        ),
    ],
)
def test_kube_system(options: Options, outcome: str) -> None:
    assert (
        decided(using("a"), {"a": A}, options, object_metadata={"namespace": "kube-system"}).name == outcome
    )


@pytest.mark.parametrize(
    ("answer", "options", "outcome"),
    [
        pytest.param(Unknown("429"), Options(), "Unresolved", id="noe-differs-default-fails"),
        pytest.param(
            Unknown("429"),
            Options(on_unknown="leave"),
            "Unresolved",
            id="noe-mto-leave-is-for-the-whole-pod",
        ),
        pytest.param(Absent("gone"), Options(), "Unresolved", id="noe-absent"),
    ],
)
def test_one_image_without_answer(answer: Any, options: Options, outcome: str) -> None:
    made = decided(using("n", "u", "al"), {"n": A, "u": AR, "al": answer}, options)
    assert made.name == outcome
    assert made.added == {}


def test_no_registry_answers() -> None:
    down = Unknown("connection refused")
    outcome = decided(using("a", "b"), {"a": down, "b": down})
    assert outcome.added == {}
    assert [result.severity for result in outcome.decision.results] == ["error", "error"]


def test_affinity_lands_in_the_template() -> None:
    outcome = one(A)
    assert "affinity" not in outcome.object["spec"]
    assert outcome.object["spec"]["template"]["spec"]["affinity"] == requiring(term(in_("amd64")))


OTHER = {"key": "foo", "operator": "Exists"}
MORE = {"key": "dedicated", "value": "x", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("platforms", "before", "after"),
    [
        pytest.param(AR, [OTHER, MORE], [OTHER, MORE, GKE], id="reference-36-appended-third"),
        pytest.param(AR, [GKE], [GKE], id="reference-37-not-duplicated"),
        pytest.param(AR, None, [GKE], id="skaffold-none"),
        pytest.param(AR, [OTHER], [OTHER, GKE], id="skaffold-after-the-existing"),
        pytest.param(A, [OTHER], [OTHER], id="skaffold-no-arm-image"),
        pytest.param(A, None, None, id="skaffold-no-arm-image-none"),
    ],
)
def test_tolerations(platforms: str, before: Any, after: Any) -> None:
    fields = {} if before is None else {"tolerations": before}
    assert one(platforms, **fields).spec.get("tolerations") == after


def rule(*architectures: str, key: str = "arch") -> TolerationRule:
    return TolerationRule(architectures, Toleration(key, "Equal", architectures[0], "NoSchedule"))


def written(architecture: str) -> dict[str, str]:
    return {"key": "arch", "operator": "Equal", "value": architecture, "effect": "NoSchedule"}


MAPPED = Options(
    cluster_architectures=("amd64", "arm", "arm64"), tolerate=(rule("amd64"), rule("arm64"), rule("arm"))
)


@pytest.mark.parametrize(
    ("spec", "images", "tolerations"),
    [
        pytest.param(using("a", "b"), {"a": AR, "b": R}, ["arm64"], id="fork-two-containers"),
        pytest.param(
            {**using("a"), "initContainers": [{"image": "b"}]},
            {"a": AR, "b": R},
            ["arm64"],
            id="fork-init-container",
        ),
        pytest.param(
            {**using("a"), "ephemeralContainers": [{"image": "b"}]},
            {"a": AR, "b": R},
            ["amd64", "arm64"],
            id="fork-differs-ephemeral-containers-are-never-counted",
        ),
        pytest.param(
            using("a"),
            {"a": "amd64 arm64 arm/v7"},
            ["amd64", "arm64", "arm"],
            id="fork-one-for-each-platform",
        ),
    ],
)
def test_mapped_tolerations(spec: dict[str, Any], images: dict[str, Any], tolerations: list[str]) -> None:
    assert decided(spec, images, MAPPED).spec["tolerations"] == [written(name) for name in tolerations]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        pytest.param("true", "OptedOut", id="fork-true"),
        pytest.param("false", "Change", id="fork-false"),
    ],
)
@pytest.mark.parametrize("where", ["metadata", "object_metadata"])
def test_skip(where: str, value: str, outcome: str) -> None:
    annotations: Any = {where: {"annotations": {"archfit.dev/skip": value}}}
    assert decided(using("a"), {"a": A}, **annotations).name == outcome


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        pytest.param(Options(exclude=(Exclude("*", "shop"),)), "OptedOut", id="fork-namespace-ignored"),
        pytest.param(Options(exclude=(Exclude("*", "other"),)), "Change", id="fork-another-namespace"),
        pytest.param(
            Options(rules=(Rule(Match(labels=(("team", "a"),)), skip=True),)),
            "Change",
            id="fork-selector-misses",
        ),
    ],
)
def test_selection(options: Options, outcome: str) -> None:
    assert one(A, options).name == outcome
