"""Every row of the decision table, with the case where it does nothing beside it."""

from typing import Any

import pytest

from archfit.images.platforms import Unasked
from archfit.options.settings import Options, Toleration, TolerationRule
from pod_decisions import (
    ARCH,
    BETA,
    DEFAULT,
    GKE,
    OS,
    a_pod,
    decided,
    decision_for,
    found,
    in_,
    one,
    requiring,
    term,
    terms_of,
    using,
)

A, R, AR = "amd64", "arm64", "amd64 arm64"
FOO = ("foo", "In", ["bar"])
ZONE = ("zone", "Exists")
WITH_S390X = Options(cluster_architectures=("amd64", "arm64", "s390x"))


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"nodeName": "n1"}, id="node-name"),
        pytest.param({"nodeSelector": {"type": "virtual-kubelet"}}, id="for-virtual-nodes-alone"),
        pytest.param(
            {
                "nodeSelector": {"type": "virtual-kubelet"},
                "tolerations": [{"key": "virtual-kubelet.io/provider", "operator": "Exists"}],
            },
            id="for-virtual-nodes-alone-as-azure-writes-it",
        ),
    ],
)
def test_opted_out(fields):
    outcome = one(A, **fields)
    assert outcome.name == "OptedOut"
    assert outcome.decision.reason
    assert outcome.spec == {**using("app:1"), **fields}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"nodeName": None}, id="null-node-name"),
        pytest.param({"nodeName": ""}, id="empty-node-name"),
        pytest.param({"nodeSelector": {"type": "worker"}}, id="another-type"),
        pytest.param({"tolerations": [{"operator": "Exists"}]}, id="empty-key-tolerates-all-and-names-none"),
        pytest.param({"tolerations": [{"key": "", "operator": "Exists"}]}, id="empty-key-written"),
        pytest.param({"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}}, id="control-plane"),
    ],
)
def test_not_opted_out(fields):
    assert terms_of(one(A, **fields).spec) == [term(in_("amd64"))]


