"""Lists of a cluster become facts: owners folded, pods told apart, requests summed."""

import random
from typing import Any

import pytest
from tests.audit.audit_clusters import written
from tests.audit.cluster_objects import CREATED, DIGEST, listed, node, pod, workload

from archfit.audit.running.collect import Collector
from archfit.base.errors import InvalidInput
from archfit.facts.facts import AuditFacts, WorkloadFacts
from archfit.facts.reports import from_json
from archfit.options.settings import REQUIRED, Options

_HASHED = {"pod-template-hash": "5d4f"}
_REPLICA_SET = ("ReplicaSet", "web-5d4f")
_LINUX = {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}


def _collected(*values: Any) -> Collector:
    collector = Collector("lists", "test", Options())
    for value in values:
        collector.add(value)
    return collector


def _facts(*values: Any) -> AuditFacts:
    return _collected(*values).facts()


def _only(*values: Any) -> WorkloadFacts:
    (found,) = _facts(*values).workloads
    return found


def required(*terms: list[str]) -> dict[str, Any]:
    """`affinity` with a required term for each list of operating systems."""
    expressions = [[{"key": "kubernetes.io/os", "operator": "In", "values": values}] for values in terms]
    made = [{"matchExpressions": expression} for expression in expressions]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": made}}}


def _shown(facts: AuditFacts) -> list[tuple[str, str, str, str, int]]:
    return [(one.kind, one.name, one.owner_by, one.standing, one.pods) for one in facts.workloads]


@pytest.mark.parametrize(
    ("values", "kind", "name", "by"),
    [
        pytest.param(
            [pod("web-5d4f-a", owner=_REPLICA_SET), workload("ReplicaSet", "web-5d4f", owner=("Deployment", "web"))],
            "Deployment",
            "web",
            "controller",
            id="a ReplicaSet of the lists is followed",
        ),
        pytest.param([pod("web-5d4f-a", owner=_REPLICA_SET, labels=_HASHED)], "Deployment", "web", "name", id="without it, name and hash say the Deployment"),
        pytest.param(
            [pod("web-5d4f-a", owner=_REPLICA_SET, labels=_HASHED), workload("ReplicaSet", "web-5d4f", namespace="other", owner=("Deployment", "x"))],
            "Deployment",
            "web",
            "name",
            id="a ReplicaSet of another namespace is not asked",
        ),
        pytest.param([pod("web-5d4f-a", owner=_REPLICA_SET, labels={"rollouts-pod-template-hash": "5d4f"})], "Rollout", "web", "name", id="an Argo Rollout by its own hash"),
        pytest.param(
            [pod("web-5d4f-a", owner=_REPLICA_SET, labels={"pod-template-hash": "other"})],
            "ReplicaSet",
            "web-5d4f",
            "controller",
            id="a name that does not end in the hash is not guessed from",
        ),
        pytest.param(
            [pod("web-5d4f-a", owner=_REPLICA_SET, labels=_HASHED), workload("ReplicaSet", "web-5d4f")],
            "ReplicaSet",
            "web-5d4f",
            "controller",
            id="a ReplicaSet that nothing controls stands for itself",
        ),
        pytest.param([pod("tick-29000000-x", owner=("Job", "tick-29000000"))], "CronJob", "tick", "name", id="a Job named by minutes is of a CronJob"),
        pytest.param([pod("tick-x", owner=("Job", "tick-2024"))], "Job", "tick-2024", "controller", id="four digits are no minutes"),
        pytest.param([pod("a", owner=("Job", "j")), workload("Job", "j", owner=("CronJob", "c"))], "CronJob", "c", "controller", id="a Job of the lists is followed"),
        pytest.param([pod("db-0", owner=("StatefulSet", "db"))], "StatefulSet", "db", "controller", id="a StatefulSet"),
        pytest.param([pod("alone")], "Pod", "alone", "", id="a pod that nothing owns"),
        pytest.param(
            [
                pod("a", owner=("ReplicaSet", "b")),
                workload("ReplicaSet", "b", owner=("ReplicaSet", "c")),
                workload("ReplicaSet", "c", owner=("ReplicaSet", "b")),
            ],
            "ReplicaSet",
            "b",
            "controller",
            id="owners in a circle end",
        ),
    ],
)  # fmt: skip
def test_pods_are_folded_to_the_owner_that_a_person_would_change(values, kind, name, by):
    for order in (values, values[::-1]):
        found = next(one for one in _facts(*order).workloads if one.standing == "running")
        assert (found.kind, found.name, found.owner_by) == (kind, name, by)


