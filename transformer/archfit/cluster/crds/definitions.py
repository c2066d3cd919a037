"""CustomResourceDefinitions of a decoded document: the kinds that they define, and each version's schema.

    apiextensions.k8s.io/v1        spec.versions[*].schema.openAPIV3Schema
    apiextensions.k8s.io/v1beta1   the same, or spec.validation.openAPIV3Schema for all versions
    List, ..List                   the definitions in `items`

A schema that says nothing (none at all, or no more than that it preserves unknown fields, as a whole or in `spec`) is
None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from archfit.cluster.crds.schema import ROOT, is_any, items
from archfit.startup.record import Record
from archfit.workloads.builtin import group_of
from archfit.yaml.values import Typed, mapping_of, text_of

GROUP = "apiextensions.k8s.io"
KIND = "CustomResourceDefinition"
_GROUP = re.compile(r"[a-z0-9][-a-z0-9.]*").fullmatch
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9]*").fullmatch
_FALSE = Typed("bool", "false")
_TRUE = Typed("bool", "true")


class SchemaVersion(Record):
    """One served version of a kind, or the stored one. schema: an openAPIV3Schema, None where it says nothing."""

    name: str
    schema: dict[str, Any] | None
    storage: bool = False


class Definition(Record):
    """A kind. versions: the stored one first, the rest in their order."""

    group: str
    kind: str
    versions: tuple[SchemaVersion, ...]


def definitions(value: Any) -> Iterator[Definition]:
    """The definitions in a document's value; what is none is passed over."""
    definition = mapping_of(value)
    kind = text_of(definition.get("kind"))
    if kind in {"List", KIND + "List"}:
        for item in items(definition.get("items")):
            typed = {"apiVersion": definition.get("apiVersion"), "kind": KIND} if kind != "List" else {}
            yield from definitions({**typed, **mapping_of(item)})
    elif kind == KIND and group_of(text_of(definition.get("apiVersion"))) == GROUP:
        spec = mapping_of(definition.get("spec"))
        group, name = text_of(spec.get("group")), text_of(mapping_of(spec.get("names")).get("kind"))
        if _GROUP(group) and _KIND(name):
            yield Definition(group, name, tuple(_versions(spec)))


def _versions(spec: dict[str, Any]) -> list[SchemaVersion]:
    shared = mapping_of(spec.get("validation"))
    listed = items(spec.get("versions")) or [{"name": spec.get("version"), "storage": _TRUE}]
    versions = [
        SchemaVersion(
            text_of(version.get("name")),
            _schema(mapping_of(version.get("schema")) or shared),
            version.get("storage") == _TRUE,
        )
        for version in map(mapping_of, listed)
        if version.get("served") != _FALSE or version.get("storage") == _TRUE
    ]
    return sorted(versions, key=lambda version: not version.storage)


def _schema(holder: dict[str, Any]) -> dict[str, Any] | None:
    schema = mapping_of(holder.get("openAPIV3Schema"))
    members = mapping_of(schema.get("properties")).items()
    is_specific = any(name not in ROOT and not is_any(mapping_of(member)) for name, member in members)
    return schema if is_specific else None
