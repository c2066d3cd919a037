"""The corpus's custom resources: each file is changed, or named in the report with its reason; never passed in silence.

Every image offers linux/amd64 alone here, so that every pod needs an affinity.
"""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import machine
from archfit.base.errors import InvalidInput
from archfit.base.patch import dotted
from archfit.options.settings import Options
from stream_edits import Failed, edited, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from archfit.base.patch import Path
    from yaml_judge import Judge

# File -> where affinity is added, from each object's root; and the reasons for what is not changed.
FILES: dict[str, tuple[list[str], list[str]]] = {
    "alertmanager.yaml": (
        ["spec"],
        ["container config-reloader: the Prometheus operator adds it", "container init-config-reloader"],
    ),
    "appwrapper.yaml": (
        [
            f"spec.components[0].template.spec.pytorchReplicaSpecs.{role}.template.spec"
            for role in ("Master", "Worker")
        ],
        ["the training operator adds an init container"],
    ),
    "argo-cronworkflow.yaml": (
        ["spec.workflowSpec.templates[0]"],
        ["Argo adds its executor", "nothing of the controller's workflowDefaults reaches"],
    ),
    "argo-rollout-canary.yaml": (["spec.template.spec"], []),
    "argo-rollout-workloadref.yaml": (["spec.template.spec"], ["those of the workload in spec.workloadRef"]),
    "argo-workflow-ci.yaml": (
        ["spec.templates[1]"],
        [
            "Argo adds its executor",
            "nothing of the controller's workflowDefaults reaches",
            "{{inputs.parameters.os-image}}: its platforms cannot be looked up",
            "Argo adds its executor",
        ],
    ),
    "argo-workflow-containerset.yaml": (
        ["spec.templates[0]"],
        ["Argo adds its executor", "nothing of the controller's workflowDefaults reaches"],
    ),
    "argo-workflow-node-selector.yaml": ([], ["is filled in later"]),
    "argo-workflow-resource-template.yaml": ([], ["the manifest in a resource template is text"]),
    "cnpg-cluster.yaml": (["spec"], ["CloudNativePG adds its manager"]),
    "eck-elasticsearch.yaml": ([], ["the ECK operator chooses it by spec.version"]),
    "jobset.yaml": ([f"spec.replicatedJobs[{n}].template.spec.template.spec" for n in (0, 1)], []),
    "keda-scaledjob.yaml": (["spec.jobTargetRef.template.spec"], []),
    "knative-service-grpc-ping-go.yaml": (
        [],
        ["docker.io/{username}/grpc-ping-go: its platforms cannot be looked up"],
    ),
    "kruise-advancedcronjob.yaml": (["spec.template.broadcastJobTemplate.spec.template.spec"], []),
    "kruise-cloneset.yaml": (["spec.template.spec"], []),
    "kubeflow-mpijob.yaml": (
        [f"spec.mpiReplicaSpecs.{role}.template.spec" for role in ("Launcher", "Worker")],
        ["the training operator adds an init container"],
    ),
    "kubeflow-pytorchjob.yaml": (
        [f"spec.pytorchReplicaSpecs.{role}.template.spec" for role in ("Master", "Worker")],
        ["the training operator adds an init container"],
    ),
    "kubeflow-trainjob.yaml": ([], ["its training runtime names it"] * 2),
    "kubevirt-virtualmachine.yaml": (
        [],
        ["KubeVirt pins a machine", "its operator chooses the architecture"],
    ),
    "leaderworkerset.yaml": (["spec.leaderWorkerTemplate.workerTemplate.spec"], []),
    "minio-tenant.yaml": (["spec.pools[0]"], ["the MinIO operator adds a sidecar and an init container"]),
    "ocm-policy.yaml": (
        [],
        ["the policy compares objects of the cluster with an objectDefinition and does not create it"],
    ),
    "openshift-deploymentconfig.yaml": (["spec.template.spec"], []),
    "opentelemetry-collector.yaml": ([], ["the OpenTelemetry operator chooses it"]),
    "prometheus.yaml": (
        ["spec"],
        ["container config-reloader: the Prometheus operator adds it", "container init-config-reloader"],
    ),
    "raycluster.yaml": (["spec.headGroupSpec.template.spec", "spec.workerGroupSpecs[0].template.spec"], []),
    "spark-application-podtemplate.yaml": (
        ["spec.driver.template.spec", "spec.executor.template.spec"],
        ["through its webhook"] * 2,
    ),
    "spark-application.yaml": (["spec.driver", "spec.executor"], ["through its webhook"] * 2),
    "strimzi-kafka.yaml": (
        [],
        ["the Kafka object of the cluster names it"] * 2 + ["the Strimzi operator chooses or builds it"] * 3,
    ),
    "strimzi-podset.yaml": ([f"spec.pods[{n}].spec" for n in range(3)], []),
    "tekton-pipelinerun.yaml": (
        [],
        [
            "never in the task (2 such objects)",
            "never in the task",
            "Tekton adds its entrypoint",
            "its steps are in the task or pipeline",
        ],
    ),
    "tekton-taskrun-sidecar.yaml": (
        ["spec.podTemplate"],
        ["Tekton adds its entrypoint", "nothing of Tekton's default-pod-template reaches"],
    ),
    "volcano-job.yaml": (["spec.tasks[0].template.spec"], ["ends the one that Volcano's admission has"]),
}