@pytest.mark.parametrize(
    ("value", "standing"),
    [
        pytest.param(pod("a"), "running", id="running"),
        pytest.param(pod("a", phase="Pending"), "pending", id="pending"),
        pytest.param(pod("a", phase="Pending", spec={"schedulingGates": [{"name": "g"}]}), "gated", id="gated"),
        pytest.param(pod("a", phase="Succeeded"), "finished", id="succeeded"),
        pytest.param(pod("a", phase="Failed", owner=("DaemonSet", "d")), "finished", id="failed, whoever made it"),
        pytest.param(pod("a", owner=("DaemonSet", "d")), "daemonset", id="of a DaemonSet"),
        pytest.param(pod("a", owner=("Node", "n")), "mirror", id="mirror by its owner"),
        pytest.param(pod("a", annotations={"kubernetes.io/config.mirror": "x"}), "mirror", id="mirror by annotation"),
        pytest.param(pod("a", spec={"os": {"name": "windows"}}), "windows", id="windows by spec.os"),
        pytest.param(pod("a", spec={"nodeSelector": {"kubernetes.io/os": "windows"}}), "windows", id="windows by selector"),
        pytest.param(pod("a", spec={"affinity": required(["windows"])}), "windows", id="windows by affinity"),
        pytest.param(pod("a", spec={"affinity": required(["windows", "linux"])}), "running", id="either by affinity"),
        pytest.param(pod("a", spec={"affinity": required(["windows"], ["linux"])}), "running", id="windows by one term"),
        pytest.param(pod("a", node="win"), "windows", id="windows by its node"),
        pytest.param(pod("a", node="win", phase="Pending"), "pending", id="for Linux, on a Windows node by mistake"),
        pytest.param(pod("a", owner=("DaemonSet", "d"), spec={"os": {"name": "windows"}}), "windows", id="of a DaemonSet for Windows"),
        pytest.param(pod("a", node="aci"), "virtual", id="virtual by its node"),
        pytest.param(pod("a", node="fargate"), "virtual", id="virtual on EKS Fargate"),
        pytest.param(pod("a", node="aci", owner=("DaemonSet", "d")), "daemonset", id="of a DaemonSet on a virtual node"),
        pytest.param(pod("a", spec={"nodeSelector": {"type": "virtual-kubelet"}}), "virtual", id="virtual by selector"),
    ],
)  # fmt: skip
def test_pods_that_could_not_move_stand_apart(value, standing):
    nodes = [
        node("win", os="windows"),
        node("aci", labels={"type": "virtual-kubelet"}),
        node("fargate", labels={"eks.amazonaws.com/compute-type": "fargate"}),
    ]
    assert _only(value, *nodes).standing == standing
    assert _only(*nodes, value).standing == standing


def test_pods_of_one_workload_with_the_same_images_are_one_record():
    facts = _facts(
        node("one", "amd64"),
        node("two", "arm64"),
        *(pod(f"web-5d4f-{n}", owner=_REPLICA_SET, labels=_HASHED, node="one") for n in range(2)),
        pod("web-5d4f-z", owner=_REPLICA_SET, labels=_HASHED, node="two", cpu="1"),
        pod("web-5d4f-y", owner=_REPLICA_SET, labels=_HASHED, cpu="", memory=""),
    )
    (one,) = facts.workloads
    assert (one.pods, one.cpu, one.memory, one.without_cpu) == (4, 1200, 3 << 30, 1)
    assert one.runs_on == (("", 1), ("amd64", 2), ("arm64", 1))
    assert [(use.reference, use.role) for use in one.images] == [("docker.io/library/nginx:1", "container")]
    assert [(build.node_architecture, build.pods) for build in facts.builds] == [
        ("", 1),
        ("amd64", 2),
        ("arm64", 1),
    ]
    assert [(image.reference, image.answer) for image in facts.images] == [
        ("docker.io/library/nginx:1", "Unread")
    ]


