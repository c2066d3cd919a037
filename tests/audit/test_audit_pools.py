"""Pools in an audit: what may bring nodes, whom its taints keep off, and what was not read."""

import json
import operator
from typing import Any

import pytest
import yaml
from tests.audit.audit_clusters import BOTH, facts_of, node, written
from tests.audit.cluster_objects import pod

from archfit.audit.clusters import brought
from archfit.audit.findings import AuditFindings, findings
from archfit.audit.report import markdown, page, text
from archfit.audit.report.pool_words import pool_sentences, unread_pools
from archfit.audit.report.words import cluster_words, loss_sentence
from archfit.audit.running.collect import Collector
from archfit.facts.facts import AuditFacts, PoolFacts
from archfit.facts.reports import from_json
from archfit.options.settings import Options
from machine import ROOT

SMALL = "0" * 16
AMD = ("amd64",)
ON_AMD = {"runs_on": (("amd64", 1),)}


def recorded(name: str) -> list[dict[str, Any]]:
    """The objects of a cluster, in the shape in which it stores them."""
    items = yaml.safe_load((ROOT / "fixtures" / "pools" / f"{name}.yaml").read_text(encoding="utf-8"))[
        "items"
    ]
    assert items
    return list(items)


def collected(*values: Any) -> AuditFacts:
    collector = Collector("lists", "test", Options())
    for value in values:
        collector.add(value)
    return collector.facts()


def with_pools(
    *pools: PoolFacts, nodes: Any = (), unread: tuple[str, ...] = (), tolerations: Any = ()
) -> AuditFindings:
    """Two workloads on amd64: web runs on both, old on amd64 alone. tolerations: of both."""
    facts = facts_of(
        ("web", 2, 2000, {"x.example/web:1": BOTH}), ("old", 1, 1000, {"x.example/old:1": AMD}),
        nodes=nodes or (node("a", "amd64"),), **ON_AMD,
    )  # fmt: skip
    workloads = tuple(one.replace(tolerations=tolerations) for one in facts.workloads)
    snapshots = tuple(one.replace(unread_pools=unread) for one in facts.snapshots)
    return findings(facts.replace(pools=tuple(pools), workloads=workloads, snapshots=snapshots))


def pool(name: str = "default", *architectures: str, **more: Any) -> PoolFacts:
    return PoolFacts(
        SMALL,
        "NodePool",
        name,
        architectures,
        **{"basis": "" if more.get("problem") else "its requirements", **more},
    )


@pytest.mark.parametrize("name", ["karpenter", "gke", "openshift", "cluster-api"])
@pytest.mark.parametrize("turned", [False, True], ids=["in order", "turned round"])
def test_recorded_pools_are_as_setup_cluster_reads_them(name, turned):
    """Whatever their order; machines of other clusters too, which bring nothing here."""
    from archfit.cluster.nodes import nodes
    from archfit.cluster.pools.read import of_this_cluster, pools

    values = recorded(name)
    read = of_this_cluster(pools(values), {one.cluster for one in nodes(values)})
    facts = collected(*([*reversed(values)] if turned else values), pod("web"))
    assert {one.snapshot for one in facts.pools} == {facts.snapshots[0].id}
    same = operator.attrgetter(
        "kind", "name", "architectures", "basis", "problem", "weight", "limits", "scales"
    )
    assert facts.pools
    assert list(map(same, facts.pools)) == list(map(same, read))
    assert [one.taints for one in facts.pools] == [tuple(sorted(map(str, one.taints))) for one in read]


def test_pools_come_once_and_are_no_kind_that_may_hold_pods():
    collector = Collector("lists", "test", Options())
    for value in (pod("web"), *recorded("karpenter"), *recorded("karpenter")):
        collector.add(value)
    assert len(collector.facts().pools) == 3
    assert (collector.kinds["NodePool"], collector.kinds["EC2NodeClass"]) == (3, 1)
    assert not collector.unknown


def test_a_pool_changes_the_snapshot_and_others_of_that_name_are_none():
    alone = collected(pod("web"))
    assert collected(pod("web"), recorded("karpenter")[1]).snapshots[0].id != alone.snapshots[0].id
    other = {"apiVersion": "example.com/v1", "kind": "NodePool", "metadata": {"name": "default"}, "spec": {}}
    assert collected(pod("web"), other).pools == ()


