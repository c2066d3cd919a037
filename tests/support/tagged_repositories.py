"""Repositories in the shapes of real ones: lists of tags, and the first that has arm64 in each branch.

Shape("app", "1.24.3", tags, arm)     `arm`: the tags that have arm64; every tag has amd64
shapes()                              60 of them, always the same
serve(fake, shape)                    as one answer, or in pages
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from fake_registry import Answer, Asked, FakeRegistry, as_json

BOTH = ["linux/amd64", "linux/arm64"]


@dataclass(frozen=True)
class Shape:
    """smallest: the tag that is right, "" where no tag of the family has arm64. listed: False refuses the list."""

    name: str
    current: str
    tags: tuple[str, ...]
    arm: frozenset[str]
    smallest: str
    page: int = 0
    listed: bool = True


def _shape(
    name: str, current: str, family: Sequence[str], first: str, others: Sequence[str], page: int
) -> Shape:
    """family: the later versions, oldest first; from `first` on they have arm64."""
    arm = frozenset(family[family.index(first) :] if first else ())
    return Shape(name, current, (*others, current, *family), arm, first, page)


def shapes() -> list[Shape]:
    drawn = random.Random(25)
    made = []
    for number in range(60):
        suffix = ["", "", "-alpine", "-debian-11-r{r}", "-eks-1-28-{r}", "-alpine3.18"][number % 6]
        prefix = "v" if number % 5 == 0 else ""
        minors = drawn.choice([2, 4, 6, 12])
        patches = drawn.choice([1, 2, 3])

        def tag(major: int, minor: int, patch: int, suffix: str = suffix, prefix: str = prefix) -> str:
            return f"{prefix}{major}.{minor}.{patch}{suffix.format(r=patch + 1)}"

        family = [tag(1, minor, patch) for minor in range(minors) for patch in range(patches + 1)]
        family += [tag(2, 0, patch) for patch in range(patches)]
        start = drawn.randrange(max(1, len(family) // 3))
        current, later = family[start], family[start + 1 :]
        first = "" if number % 10 == 9 else drawn.choice(later)
        others = ["latest", "main", "sha-5f3c2a1", *(f"{one}-rc.1" for one in later[:3]), "2023.1.0", "0.0.1"]
        made.append(_shape(f"team/app-{number}", current, later, first, others, [0, 100, 50][number % 3]))
    return made


def serve(fake: FakeRegistry, shape: Shape) -> None:
    """Put the repository's manifests and its list into a registry."""
    for tag in shape.tags:
        fake.index(shape.name, tag, BOTH if tag in shape.arm else BOTH[:1])
    if not shape.listed:
        return
    if not shape.page:
        fake.tags(shape.name, *shape.tags)
        return

    def script(asked: Asked) -> Answer | None:
        if asked.kind != "list" or asked.repository != shape.name:
            return None
        last = asked.query.get("last", [""])[0]
        start = shape.tags.index(last) + 1 if last in shape.tags else 0
        size = int(asked.query.get("n", [str(shape.page)])[0])
        some = shape.tags[start : start + size]
        more = start + size < len(shape.tags)
        link = {"Link": f'</v2/{shape.name}/tags/list?last={some[-1]}&n={size}>; rel="next"'} if more else {}
        return Answer(body=as_json({"name": shape.name, "tags": list(some)}), headers=link)

    fake.on(script)
