"""Random clusters: nodes, workloads and their pods as an API server lists them, and what images offer.

cluster = drawn(Random("1/7"))
cluster.objects, cluster.required, cluster.words     the flags of `archfit audit` for it
"""

from random import Random
from typing import Any, NamedTuple

from audits.calculator import Image

Object = dict[str, Any]

BOTH, AMD, ARM = ("linux/amd64", "linux/arm64"), ("linux/amd64",), ("linux/arm64",)
OFFERED = {
    "x.example/both:1": BOTH,
    "x.example/both-too:1": BOTH,
    "nginx": BOTH,
    "x.example/three:1": (*BOTH, "linux/s390x"),
    "x.example/amd-index:1": ("linux/amd64", "linux/s390x"),
    "x.example/amd:1": AMD,
    "x.example/amd:2": AMD,
    "y.example/amd:1": AMD,
    "quay.io/vendor/amd:1": AMD,
    "vendor/agent:2": AMD,
    "x.example/arm:1": ARM,
    "x.example/windows:1": ("windows/amd64", "windows/arm64"),
}
IMAGES = {
    **{name: Image(platforms, len(platforms) > 1) for name, platforms in OFFERED.items()},
    **dict.fromkeys(("x.example/gone:1", "x.example/gone:2"), Image(())),
    **dict.fromkeys(("ko://x.example/app", "{{image}}", "No Reference"), Image(None)),
}
"""The last three have no answer: two placeholders, and a text that is no reference."""

