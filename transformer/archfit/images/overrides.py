"""Overrides: the platforms of images whose metadata is wrong or cannot be read.

    registry.local/legacy/*           matched against host/repository, in normalised spelling
    registry.local/legacy/app:1.*     the last segment has a colon: matched against host/repository:tag
    docker.io/library/app@sha256:...  it has an "@": matched against host/repository@digest

`*`, `?` and `[..]` are those of fnmatch; `*` also crosses "/". A bracketed IPv6 host at the start stands for
itself. Of several patterns that match, one without wildcards wins, then the one with the most literal characters;
two that are equally specific and name different platforms are an error.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache

from archfit.base.errors import UsageError
from archfit.base.row_finder import RowFinder
from archfit.images.platforms import Found, ImagePlatforms
from archfit.images.reference import HUB, Reference, host_and_rest
from archfit.images.reference_grammar import IPV6

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# `re` is loaded for a run that has an override: options and usual patterns are read without it.
_WILDCARD = r"\[[^\]]*\]?|[*?]"
_MOST_PATTERNS = 32768
"""As `fnmatch` keeps: a file with more would compile each for each image."""


def override(reference: Reference, rows: tuple[ImagePlatforms, ...]) -> Found | None:
    """The platforms that the most specific matching row states, None if no row matches.

    Raises UsageError when two rows match equally well and disagree.
    """
    meaning = [rows[number] for number in OVERRIDES.meaning(rows, reference)]
    ranked = [(specificity(row.pattern), row) for row in meaning]
    if not ranked:
        return None
    best = max(rank for rank, _ in ranked)
    first, *others = (row for rank, row in ranked if rank == best)
    for row in others:
        if row.platforms != first.platforms and set(row.platforms) != set(first.platforms):
            raise UsageError(
                f"the image platforms {first.pattern!r} and {row.pattern!r} match {reference} equally well "
                "and differ: make one of them more specific"
            )
    return Found(tuple(sorted(set(first.platforms), key=str)), origin="override")


def matches(pattern: str, reference: Reference) -> bool:
    """Whether the pattern is about the image."""
    if "@" in pattern:
        subject = f"{reference.name}@{reference.digest}" if reference.digest else ""
    elif ":" in pattern.rpartition("/")[2]:
        subject = f"{reference.name}:{reference.tag}" if reference.tag else ""
    else:
        subject = reference.name
    return bool(subject) and (pattern == subject or _matcher(pattern)(subject) is not None)


@lru_cache(_MOST_PATTERNS)
def _matcher(pattern: str) -> Callable[[str], re.Match[str] | None]:
    host, rest = split_host(pattern)
    return re.compile(re.escape(host) + translate(rest)).match


@lru_cache(_MOST_PATTERNS)
def specificity(pattern: str) -> tuple[bool, int]:
    """Of several patterns that match, the one with the highest rank counts."""
    host, rest = split_host(pattern)
    literal = re.sub(_WILDCARD, "", rest)
    return literal == rest, len(host) + len(literal)


def _subjects(reference: Reference) -> tuple[str, str, str]:
    name = reference.name
    return name, f"{name}:{reference.tag}", f"{name}@{reference.digest}"


OVERRIDES = RowFinder(
    lambda row: [[[row.pattern]] if specificity(row.pattern)[0] else []],
    _subjects,
    lambda reference, row: matches(row.pattern, reference),
)


def with_host(pattern: str) -> str:
    """The pattern with the host that Docker adds to a name: `nginx:1.*` as `docker.io/library/nginx:1.*`.

    A pattern stays as it is where a wildcard may stand for that.
    """
    if re.search(_WILDCARD, _name(pattern.partition("/")[0])):
        return pattern
    host, rest = host_and_rest(pattern)
    if host != HUB:
        return pattern
    single = "/" not in rest and not re.search(_WILDCARD, _name(rest))
    return f"{HUB}/library/{rest}" if single else f"{HUB}/{rest}"


def _name(text: str) -> str:
    """What stands before a tag or digest."""
    return text.partition("@")[0].partition(":")[0]


def split_host(pattern: str) -> tuple[str, str]:
    """(a bracketed IPv6 host, which stands for itself; the glob after it)."""
    if not pattern.startswith("["):
        return "", pattern
    host = re.match(IPV6, pattern)
    return (host[0], pattern[host.end() :]) if host else ("", pattern)
