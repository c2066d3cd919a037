"""On a list of nodes, with the scheduler's rules: no pod reaches a node its images cannot run on, none is kept off one.

A node counts if it is Linux and its architecture is in C, or if the pod asks for its OS. So with C = amd64, arm64 a pod
reaches the s390x node exactly when its images run on all of C; with s390x in C it is shut out where an image lacks it.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archfit.options.settings import Options
from pod_decisions import decided
from scheduler_model import ARCH, GKE_TAINT, OS, REQUIRED, Node, a_node, can_run

OFFERS = (
    "amd64",
    "arm64",
    "amd64 arm64",
    "amd64 s390x",
    "amd64 arm64 s390x",
    "arm64 windows/amd64",
    "amd64 arm64 windows/amd64",
)
NODES = (
    a_node("amd64", "linux", "amd64"),
    a_node("amd64-ssd", "linux", "amd64", disk="ssd", cores="16"),
    a_node("arm64", "linux", "arm64", disk="ssd"),
    a_node("arm64-gke", "linux", "arm64", (GKE_TAINT,), cores="4"),
    a_node("s390x", "linux", "s390x", disk="ssd"),
    a_node("w1", "windows", "amd64", (("node.kubernetes.io/os", "windows", "NoSchedule"),)),
)
LEFT_ALONE = {"Conflict", "OptedOut", "Unresolved"}

architectures = st.sampled_from(["amd64", "arm64", "s390x", "ppc64le"])
arch_expressions = st.one_of(
    st.builds(
        lambda key, operator, values: {"key": key, "operator": operator, "values": values},
        st.sampled_from([ARCH, f"beta.{ARCH}"]),
        st.sampled_from(["In", "NotIn"]),
        st.lists(architectures, min_size=1, max_size=2, unique=True),
    ),
    st.sampled_from([{"key": ARCH, "operator": "Exists"}, {"key": ARCH, "operator": "DoesNotExist"}]),
)
other_expressions = st.sampled_from(
    [
        {"key": "disk", "operator": "In", "values": ["ssd"]},
        {"key": "disk", "operator": "DoesNotExist"},
        {"key": "cores", "operator": "Gt", "values": ["8"]},
        {"key": "cores", "operator": "Lt", "values": ["8"]},
        {"key": OS, "operator": "In", "values": ["linux"]},
        {"key": OS, "operator": "In", "values": ["windows"]},
    ]
)
fields = st.sampled_from(
    [{"key": "metadata.name", "operator": "In", "values": [node.name]} for node in NODES]
)
terms = st.one_of(
    st.builds(
        lambda found: {"matchExpressions": found},
        st.lists(st.one_of(arch_expressions, other_expressions), min_size=1, max_size=2),
    ),
    st.builds(lambda found: {"matchFields": [found]}, fields),
    st.builds(
        lambda found, one: {"matchFields": [found], "matchExpressions": [one]}, fields, arch_expressions
    ),
    st.just({}),
)
affinities = st.builds(
    lambda found: {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": found}}},
    st.lists(terms, min_size=1, max_size=3),
)
selectors = st.sampled_from(
    [
        {},
        {"disk": "ssd"},
        {ARCH: "amd64"},
        {ARCH: "arm64"},
        {f"beta.{ARCH}": "arm64"},
        {OS: "linux"},
        {OS: "windows"},
        {f"beta.{OS}": "windows"},
    ]
)
tolerations = st.lists(
    st.sampled_from(
        [
            {"key": ARCH, "operator": "Equal", "value": "arm64", "effect": "NoSchedule"},
            {"key": ARCH, "operator": "Exists"},
            {"key": ARCH, "value": "amd64"},
            {"operator": "Exists"},
            {"key": "node.kubernetes.io/os", "value": "windows", "effect": "NoSchedule"},
        ]
    ),
    max_size=2,
)
specs = st.fixed_dictionaries(
    {"offers": st.lists(st.sampled_from(OFFERS), min_size=1, max_size=2)},
    optional={"affinity": affinities, "nodeSelector": selectors, "tolerations": tolerations},
)


def supports(node: Node, offers: list[str]) -> bool:
    """Whether every image offers the node's platform."""
    names = [{word if "/" in word else f"linux/{word}" for word in words.split()} for words in offers]
    return all(node.platform in platforms for platforms in names)


