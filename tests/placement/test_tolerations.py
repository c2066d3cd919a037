"""Which toleration covers another, by core/v1's ToleratesTaint; and where a new one goes."""

import pytest

from archfit.base.patch import Add, Test
from archfit.options import settings
from archfit.options.settings import Options, Toleration, TolerationRule
from archfit.placement.tolerations import covers, uncovered
from pod_decisions import ARCH, GKE, one

NEW = Toleration(ARCH, "Equal", "arm64", "NoSchedule")
AR = "amd64 arm64"
PATH = ("spec", "template", "spec", "tolerations")


@pytest.mark.parametrize(
    ("there", "covered"),
    [
        pytest.param(GKE, True, id="the-same"),
        pytest.param({**GKE, "operator": None}, True, id="no-operator-means-equal"),
        pytest.param({**GKE, "operator": ""}, True, id="empty-operator-means-equal"),
        pytest.param({**GKE, "effect": None}, True, id="no-effect-is-every-effect"),
        pytest.param({"key": ARCH, "operator": "Exists"}, True, id="exists"),
        pytest.param(
            {"key": ARCH, "operator": "Exists", "effect": "NoSchedule"}, True, id="exists-same-effect"
        ),
        pytest.param({"operator": "Exists"}, True, id="empty-key-exists"),
        pytest.param({"operator": "Exists", "effect": "NoSchedule"}, True, id="empty-key-same-effect"),
        pytest.param({**GKE, "tolerationSeconds": "60"}, True, id="for-a-time-is-kubernetes-own-rule"),
        pytest.param({"operator": "Exists", "effect": "NoExecute"}, False, id="empty-key-other-effect"),
        pytest.param({**GKE, "effect": "NoExecute"}, False, id="other-effect"),
        pytest.param({**GKE, "value": "amd64"}, False, id="other-value"),
        pytest.param({**GKE, "value": None}, False, id="no-value"),
        pytest.param({**GKE, "key": "beta.kubernetes.io/arch"}, False, id="other-key"),
        pytest.param({**GKE, "operator": "Lt"}, False, id="unknown-operator"),
        pytest.param({**GKE, "operator": "exists"}, False, id="misspelt-operator"),
        pytest.param({}, False, id="empty"),
        pytest.param(None, False, id="null"),
    ],
)
def test_covering(there, covered):
    outcome = one(AR, tolerations=[there])
    assert outcome.spec["tolerations"] == ([there] if covered else [there, GKE])
    assert outcome.name == ("AlreadySet" if covered else "Change")
    assert outcome.messages == []


@pytest.mark.parametrize(
    ("there", "new", "covered"),
    [
        pytest.param(
            Toleration("k", "Exists"), Toleration("k", "Exists", "", "NoSchedule"), True, id="exists"
        ),
        pytest.param(Toleration("k", "Equal", "v"), Toleration("k", "Exists"), False, id="one-value-of-all"),
        pytest.param(
            Toleration("k", "Exists", "", "NoSchedule"), Toleration("k", "Exists"), False, id="one-effect"
        ),
        pytest.param(Toleration("k", ""), Toleration("k", "Equal"), True, id="empty-value"),
    ],
)
def test_covering_of_wider_tolerations(there, new, covered):
    assert covers(there, new) is covered


def test_rules_that_say_the_same_add_one():
    assert uncovered([], [NEW, Toleration(ARCH, "Exists"), NEW]) == [NEW, Toleration(ARCH, "Exists")]


RESERVE = Toleration("pool", "Equal", "x86", "NoSchedule")
RESERVED = {"key": "pool", "operator": "Equal", "value": "x86", "effect": "NoSchedule"}
NEEDED = TolerationRule(("amd64",), RESERVE, needed=True)


@pytest.mark.parametrize(
    ("platforms", "rules", "own", "added"),
    [
        pytest.param("amd64", (NEEDED,), None, [RESERVED], id="it can run nowhere else"),
        pytest.param("amd64 arm64", (NEEDED,), None, None, id="it runs without it"),
        pytest.param("arm64", (NEEDED,), None, None, id="it never comes there"),
        pytest.param("amd64 arm64", (settings.GKE, NEEDED), None, [GKE], id="another rule opens the rest"),
        pytest.param("amd64", (settings.GKE, NEEDED), None, [RESERVED], id="another rule opens nothing"),
        pytest.param("amd64", (NEEDED,), [RESERVED], None, id="it has it"),
        pytest.param("amd64 arm64", (NEEDED.replace(needed=False),), None, [RESERVED], id="when: possible"),
    ],
)
def test_a_toleration_that_only_those_get_that_need_it(platforms, rules, own, added):
    options = Options(tolerate=rules)
    outcome = one(platforms, options, **({"tolerations": own} if own else {}))
    assert outcome.spec.get("tolerations") == ([*(own or ()), *(added or ())] or None)
    assert one(platforms, options, **outcome.added).decision.patch == ()


@pytest.mark.parametrize(
    ("toleration", "written"),
    [
        pytest.param(NEW, GKE, id="equal"),
        pytest.param(Toleration("k", "Exists"), {"key": "k", "operator": "Exists"}, id="exists"),
        pytest.param(
            Toleration("k", "Equal", "", "NoExecute"),
            {"key": "k", "operator": "Equal", "effect": "NoExecute"},
            id="no-value",
        ),
    ],
)
def test_as_kubernetes_writes_it(toleration, written):
    outcome = one(AR, Options(tolerate=(TolerationRule(("arm64",), toleration),)))
    (made,) = outcome.spec["tolerations"]
    assert list(made.items()) == list(written.items())


OTHER = {"key": "foo", "operator": "Exists"}


@pytest.mark.parametrize(
    ("fields", "patch"),
    [
        pytest.param({}, (Test(PATH, None), Add(PATH, [GKE])), id="missing"),
        pytest.param(
            {"tolerations": None}, (Test(PATH, None), Add(PATH, [GKE])), id="null-counts-as-missing"
        ),
        pytest.param(
            {"tolerations": []}, (Test(PATH, []), Add((*PATH, "-"), GKE)), id="empty-is-kept-and-filled"
        ),
        pytest.param({"tolerations": [OTHER]}, (Test(PATH, [OTHER]), Add((*PATH, "-"), GKE)), id="appended"),
    ],
)
def test_patch(fields, patch):
    assert one(AR, **fields).decision.patch == patch