def test_other_affinity_is_kept():
    node = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": "7", "preference": term(FOO)}]}
    others = {"podAffinity": {}, "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}
    written = one(A, affinity={**others, "nodeAffinity": node}).spec["affinity"]
    assert written == {**others, "nodeAffinity": {**node, **requiring(term(in_("amd64")))["nodeAffinity"]}}


def virtual(key: str = "virtual-kubelet.io/provider") -> dict[str, Any]:
    return {"tolerations": [{"key": key, "operator": "Exists"}]}


NOT_ARM = (ARCH, "NotIn", ["arm64"])


@pytest.mark.parametrize(
    ("platforms", "fields", "terms"),
    [
        pytest.param(A, {}, [term(NOT_ARM)], id="instead-of-in"),
        pytest.param(AR, {}, None, id="nothing-where-the-images-run-everywhere"),
        pytest.param(A, {"affinity": requiring(term(FOO))}, [term(FOO, NOT_ARM)], id="anded"),
        pytest.param(A, {"affinity": requiring(term(NOT_ARM))}, [term(NOT_ARM)], id="it-is-there-already"),
        pytest.param(
            A, {"affinity": requiring(term((ARCH, "Exists")))}, [term((ARCH, "Exists"), in_("amd64"))],
            id="a-term-that-asks-for-the-label",
        ),
        pytest.param(
            A, {"affinity": requiring(term(in_("amd64", "arm64")), term(FOO))},
            [term(in_("amd64", "arm64"), in_("amd64")), term(FOO, NOT_ARM)], id="term-by-term",
        ),
        pytest.param(
            A, {"affinity": requiring(term((ARCH, "NotIn", ["amd64"])), term(FOO))},
            [term((ARCH, "NotIn", ["amd64"]), NOT_ARM), term(FOO, NOT_ARM)], id="also-to-close-a-term",
        ),
        pytest.param(
            A, {"affinity": requiring(term(in_("arm64")), term(FOO))},
            [term(in_("arm64"), in_("amd64")), term(FOO, NOT_ARM)], id="a-dead-term-that-asks-for-the-label",
        ),
        pytest.param(A, {"nodeSelector": {ARCH: "amd64"}}, None, id="not-beside-a-pin"),
    ],
)  # fmt: skip
def test_a_pod_that_tolerates_virtual_nodes_keeps_them(platforms, fields, terms):
    outcome = one(platforms, **virtual(), **fields)
    assert terms_of(outcome.spec) == terms
    again = decided(outcome.spec, {"app:1": platforms})
    assert (again.decision.patch, again.spec) == ((), outcome.spec)


def test_virtual_nodes_always_and_what_the_reason_says():
    assert terms_of(one(AR, Options(affinity="always"), **virtual()).spec) is None
    assert one(A, **virtual()).decision.reason == (
        "restricted to amd64 (arm64 is not offered by app:1), and to nodes without an architecture label "
        "(toleration of virtual-kubelet.io/provider)"
    )
    assert one("s390x", **virtual()).name == "Conflict"


def test_an_earlier_narrower_term_beside_virtual_nodes_is_said():
    (message,) = one(
        AR, tolerations=[*virtual()["tolerations"], GKE], affinity=requiring(term(NOT_ARM))
    ).messages
    assert message.startswith("info: this allows only amd64, though the images run on amd64, arm64")


ZONE = {"key": "zone", "operator": "In", "values": ["a"]}


@pytest.mark.parametrize(
    ("platforms", "terms", "said"),
    [
        pytest.param(AR, [term(in_("amd64"))], "only amd64, though the images run on amd64, arm64:", id="alone"),
        pytest.param(AR, [term(ZONE, in_("amd64"))], "only amd64, though the images run on", id="the-users-term"),
        pytest.param(
            AR, [term(FOO, in_("amd64")), term(ZONE, in_("amd64"))], "arm64 (1 more term is like it):", id="both"
        ),
        pytest.param(
            AR, [term(in_("arm64"), in_("amd64")), term(ZONE)], "nothing, though the images run on arm64:", id="closed"
        ),
        pytest.param(A, [term(in_("arm64"), in_("amd64")), term(ZONE, in_("amd64"))], "", id="closed-and-right"),
        pytest.param(AR, [term(in_("amd64"), ("zone", "Exists", None))], "only amd64", id="something-behind-it"),
        pytest.param(AR, [term(in_("arm64", "amd64"))], "", id="as-wide"),
        pytest.param(A, [term(in_("amd64"))], "", id="right"),
        pytest.param(AR, [term((ARCH, "NotIn", ["arm64"]))], "", id="not-as-archfit-writes-it"),
        pytest.param(AR, [term((BETA, "In", ["amd64"]))], "", id="another-key"),
    ],
)  # fmt: skip
def test_what_an_earlier_run_may_have_narrowed_is_told(platforms, terms, said):
    outcome = one(platforms, Options(tolerate=()), affinity=requiring(*terms))
    told = [one for one in outcome.messages if "earlier run" in one]
    assert len(told) == bool(said)
    assert all(said in one for one in told)
    assert outcome.spec["affinity"] == requiring(*terms)
    stamping = decided(outcome.spec, {"app:1": platforms}, Options(tolerate=(), stamp=True))
    assert stamping.messages == outcome.messages
    unasked = decided(outcome.spec, {"app:1": Unasked("")}, Options(tolerate=())).messages
    assert not any("earlier run" in one for one in unasked)


@pytest.mark.parametrize(
    ("platforms", "selector", "fields", "runs"),
    [
        pytest.param(AR, {ARCH: "amd64"}, {}, "arm64", id="alone"),
        pytest.param(AR, {BETA: "arm64"}, {}, "amd64", id="another-architecture-by-the-old-label"),
        pytest.param(AR, {ARCH: "amd64"}, {"affinity": requiring(term(ZONE))}, "arm64", id="beside-a-term"),
        pytest.param(AR, {ARCH: "amd64"}, {"affinity": requiring(term(in_("amd64")))}, "", id="a-term-demands-it-too"),
        pytest.param(AR, {ARCH: "amd64", OS: "windows"}, {}, "", id="for-a-system-that-the-images-lack"),
        pytest.param(A, {ARCH: "amd64"}, {}, "", id="the-images-need-it"),
        pytest.param(Unasked(""), {ARCH: "amd64"}, {}, "", id="nobody-knows-the-images"),
        pytest.param(AR, {"zone": "a"}, {}, "", id="another-label"),
    ],
)  # fmt: skip
def test_a_pin_that_the_images_no_longer_need_is_named_and_stays(platforms, selector, fields, runs):
    outcome = one(platforms, Options(tolerate=()), nodeSelector=selector, **fields)
    infos = [message for message in outcome.messages if "pins the pod" in message]
    (pinned,) = selector.values() if len(selector) == 1 else ("amd64",)
    assert (
        infos
        == [
            f"info: this pins the pod to {pinned}, though the images run on {runs} too: remove it if nothing else needs it"
        ][: bool(runs)]
    )
    assert outcome.spec["nodeSelector"] == selector


def test_a_pin_that_the_owner_repeats_is_not_named():
    outcome = decided(
        {**using("app:1"), "nodeSelector": {ARCH: "amd64"}},
        {"app:1": AR},
        metadata={"annotations": {"archfit.dev/only": "amd64"}},
    )
    assert outcome.messages == []


@pytest.mark.parametrize(
    ("terms", "told"),
    [
        pytest.param([term(in_("amd64"))], True, id="alone"),
        pytest.param([term(ZONE, in_("amd64"))], True, id="the-users-term"),
        pytest.param([term((BETA, "In", ["amd64"]))], False, id="never-written-so"),
    ],
)
def test_a_conflict_says_that_an_earlier_run_may_have_caused_it(terms, told):
    (message,) = one(R, affinity=requiring(*terms)).messages
    assert ("If an earlier run of archfit wrote its required node affinity, remove it" in message) is told


def test_unlabelled_nodes_adds_keys():
    options = Options(unlabelled_nodes=("example.com/virtual",))
    assert terms_of(one(A, options, **virtual("example.com/virtual")).spec) == [term(NOT_ARM)]
    assert terms_of(one(A, options, **virtual("example.com/other")).spec) == [term(in_("amd64"))]


@pytest.mark.parametrize(
    ("platforms", "fields"),
    [
        pytest.param(A, {"nodeSelector": {ARCH: "arm64"}}, id="pinned-elsewhere"),
        pytest.param(AR, {"nodeSelector": {ARCH: "amd64", BETA: "arm64"}}, id="labels-contradict"),
        pytest.param(
            A, {"affinity": requiring(term(in_("arm64")), term(in_("s390x")))}, id="terms-elsewhere"
        ),
        pytest.param(AR, {"affinity": requiring({})}, id="only-an-empty-term"),
        pytest.param(AR, {"affinity": requiring(None)}, id="only-a-null-term"),
        pytest.param(AR, {"affinity": requiring()}, id="no-terms-in-the-required-set"),
        pytest.param("s390x", {}, id="not-in-the-cluster"),
        pytest.param("windows/amd64", {}, id="another-os"),
        pytest.param(
            AR, {"nodeSelector": {ARCH: "amd64"}, "affinity": requiring(term(in_("arm64")))}, id="both"
        ),
    ],
)
@pytest.mark.parametrize(("policy", "severity"), [("fail", "error"), ("leave", "warning")])
def test_conflict(platforms, fields, policy, severity):
    outcome = one(platforms, Options(on_conflict=policy), **fields)
    assert outcome.name == "Conflict"
    assert outcome.spec == {**using("app:1"), **fields}
    assert [result.severity for result in outcome.decision.messages] == [severity]
    assert outcome.decision.reachable == ()


@pytest.mark.parametrize(
    ("platforms", "fields"),
    [
        pytest.param("s390x", {}, id="an-image-that-no-node-runs"),
        pytest.param(A, {"nodeSelector": {ARCH: "arm64"}}, id="a-pin"),
        pytest.param(A, {"affinity": requiring(term(in_("arm64")))}, id="a-term"),
    ],
)
def test_affinity_never_is_called_unsafe_and_ends_in_no_conflict(platforms, fields):
    outcome = one(platforms, Options(affinity="never"), **fields)
    assert (outcome.name, outcome.decision.patch) == ("OptedOut", ())
    (message,) = outcome.messages
    assert message.startswith("warning: unsafe: affinity: never lets the pod onto nodes that cannot run it")


def test_node_selector_pins_and_the_toleration_is_added():
    outcome = one(R, nodeSelector={ARCH: "arm64"})
    assert outcome.added == {"tolerations": [GKE]}
    assert outcome.messages == []


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        pytest.param([term(in_("s390x"))], True, id="a-term"),
        pytest.param([term(in_("s390x"), FOO), term(in_("s390x"))], True, id="terms"),
        pytest.param([term(in_("s390x"), FOO), term(in_("amd64"))], False, id="one-of-the-cluster"),
        pytest.param([term(in_("amd64", "s390x"))], False, id="both"),
    ],
)
def test_required_terms_outside_the_cluster_warn_as_a_node_selector_does(terms, said):
    messages = one("amd64 s390x", affinity=requiring(*terms)).messages
    text = "pinned to s390x by its required node affinity, but the cluster has amd64, arm64"
    assert any(text in message for message in messages) is said


