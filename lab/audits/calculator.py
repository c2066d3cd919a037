"""The numbers of an audit, calculated from objects by docs/audit-numbers.md.

It shares no code with archfit: each function follows one paragraph of the page. Amounts are tuples
(owners, pods, cpu, memory, without_cpu): CPU in thousandths, memory in bytes; of a report, how many owners.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

Object = dict[str, Any]
Amount = tuple[Any, int, int, int, int]

NOTHING: Amount = (frozenset(), 0, 0, 0, 0)
OS_LABELS = ("kubernetes.io/os", "beta.kubernetes.io/os")
ARCH_LABELS = ("kubernetes.io/arch", "beta.kubernetes.io/arch")
COULD_MOVE = ("running", "pending", "scheduled", "manifest")
FAIL_A_RUN = (*COULD_MOVE, "gated", "idle", "daemonset")
TEMPLATE_ORDER = ("old", "finished", "windows", "idle", "daemonset", "scheduled", "pending", "manifest")
EVIDENCE = re.compile(
    r"exec format error|no match for platform in manifest|no image found in .* for architecture"
    r"|no matching manifest for|does not match the specified platform",
    re.IGNORECASE | re.DOTALL,
)
_SUFFIXES = {
    "": Fraction(1),
    **{name: Fraction(1, 1000**power) for power, name in enumerate(("m", "u", "n"), 1)},
    **{name: Fraction(1000**power) for power, name in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    **{f"{name}i": Fraction(1024**power) for power, name in enumerate("KMGTPE", 1)},
}


class Image(NamedTuple):
    """What its registry has. platforms: None for no answer, () for no such image. is_index: whether it is one."""

    platforms: tuple[str, ...] | None
    is_index: bool = True


class Row(NamedTuple):
    """Pods of one owner with one standing and one list of images. where: pods by the architecture of their nodes.

    specs: of its pods or template. idle: those of its pods that do not run: (architecture, state).
    """

    owner: tuple[str, str, str]
    standing: str
    images: tuple[tuple[str, str, str], ...]
    pods: int
    cpu: int
    memory: int
    without_cpu: int
    where: tuple[tuple[str, int], ...]
    specs: tuple[Object, ...]
    tolerations: frozenset[tuple[str, str, str, str]]
    devices: frozenset[str] = frozenset()
    webhook: bool = False
    idle: tuple[tuple[str, str], ...] = ()


class Report(NamedTuple):
    """What is compared, in the names of the report's JSON."""

    readiness: list[dict[str, Any]]
    daemon_sets: list[dict[str, Any]]
    work_lists: list[dict[str, Any]]
    waves: list[list[dict[str, Any]]]
    apart: dict[str, Amount]
    groups: list[dict[str, Any]]
    losses: list[dict[str, Any]]
    savings: list[dict[str, Any]]
    fails_require: bool
    damaged: list[tuple[str, str]]


def quantity(text: object) -> Fraction:
    if text is None:
        return Fraction(0)
    number, suffix = re.fullmatch(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)", str(text)).groups()  # type: ignore[union-attr]
    return Fraction(number) * _SUFFIXES[suffix]


def added(amounts: Iterable[Amount]) -> Amount:
    owners, *others = zip(NOTHING, *amounts, strict=True)
    return frozenset().union(*owners), *map(sum, others)  # type: ignore[return-value]


def _counted(value: Any) -> Any:
    """With numbers in the place of owners."""
    if isinstance(value, frozenset):
        return len(value)
    if isinstance(value, dict):
        return {key: _counted(part) for key, part in value.items()}
    return type(value)(map(_counted, value)) if isinstance(value, (list, tuple)) else value


def calculated(
    objects: Sequence[Object],
    images: Mapping[str, Image],
    required: Sequence[str] = (),
    *,
    assume_cpu: int = 0,
    allow_unknown: bool = False,
    prices: Mapping[str, str] | None = None,
    node_prices: Mapping[str, str] | None = None,
) -> Report:
    """The numbers for these objects. required: architectures of --require; allow_unknown: its flag.

    prices: of --price. node_prices: the rows of the file of --prices.
    """
    cluster = _Cluster(objects, assume_cpu)
    architectures = _architectures(cluster.nodes, required)
    states = _States(cluster, images)
    everywhere = {*architectures, *_architectures(cluster.nodes, ())}
    cluster.rows = [_of_the_user(row, states, everywhere) for row in cluster.rows]
    movable = [row for row in cluster.rows if row.standing in COULD_MOVE]
    parts = (
        [_readiness(arch, movable, cluster, states) for arch in architectures],
        [_daemon_sets(arch, cluster, states) for arch in architectures],
        [_work_list(arch, movable, states) for arch in architectures],
        [_waves(arch, cluster, states) for arch in architectures],
        {
            standing: added(_amount(row) for row in cluster.rows if row.standing == standing)
            for standing in {row.standing for row in cluster.rows} - set(COULD_MOVE)
        },
        cluster.groups(),
        _losses(cluster, movable, states),
        _savings(
            required or architectures[:1],
            _prices_of_cpu(cluster, prices or {}, node_prices or {}),
            movable,
            cluster,
            states,
        ),
        any(_fails(row, arch, cluster, states, allow_unknown) for arch in required for row in cluster.rows),
        sorted(states.damaged),
    )
    return Report(*map(_counted, parts))


def _architectures(nodes: Sequence[Object], required: Sequence[str]) -> list[str]:
    if required:
        return list(dict.fromkeys(required))
    others = sorted({_label_architecture(node) for node in nodes if _system(node) == "linux"} - {""})
    return list(dict.fromkeys(["arm64", "amd64", *others]))


