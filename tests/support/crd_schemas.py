"""CustomResourceDefinitions for tests: schemas with as few words as they need.

crd("example.com/Widget", spec={"image": TEXT, "affinity": AFFINITY})
pod_spec()                       a PodSpec as controller-gen writes it, cut to what matters
"""

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
OPEN: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def obj(*required: str, rules: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """An object with these members. rules: of x-kubernetes-validations."""
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        made["required"] = list(required)
    if rules:
        made["x-kubernetes-validations"] = [{"rule": rule} for rule in rules]
    return made


def listed(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


def mapped(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": schema}


_TERM = obj(matchExpressions=listed(obj("key", "operator", key=TEXT, operator=TEXT, values=listed(TEXT))))
NODE_AFFINITY = obj(
    requiredDuringSchedulingIgnoredDuringExecution=obj("nodeSelectorTerms", nodeSelectorTerms=listed(_TERM))
)
AFFINITY = obj(nodeAffinity=NODE_AFFINITY, podAffinity=OPEN, podAntiAffinity=OPEN)
TOLERATIONS = listed(
    obj(key=TEXT, operator=TEXT, value=TEXT, effect=TEXT, tolerationSeconds={"type": "integer"})
)
NODES = mapped(TEXT)
PLACEMENT = {"affinity": AFFINITY, "tolerations": TOLERATIONS, "nodeSelector": NODES}


def pod_spec(*without: str, **more: Any) -> dict[str, Any]:
    container = obj("name", name=TEXT, image=TEXT, args=listed(TEXT))
    members = {**PLACEMENT, "containers": listed(container), "initContainers": listed(container), **more}
    return obj("containers", **{name: member for name, member in members.items() if name not in without})


def crd(
    name: str, *, spec: Any = None, root: dict[str, Any] | None = None, **versions: Any
) -> dict[str, Any]:
    """A definition of apiextensions.k8s.io/v1.

    name: `group/Kind`. spec: the properties of `spec` in v1, or the schema of spec. root: the whole schema instead.
    versions: further ones by name, each the properties of its `spec`; None is a version without a schema.
    """
    group, kind = name.split("/")
    whole = obj(spec=spec if isinstance(spec, dict) and "type" in spec else obj(**(spec or {})), status=OPEN)
    listed_versions = [_version("v1", root or whole, storage=True)]
    for version, properties in versions.items():
        schema = None if properties is None else obj(spec=obj(**properties))
        listed_versions.append(_version(version, schema, storage=False))
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": f"{kind.lower()}s"},
            "versions": listed_versions,
        },
    }


def _version(name: str, schema: Any, *, storage: bool) -> dict[str, Any]:
    made = {"name": name, "served": True, "storage": storage}
    return made if schema is None else {**made, "schema": {"openAPIV3Schema": schema}}