def test_nodes_have_what_their_unfinished_pods_request():
    facts = _facts(
        pod("a", node="one"),
        pod("b", node="one", phase="Pending"),
        pod("c", node="one", phase="Failed"),
        pod("d", node="one", owner=("DaemonSet", "d")),
        pod("e"),
        node(
            "one",
            kubelet="arm64",
            unschedulable=True,
            labels={
                "node.kubernetes.io/instance-type": "m6g.large",
                "karpenter.sh/capacity-type": "spot",
                "topology.kubernetes.io/zone": "z",
            },
            taints=[{"key": "b", "value": "x", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}],
        ),
    )
    (found,) = facts.nodes
    assert (found.requested_cpu, found.requested_memory, found.requested_pods) == (300, 3 << 30, 3)
    assert (found.cpu, found.memory, found.pods) == (3920, 8 << 30, 110)
    assert (found.architecture, found.kubelet_architecture) == ("amd64", "arm64")
    assert (found.instance_type, found.capacity, found.zone) == ("m6g.large", "spot", "z")
    assert found.taints == ("a:NoExecute", "b=x:NoSchedule")
    assert found.unschedulable


def test_finished_pods_weigh_nothing_and_keep_their_evidence():
    crashed = {"terminated": {"reason": "StartError", "exitCode": 128, "message": "exec format error"}}
    facts = _facts(
        pod(
            "a",
            phase="Failed",
            status={"containerStatuses": [{"name": "app", "imageID": "x", "state": crashed}]},
        ),
        pod("b", phase="Succeeded"),
    )
    assert [(one.pods, one.cpu, one.without_cpu) for one in facts.workloads] == [(1, 0, 0), (1, 0, 0)]
    assert [(one.name, one.evidence, one.reason) for one in facts.builds] == [
        ("a", "exec format error", "StartError")
    ]


def test_what_waits_says_why_and_never_its_message():
    waiting = {
        "waiting": {"reason": "ImagePullBackOff", "message": "secret: no match for platform in manifest"}
    }
    (one,) = _facts(
        pod(
            "a",
            phase="Pending",
            status={"containerStatuses": [{"name": "app", "imageID": "", "state": waiting}]},
        )
    ).builds
    assert (one.image_id, one.reason) == ("", "ImagePullBackOff")
    assert one.evidence == "no match for platform in manifest"
    assert "secret" not in repr(one)


def test_init_containers_and_image_volumes_count_and_debugging_does_not():
    spec = {
        "containers": [{"name": "app", "image": "app"}],
        "initContainers": [{"name": "first", "image": "init:1"}],
        "ephemeralContainers": [{"name": "debug", "image": "busybox"}],
        "volumes": [
            {"name": "model", "image": {"reference": "ghcr.io/a/model:2"}},
            {"name": "tmp", "emptyDir": {}},
        ],
    }
    found = _only(pod("a", spec=spec))
    assert [(use.container, use.role, use.reference) for use in found.images] == [
        ("app", "container", "docker.io/library/app:latest"),
        ("first", "init", "docker.io/library/init:1"),
        ("model", "volume", "ghcr.io/a/model:2"),
    ]


AMD = ("amd64",)
ZONE = ("zone", "Exists", ())


def _placed(*terms: Any, **spec: Any) -> dict[str, Any]:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"affinity": {"nodeAffinity": required}, **spec}


def _ending(*keys: str, **spec: Any) -> dict[str, Any]:
    ends = [{"key": key, "operator": "In", "values": ["amd64"]} for key in keys]
    return _placed(
        *({"matchExpressions": [{"key": "zone", "operator": "Exists"}, end]} for end in ends), **spec
    )


