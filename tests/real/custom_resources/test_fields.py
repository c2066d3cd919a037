"""Every image field of every kind of the table, as the schemas have them: read by a row, or listed with its reason.

An image of linux/amd64 alone is put at each field in turn, beside images that run everywhere: the pods that count it
are restricted, or the run does nothing for them; none is given the toleration of arm64 alone. The twin: without it,
they are given the toleration.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.real.custom_resources.crd_fields import Field, catalogue, fields, placements, put

from archfit.base.patch import Add, Path, dotted, undotted
from archfit.base.results import Decision
from archfit.options.settings import Workload
from archfit.pipeline import StreamEdits
from archfit.workloads.builtin import rows_of
from archfit.workloads.custom_rows import all_custom_rows
from archfit.workloads.pods import Pod
from archfit.workloads.unread import images_in, unread
from stream_edits import edited

# Kinds without a schema of their own, or without an image in it.
NO_SCHEMA = {
    "apps.openshift.io/DeploymentConfig": "an aggregated API",
    "template.openshift.io/Template": "an aggregated API",
    "tekton.dev/ClusterTask": "gone upstream",
    "keda.sh/ScaledObject": "its schema has neither pods nor images",
    "k8s.keycloak.org/KeycloakRealmImport": "its schema has neither pods nor images",
    "pkg.crossplane.io/Provider": "its schema has neither pods nor images",
    "pkg.crossplane.io/Function": "its schema has neither pods nor images",
    "config.projectsveltos.io/ClusterProfile": "its schema has neither pods nor images",
    "config.projectsveltos.io/Profile": "its schema has neither pods nor images",
    "fleet.cattle.io/Bundle": "its resources are text",
    "fleet.cattle.io/GitRepo": "its schema has neither pods nor images",
    "fleet.cattle.io/HelmOp": "its schema has neither pods nor images",
    "policy.karmada.io/OverridePolicy": "its schema has neither pods nor images",
    "policy.karmada.io/ClusterOverridePolicy": "its schema has neither pods nor images",
    "policies.kyverno.io/MutatingPolicy": "its expressions are text",
    "policies.kyverno.io/NamespacedMutatingPolicy": "its expressions are text",
    **dict.fromkeys(
        (f"mutations.gatekeeper.sh/{kind}" for kind in ("Assign", "AssignImage")),
        "its schema has neither pods nor images",
    ),
    "triggers.tekton.dev/EventListener": "its schema is open",
    "triggers.tekton.dev/TriggerTemplate": "its schema is open",
    "kubeflow.org/Experiment": "its schema is open",
    "build.openshift.io/BuildConfig": "an aggregated API",
    "install.istio.io/IstioOperator": "gone upstream",
}
# What an object needs beside its images, for there to be the pod.
PRESENT = {
    "elasticsearch.k8s.elastic.co/Elasticsearch": ("spec.nodeSets[*]",),
    "kafka.strimzi.io/KafkaConnect": ("spec.build",),
    "sparkoperator.k8s.io/SparkConnect": ("spec.server", "spec.executor"),
    "core.humio.com/HumioCluster": ("spec.affinity", "spec.nodePools[*].spec.affinity"),
}
# A field counts only where these are missing.
ALONE = {
    "sparkoperator.k8s.io/SparkApplication": {"spec.image": ("spec.driver.image", "spec.executor.image")},
    "sparkoperator.k8s.io/ScheduledSparkApplication": {
        "spec.template.image": ("spec.template.driver.image", "spec.template.executor.image")
    },
}
_ARGO = {"container": "image", "script": "image", "containerSet": "containers[*].image"}


def argo_alone(spec: str) -> dict[str, tuple[str, ...]]:
    """A template has one of container, script and containerSet; its own image comes before the default's."""
    found = {}
    for name, below in _ARGO.items():
        others = tuple(f"{spec}.templates[*].{other}" for other in _ARGO if other != name)
        found[f"{spec}.templates[*].{name}.{below}"] = others
        own = f"{spec}.templates[*].{name}.{below.partition('[')[0]}"
        found[f"{spec}.templateDefaults.{name}.{below}"] = (*others, own)
    return found


for name in ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate"):
    ALONE[f"argoproj.io/{name}"] = argo_alone("spec")
ALONE["argoproj.io/CronWorkflow"] = argo_alone("spec.workflowSpec")
KINDS = [pytest.param(*key, id="/".join(key)) for key in all_custom_rows()]


def rows_for(field: Field) -> tuple[Workload, ...]:
    return rows_of(f"{field.group}/{field.version}", field.kind, {})


def is_below(path: Path, holder: Path) -> bool:
    return path[: len(holder)] == holder


