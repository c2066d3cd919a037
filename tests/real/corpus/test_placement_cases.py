"""Streams that archfit once placed wrongly: custom resources as their operators run them, images, terms and nodes.

Every output is judged by the scheduler's own code, and a second run changes nothing.
"""

from typing import Any, NamedTuple

import pytest
import yaml
from tests.real.corpus.placement_cases import PLATFORMS, case, severe

from custom_pods import projected


class Expected(NamedTuple):
    """pods: the architectures and tolerations of each pod in the output. said: part of a warning or an error."""

    pods: list[str]
    said: str = ""
    status: int = 0


EXPECTED = {
    "otel-additional-containers": Expected(["OpenTelemetryCollector spec: amd64"]),
    "rabbitmq-override-containers": Expected(["RabbitmqCluster spec: amd64"]),
    "rabbitmq-override-affinity": Expected(
        ["RabbitmqCluster spec.override.statefulSet.spec.template.spec: amd64"]
    ),
    "minio-sidecars": Expected(["Tenant spec.pools[0]: amd64"]),
    "ray-autoscaler-image": Expected(["RayCluster spec.headGroupSpec.template.spec: amd64"]),
    "rayjob-default-submitter": Expected(
        [
            "RayJob spec.rayClusterSpec.headGroupSpec.template.spec: amd64",
            "RayJob spec.rayClusterSpec.headGroupSpec.template.spec: amd64 arm64",
        ],
        "archfit: warning: ray.io/v1/RayJob/r spec.rayClusterSpec.headGroupSpec.template.spec: KubeRay "
        "runs the head's image",
    ),
    "vm-backup-image": Expected(["VMSingle spec: amd64"]),
    "cnpg-extension-image": Expected(["Cluster spec: amd64"]),
    "kserve-workerspec": Expected(
        ["InferenceService spec.predictor: amd64 arm64", "InferenceService spec.predictor.workerSpec: amd64"],
        "kubernetes.podspec-affinity",
    ),
    "kserve-lightgbm": Expected(["InferenceService spec.predictor: amd64"], "kubernetes.podspec-affinity"),
    "tekton-steptemplate": Expected(
        ["PipelineRun spec.taskRunTemplate.podTemplate: amd64"],
        "nothing of Tekton's default-pod-template reaches",
    ),
    "argo-inline": Expected(
        [
            "WorkflowTemplate spec.templates[0]: amd64 arm64",
            "WorkflowTemplate spec.templates[1].steps[0][0].inline: amd64",
        ],
        "from here on nothing of",
    ),
    "argo-templatedefaults-sidecar": Expected(
        ["WorkflowTemplate spec.templates[0]: amd64"], "from here on nothing of"
    ),
    "strimzi-rack-init": Expected(["KafkaConnect spec.template.pod: amd64"]),
    "strimzi-pool-own-template": Expected(
        ["Kafka spec.kafka.template.pod: amd64", "KafkaNodePool spec.template.pod: amd64"]
    ),
    "strimzi-pool-template-created": Expected(
        ["Kafka spec.kafka.template.pod: amd64 arm64", "KafkaNodePool spec.template.pod: amd64 arm64"],
        "a new one would replace all of the Kafka's",
    ),
    "knative-default-toleration": Expected(["Service spec.template.spec: amd64 arm64"]),
    "eck-default-antiaffinity": Expected(["Elasticsearch spec.nodeSets[0].podTemplate.spec: amd64"]),
    "kubevirt-architecture": Expected([], "pinned to arm64 by its spec.template.spec.architecture", 1),
    "wasm-beside-native": Expected(["Deployment spec.template.spec: amd64"]),
    "index-386-crio": Expected(
        ["Deployment spec.template.spec: amd64"], "r/386: it counts for amd64 by linux/386 alone"
    ),
    "amd64-v3-only": Expected([], "state linux/amd64 instead (--image-platforms", 1),
    "cronjob-jobtemplate-annotation": Expected(
        [],
        'spec.jobTemplate.metadata.annotations["archfit.dev/skpi"]: there is no annotation archfit.dev/skpi; '
        "did you mean archfit.dev/skip? (document 1, line 6)",
        1,
    ),
    "job-generatename": Expected(["Job spec.template.spec: amd64 arm64 tolerates arm64"]),
    "virtual-kubelet-burst": Expected(["Deployment spec.template.spec: amd64"]),
    "two-os-term": Expected(
        ["Deployment spec.template.spec: arm64 tolerates arm64"],
        "it keeps arm64 and loses windows/amd64, where the images run too",
    ),
    "multi-arch-taint-lost": Expected(
        ["Deployment spec.template.spec: arm64", "Deployment spec.template.spec: amd64 arm64"]
    ),
    "prefer-with-unasked": Expected(["Deployment spec.template.spec: amd64 arm64"]),
    "spread-affinity-ignore": Expected(
        ["Deployment spec.template.spec: amd64"], "nodeAffinityPolicy: Ignore counts every"
    ),
    "runtimeclass-pin": Expected(
        [], "pinned to arm64 by the nodeSelector of RuntimeClass arm, but r/amd offers only amd64", 1
    ),
}
# Of Kubernetes' own kinds, with the architectures of the nodes.
NATIVE = {
    **dict.fromkeys(("wasm-beside-native", "index-386-crio", "job-generatename"), ("amd64", "arm64")),
    **dict.fromkeys(("virtual-kubelet-burst", "two-os-term"), ("amd64", "arm64")),
    **dict.fromkeys(("prefer-with-unasked", "spread-affinity-ignore"), ("amd64", "arm64")),
    "multi-arch-taint-lost": ("amd64", "arm64", "s390x"),
}
WRITTEN = [
    name
    for name, expected in EXPECTED.items()
    if name not in NATIVE and any(line.endswith(": amd64") for line in expected.pods)
]