def test_what_a_pool_may_bring_counts_for_linux_and_without_a_problem():
    those = (
        pool("a", "arm64", "windows/amd64"),
        pool("b", problem="its limit of cpu is 0"),
        pool("c", "s390x"),
    )
    assert brought(those) == {SMALL: {"arm64", "s390x"}}
    found = with_pools(*those)
    assert found.architectures == ("arm64", "amd64", "s390x")
    assert found.clusters[0].pools == ("arm64", "s390x")
    assert cluster_words(found.clusters[0]).startswith("nodes amd64; pools may bring arm64, s390x; ")


ARM = (("arch", "Equal", "arm64", "NoSchedule"),)
SENTENCES = [
    pytest.param(pool("default", "arm64", limits=(("CPU", "500"),), weight=10), (), "arm64 allowed by NodePool default (its requirements), limit 500 CPU, weight 10.", id="as DESIGN words it"),
    pytest.param(pool("a", "amd64", "arm64"), (), "amd64 and arm64 allowed by NodePool a (its requirements).", id="both"),
    pytest.param(pool("a", problem="its limit of cpu is 0, so it brings no node"), (), "NodePool a: its limit of cpu is 0, so it brings no node.", id="a problem"),
    pytest.param(pool("a", "arm64", taints=("arch=arm64:NoSchedule",)), (), "arm64 allowed by NodePool a (its requirements); taint arch=arm64:NoSchedule: no workload that could move tolerates it (--tolerate 'arch=arm64:NoSchedule@arm64').", id="a taint of the architecture"),
    pytest.param(pool("a", "arm64", taints=("arch=arm64:NoSchedule",)), ARM, "arm64 allowed by NodePool a (its requirements); taint arch=arm64:NoSchedule: all workloads that could move tolerate it.", id="tolerated"),
    pytest.param(pool("a", "arm64", taints=("kubernetes.io/arch=arm64:NoSchedule",)), (), "arm64 allowed by NodePool a (its requirements); taint kubernetes.io/arch=arm64:NoSchedule: no workload that could move tolerates it (archfit writes this toleration by default).", id="archfit's default"),
    pytest.param(pool("a", "amd64", "arm64", taints=("arch=arm64:NoSchedule",)), (), "amd64 and arm64 allowed by NodePool a (its requirements); taint arch=arm64:NoSchedule: no workload that could move tolerates it.", id="no rule where the pool brings another architecture"),
    pytest.param(pool("a", "arm64", taints=("team=ml:NoExecute",)), (), "arm64 allowed by NodePool a (its requirements); taint team=ml:NoExecute: no workload that could move tolerates it.", id="another taint"),
    pytest.param(pool("a", "arm64", taints=("spot:PreferNoSchedule",)), (), "arm64 allowed by NodePool a (its requirements).", id="a taint that keeps nobody off"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "tolerations", "sentence"), SENTENCES)
def test_a_sentence_for_each_pool(one, tolerations, sentence):
    assert list(pool_sentences(with_pools(one, tolerations=tolerations))) == [sentence]


def test_some_workloads_tolerate_a_taint():
    found = with_pools(pool("a", "arm64", taints=("team=ml:NoSchedule",)))
    facts = found.facts
    first, second = facts.workloads
    facts = facts.replace(workloads=(first.replace(tolerations=(("team", "Exists", "", ""),)), second))
    assert ": 1 of 2 workloads that could move tolerate it." in next(iter(pool_sentences(findings(facts))))


