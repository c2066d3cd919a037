"""`archfit audit --format openmetrics`: what is counted, how labels are bounded and escaped."""

from collections.abc import Iterator

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tests.audit import audit_clusters

from archfit.audit.findings import AuditFindings, findings
from archfit.audit.report import openmetrics
from archfit.audit.report.openmetrics import OTHER, left_out, render
from archfit.facts.facts import AuditFacts

SHOP = findings(audit_clusters.shop())


def samples(found: AuditFindings) -> Iterator[tuple[str, dict[str, str], float]]:
    """Name, labels and value, as the parser of prometheus_client reads them."""
    for family in text_string_to_metric_families(render(found).decode()):
        assert family.type == "gauge"
        for one in family.samples:
            assert one.timestamp is None
            yield one.name.removeprefix("archfit_audit_"), dict(one.labels), one.value


def value(found: AuditFindings, name: str, **labels: str) -> float:
    """The sum of the samples with these labels."""
    own = [number for one, have, number in samples(found) if one == name and labels.items() <= have.items()]
    assert own, (name, labels)
    return sum(own)


@pytest.mark.parametrize("architecture", ["arm64", "amd64"])
@pytest.mark.parametrize("state", ["ready", "blocked", "unknown"])
def test_the_namespaces_add_up_to_the_readiness_and_what_is_unknown_is_its_own_state(architecture, state):
    readiness = next(one for one in SHOP.readiness if one.architecture == architecture)
    amount = getattr(readiness, state)
    for name, expected in (
        ("ready_cpu_cores", amount.cpu / 1000),
        ("ready_memory_bytes", amount.memory),
        ("ready_pods", amount.pods),
        ("ready_workloads", amount.workloads),
    ):
        assert value(SHOP, name, cluster="prod-eu", architecture=architecture, state=state) == pytest.approx(
            expected
        )


def test_the_states_are_these_three_and_an_image_without_an_answer_is_in_none_but_unknown():
    states = {labels["state"] for name, labels, _ in samples(SHOP) if name == "ready_pods"}
    assert states == {"ready", "blocked", "unknown"}
    payments = {"namespace": "payments", "architecture": "arm64"}
    assert value(SHOP, "ready_cpu_cores", state="unknown", **payments) == 2
    assert value(SHOP, "images", architecture="arm64", state="unknown") == 1


def test_daemon_sets_images_and_nodes_are_those_of_the_findings():
    daemons = SHOP.daemon_sets[0]
    for state in ("ready", "blocked", "unknown", "elsewhere"):
        assert value(SHOP, "daemon_sets", architecture="arm64", state=state) == getattr(daemons, state)
    used = [one.states[0] for one in SHOP.images if one.used.workloads]
    for state in ("yes", "no", "fails", "absent", "unknown"):
        assert value(SHOP, "images", architecture="arm64", state=state) == used.count(state)
    group = next(one for one in SHOP.capacity.groups if one.architecture == "arm64")
    assert value(SHOP, "nodes", architecture="arm64") == group.nodes
    assert value(SHOP, "node_allocatable_cpu_cores", architecture="arm64") == group.cpu / 1000
    assert value(SHOP, "node_requested_cpu_cores", architecture="arm64") == group.requested_cpu / 1000
    assert value(SHOP, "node_free_cpu_cores", architecture="arm64") == group.free_cpu / 1000
    assert value(SHOP, "pinned_cpu_cores", architecture="arm64") == SHOP.readiness[0].pinned.cpu / 1000


def test_the_pods_of_a_wave_are_counted_where_they_are():
    for plan in SHOP.waves:
        for one in plan.waves:
            labels = {"architecture": plan.architecture, "wave": str(one.number)}
            found = {
                have["state"]: number
                for name, have, number in samples(SHOP)
                if name == "wave_pods" and labels.items() <= have.items()
            }
            moved = {"there": one.there, "elsewhere": one.amount.pods - one.there, "waiting": 0}
            assert found == (moved if one.owner_count else {})


def test_the_time_of_the_snapshot_is_there_where_it_is_known():
    facts = audit_clusters.shop()
    stated = facts.replace(snapshots=(facts.snapshots[0].replace(date="2026-11-24T00:30:00Z"),))
    assert value(findings(stated), "snapshot_timestamp_seconds", cluster="prod-eu") == 1795480200
    without = facts.replace(snapshots=(facts.snapshots[0].replace(date=""),))
    assert "timestamp" not in render(findings(without)).decode()


def test_an_audit_of_nothing_is_the_end_alone():
    assert render(findings(AuditFacts())) == b"# EOF\n"


