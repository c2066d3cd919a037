"""`archfit policy` in a real API server.

    policies = Policies(control_plane)
    shop = policies.install("shop", locked, options)      the policy `shop.tests.archfit.dev` for the namespace `shop`
    plain = policies.plain(pods)                          the pods as the API server makes them without a policy
    policies.await_change(shop, plain[0])                 polls until the policy acts
    policies.differences(shop, plain, expected)           pods that the policy makes into something else
    policies.errors(shop)                                 expressions that failed at run time, which change nothing

What is compared is the whole pod, less what the API server writes for each request (`stripped`).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from archfit.images.platforms import Found
from archfit.options.settings import Options
from archfit.policy.objects import policy_objects
from archfit.policy.settings import PolicySettings
from archfit.policy.table import platform_table
from control_plane import ControlPlane, Refused
from drawn_pods.drawing import RUNTIME_CLASSES

PLAIN = "plain"
_CHECKS = "apiserver_mutating_admission_policy_check_total{"
_OF_THE_REQUEST = ("uid", "creationTimestamp", "managedFields", "generation")


class Installed(NamedTuple):
    """A policy in force. name: of the policy, and of the namespace that it is for."""

    name: str
    images: Mapping[str, Found]
    options: Options
    objects: Sequence[Mapping[str, Any]]


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
            for made in self.plane.dry_all([in_namespace(pod, namespace) for pod in pods])
        ]

    def await_change(self, installed: Installed, plain: Any) -> None:
        """Poll until the policy changes a pod. plain: as the API server makes it without a policy."""
        self.plane.until(
            f"the policy {installed.name} acts",
            lambda: self.admitted(installed.name, [plain]) != [stripped(in_namespace(plain, installed.name))],
        )

    def differences(
        self, installed: Installed, plain: Sequence[Any], expected: Sequence[Any]
    ) -> list[tuple[Any, Any, Any]]:
        """(pod without the policy, expected, actual) where they differ; Refused where the API server says no.

        Both go through admission once more: it drops a toleration that another one implies, where the pod has a
        RuntimeClass (k8s.io/kubernetes, pkg/util/tolerations, MergeTolerations).
        """
        there = self.admitted(installed.name, plain)
        merged = iter(self.plain([pod for pod in there if not isinstance(pod, Refused)]))
        actual = [pod if isinstance(pod, Refused) else next(merged) for pod in there]
        trios = zip(plain, self.plain(expected), actual, strict=True)
        return [trio for trio in trios if isinstance(trio[2], Refused) or trio[1] != trio[2]]

    def errors(self, installed: Installed) -> int:
        """How often an expression of the policy has failed: the pod passed as it was, or half changed."""
        label = f'policy="{installed.objects[-1]["spec"]["policyName"]}"'
        return sum(
            int(line.rpartition(" ")[2])
            for line in self.plane.client.get("/metrics").text.splitlines()
            if line.startswith(_CHECKS) and label in line and 'error_type="no_error"' not in line
        )


def in_namespace(pod: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    return {**pod, "metadata": {**pod["metadata"], "namespace": namespace}}


def _stream(objects: Sequence[Mapping[str, Any]]) -> str:
    return "\n---\n".join(map(json.dumps, objects))