def crd_files() -> list[Any]:
    folder = machine.SHARED / "corpus" / "crd"
    if folder.is_dir():
        return [pytest.param(path.name, id=path.name) for path in sorted(folder.iterdir())]
    reason = f"{folder} is missing: set TEST_SHARED to the folder of shared test data"
    return [pytest.param("", id="corpus", marks=pytest.mark.skip(reason=reason))]


def read(name: str) -> bytes:
    return (machine.SHARED / "corpus" / "crd" / name).read_bytes()


@pytest.mark.parametrize("name", crd_files())
def test_each_file_is_changed_or_named(
    judge: Judge, textcheck: Callable[[bytes, bytes], list[str]], name: str
) -> None:
    """The judges read what the patch says, a second run and a run with nothing to say change nothing."""
    data = read(name)
    written = placed(judge, data)
    edits = edited(data).edits
    changed = [dotted(pod.path) for pod, decision in edits.decisions if decision.outcome == "Change"]
    reasons = [str(result) for result in edits.messages] + [
        decision.reason for _, decision in edits.decisions if decision.outcome == "OptedOut"
    ]
    where, said = FILES[name]
    assert changed == where
    assert len(reasons) == len(said)
    assert all(part in reason for part, reason in zip(said, reasons, strict=True))
    assert changed or reasons
    assert (written == data) == (not changed)
    assert textcheck(data, written) == []


@pytest.mark.parametrize("name", crd_files())
def test_json_and_lists_get_the_same(judge: Judge, name: str) -> None:
    """In flow style, and as items of a List, in both styles."""
    objects = judge.kubectl(read(name))
    expected = judge.kubectl(placed(judge, read(name)))
    for one, after in zip(objects, expected, strict=True):
        text = json.dumps(one, ensure_ascii=False).encode() + b"\n"
        assert judge.kubectl(placed(judge, text)) == [after]
    several = {"apiVersion": "v1", "kind": "List", "items": objects}
    as_yaml = yaml.safe_dump(several, sort_keys=False, allow_unicode=True).encode()
    for text in (json.dumps(several, indent=1, ensure_ascii=False).encode() + b"\n", as_yaml):
        (made,) = judge.kubectl(placed(judge, text))
        assert made["items"] == expected


@pytest.mark.parametrize("name", crd_files())
def test_no_odd_value_anywhere_is_a_bug(name: str) -> None:
    """Each member of each object once as something else: an error of the input, or the same on a second run."""
    chosen = Random(name)
    for document in yaml.safe_load_all(read(name)):
        document.pop("status", None)
        paths = [path for path in paths_in(document) if path]
        for path in chosen.sample(paths, min(len(paths), 40)):
            text = yaml.safe_dump(replaced(document, path, chosen.choice(ODD)), sort_keys=False).encode()
            try:
                output = edited(text)
            except (Failed, InvalidInput):
                continue
            assert edited(output.data).data == output.data


ODD = [None, {}, [], "x", 3, True, [None], {"a": None}, [[]], {"image": "app:1"}, [{"image": None}]]


def paths_in(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    for step, member in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from paths_in(member, (*path, step))


def replaced(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    made = dict(value) if isinstance(value, dict) else list(value)
    made[path[0]] = replaced(value[path[0]], path[1:], new)
    return made


def test_the_custom_resources_of_whole_charts_are_named_too() -> None:
    """ClusterPolicy of the GPU operator, Prometheus and Alertmanager of kube-prometheus-stack."""
    chart = (machine.shared("corpus") / "helm3" / "gpu-operator.yaml").read_bytes()
    said = [str(result) for result in edited(chart, Options(on_conflict="leave")).edits.messages]
    assert any("nvidia.com/v1/ClusterPolicy" in one and "not transformed" in one for one in said)
    chart = (machine.shared("corpus") / "helm3" / "kube-prometheus-stack.yaml").read_bytes()
    kinds = {pod.ref.kind for pod, decision in edited(chart).edits.decisions if decision.outcome == "Change"}
    assert {"Prometheus", "Alertmanager"} <= kinds
