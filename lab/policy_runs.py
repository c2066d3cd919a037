"""`archfit policy` in a real API server: what it makes of a pod, beside archfit's own decision for that pod.

    policies = Policies(control_plane)
    shop = policies.install("shop", locked, options)      the policy `shop.tests.archfit.dev` for the namespace `shop`
    plain = policies.plain(pods)                          the pods as the API server makes them without a policy
    policies.await_change(shop, plain)                    polls until the policy acts
    policies.judged(shop, plain)                          where it differs from what archfit decides, and why
    policies.errors(shop)                                 expressions that failed at run time, which change nothing
    policies.left_alone(shop, plain)                      why it does not decide, for each pod

What is compared is the whole pod, less what the API server writes for each request (`stripped`).
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from archfit.images.platforms import Found
from archfit.options.settings import Options
from archfit.policy.objects import policy_objects
from archfit.policy.settings import PolicySettings
from archfit.policy.table import platform_table
from archfit.webhook.added_record import NAME
from control_plane import ControlPlane, Refused
from drawn_pods.drawing import RUNTIME_CLASSES
from policy_judge import PolicyJudge, decided, judge_binary

PLAIN = "plain"
_CHECKS = "apiserver_mutating_admission_policy_check_total{"
_OF_THE_REQUEST = ("uid", "creationTimestamp", "managedFields", "generation")


class Installed(NamedTuple):
    """A policy in force. name: of the policy, and of the namespace that it is for."""

    name: str
    images: Mapping[str, Found]
    options: Options
    objects: Sequence[Mapping[str, Any]]


class Disagreement(NamedTuple):
    """plain: without a policy. expected, actual: by archfit, by the policy; Refused where the API server said no."""

    plain: Any
    expected: Any
    actual: Any

    def __str__(self) -> str:
        spec = {key: self.plain["spec"].get(key) for key in ("nodeSelector", "affinity", "tolerations", "os")}
        images = [one["image"] for one in _containers(self.plain)]
        return "\n".join(
            (
                f"metadata {json.dumps(self.plain['metadata'])}",
                f"images   {images} volumes {self.plain['spec'].get('volumes')}",
                f"plain    {json.dumps(spec)}",
                f"expected {_differences(self.plain, self.expected)}",
                f"actual   {_differences(self.plain, self.actual)}",
            )
        )


class Judged(NamedTuple):
    """wrong: where they differ. left_alone: by the policy's own reason, where archfit changes the pod. pods: of all."""

    wrong: Sequence[Disagreement]
    left_alone: Counter[str]
    pods: int

    def __str__(self) -> str:
        return f"{len(self.wrong)} of {self.pods} differ; the first:\n" + "\n\n".join(
            map(str, self.wrong[:3])
        )


def stripped(pod: Any) -> Any:
    """The pod less what the API server writes anew for each request."""
    metadata = {key: value for key, value in pod["metadata"].items() if key not in _OF_THE_REQUEST}
    if "generateName" in metadata:
        metadata.pop("name", None)
    return {**pod, "metadata": metadata}


