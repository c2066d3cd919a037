"""Kubernetes' own semantics of required terms: operators, labels, nodeSelector, operating systems."""

from typing import Any

import pytest

from archfit.options.settings import Options
from archfit.placement.affinity import allowed, demands, meets
from pod_decisions import ARCH, BETA, OS, a_pod, in_, one, requiring, term, terms_of

C = frozenset(("amd64", "arm64"))
BETA_OS = "beta.kubernetes.io/os"


@pytest.mark.parametrize(
    ("operator", "values", "label", "met"),
    [
        pytest.param("In", ("amd64",), "amd64", True, id="in"),
        pytest.param("In", ("amd64",), "arm64", False, id="not-among"),
        pytest.param("In", (), "amd64", False, id="in-nothing"),
        pytest.param("In", ("AMD64",), "amd64", False, id="labels-are-case-sensitive"),
        pytest.param("NotIn", ("amd64",), "arm64", True, id="not-in"),
        pytest.param("NotIn", ("amd64",), "amd64", False, id="not-in-but-among"),
        pytest.param("NotIn", (), "amd64", False, id="not-in-nothing-is-refused"),
        pytest.param("Exists", (), "amd64", True, id="exists"),
        pytest.param("Exists", ("x",), "amd64", False, id="exists-with-values-is-refused"),
        pytest.param("DoesNotExist", (), "amd64", False, id="does-not-exist"),
        pytest.param("Gt", ("5",), "6", True, id="gt"),
        pytest.param("Gt", ("5",), "5", False, id="gt-equal"),
        pytest.param("Lt", ("5",), "4", True, id="lt"),
        pytest.param("Lt", ("5",), "-4", True, id="lt-negative"),
        pytest.param("Lt", ("5",), "5", False, id="lt-equal"),
        pytest.param("Gt", ("5",), "amd64", False, id="gt-of-a-word"),
        pytest.param("Gt", ("x",), "6", False, id="gt-than-a-word"),
        pytest.param("Gt", ("5", "6"), "7", False, id="gt-takes-one"),
        pytest.param("Gt", (), "7", False, id="gt-takes-one-not-none"),
        pytest.param("Gt", ("1_0",), "70", False, id="go-has-no-underscores-in-decimals"),
        pytest.param("Gt", ("٣",), "7", False, id="go-reads-ascii-digits"),
        pytest.param("Gt", ("9223372036854775808",), "1", False, id="past-int64"),
        pytest.param("Lt", ("9" * 5000,), "1", False, id="far-past-int64"),
        pytest.param("Lt", ("0" * 5000 + "2",), "1", True, id="leading-zeros"),
        pytest.param("in", ("amd64",), "amd64", False, id="operators-are-case-sensitive"),
        pytest.param("", ("amd64",), "amd64", False, id="no-operator"),
    ],
)
def test_operators(operator, values, label, met):
    assert meets([(operator, values)], label) is met


@pytest.mark.parametrize(
    ("fields", "architectures"),
    [
        pytest.param({}, C, id="nothing"),
        pytest.param({"affinity": {}}, C, id="affinity-empty"),
        pytest.param({"affinity": None, "nodeSelector": None, "os": None}, C, id="nulls"),
        pytest.param({"affinity": {"nodeAffinity": {}}}, C, id="node-affinity-empty"),
        pytest.param({"nodeSelector": {"a": "b"}}, C, id="other-label"),
        pytest.param({"nodeSelector": {ARCH: "arm64"}}, {"arm64"}, id="selector"),
        pytest.param({"nodeSelector": {BETA: "s390x"}}, {"s390x"}, id="selector-names-another"),
        pytest.param({"nodeSelector": {ARCH: "arm64", BETA: "arm64"}}, {"arm64"}, id="both-labels-agree"),
        pytest.param({"nodeSelector": {ARCH: "arm64", BETA: "amd64"}}, set(), id="labels-contradict"),
        pytest.param({"nodeSelector": {ARCH: None}}, {""}, id="null-is-the-empty-string"),
        pytest.param({"affinity": requiring(term(in_("s390x", "amd64")))}, {"s390x", "amd64"}, id="in"),
        pytest.param({"affinity": requiring(term((ARCH, "NotIn", ["amd64"])))}, {"arm64"}, id="not-in"),
        pytest.param({"affinity": requiring(term(in_("amd64", "arm64"), (BETA, "NotIn", ["amd64"])))}, {"arm64"}, id="labels-are-one"),
        pytest.param({"affinity": requiring(term(in_("arm64"))), "nodeSelector": {BETA: "amd64"}}, set(), id="selector-anded"),
        pytest.param({"affinity": requiring(term(("x", "In", [])))}, C, id="other-keys-are-satisfiable"),
        pytest.param({"affinity": requiring({"matchFields": [{"key": "metadata.name"}]})}, C, id="match-fields"),
        pytest.param({"affinity": requiring({})}, set(), id="empty-term"),
        pytest.param({"affinity": requiring({"matchExpressions": [], "matchFields": []})}, set(), id="empty-lists"),
        pytest.param({"affinity": requiring(term((ARCH, "Gt", ["5"]), in_("7"))), "nodeSelector": {}}, {"7"}, id="gt"),
    ],
)  # fmt: skip
def test_allowed(fields, architectures):
    (demand,) = demands(a_pod({"containers": [], **fields}))
    assert allowed(demand, C) == architectures


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"nodeSelector": {OS: "linux", BETA_OS: "windows"}}, id="labels-of-the-selector"),
        pytest.param(
            {"nodeSelector": {OS: "windows"}, "affinity": requiring(term((OS, "In", ["linux"])))},
            id="selector-and-term",
        ),
        pytest.param(
            {"affinity": requiring(term((OS, "In", ["linux"]), (BETA_OS, "NotIn", ["linux"])))},
            id="in-a-term",
        ),
    ],
)
def test_two_operating_systems_at_once_match_nothing(fields):
    (demand,) = demands(a_pod({"containers": [], **fields}))
    assert allowed(demand, C) == frozenset()


