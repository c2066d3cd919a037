"""What follows from the facts of an audit: readiness, what is counted apart, the work list, capacity."""

from typing import Any

import pytest
from tests.audit import audit_clusters
from tests.audit.audit_clusters import BOTH, asking, facts_of, image, node, uses

from archfit.audit.compare import compare
from archfit.audit.findings import findings
from archfit.audit.report.open_questions import not_known, unknown_reasons
from archfit.audit.report.text import render
from archfit.audit.report.words import (
    change_sentences,
    daemon_sentence,
    everything_runs,
    gain,
    loss_sentence,
    ready_sentence,
    ready_share,
    share_after,
    unknown_share,
)
from archfit.audit.running.container_images import reference_of
from archfit.base.errors import UsageError
from archfit.facts.facts import AuditFacts, BuildFacts, Snapshot
from archfit.facts.merge import merge
from archfit.images.platforms import parse_platform

AMD = ("amd64",)


def state_of(facts, architecture="arm64"):
    """The name of each workload -> its state."""
    found = findings(facts, [parse_platform(architecture)])
    return {one.facts.name: one.states[0] for one in found.workloads}


def test_an_image_that_restricts_nothing_runs_everywhere():
    anywhere = image("x.example/a:1", ()).replace(restricts=False)
    assert findings(AuditFacts(images=(anywhere,))).images[0].states == ("yes", "yes")


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
        pytest.param({"a": ()}, "blocked", id="it-offers-no-linux"),
        pytest.param({"a": ("arm",)}, "blocked", id="arm-is-not-arm64"),
        pytest.param({"a": "Unasked"}, "unknown", id="not-asked"),
        pytest.param({"a": "Malformed"}, "unknown", id="no-reference"),
        pytest.param({"a": "Unread"}, "unknown", id="another-shard"),
    ],
)
def test_a_workload_is_ready_if_every_image_is(images, state):
    assert state_of(facts_of(("web", 1, 100, images))) == {"web": state}


def test_readiness_is_requested_cpu_of_what_is_ready_over_all_that_could_move():
    facts = facts_of(("a", 2, 1500, {"x": BOTH}), ("b", 1, 500, {"y": AMD}), ("c", 1, 1000, {"z": "Unknown"}))
    one = findings(facts, [parse_platform("arm64")]).readiness[0]
    assert (one.share, ready_share(one), unknown_share(one)) == ((1500, 3000), "50 %", "33.3 %")
    assert (one.ready.pods, one.blocked.pods, one.unknown.pods, one.total.pods) == (2, 1, 1, 4)
    assert one.by_cpu


@pytest.mark.parametrize("standing", ["daemonset", "mirror", "finished", "gated", "virtual", "idle", "old"])
def test_what_cannot_move_is_counted_apart_and_keeps_its_state(standing):
    found = findings(facts_of(("a", 2, 500, {"x": AMD}), standing=standing))
    assert found.readiness[0].total.pods == 0
    assert [(one.standing, one.amount.pods, one.amount.cpu) for one in found.apart] == [(standing, 2, 500)]
    assert found.workloads[0].states[0] == "blocked"
    assert found.work_lists[0].items == ()


def test_pods_for_windows_have_no_state():
    assert state_of(facts_of(("a", 2, 500, {"x": AMD}), standing="windows")) == {"a": "apart"}


@pytest.mark.parametrize("standing", ["running", "pending", "scheduled", "manifest"])
def test_what_could_move_is_counted(standing):
    found = findings(facts_of(("a", 2, 500, {"x": BOTH}), standing=standing))
    assert found.readiness[0].ready.pods == 2
    assert found.apart == ()


def test_an_image_counts_once_for_a_workload_that_uses_it_twice():
    facts = facts_of(("a", 1, 300, {"x": AMD}))
    twice = facts.workloads[0].replace(images=uses(["x", "x"]))
    work = findings(facts.replace(workloads=(twice,))).work_lists[0]
    assert [(one.alone.cpu, one.part.cpu) for one in work.items] == [(300, 300)]


def test_the_work_list_ends_where_everything_is_ready():
    found = findings(audit_clusters.shop())
    for readiness, work in zip(found.readiness, found.work_lists, strict=True):
        assert readiness.ready + work.items[-1].cumulative == readiness.total


def test_a_node_whose_label_is_not_its_kubelet_s_is_named():
    facts = facts_of(nodes=(node("a", "arm64", kubelet_architecture="amd64"), node("b", "arm64")))
    assert [(one.name, one.label, one.kubelet) for one in findings(facts).capacity.mislabelled] == [
        ("a", "arm64", "amd64")
    ]