def test_node_selector_pins_outside_the_cluster_with_a_warning():
    outcome = one("s390x", nodeSelector={ARCH: "s390x"})
    assert outcome.added == {}
    assert outcome.name == "AlreadySet"
    assert outcome.messages == [
        (
            "warning: pinned to s390x by its nodeSelector, but the cluster has amd64, arm64; "
            "correct one of them (--cluster-architectures)"
        )
    ]
    assert outcome.decision.messages[0].field == 'spec.template.spec.nodeSelector["kubernetes.io/arch"]'


@pytest.mark.parametrize(
    "terms",
    [
        pytest.param([term(in_("amd64"))], id="narrow-enough"),
        pytest.param([term((BETA, "In", ["amd64"]))], id="by-the-beta-label"),
        pytest.param([term((ARCH, "NotIn", ["arm64"]))], id="by-not-in"),
        pytest.param([term(in_("amd64")), {}], id="empty-term-beside-it"),
        pytest.param([term(in_("amd64")), None], id="null-term-beside-it"),
        pytest.param([term(in_("amd64")), term((ARCH, "DoesNotExist"))], id="allows-no-architecture"),
        pytest.param(
            [term(in_("amd64")), term((ARCH, "Wants", ["x"]))], id="unknown-operator-matches-nothing"
        ),
    ],
)
def test_terms_left_alone(terms):
    outcome = one(A, affinity=requiring(*terms))
    assert outcome.name == "AlreadySet"
    assert terms_of(outcome.spec) == terms
    assert outcome.messages == []


