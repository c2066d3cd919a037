"""What the doors of the part `flux` share: steps, what was seen after each, and what does not hold.

door.see("again", ready=True)     judges the pods and the workloads, and adds a row to `steps`
door.expect(.., "..")             a line of `wrong` where it does not hold
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cluster_site import built_for
from whole.flux.site import Condition, FluxSite

_PLACEMENT = ("affinity", "tolerations", "nodeSelector")


class Door:
    """name: also of its namespace. managers: the field managers of what archfit wrote."""

    def __init__(self, site: FluxSite, name: str) -> None:
        self.site, self.name = site, name
        self.namespace = site.plane.namespace(name)
        self.steps: list[dict[str, Any]] = []
        self.wrong: list[str] = []
        self.managers: set[str] = set()
        self.requests = 0

    def expect(self, holds: object, what: str) -> None:
        if not holds:
            self.wrong.append(what)

    def see(
        self, step: str, condition: Condition, expected: Sequence[Mapping[str, Any]], **more: Any
    ) -> dict[str, Any]:
        """What is there after a step: pods on a wrong architecture, workloads unlike what archfit writes."""
        pods = self.site.pods(self.namespace)
        architectures = self.site.architectures()
        found = {
            "step": step,
            "ready": condition.status == "True",
            **judged(pods, architectures),
            "unlike": self.unlike(expected),
            **more,
        }
        if not found["ready"]:
            found["message"] = condition.message
        self.steps.append(found)
        return found

    def unlike(self, expected: Sequence[Mapping[str, Any]]) -> list[str]:
        """The workloads whose placement differs from that of the expected ones: `KIND/NAME: FIELD, ..`."""
        there = self.site.workloads(self.namespace)
        lines = []
        for one in expected:
            name = f"{one['kind']}/{one['metadata']['name']}"
            if one["kind"] not in ("Deployment", "StatefulSet", "DaemonSet", "CronJob"):
                continue
            if name not in there:
                lines.append(f"{name}: missing")
                continue
            wanted, found = _placement(one), _placement(there[name])
            if fields := [key for key in _PLACEMENT if wanted.get(key) != found.get(key)]:
                lines.append(f"{name}: {', '.join(fields)}")
        return sorted(lines)

    def settled(self) -> dict[str, Any]:
        """The shape of the namespace, once its pods are bound or refused."""
        self.site.pods(self.namespace)
        return self.site.shape(self.namespace)

    def same(self, step: str, before: Mapping[str, Any]) -> None:
        """Expect that nothing has changed since then."""
        now = self.site.shape(self.namespace)
        changed = [f"{key} were {before[key]} and are {now[key]}" for key in now if before[key] != now[key]]
        self.expect(not changed, f"{step}: {'; '.join(changed)}")

    def spoil(self, *paths: str, **pod: Any) -> None:
        """`kubectl patch` of pod templates: somebody takes tolerations and affinity away."""
        spec = {"affinity": None, "tolerations": None, **pod}
        for path in paths:
            self.site.merge(
                f"/apis/apps/v1/namespaces/{self.namespace}/{path}",
                {"spec": {"template": {"spec": spec}}},
                "kubectl-patch",
            )

    def owners(self) -> None:
        for one in self.site.workloads(self.namespace).values():
            for entry in one["metadata"]["managedFields"]:
                words = str(entry.get("fieldsV1"))
                if "f:affinity" in words or "f:tolerations" in words:
                    self.managers.add(entry["manager"])

    def fine(self, found: Mapping[str, Any], *, ready: bool = True) -> None:
        step = found["step"]
        self.expect(found["ready"] == ready, f"{step}: Ready is {found['ready']}: {found.get('message', '')}")
        self.expect(not found["wrong"], f"{step}: on a wrong architecture: {', '.join(found['wrong'])}")
        self.expect(not found["unlike"], f"{step}: unlike what archfit writes: {', '.join(found['unlike'])}")

    def measured(self) -> dict[str, Any]:
        return {
            "door": self.name,
            "requests": self.requests,
            "managers": sorted(self.managers),
            "steps": self.steps,
        }


def judged(pods: Sequence[Mapping[str, Any]], architectures: Mapping[str, str]) -> dict[str, Any]:
    """pods: how many; wrong: those on an architecture that one of their images lacks, by workload, as `cart (2)`."""
    wrong = [
        pod["spec"]["containers"][0]["name"]
        for pod in pods
        if (node := pod["spec"].get("nodeName")) and architectures[node] not in built_for(pod["spec"])
    ]
    return {
        "pods": len(pods),
        "wrong": [f"{name} ({number})" for name, number in sorted(Counter(wrong).items())],
    }


def _placement(workload: Mapping[str, Any]) -> dict[str, Any]:
    spec = workload["spec"]
    template = spec.get("jobTemplate", {}).get("spec", spec)["template"]["spec"]
    return {key: template[key] for key in _PLACEMENT if template.get(key)}