@pytest.mark.parametrize(
    ("spec", "terms"),
    [
        pytest.param({}, [], id="no placement"),
        pytest.param({"nodeSelector": {"disk": "ssd"}}, [([("disk", "In", ("ssd",))], ())], id="nodeSelector"),
        pytest.param({"nodeSelector": {"kubernetes.io/os": "linux"}}, [], id="the system is another matter"),
        pytest.param({"nodeSelector": "kubernetes.io/arch"}, [], id="malformed"),
        pytest.param(_placed(*"xy"), [([("kubernetes.io/arch", "In", ())], ())], id="malformed terms match nothing"),
        pytest.param(_placed(), [([("kubernetes.io/arch", "In", ())], ())], id="no term matches nothing"),
        pytest.param(_placed({}), [([("kubernetes.io/arch", "In", ())], ())], id="an empty term matches nothing"),
        pytest.param(_placed({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}), [], id="fields are met"),
        pytest.param(_placed({}, {"matchExpressions": [{"key": "kubernetes.io/os", "operator": "Exists"}]}), [], id="one term asks for nothing"),
        pytest.param(_ending("kubernetes.io/arch"), [([ZONE], AMD)], id="an end that archfit may have written"),
        pytest.param(_ending("beta.kubernetes.io/arch"), [([("beta.kubernetes.io/arch", "In", AMD), ZONE], ())], id="the old label is no such end"),
        pytest.param(
            _ending("kubernetes.io/arch", "disk", nodeSelector={"a": "b"}),
            [([("a", "In", ("b",)), ("disk", "In", AMD), ZONE], ()), ([("a", "In", ("b",)), ZONE], AMD)],
            id="nodeSelector counts in each term",
        ),
    ],
)  # fmt: skip
def test_what_pods_ask_of_labels_is_a_fact(spec, terms):
    assert [(list(term.conditions), term.end) for term in _only(pod("a", spec=spec)).terms] == terms


def test_pods_of_a_row_ask_for_one_or_another_and_nodes_have_what_is_asked_for():
    ssd, hdd = ({"nodeSelector": {"disk": value}} for value in ("ssd", "hdd"))
    facts = _facts(node("n", labels={"disk": "ssd", "other": "x"}), pod("a", spec=ssd), pod("b", spec=hdd))
    assert [len(one.terms) for one in facts.workloads] == [1, 1]
    assert facts.nodes[0].labels == (("disk", "ssd"),)
    web = ("StatefulSet", "web")
    assert len(_only(pod("a", owner=web, spec=ssd), pod("b", owner=web, spec=hdd)).terms) == 2
    assert _only(pod("a", owner=web, spec=ssd), pod("b", owner=web)).terms == ()


def _status(ready: str = "", waiting: str = "", **more: Any) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": ready}] if ready else []
    containers = [{"name": "app", "state": {"waiting": {"reason": waiting}}}] if waiting else []
    return {"conditions": conditions, "containerStatuses": containers, **more}


@pytest.mark.parametrize(
    ("status", "state"),
    [
        pytest.param(_status("True"), None, id="Ready"),
        pytest.param(_status(), None, id="nothing says that it is not"),
        pytest.param(_status("False"), "unready", id="not Ready"),
        pytest.param(_status("Unknown"), "unready", id="its node is gone"),
        pytest.param(_status("False", "CrashLoopBackOff"), "crashing", id="a crash loop"),
        pytest.param(_status("False", "CrashLoopBackOff", phase="Pending"), "crashing", id="a crash loop of an init container"),
        pytest.param(_status("False", "ImagePullBackOff", phase="Pending"), "pending", id="no image"),
        pytest.param(_status(phase="Succeeded"), None, id="finished"),
        pytest.param({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}, "unschedulable", id="no node"),
    ],
)  # fmt: skip
def test_why_a_pod_does_not_run_is_a_fact(status, state):
    found = _only(pod("a", node="n", status=status), node("n", "arm64"))
    assert found.not_running == ((state, "arm64", 1),) * bool(state)


_SET = [workload("ReplicaSet", "web-old", owner=("Deployment", "web"), replicas=0, image="nginx:0")]


def test_an_old_replica_set_is_no_work_and_a_cron_job_between_runs_is():
    facts = _facts(
        pod("web-5d4f-a", owner=_REPLICA_SET),
        workload("ReplicaSet", "web-5d4f", owner=("Deployment", "web")),
        *_SET,
        workload("CronJob", "tick"),
        workload("Deployment", "web"),
    )
    assert _shown(facts) == [
        ("CronJob", "tick", "", "scheduled", 1),
        ("Deployment", "web", "controller", "old", 0),
        ("Deployment", "web", "controller", "running", 1),
    ]
    old = facts.workloads[1]
    assert [use.image for use in old.images] == ["nginx:0"]
    assert (old.cpu, old.memory, old.runs_on) == (0, 0, ())