def _fails(row: Row, arch: str, cluster: _Cluster, states: _States, allow_unknown: bool) -> bool:
    if row.standing not in FAIL_A_RUN or states.row(row, arch) not in ("blocked", "unknown"):
        return False
    if row.standing == "daemonset" and not _allows(row, arch, cluster):
        return False
    return not (allow_unknown and states.row(row, arch) == "unknown")


# What is read


def _labels(value: Object) -> Object:
    return (value.get("metadata") or {}).get("labels") or {}


def _system(node: Object) -> str:
    labels = _labels(node)
    named = next((labels[key] for key in OS_LABELS if labels.get(key)), None)
    return named or node.get("status", {}).get("nodeInfo", {}).get("operatingSystem") or "linux"


def _label_architecture(node: Object) -> str:
    return next((_labels(node)[key] for key in ARCH_LABELS if _labels(node).get(key)), "")


def _kubelet_architecture(node: Object) -> str:
    return node.get("status", {}).get("nodeInfo", {}).get("architecture") or ""


def _taints(node: Object) -> list[Object]:
    return node.get("spec", {}).get("taints") or []


def _is_virtual(node: Object) -> bool:
    labels = _labels(node)
    return (
        labels.get("type") == "virtual-kubelet"
        or labels.get("eks.amazonaws.com/compute-type") == "fargate"
        or any(taint["key"] == "virtual-kubelet.io/provider" for taint in _taints(node))
    )


def _condition(value: Object, kind: str) -> Object:
    return next((row for row in value.get("status", {}).get("conditions") or [] if row["type"] == kind), {})


def _is_ready(node: Object) -> bool:
    return _condition(node, "Ready").get("status") == "True"


def _is_open(node: Object) -> bool:
    return _is_ready(node) and not node.get("spec", {}).get("unschedulable") and not _is_virtual(node)


def _is_of_cluster(value: Object) -> bool:
    return bool(value["metadata"].get("uid") or value.get("status") or value.get("spec", {}).get("nodeName"))


def _place(value: Object) -> tuple[str, str, str]:
    return value["metadata"].get("namespace", "default"), value["kind"], value["metadata"]["name"]


def _controller(value: Object) -> Object | None:
    return next(
        (row for row in value["metadata"].get("ownerReferences") or [] if row.get("controller")), None
    )


# Rows


