"""A Pod with each field that a stranger can repeat, and any of them repeated.

repeatable(POD)                                     the paths of all lists and all mappings of texts
repeated(POD, ("spec", "tolerations"), 100)         the Pod with each of its tolerations 100 times
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

ARCH = "kubernetes.io/arch"
EXPRESSIONS = [
    {"key": ARCH, "operator": "In", "values": ["amd64", "arm64"]},
    {"key": "zone", "operator": "Exists"},
]
POD: dict[str, Any] = {
    "metadata": {
        "labels": {"app": "web"},
        "annotations": {
            "archfit.dev/unknown": "x",
            "example.com/note": "y",
            "container.apparmor.security.beta.kubernetes.io/c": "z",
        },
    },
    "spec": {
        "containers": [{"name": "c", "image": "both:1"}, {"name": "d", "image": "NO:1"}],
        "initContainers": [{"name": "i", "image": "amd:1"}],
        "ephemeralContainers": [{"name": "e", "image": "amd:1"}],
        "volumes": [{"name": "v", "image": {"reference": "both:1"}}],
        "imagePullSecrets": [{"name": "p"}],
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [
            {"key": "a", "operator": "Exists"},
            {"key": ARCH, "operator": "Equal", "value": "arm64"},
        ],
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        ],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": EXPRESSIONS,
                            "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}],
                        }
                    ]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "preference": {"matchExpressions": EXPRESSIONS}}
                ],
            }
        },
    },
}


def repeated(value: Any, path: tuple[Any, ...], times: int) -> Any:
    """The value with each item of the list, or member of the mapping, at path that many times."""
    made = deepcopy(value)
    holder = made
    for step in path[:-1]:
        holder = holder[step]
    inside = holder[path[-1]] if path else made
    if isinstance(inside, list):
        many: Any = [_varied(item, number) for number in range(times) for item in inside]
    else:
        many = {_varied(key, number): item for number in range(times) for key, item in inside.items()}
    if not path:
        return many
    holder[path[-1]] = many
    return made


def _varied(item: Any, number: int) -> Any:
    if not number:
        return item
    if isinstance(item, str):
        return f"{item}-{number}"
    if isinstance(item, dict):
        names = [
            key for key in ("name", "key", "kind") if isinstance(item.get(key), str) and item[key] != ARCH
        ]
        return {**item, **{name: f"{item[name]}-{number}" for name in names[:1]}}
    return item


def repeatable(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all lists that hold something, and of all mappings of texts."""
    if isinstance(value, list):
        if value:
            yield path
        for number, item in enumerate(value):
            yield from repeatable(item, (*path, number))
    elif isinstance(value, dict):
        if (
            value
            and all(isinstance(member, str) for member in value.values())
            and not {"name", "key"} & set(value)
        ):
            yield path
        for key, member in value.items():
            yield from repeatable(member, (*path, key))