@pytest.mark.parametrize(
    ("platforms", "options", "before", "after"),
    [
        pytest.param(A, DEFAULT, [term(FOO)], [term(FOO, in_("amd64"))], id="says-nothing-of-it"),
        pytest.param(A, DEFAULT, [term(in_("amd64", "arm64"))], [term(in_("amd64", "arm64"), in_("amd64"))], id="names-the-key-already"),
        pytest.param(AR, DEFAULT, [term(in_("amd64", "s390x"))], [term(in_("amd64", "s390x"), in_("amd64"))], id="names-one-outside-the-cluster"),
        pytest.param("arm64 s390x", WITH_S390X, [term((ARCH, "NotIn", ["arm64"]))], [term((ARCH, "NotIn", ["arm64"]), in_("s390x"))], id="not-in"),
        pytest.param(
            A,
            DEFAULT,
            [{"matchExpressions": [], "matchFields": [{"key": "metadata.name"}]}],
            [{**term(in_("amd64")), "matchFields": [{"key": "metadata.name"}]}],
            id="empty-expressions-beside-fields-are-filled",
        ),
        pytest.param(
            A,
            DEFAULT,
            [{"matchFields": [{"key": "metadata.name"}], "matchExpressions": None}],
            [{"matchFields": [{"key": "metadata.name"}], **term(in_("amd64"))}],
            id="null-expressions-beside-fields-are-filled",
        ),
    ],
)  # fmt: skip
def test_terms_narrowed(platforms, options, before, after):
    outcome = one(platforms, options, affinity=requiring(*before))
    assert terms_of(outcome.spec) == after
    assert outcome.messages == []


def test_a_term_that_cannot_live_is_closed_beside_one_that_does():
    outcome = one(A, affinity=requiring(term(in_("arm64"), FOO), term(ZONE)))
    assert terms_of(outcome.spec) == [term(in_("arm64"), FOO, in_("amd64")), term(ZONE, in_("amd64"))]
    (result,) = outcome.decision.messages
    assert result.severity == "warning"
    assert result.text == (
        "the pod cannot run on what this term allows (linux/arm64), so archfit makes it match no node; "
        "it runs on amd64"
    )
    assert result.field.endswith("nodeSelectorTerms[0]")


WINDOWS, LINUX = (OS, "In", ["windows"]), (OS, "In", ["linux"])


@pytest.mark.parametrize(
    ("platforms", "fields", "after"),
    [
        pytest.param(
            "windows/amd64",
            {"affinity": requiring(term(LINUX), term(WINDOWS))},
            [term(LINUX, in_("amd64"), in_("386")), term(WINDOWS)],
            id="no-architecture-is-left-to-name",
        ),
        pytest.param(
            "windows/arm64",
            {"affinity": requiring(term(LINUX, in_("amd64")), term(WINDOWS))},
            [term(LINUX, in_("amd64"), in_("arm64")), term(WINDOWS)],
            id="in-what-the-others-reach",
        ),
        pytest.param(
            "windows/amd64 windows/arm64",
            {"affinity": requiring(term(LINUX, in_("amd64")), term(WINDOWS))},
            [term(LINUX, in_("amd64"), in_("arm64")), term(WINDOWS)],
            id="in-what-it-does-not-allow",
        ),
        pytest.param(
            "windows/amd64",
            {"affinity": requiring(term(LINUX), term(WINDOWS)), "nodeSelector": {ARCH: "amd64"}},
            [term(LINUX, in_("386")), term(WINDOWS)],
            id="pinned-by-node-selector",
        ),
        pytest.param(
            "windows/amd64",
            {"affinity": requiring(term(LINUX, in_("amd64")), term(WINDOWS))},
            [term(LINUX, in_("amd64"), in_("386")), term(WINDOWS)],
            id="in-another-one",
        ),
    ],
)
def test_a_dead_term_of_another_os_cannot_be_met(platforms, fields, after):
    outcome = one(platforms, **fields)
    assert terms_of(outcome.spec) == after
    assert [result.severity for result in outcome.decision.messages] == ["warning"]
    assert one(platforms, **{**fields, **outcome.added}).decision.patch == ()


EITHER = (OS, "In", ["linux", "windows"])
MIXED = "arm64 windows/amd64"


def cluster(*entries: str) -> Options:
    return Options(cluster_architectures=entries)