class _Cluster:
    def __init__(self, objects: Sequence[Object], assume_cpu: int) -> None:
        once = {value["metadata"].get("uid") or _place(value): value for value in objects}
        self.assume_cpu = assume_cpu
        self.nodes = [value for value in once.values() if value["kind"] == "Node"]
        self.by_name = {node["metadata"]["name"]: node for node in self.nodes}
        self.objects = {_place(value): value for value in once.values() if value["kind"] != "Node"}
        self.pods = [
            value for value in self.objects.values() if value["kind"] == "Pod" and _is_of_cluster(value)
        ]
        self.requests = {_place(pod): _request(pod, manifest=False) for pod in self.pods}
        hooked = self._hooked()
        self.rows = [row._replace(webhook=row.owner in hooked) for row in self._rows()]

    def _hooked(self) -> set[tuple[str, str, str]]:
        named = {
            (hook["clientConfig"]["service"]["namespace"], hook["clientConfig"]["service"]["name"])
            for value in self.objects.values()
            if value["kind"] in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
            for hook in value["webhooks"]
            if "service" in hook["clientConfig"]
        }
        chosen = [
            (value["metadata"]["namespace"], value["spec"]["selector"])
            for value in self.objects.values()
            if value["kind"] == "Service" and _place(value)[::2] in named and value["spec"].get("selector")
        ]
        found = set()
        for value in self.objects.values():
            spec = value.get("spec") or {}
            template: Any = (spec["jobTemplate"]["spec"] if value["kind"] == "CronJob" else spec).get(
                "template"
            )
            for namespace, selector in chosen if template else ():
                labels = _labels(template)
                if value["metadata"]["namespace"] == namespace and selector.items() <= labels.items():
                    found.add(self.owner(value))
        for pod in self.pods:
            for namespace, selector in chosen if self.standing(pod) != "finished" else ():
                if pod["metadata"]["namespace"] == namespace and selector.items() <= _labels(pod).items():
                    found.add(self.owner(pod))
        return found

    def owner(self, value: Object) -> tuple[str, str, str]:
        namespace, kind, name = _place(value)
        labels = _labels(value)
        for _ in range(16):
            held = self.objects.get((namespace, kind, name))
            above = _controller(held) if held else None
            if above is None:
                break
            kind, name = above["kind"], above["name"]
        if (namespace, kind, name) not in self.objects:
            for label, owner in (
                ("pod-template-hash", "Deployment"),
                ("rollouts-pod-template-hash", "Rollout"),
            ):
                end = f"-{labels.get(label, '')}"
                if kind == "ReplicaSet" and labels.get(label) and name.endswith(end) and name != end:
                    return namespace, owner, name.removesuffix(end)
            if kind == "Job" and (match := re.fullmatch(r"(.+)-[0-9]{8,11}", name)):
                return namespace, "CronJob", match[1]
        return namespace, kind, name

    def node_of(self, pod: Object) -> Object | None:
        return self.by_name.get(pod["spec"].get("nodeName", ""))

    def architecture_of(self, pod: Object) -> str:
        node = self.node_of(pod)
        return (_label_architecture(node) or _kubelet_architecture(node)) if node else ""

    def standing(self, pod: Object) -> str:
        node, above, spec = self.node_of(pod), _controller(pod), pod["spec"]
        phase = pod.get("status", {}).get("phase")
        rows = (
            ("finished", phase in ("Succeeded", "Failed")),
            (
                "mirror",
                "kubernetes.io/config.mirror" in (pod["metadata"].get("annotations") or {})
                or (above and above["kind"] == "Node"),
            ),
            ("windows", _is_windows(spec)),
            ("daemonset", above and above["kind"] == "DaemonSet"),
            ("windows", node is not None and _system(node) == "windows" and phase == "Running"),
            (
                "virtual",
                (spec.get("nodeSelector") or {}).get("type") == "virtual-kubelet"
                or (node is not None and _is_virtual(node)),
            ),
            ("gated", spec.get("schedulingGates") and not spec.get("nodeName")),
            ("pending", phase != "Running"),
        )
        return next((standing for standing, holds in rows if holds), "running")

    def _rows(self) -> list[Row]:
        groups: dict[tuple[Any, ...], list[Object]] = {}
        for pod in self.pods:
            key = (self.owner(pod), self.standing(pod), _images(pod["spec"]))
            groups.setdefault(key, []).append(pod)
        return [
            *(self._row_of_pods(key, pods) for key, pods in groups.items()),
            *self._rows_of_templates(groups),
            *self._rows_of_lost_cron_jobs(groups),
        ]

    def _row_of_pods(self, key: tuple[Any, ...], pods: list[Object]) -> Row:
        owner, standing, images = key
        weights = [self.weight(self.requests[_place(pod)], standing) for pod in pods]
        where: dict[str, int] = {}
        for pod in pods:
            arch = self.architecture_of(pod)
            if arch:
                where[arch] = where.get(arch, 0) + 1
        return Row(
            owner,
            standing,
            images,
            len(pods),
            sum(cpu for cpu, _, _ in weights),
            sum(memory for _, memory, _ in weights),
            sum(without for _, _, without in weights),
            tuple(where.items()),
            tuple(pod["spec"] for pod in pods),
            frozenset.intersection(*(_tolerations(pod["spec"]) for pod in pods)),
            frozenset().union(*(_devices(pod["spec"]) for pod in pods)),
            idle=tuple((self.architecture_of(pod), state) for pod in pods if (state := _does_not_run(pod))),
        )

    def weight(self, request: tuple[int, int], standing: str) -> tuple[int, int, int]:
        """CPU, memory, and 1 for a pod that requests no CPU."""
        if standing == "finished":
            return 0, 0, 0
        cpu, memory = request
        return cpu or self.assume_cpu, memory, not cpu

    def _rows_of_templates(self, groups: Mapping[tuple[Any, ...], list[Object]]) -> list[Row]:
        # A live owner with the same images takes all its pods, whatever their standing.
        alive = {(owner, images) for owner, standing, images in groups if standing != "finished"}
        ended = {(owner, images) for owner, standing, images in groups if standing == "finished"}
        chosen: dict[tuple[Any, ...], tuple[int, int, str, Object, Object, bool]] = {}
        for value in self.objects.values():
            spec = _template(value)
            if spec is None or (value["kind"] == "Pod" and _is_of_cluster(value)):
                continue
            owner, images = self.owner(value), _images(spec)
            ours = _is_of_cluster(value)
            if ours and ((owner, images) in alive or (value["kind"] == "Job" and (owner, images) in ended)):
                continue
            asks = _asks_for(value)
            if ours:
                others = any(name == owner for name, _ in alive)
                standing, pods = _template_standing(value, owner, others, asks)
                if not self.pods and standing in ("scheduled", "pending"):
                    standing = "manifest"
                if not self.pods and standing == "daemonset":
                    pods = 1
            else:
                standing, pods = ("daemonset", 1) if value["kind"] == "DaemonSet" else ("manifest", asks)
            if _is_windows(spec):
                standing = "windows"
            rank = (TEMPLATE_ORDER.index(standing), pods)
            key = (owner, images, ours)
            if key not in chosen or rank > chosen[key][:2]:
                chosen[key] = (*rank, standing, spec, value, ours)
        rows = []
        for (owner, images, _), (_, pods, standing, spec, value, _) in chosen.items():
            request = _request({"spec": spec}, manifest=True)
            if value["kind"] == "CronJob":
                request = self._last_run(owner, images) or request
            rows.append(_row_of(owner, standing, images, pods, self.weight(request, standing), spec))
        return rows

    def _last_run(self, owner: tuple[str, str, str], images: Any) -> tuple[int, int] | None:
        pods = [pod for pod in self.pods if self.owner(pod) == owner and self.standing(pod) == "finished"]
        if not pods:
            return None
        newest = max(pods, key=_age)
        return self.requests[_place(newest)] if _images(newest["spec"]) == images else None

    def _rows_of_lost_cron_jobs(self, groups: Mapping[tuple[Any, ...], list[Object]]) -> list[Row]:
        standings: dict[tuple[str, str, str], set[str]] = {}
        for owner, standing, _ in groups:
            standings.setdefault(owner, set()).add(standing)
        rows = []
        for owner, all_of in standings.items():
            if owner[1] != "CronJob" or owner in self.objects or all_of != {"finished"}:
                continue
            newest = max((pod for pod in self.pods if self.owner(pod) == owner), key=_age)
            weight, spec = self.weight(self.requests[_place(newest)], "scheduled"), newest["spec"]
            standing = "windows" if _is_windows(spec) else "scheduled"
            rows.append(_row_of(owner, standing, _images(spec), 1, weight, spec))
        return rows

    def requested(self, node: Object) -> tuple[int, int, int]:
        """CPU, memory and pods that are not finished on the node."""
        pods = [
            pod
            for pod in self.pods
            if pod["spec"].get("nodeName") == node["metadata"]["name"] and self.standing(pod) != "finished"
        ]
        requests = [self.requests[_place(pod)] for pod in pods]
        return sum(cpu for cpu, _ in requests), sum(memory for _, memory in requests), len(pods)

    def free(self, node: Object) -> tuple[int, int, int]:
        return tuple(  # type: ignore[return-value]
            max(0, has - used) for has, used in zip(_allocatable(node), self.requested(node), strict=True)
        )

    def groups(self) -> list[dict[str, Any]]:
        groups: dict[tuple[str, str], list[Object]] = {}
        for node in self.nodes:
            groups.setdefault((_system(node), _label_architecture(node)), []).append(node)
        found = []
        for (system, arch), nodes in sorted(groups.items()):
            opened = [node for node in nodes if _is_open(node)]
            free = [self.free(node) for node in opened if not any(map(_closes(node), _taints(node)))]
            found.append(
                {
                    "os": system,
                    "architecture": arch,
                    "nodes": len(nodes),
                    "free": tuple(map(sum, zip((0, 0, 0), *free, strict=True))),
                    "cordoned": sum(bool(node.get("spec", {}).get("unschedulable")) for node in nodes),
                    "notReady": sum(not _is_ready(node) for node in nodes),
                    "virtual": sum(map(_is_virtual, nodes)),
                    "reserved": len(opened) - len(free),
                }
            )
        return found


