"""`prefer`: one preferred term for each weighted architecture that the pod can reach."""

from typing import Any

import pytest

from archfit.base.patch import Add, Test
from archfit.images.platforms import Unasked, Unknown, parse_platform
from archfit.options.settings import Options
from archfit.yaml.values import Typed
from pod_decisions import ARCH, BETA, PREFERRED, decided, in_, one, requiring, term, terms_of, using

AR = "amd64 arm64"
ARM = Options(prefer=(("arm64", 1),), tolerate=())
BOTH = Options(prefer=(("arm64", 70), ("amd64", 30)), tolerate=())
FOO = {"weight": Typed("int", "50"), "preference": term(("foo", "In", ["bar"]))}


def preferring(architecture: str, weight: str = "1") -> dict[str, Any]:
    return {"weight": Typed("int", weight), "preference": term(in_(architecture))}


def preferred(*terms: Any) -> dict[str, Any]:
    return {"nodeAffinity": {PREFERRED: list(terms)}}


@pytest.mark.parametrize(
    ("platforms", "options", "fields", "affinity"),
    [
        pytest.param(AR, ARM, {}, preferred(preferring("arm64")), id="noe-mto-differs-added-as-a-preference"),
        pytest.param(AR, BOTH, {}, preferred(preferring("amd64", "30"), preferring("arm64", "70")), id="one-for-each-sorted"),
        pytest.param(AR, ARM, {"affinity": preferred(FOO)}, preferred(FOO, preferring("arm64")), id="mto-existing-is-kept-ours-appended"),
        pytest.param(
            AR, ARM, {"affinity": preferred(preferring("amd64", "30"))}, preferred(preferring("amd64", "30")), id="mto-existing-preference-of-an-architecture"
        ),
        pytest.param(
            AR,
            ARM,
            {"affinity": preferred({"weight": "1", "preference": term((BETA, "NotIn", ["arm64"]))})},
            preferred({"weight": "1", "preference": term((BETA, "NotIn", ["arm64"]))}),
            id="by-the-beta-label-and-any-operator",
        ),
        pytest.param(AR, ARM, {"affinity": {"nodeAffinity": None}}, preferred(preferring("arm64")), id="null"),
        pytest.param(AR, ARM, {"affinity": {"nodeAffinity": {PREFERRED: []}}}, preferred(preferring("arm64")), id="empty"),
        pytest.param(AR, Options(prefer=(("arm64", 5), ("s390x", 9)), tolerate=()), {}, preferred(preferring("arm64", "5")), id="only-what-it-can-reach"),
        pytest.param("amd64", ARM, {}, requiring(term(in_("amd64"))), id="noe-differs-nothing-to-prefer-no-warning"),
        pytest.param("arm64", ARM, {"nodeSelector": {ARCH: "arm64"}}, None, id="pinned-there-is-no-choice"),
        pytest.param("wasi/wasm", ARM, {}, preferred(preferring("arm64")), id="no-image-restricts-but-all-are-known"),
    ],
)  # fmt: skip
def test_prefer(platforms, options, fields, affinity):
    outcome = one(platforms, options, **fields)
    assert outcome.spec.get("affinity") == affinity
    assert outcome.messages == []


def test_required_and_preferred_together_in_the_order_of_the_api():
    options = Options(("amd64", "arm64", "s390x"), prefer=(("arm64", 1),), tolerate=())
    node = one(AR, options).spec["affinity"]["nodeAffinity"]
    assert list(node) == list({**requiring()["nodeAffinity"], **preferred()["nodeAffinity"]})


def test_both_extend_what_is_there_with_a_test_each():
    options = Options(("amd64", "arm64", "s390x"), prefer=(("arm64", 1),), tolerate=())
    before = {"nodeAffinity": {**requiring(term(("a", "Exists")))["nodeAffinity"], PREFERRED: [FOO]}}
    patch = one(AR, options, affinity=before).decision.patch
    assert [type(step) for step in patch] == [Test, Add, Test, Add]


@pytest.mark.parametrize(
    ("kind", "added"),
    [
        pytest.param("Deployment", True, id="deployment"),
        pytest.param("DaemonSet", False, id="never-on-daemon-sets"),
        pytest.param("Job", False, id="not-on-what-is-immutable"),
    ],
)
def test_kinds(kind, added):
    assert ("affinity" in one(AR, ARM, kind=kind).spec) is added


def test_immutable_full_prefers():
    assert "affinity" in one(AR, ARM.replace(immutable="full"), kind="Job").spec


def test_nothing_is_preferred_for_images_nobody_knows():
    assert decided(using("$(x)"), {}, ARM).added == {}


def test_nothing_is_preferred_beside_an_image_that_nobody_knows():
    outcome = decided(using("a", "$(x)"), {"a": AR}, ARM)
    assert (outcome.name, outcome.added) == ("NotNeeded", {})
    assert outcome.messages[0].endswith("restricts nothing, and no toleration and no preference is added")


def test_fallback_architecture():
    options = Options(on_unknown="assume", assume=(parse_platform("linux/amd64"),))
    outcome = decided(using("a"), {"a": Unknown("inspection failed")}, options)
    assert terms_of(outcome.spec) == [term(in_("amd64"))]


def test_a_rule_overrides_the_weight():
    from archfit.options.settings import Match, Rule

    options = ARM.replace(
        prefer=(("arm64", 5),), rules=(Rule(Match(namespace="shop"), prefer=(("arm64", 1),)),)
    )
    assert one(AR, options).added == {"affinity": preferred(preferring("arm64", "1"))}


def test_an_answer_may_be_unasked():
    assert decided(using("a"), {"a": Unasked("the lookup does not ask such hosts")}, ARM).added == {}