@pytest.mark.parametrize("name", EXPECTED)
def test_each_pod_is_placed_by_all_its_images(name):
    expected = EXPECTED[name]
    ran = case(name).ran()
    assert ran.status == expected.status
    if ran.status:
        assert ran.stdout == b""
    else:
        assert case(name).placed() == expected.pods
        assert case(name).ran(stream=ran.stdout).ok() == ran.stdout
    warnings = severe(ran.stderr)
    assert any(expected.said in line for line in warnings) if expected.said else warnings == []


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if not expected.status])
def test_each_pod_is_placed_by_all_its_images_by_default(name):
    """A row that was not seen leaves its tolerations out."""
    bare = [line.partition(" tolerates ")[0] for line in EXPECTED[name].pods]
    placed = case(name).placed("read")
    assert [line.partition(" tolerates ")[0] for line in placed] == bare
    assert all(line in (*EXPECTED[name].pods, *bare) for line in placed)


@pytest.mark.parametrize("name", WRITTEN)
def test_no_pod_reaches_a_node_that_cannot_run_it(judge, oracle, name):
    """By the scheduler's own code; and the twin: as they were, they can."""
    before = projected(judge.kubectl(case(name).stream))
    after = projected(judge.kubectl(case(name).ran().ok()))
    unsafe = [line for line in oracle(before, before, platforms=PLATFORMS).violations if "SAFETY" in line]
    left = [line for line in oracle(before, after, platforms=PLATFORMS).violations if "SAFETY" in line]
    submitter = [name for name in left if name in unsafe] if name == "rayjob-default-submitter" else []
    assert unsafe
    assert left == submitter


def test_the_default_of_eck_is_written_along():
    (made,) = yaml.safe_load_all(case("eck-default-antiaffinity").ran().ok())
    (term,) = made["spec"]["nodeSets"][0]["podTemplate"]["spec"]["affinity"]["podAntiAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    assert term == {
        "weight": 100,
        "podAffinityTerm": {
            "labelSelector": {"matchLabels": {"elasticsearch.k8s.elastic.co/cluster-name": "e"}},
            "topologyKey": "kubernetes.io/hostname",
        },
    }


@pytest.mark.parametrize(("name", "archs"), NATIVE.items())
def test_the_scheduler_agrees(name, archs, oracle, tmp_path):
    one = case(name)
    nodes = (oracle.folder / "nodes.json").read_bytes()
    if "arch=:NoSchedule@arm64,s390x" in one.options:
        nodes = nodes.replace(b'"key": "kubernetes.io/arch", "value": "arm64"', b'"key": "arch", "value": ""')
    (tmp_path / "nodes.json").write_bytes(nodes)
    policy: Any = {"archTaints": [{"key": "arch", "value": "", "effect": "NoSchedule"}]}
    more = {"policy": policy, "nodes": tmp_path / "nodes.json"} if name != "job-generatename" else {}
    assert oracle(one.stream, one.ran().ok(), platforms=PLATFORMS, archs=archs, **more).violations == []


def test_a_taint_of_several_architectures_is_tolerated_where_the_others_are_shut_out():
    toleration = {"effect": "NoSchedule", "key": "arch", "operator": "Equal"}
    made = yaml.safe_load_all(case("multi-arch-taint-lost").ran().ok())
    specs = [one["spec"]["template"]["spec"] for one in made if one["kind"] == "Deployment"]
    assert [spec["tolerations"] for spec in specs] == [[toleration], [toleration]]
