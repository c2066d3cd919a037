"""Where the platform table stands: in the policy's own variables, or in a custom resource that the policy reads.

As literals it is in pieces below 100,000 code points, the limit of CEL's parser; a PlatformTable is the policy's param.
Where the PlatformTable is missing, the policy does nothing (`parameterNotFoundAction: Allow`). A ConfigMap is never
used: the API server keeps a stale copy of it for ever once no binding names the kind (kubernetes#133827), and reads it
as a whole for each pod.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from archfit.base.errors import UsageError
from archfit.images.platforms import ARCHITECTURES, Found
from archfit.options.settings import Options
from archfit.policy.cel.cel_text import Variable, literal, rows, text
from archfit.policy.cel.platform_table import (
    PlatformTable,
    all_architectures,
    architectures_of,
    platform_table,
)
from archfit.policy.cel.policy_settings import PolicySettings
from archfit.startup.record import Record

GROUP, VERSION, KIND, PLURAL = "archfit.dev", "v1alpha1", "PlatformTable", "platformtables"
MAX_CODE_POINTS = 100_000
MAX_LITERAL_IMAGES = 5_000
MAX_BYTES = 1_400_000  # etcd refuses objects above 1.5 MiB (--max-request-bytes)
MAX_STRANGE = 16  # architectures that neither Go nor the options know: each adds to the CEL cost of every pod
_PIECE = 95_000
_CLASSES = 80_000  # bytes: they are in one expression
_HEAD = 2_000
_BETWEEN = 8  # quotes, colon, comma, margin and line end around an entry of two texts
_LONGEST_NAME = 64  # of a strange architecture


def fitting(
    images: Mapping[str, Found], options: Options, settings: PolicySettings
) -> tuple[dict[str, Found], list[str]]:
    """The images that the carrier holds, the first ones first, and the names of the others, in their order.

    The images of a cluster are its tenants' words: none may keep a policy from being written.
    """
    table = platform_table(images, options)
    usual = set(all_architectures((), options))
    most = MAX_LITERAL_IMAGES if settings.carrier == "literal" else MAX_BYTES
    count = size = classes = 0
    held: dict[str, Found] = {}
    left: list[str] = []
    used: set[str] = set()
    strange: set[str] = set()
    for name, answer in images.items():
        code = table.images.get(name)
        if code is None:  # it takes no room: an override has its platforms, or it is left out anyway
            held[name] = answer
            continue
        offers = table.classes[code]
        entry = len(json.dumps(name)) + len(code) + _BETWEEN
        of_class = 0 if code in used else len(json.dumps(offers)) + len(code) + _BETWEEN
        named = strange | architectures_of([offers]) - usual
        if (
            count == most
            or size + classes + entry + of_class > MAX_BYTES - _HEAD
            or classes + of_class > _CLASSES
            or len(named) > MAX_STRANGE
            or any(len(architecture) > _LONGEST_NAME for architecture in named)
        ):
            left.append(name)
            continue
        held[name], strange = answer, named
        used.add(code)
        count, size, classes = count + 1, size + entry, classes + of_class
    return held, left


class TableStorage(Record):
    """How a policy reads its table.

    images: the mappings to look a reference up in, in CEL. classes: that of the classes. architectures: all that the
    policy knows, sorted. table: the variables that hold it. spec, binding: what those of the policy say of it.
    objects: to apply before the policy.
    """

    images: list[str]
    classes: str
    architectures: str
    table: Sequence[Variable] = ()
    spec: Mapping[str, Any] = MappingProxyType({})
    binding: Mapping[str, Any] = MappingProxyType({})
    objects: Sequence[dict[str, Any]] = ()


def table_storage(table: PlatformTable, architectures: list[str], settings: PolicySettings) -> TableStorage:
    """Where the carrier has the table. Raises UsageError where it does not fit."""
    if settings.carrier == "crd":
        return TableStorage(
            ["params.images"],
            "params.classes",
            "params.architectures.map(a, string(a))",
            spec={"paramKind": {"apiVersion": f"{GROUP}/{VERSION}", "kind": KIND}},
            binding={"paramRef": {"name": settings.name, "parameterNotFoundAction": "Allow"}},
            objects=[_definition(), _resource(table, architectures, settings)],
        )
    classes = rows((f"{text(code)}: {literal(offers)}" for code, offers in table.classes.items()), "{", "}")
    comment = "the images that the policy knows, each with the code of what it offers"
    images = [Variable(f"images{number}", comment, piece) for number, piece in enumerate(_pieces(table), 1)]
    usual = architectures == sorted(ARCHITECTURES)
    return TableStorage(
        [f"variables.{variable.name}" for variable in images],
        "variables.classes",
        "variables.nodeArchitectures" if usual else literal(architectures),
        [
            Variable("classes", "what images offer, by a code: architectures by operating system", classes),
            *images,
        ],
    )


def _resource(table: PlatformTable, architectures: list[str], settings: PolicySettings) -> dict[str, Any]:
    resource = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "metadata": settings.dated(settings.name),
        "architectures": architectures,
        "classes": table.classes,
        "images": table.images,
    }
    size = len(json.dumps(resource))
    if size > MAX_BYTES:
        raise UsageError(
            f"{len(table.images)} images make a custom resource of {size} bytes, and the API server takes "
            f"{MAX_BYTES}: write a lock file for fewer images, such as those of one cluster"
        )
    return resource


def _pieces(table: PlatformTable) -> Iterator[str]:
    """The images as mappings below the limit of one expression; one at least. Raises UsageError."""
    entries = [f"{text(name)}: {text(code)}" for name, code in table.images.items()]
    size = sum(map(len, entries))
    if len(entries) > MAX_LITERAL_IMAGES or size > MAX_BYTES:
        raise UsageError(
            f"the lock file has {len(entries)} images, and a policy with literals holds {MAX_LITERAL_IMAGES}: "
            "write them to a custom resource with --carrier crd"
        )
    piece: list[str] = []
    length = 0
    for entry in entries:
        if piece and length + len(entry) > _PIECE:
            yield rows(piece, "{", "}")
            piece, length = [], 0
        piece.append(entry)
        length += len(entry) + 4
    yield rows(piece, "{", "}")


def _definition() -> dict[str, Any]:
    names = {"type": "array", "items": {"type": "string"}}
    # Not granular: managedFields would name each image once more, and 15,000 of them would not fit into etcd.
    whole = {"type": "object", "x-kubernetes-map-type": "atomic"}
    texts = {**whole, "additionalProperties": {"type": "string"}}
    schema = {
        "type": "object",
        "description": "What the images of a lock file run on. `archfit policy` writes it; the policy reads it.",
        "required": ["architectures", "classes", "images"],
        "properties": {
            "architectures": {"description": "Values of the label kubernetes.io/arch, sorted.", **names},
            "classes": {
                "description": "By code: architectures by operating system; roles in a pod without a restriction.",
                **whole,
                "additionalProperties": {"type": "object", "additionalProperties": names},
            },
            "images": {"description": "The code of a class by normalised image reference.", **texts},
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {"kind": KIND, "listKind": f"{KIND}List", "plural": PLURAL, "singular": KIND.lower()},
            "versions": [
                {"name": VERSION, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
            ],
        },
    }