@pytest.mark.parametrize(
    ("platforms", "options", "expression", "after"),
    [
        pytest.param(MIXED, DEFAULT, EITHER, [in_("arm64")], id="what-is-safe-on-both"),
        pytest.param(MIXED, DEFAULT, (OS, "Exists"), [in_("arm64")], id="any-system"),
        pytest.param(
            MIXED, cluster("amd64", "arm64", "windows/amd64"), EITHER, [in_("arm64")], id="windows-nodes-of-amd64"
        ),
        pytest.param(MIXED, cluster("arm64", "windows/amd64"), EITHER, [], id="each-has-nodes-of-its-own"),
        pytest.param("amd64 arm64 windows/amd64", DEFAULT, EITHER, [], id="nothing-is-lost"),
        pytest.param(
            "amd64 arm64 windows/amd64", cluster("amd64", "arm64", "windows/amd64", "windows/arm64"), EITHER,
            [in_("amd64")], id="the-intersection",
        ),
        pytest.param("amd64 windows/amd64", DEFAULT, EITHER, [in_("amd64")], id="the-same-on-both"),
        pytest.param("amd64", DEFAULT, EITHER, [in_("amd64")], id="builds-for-one-system"),
        pytest.param(MIXED, DEFAULT, (OS, "NotIn", ["linux"]), [], id="one-system-is-left"),
    ],
)  # fmt: skip
def test_a_term_of_several_systems(platforms, options, expression, after):
    outcome = one(platforms, options, affinity=requiring(term(expression)))
    assert terms_of(outcome.spec) == [term(expression, *after)]
    again = one(platforms, options, **outcome.added)
    assert (again.decision.patch, terms_of(again.spec)) == ((), terms_of(outcome.spec))
    losing = (bool(after) and platforms == MIXED) or "windows/arm64" in options.cluster_architectures
    assert [result.severity for result in outcome.decision.messages] == (["warning"] if losing else [])


def test_a_term_of_several_systems_is_kept_to_one_that_has_builds_where_the_cluster_has_both():
    outcome = one("windows/amd64", affinity=requiring(term(EITHER)))
    assert (outcome.name, terms_of(outcome.spec)) == ("Conflict", [term(EITHER)])
    entries = cluster("amd64", "windows/amd64", "windows/arm64")
    assert terms_of(one("windows/arm64", entries, affinity=requiring(term(EITHER))).spec) == [
        term(EITHER, WINDOWS, in_("arm64"))
    ]


def test_a_taint_that_no_other_architecture_shares_needs_no_more_than_a_reachable_node():
    affinity = requiring(term(FOO), term((OS, "In", ["windows"])))
    assert one("amd64 arm64 windows/amd64", affinity=affinity).spec["tolerations"] == [GKE]


def test_what_a_term_of_several_systems_loses_is_said():
    (result,) = one(MIXED, affinity=requiring(term(EITHER))).decision.messages
    assert (result.severity, result.text) == (
        "warning",
        "this term allows linux and windows, and one list of architectures holds for all of them: it keeps arm64 and "
        "loses windows/amd64, where the images run too. To keep both, write one term for each system, with its own "
        "kubernetes.io/os",
    )
    assert result.field.endswith("nodeSelectorTerms[0]")
    assert one("amd64 arm64 windows/amd64", affinity=requiring(term(EITHER))).messages == []


def test_a_term_of_several_systems_without_a_safe_architecture_keeps_the_first():
    everywhere = cluster("amd64", "arm64", "windows/amd64", "windows/arm64")
    outcome = one(MIXED, everywhere, affinity=requiring(term(EITHER)))
    assert terms_of(outcome.spec) == [term(EITHER, (OS, "In", ["linux"]), in_("arm64"))]
    assert outcome.messages == [
        "warning: this term allows linux and windows, and one list of architectures holds for all of them: it keeps "
        "arm64 and loses windows/amd64, where the images run too. To keep both, write one term for each system, with "
        "its own kubernetes.io/os"
    ]
    split = one(MIXED, everywhere, affinity=requiring(term(LINUX), term(WINDOWS)))
    assert terms_of(split.spec) == [term(LINUX, in_("arm64")), term(WINDOWS, in_("amd64"))]


@pytest.mark.parametrize(
    ("platforms", "options", "terms"),
    [
        pytest.param(A, DEFAULT, [term(in_("amd64"))], id="one-is-missing"),
        pytest.param("s390x arm64 amd64", DEFAULT, None, id="nothing-is-missing"),
        pytest.param("s390x amd64", DEFAULT, [term(in_("amd64"))], id="outside-the-cluster-is-not-written"),
        pytest.param("s390x amd64", WITH_S390X, [term(in_("amd64", "s390x"))], id="values-are-sorted"),
    ],
)
def test_no_required_terms(platforms, options, terms):
    assert terms_of(one(platforms, options).spec) == terms