def _row_of(
    owner: tuple[str, str, str],
    standing: str,
    images: tuple[tuple[str, str, str], ...],
    pods: int,
    weight: tuple[int, int, int],
    spec: Object,
) -> Row:
    """Of pods that are not there."""
    cpu, memory, without = (one * pods for one in weight)
    row = Row(
        owner, standing, images, pods, cpu, memory, without, (), (spec,), _tolerations(spec), _devices(spec)
    )
    return row._replace(idle=(("", "pending"),) * pods if standing == "pending" else ())


def _does_not_run(pod: Object) -> str:
    phase = pod.get("status", {}).get("phase")
    ready = _condition(pod, "Ready").get("status", "True")
    if phase in ("Succeeded", "Failed") or (phase == "Running" and ready == "True"):
        return ""
    if any(
        status.get("state", {}).get("waiting", {}).get("reason") == "CrashLoopBackOff"
        for status in _statuses(pod)
    ):
        return "crashing"
    if phase == "Running":
        return "unready"
    reason = _condition(pod, "PodScheduled").get("reason")
    return "unschedulable" if reason == "Unschedulable" else "pending"


def _age(pod: Object) -> tuple[str, str]:
    return pod["metadata"].get("creationTimestamp", ""), pod["metadata"]["name"]


def _allocatable(node: Object) -> tuple[int, int, int]:
    has = node.get("status", {}).get("allocatable") or {}
    return (
        floor(quantity(has.get("cpu")) * 1000),
        floor(quantity(has.get("memory"))),
        floor(quantity(has.get("pods"))),
    )


def _closes(node: Object) -> Any:
    own = _label_architecture(node)

    def closes(taint: Object) -> bool:
        if taint["effect"] not in ("NoSchedule", "NoExecute"):
            return False
        return not (taint["key"] in ARCH_LABELS and taint.get("value") == own)

    return closes


