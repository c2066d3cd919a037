"""What the images of a lock file offer, as a table for CEL: images by normalised reference, answers written once.

    images      {docker.io/library/nginx:1.27: a, quay.io/team/tool:1: b}
    classes     {a: {linux: [amd64, arm64]},
                 b: {linux: [amd64], unrestricted: [volume, volume with a runtime class]}}

A class is everything that a decision asks of an answer, in each role that an image may have in a pod, by the rules of
`placement.uncounted` and `placement.evidence`. For a renewal and for --check, the table of an installed policy is read
back: CEL's literals here are Python's, too.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, product
from typing import Any, TypeAlias

from archfit.images.overrides import override
from archfit.images.platforms import ARCHITECTURES, Found, ImagePlatforms, Platform, Unknown
from archfit.images.reference import parse
from archfit.options.settings import Options
from archfit.placement.evidence import assumed, offered
from archfit.placement.uncounted import counted
from archfit.startup.record import Record
from archfit.workloads.pods import ImageUse
from archfit.yaml.values import mapping_of

RUNTIME_CLASS = " with a runtime class"
CONTAINER, VOLUME = "container", "volume"
SYSTEMS = ("linux", "windows")
_ROLES = tuple(
    (f"{role}{suffix}", role == VOLUME, bool(suffix))
    for role, suffix in product((CONTAINER, VOLUME), ("", RUNTIME_CLASS))
)

OfferClass: TypeAlias = dict[str, list[str]]
"""Architectures by operating system; the roles under `unrestricted` and `unanswered`."""


class PlatformTable(Record):
    """images: code of a class by normalised reference. classes: by code. left_out: (reference, reason)."""

    images: dict[str, str]
    classes: dict[str, OfferClass]
    left_out: tuple[tuple[str, str], ...] = ()


def platform_table(images: Mapping[str, Found], options: Options) -> PlatformTable:
    """The table of a lock file's answers. Raises UsageError for overrides that disagree about an image.

    Images with an override are left to `stated_classes`.
    """
    codes: dict[tuple[object, ...], str] = {}
    classes: dict[str, OfferClass] = {}
    by_offers: dict[str, str] = {}
    coded: dict[str, str] = {}
    left_out: list[tuple[str, str]] = []
    names = _codes()
    for name, answer in sorted(images.items()):
        if options.image_platforms and override(parse(name), options.image_platforms):
            continue
        key = (answer.platforms, answer.index, answer.image)
        if key not in codes:
            offers, reason = offer_class(name, answer, options)
            if reason:
                left_out.append((name, reason))
                continue
            written = repr(offers)
            if written not in by_offers:
                by_offers[written] = next(names)
                classes[by_offers[written]] = offers
            codes[key] = by_offers[written]
        coded[name] = codes[key]
    return PlatformTable(coded, classes, tuple(left_out))


def stated_classes(options: Options) -> list[tuple[ImagePlatforms, OfferClass]]:
    """Each override of the configuration with its class."""
    return [
        (
            row,
            offer_class("", Found(tuple(sorted(set(row.platforms), key=str)), origin="override"), options)[0],
        )
        for row in options.image_platforms
    ]


def offer_class(name: str, stated: Found, options: Options) -> tuple[OfferClass, str]:
    """The class of an answer, and why nothing of it counts in any role, "" if something does."""
    offers: OfferClass = {}
    unrestricted, unanswered, reason = [], [], ""
    for role, volume, runtime_class in _ROLES:
        use = ImageUse((), name or "image", volume=volume)
        answer, _ = counted(use, stated, runtime_class=runtime_class, wanted=())
        counts = assumed(answer, options) if isinstance(answer, Unknown) else None
        if counts:
            answer, _ = counted(use, counts, runtime_class=runtime_class, wanted=())
        if isinstance(answer, Unknown):
            reason = reason or answer.cause
            unanswered.append(role)
            continue
        systems = sorted({*SYSTEMS} & {platform.os for platform in answer.platforms}) or ("linux",)
        by_system = {os: offered(use, answer, os) for os in systems}
        if None in by_system.values():
            unrestricted.append(role)
        else:
            offers |= {os: sorted(names or ()) for os, names in by_system.items() if names}
    if unrestricted:
        offers["unrestricted"] = unrestricted
    if unanswered:
        offers["unanswered"] = unanswered
    return offers, reason if len(unanswered) == len(_ROLES) else ""


def architectures_of(classes: Iterable[OfferClass]) -> set[str]:
    """The architectures that the classes name."""
    return {name for offers in classes for os in SYSTEMS for name in offers.get(os, ())}


def all_architectures(classes: Iterable[OfferClass], options: Options) -> list[str]:
    """Every architecture that a policy may have to write or to compare, sorted."""
    names = {*ARCHITECTURES, *architectures_of(classes)}
    names.update(entry.rpartition("/")[2] for entry in options.cluster_architectures)
    names.update(name for rule in options.tolerate for name in rule.architectures)
    names.update(name for rule in options.rules for name in rule.only or ())
    return sorted(names)


def _codes() -> Iterator[str]:
    for length in count(1):
        yield from map("".join, product(string.ascii_lowercase, repeat=length))


_IMAGES = re.compile(r"images[0-9]+").fullmatch
_WASM = Platform("wasi", "wasm")
_NOT_SYSTEMS = {"unrestricted", "unanswered"}


def installed_table(policy: Mapping[str, Any], resource: Mapping[str, Any] | None) -> dict[str, OfferClass]:
    """The class of each image, by normalised reference; {} where it cannot be read. resource: the PlatformTable."""
    if resource is not None:
        classes, images = mapping_of(resource.get("classes")), mapping_of(resource.get("images"))
    else:
        variables = mapping_of(policy.get("spec")).get("variables") or ()
        expressions = {variable["name"]: variable["expression"] for variable in variables}
        classes = _literal(expressions.get("classes", ""))
        images = {
            name: code
            for variable, expression in expressions.items()
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