@pytest.mark.parametrize(
    ("platforms", "fields", "terms"),
    [
        pytest.param(AR, {}, [term(in_("amd64", "arm64"))], id="always"),
        pytest.param(A, {}, [term(in_("amd64"))], id="always-what-is-needed"),
        pytest.param(AR, {"nodeSelector": {BETA: "amd64"}}, None, id="not-beside-a-pin"),
        pytest.param(
            AR, {"nodeSelector": {"a": "b"}}, [term(in_("amd64", "arm64"))], id="beside-other-labels"
        ),
        pytest.param(AR, {"affinity": requiring(term(FOO))}, [term(FOO)], id="not-beside-required-terms"),
        pytest.param("wasi/wasm", {}, None, id="not-where-no-image-restricts"),
    ],
)
def test_affinity_always(platforms, fields, terms):
    assert terms_of(one(platforms, Options(affinity="always"), **fields).spec) == terms


def test_affinity_never_is_called_unsafe():
    outcome = one(A, Options(affinity="never"))
    assert outcome.name == "OptedOut"
    assert outcome.added == {}
    assert outcome.messages == [
        (
            "warning: unsafe: affinity: never lets the pod onto nodes that cannot run it "
            "(arm64 is not offered by app:1)"
        )
    ]


def test_affinity_never_still_tolerates():
    outcome = one("arm64 s390x", Options(affinity="never"))
    assert outcome.added == {"tolerations": [GKE]}


def test_affinity_never_has_nothing_to_say_where_none_is_needed():
    outcome = one(AR, Options(affinity="never"))
    assert outcome.added == {"tolerations": [GKE]}
    assert outcome.messages == []


BOTH = TolerationRule(("amd64", "arm64"), Toleration("multi", "Equal", "arm64Supported", "NoSchedule"))
RZ = TolerationRule(("arm64", "s390x"), Toleration("arch", "Equal", "", "NoSchedule"))
RZ_WRITTEN = {"key": "arch", "operator": "Equal", "effect": "NoSchedule"}
BOTH_WRITTEN = {"key": "multi", "operator": "Equal", "value": "arm64Supported", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("platforms", "options", "fields", "added"),
    [
        pytest.param(AR, Options(tolerate=(BOTH,)), {}, [BOTH_WRITTEN], id="runs-on-all-of-the-rule"),
        pytest.param(R, Options(tolerate=(BOTH,)), {}, [BOTH_WRITTEN], id="affinity-shuts-the-other-out"),
        pytest.param(R, Options(tolerate=(BOTH,), affinity="never"), {}, None, id="no-affinity-shuts-the-other-out"),
        pytest.param(R, Options(cluster_architectures=("arm64",), tolerate=(BOTH,)), {}, None, id="the-other-is-outside-the-cluster-and-open"),
        pytest.param(
            R, Options(cluster_architectures=("arm64",), tolerate=(BOTH,)), {"affinity": requiring(term(FOO))}, None, id="a-term-leaves-the-other-open"
        ),
        pytest.param(
            R,
            Options(cluster_architectures=("arm64",), tolerate=(BOTH,)),
            {"affinity": requiring(term(FOO, in_("arm64")))},
            [BOTH_WRITTEN],
            id="a-term-of-the-user-shuts-the-other-out",
        ),
        pytest.param(AR, Options(cluster_architectures=("arm64",), tolerate=(BOTH,)), {}, [BOTH_WRITTEN], id="the-images-run-on-the-other-outside-the-cluster"),
        pytest.param(A, Options(tolerate=(RZ,)), {}, None, id="reaches-none-of-it"),
        pytest.param(R, WITH_S390X.replace(tolerate=(RZ,)), {}, [RZ_WRITTEN], id="one-taint-on-all-of-the-rest"),
        pytest.param(
            R,
            WITH_S390X.replace(tolerate=(RZ,)),
            {"affinity": requiring(term((OS, "In", ["windows"])), term(FOO))},
            [RZ_WRITTEN],
            id="a-closed-term-of-another-os-shuts-out",
        ),
        pytest.param(AR, DEFAULT, {"nodeSelector": {ARCH: "amd64"}}, None, id="cannot-reach-it"),
        pytest.param(AR, Options(tolerate=(BOTH,)), {"nodeSelector": {ARCH: "amd64"}}, [BOTH_WRITTEN], id="reaches-one-of-it"),
        pytest.param(AR, Options(tolerate=()), {}, None, id="no-rules"),
        pytest.param("wasi/wasm", DEFAULT, {}, [GKE], id="no-image-restricts-but-all-are-known"),
    ],
)  # fmt: skip
def test_toleration_rules(platforms, options, fields, added):
    assert one(platforms, options, **fields).spec.get("tolerations") == added