def test_pods_do_not_move_between_clusters():
    one, other = facts_of(("a", 1, 100, {"x": BOTH}), nodes=(node("n", "amd64"),)), node("m", "arm64")
    both = one.replace(
        snapshots=(*one.snapshots, Snapshot("1" * 16, "lists", "other", True)),
        nodes=(*one.nodes, other.replace(snapshot="1" * 16)),
    )
    assert [
        (loss.snapshot[0], loss.architecture, loss.stranded.cpu) for loss in findings(both).capacity.losses
    ] == [("0", "amd64", 100), ("1", "arm64", 0)]


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


def test_an_image_that_is_mounted_and_runs_counts_as_one_that_runs():
    facts = facts_of(("web", 1, 100, {"data": AMD}))
    (web,) = facts.workloads
    (use,) = web.images
    both = web.replace(images=(use.replace(role="volume", container="v"), use))
    found = findings(facts.replace(workloads=(both,)))
    assert found.workloads[0].states[0] == "blocked"
    assert [one.role for one in found.workloads[0].not_ready[0]] == ["container"]


@pytest.mark.parametrize(
    ("builds", "states"),
    [
        pytest.param([("crash loop", "arm64"), ("", "amd64")], ("unknown", "yes"), id="there alone"),
        pytest.param([("", "arm64"), ("crash loop", "amd64")], ("yes", "unknown"), id="on the other alone"),
        pytest.param([("crash loop", "arm64"), ("crash loop", "amd64")], ("yes", "yes"), id="on both"),
        pytest.param([("crash loop", "arm64"), ("exec format error", "arm64"), ("", "amd64")], ("fails", "yes"), id="evidence"),
    ],
)  # fmt: skip
def test_what_loops_on_one_architecture_alone_is_not_known_there(builds, states):
    facts = facts_of(("web", 1, 100, {reference_of("x"): BOTH}))
    facts = facts.replace(builds=tuple(_failing(word, name) for word, name in builds))
    found = findings(facts)
    assert found.images[0].states == states
    assert found.readiness[0].unknown.pods == (states[0] == "unknown")
    assert found.readiness[0].ready.pods == (states[0] == "yes")
    text = render(found).decode()
    assert ("is not known to run on arm64: its pods end there" in " ".join(text.split())) == (
        states[0] == "unknown"
    )


def _failing(evidence: str, architecture: str = "arm64", os: str = "linux") -> BuildFacts:
    return BuildFacts(
        "0" * 16, "a", "Deployment", "web", "main", "x", "", os, architecture, "", 1, evidence=evidence
    )


@pytest.mark.parametrize(
    ("build", "known", "states"),
    [
        pytest.param(_failing("exec format error"), BOTH, ("fails", "yes"), id="exec format error"),
        pytest.param(_failing("no match for platform in manifest"), BOTH, ("fails", "yes"), id="no match"),
        pytest.param(_failing("crash loop"), BOTH, ("yes", "yes"), id="a suspicion where there is one architecture"),
        pytest.param(_failing("exec format error", "amd64"), BOTH, ("yes", "fails"), id="the other one"),
        pytest.param(_failing("exec format error", os="windows"), BOTH, ("yes", "yes"), id="Windows"),
        pytest.param(_failing("exec format error"), AMD, ("no", "yes"), id="its registry lacks it, too"),
        pytest.param(_failing("exec format error"), "Unknown", ("fails", "unknown"), id="not answered"),
        pytest.param(_failing("exec format error"), "Absent", ("absent", "absent"), id="gone"),
        pytest.param(_failing(""), BOTH, ("yes", "yes"), id="no evidence"),
    ],
)  # fmt: skip
def test_what_pods_say_counts_against_what_a_registry_says(build, known, states):
    reference = reference_of("x")
    facts = facts_of(("web", 1, 100, {reference: known})).replace(builds=(build,))
    found = findings(facts)
    assert found.images[0].states == states
    worst = {"fails": "blocked", "no": "blocked", "absent": "blocked", "unknown": "unknown", "yes": "ready"}
    assert found.workloads[0].states == tuple(worst[one] for one in states)
    assert found.readiness[0].blocked.pods == (states[0] in ("fails", "no", "absent"))
    if states[0] == "fails":
        assert found.work_lists[0].items[0].state == "fails"
        assert found.images[0].failures == (build.evidence, "")


def test_nothing_known_is_no_percentage():
    one = findings(facts_of(("a", 1, 100, {"x": "Unknown"}))).readiness[0]
    assert (one.share, one.is_known) == ((0, 100), False)
    assert ready_share(one) == "not known"
    assert ready_share(findings(facts_of()).readiness[0]) == "-"
    by_pods = findings(facts_of(("a", 3, 0, {"x": "Unknown"}))).readiness[0]
    assert ready_share(by_pods) == "not known"


