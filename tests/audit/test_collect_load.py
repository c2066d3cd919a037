"""A large cluster passes through: what is kept grows with its workloads, and hardly with its pods."""

import io
import tracemalloc

import pytest

from archfit.audit.running.collect import Collector
from archfit.cluster.list_stream import items
from large_cluster import objects, write

pytestmark = pytest.mark.load

PODS = 2000


def _collected(pods: int, form: str) -> Collector:
    text = io.StringIO()
    write(pods, form, text)
    collector = Collector("lists", "large")
    for value, where in items(io.BytesIO(text.getvalue().encode()), "large.json"):
        collector.add(value, where)
    return collector


def test_a_list_of_kubectl_and_its_pages_hold_the_same():
    listed, paged = _collected(PODS, "list"), _collected(PODS, "page")
    assert listed.kinds == paged.kinds
    assert listed.facts() == paged.facts()
    facts = listed.facts()
    assert sum(one.pods for one in facts.workloads if one.standing != "scheduled") == PODS
    assert {one.owner_by for one in facts.workloads if one.kind in ("Deployment", "CronJob")} == {
        "controller",
        "name",
    }
    assert sum(node.requested_pods for node in facts.nodes) == PODS * 9 // 10
    assert len(facts.images) < PODS


def test_another_pod_of_a_known_workload_and_node_keeps_a_few_bytes():
    (first, *_) = objects(10)
    collector = Collector("lists", "large")

    def add(start: int, number: int) -> None:
        for place in range(start, start + number):
            metadata = {**first["metadata"], "uid": f"uid-{place}", "name": f"service-{place}"}
            collector.add({**first, "metadata": metadata})

    add(0, 100)
    tracemalloc.start()
    try:
        add(100, PODS)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert collector.kinds == {"Pod": 100 + PODS}
    assert kept / PODS < 250
