"""A structural schema into facts: where a kind has pods, images and placement.

"*" is every item of a list or member of a mapping. Values are those of `yaml.values`. A structural schema
(kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions) has no references, so each
node is visited once.
"""

from __future__ import annotations

from typing import Any

from archfit.base.patch import Path
from archfit.options.settings import ATTRIBUTES, FIELDS, REQUIRED
from archfit.workloads.unread import IMAGE_ENDS
from archfit.yaml.values import Typed, mapping_of, text_of

_TRUE = Typed("bool", "true")
_OPEN = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
ROOT = {"apiVersion", "kind", "metadata", "status"}
# Members of core/v1 PodSpec, which hold no other pod.
_OF_POD_SPEC = """
    activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks
    ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets
    initContainers nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates
    resourceClaims resources restartPolicy runtimeClassName schedulerName schedulingGates securityContext
    serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain
    terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes
"""
_POD_SPEC = frozenset(_OF_POD_SPEC.split())
# Common members that hold neither a pod nor an image.
_WITHOUT_POD = """
    nodeAffinity podAffinity podAntiAffinity tolerations nodeSelector topologySpreadConstraints env envFrom resources
    livenessProbe readinessProbe startupProbe lifecycle securityContext podSecurityContext containerSecurityContext
    annotations labels matchLabels selector labelSelector volumeMounts volumeClaimTemplate volumeClaimTemplates
    imagePullSecrets strategy updateStrategy rbd
"""
_NOTHING = frozenset(_WITHOUT_POD.split())


class Facts:
    """What a schema says. Paths are from the object's root, and sorted.

    pod_specs: those of FIELDS that each lacks. affinity: mappings that hold nodeAffinity. images: "repository+tag" is
    two members of one mapping. partial: images of which the schema has another part elsewhere, and which. open: objects
    of unknown members. embedded: whole objects. unusable: fields of placement whose members are not Kubernetes'.
    frozen: what cannot change. required: members that a mapping has to have.
    """

    def __init__(self) -> None:
        self.pod_specs: dict[Path, tuple[str, ...]] = {}
        self.images: list[Path] = []
        self.affinity: list[Path] = []
        self.tolerations: list[Path] = []
        self.node_selector: list[Path] = []
        self.partial: list[tuple[Path, str]] = []
        self.open: list[Path] = []
        self.embedded: list[Path] = []
        self.unusable: list[Path] = []
        self.frozen: list[Path] = []
        self.required: dict[Path, frozenset[str]] = {}

    def take(self, schema: Any, path: Path) -> None:
        """A node of the schema, and what is below it."""
        if not isinstance(schema, dict):
            return
        properties = mapping_of(schema.get("properties"))
        if any(_freezes(rule) for rule in items(schema.get("x-kubernetes-validations"))):
            self.frozen.append(path)
        if properties and schema.get("required"):
            self.required[path] = frozenset(map(text_of, items(schema["required"])))
        if path and schema.get(_EMBEDDED) == _TRUE:
            self.embedded.append(path)
        elif path and is_any(schema):
            self.open.append(path)
        pod_spec = self._pod_spec(properties, path)
        if not pod_spec:
            self._placement(properties, path)
        for name, member in properties.items():
            if (pod_spec and name in _POD_SPEC) or name in _NOTHING or (not path and name in ROOT):
                continue
            if not self._image(name, mapping_of(member), properties, path):
                self.take(member, (*path, name))
        # Kubernetes refuses either of these beside `properties`; a row for both would write to one place twice.
        for key in () if properties else ("items", "additionalProperties"):
            self.take(schema.get(key), (*path, "*"))

    def _pod_spec(self, properties: dict[str, Any], path: Path) -> bool:
        """Whether the members are those of a pod spec, which is noted."""
        containers = mapping_of(mapping_of(properties.get("containers")).get("items"))
        if not path or "image" not in mapping_of(containers.get("properties")):
            return False
        missing = tuple(name for name in FIELDS if not _usable(name, properties.get(name)))
        if len(missing) == len(FIELDS):
            return False
        self.pod_specs[path] = missing
        self.unusable += [(*path, name) for name in missing if name in properties]
        return True

    def _placement(self, properties: dict[str, Any], path: Path) -> None:
        for name in FIELDS:
            if name not in properties:
                continue
            if _usable(name, properties[name]):
                getattr(self, ATTRIBUTES[name]).append((*path, name))
            elif name != "affinity" or not mapping_of(mapping_of(properties[name]).get("properties")):
                self.unusable.append((*path, name))
        if path and path[-1] != "affinity" and "nodeAffinity" in properties:
            if _has_terms(properties["nodeAffinity"]):
                self.affinity.append(path)
            else:
                self.unusable.append((*path, "nodeAffinity"))

    def _image(self, name: str, member: dict[str, Any], beside: dict[str, Any], path: Path) -> bool:
        """Whether the member is an image, which is noted."""
        word = name.replace("_", "").replace("-", "").lower()
        kind = text_of(member.get("type"))
        if word.endswith("images"):
            inner = mapping_of(member.get("items")) or mapping_of(member.get("additionalProperties"))
            if text_of(inner.get("type")) == "string":
                self.images.append((*path, name, "*"))
                return True
            return False
        if not word.endswith(IMAGE_ENDS):
            return False
        if kind == "string":
            self.images.append((*path, name))
            others = [other for other in ("tag", f"{name}Tag", "sha") if other in beside]
            if others:
                self.partial.append(((*path, name), ", ".join(others)))
            return True
        parts = mapping_of(member.get("properties"))
        if "reference" in parts:
            self.images.append((*path, name, "reference"))
            return True
        base = next((part for part in ("repository", "name") if "tag" in parts and part in parts), "")
        if not base:
            return False
        self.images.append((*path, name, f"{base}+tag"))
        others = [part for part in ("registry", "digest", "sha", "version") if part in parts]
        if others:
            self.partial.append(((*path, name, f"{base}+tag"), ", ".join(others)))
        return True