def test_it_ends_with_the_end_and_has_no_name_of_a_workload_or_an_image():
    text = render(SHOP).decode()
    assert text.endswith("\n# EOF\n")
    assert text.count("# EOF") == 1
    for name in {one.facts.name for one in SHOP.workloads} - {one.facts.namespace for one in SHOP.workloads}:
        assert f'"{name}"' not in text
    for image in SHOP.images:
        assert image.facts.reference not in text


@pytest.mark.parametrize(
    ("name", "label"),
    [
        pytest.param('a"b', 'a"b', id="quote"),
        pytest.param("a\\b", "a\\b", id="backslash"),
        pytest.param('"} 1\n# EOF\nx{a="', '"} 1\\n# EOF\\nx{a="', id="an end in a name"),
        pytest.param("a\x1b[2Jb", r"a\x1b[2Jb", id="control characters"),
        pytest.param("a\ud800b", r"a\ud800b", id="half of a character"),
        pytest.param("ü", "ü", id="UTF-8"),
        pytest.param("n" * 500, "n" * 128, id="a long name"),
        pytest.param("", "", id="no namespace"),
    ],
)
def test_labels_are_escaped_and_bounded(name, label):
    facts = audit_clusters.facts_of(("a", 1, 1500, {"one/a:1": ("arm64",)}))
    hostile = facts.replace(workloads=(facts.workloads[0].replace(namespace=name),))
    found = findings(hostile)
    own = [
        (labels["namespace"], number)
        for one, labels, number in samples(found)
        if one == "ready_cpu_cores" and labels["state"] == "ready" and labels["architecture"] == "arm64"
    ]
    assert own == [(label, 1.5)]


def _spread(number: int) -> AuditFindings:
    """So many namespaces, of 1, 2, 3 .. CPU."""
    facts = audit_clusters.facts_of(
        *((f"w{place}", 1, 1000 * (place + 1), {"one/a:1": ("arm64",)}) for place in range(number))
    )
    workloads = tuple(one.replace(namespace=f"team-{place:05}") for place, one in enumerate(facts.workloads))
    return findings(facts.replace(workloads=workloads))


def test_the_largest_namespaces_have_series_of_their_own_and_the_others_are_summed_and_said(monkeypatch):
    monkeypatch.setattr(openmetrics, "MOST_NAMESPACES", 3)
    found = _spread(10)
    arm = {"architecture": "arm64", "state": "ready"}
    assert value(found, "ready_cpu_cores", **arm) == 55
    assert value(found, "ready_cpu_cores", namespace=OTHER, **arm) == 28
    assert value(found, "ready_cpu_cores", namespace="team-00009", **arm) == 10
    assert value(found, "namespaces_summed") == 7
    assert len({have.get("namespace") for name, have, _ in samples(found) if name == "ready_pods"}) == 4
    assert list(left_out(found)) == [
        "--format openmetrics: the 3 largest namespaces have series of their own; 7 namespaces more are summed as "
        'namespace="(other)"'
    ]


def test_few_namespaces_are_all_there_and_nothing_is_said():
    assert list(left_out(SHOP)) == []
    assert value(SHOP, "namespaces_summed") == 0
    assert OTHER not in {labels.get("namespace") for _, labels, _ in samples(SHOP)}


def test_each_cluster_of_a_fleet_has_its_own_series():
    shop = audit_clusters.shop()
    (snapshot,) = shop.snapshots
    other = snapshot.replace(id="other", name="prod-us")
    fleet = shop.replace(
        snapshots=(snapshot, other),
        nodes=(*shop.nodes, *(one.replace(snapshot="other") for one in shop.nodes)),
        workloads=(*shop.workloads, *(one.replace(snapshot="other") for one in shop.workloads)),
    )
    of_fleet = [(name, sorted(labels.items()), number) for name, labels, number in samples(findings(fleet))]
    for name, labels, number in samples(SHOP):
        for cluster in ("prod-eu", "prod-us"):
            own = [sample for sample in of_fleet if sample[0] == name and ("cluster", cluster) in sample[1]]
            wanted = {**labels, "cluster": cluster}.items()
            assert sum(told for _, have, told in own if wanted <= dict(have).items()) == number


def test_a_label_of_nodes_that_is_no_architecture_makes_no_series_of_its_own():
    nodes = tuple(audit_clusters.node(f"n{place}", f"made-up-{place}") for place in range(50))
    facts = audit_clusters.facts_of(("a", 1, 1, {"one/a:1": ("arm64",)}), nodes=nodes)
    found = findings(facts)
    assert value(found, "nodes", architecture=OTHER) == 50
    assert "made-up" not in render(found).decode()