_ARCH, _BETA = "kubernetes.io/arch", "beta.kubernetes.io/arch"
_GROUP = "eks.amazonaws.com/nodegroup"
_CPU = (None, None, "100m", "250m", "1", "1.5", "333u", "2", "0.1")
_MEMORY = (None, "64Mi", "1Gi", "100M", "1500k", "123456789")
_DEVICES = ("nvidia.com/gpu", "hugepages-2Mi", "x.kubernetes.io/nic", "ephemeral-storage")
_EVERY_PRICE = {"amd64": "0.0425", "arm64": "0.05", "s390x": "1.333333333"}
_NODE_PRICES = {"small": "0.1", "large": "0.384", "odd": "0.333333331", "nobody": "7"}
_TAINTS = (
    {"key": _ARCH, "value": "arm64", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "db", "effect": "NoSchedule"},
    {"key": "dedicated", "effect": "NoExecute"},
    {"key": "spot", "value": "true", "effect": "PreferNoSchedule"},
    {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
)
_TOLERATIONS = (
    {"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"},
    {"key": "dedicated", "operator": "Exists"},
    {"operator": "Exists"},
    {"key": _ARCH, "value": "arm64", "effect": "NoSchedule"},
    {"key": "dedicated", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
)
_MESSAGES = (
    "exec /app: exec format error",
    'Failed to pull image "a": no match for platform in manifest: not found',
    "no image found in image index for architecture arm64, variant",
    "Back-off restarting failed container",
    "No Matching Manifest For linux/arm64 in the manifest list entries",
)


class Cluster(NamedTuple):
    """What is audited, and the flags beside it."""

    objects: list[Object]
    required: tuple[str, ...]
    assume_cpu: int
    allow_unknown: bool
    prices: dict[str, str]
    node_prices: dict[str, str]

    @property
    def words(self) -> list[str]:
        """The flags of `archfit audit`."""
        words = ["--require", ",".join(self.required)] if self.required else []
        words += ["--assume-cpu", f"{self.assume_cpu}m"] if self.assume_cpu else []
        words += [word for row in self.prices.items() for word in ("--price", "=".join(row))]
        return words + (["--allow-unknown"] if self.allow_unknown else [])


def drawn(random: Random) -> Cluster:
    """A cluster of a few nodes and workloads; one in ten is manifests alone."""
    required = random.choice([(), (), ("arm64",), ("amd64",), ("arm64", "amd64"), ("s390x",)])
    flags = (tuple(required), random.choice([0, 0, 0, 100]), bool(required) and random.random() < 0.3)
    prices = random.choice([{}, {"arm64": "0.034"}, {"amd64": "0.0425", "arm64": "0.034"}, _EVERY_PRICE])
    node_prices = random.choice([{}, _NODE_PRICES])
    objects: list[Object] = []
    while all(value["kind"] == "Node" for value in objects):
        objects = _Drawing(random, live=random.random() < 0.9).objects()
    return Cluster(objects, *flags, prices, node_prices)


class _Drawing:
    def __init__(self, random: Random, *, live: bool) -> None:
        self.random, self.live, self.number = random, live, 0
        self.nodes: list[Object] = []

    def maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def objects(self) -> list[Object]:
        random = self.random
        if self.live:
            self.nodes = [self.node(number) for number in range(random.randint(0, 6))]
        found = list(self.nodes)
        for _ in range(random.randint(0, 9)):
            found += self.workload()
        if len(found) > len(self.nodes) and self.maybe(0.3):
            found += self.webhook()
        random.shuffle(found)
        return found + random.sample(found, min(len(found), random.choice([0, 0, 1]) if self.live else 0))

    def node(self, number: int) -> Object:
        random = self.random
        arch = random.choice(["amd64", "amd64", "arm64", "arm64", "s390x"])
        system = "windows" if self.maybe(0.06) else "linux"
        labels = {random.choice([_ARCH, _ARCH, _ARCH, _BETA]): arch}
        if self.maybe(0.9):
            labels[random.choice(["kubernetes.io/os", "beta.kubernetes.io/os"])] = system
        if self.maybe(0.8):
            labels["node.kubernetes.io/instance-type"] = random.choice(["small", "large", "odd", "unpriced"])
        if self.maybe(0.6):
            labels["zone"] = random.choice("ab")
        if self.maybe(0.7):
            labels[_GROUP] = random.choice(["general", arch])
        if self.maybe(0.05):
            labels["type"] = "virtual-kubelet"
        if self.maybe(0.05):
            labels["eks.amazonaws.com/compute-type"] = "fargate"
        kubelet = arch if self.maybe(0.95) else "amd64"
        devices = {name: self.random.choice(["0", "1", "2"]) for name in _DEVICES if self.maybe(0.2)}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{number}", "uid": f"node-{number}", "labels": labels},
            "spec": {
                "taints": random.sample(_TAINTS, random.choice([0, 0, 0, 1, 2])),
                **({"unschedulable": True} if self.maybe(0.1) else {}),
            },
            "status": {
                "allocatable": {
                    "cpu": random.choice(["4", "3920m", "8"]),
                    "memory": "16Gi",
                    "pods": "110",
                    **devices,
                },
                "conditions": [
                    {"type": "Ready", "status": random.choice(["True"] * 8 + ["False", "Unknown"])}
                ],
                "nodeInfo": {"architecture": kubelet, "operatingSystem": system},
            },
        }

    def webhook(self) -> list[Object]:
        """A configuration and the Service that it names, or one that it does not name."""
        named, namespace = self.random.choice(["hook", "hook", "other"]), self.random.choice(["shop", "data"])
        service = {"namespace": namespace, "name": named}
        configuration = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": self.random.choice(["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]),
            "metadata": {"name": "hooks", **({"uid": "hooks"} if self.live else {})},
            "webhooks": [{"name": "a.example", "clientConfig": {"service": service}}],
        }
        selector = self.random.choice([{"tier": "hook"}, {"tier": "hook", "zone": "a"}, {}])
        selecting = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "hook", "namespace": "shop", **({"uid": "hook"} if self.live else {})},
            "spec": {"selector": selector},
        }
        return [configuration, selecting]

    # Workloads

    def workload(self) -> list[Object]:
        kinds = [self.deployment, self.stateful_set, self.daemon_set, self.job, self.cron_job, self.bare_pod]
        return self.random.choice([self.deployment, *kinds])()

    def named(self, prefix: str) -> tuple[str, str]:
        self.number += 1
        return self.random.choice(["shop", "data"]), f"{prefix}{self.number}"

    def made(self, kind: str, place: tuple[str, str], spec: Object, owner: Object | None = None) -> Object:
        version = {"Pod": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}.get(kind, "apps/v1")
        metadata: Object = {"namespace": place[0], "name": place[1]}
        if self.live:
            metadata["uid"] = f"{kind}-{place[1]}"
        if owner is not None:
            metadata["ownerReferences"] = [_reference(owner)]
        return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}

    def deployment(self) -> list[Object]:
        place = self.named("web")
        template, replicas = self.template(), self.random.randint(0, 3)
        whole = self.made("Deployment", place, {"replicas": replicas, "template": template})
        if not self.live:
            return [whole]
        found = [whole] if self.maybe(0.9) else []
        for revision in range(self.random.choice([0, 1, 1, 1, 2])):
            old = revision > 0
            own = self.template() if old else template
            count = 0 if old else replicas
            digest = f"5d{revision}f{self.number}"
            ours = self.made(
                "ReplicaSet", (place[0], f"{place[1]}-{digest}"), {"replicas": count, "template": own}, whole
            )
            found += [ours] if self.maybe(0.8) else []
            found += self.pods(own, ours, count, {"pod-template-hash": digest})
        return found

    def stateful_set(self) -> list[Object]:
        place = self.named("db")
        template, replicas = self.template(), self.random.randint(0, 2)
        whole = self.made("StatefulSet", place, {"replicas": replicas, "template": template})
        return [whole, *(self.pods(template, whole, replicas) if self.live and self.maybe(0.8) else [])]

    def daemon_set(self) -> list[Object]:
        template = self.template()
        whole = self.made("DaemonSet", self.named("agent"), {"template": template})
        if not self.live:
            return [whole]
        found = [whole] if self.maybe(0.9) else []
        return found + self.pods(template, whole, self.random.choice([0, 1, len(self.nodes)]))

    def job(self) -> list[Object]:
        template = self.template()
        whole = self.made("Job", self.named("import"), self.job_spec(template))
        if not self.live:
            return [whole]
        done = self.maybe(0.5)
        if done:
            whole["status"] = {
                "conditions": [{"type": self.random.choice(["Complete", "Failed"]), "status": "True"}]
            }
        pods = self.pods(template, whole, self.random.randint(0, 2), finished=done)
        return [*([whole] if self.maybe(0.85) else []), *pods]

    def job_spec(self, template: Object) -> Object:
        spec: Object = {"template": template}
        if self.maybe(0.3):
            spec["parallelism"] = self.random.randint(0, 3)
        if self.maybe(0.1):
            spec["suspend"] = True
        return spec

    def cron_job(self) -> list[Object]:
        place, template = self.named("report"), self.template()
        spec: Object = {"schedule": "@daily", "jobTemplate": {"spec": self.job_spec(template)}}
        spec["jobTemplate"]["spec"].pop("suspend", None)
        if self.maybe(0.15):
            spec["suspend"] = True
        whole = self.made("CronJob", place, spec)
        if not self.live:
            return [whole]
        found = [whole] if self.maybe(0.8) else []
        for run in range(self.random.choice([0, 1, 1, 2])):
            own = template if self.maybe(0.8) else self.template()
            finished = self.maybe(0.7)
            job = self.made("Job", (place[0], f"{place[1]}-2876543{run}"), {"template": own}, whole)
            if finished:
                job["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
            pods = self.pods(own, job, 1, finished=finished)
            for pod in pods:
                pod["metadata"]["creationTimestamp"] = f"2026-11-0{run + 1}T00:00:00Z"
            found += [*([job] if self.maybe(0.7) else []), *pods]
        return found

    def bare_pod(self) -> list[Object]:
        place = self.named("pod")
        if not self.live:
            return [self.made("Pod", place, self.template()["spec"])]
        (pod,) = self.pods(self.template(), None, 1, place=place)
        if self.maybe(0.3):
            pod["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "hash"}
        return [pod]

    # Pods

    def pods(
        self,
        template: Object,
        owner: Object | None,
        count: int,
        labels: Object | None = None,
        *,
        finished: bool = False,
        place: tuple[str, str] | None = None,
    ) -> list[Object]:
        found = []
        for number in range(count):
            at = place or (owner["metadata"]["namespace"], f"{owner['metadata']['name']}-{number}")  # type: ignore[index]
            spec = {**template["spec"]}
            pod = self.made("Pod", at, spec, owner)
            if labels:
                pod["metadata"]["labels"] = {**labels}
            pod["status"] = {"phase": "Running"}
            if finished:
                pod["status"]["phase"] = self.random.choice(["Succeeded", "Failed"])
            elif self.maybe(0.1):
                pod["status"]["phase"] = "Pending"
                if self.maybe(0.4):
                    spec["schedulingGates"] = [{"name": "example.com/gate"}]
            if self.nodes and "schedulingGates" not in spec and self.maybe(0.95):
                spec["nodeName"] = self.random.choice(self.nodes)["metadata"]["name"]
            if self.maybe(0.6):
                ready = self.random.choice(["True", "True", "False", "Unknown"])
                pod["status"]["conditions"] = [{"type": "Ready", "status": ready}]
                if pod["status"]["phase"] == "Pending" and self.maybe(0.5):
                    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
                    pod["status"]["conditions"].append(scheduled)
            if self.maybe(0.05):
                pod["metadata"].setdefault("labels", {})[_MARK] = self.random.choice(
                    ["true", "true", "false"]
                )
            if self.maybe(0.3):
                pod["status"]["containerStatuses"] = [self.status(row) for row in spec["containers"]]
                if self.maybe(0.3):
                    resize = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
                    pod["status"].setdefault("conditions", []).append(resize)
            found.append(pod)
        return found

    def status(self, container: Object) -> Object:
        status: Object = {"name": container["name"], "image": container["image"], "imageID": ""}
        if self.maybe(0.5):
            state = self.random.choice(["waiting", "terminated"])
            message = {"reason": "Error", "message": self.random.choice(_MESSAGES)}
            if state == "terminated":
                message["exitCode"] = 1  # type: ignore[assignment]
            status[self.random.choice(["state", "lastState"])] = {state: message}
        if self.maybe(0.5):
            status["imageID"] = f"x.example/any@sha256:{self.random.choice('ab') * 64}"
        if self.maybe(0.3):
            status["ready"] = self.random.choice([True, True, False])
        if self.maybe(0.2):
            status["state"] = self.random.choice(
                [{"running": {}}, {"waiting": {"reason": "CrashLoopBackOff"}}]
            )
        if self.maybe(0.5):
            status["resources"] = {"requests": {"cpu": self.random.choice(["50m", "3"]), "memory": "2Gi"}}
            if self.maybe(0.5):
                status["allocatedResources"] = {"cpu": "2500m", "memory": "1Gi"}
        return status

    def template(self) -> Object:
        random = self.random
        spec: Object = {
            "containers": [self.container(f"c{number}") for number in range(random.randint(1, 3))]
        }
        if self.maybe(0.3):
            spec["initContainers"] = [self.container(f"i{number}") for number in range(random.randint(1, 2))]
            for container in spec["initContainers"]:
                if self.maybe(0.4):
                    container["restartPolicy"] = "Always"
        if self.maybe(0.12):
            spec["volumes"] = [
                {"name": "data", "emptyDir": {}},
                {"name": "model", "image": {"reference": random.choice(list(OFFERED))}},
            ]
        if self.maybe(0.1):
            spec["overhead"] = {"cpu": "10m", "memory": "8Mi"}
        if self.maybe(0.08):
            spec["resources"] = {"requests": {random.choice(["cpu", "memory"]): "3"}}
        if self.maybe(0.04):
            spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
        if self.maybe(0.2):
            spec["nodeSelector"] = random.choice(
                [
                    {_ARCH: "amd64"},
                    {_BETA: "arm64"},
                    {"zone": "a"},
                    {_GROUP: "general"},
                    {_GROUP: "arm64"},
                    {_GROUP: "gone"},
                    {"zone": "b", _GROUP: "amd64"},
                    {"kubernetes.io/os": "windows"},
                ]
            )
        if self.maybe(0.05):
            spec["os"] = {"name": random.choice(["linux", "windows"])}
        if self.maybe(0.2):
            spec["affinity"] = {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": self.terms()}}}
        if self.maybe(0.3):
            spec["tolerations"] = random.sample(_TOLERATIONS, random.randint(1, 2))
        labels = {"tier": "hook", "zone": random.choice("ab")} if self.maybe(0.2) else {}
        return {"spec": spec, **({"metadata": {"labels": labels}} if labels else {})}

    def terms(self) -> list[Object]:
        return [
            {"matchExpressions": [self.requirement() for _ in range(self.random.randint(1, 2))]}
            for _ in range(self.random.randint(1, 2))
        ]

    def requirement(self) -> Object:
        if self.maybe(0.1):
            values = self.random.choice([["windows"], ["windows"], ["linux"], ["linux", "windows"]])
            return {"key": "kubernetes.io/os", "operator": "In", "values": values}
        key = self.random.choice([_ARCH, _ARCH, _BETA, "zone"])
        operator = self.random.choice(["In", "In", "NotIn", "Exists", "DoesNotExist"])
        named = ["a", "b", "c"] if key == "zone" else ["amd64", "arm64", "s390x"]
        values = self.random.sample(named, self.random.randint(1, 2))
        return {"key": key, "operator": operator, **({"values": values} if "In" in operator else {})}

    def container(self, name: str) -> Object:
        names = list(IMAGES)
        weights = [6] * len(OFFERED) + [1] * (len(IMAGES) - len(OFFERED))
        (image,) = self.random.choices(names, weights)
        container: Object = {"name": name, "image": image}
        random_device = self.random.choice(_DEVICES)
        for kind in ("requests", "limits"):
            cpu, memory = self.random.choice(_CPU), self.random.choice(_MEMORY)
            stated = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value is not None}
            if self.maybe(0.06):
                stated[random_device] = self.random.choice(["0", "1"])
            if stated and self.maybe(0.8 if kind == "requests" else 0.3):
                container.setdefault("resources", {})[kind] = stated
        return container


_MARK = "multiarch.openshift.io/exec-format-error"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _reference(owner: Object) -> Object:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"].get("uid", "u"),
        "controller": True,
    }
