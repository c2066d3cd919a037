"""What follows from the facts of an audit: readiness, what is counted apart, the work list, capacity."""

from __future__ import annotations

import pytest

import audit_clusters
from archfit.cluster.audit_facts import AuditFacts, Snapshot
from archfit.cluster.audit_findings import findings
from archfit.cluster.audit_readiness import image_state
from archfit.errors import UsageError
from archfit.images.platforms import parse_platform
from audit_clusters import BOTH, facts_of, image, node, uses

AMD = ("amd64",)


def state_of(facts, architecture="arm64"):
    """The name of each workload -> its state."""
    found = findings(facts, [parse_platform(architecture)])
    return {one.facts.name: one.states[0] for one in found.workloads}


@pytest.mark.parametrize(
    ("known", "state"),
    [
        pytest.param(BOTH, "yes", id="it-offers-it"),
        pytest.param(AMD, "no", id="it-offers-another"),
        pytest.param((), "no", id="it-offers-no-linux"),
        pytest.param(("arm",), "no", id="arm-is-not-arm64"),
        pytest.param("Absent", "absent", id="gone"),
        pytest.param("Unknown", "unknown", id="not-answered"),
        pytest.param("Unasked", "unknown", id="not-asked"),
        pytest.param("Malformed", "unknown", id="no-reference"),
        pytest.param("Unread", "unknown", id="another-shard"),
    ],
)
def test_an_image_is_ready_only_where_its_answer_says_so(known, state):
    assert image_state(image("x.example/a:1", known), "arm64") == state


def test_an_image_that_restricts_nothing_runs_everywhere():
    assert image_state(image("x.example/a:1", ()).replace(restricts=False), "arm64") == "yes"


def test_an_image_without_a_record_is_unknown_and_in_the_table():
    facts = facts_of(("web", 1, 100, {"a": BOTH})).replace(images=())
    assert state_of(facts) == {"web": "unknown"}
    assert [(one.facts.reference, one.facts.answer) for one in findings(facts).images] == [("a", "Unread")]


@pytest.mark.parametrize(
    ("images", "state"),
    [
        pytest.param({"a": BOTH, "b": BOTH}, "ready", id="every-image"),
        pytest.param({"a": BOTH, "b": AMD}, "blocked", id="one-lacks-it"),
        pytest.param({"a": BOTH, "b": "Absent"}, "blocked", id="one-is-gone"),
        pytest.param({"a": BOTH, "b": "Unknown"}, "unknown", id="one-is-not-known"),
        pytest.param({"a": AMD, "b": "Unknown"}, "blocked", id="one-lacks-it-and-one-is-not-known"),
        pytest.param({}, "ready", id="no-image-at-all"),
    ],
)
def test_a_workload_is_ready_if_every_image_is(images, state):
    assert state_of(facts_of(("web", 1, 100, images))) == {"web": state}


def test_readiness_is_requested_cpu_of_what_is_ready_over_what_could_move():
    facts = facts_of(("a", 2, 1500, {"x": BOTH}), ("b", 1, 500, {"y": AMD}), ("c", 1, 1000, {"z": "Unknown"}))
    one = findings(facts, [parse_platform("arm64")]).readiness[0]
    assert one.share == (1500, 3000)
    assert (one.ready.pods, one.blocked.pods, one.unknown.pods, one.total.pods) == (2, 1, 1, 4)
    assert one.by_cpu


def test_readiness_counts_pods_where_nothing_requests_cpu():
    one = findings(facts_of(("a", 3, 0, {"x": BOTH}), ("b", 1, 0, {"y": AMD}), without_cpu=1)).readiness[0]
    assert one.share == (3, 4)
    assert not one.by_cpu


def test_assumed_cpu_gives_a_weight_to_pods_without_a_request():
    facts = facts_of(("a", 3, 0, {"x": BOTH}), ("b", 1, 0, {"y": AMD}), without_cpu=1)
    assert findings(facts, assume_cpu=100).readiness[0].share == (100, 200)