def test_a_cluster_of_which_no_pods_were_read_is_what_its_workloads_ask_for():
    facts = _facts(
        workload("Deployment", "web", replicas=3),
        workload("ReplicaSet", "web-5d4f", owner=("Deployment", "web"), replicas=3),
        *_SET,
        workload("DaemonSet", "agent"),
    )
    assert _shown(facts) == [
        ("DaemonSet", "agent", "", "daemonset", 1),
        ("Deployment", "web", "", "manifest", 3),
        ("Deployment", "web", "controller", "old", 0),
    ]
    assert facts.snapshots[0].source == "lists"


@pytest.mark.parametrize("kind", ["List", "PodList"])
def test_every_form_of_list_holds_the_same(kind):
    pods = [pod("a"), pod("b", owner=("StatefulSet", "s"))]
    assert _facts(listed(*pods, kind=kind)) == _facts(*pods)


def test_an_object_with_items_is_one_to_kustomize_and_a_list_to_kubectl():
    web = workload("Deployment", "web", uid=False)
    for value in (web, {"apiVersion": "v1", "kind": "ConfigMap"}, {"apiVersion": "v1", "kind": "ThingList"}):
        beside = [web] if value is web else []
        assert _shown(_facts({**value, "items": [pod("a")]})) == _shown(_facts(pod("a"), *beside))


def test_lists_of_other_kinds_and_lists_in_lists_are_opened():
    sets = listed(workload("ReplicaSet", "web-5d4f", owner=("Deployment", "web")), kind="ReplicaSetList")
    facts = _facts(
        listed(listed(pod("web-5d4f-a", owner=_REPLICA_SET)), sets, listed(node("n"), kind="NodeList"))
    )
    assert _shown(facts) == [("Deployment", "web", "controller", "running", 1)]
    assert [one.name for one in facts.nodes] == ["n"]


def test_the_order_of_items_changes_nothing_and_their_content_does():
    values = [
        node("one"), node("two", "arm64"), *_SET, workload("CronJob", "tick"), workload("Deployment", "m", uid=False),
        *(pod(f"web-{n}", owner=("ReplicaSet", "web-old"), node=("one", "two")[n % 2]) for n in range(6)),
    ]  # fmt: skip
    whole = _facts(*values)
    for seed in range(5):
        shuffled = random.Random(seed).sample(values, len(values))
        assert _facts(*shuffled) == whole
    assert _facts(*values[1:]).snapshots[0].id != whole.snapshots[0].id
    later = {**values[0], "metadata": {**values[0]["metadata"], "resourceVersion": "4"}}
    assert _facts(later, *values[1:]).snapshots[0].id != whole.snapshots[0].id


def test_an_object_that_is_read_twice_counts_once():
    values = [pod("a"), node("n"), workload("ReplicaSet", "r", owner=("Deployment", "d"))]
    assert _facts(*values, *values) == _facts(*values)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(workload("Deployment", "web", replicas=3, uid=False), ("Deployment", "manifest", 3), id="replicas"),
        pytest.param(workload("CronJob", "web", replicas=2, uid=False), ("CronJob", "manifest", 2), id="parallelism"),
        pytest.param(workload("DaemonSet", "web", uid=False), ("DaemonSet", "daemonset", 1), id="a DaemonSet"),
        pytest.param({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}, ("Pod", "manifest", 1), id="a Pod"),
        pytest.param(
            {
                "apiVersion": "argoproj.io/v1alpha1",
                "kind": "Rollout",
                "metadata": {"name": "web"},
                "spec": {"replicas": 4, "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}},
            },
            ("Rollout", "manifest", 4),
            id="a custom resource",
        ),
    ],
)  # fmt: skip
def test_manifests_ask_for_pods(value, expected):
    collector = Collector("lists", "charts", Options())
    collector.add(value, "a.yaml:3")
    facts = collector.facts()
    (one,) = facts.workloads
    assert (one.kind, one.standing, one.pods) == expected
    assert one.where == "a.yaml:3"
    assert facts.snapshots[0].source == "manifests"
    assert facts.builds == ()