def test_a_required_set_without_terms_matches_nothing():
    empty: list[Any] = [[], None]
    for terms in empty:
        affinity = {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        }
        assert demands(a_pod({"containers": [], "affinity": affinity})) == ()


@pytest.mark.parametrize(
    ("fields", "systems"),
    [
        pytest.param({}, "linux", id="linux-else"),
        pytest.param({"nodeSelector": {OS: "windows"}}, "windows", id="selector"),
        pytest.param({"nodeSelector": {BETA_OS: "windows"}}, "windows", id="beta-label"),
        pytest.param({"os": {"name": "windows"}}, "windows", id="spec-os"),
        pytest.param({"os": {"name": "plan9"}}, "plan9", id="spec-os-another"),
        pytest.param({"os": {}}, "linux", id="spec-os-empty"),
        pytest.param({"nodeSelector": {OS: "linux"}, "os": {"name": "windows"}}, "linux", id="label-before-spec-os"),
        pytest.param({"affinity": requiring(term((OS, "In", ["windows"])))}, "windows", id="term"),
        pytest.param({"affinity": requiring(term((BETA_OS, "In", ["windows"])))}, "windows", id="term-beta"),
        pytest.param({"affinity": requiring(term((OS, "NotIn", ["windows"])))}, "linux", id="not-windows"),
        pytest.param({"affinity": requiring(term((OS, "NotIn", ["linux"])))}, "windows", id="not-linux"),
        pytest.param({"affinity": requiring(term((OS, "Exists")))}, "linux windows", id="any"),
        pytest.param({"affinity": requiring(term((OS, "In", ["windows", "linux"])))}, "linux windows", id="either"),
        pytest.param({"affinity": requiring(term((OS, "In", ["freebsd"])))}, "freebsd", id="another"),
        pytest.param({"affinity": requiring(term((OS, "In", ["windows", "linux"]))), "os": {"name": "windows"}}, "windows", id="either-and-spec-os"),
        pytest.param({"affinity": requiring(term((OS, "DoesNotExist")))}, "linux", id="none-is-left"),
        pytest.param({"affinity": requiring(term((OS, "In", ["a", "b"]), (BETA_OS, "In", ["c", "b"])))}, "b", id="the-common-one"),
        pytest.param({"nodeSelector": {OS: "windows"}, "affinity": requiring(term((OS, "In", ["windows", "linux"])))}, "windows", id="selector-decides"),
    ],
)  # fmt: skip
def test_operating_systems(fields, systems):
    (demand,) = demands(a_pod({"containers": [], **fields}))
    assert demand.systems == tuple(systems.split())


ONE, TWO = ("amd64", "arm64", "windows/amd64"), ("amd64", "arm64", "windows/amd64", "windows/arm64")


@pytest.mark.parametrize(
    ("platforms", "entries", "terms"),
    [
        pytest.param("amd64 arm64 windows/amd64", ("amd64", "arm64"), None, id="no-entry-for-windows"),
        pytest.param("amd64 arm64 windows/amd64", ONE, None, id="on-all-windows-nodes"),
        pytest.param("amd64 arm64 windows/amd64", TWO, [term(in_("amd64"))], id="windows-platforms-count"),
        pytest.param("windows/amd64 windows/arm64", TWO, None, id="on-all-of-the-cluster"),
        pytest.param("windows/amd64 windows/arm64 windows/arm", TWO, None, id="more-than-the-cluster"),
        pytest.param("windows/amd64 windows/arm", TWO, [term(in_("amd64"))], id="c-is-what-the-entries-say"),
    ],
)
def test_a_windows_pod(platforms, entries, terms):
    outcome = one(platforms, Options(cluster_architectures=entries), nodeSelector={OS: "windows"})
    assert terms_of(outcome.spec) == terms
    assert outcome.messages == []


def test_a_windows_pod_without_windows_images_is_a_conflict():
    outcome = one("amd64 arm64", nodeSelector={OS: "windows"})
    assert outcome.name == "Conflict"
    assert (
        outcome.messages[0]
        .removeprefix("error: ")
        .startswith(
            "the pod asks for nodes of windows, but app:1 offers nothing for windows, only linux/amd64, linux/arm64. Use"
        )
    )
    there = one(
        "amd64", Options(cluster_architectures=("amd64", "windows/amd64")), nodeSelector={OS: "windows"}
    )
    assert (
        there.messages[0]
        .removeprefix("error: ")
        .startswith(
            "the pod asks for nodes of windows, and the cluster has windows/amd64, but app:1 offers nothing for windows"
        )
    )