LOST = [
    pytest.param((), (), "Without amd64 nodes, no Linux node is left (virtual ones do not count).", id="no pool"),
    pytest.param((pool("a", "amd64"),), (), "Without amd64 nodes, no Linux node is left (virtual ones do not count).", id="a pool of the same"),
    pytest.param((pool("a", problem="p"),), (), "Without amd64 nodes, no Linux node is left (virtual ones do not count).", id="a pool that brings nothing"),
    pytest.param(
        (pool("a", "amd64", "arm64"),), (),
        "Without amd64 nodes, no Linux node is left until a pool makes one; 1 CPU in 1 pod of 1 workload would have no node that runs them. "
        "1 CPU in 1 pod of 1 workload would move: pools may bring arm64 nodes, within their limits and taints.",
        id="a pool may bring the other one",
    ),
    pytest.param(
        (pool("a", "arm64"),), (node("a", "amd64"), node("b", "arm64", 500)),
        "Without amd64 nodes, 1 CPU in 1 pod of 1 workload would have no node that runs them. 1 CPU in 1 pod of 1 workload would move: arm64 "
        "nodes that all of them may use have too little room (0.5 CPU, 0 B, 0 pods free); pools may bring arm64 nodes.",
        id="beside nodes that are there",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("pools", "nodes", "sentence"), LOST)
def test_what_would_become_of_the_pods_counts_what_pools_may_bring(pools, nodes, sentence):
    losses = with_pools(*pools, nodes=nodes).capacity.losses
    assert next(loss_sentence(one) for one in losses if one.architecture == "amd64") == sentence


def test_what_was_not_read_is_said_and_is_never_none():
    found = with_pools(unread=("nodepools.karpenter.sh",))
    sentence = "Not read: nodepools.karpenter.sh. Whether they bring nodes is not known."
    assert list(unread_pools(found)) == [sentence]
    assert "; not all pools are known; " in cluster_words(found.clusters[0])
    for form in (text, markdown, page):
        written = form.render(found).decode()
        assert sentence in " ".join(written.split()), form.__name__
    assert list(unread_pools(with_pools())) == []


def test_every_form_has_the_pools():
    found = with_pools(
        pool("graviton", "arm64", limits=(("CPU", "7"),), taints=("arch=arm64:NoSchedule",)),
        pool("old", problem="it is no more"),
    )
    for form in (text, markdown, page):
        written = " ".join(form.render(found).decode().replace("<wbr>", "").split())
        for words in ("NodePool graviton", "7 CPU", "arch=arm64:NoSchedule", "NodePool old", "it is no more"):
            assert words in written, (form.__name__, words)
    for form in (text, markdown, page):
        written = form.render(with_pools()).decode()
        assert "Pools that may" not in written, form.__name__
        assert "allowed by" not in written, form.__name__


def test_programs_read_pools_from_the_facts_and_taints_from_the_findings():
    from archfit.audit.report import json as report

    found = with_pools(pool("a", "arm64", taints=("arch=arm64:NoSchedule",)))
    value = json.loads(report.render(found))
    assert value["facts"]["pools"][0]["architectures"] == ["arm64"]
    assert value["findings"]["clusters"][0]["pools"] == ["arm64"]
    assert value["findings"]["capacity"]["poolTaints"] == [
        {"snapshot": SMALL, "kind": "NodePool", "name": "a", "architectures": ["arm64"], "taint": "arch=arm64:NoSchedule", "tolerating": 0, "workloads": 2}
    ]  # fmt: skip
    assert value["findings"]["capacity"]["losses"][0]["bring"] == ["arm64"]


DONE = [
    pytest.param(pool("a", "arm64"), (), 2, id="a pool without a taint"),
    pytest.param(pool("a", "amd64"), (), 0, id="a pool of the other architecture"),
    pytest.param(pool("a", problem="its limit of cpu is 0"), (), 0, id="a pool that brings nothing"),
    pytest.param(pool("a", "arm64", taints=("arch=arm64:NoSchedule",)), (), 0, id="its taint is not tolerated"),
    pytest.param(pool("a", "arm64", taints=("arch=arm64:NoSchedule",)), ARM, 2, id="its taint is tolerated"),
    pytest.param(pool("a", "arm64").replace(snapshot="1" * 16), (), 0, id="a pool of another cluster"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "tolerations", "allowed"), DONE)
def test_pods_may_go_where_a_pool_brings_nodes(one, tolerations, allowed):
    """Without a node of the architecture; web is ready for it, with two pods."""
    plan = next(
        plan for plan in with_pools(one, tolerations=tolerations).waves if plan.architecture == "arm64"
    )
    (ready,) = (wave for wave in plan.waves if wave.number == 1)
    assert (ready.amount.pods, ready.there, ready.allowed) == (2, 0, allowed)


HOSTILE = [
    pytest.param({"weight": -5}, id="a weight below 0"),
    pytest.param({"weight": "x", "limits": []}, id="no number"),
    pytest.param({"template": "x"}, id="no template"),
    pytest.param({"template": {"spec": {"taints": [1, {"key": None}], "requirements": {"a": 1}}}}, id="no lists"),
    pytest.param({"limits": {"cpu": "\x1b[31mred"}}, id="control characters"),
    pytest.param(None, id="no spec"),
]  # fmt: skip


@pytest.mark.parametrize("spec", HOSTILE)
def test_a_pool_of_wrong_types_is_read_and_its_report_too(spec):
    value = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "a\x1b[0m"},
        "spec": spec,
    }
    facts = collected(pod("web"), value)
    assert from_json(written(facts), "a.json") == facts
    found = findings(facts)
    for form in (text, markdown, page):
        assert b"\x1b" not in form.render(found)