def fate(field: Field) -> str:
    """What the table says of a field: read, unseen (nobody can see the image), listed (never runs), left (named)."""
    rows = rows_for(field)
    if any(is_below(field.path, path) for row in rows for path, _ in row.never_run):
        return "listed"
    if any(
        row.reason and not row.unless and not row.when and is_below(field.path, row.there) for row in rows
    ):
        return "left"
    if any(is_below(field.path, path) for row in rows for path, _ in row.unseen):
        return "unseen"
    holder: dict[str, Any] = {}
    field.put(holder, "amd:1")
    return "unread" if list(unread(rows, holder)) else "read"


@pytest.mark.parametrize(("group", "kind"), KINDS)
def test_every_image_field_is_read_or_listed_with_its_reason(group, kind):
    known = f"{group}/{kind}" in catalogue()
    assert known == (f"{group}/{kind}" not in NO_SCHEMA)
    for field in fields(group, kind):
        holder: dict[str, Any] = {}
        field.put(holder, "amd:1")
        assert [path for path, _ in images_in(holder)], f"{dotted(field.path)} is not taken for an image"
        assert fate(field) != "unread", f"{field.version} {dotted(field.path)}"
    for row in all_custom_rows()[group, kind]:
        assert all(reason for _, reason in row.never_run)


def made(group: str, kind: str, version: str, field: Field | None) -> dict[str, Any]:
    """An object with images that run everywhere at every field, and one of linux/amd64 alone at this one."""
    value: dict[str, Any] = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": {"name": "a"}}
    for path in (*placements(group, kind, version), *map(undotted, PRESENT.get(f"{group}/{kind}", ()))):
        put(value, path, {})
    for other in fields(group, kind):
        if other.version == version and fate(other) not in ("listed", "unseen"):
            other.put(value, "both:1")
    if field is not None:
        for path in ALONE.get(f"{group}/{kind}", {}).get(_text(field.path), ()):
            _take_out(value, undotted(path))
        field.put(value, "amd:1")
    return value


def _text(path: Path) -> str:
    return ".".join(map(str, path)).replace(".*", "[*]")


def _take_out(value: Any, path: Path) -> None:
    for step in path[:-1]:
        value = value[0 if step == "*" else step]
    value.pop(path[-1], None)


def run(value: dict[str, Any]) -> StreamEdits:
    return edited(json.dumps(value).encode()).edits


def writes(decision: Decision, field: str) -> bool:
    """Whether the field is added; also inside of a mapping that is made for it."""
    return any(
        field in f"{dotted(step.path)} {step.value}" for step in decision.patch if isinstance(step, Add)
    )


def counting(edits: StreamEdits, field: Field) -> Iterator[tuple[Pod, Decision]]:
    """The pods that count the image at the field."""
    for pod, decision in edits.decisions:
        if any(use.text == "amd:1" or _same(use.path, field.path) for use in pod.images):
            yield pod, decision


def _same(path: Path, pattern: Path) -> bool:
    return len(path) >= len(pattern) and all(
        wanted in ("*", step) for wanted, step in zip(pattern, path, strict=False)
    )


@pytest.mark.usefixtures("twins_for_read")
@pytest.mark.parametrize(("group", "kind"), KINDS)
def test_no_field_lets_a_pod_onto_nodes_that_cannot_run_its_image(group, kind):
    for field in fields(group, kind):
        value = made(group, kind, field.version, field)
        edits = run(value)
        where = f"{field.version} {dotted(field.path)}"
        if fate(field) in ("listed", "left"):
            assert not list(counting(edits, field)), where
            named = any("not transformed: " in result.text for result in edits.messages)
            assert named or fate(field) == "listed", where
            continue
        pods = list(counting(edits, field))
        assert pods, f"{where}: no pod counts it"
        for pod, decision in pods:
            assert not writes(decision, "tolerations"), where
            unasked = any("platforms cannot be looked up" in result.text for result in decision.messages)
            chosen = pod.placement_paths is not None and bool(
                pod.placement_paths.chosen or pod.placement_paths.unplaced
            )
            assert writes(decision, "ffinity") or unasked or chosen, where


@pytest.mark.usefixtures("twins_for_read")
@pytest.mark.parametrize(("group", "kind"), KINDS)
def test_images_that_run_everywhere_are_given_the_toleration(group, kind):
    """Unless the object cannot be changed, its API refuses it, it would hide what stands elsewhere, it has no field for
    it, or an image is unknown.
    """
    for version in dict.fromkeys(field.version for field in fields(group, kind)):
        for pod, decision in run(made(group, kind, version, None)).decisions:
            places = pod.placement_paths
            unasked = any("platforms cannot be looked up" in result.text for result in decision.messages)
            careful = places and (places.needed_only or places.outside)
            hindered = decision.immutable or unasked or careful or not pod.images
            assert writes(decision, "tolerations") or hindered or pod.lacks("tolerations"), dotted(pod.path)
