"""Tags that are versions: which of them are of one family, and which step leads from one to another.

    tag       [release-]v1.24.3-rc.1-alpine3.18
              ^^^^^^^^^^              a prefix, the same in the whole family
                        ^^^^^^        one to four numbers, or a date: 20240115, 2024-01-15, 2024-01-11T07-46-16Z
                              ^^^^^   a pre-release: alpha, beta, rc, cr, pre, preview, ea; a1, b2, m3
                                   ^^ a suffix; its own numbers and commits are taken out of what names the family

    family    prefix, count of numbers, calendar or not, suffix without its numbers
              1.24.3-alpine3.18 and 1.25.0-alpine3.19; not 1.24.3, 1.24, v1.24.3, 1.24.3-alpine, 2024.1.0

    step      patch   the first two numbers are the same: a later number, or a later suffix (-r20 to -r21)
              minor   the first number is the same
              major   it is not; a year counts as a number, because a date says nothing of what has changed

    no step   back; to a pre-release from a release; to an older base (-alpine3.18 to -alpine3.17). Only the first and
              the last number of a suffix may begin anew, where they count builds: -debian-11-r20 to -debian-11-r2,
              -eks-1-28-11 to -eks-1-29-2, 9.3-1361 to 9.4-12, 17.0.9_9-jre to 17.0.10_7-jre

The count of numbers matters because 1.24 is a tag that moves, and 1.24.3 is not. Source: what Renovate calls docker
versioning, and the tags of Bitnami, EKS, Red Hat, MinIO and Docker's official images.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from archfit.startup.record import Record

Step: TypeAlias = Literal["same", "patch", "minor", "major", "sibling", "latest"]

_TAG = re.compile(
    r"((?:release[-.])?v?)(\d{4}-\d\d-\d\d(?:T\d\d-\d\d-\d\dZ)?|\d+(?:\.\d+){0,3})(.*)",
    re.ASCII | re.IGNORECASE,
).fullmatch
_DATE = re.compile(r"((?:19|20)\d\d)(0[1-9]|1[0-2])([0-3]\d)", re.ASCII).fullmatch
_PRE_RELEASE = re.compile(
    r"[-._]?(?:(alpha|beta|preview|pre|ea|rc|cr)|(a|b|m)(?=\d))[-._]?(\d+(?:\.\d+)*)?(?![A-Za-z0-9])",
    re.ASCII | re.IGNORECASE,
).match
_RANKS = {"m": 0, "ea": 0, "pre": 0, "preview": 0, "alpha": 1, "a": 1, "beta": 2, "b": 2, "rc": 3, "cr": 3}
_COMMIT = re.compile(r"(?<=[-._])g?(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![0-9A-Za-z])", re.ASCII)
_NUMBERS = re.compile(r"\d+(?:\.\d+)*", re.ASCII)
_COUNTS_BUILDS = re.compile(r"[-._]?(?:r|rev|ls|p|[a-z]*build)?[-._]?", re.ASCII | re.IGNORECASE).fullmatch
_FIRST_YEAR, _LAST_YEAR = 1990, 2099


class Version(Record):
    """One tag that is a version; see the module.

    family: what has to be the same. pre_release: (rank of its word, its numbers), () for a release. suffix: the numbers
    of each of its groups, as ((3, 18),). anew: the indices of the groups that count builds.
    """

    tag: str
    family: tuple[object, ...]
    numbers: tuple[int, ...]
    pre_release: tuple[int, ...]
    suffix: tuple[tuple[int, ...], ...]
    anew: tuple[int, ...]

    @property
    def order(self) -> tuple[Any, ...]:
        """Sorts the versions of a family; the tag itself only makes the order certain."""
        return (self.numbers, not self.pre_release, self.pre_release, self.suffix, self.tag)


def version(tag: str) -> Version | None:
    """The tag as a version, None where it is none."""
    parts = _TAG(tag)
    if parts is None:
        return None
    prefix, written, rest = parts.groups()
    numbers, calendar = _numbers(written)
    pre = _PRE_RELEASE(rest)
    pre_release: tuple[int, ...] = ()
    if pre:
        word = (pre[1] or pre[2]).lower()
        pre_release = (_RANKS[word], *map(int, (pre[3] or "0").split(".")))
        rest = rest[pre.end() :]
    rest = _COMMIT.sub("*", rest)
    between = _NUMBERS.split(rest)
    groups = tuple(tuple(map(int, group.split("."))) for group in _NUMBERS.findall(rest))
    ends = (0, len(groups) - 1) if groups else ()
    anew = tuple(index for index in ends if _COUNTS_BUILDS(between[index]))
    return Version(tag, (prefix, len(numbers), calendar, tuple(between)), numbers, pre_release, groups, anew)


def begins(tag: str) -> str:
    """How the tags of the same minor version begin, as `v1.24.` of `v1.24.3-alpine`; "" where no number has a dot."""
    parts = _TAG(without_architecture(tag))
    return f"{parts[1]}{parts[2].rpartition('.')[0]}." if parts and "." in parts[2] else ""


def families(tags: Iterable[str]) -> dict[tuple[object, ...], list[Version]]:
    """Those of the tags that are versions, by family, each sorted."""
    by_family: dict[tuple[object, ...], list[Version]] = {}
    for named in filter(None, map(version, dict.fromkeys(tags))):
        by_family.setdefault(named.family, []).append(named)
    for members in by_family.values():
        members.sort(key=lambda member: member.order)
    return by_family


def _numbers(written: str) -> tuple[tuple[int, ...], str]:
    """The numbers, and how a calendar version is written, "" for any other."""
    if "-" in written:
        return tuple(map(int, _NUMBERS.findall(written))), "time" if "T" in written else "date"
    date = _DATE(written)
    if date:
        return tuple(map(int, date.groups())), "day"
    numbers = tuple(map(int, written.split(".")))
    return numbers, "year" if _FIRST_YEAR <= numbers[0] <= _LAST_YEAR else ""


def step_between(current: Version, other: Version) -> Step | None:
    """The step that leads to a later version of the same family, None where there is none."""
    if other.family != current.family or (other.pre_release and not current.pre_release):
        return None
    if other.order[:-1] <= current.order[:-1]:
        return None
    for index, (now, then) in enumerate(zip(current.suffix, other.suffix, strict=True)):
        if then < now and index not in current.anew:
            return None
    if other.numbers[0] != current.numbers[0]:
        return "major"
    return "patch" if other.numbers[1:2] == current.numbers[1:2] else "minor"


_NAMES: Mapping[str, tuple[str, ...]] = {
    "arm64": ("arm64", "arm64v8", "aarch64"),
    "amd64": ("amd64", "x86_64", "x64"),
    "arm": ("arm", "arm32v7", "armv7", "armhf"),
}
_EVERY = ("multiarch", "multi-arch")
_SPELLINGS = (*(name for names in _NAMES.values() for name in names), "ppc64le", "s390x", "riscv64")
_ONE = "|".join(sorted(_SPELLINGS, key=len, reverse=True))
_FIRST = re.compile(rf"(?:linux-)?(?:{_ONE})-(.+)", re.ASCII).fullmatch
_LAST = re.compile(rf"(.+?)[-_.](?:linux[-_])?(?:{_ONE})", re.ASCII).fullmatch


def without_architecture(tag: str) -> str:
    """`1.2.3` of `1.2.3-amd64` and `amd64-1.2.3`; the tag itself where it names no architecture."""
    named = _FIRST(tag) or _LAST(tag)
    return named[1] if named else tag


def siblings(tag: str, architectures: Sequence[str]) -> list[str]:
    """Tags by which publishers name the builds for one architecture beside `tag`, the commonest first."""
    tag = without_architecture(tag)
    names = [name for architecture in architectures for name in _NAMES.get(architecture, (architecture,))]
    return [
        *(f"{tag}-{name}" for name in names),
        *(f"{tag}-linux-{name}" for name in names),
        *(f"{name}-{tag}" for name in names),
        *(f"{tag}-{every}" for every in _EVERY),
    ]
