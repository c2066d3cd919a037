"""Who a person would change to change a pod: its controller, followed upwards, in the pod's own namespace alone.

What is not in the lists is guessed by name: a ReplicaSet NAME-HASH by the pod's label pod-template-hash (Argo's
rollouts-pod-template-hash), a Job NAME-DIGITS, whose 8 to 11 digits are minutes since 1970, by its CronJob.
Source: pkg/controller/cronjob getJobName; pkg/controller/deployment (pod-template-hash); Argo Rollouts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from archfit.audit.running.object_fields import controller, text
from archfit.cluster.nodes import mapping
from archfit.startup.record import Record

_HASHES = {"pod-template-hash": "Deployment", "rollouts-pod-template-hash": "Rollout"}
_CRON_JOB = re.compile(r"(.+)-[0-9]{8,11}", re.ASCII).fullmatch
# Deployment, ReplicaSet, Pod are three; operators add a few.
_LONGEST = 16


class Named(Record):
    """An object of a namespace."""

    namespace: str
    kind: str
    name: str


class Owner(Record):
    """Whom to change, and how that is known; see `facts.WorkloadFacts`."""

    named: Named
    by: Literal["controller", "name", ""]


class Owners:
    """What controls what, as far as the lists say; filled as they are read."""

    def __init__(self) -> None:
        self._controllers: dict[Named, Named | None] = {}
        self._by_name: dict[Named, Named] = {}

    def add(self, named: Named, metadata: Mapping[str, Any]) -> None:
        """An object that is in the lists."""
        kind, name = controller(metadata)
        self._controllers[named] = Named(named.namespace, kind, name) if name else None

    def of_pod(self, pod: Named, metadata: Mapping[str, Any]) -> Named:
        """What controls the pod, the pod itself where nothing does."""
        kind, name = controller(metadata)
        if not name:
            return pod
        direct = Named(pod.namespace, kind, name)
        if direct not in self._by_name and (guess := _by_name(direct, mapping(metadata, "labels"))):
            self._by_name[direct] = guess
        return direct

    def resolved(self, named: Named, *, is_pod: bool) -> Owner:
        """The owner of a pod that `named` controls. is_pod: `named` is the pod itself."""
        if is_pod:
            return Owner(named, "")
        by: Literal["controller", "name"] = "controller"
        for _ in range(_LONGEST):
            if named in self._controllers:
                above = self._controllers[named]
            else:
                above = self._by_name.get(named)
                by = "name" if above is not None else by
            if above is None:
                break
            named = above
        return Owner(named, by)


def _by_name(direct: Named, labels: Mapping[str, Any]) -> Named | None:
    if direct.kind == "ReplicaSet":
        for label, kind in _HASHES.items():
            end = f"-{text(labels.get(label))}"
            if len(end) > 1 and direct.name.endswith(end) and len(direct.name) > len(end):
                return Named(direct.namespace, kind, direct.name[: -len(end)])
    if direct.kind == "Job" and (match := _CRON_JOB(direct.name)):
        return Named(direct.namespace, "CronJob", match[1])
    return None
