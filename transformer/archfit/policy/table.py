"""What the images of a policy run on, as its CEL reads it: the architectures of the cluster, by normalised reference.

    docker.io/library/nginx:1.27: [amd64, arm64]
    quay.io/team/tool:1: [amd64, manifest]

`manifest` says that the image is no index: as a volume it fits every node. An image that restricts nothing has all of
them: an artifact, WebAssembly alone. Where a pod names a runtime class for WebAssembly, the policy leaves it alone.

The table stands in variables of the policy, in pieces below 100,000 code points, the limit of CEL's parser; or in a
custom resource, the policy's param. Where that is missing, the policy does nothing (`parameterNotFoundAction: Allow`).
A ConfigMap is never used: the API server keeps a stale copy of it for ever once no binding names the kind
(kubernetes#133827), and reads it as a whole for each pod. For a renewal and for --check the table of an installed
policy is read back: CEL's literals here are Python's, too.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from archfit.base.errors import UsageError
from archfit.images.overrides import override
from archfit.images.platforms import Found, Platform, Unknown
from archfit.images.reference import parse
from archfit.options.settings import Options
from archfit.placement.evidence import assumed, offered
from archfit.placement.uncounted import counted
from archfit.policy.settings import PolicySettings
from archfit.workloads.pods import ImageUse
from archfit.yaml.values import mapping_of

Table: TypeAlias = dict[str, list[str]]

GROUP, VERSION, KIND, PLURAL = "archfit.dev", "v1alpha1", "PlatformTable", "platformtables"
MANIFEST = "manifest"
MAX_LITERAL_IMAGES = 5_000
MAX_BYTES = 1_400_000
"""etcd refuses objects above 1.5 MiB (--max-request-bytes)."""
_PIECE = 95_000
_HEAD = 2_000
_BETWEEN = 10
"""Of an entry beside its texts: colon, comma, margin and line end."""


def platform_table(images: Mapping[str, Found], options: Options) -> tuple[Table, list[tuple[str, str]]]:
    """The table, and (reference, reason) of each image of which nothing counts.

    images: by normalised reference. `imagePlatforms` win over them. Raises UsageError for overrides that disagree.
    """
    table: Table = {}
    left_out: list[tuple[str, str]] = []
    for name, answer in images.items():
        known, reason = _counted(name, answer, options)
        if known is None:
            left_out.append((name, reason))
        else:
            table[name] = _row(name, known, options)
    return table, left_out


def _counted(name: str, answer: Found, options: Options) -> tuple[Found | None, str]:
    """What counts of an answer, and why nothing does."""
    stated = options.image_platforms and override(parse(name), options.image_platforms)
    use = ImageUse((), name)
    known, _ = counted(use, stated or answer, runtime_class=False, wanted=())
    if isinstance(known, Unknown) and stated:
        raise UsageError(f"imagePlatforms: {name}: {known.cause}")
    if isinstance(known, Unknown):
        counts = assumed(known, options)
        reason = known.cause
        if counts is None:
            return None, reason
        known, _ = counted(use, counts, runtime_class=False, wanted=())
        if isinstance(known, Unknown):
            return None, reason
    return known, ""


def _row(name: str, known: Found, options: Options) -> list[str]:
    offers = offered(ImageUse((), name), known, "linux")
    if offers is None:
        return sorted(options.cluster_architectures)
    return [*sorted(offers.intersection(options.cluster_architectures)), *([] if known.index else [MANIFEST])]


def fitting(table: Table, settings: PolicySettings) -> tuple[Table, list[str]]:
    """The rows that the carrier holds, the first ones first, and the names of the other images.

    The images of a cluster are its tenants' words: none may keep a policy from being written.
    """
    most = MAX_LITERAL_IMAGES if settings.carrier == "literal" else MAX_BYTES
    held: Table = {}
    left: list[str] = []
    size = 0
    for name, row in table.items():
        entry = _size(name, row)
        if len(held) == most or size + entry > MAX_BYTES - _HEAD:
            left.append(name)
            continue
        held[name] = row
        size += entry
    return held, left


def _size(name: str, row: list[str]) -> int:
    return len(json.dumps(name)) + len(json.dumps(row)) + _BETWEEN


def pieces(table: Table) -> Iterator[dict[str, list[str]]]:
    """The rows in their order, in pieces that one expression holds; one piece at least."""
    piece: Table = {}
    length = 0
    for name, row in sorted(table.items()):
        entry = _size(name, row)
        if piece and length + entry > _PIECE:
            yield piece
            piece, length = {}, 0
        piece[name] = row
        length += entry
    yield piece


def check_fits(table: Table, settings: PolicySettings) -> None:
    """Raises UsageError where the carrier does not hold the table."""
    held, left = fitting(table, settings)
    if left and settings.carrier == "literal":
        raise UsageError(
            f"{len(table)} images do not fit into a policy with literals, which holds {len(held)}: write them to a "
            "custom resource with --carrier crd"
        )
    if left:
        raise UsageError(
            f"{len(table)} images do not fit into a custom resource, which holds {len(held)}: write a lock file for "
            "fewer images, such as those of one cluster"
        )


def table_objects(table: Table, settings: PolicySettings) -> list[dict[str, Any]]:
    """The definition of the custom resource, and the resource with the table."""
    resource = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "metadata": settings.dated(settings.name),
        "images": dict(sorted(table.items())),
    }
    images = {
        "type": "object",
        "description": "The architectures of each image, by normalised reference.",
        "additionalProperties": {"type": "array", "items": {"type": "string"}},
        # Not granular: managedFields would name each image once more, and 15,000 of them would not fit into etcd.
        "x-kubernetes-map-type": "atomic",
    }
    schema = {
        "type": "object",
        "description": "What images run on. `archfit policy` writes it; the policy reads it.",
        "required": ["images"],
        "properties": {"images": images},
    }
    definition = {
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
    return [definition, resource]


_PLATFORMS = re.compile(r"platforms[0-9]*").fullmatch


def installed_table(policy: Mapping[str, Any], resource: Mapping[str, Any] | None) -> Table:
    """The table of an installed policy; {} where it cannot be read. resource: the PlatformTable."""
    if resource is not None:
        return dict(mapping_of(resource.get("images")))
    variables = mapping_of(policy.get("spec")).get("variables") or ()
    table: Table = {}
    for variable in variables:
        if _PLATFORMS(variable["name"]):
            table |= _literal(variable["expression"])
    return table


def as_found(row: list[str]) -> Found:
    """An answer with this row."""
    platforms = tuple(Platform("linux", name) for name in row if name != MANIFEST)
    return Found(platforms, index=MANIFEST not in row)


def _literal(expression: str) -> Table:
    try:
        return mapping_of(ast.literal_eval(expression.strip()))
    except (ValueError, SyntaxError):
        return {}