def test_ready_then_counts_all_that_could_move():
    facts = facts_of(("a", 1, 100, {"x": BOTH}), ("b", 1, 300, {"y": AMD}), ("c", 1, 600, {"z": "Unknown"}))
    found = findings(facts)
    readiness, work = found.readiness[0], found.work_lists[0]
    assert [(item.reference, item.cumulative.cpu) for item in work.items] == [
        ("z", 600),
        ("y", 900),
    ]
    assert ready_share(readiness) == "10 %"
    assert [share_after(readiness, item) for item in work.items] == ["70 %", "100 %"]


def _daemon(name: str, images: dict[str, tuple[str, ...] | str], **more: Any) -> AuditFacts:
    return facts_of((name, 1, 100, images), standing="daemonset", **more)


def test_daemon_sets_come_first_and_are_no_part_of_the_readiness():
    found = findings(
        merge(
            [
                facts_of(("web", 1, 100, {"x": BOTH})),
                _daemon("ok", {"x": BOTH}),
                _daemon("open", {"u": "Unknown"}),
                _daemon("old", {"y": AMD}),
                _daemon("apart", {"y": AMD}, terms=asking("amd64")),
            ]
        )
    )
    arm, amd = found.daemon_sets
    assert (arm.ready, arm.blocked, arm.unknown, arm.elsewhere, arm.starting) == (1, 1, 1, 1, 3)
    assert [(one.name, one.state, one.images) for one in arm.not_ready] == [
        ("old", "blocked", ("y",)),
        ("open", "unknown", ("u",)),
    ]
    assert (amd.ready, amd.blocked, amd.unknown, amd.elsewhere) == (3, 0, 1, 0)
    assert found.readiness[0].share == (100, 100)
    assert [one.facts.name for one in found.workloads if one.is_required("arm64")] == [
        "ok", "old", "open", "web"
    ]  # fmt: skip
    assert daemon_sentence(arm, nodes=False) == (
        "Before the first arm64 node: 1 DaemonSet does not run there (a/old), 1 DaemonSet not known (a/open), "
        "of 3 that would start"
    )
    assert not everything_runs(found)


def test_a_daemon_set_counts_once_by_its_worst_revision():
    found = findings(merge([_daemon("agent", {"x": BOTH}), _daemon("agent", {"y": AMD})]))
    assert (found.daemon_sets[0].ready, found.daemon_sets[0].blocked) == (0, 1)


@pytest.mark.parametrize(
    ("more", "free", "why"),
    [
        pytest.param({}, 4000, "", id="open"),
        pytest.param({"requested_cpu": 1500}, 2500, "", id="less what is requested"),
        pytest.param({"requested_cpu": 5000}, 0, "", id="never below nothing"),
        pytest.param({"ready": False}, 0, "1 not Ready)", id="not Ready"),
        pytest.param({"virtual": True}, 0, "1 virtual)", id="virtual"),
        pytest.param({"capacity": "spot"}, 4000, "1 spot)", id="spot"),
        pytest.param({"unschedulable": True}, 0, "1 cordoned)", id="cordoned"),
        pytest.param({"taints": ("node-role.kubernetes.io/control-plane:NoSchedule",)}, 0, "1 closed by a taint)", id="reserved"),
        pytest.param({"taints": ("spot=true:NoExecute",)}, 0, "1 closed by a taint)", id="reserved, NoExecute"),
        pytest.param({"taints": ("spot=true:PreferNoSchedule",)}, 4000, "", id="a preference"),
        pytest.param({"taints": ("kubernetes.io/arch=arm64:NoSchedule",)}, 4000, "1 tainted for their", id="its own architecture"),
        pytest.param({"taints": ("kubernetes.io/arch=amd64:NoSchedule",)}, 0, "1 closed by a taint, 1 tainted", id="another architecture"),
    ],
)  # fmt: skip
def test_the_room_is_on_nodes_that_take_pods_and_the_text_says_which_do_not(more, free, why):
    nodes = (node("n", "arm64", **more),)
    found = findings(facts_of(("a", 1, 100, {"x": BOTH}), nodes=nodes))
    (group,) = found.capacity.groups
    assert group.free_cpu == free
    text = " ".join(render(found).decode().split())
    assert f" free ({why}" in text if why else " free (" not in text


@pytest.mark.parametrize("standing", ["finished", "mirror", "virtual", "windows"])
def test_of_pods_that_are_counted_apart_nobody_says_that_they_run_everywhere(standing):
    assert not everything_runs(findings(facts_of(("a", 1, 100, {"x": BOTH}), standing=standing)))


