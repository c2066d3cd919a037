"""What a pod requests, by the scheduler's own formula.

    apps      sum of the containers' requests
    sidecars  running sum of the init containers with restartPolicy Always, in order; each is part of `apps` too
    init      the largest of: a sidecar with those before it; another init container with the sidecars before it
    requests  max(apps and sidecars, init), for each resource
              resources of the pod itself (spec.resources.requests: cpu, memory, hugepages-*) replace it
              + spec.overhead

    a resize  status.containerStatuses[].resources is there: max(spec, status.resources, allocatedResources);
              where the condition PodResizePending says Infeasible: max(status.resources, allocatedResources)
              the same for the pod itself (status.resources, status.allocatedResources)

    manifest  the API server has not seen it: what is not requested is requested as it is limited

    devices   huge pages, and resources with a domain that is not Kubernetes' own, as nvidia.com/gpu: more than 0 of
              them, of any container and of the pod, requested or limited; `resourceClaims` for spec.resourceClaims

Source: k8s.io/component-helpers v0.36 resource/helpers.go PodRequests, with the options of the scheduler
(framework/types.go CalculateResource: UseStatusResources, InPlacePodLevelResourcesVerticalScalingEnabled);
pkg/apis/core/v1/defaults.go SetDefaults_Pod; pkg/apis/core/v1/helper IsExtendedResourceName; KEP-753, KEP-1287,
KEP-2837, KEP-4381 (resource claims).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from archfit.audit.running.object_fields import mapping, mappings, text
from archfit.cluster.quantity import milli, nano, units

_POD_LEVEL = ("cpu", "memory")
_HUGE_PAGES = "hugepages-"
_CONTAINERS = ("containers", "initContainers")
_OWN_DOMAIN = "kubernetes.io"
_CLAIMS = "resourceClaims"


def requested(pod: Mapping[str, Any]) -> tuple[int, int]:
    """(1/1000 CPU, bytes of memory) that a pod of a cluster requests."""
    found = pod_requests(pod)
    return max(0, milli(found.get("cpu", 0))), max(0, units(found.get("memory", 0)))


def requested_by_manifest(spec: Mapping[str, Any]) -> tuple[int, int]:
    """(1/1000 CPU, bytes of memory) that a pod would request that is made of this pod spec."""
    defaulted = {
        **spec,
        **{
            name: [_limits_as_requests(container) for container in mappings(spec.get(name))]
            for name in ("containers", "initContainers")
        },
    }
    own = mapping(spec.get("resources"))
    limits = amounts(own.get("limits"))
    if limits:
        of_containers = _of_containers(defaulted, {}, infeasible=False)
        requests = mapping(own.get("requests"))
        more = {
            name: text
            for name, text in mapping(own.get("limits")).items()
            if name in limits and name not in requests and name not in of_containers
        }
        defaulted["resources"] = {**own, "requests": {**requests, **more}}
    return requested({"spec": defaulted})


def pod_requests(pod: Mapping[str, Any]) -> dict[str, int]:
    """Each resource that the pod requests, in 1/1,000,000,000; what is no quantity counts as nothing."""
    spec, status = mapping(pod.get("spec")), mapping(pod.get("status"))
    infeasible = _is_infeasible(status)
    statuses = {
        text(one.get("name")): one
        for name in ("containerStatuses", "initContainerStatuses")
        for one in mappings(status.get(name))
        if one.get("resources") is not None
    }
    found = _of_containers(spec, statuses, infeasible=infeasible)
    own = {
        name: amount
        for name, amount in amounts(mapping(spec.get("resources")).get("requests")).items()
        if name in _POD_LEVEL or name.startswith(_HUGE_PAGES)
    }
    if own:
        resized = status.get("resources")
        if resized is not None:
            effective = _effective(
                own, mapping(resized).get("requests"), status.get("allocatedResources"), infeasible=infeasible
            )
            own = {name: effective.get(name, 0) for name in own}
        found.update(own)
    _add(found, amounts(spec.get("overhead")))
    return found


def devices(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """What a pod of this spec needs of its node beside CPU, memory and storage, sorted."""
    needs = [spec.get("resources")]
    needs += [one.get("resources") for key in _CONTAINERS for one in mappings(spec.get(key))]
    lists = [mapping(need).get(key) for need in needs if need for key in ("requests", "limits")]
    names = {name for one in lists if one for name in devices_of(one)}
    if any(True for _ in mappings(spec.get("resourceClaims"))):
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
    found = {}
    for name, quantity in mapping(resources).items():
        try:
            found[name] = nano(quantity)
        except ValueError:
            continue
    return found


def _of_containers(
    spec: Mapping[str, Any], statuses: Mapping[Any, Mapping[str, Any]], *, infeasible: bool
) -> dict[str, int]:
    found: dict[str, int] = {}
    for container in mappings(spec.get("containers")):
        _add(found, _of(container, statuses, infeasible=infeasible))
    sidecars: dict[str, int] = {}
    init: dict[str, int] = {}
    for container in mappings(spec.get("initContainers")):
        if container.get("restartPolicy") == "Always":
            requests = _of(container, statuses, infeasible=infeasible)
            _add(found, requests)
            _add(sidecars, requests)
            _raise(init, sidecars)
        else:
            requests = _of(container, {}, infeasible=infeasible)
            _add(requests, sidecars)
            _raise(init, requests)
    _raise(found, init)
    return found


def _of(
    container: Mapping[str, Any], statuses: Mapping[Any, Mapping[str, Any]], *, infeasible: bool
) -> dict[str, int]:
    requests = amounts(mapping(container.get("resources")).get("requests"))
    status = statuses.get(text(container.get("name"))) if statuses else None
    if status is None:
        return requests
    actuated = mapping(status.get("resources")).get("requests")
    return _effective(requests, actuated, status.get("allocatedResources"), infeasible=infeasible)


def _effective(spec: dict[str, int], actuated: Any, allocated: Any, *, infeasible: bool) -> dict[str, int]:
    found = {} if infeasible else dict(spec)
    _raise(found, amounts(actuated))
    _raise(found, amounts(allocated))
    return found


def _is_infeasible(status: Mapping[str, Any]) -> bool:
    pending: Iterable[Mapping[str, Any]] = (
        one for one in mappings(status.get("conditions")) if one.get("type") == "PodResizePending"
    )
    return next((one.get("reason") == "Infeasible" for one in pending), False)


def _limits_as_requests(container: Mapping[str, Any]) -> dict[str, Any]:
    resources = mapping(container.get("resources"))
    limits = mapping(resources.get("limits"))
    if not limits:
        return dict(container)
    requests = {**limits, **mapping(resources.get("requests"))}
    return {**container, "resources": {**resources, "requests": requests}}


def _add(found: dict[str, int], more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        found[name] = found.get(name, 0) + amount


def _raise(found: dict[str, int], least: Mapping[str, int]) -> None:
    for name, amount in least.items():
        if name not in found or amount > found[name]:
            found[name] = amount