@pytest.mark.parametrize("standing", ["daemonset", "mirror", "finished", "gated", "virtual", "idle"])
def test_what_cannot_move_is_counted_apart_and_keeps_its_state(standing):
    found = findings(facts_of(("a", 2, 500, {"x": AMD}), standing=standing))
    assert found.readiness[0].total.pods == 0
    assert [(one.standing, one.amount.pods, one.amount.cpu) for one in found.apart] == [(standing, 2, 500)]
    assert found.workloads[0].states[0] == "blocked"
    assert found.work_lists[0].items == ()


def test_pods_for_windows_have_no_state():
    assert state_of(facts_of(("a", 2, 500, {"x": AMD}), standing="windows")) == {"a": "apart"}


@pytest.mark.parametrize("standing", ["running", "pending", "manifest"])
def test_what_could_move_is_counted(standing):
    found = findings(facts_of(("a", 2, 500, {"x": BOTH}), standing=standing))
    assert found.readiness[0].ready.pods == 2
    assert found.apart == ()


def test_what_is_pinned_elsewhere_is_ready_and_said():
    one = findings(facts_of(("a", 2, 500, {"x": BOTH}), pinned=AMD)).readiness[0]
    assert (one.ready.pods, one.pinned.pods) == (2, 2)
    assert findings(facts_of(("a", 2, 500, {"x": BOTH}), pinned=BOTH)).readiness[0].pinned.pods == 0


def test_the_work_list_ranks_images_by_what_each_frees_alone():
    facts = facts_of(
        ("small", 1, 300, {"a": AMD}),
        ("large", 1, 900, {"b": AMD, "ok": BOTH}),
        ("both", 1, 5000, {"c": AMD, "d": AMD}),
        ("three", 1, 7000, {"a": AMD, "c": AMD, "e": AMD}),
    )
    work = findings(facts).work_lists[0]
    assert [(one.reference, one.alone.cpu, one.part.cpu) for one in work.items] == [
        ("b", 900, 900),
        ("a", 300, 7300),
        ("c", 0, 12000),
        ("d", 0, 5000),
        ("e", 0, 7000),
    ]
    assert [one.cumulative.cpu for one in work.items] == [900, 1200, 1200, 6200, 13200]
    assert [(one.first, one.second, one.amount.cpu) for one in work.pairs] == [("c", "d", 5000)]
    assert {one.reference: (one.partner, one.together.cpu) for one in work.items} == {
        "a": ("", 0),
        "b": ("", 0),
        "c": ("d", 5000),
        "d": ("c", 5000),
        "e": ("", 0),
    }
    assert work.remaining.cpu == 7000


def test_an_image_counts_once_for_a_workload_that_uses_it_twice():
    facts = facts_of(("a", 1, 300, {"x": AMD}))
    twice = facts.workloads[0].replace(images=uses(["x", "x"]))
    work = findings(facts.replace(workloads=(twice,))).work_lists[0]
    assert [(one.alone.cpu, one.part.cpu) for one in work.items] == [(300, 300)]


def test_unknown_images_are_work_of_another_kind():
    facts = facts_of(
        ("a", 1, 300, {"x": "Unknown"}), ("b", 1, 200, {"y": "Absent"}), ("c", 1, 100, {"z": AMD})
    )
    work = findings(facts).work_lists[0]
    assert [(one.reference, one.state) for one in work.items] == [
        ("x", "unknown"),
        ("y", "absent"),
        ("z", "no"),
    ]


def test_the_work_list_ends_where_everything_is_ready():
    found = findings(audit_clusters.shop())
    for readiness, work in zip(found.readiness, found.work_lists, strict=True):
        assert readiness.ready + work.items[-1].cumulative == readiness.total


def test_free_capacity_is_that_of_nodes_that_take_pods():
    facts = facts_of(
        nodes=(
            node("a", "amd64", requested_cpu=1000),
            node("b", "amd64", requested_cpu=500, unschedulable=True),
            node(
                "c",
                "amd64",
                requested_cpu=5000,
                taints=("kubernetes.io/arch=amd64:NoSchedule", "x=y:NoExecute"),
            ),
            node("d", "arm64", capacity="spot"),
        )
    )
    groups = findings(facts).capacity.groups
    assert [(one.architecture, one.nodes, one.cpu, one.requested_cpu, one.free_cpu) for one in groups] == [
        ("amd64", 3, 12000, 6500, 3000),
        ("arm64", 1, 4000, 0, 4000),
    ]
    assert [(one.cordoned, one.tainted, one.spot) for one in groups] == [(1, 1, 0), (0, 0, 1)]