@pytest.mark.parametrize(
    ("more", "pods", "sentence"),
    [
        pytest.param((), {}, "Without amd64 nodes, no Linux node is left (virtual ones do not count).", id="all nodes"),
        pytest.param(
            (node("b", "arm64"),), {"x": BOTH},
            "Without amd64 nodes, no pod that could move would lose its only architecture, as far as the images are "
            "known.",
            id="no pod",
        ),
        pytest.param((node("b", "arm64"),), {"x": AMD}, "Without amd64 nodes, 0.1 CPU in 1 pod of 1 workload would have no node that runs them.", id="stranded"),
        pytest.param(
            (node("b", "arm64"),), {"x": "Unknown"},
            "Without amd64 nodes, no pod that could move would lose its only architecture, as far as the images are "
            "known; of 0.1 CPU in 1 pod of 1 workload this is not known.",
            id="not known",
        ),
    ],
)  # fmt: skip
def test_the_sentence_about_a_loss_says_what_it_leaves_out(more, pods, sentence):
    nodes = (node("a", "amd64"), node("fargate", "arm64", virtual=True), *more)
    losses = findings(facts_of(("web", 1, 100, pods), nodes=nodes)).capacity.losses
    assert [loss_sentence(one) for one in losses if one.architecture == "amd64"] == [sentence]


@pytest.mark.parametrize(
    ("images", "words"),
    [
        pytest.param({"x": BOTH}, "  a: 100 % ready; 0.1 of 0.1 requested CPU is ready for arm64", id="share"),
        pytest.param({"x": "Unknown"}, "  a: not known; it is not known what of 0.1 CPU is", id="not known"),
    ],
)  # fmt: skip
def test_a_group_is_not_called_ready_where_that_is_not_known(images, words):
    found = findings(facts_of(("web", 1, 100, images)), by=("namespace",))
    assert words in render(found, everything=True).decode()


_DAEMONS = (("agent", {"x": BOTH}), ("log", {"x": BOTH}))
_WEB = facts_of(("web", 1, 100, {"x": BOTH}))


def _reasons(number: int) -> AuditFacts:
    facts = facts_of(*((f"w{n}", 1, 100, {f"i{n:02}": "Unknown"}) for n in range(number)))
    return facts.replace(
        images=tuple(one.replace(detail=f"why {one.reference}!{n}") for n, one in enumerate(facts.images))
    )


@pytest.mark.parametrize(
    ("facts", "sentences", "words"),
    [
        pytest.param(facts_of(), lambda found: [ready_sentence(found.readiness[0])], "no pod that could move to arm64", id="no pod"),
        pytest.param(
            facts_of(("web", 2, 0, {"x": BOTH}), ("db", 1, 0, {"y": AMD}), ("c", 1, 0, {"z": "Unknown"})),
            lambda found: [ready_sentence(found.readiness[0])],
            "2 of 4 pods are ready for arm64; 1 pod not known",
            id="pods",
        ),
        pytest.param(_WEB, lambda found: [daemon_sentence(found.daemon_sets[0], nodes=False)], "Before the first arm64 node: no DaemonSet starts there", id="no DaemonSet"),
        pytest.param(merge([_daemon(*one) for one in _DAEMONS]), lambda found: [daemon_sentence(found.daemon_sets[0], nodes=True)], "On arm64 nodes: 2 DaemonSets, ready", id="DaemonSets"),
        pytest.param(_WEB, lambda found: change_sentences(compare(_WEB, found)), "arm64: 100 % ready before, 100 % ready now; no workload changed its state.", id="no change"),
        pytest.param(
            _WEB, lambda found: change_sentences(compare(facts_of(("other", 1, 100, {"x": BOTH})), found)),
            "arm64: 100 % ready before, 100 % ready now; no workload is in both audits.", id="nothing in common",
        ),
        pytest.param(
            _WEB, lambda found: change_sentences(compare(facts_of(("web", 1, 100, {"x": "Unknown"})), found)),
            "arm64: not known before, 100 % ready now; 1 workload now known to be ready.",
            id="known now",
        ),
        pytest.param(_reasons(12), unknown_reasons, "2 images not known for 2 other reasons.", id="many reasons"),
        pytest.param(
            facts_of(("web", 2, 0, {"x": BOTH}), without_cpu=2), not_known,
            "2 pods without a CPU request: they weigh nothing; --assume-cpu 100m gives them a weight.",
            id="without requests",
        ),
        pytest.param(facts_of(("web", 1, 100, {"x": "Absent"})), not_known, "1 image is gone from its registry: no new node can pull it.", id="gone"),
        pytest.param(facts_of(("web", 2, 0, {"x": AMD, "y": AMD, "z": AMD})), lambda found: [gain(found.work_lists[0].items[0])], "is one of three or more in 2 pods", id="three images"),
    ],
)  # fmt: skip
def test_each_sentence_says_what_it_counts(facts, sentences, words):
    assert words in list(sentences(findings(facts)))