def facts(schema: dict[str, Any]) -> Facts:
    """The facts of an openAPIV3Schema."""
    collected = Facts()
    collected.take(schema, ())
    collected.pod_specs = dict(sorted(collected.pod_specs.items()))
    for paths in vars(collected).values():
        if isinstance(paths, list):
            paths.sort()
    return collected


def _usable(name: str, schema: Any) -> bool:
    """Whether a field of placement has the members that Kubernetes has there, or leaves them open."""
    field = mapping_of(schema)
    if not field:
        return False
    if name == "affinity":
        properties = mapping_of(field.get("properties"))
        return _has_terms(properties["nodeAffinity"]) if "nodeAffinity" in properties else is_any(field)
    if name == "nodeSelector":
        return "additionalProperties" in field or is_any(field)
    inner = mapping_of(field.get("items"))
    properties = mapping_of(inner.get("properties"))
    return {"key", "operator", "value", "effect"} <= properties.keys() or is_any(inner)


def _has_terms(schema: Any) -> bool:
    """Whether nodeAffinity can require an architecture."""
    node = mapping_of(schema)
    for step in (REQUIRED, "nodeSelectorTerms", "", "matchExpressions", ""):
        if is_any(node):
            return True
        node = mapping_of(mapping_of(node.get("properties")).get(step) if step else node.get("items"))
    return {"key", "operator", "values"} <= mapping_of(node.get("properties")).keys() or is_any(node)


def is_any(schema: dict[str, Any]) -> bool:
    """Whether the schema says nothing of the members."""
    return schema.get(_OPEN) == _TRUE and not mapping_of(schema.get("properties"))


def _freezes(rule: Any) -> bool:
    text = "".join(text_of(mapping_of(rule).get("rule")).split())
    return text in {"self==oldSelf", "oldSelf==self"}


def items(value: Any) -> list[Any]:
    """The value, or an empty list in the place of anything else."""
    return value if isinstance(value, list) else []