def test_no_image_no_toleration():
    outcome = decided({"containers": []}, {})
    assert (outcome.name, outcome.added) == ("NotNeeded", {})


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
@pytest.mark.parametrize("policy", ["warn", "fail"])
def test_daemon_sets(kind, policy):
    outcome = one(A, Options(daemon_sets=policy), kind=kind)
    assert terms_of(outcome.spec) == [term(in_("amd64"))]
    severity = "error" if policy == "fail" else "warning"
    expected = [f"{severity}: this DaemonSet will not run on the arm64 nodes (arm64 is not offered by app:1)"]
    assert outcome.messages == (expected if kind == "DaemonSet" else [])


@pytest.mark.parametrize(
    ("platforms", "fields"),
    [
        pytest.param(AR, {}, id="runs-everywhere"),
        pytest.param(A, {"nodeSelector": {ARCH: "amd64"}}, id="the-user-leaves-the-rest-out"),
        pytest.param(A, {"affinity": requiring(term(in_("amd64")))}, id="as-a-run-before-left-it"),
    ],
)
def test_daemon_sets_that_lose_nothing(platforms, fields):
    assert one(platforms, Options(daemon_sets="fail"), kind="DaemonSet", **fields).messages == []


@pytest.mark.parametrize(
    ("entries", "lost"),
    [
        pytest.param((), "", id="no-entry-for-windows"),
        pytest.param(("windows/amd64",), "", id="all-its-entries"),
        pytest.param(("windows/amd64", "windows/arm64"), "windows/arm64", id="one-is-lost"),
    ],
)
@pytest.mark.parametrize("severity", ["warn", "fail"])
def test_a_daemon_set_of_another_os(entries, lost, severity):
    options = Options(("amd64", "arm64", *entries), daemon_sets=severity)
    outcome = one("windows/amd64", options, kind="DaemonSet", nodeSelector={OS: "windows"})
    head = "error" if severity == "fail" else "warning"
    said = f"{head}: this DaemonSet will not run on the {lost} nodes (arm64 is not offered by app:1)"
    assert outcome.messages == ([said] if lost else [])
    assert terms_of(outcome.spec) == ([term(in_("amd64"))] if lost else None)


BY_ARCH = (
    TolerationRule(("amd64",), Toleration("arch", "Equal", "amd64", "NoSchedule")),
    TolerationRule(("arm64",), Toleration("arch", "Equal", "arm64", "NoSchedule")),
)
TOLERATES = [
    {"key": "arch", "operator": "Equal", "value": name, "effect": "NoSchedule"} for name in ("amd64", "arm64")
]