def _template(value: Object) -> Object | None:
    spec = value.get("spec") or {}
    if value["kind"] == "Pod":
        return spec
    if value["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    return spec["template"]["spec"] if "template" in spec else None


def _asks_for(value: Object) -> int:
    spec = value["spec"]
    if value["kind"] == "CronJob":
        return int(spec["jobTemplate"]["spec"].get("parallelism", 1))
    return int(spec.get("parallelism" if value["kind"] == "Job" else "replicas", 1))


def _template_standing(
    value: Object, owner: tuple[str, str, str], others: bool, asks: int
) -> tuple[str, int]:
    kind = value["kind"]
    done = any(_condition(value, name).get("status") == "True" for name in ("Complete", "Failed"))
    rows = (
        ("old", 0, kind in ("ReplicaSet", "Job") and owner != _place(value) and (not asks or done)),
        ("finished", 0, kind == "Job" and done),
        ("daemonset", 0, kind == "DaemonSet"),
        ("idle", 0, not asks or (kind in ("Job", "CronJob") and value["spec"].get("suspend")) or others),
        ("scheduled", asks, kind == "CronJob"),
    )
    return next(((standing, pods) for standing, pods, holds in rows if holds), ("pending", asks))


def _is_windows(spec: Object) -> bool:
    selector = spec.get("nodeSelector") or {}
    if (spec.get("os") or {}).get("name") == "windows" or any(
        selector.get(key) == "windows" for key in OS_LABELS
    ):
        return True
    terms = _terms(spec) or []
    return bool(terms) and all(
        any(
            (one["key"] in OS_LABELS, one["operator"], one.get("values")) == (True, "In", ["windows"])
            for one in term.get("matchExpressions") or []
        )
        for term in terms
    )


def _images(spec: Object) -> tuple[tuple[str, str, str], ...]:
    """(name, kind, reference in its full form), sorted."""
    uses = [
        *((row["name"], "container", row["image"]) for row in spec.get("containers") or []),
        *((row["name"], "init", row["image"]) for row in spec.get("initContainers") or []),
        *(
            (row["name"], "volume", row["image"]["reference"])
            for row in spec.get("volumes") or []
            if "image" in row
        ),
    ]
    return tuple(sorted((name, kind, full_form(image)) for name, kind, image in uses))


def full_form(image: str) -> str:
    """`nginx` is docker.io/library/nginx:latest; what is no reference stays as it is."""
    if not re.fullmatch(r"[a-z0-9.-]+(?:/[a-z0-9._-]+)*(?::[A-Za-z0-9._-]+)?", image):
        return image
    host, _, rest = image.partition("/")
    if not rest or ("." not in host and host != "localhost"):
        host, rest = "docker.io", image if "/" in image else f"library/{image}"
    return f"{host}/{rest}" if ":" in rest else f"{host}/{rest}:latest"


# What a row weighs


def _request(pod: Object, *, manifest: bool) -> tuple[int, int]:
    spec = pod["spec"]
    cpu, memory = (_resource(pod, name, manifest) for name in ("cpu", "memory"))
    return ceil(cpu * 1000), ceil(memory) if spec else 0


def _resource(pod: Object, name: str, manifest: bool) -> Fraction:
    spec = pod["spec"]
    everything, sidecars, start = Fraction(0), Fraction(0), Fraction(0)
    for container in spec.get("containers") or []:
        everything += _container(pod, container, name, manifest)
    for container in spec.get("initContainers") or []:
        request = _container(pod, container, name, manifest)
        if container.get("restartPolicy") == "Always":
            everything += request
            sidecars += request
            start = max(start, sidecars)
        else:
            start = max(start, request + sidecars)
    total = max(everything, start)
    own = spec.get("resources") or {}
    stated = _stated(own, name, manifest)
    if stated is not None:
        total = quantity(stated)
    return total + quantity((spec.get("overhead") or {}).get(name))


def _stated(resources: Object, name: str, manifest: bool) -> str | None:
    stated: str | None = (resources.get("requests") or {}).get(name)
    return (resources.get("limits") or {}).get(name) if stated is None and manifest else stated


def _container(pod: Object, container: Object, name: str, manifest: bool) -> Fraction:
    resources = container.get("resources") or {}
    request = quantity(_stated(resources, name, manifest))
    rows = pod.get("status", {}).get("containerStatuses") or []
    status: Object = next((row for row in rows if row["name"] == container["name"]), {})
    if "resources" not in status:
        return request
    actual = [
        quantity((status["resources"].get("requests") or {}).get(name)),
        quantity((status.get("allocatedResources") or {}).get(name)),
    ]
    infeasible = _condition(pod, "PodResizePending").get("reason") == "Infeasible"
    return max(actual if infeasible else [request, *actual])


# Own placement


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_ANYWHERE = {"matchFields": "any"}
UNIVERSE = frozenset({"amd64", "arm64", "arm", "386", "ppc64le", "s390x", "riscv64"})


def _allows(row: Row, arch: str, cluster: _Cluster) -> bool:
    nodes = _nodes_of(arch, cluster)
    return any(_has_labels(row, node) for node in nodes) if nodes else arch in _named(row.specs)


def _has_labels(row: Row, node: Object) -> bool:
    return any(_holds(spec, _label_architecture(node), _labels(node)) for spec in row.specs)


def _named(specs: Iterable[Object]) -> set[str]:
    """The architectures that the conditions on it allow."""
    return {arch for arch in UNIVERSE if any(_holds(spec, arch, None) for spec in specs)}


def _holds(spec: Object, arch: str, labels: Object | None) -> bool:
    """Whether nodeSelector and a term hold on such a node. labels: None where those on others count as met."""
    selector = [
        {"key": key, "operator": "In", "values": [value]}
        for key, value in (spec.get("nodeSelector") or {}).items()
    ]
    own = _terms(spec)
    for term in [_ANYWHERE] if own is None else own:
        rows = term.get("matchExpressions") or []
        if (rows or term.get("matchFields")) and all(
            (labels is None and row["key"] not in (*ARCH_LABELS, *OS_LABELS))
            or (row["key"] in OS_LABELS and _condition_holds(row, "linux"))
            or _condition_holds(row, arch if row["key"] in ARCH_LABELS else (labels or {}).get(row["key"]))
            for row in (*selector, *rows)
        ):
            return True
    return False


def _condition_holds(row: Object, value: str | None) -> bool:
    listed = value in (row.get("values") or [])
    there = value is not None
    return {"In": listed, "NotIn": not listed, "Exists": there, "DoesNotExist": not there}[row["operator"]]


def _terms(spec: Object) -> list[Object] | None:
    """The required terms; None without any."""
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED)
    return affinity.get("nodeSelectorTerms") if affinity else None


def _of_the_user(row: Row, states: _States, architectures: set[str]) -> Row:
    """Without each end of a term that leaves out what its images lack, and nothing else."""
    lacked = {arch for arch in UNIVERSE if "no" in states.images_of(row, arch).values()}
    return row._replace(specs=tuple(_without_ends(spec, lacked, architectures) for spec in row.specs))


def _without_ends(spec: Object, lacked: set[str], architectures: set[str]) -> Object:
    terms = list(_terms(spec) or [])
    for place, term in enumerate(terms):
        *others, last = term.get("matchExpressions") or [{"key": "", "operator": ""}]
        if (last["key"], last["operator"]) != (ARCH_LABELS[0], "In"):
            continue
        bare = {**term, "matchExpressions": others} if others or term.get("matchFields") else _ANYWHERE
        with_end, without = (_named([_with_terms(spec, [one])]) for one in (term, bare))
        if (without - lacked - with_end) & architectures or with_end & lacked:
            continue
        terms[place] = bare
    return _with_terms(spec, terms) if terms else spec


