"""Manifests as kubectl reads them: YAML 1.1, but dates and `=` stay text."""

from __future__ import annotations

from typing import Any

import yaml

_TEXT = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value"}


class _Loader(yaml.CSafeLoader):
    """Reads fewer plain scalars as other types than PyYAML's."""


_Loader.yaml_implicit_resolvers = {
    first: [one for one in resolvers if one[0] not in _TEXT]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def decoded(stream: bytes) -> list[dict[str, Any]]:
    """The objects of a stream, in order."""
    return [one for one in yaml.load_all(stream, Loader=_Loader) if one]
