"""The images that a cluster uses now or will soon: of its pods, and of the templates that pods are made from.

    pods            every pod, also those that an operator or a hand made
    templates       Deployments, StatefulSets, ReplicaSets (a rollback takes an older one), Jobs, CronJobs; DaemonSets,
                    of which the companion warns
    left out        pods that a DaemonSet controls, and mirror pods: the policy leaves them alone; pods that have ended

Images that are no references, or that are never pulled, have no platforms and are left out.

The order is that in which a policy takes them, as far as they fit: most running pods, then most other objects that name
the image. Of equals each namespace has its turn, so that nobody's many images come before the one of somebody else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from archfit.admission.admitted_pod import MIRROR
from archfit.base.patch import dotted
from archfit.base.record import Record
from archfit.base.results import Location
from archfit.cluster.live_objects import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
)
from archfit.placement.selection import PodOptions, questions
from archfit.workloads.owner import controller_of
from archfit.workloads.pod_specs import find_pods
from archfit.yaml.values import mapping_of, typed

KINDS = (PODS, DEPLOYMENTS, STATEFUL_SETS, REPLICA_SETS, DAEMON_SETS, JOBS, CRON_JOBS)
_HERE = Location(1, 1)
_ENDED = ("Succeeded", "Failed")


class LiveImage(Record):
    """An image in use. owner: apiVersion, kind, namespace and name of the object that names it, at `field`.

    pods: that run with it. others: the other objects that name it.
    """

    text: str
    owner: tuple[str, str, str, str]
    field: str
    pods: int = 0
    others: int = 0


def live_images(objects: Iterable[dict[str, Any]]) -> list[LiveImage]:
    """Each image string of the objects once, with the first object that names it; those that are used most first."""
    found: dict[str, LiveImage] = {}
    pods, others = Counter[str](), Counter[str]()
    for value in objects:
        runs = value.get("kind") == PODS.kind and mapping_of(value.get("status")).get("phase") == "Running"
        named = {image.text: image for image in _of(value)}
        for text, image in named.items():
            found.setdefault(text, image)
            (pods if runs else others)[text] += 1
    return _by_use(one.replace(pods=pods[text], others=others[text]) for text, one in found.items())


def _by_use(images: Iterable[LiveImage]) -> list[LiveImage]:
    turns = Counter[tuple[int, int, str]]()
    ranked = []
    for one in sorted(images, key=lambda one: one.text):
        equals = (-one.pods, -one.others, one.owner[2])
        turns[equals] += 1
        ranked.append((-one.pods, -one.others, turns[equals], one.owner[2], one.text, one))
    return [row[-1] for row in sorted(ranked, key=lambda row: row[:-1])]


def _of(value: dict[str, Any]) -> Iterator[LiveImage]:
    metadata = mapping_of(value.get("metadata"))
    if value.get("kind") == PODS.kind and (
        controller_of(typed(metadata)).startswith("DaemonSet/")
        or MIRROR in mapping_of(metadata.get("annotations"))
        or mapping_of(value.get("status")).get("phase") in _ENDED
    ):
        return
    for pod in find_pods(typed(value), _HERE):
        asked = set(questions(pod, PodOptions(), left_alone=True))
        ref = pod.ref
        for use in pod.images:
            if use.text in asked:
                owner = (ref.api_version, ref.kind, ref.namespace, ref.name)
                yield LiveImage(use.text or "", owner, dotted(use.path))