def test_a_manifest_requests_what_it_is_limited_to():
    value = workload("Deployment", "web", replicas=2, uid=False)
    value["spec"]["template"]["spec"]["containers"][0]["resources"] = {
        "limits": {"cpu": 1, "memory": "1Gi"},
        "requests": {"cpu": "250m"},
    }
    one = _only(value)
    assert (one.cpu, one.memory, one.without_cpu) == (500, 2 << 30, 0)
    live = _only(
        pod("a", spec={"containers": [{"name": "app", "image": "x", "resources": {"limits": {"cpu": 1}}}]})
    )
    assert (live.cpu, live.without_cpu) == (0, 1)


def test_kinds_that_no_table_knows_are_counted_and_secrets_are_not_read():
    collector = _collected(
        {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {}},
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "s"},
            "data": {"password": "aHVudGVyMg=="},
        },
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}},
        None,
        "text",
        3,
        [],
    )
    assert collector.unknown == {"Thing": 1}
    assert collector.kinds == {"Thing": 1, "Secret": 1, "ConfigMap": 1}
    assert not collector.facts().workloads


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, below in pairs for place in _places(below, (*at, key)))]


def _replaced(value: Any, at: tuple[Any, ...], other: Any) -> Any:
    if not at:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = _replaced(copy[at[0]], at[1:], other)
    return copy


_JUNK = (None, True, -1, 10**400, 1.5, "", "\ud800\u202e", [], [[]], [{}], {}, {"name": []}, "1e999", "-1")


@pytest.mark.parametrize("junk", _JUNK, ids=range(len(_JUNK)))
def test_junk_at_any_place_is_no_error_and_makes_no_facts_that_cannot_be_written(junk):
    owned = pod(
        "a",
        node="n",
        owner=_REPLICA_SET,
        labels=_HASHED,
        spec={
            "initContainers": [{"name": "i", "image": "j", "restartPolicy": "Always"}],
            "overhead": {"cpu": "1"},
            "tolerations": [{"key": "a", "operator": "Exists"}],
            "affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [_LINUX]}]}}},
        },
        status={"conditions": [{"type": "PodResizePending", "reason": "Infeasible"}]},
    )
    ended = {"exitCode": 1, "reason": "Error", "startedAt": CREATED, "finishedAt": CREATED}
    looping = {"name": "app", "restartCount": 3, "lastState": {"terminated": ended}}
    for value in (
        owned,
        pod("b", node="n", status={"phase": "Running", "containerStatuses": [looping]}),
        node("n", taints=[{"key": "a"}]),
        workload("Deployment", "d", uid=False),
        workload("CronJob", "c"),
        workload("ReplicaSet", "r"),
        {"apiVersion": "v1", "kind": "List", "items": ["x"]},
    ):
        for place in _places(value):
            facts = _facts(_replaced(value, place, junk), pod("other", node="n"))
            assert from_json(written(facts), "x") == facts


def test_an_object_that_is_nested_too_deeply_is_an_error():
    deep: Any = "x"
    for _ in range(3000):
        deep = [deep]
    with pytest.raises(InvalidInput, match="nested too deeply"):
        _collected(workload("Deployment", "d", uid=False) | {"more": deep})


def test_an_image_that_is_empty_or_no_reference_stays_as_it_is_written():
    facts = _facts(pod("a", image=""), pod("b", image="UPPER/case:1"), pod("c", image="$(params.image)"))
    assert [(one.reference, one.answer) for one in facts.images] == [
        ("", "Unasked"),
        ("$(params.image)", "Unread"),
        ("UPPER/case:1", "Unread"),
    ]


def test_builds_are_of_each_runtime_and_node_architecture():
    facts = _facts(
        node("one"),
        node("two", runtime="cri-o://1.33.0"),
        node("three", "arm64"),
        *(
            pod(f"db-{n}", owner=("StatefulSet", "db"), node=name)
            for n, name in enumerate(("one", "two", "three", "three"))
        ),
    )
    assert [(one.node_architecture, one.runtime, one.pods) for one in facts.builds] == [
        ("amd64", "containerd://2.1.4", 1),
        ("amd64", "cri-o://1.33.0", 1),
        ("arm64", "containerd://2.1.4", 2),
    ]
    assert {one.image_id for one in facts.builds} == {f"docker.io/library/nginx@{DIGEST}"}


def test_nothing_read_is_no_snapshot():
    assert _facts() == AuditFacts()


