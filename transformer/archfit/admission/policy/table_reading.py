"""The table of an installed policy, read back: what it knows about images, for a renewal and for --check.

literal    variables `classes` and images1, images2, ..: CEL's literals here are Python's, too
crd        classes and images of the PlatformTable
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from archfit.admission.policy.platform_table import CONTAINER, RUNTIME_CLASS, VOLUME, OfferClass
from archfit.images.platforms import Found, Platform
from archfit.source.values import mapping_of
from archfit.typing_names import Any

_IMAGES = re.compile(r"images[0-9]+").fullmatch
_WASM = Platform("wasi", "wasm")
_NOT_SYSTEMS = {"unrestricted", "unanswered"}


def installed_table(policy: Mapping[str, Any], resource: Mapping[str, Any] | None) -> dict[str, OfferClass]:
    """The class of each image, by normalised reference; {} where it cannot be read. resource: the PlatformTable."""
    if resource is not None:
        classes, images = mapping_of(resource.get("classes")), mapping_of(resource.get("images"))
    else:
        variables = mapping_of(policy.get("spec")).get("variables") or ()
        found = {one["name"]: one["expression"] for one in variables}
        classes = _literal(found.get("classes", ""))
        images = {
            name: code
            for variable, expression in found.items()
            if _IMAGES(variable)
            for name, code in _literal(expression).items()
        }
    return {name: classes[code] for name, code in images.items() if code in classes}


def as_found(offers: OfferClass) -> Found:
    """An answer with this class."""
    free = set(offers.get("unrestricted", ()))
    if CONTAINER in free:
        return Found((), image=False)
    platforms = [
        Platform(system, architecture)
        for system, architectures in offers.items()
        if system not in _NOT_SYSTEMS
        for architecture in architectures
    ]
    if CONTAINER + RUNTIME_CLASS in free:
        platforms.append(_WASM)
    return Found(tuple(sorted(platforms, key=str)), index=VOLUME not in free)


def _literal(expression: str) -> dict[str, Any]:
    lines = [line for line in expression.splitlines() if not line.lstrip().startswith("//")]
    try:
        return mapping_of(ast.literal_eval("\n".join(lines)))
    except (ValueError, SyntaxError):
        return {}