class Policies:
    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane

    def install(
        self,
        name: str,
        images: Mapping[str, Found],
        options: Options,
        *,
        companion: bool = False,
        **settings: Any,
    ) -> Installed:
        """Apply the policy for the namespace of that name, and its companion. settings: of PolicySettings."""
        self.plane.namespace(name)
        selector = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": [name]}
        chosen = PolicySettings(name=f"{name}.tests.archfit.dev", namespace_selector=(selector,), **settings)
        table, _ = platform_table(images, options)
        objects = policy_objects(table, options, chosen)
        if not companion:
            objects = [one for one in objects if not one["kind"].startswith("Validating")]
        installed = Installed(name, images, options, objects)
        self.apply(installed.objects)
        return installed

    def runtime_classes(self) -> None:
        """Those that drawn pods name."""
        kind = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "runc"}
        for name, scheduling in RUNTIME_CLASSES.items():
            self.plane.create({**kind, "metadata": {"name": name}, "scheduling": scheduling})

    def apply(self, objects: Sequence[Mapping[str, Any]]) -> None:
        """All of them, in their order; a custom resource once its definition is established."""
        definitions = [one for one in objects if one["kind"] == "CustomResourceDefinition"]
        if definitions:
            self.plane.apply(_stream(definitions))
            for one in definitions:
                self.plane.established(one["metadata"]["name"])
        self.plane.apply(_stream([one for one in objects if one not in definitions]))

    def remove(self, installed: Installed) -> None:
        """Delete its objects, less definitions."""
        for one in installed.objects:
            if one["kind"] != "CustomResourceDefinition":
                self.plane.kubectl("delete", "--wait=false", "-f", "-", stdin=json.dumps(one))

    def plain(self, pods: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Each as the API server makes it without a policy, or Refused."""
        self.plane.namespace(PLAIN)
        return self.admitted(PLAIN, pods)

    def admitted(self, namespace: str, pods: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Each as the API server makes it in that namespace, or Refused."""
        return [
            made if isinstance(made, Refused) else stripped(made)
            for made in self.plane.dry_all([_in(pod, namespace) for pod in pods])
        ]

    def expected(self, installed: Installed, plain: Sequence[Any]) -> list[Any]:
        """What archfit decides for each. plain: as the API server makes them without a policy."""
        return [_expected(installed, pod) for pod in plain]

    def await_change(self, installed: Installed, plain: Sequence[Any]) -> None:
        """Poll until the policy changes the first of the pods that its CEL changes, if there is one."""
        with PolicyJudge(judge_binary()) as judge:
            judge.compile(installed.objects)
            pods = (_in(pod, installed.name) for pod in plain)
            probe = next(
                (pod for pod in pods if judge.admit(pod, installed.name).pod != judge.normalised(pod)), None
            )
        if probe is not None:
            self.plane.until(
                f"the policy {installed.name} acts",
                lambda: self.admitted(installed.name, [probe]) != [stripped(probe)],
            )

    def errors(self, installed: Installed) -> int:
        """How often an expression of the policy has failed: the pod passed as it was, or half changed."""
        label = f'policy="{installed.objects[-1]["spec"]["policyName"]}"'
        checks = [
            line
            for line in self.plane.client.get("/metrics").text.splitlines()
            if line.startswith(_CHECKS) and label in line
        ]
        assert checks, f"no policy {installed.name} was ever evaluated"
        return sum(int(line.rpartition(" ")[2]) for line in checks if 'error_type="no_error"' not in line)

    def left_alone(self, installed: Installed, pods: Sequence[Any]) -> list[str | None]:
        """Why the policy does not decide for each, "" where it does; None where it does not match."""
        if not pods:
            return []
        with PolicyJudge(judge_binary()) as judge:
            judge.compile(installed.objects)
            answers = [judge.admit(pod, installed.name, "leftAlone") for pod in pods]
        return [one.shown["leftAlone"] if one.matches else None for one in answers]

    def judged(self, installed: Installed, plain: Sequence[Any]) -> Judged:
        """The policy beside archfit, pod by pod. plain: none of them Refused."""
        found = self._disagreements(installed, plain)
        left = [one for one in found if one.actual == one.plain]
        looked = self.left_alone(installed, [one.plain for one in left])
        reasons = {id(one): reason for one, reason in zip(left, looked, strict=True) if reason}
        return Judged([one for one in found if id(one) not in reasons], Counter(reasons.values()), len(plain))

    def _disagreements(self, installed: Installed, plain: Sequence[Any]) -> list[Disagreement]:
        """What archfit decided goes through admission, too: it drops a toleration that another one implies, where the
        pod has a RuntimeClass (k8s.io/kubernetes, pkg/util/tolerations, MergeTolerations).
        """
        name = installed.name
        before = [_in(pod, name) for pod in plain]
        trios = zip(before, self.expected(installed, plain), self.admitted(name, plain), strict=True)
        found = [Disagreement(*trio) for trio in trios if trio[1] != _by_policy(trio[2])]
        merged = self.plain([one.expected for one in found])
        actual = self.plain([one.plain if isinstance(one.actual, Refused) else one.actual for one in found])
        return [
            one
            for one, after, there in zip(found, merged, actual, strict=True)
            if Refused in {type(after), type(there), type(one.actual)} or _by_policy(there) != after
        ]


def _expected(installed: Installed, pod: Any) -> Any:
    name = installed.name
    return decided(_in(pod, name), installed.images, installed.options, name)[1]


def _in(pod: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    return {**pod, "metadata": {**pod["metadata"], "namespace": namespace}}


def _by_policy(pod: Any) -> Any:
    """The pod with what archfit added, whoever did."""
    annotations = {} if isinstance(pod, Refused) else pod["metadata"].get("annotations", {})
    if NAME not in annotations:
        return pod
    text = annotations[NAME].replace('{"by":"webhook"', '{"by":"policy"')
    return {**pod, "metadata": {**pod["metadata"], "annotations": {**annotations, NAME: text}}}


def _stream(objects: Sequence[Mapping[str, Any]]) -> str:
    return "\n---\n".join(map(json.dumps, objects))


def _containers(pod: Any) -> list[Any]:
    return [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]


def _differences(before: Any, after: Any) -> str:
    if isinstance(after, Refused):
        return f"refused: {after}"
    found = {
        key: after[part].get(key)
        for part in ("metadata", "spec")
        for key in {**before[part], **after[part]}
        if before[part].get(key) != after[part].get(key)
    }
    return json.dumps(found) if found else "unchanged"