def _last_run(name: str, created: str, cpu: str, image: str = "nginx:1", job: str = "tick-29000001") -> Any:
    value = pod(name, owner=("Job", job), phase="Succeeded", cpu=cpu, image=image)
    value["metadata"]["creationTimestamp"] = created
    return value


_WINDOWS_RUN = [_last_run("tick-29000001-a", "2026-01-02T00:00:00Z", "300m")]
_WINDOWS_RUN[0]["spec"]["os"] = {"name": "windows"}
_RUNS = [
    _last_run("tick-29000001-a", "2026-01-02T00:00:00Z", "300m"),
    _last_run("tick-29000000-b", "2026-01-01T00:00:00Z", "900m", job="tick-29000000"),
]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([workload("CronJob", "tick"), *_RUNS], [("scheduled", 1, 300)], id="its last run"),
        pytest.param([workload("CronJob", "tick", replicas=3), *_RUNS], [("scheduled", 3, 900)], id="parallelism"),
        pytest.param([workload("CronJob", "tick", image="nginx:2"), *_RUNS], [("scheduled", 1, 0)], id="another image by now"),
        pytest.param(_RUNS, [("scheduled", 1, 300)], id="the CronJob is not in the lists"),
        pytest.param(_WINDOWS_RUN, [("windows", 1, 300)], id="its last run was for Windows"),
        pytest.param([pod("a"), workload("CronJob", "tick")], [("scheduled", 1, 0)], id="it never ran"),
        pytest.param([*_RUNS, workload("CronJob", "tick"), pod("now", owner=("Job", "tick-29000002"))], [("running", 1, 100)], id="it runs now"),
        pytest.param([*_RUNS, {**workload("CronJob", "tick"), "spec": {**workload("CronJob", "tick")["spec"], "suspend": True}}], [("idle", 0, 0)], id="suspended"),
    ],
)  # fmt: skip
def test_a_cron_job_between_two_runs_weighs_its_last_run(values, expected):
    facts = _facts(*values)
    assert [
        (one.standing, one.pods, one.cpu)
        for one in facts.workloads
        if one.kind == "CronJob" and one.standing != "finished"
    ] == expected


def _job(**status: Any) -> dict[str, Any]:
    return {**workload("Job", "once"), **({"status": status} if status else {})}


_DONE = {"conditions": [{"type": "Complete", "status": "True"}]}


@pytest.mark.parametrize(
    ("value", "standing", "pods"),
    [
        pytest.param(workload("Deployment", "web", replicas=2), "pending", 2, id="no pod yet"),
        pytest.param(workload("Deployment", "web", replicas=0), "idle", 0, id="asks for none"),
        pytest.param(workload("StatefulSet", "db", replicas=0), "idle", 0, id="StatefulSet"),
        pytest.param(workload("DaemonSet", "agent"), "daemonset", 0, id="DaemonSet without nodes"),
        pytest.param(_job(), "pending", 1, id="Job to come"),
        pytest.param(_job(**_DONE), "finished", 0, id="Job that is done"),
        pytest.param(workload("ReplicaSet", "web-1", owner=("Deployment", "web"), replicas=0), "old", 0, id="earlier revision"),
        pytest.param(workload("ReplicaSet", "web-1", owner=("Deployment", "web"), replicas=2), "pending", 2, id="a new one"),
        pytest.param(workload("StatefulSet", "db", owner=("Database", "db"), replicas=0), "idle", 0, id="of an operator"),
    ],
)  # fmt: skip
def test_a_workload_without_pods_counts_as_what_it_will_run(value, standing, pods):
    facts = _facts(pod("other"), value)
    assert [(one.standing, one.pods) for one in facts.workloads if one.name != "other"] == [(standing, pods)]


def test_tolerations_are_those_of_every_pod_and_none_for_a_while():
    gpu, spot = {"key": "gpu", "operator": "Exists"}, {"key": "spot", "value": "true", "effect": "NoSchedule"}
    leaving = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300}
    owner = ("StatefulSet", "db")
    facts = _facts(
        pod("db-0", owner=owner, spec={"tolerations": [gpu, spot, leaving]}),
        pod("db-1", owner=owner, spec={"tolerations": [spot]}),
    )
    assert [one.tolerations for one in facts.workloads] == [(("spot", "", "true", "NoSchedule"),)]