def asks_for_windows(spec: dict[str, Any]) -> bool:
    """Whether the whole pod does: one of its terms may reach a node of any OS if it names none, as it could before."""
    if "windows" in (spec.get("nodeSelector") or {}).values():
        return True
    found = spec["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"] if "affinity" in spec else []
    return bool(found) and all("windows" in str(term.get("matchExpressions")) for term in found)


def placed(
    spec: dict[str, Any], cluster: tuple[str, ...], kind: str = "Deployment"
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The outcome, and the pod spec before and after."""
    before = {name: value for name, value in spec.items() if name != "offers"}
    before["containers"] = [{"image": f"i:{number}"} for number in range(len(spec["offers"]))]
    images = {f"i:{number}": offer for number, offer in enumerate(spec["offers"])}
    outcome = decided(before, images, Options(on_conflict="leave", cluster_architectures=cluster), kind)
    return outcome.name, before, outcome.spec


@pytest.mark.parametrize("cluster", [("amd64", "arm64"), ("amd64", "arm64", "s390x"), ("amd64",)], ids=str)
@settings(max_examples=400, deadline=None, derandomize=True)
@given(spec=specs)
def test_safe_live_and_never_wider(cluster: tuple[str, ...], spec: dict[str, Any]) -> None:
    outcome, before, after = placed(spec, cluster)
    if outcome in LEFT_ALONE:
        assert after == before
        return
    for node in NODES:
        linux = node.os == "linux"
        if not (node.arch in cluster if linux else asks_for_windows(spec)):
            continue
        runs = supports(node, spec["offers"])
        if can_run(after, node) and (linux or can_run(before, node, but_for_arch_taints=True)):
            assert runs, f"it may reach {node.name}"
            assert can_run(before, node, but_for_arch_taints=True), f"it could not reach {node.name}"
        if runs and can_run(before, node, but_for_arch_taints=True):
            assert can_run(after, node), f"it is kept off {node.name}"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(offers=st.lists(st.sampled_from(OFFERS), min_size=1, max_size=3))
def test_s390x_outside_of_the_cluster_is_reached_where_nothing_is_restricted(offers: list[str]) -> None:
    s390x = next(node for node in NODES if node.name == "s390x")
    everywhere = all({"amd64", "arm64"} <= set(offer.split()) for offer in offers)
    outcome, _, after = placed({"offers": offers}, ("amd64", "arm64"))
    if outcome != "Conflict":
        assert can_run(after, s390x) == everywhere
    outcome, _, after = placed({"offers": offers}, ("amd64", "arm64", "s390x"))
    if outcome != "Conflict":
        assert can_run(after, s390x) == supports(s390x, offers)


simple = st.fixed_dictionaries(
    {"offers": st.lists(st.sampled_from(OFFERS), min_size=1, max_size=2)},
    optional={
        "nodeSelector": st.sampled_from([{}, {ARCH: "amd64"}, {ARCH: "arm64"}, {f"beta.{ARCH}": "arm64"}]),
        "tolerations": tolerations,
    },
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(spec=simple, kind=st.sampled_from(["Job", "Pod"]))
def test_what_cannot_be_changed_later_gets_only_what_it_needs(spec: dict[str, Any], kind: str) -> None:
    outcome, before, after = placed(spec, ("amd64", "arm64"), kind)
    if outcome in LEFT_ALONE:
        return
    counted = [node for node in NODES if node.platform in ("linux/amd64", "linux/arm64")]
    fitting = [node for node in counted if supports(node, spec["offers"])]
    reachable = [node for node in fitting if can_run(before, node, but_for_arch_taints=True)]
    assert all(node in fitting for node in counted if can_run(after, node))
    assert not reachable or any(can_run(after, node) for node in reachable)
    if fitting == counted and any(can_run(before, node) for node in counted if node.name == "amd64"):
        assert after == before