@pytest.mark.parametrize(
    ("platforms", "options", "fields", "needed", "full"),
    [
        pytest.param(AR, Options(), {}, [None, None], [None, [GKE]], id="runs-without"),
        pytest.param(R, Options(), {}, [["arm64"], [GKE]], [["arm64"], [GKE]], id="only-the-tainted-architecture"),
        pytest.param(A, Options(), {}, [["amd64"], None], [["amd64"], None], id="affinity-is-needed"),
        pytest.param(AR, Options(affinity="always"), {}, [None, None], [["amd64", "arm64"], [GKE]], id="always-is-not-needed"),
        pytest.param(AR, Options(tolerate=BY_ARCH), {}, [None, TOLERATES], [None, TOLERATES], id="every-architecture-is-tainted"),
        pytest.param(AR, Options(tolerate=BY_ARCH), {"tolerations": TOLERATES[:1]}, [None, TOLERATES[:1]], [None, TOLERATES], id="one-is-tolerated-already"),
        pytest.param(AR, Options(tolerate=(BOTH,)), {}, [None, [BOTH_WRITTEN]], [None, [BOTH_WRITTEN]], id="one-rule-for-all"),
        pytest.param(AR, Options(tolerate=()), {}, [None, None], [None, None], id="nothing-is-tainted"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["Job", "Pod"])
def test_immutable(kind, platforms, options, fields, needed, full):
    for policy, (architectures, tolerated) in (("needed", needed), ("full", full)):
        outcome = one(platforms, options.replace(immutable=policy), kind, **fields)
        assert terms_of(outcome.spec) == (architectures and [term(in_(*architectures))])
        assert outcome.spec.get("tolerations") == tolerated
        assert outcome.decision.immutable


@pytest.mark.parametrize("kind", ["Job", "Pod"])
def test_what_the_cluster_does_not_have_is_no_place_to_run_without_a_toleration(kind):
    """The pod names it, and it would need no toleration there."""
    asked = {"affinity": requiring(term(in_("arm64", "ppc64le")))}
    assert one("arm64 ppc64le", kind=kind, **asked).spec["tolerations"] == [GKE]
    both = Options(cluster_architectures=("amd64", "arm64", "ppc64le"))
    assert one("arm64 ppc64le", both, kind, **asked).spec.get("tolerations") is None


@pytest.mark.parametrize(
    ("kind", "annotations", "immutable"),
    [
        pytest.param("Job", {}, True, id="job"),
        pytest.param("Pod", {}, True, id="pod"),
        pytest.param("CronJob", {}, False, id="cron-job"),
        pytest.param("Deployment", {}, False, id="deployment"),
        pytest.param("Job", {"argocd.argoproj.io/sync-wave": "1"}, True, id="argo-sync-wave-is-no-hook"),
        pytest.param("Job", {"argocd.argoproj.io/sync-options": "Force=true"}, True, id="argo-force-alone"),
        pytest.param(
            "Job", {"argocd.argoproj.io/sync-options": "Replace=true"}, True, id="argo-replace-alone"
        ),
        pytest.param("Job", {"argocd.argoproj.io/sync-options": None}, True, id="argo-options-null"),
        pytest.param("Job", ["helm.sh/hook"], True, id="annotations-that-are-a-list"),
    ],
)
@pytest.mark.parametrize("hooks", ["immutable", "recreated"])
def test_what_is_immutable(kind, annotations, hooks, immutable):
    outcome = decided(
        using("a"), {"a": AR}, Options(hooks=hooks), kind=kind, object_metadata={"annotations": annotations}
    )
    assert outcome.decision.immutable is immutable
    if isinstance(annotations, dict):
        assert outcome.added == ({} if immutable else {"tolerations": [GKE]})


HELM_FILE = {"postrenderer.helm.sh/postrender-filename": "web/templates/job.yaml"}


@pytest.mark.parametrize(
    ("kind", "annotations", "recreated"),
    [
        pytest.param("Job", {"helm.sh/hook": "pre-install"}, True, id="helm-hook"),
        pytest.param("Pod", {"helm.sh/hook": "test"}, True, id="helm-test-pod"),
        pytest.param("Job", {"helm.sh/hook": "pre-upgrade", **HELM_FILE}, True, id="helm-hook-in-helm-4"),
        pytest.param("Job", {"argocd.argoproj.io/hook": "PreSync"}, True, id="argo-hook"),
        pytest.param("Job", {"argocd.argoproj.io/hook": "Sync", **HELM_FILE}, False, id="argo-hook-in-helm-4"),
        pytest.param("Job", {"argocd.argoproj.io/sync-options": "Force=true,Replace=true"}, True, id="argo-replaced"),
        pytest.param("Job", {"argocd.argoproj.io/sync-options": "Prune=false, Replace=true , Force=true"}, True, id="argo-replaced-among-others"),
        pytest.param("Job", {"argocd.argoproj.io/sync-options": "Force=true,Replace=true", **HELM_FILE}, False, id="argo-replaced-in-helm-4"),
    ],
)  # fmt: skip
def test_hooks_are_immutable_unless_their_door_makes_them_anew(kind, annotations, recreated):
    for hooks, changes in (("immutable", False), ("recreated", recreated)):
        outcome = decided(
            using("a"),
            {"a": AR},
            Options(hooks=hooks),
            kind=kind,
            object_metadata={"annotations": annotations},
        )
        assert outcome.decision.immutable is not changes
        assert outcome.added == ({"tolerations": [GKE]} if changes else {})


@pytest.mark.parametrize(
    ("metadata", "immutable"),
    [
        pytest.param({"generateName": "g-", "name": None}, False, id="generate-name"),
        pytest.param({"generateName": "g-", "name": ""}, False, id="generate-name-and-empty-name"),
        pytest.param({"generateName": "g-"}, True, id="both-the-name-counts"),
        pytest.param({"name": None}, True, id="neither"),
        pytest.param({"generateName": "", "name": None}, True, id="empty-generate-name"),
    ],
)
@pytest.mark.parametrize("kind", ["Job", "Pod"])
def test_what_has_a_generated_name_is_made_anew(kind, metadata, immutable):
    outcome = decided(using("a"), {"a": AR}, kind=kind, object_metadata=metadata)
    assert outcome.decision.immutable is immutable
    assert outcome.added == ({} if immutable else {"tolerations": [GKE]})


def test_the_decision_says_who_removed_what():
    decision = decided(using("a", "b", "c"), {"a": AR, "b": "amd64 s390x", "c": A}, WITH_S390X).decision
    assert decision.supported == ("amd64",)
    assert decision.reachable == ("amd64",)
    assert [(one.architecture, one.images) for one in decision.removed] == [
        ("arm64", ("b", "c")),
        ("s390x", ("a", "c")),
    ]
    assert decision.reason == (
        "restricted to amd64 (arm64 is not offered by b, c; s390x is not offered by a, c)"
    )


def test_a_pod_in_a_list_gets_paths_of_the_list():
    pod = a_pod(using("a"), "Pod").replace(path=("items", 2, "spec"))
    patch = decision_for(pod, {"a": found(A)}, DEFAULT).patch
    assert {step.path[:3] for step in patch} == {("items", 2, "spec")}


def test_with_equal_inputs_the_decision_is_equal():
    assert one(A, nodeSelector={"a": "b"}).decision == one(A, nodeSelector={"a": "b"}).decision