def test_a_node_whose_label_is_not_its_kubelet_s_is_named():
    facts = facts_of(nodes=(node("a", "arm64", kubelet_architecture="amd64"), node("b", "arm64")))
    assert [(one.name, one.label, one.kubelet) for one in findings(facts).capacity.mislabelled] == [
        ("a", "arm64", "amd64")
    ]


def test_what_could_run_nowhere_without_an_architecture():
    facts = facts_of(
        ("amd", 4, 4000, {"a": AMD}),
        ("both", 2, 3000, {"b": BOTH}),
        ("pinned", 1, 100, {"b": BOTH}),
        ("unknown", 1, 50, {"c": "Unknown"}),
        ("elsewhere", 1, 10, {"d": ("s390x",)}),
        nodes=(node("x", "amd64"), node("y", "arm64", requested_cpu=1000)),
    )
    on = (("amd64", 1), ("arm64", 1))
    workloads = tuple(
        one.replace(runs_on=on if one.name == "both" else (), pinned=AMD if one.name == "pinned" else ())
        for one in facts.workloads
    )
    losses = findings(facts.replace(workloads=workloads)).capacity.losses
    assert [
        (one.architecture, one.stranded.cpu, one.uncertain.cpu, one.moving.cpu, one.free_cpu)
        for one in losses
    ] == [("amd64", 4100, 50, 1500, 3000), ("arm64", 0, 50, 1500, 4000)]


def test_pods_do_not_move_between_clusters():
    one, other = facts_of(("a", 1, 100, {"x": BOTH}), nodes=(node("n", "amd64"),)), node("m", "arm64")
    both = one.replace(
        snapshots=(*one.snapshots, Snapshot("1" * 16, "lists", "other", True)),
        nodes=(*one.nodes, other.replace(snapshot="1" * 16)),
    )
    assert [
        (loss.snapshot[0], loss.architecture, loss.stranded.cpu) for loss in findings(both).capacity.losses
    ] == [
        ("0", "amd64", 100),
        ("1", "arm64", 0),
    ]


@pytest.mark.parametrize(
    ("required", "nodes", "architectures"),
    [
        pytest.param((), (), ("arm64", "amd64"), id="the-usual-ones"),
        pytest.param((), ("s390x", "amd64"), ("arm64", "amd64", "s390x"), id="and-those-of-the-nodes"),
        pytest.param(("amd64", "linux/arm64", "arm64"), (), ("amd64", "arm64"), id="those-that-are-required"),
    ],
)
def test_the_architectures_of_an_audit(required, nodes, architectures):
    facts = facts_of(nodes=tuple(node(name, name) for name in nodes))
    assert findings(facts, [parse_platform(one) for one in required]).architectures == architectures


def test_another_system_than_linux_is_refused_with_a_remedy():
    with pytest.raises(UsageError, match="write linux/amd64"):
        findings(AuditFacts(), [parse_platform("windows/amd64")])


def test_an_audit_of_nothing_has_findings():
    found = findings(AuditFacts())
    assert [one.share for one in found.readiness] == [(0, 0), (0, 0)]


def test_builds_are_counted_by_container():
    builds = findings(audit_clusters.shop()).builds
    assert {one.verdict: one.containers for one in builds.verdicts} == {
        "proven": 133,
        "mismatch": 4,
        "unknown": 6,
    }
    assert [(one.name, one.node_architecture) for one in builds.mismatches] == [("apm-agent", "arm64")]
    assert [one.name for one in builds.evidence] == ["apm-agent"]
    assert [one.name for one in builds.moved] == ["stock-sync"]
    assert [(one.verdict, one.containers) for one in builds.reasons] == [("unknown", 6)]
