"""Pod templates of objects that are no pods: rendered manifests, and what a cluster holds that does not run now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from archfit.audit.running.container_images import container_image, reference_of
from archfit.audit.running.object_fields import is_windows, kept_labels, placement_terms, tolerations
from archfit.audit.running.pod_requests import devices, requested_by_manifest
from archfit.audit.running.webhooks import Labels, labels_of
from archfit.base.patch import Path
from archfit.base.results import Location
from archfit.cluster.nodes import mapping, sequence
from archfit.facts.facts import ContainerImage, Role, Term
from archfit.placement.requirement import container_start
from archfit.programs.start import Start
from archfit.startup.record import Record
from archfit.workloads.builtin import UserRows
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.pods import ImageUse, Pod
from archfit.yaml.values import plain, typed

_HERE = Location(1, 1)


class Template(Record):
    """One pod template. cpu, memory: of one pod. pods: how many the object asks for. per_node: a DaemonSet's.

    suspended: a Job or CronJob that starts none now. done: a Job that is complete or has failed. pod_labels: of the
    template's own metadata.
    """

    namespace: str
    kind: str
    name: str
    images: tuple[ContainerImage, ...]
    cpu: int
    memory: int
    pods: int
    terms: tuple[Term, ...]
    tolerations: tuple[tuple[str, str, str, str], ...]
    windows: bool
    per_node: bool
    suspended: bool
    done: bool
    labels: tuple[tuple[str, str], ...] = ()
    devices: tuple[str, ...] = ()
    pod_labels: Labels = ()


def templates(
    value: Mapping[str, Any],
    rows: UserRows,
    keys: Iterable[str],
    started: Callable[[str, Start], None] | None = None,
) -> Iterator[Template]:
    """The pod templates of an object (JSON's own values). keys: of labels and annotations to keep.

    started: takes what each container says of its program, with the reference of its image.
    Raises InvalidInput for more than 100,000 images.
    """
    for pod in find_pods(typed(dict(value)), _HERE, (), rows):
        spec = plain(pod.spec)
        for use in pod.images:
            if started and use.text and (start := container_start(pod.replace(spec=spec), use)):
                started(reference_of(use.text), start)
        cpu, memory = requested_by_manifest(spec)
        root = _at(value, pod.root)
        metadata = mapping(_at(value, pod.path[:-1]), "metadata")
        yield Template(
            pod.ref.namespace,
            pod.ref.kind,
            pod.ref.name,
            tuple(map(_image, pod.images)),
            cpu,
            memory,
            _pods(pod, root),
            placement_terms(spec),
            tolerations(spec),
            is_windows(spec),
            pod.ref.kind == "DaemonSet",
            "Job" in pod.ref.kind and mapping(root, "spec").get("suspend") is True,
            pod.ref.kind == "Job" and _is_done(root),
            kept_labels(metadata, keys),
            devices(spec),
            labels_of(metadata.get("labels")),
        )


def _image(use: ImageUse) -> ContainerImage:
    role: Role = "volume" if use.volume else "init" if "initContainers" in use.path else "container"
    return container_image(use.container, role, "" if use.unasked else use.text or "")


def _pods(pod: Pod, value: Mapping[str, Any]) -> int:
    spec = mapping(value, "spec")
    if pod.ref.kind == "CronJob":
        spec = mapping(spec, "jobTemplate", "spec")
    if pod.ref.kind in ("Job", "CronJob"):
        pods = spec.get("parallelism")
    else:
        beside = pod.path[len(pod.root) :] == ("spec", "template", "spec") and pod.ref.kind != "DaemonSet"
        pods = spec.get("replicas") if beside else 1
    return pods if type(pods) is int and 0 <= pods < 2**31 else 1


def _is_done(job: Mapping[str, Any]) -> bool:
    return any(
        condition.get("type") in ("Complete", "Failed") and condition.get("status") == "True"
        for condition in sequence(job, "status", "conditions")
    )


def _at(value: Any, path: Path) -> Mapping[str, Any]:
    """The mapping there, {} where nothing is: a row may place metadata in a field that the object leaves out."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return {}
    return mapping(value)
