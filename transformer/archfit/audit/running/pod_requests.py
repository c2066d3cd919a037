"""What a pod requests, by the scheduler's own formula, and which devices it needs.

    requests  max(apps and sidecars, init), for each resource; what the pod itself requests (cpu, memory, hugepages-*)
              replaces it; + spec.overhead
    init      the largest of: a sidecar with those before it; another init container with the sidecars before it
    a resize  max(spec, status.resources, allocatedResources), without spec where it is infeasible
    manifest  the API server has not seen it: what is not requested is requested as it is limited

Source: k8s.io/component-helpers v0.36 resource/helpers.go PodRequests, with the options of the scheduler
(framework/types.go CalculateResource: UseStatusResources, InPlacePodLevelResourcesVerticalScalingEnabled);
pkg/apis/core/v1/defaults.go SetDefaults_Pod; pkg/apis/core/v1/helper IsExtendedResourceName; KEP-753, KEP-1287,
KEP-2837, KEP-4381 (resource claims).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archfit.audit.running.object_fields import text
from archfit.cluster.nodes import mapping, sequence
from archfit.cluster.quantity import milli, nano, units

_POD_LEVEL = ("cpu", "memory")
_HUGE_PAGES = "hugepages-"
_CONTAINERS = ("containers", "initContainers")
_OWN_DOMAIN = "kubernetes.io"
_CLAIMS = "resourceClaims"


def requested(pod: Mapping[str, Any]) -> tuple[int, int]:
    """(1/1000 CPU, bytes of memory) that a pod of a cluster requests."""
    requests = pod_requests(pod)
    return max(0, milli(requests.get("cpu", 0))), max(0, units(requests.get("memory", 0)))


def requested_by_manifest(spec: Mapping[str, Any]) -> tuple[int, int]:
    """(1/1000 CPU, bytes of memory) that a pod would request that is made of this pod spec."""
    containers = {name: [*map(_limits_as_requests, sequence(spec, name))] for name in _CONTAINERS}
    defaulted = {**spec, **containers}
    own = mapping(spec, "resources")
    limits = amounts(own.get("limits"))
    if limits:
        of_containers = _of_containers(defaulted, {}, infeasible=False)
        requests = mapping(own, "requests")
        more = {
            name: text
            for name, text in mapping(own, "limits").items()
            if name in limits and name not in requests and name not in of_containers
        }
        defaulted["resources"] = {**own, "requests": {**requests, **more}}
    return requested({"spec": defaulted})


def pod_requests(pod: Mapping[str, Any]) -> dict[str, int]:
    """Each resource that the pod requests, in 1/1,000,000,000; what is no quantity counts as nothing."""
    spec, status = mapping(pod, "spec"), mapping(pod, "status")
    infeasible = _is_infeasible(status)
    statuses = {
        text(entry.get("name")): entry
        for name in ("containerStatuses", "initContainerStatuses")
        for entry in sequence(status, name)
        if entry.get("resources") is not None
    }
    requests = _of_containers(spec, statuses, infeasible=infeasible)
    own = {
        name: amount
        for name, amount in amounts(mapping(spec, "resources").get("requests")).items()
        if name in _POD_LEVEL or name.startswith(_HUGE_PAGES)
    }
    if own:
        if status.get("resources") is not None:
            effective = _effective(own, status, infeasible=infeasible)
            own = {name: effective.get(name, 0) for name in own}
        requests.update(own)
    _add(requests, amounts(spec.get("overhead")))
    return requests


def devices(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """What a pod of this spec needs of its node beside CPU, memory and storage, sorted."""
    needs = [spec.get("resources")]
    needs += [container.get("resources") for key in _CONTAINERS for container in sequence(spec, key)]
    lists = [mapping(need).get(key) for need in needs if need for key in ("requests", "limits")]
    names = {name for resources in lists if resources for name in devices_of(resources)}
    if sequence(spec, "resourceClaims"):
        names.add(_CLAIMS)
    return tuple(sorted(names))


def devices_of(resources: Any) -> tuple[str, ...]:
    """The devices of a ResourceList (core/v1), sorted; of a node what it has for pods."""
    return tuple(
        sorted(name for name, amount in amounts(resources).items() if amount > 0 and _is_device(name))
    )


def _is_device(name: str) -> bool:
    domain, slash, _ = name.partition("/")
    if not slash:
        return name.startswith(_HUGE_PAGES)
    return domain != _OWN_DOMAIN and not domain.endswith(f".{_OWN_DOMAIN}")


def amounts(resources: Any) -> dict[str, int]:
    """A ResourceList (core/v1), parsed."""
    parsed = {}
    for name, quantity in mapping(resources).items():
        try:
            parsed[name] = nano(quantity)
        except ValueError:
            continue
    return parsed


def _of_containers(
    spec: Mapping[str, Any], statuses: Mapping[Any, Mapping[str, Any]], *, infeasible: bool
) -> dict[str, int]:
    requests: dict[str, int] = {}
    for container in sequence(spec, "containers"):
        _add(requests, _of(container, statuses, infeasible=infeasible))
    sidecars: dict[str, int] = {}
    init: dict[str, int] = {}
    for container in sequence(spec, "initContainers"):
        if container.get("restartPolicy") == "Always":
            own = _of(container, statuses, infeasible=infeasible)
            _add(requests, own)
            _add(sidecars, own)
            _raise(init, sidecars)
        else:
            own = _of(container, {}, infeasible=infeasible)
            _add(own, sidecars)
            _raise(init, own)
    _raise(requests, init)
    return requests


def _of(
    container: Mapping[str, Any], statuses: Mapping[Any, Mapping[str, Any]], *, infeasible: bool
) -> dict[str, int]:
    requests = amounts(mapping(container, "resources").get("requests"))
    status = statuses.get(text(container.get("name"))) if statuses else None
    return requests if status is None else _effective(requests, status, infeasible=infeasible)


def _effective(stated: dict[str, int], status: Mapping[str, Any], *, infeasible: bool) -> dict[str, int]:
    """What a container or a pod requests, beside what its status says of a resize."""
    requests = {} if infeasible else dict(stated)
    _raise(requests, amounts(mapping(status, "resources").get("requests")))
    _raise(requests, amounts(status.get("allocatedResources")))
    return requests


def _is_infeasible(status: Mapping[str, Any]) -> bool:
    for condition in sequence(status, "conditions"):
        if condition.get("type") == "PodResizePending":
            return bool(condition.get("reason") == "Infeasible")
    return False


def _limits_as_requests(container: Mapping[str, Any]) -> dict[str, Any]:
    resources = mapping(container, "resources")
    limits = mapping(resources, "limits")
    requests = {**limits, **mapping(resources, "requests")}
    return {**container, "resources": {**resources, "requests": requests}}


def _add(requests: dict[str, int], more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        requests[name] = requests.get(name, 0) + amount


def _raise(requests: dict[str, int], least: Mapping[str, int]) -> None:
    for name, amount in least.items():
        requests[name] = max(requests.get(name, amount), amount)