def _with_terms(spec: Object, terms: list[Object]) -> Object:
    return {**spec, "affinity": {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": terms}}}}


def _tolerations(spec: Object) -> frozenset[tuple[str, str, str, str]]:
    return frozenset(
        (row.get("key", ""), row.get("operator") or "Equal", row.get("value", ""), row.get("effect", ""))
        for row in spec.get("tolerations") or []
        if "tolerationSeconds" not in row
    )


def _tolerates(row: Row, taint: Object) -> bool:
    for key, operator, value, effect in row.tolerations:
        if effect and effect != taint["effect"]:
            continue
        if key and key != taint["key"]:
            continue
        if operator == "Exists" or (key and value == taint.get("value", "")):
            return True
    return False


def _devices(spec: Object) -> frozenset[str]:
    found = {"resourceClaims"} if spec.get("resourceClaims") else set()
    for part in (spec, *_containers(spec)):
        for kind in ("requests", "limits"):
            found |= _has_devices((part.get("resources") or {}).get(kind) or {})
    return frozenset(found)


def _has_devices(resources: Object) -> set[str]:
    return {
        name
        for name, number in resources.items()
        if quantity(number) > 0
        and (
            name.startswith("hugepages-")
            or ("/" in name and not f".{name.split('/')[0]}".endswith(".kubernetes.io"))
        )
    }


# Images and workloads


class _States:
    """States of images and rows."""

    def __init__(self, cluster: _Cluster, images: Mapping[str, Image]) -> None:
        self.images = {full_form(name): image for name, image in images.items()}
        self.failures: set[tuple[str, str]] = set()
        running: dict[tuple[str, str], set[str]] = {}
        failing: list[tuple[str, str, str, str]] = []
        for pod in cluster.pods:
            node = cluster.node_of(pod)
            if node is None or _system(node) != "linux":
                continue
            arch = _kubelet_architecture(node) or _label_architecture(node)
            roles = {row["name"]: row["image"] for row in _containers(pod["spec"])}
            marked = _labels(pod).get("multiarch.openshift.io/exec-format-error") == "true"
            for status in _statuses(pod):
                if status["name"] not in roles:
                    continue
                image = full_form(roles[status["name"]])
                if status.get("ready"):
                    if cluster.standing(pod) != "finished":
                        running.setdefault((image, arch), set()).add(status["imageID"])
                    continue
                texts = [
                    ((status.get(when) or {}).get(state) or {}).get("message") or ""
                    for when in ("state", "lastState")
                    for state in ("waiting", "terminated")
                ]
                if any(map(EVIDENCE.search, texts)) or (marked and "running" not in status.get("state", {})):
                    failing.append((image, arch, status["imageID"], node["metadata"]["name"]))
        self.damaged: set[tuple[str, str]] = set()
        for image, arch, image_id, name in failing:
            ready = running.get((image, arch), set())
            if image_id in ready or (ready and not image_id):
                self.damaged.add((name, image))
            else:
                self.failures.add((image, arch))

    def image(self, image: str, arch: str, *, mounted: bool = False) -> str:
        """mounted: as a volume alone."""
        known = self.images.get(image, Image(None))
        if known.platforms is None:
            return "fails" if (image, arch) in self.failures and not mounted else "unknown"
        if not known.platforms:
            return "absent"
        if not (mounted and not known.is_index) and not self._offers(known, arch):
            return "no"
        return "fails" if (image, arch) in self.failures and not mounted else "yes"

    def images_of(self, row: Row, arch: str) -> dict[str, str]:
        """The states of a row's images. One that is mounted and runs in the row, too, counts as a container."""
        run = {image for _, kind, image in row.images if kind != "volume"}
        return {image: self.image(image, arch, mounted=image not in run) for _, _, image in row.images}

    @staticmethod
    def _offers(image: Image, arch: str) -> bool:
        return any(platform.split("/")[:2] == ["linux", arch] for platform in image.platforms or ())

    def row(self, row: Row, arch: str) -> str:
        if row.standing == "windows":
            return "apart"
        states = set(self.images_of(row, arch).values())
        if states & {"no", "fails", "absent"}:
            return "blocked"
        return "unknown" if "unknown" in states else "ready"

    def missing(self, row: Row, arch: str) -> frozenset[str]:
        return frozenset(image for image, state in self.images_of(row, arch).items() if state != "yes")


def _containers(spec: Object) -> list[Object]:
    return [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]


def _statuses(pod: Object) -> list[Object]:
    status = pod.get("status", {})
    return [*(status.get("containerStatuses") or []), *(status.get("initContainerStatuses") or [])]


def _amount(row: Row) -> Amount:
    return frozenset({row.owner}), row.pods, row.cpu, row.memory, row.without_cpu


# Readiness, DaemonSets, work list


def _readiness(arch: str, rows: Sequence[Row], cluster: _Cluster, states: _States) -> dict[str, Any]:
    sums = {
        state: added(_amount(row) for row in rows if states.row(row, arch) == state)
        for state in ("ready", "blocked", "unknown")
    }
    pinned = added(
        _amount(row) for row in rows if states.row(row, arch) == "ready" and not _allows(row, arch, cluster)
    )
    blocked_owners, unknown_owners = sums["blocked"][0], sums["unknown"][0]
    sums["ready"] = (sums["ready"][0] - blocked_owners - unknown_owners, *sums["ready"][1:])
    sums["unknown"] = (unknown_owners - blocked_owners, *sums["unknown"][1:])
    by = 2 if any(amount[2] for amount in sums.values()) else 1
    ready, blocked, unknown = (sums[state][by] for state in ("ready", "blocked", "unknown"))
    if ready + blocked:
        share = (
            f"{floor(Fraction(ready * 1000, ready + blocked + unknown)) / 10:.1f}".removesuffix(".0") + " %"
        )
    else:
        share = "not known" if unknown else "-"
    kind = "cpu" if by == 2 else "pods"
    return {"architecture": arch, **sums, "pinned": pinned, "share": share, "by": kind}


def _daemon_sets(arch: str, cluster: _Cluster, states: _States) -> dict[str, Any]:
    sets: dict[tuple[str, str, str], list[str]] = {}
    for row in cluster.rows:
        if row.standing == "daemonset":
            sets.setdefault(row.owner, [])
            if _allows(row, arch, cluster):
                sets[row.owner].append(states.row(row, arch))
    worst = {
        owner: next((state for state in ("blocked", "unknown", "ready") if state in found), "elsewhere")
        for owner, found in sets.items()
    }
    return {
        "architecture": arch,
        **{
            state: list(worst.values()).count(state) for state in ("ready", "blocked", "unknown", "elsewhere")
        },
        "notReady": [
            (*owner, state)
            for state in ("blocked", "unknown")
            for owner in sorted(worst, key=lambda place: (place[0], place[2], place[1]))
            if worst[owner] == state
        ],
    }


def _work_list(arch: str, rows: Sequence[Row], states: _States) -> dict[str, Any]:
    sets: dict[frozenset[str], Amount] = {}
    for row in rows:
        missing = states.missing(row, arch)
        if missing:
            sets[missing] = added([sets.get(missing, NOTHING), _amount(row)])
    pairs = {missing: amount for missing, amount in sets.items() if len(missing) == 2}
    lines: dict[str, dict[str, Any]] = {}
    for image in {image for missing in sets for image in missing}:
        best = min(
            (pair for pair in pairs if image in pair),
            key=lambda pair: (-pairs[pair][2], -pairs[pair][1], *sorted(pair)),
            default=None,
        )
        lines[image] = {
            "reference": image,
            "state": states.image(image, arch),
            "alone": sets.get(frozenset({image}), NOTHING),
            "part": added(amount for missing, amount in sets.items() if image in missing),
            "partner": next(iter(best - {image})) if best else "",
            "together": pairs[best] if best else NOTHING,
        }
    order = sorted(
        lines.values(),
        key=lambda line: (
            *(-line[name][2] for name in ("alone", "together", "part")),
            *(-line[name][1] for name in ("alone", "together", "part")),
            line["reference"],
        ),
    )
    above: set[str] = set()
    for line in order:
        above.add(line["reference"])
        freed = [row for row in rows if (missing := states.missing(row, arch)) and missing <= above]
        line["cumulative"] = added(map(_amount, freed))
    return {
        "architecture": arch,
        "items": order,
        "pairs": {tuple(sorted(missing)): amount for missing, amount in pairs.items()},
        "remaining": added(amount for missing, amount in sets.items() if len(missing) > 2),
    }


# Waves


OWN = "x.example/*"
"""The pattern of --own. No image of the clusters is in a registry of a cloud account. Nobody asks for newer tags."""


def _waves(arch: str, cluster: _Cluster, states: _States) -> list[dict[str, Any]]:
    """Waves 0 to 5, then what is not known."""
    waves: dict[int | None, dict[tuple[str, str, str], list[Row]]] = {}
    for owner, own in _owners(arch, cluster).items():
        waves.setdefault(_wave(arch, own, cluster, states), {})[owner] = own
    return [
        _sums(arch, number, waves.get(number, {}), cluster, states) for number in (0, 1, 2, 3, 4, 5, None)
    ]


def _owners(arch: str, cluster: _Cluster) -> dict[tuple[str, str, str], list[Row]]:
    """The rows of each owner that a plan for this architecture counts."""
    rows = [
        row
        for row in cluster.rows
        if row.standing in FAIL_A_RUN and (row.standing != "daemonset" or _allows(row, arch, cluster))
    ]
    owners: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        owners.setdefault(row.owner, []).append(row)
    return owners


def _wave(arch: str, rows: Sequence[Row], cluster: _Cluster, states: _States) -> int | None:
    known = {states.row(row, arch) for row in rows}
    not_yes = {
        image for row in rows for image, state in states.images_of(row, arch).items() if state != "yes"
    }
    unknown = any("unknown" in states.images_of(row, arch).values() for row in rows)
    if any(row.standing == "daemonset" or row.webhook for row in rows):
        return 0 if "blocked" in known or "unknown" not in known else None
    if unknown:
        return None
    if any(_missing_devices(row, arch, cluster) for row in rows):
        return 5
    if any(not image.startswith(OWN.removesuffix("*")) for image in not_yes):
        return None
    if rows[0].owner[1] == "StatefulSet" or not all(_allows(row, arch, cluster) for row in rows):
        return 4
    return 3 if not_yes else 1


def _nodes_of(arch: str, cluster: _Cluster) -> list[Object]:
    return [
        node
        for node in cluster.nodes
        if _system(node) == "linux" and _label_architecture(node) == arch and not _is_virtual(node)
    ]


def _missing_devices(row: Row, arch: str, cluster: _Cluster) -> bool:
    there: set[str] = set()
    for node in _nodes_of(arch, cluster):
        there |= _has_devices(node.get("status", {}).get("allocatable") or {})
    return not row.devices <= there


def _sums(
    arch: str, number: int | None, owners: Mapping[Any, list[Row]], cluster: _Cluster, states: _States
) -> dict[str, Any]:
    rows = [row for own in owners.values() for row in own]
    waiting = {owner for owner, own in owners.items() if any(states.row(row, arch) != "ready" for row in own)}
    weight = {owner: added(map(_amount, own)) for owner, own in owners.items()}
    needs: dict[str, Amount] = {}
    for row in rows:
        for image in states.missing(row, arch):
            needs[image] = added([needs.get(image, NOTHING), _amount(row)])
    ranked = sorted(owners, key=lambda one: (one not in waiting, -weight[one][2], -weight[one][1], one))
    return {
        "number": number,
        "amount": added(map(_amount, rows)),
        "ownerCount": len(owners),
        "waiting": len(waiting),
        "owners": ["/".join(owner) for owner in ranked[:5]],
        "images": sorted(needs, key=lambda one: (-needs[one][2], -needs[one][1], one)),
        "there": sum(_there(row, arch, states) for row in rows),
        "allowed": sum(
            row.pods if _may_go(row, arch, cluster, states) else _on(row, arch, states) for row in rows
        ),
        "done": sum(
            row.pods - len(row.idle) if _may_go(row, arch, cluster, states) else _there(row, arch, states)
            for row in rows
        ),
        "notRunning": [
            list(pair) for pair in sorted(Counter(state for row in rows for _, state in row.idle).items())
        ],
    }


def _there(row: Row, arch: str, states: _States) -> int:
    idle = sum(name == arch for name, _ in row.idle) if states.row(row, arch) == "ready" else 0
    return _on(row, arch, states) - idle


def _on(row: Row, arch: str, states: _States) -> int:
    ready = states.row(row, arch) == "ready"
    return sum(number for name, number in row.where if name == arch) if ready else 0


def _may_go(row: Row, arch: str, cluster: _Cluster, states: _States) -> bool:
    return (
        states.row(row, arch) == "ready"
        and not _missing_devices(row, arch, cluster)
        and any(
            _has_labels(row, node)
            and all(
                _tolerates(row, taint)
                for taint in _taints(node)
                if taint["effect"] in ("NoSchedule", "NoExecute")
            )
            for node in _nodes_of(arch, cluster)
            if _is_open(node)
        )
    )


# Savings


def _prices_of_cpu(
    cluster: _Cluster, prices: Mapping[str, str], node_prices: Mapping[str, str]
) -> dict[str, Fraction]:
    """Of one CPU for an hour, by architecture: the stated one, else that of its nodes with a price, to six digits."""
    money: dict[str, Fraction] = {}
    cpu: dict[str, Fraction] = {}
    for node in cluster.nodes:
        price = node_prices.get(_labels(node).get("node.kubernetes.io/instance-type", ""))
        if price is not None and _system(node) == "linux":
            arch = _label_architecture(node)
            money[arch] = money.get(arch, Fraction(0)) + Fraction(price)
            cpu[arch] = cpu.get(arch, Fraction(0)) + Fraction(_allocatable(node)[0], 1000)
    calculated_prices = {arch: round(money[arch] / cpu[arch], 6) for arch in money if cpu[arch]}
    return calculated_prices | {arch: Fraction(price) for arch, price in prices.items()}


def _savings(
    targets: Sequence[str],
    prices: Mapping[str, Fraction],
    rows: Sequence[Row],
    cluster: _Cluster,
    states: _States,
) -> list[dict[str, Any]]:
    savings = []
    for target in targets:
        owners = _owners(target, cluster)
        going = [
            row
            for row in rows
            if _allows(row, target, cluster) and _wave(target, owners[row.owner], cluster, states) != 5
        ]
        for source in sorted(prices):
            if source == target or target not in prices:
                continue
            cpu = [
                sum(
                    row.cpu * number // row.pods
                    for row in chosen
                    for arch, number in row.where
                    if arch == source
                )
                for chosen in ([row for row in going if states.row(row, target) == "ready"], going)
            ]
            for when, thousandths in zip(("now", "work list done"), cpu if cpu[1] else (), strict=False):
                per_hour = (prices[source] - prices[target]) * thousandths / 1000
                row = {"source": source, "target": target, "when": when, "cpu": thousandths}
                savings.append({**row, "perHour": per_hour})
    return savings


# If an architecture were lost


def _losses(cluster: _Cluster, rows: Sequence[Row], states: _States) -> list[dict[str, Any]]:
    real = [node for node in cluster.nodes if _system(node) == "linux" and not _is_virtual(node)]
    architectures = sorted({_label_architecture(node) for node in real} - {""})
    found = []
    for lost in architectures:
        stranded, uncertain, moving, movers = [], [], [], []
        for row in rows:
            possible = {
                arch
                for arch in architectures
                if _allows(row, arch, cluster)
                and not set(states.images_of(row, arch).values()) & {"no", "fails"}
            }
            if possible == {lost}:
                stranded.append(_amount(row))
                continue
            doubtful = any(_is_doubtful(image, states) for _, _, image in row.images)
            if lost in possible and doubtful:
                uncertain.append(_amount(row))
            elif possible - {lost}:
                pods = sum(number for arch, number in row.where if arch == lost)
                if pods:
                    share = [value * pods // row.pods for value in (row.cpu, row.memory, row.without_cpu)]
                    moving.append((frozenset({row.owner}), pods, share[0], share[1], share[2]))
                    movers.append((row, possible))
        room = [
            cluster.free(node)
            for node in real
            if movers
            and _is_open(node)
            and _label_architecture(node) not in ("", lost)
            and all(
                _label_architecture(node) in possible
                and _has_labels(row, node)
                and all(_tolerates(row, taint) for taint in _taints(node) if _closes(node)(taint))
                for row, possible in movers
            )
        ]
        found.append(
            {
                "architecture": lost,
                "stranded": added(stranded),
                "uncertain": added(uncertain),
                "moving": added(moving)[:4],
                "room": tuple(map(sum, zip((0, 0, 0), *room, strict=True))),
            }
        )
    return found


def _is_doubtful(image: str, states: _States) -> bool:
    """Unknown or absent for some architecture, or known only by the failures of its pods."""
    known = states.images.get(image, Image(None))
    return not known.platforms
