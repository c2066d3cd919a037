"""The smallest upgrade of an image that has an architecture: which tags are read for it, and in which order.

    1  same      the tag itself, where it may have moved; the same version without an architecture in its name
    2  patch     }  of its family (`tags`): the newest; where that has it, the oldest that has it
    3  minor     }
    4  major     }
    5  sibling   TAG-arm64 and the like, of the list; only what the image lacks is asked of it
    6  latest    last

    has       all the wanted platforms        part     what the image lacks, but not all that is wanted
    lacks     it is there without them        absent   the list named a tag that does not exist: it no longer counts
    unknown   nobody could say: it no longer counts, and nothing that follows is the smallest for certain

A build for an architecture is seldom taken back, so each step is bisected. At most six tags of a repository are read,
whatever the cache knows, so that the answer does not depend on it. Where they do not suffice, or the list was not read
to its end, the suggestion is an upper bound, not `exact`.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Literal, TypeAlias

from archfit.base.record_json import record_value
from archfit.images.platforms import Platform
from archfit.images.tag_list import Read, TagList
from archfit.images.tags import (
    Step,
    Version,
    families,
    siblings,
    step_between,
    version,
    without_architecture,
)
from archfit.startup.record import Record

Reading: TypeAlias = Literal["has", "part", "lacks", "absent", "unknown", "unread"]
Search: TypeAlias = "Generator[str, Reading, Suggestion | None]"

MOST_MANIFESTS = 6
_LATEST = "latest"


class Suggestion(Record):
    """A tag that was read and has the platforms. exact: every smaller step was ruled out."""

    tag: str
    step: Step
    exact: bool


class NewerTag(Record):
    """A suggestion and what was read of it. platforms: sorted, as `linux/arm64`."""

    tag: str
    digest: str
    step: Step
    platforms: tuple[str, ...]
    exact: bool = True

    @property
    def ready(self) -> bool:
        """It can take the image's place as it is: a sibling for one architecture alone cannot."""
        return self.step != "sibling" or len({platform.split("/")[1] for platform in self.platforms}) > 1

    @property
    def replaces(self) -> bool:
        """It is a version that can take the image's place: neither a sibling nor `latest`."""
        return self.ready and self.step not in {"sibling", "latest"}

    @property
    def advice(self) -> str:
        """What to do, as in `use 1.24.3 (minor)`."""
        if not self.ready:
            return f"join {self.tag} (single-architecture sibling) into an index: docker buildx imagetools create"
        if self.step == "same":
            return f"use {self.tag} as it is now (same)"
        return f"use {self.tag} ({self.step})" + ("" if self.exact else " at most; older ones were not read")


class NewerTags(Record):
    """The outcome for one image. tags: none or one. read: of the list of tags. why: what was not read, or "".

    searched: False where the budget allowed no question.
    """

    tags: tuple[NewerTag, ...] = ()
    read: Read = "no"
    why: str = ""
    searched: bool = True

    @property
    def advice(self) -> str:
        """What to do; else that nothing was found, and where it was not looked for."""
        if self.tags:
            return self.tags[0].advice
        if self.read == "complete":
            return "no newer tag has it"
        nothing = "no newer tag is known" if self.read == "no" else "none of the tags that were read has it"
        return f"{nothing}: {self.why}" if self.why else nothing

    @property
    def members(self) -> dict[str, object]:
        """The keys of it in JSON reports."""
        why = {"newerWhy": self.why} if self.why else {}
        return {"newer": record_value(self.tags), "newerRead": self.read, **why}


class Reads:
    """The reads of one repository, which its images share: what is known of one narrows the search of the next."""

    def __init__(self, most: int = MOST_MANIFESTS) -> None:
        self._left = most
        self.known: dict[str, Reading] = {}
        self.spent = False
        """A tag was wanted that could not be read any more."""
        self._families: dict[tuple[object, ...], list[Version]] | None = None

    def family(self, now: Version, listed: TagList) -> list[Version]:
        """The versions of the repository that may follow `now`, oldest first; its tags are read as versions once."""
        if self._families is None:
            self._families = families(listed.tags)
        some = self._families.get(now.family, [])
        return some[bisect(some, now.order, key=lambda later: later.order) :]

    def read(self, tag: str) -> Generator[str, Reading, Reading]:
        """What is known of the tag; "unread" where no more may be read."""
        if tag not in self.known:
            if not self._left:
                self.spent = True
                return "unread"
            self._left -= 1
            self.known[tag] = yield tag
        return self.known[tag]


def search(
    current: str,
    listed: TagList,
    wanted: Sequence[Platform],
    missing: Sequence[Platform],
    reads: Reads,
    *,
    moved: bool,
) -> Search:
    """The smallest upgrade of one image, None where there is none among what was read.

    Yields each tag that is to be read, and is sent its reading. wanted: every platform that it has to have. missing:
    those of them that the image lacks. moved: the tag itself may name another image by now.
    """
    tags = frozenset(listed.tags)

    def hint(tag: str) -> bool | None:
        """Whether the list itself says that a tag has the platforms; None where it does not say."""
        stated = listed.offers.get(tag)
        return None if stated is None else offers(stated, wanted)

    same = [current] if moved else []
    bare = without_architecture(current)
    same += [bare] if bare != current and (bare in tags or listed.read == "no") else []
    exact = True
    for tag in same:
        reading = yield from reads.read(tag)
        if reading == "has":
            return Suggestion(tag, "same", exact=True)
        exact = exact and reading != "unknown"
    now = version(bare)
    for step, steps in _steps(now, reads.family(now, listed)) if now else ():
        oldest, certain = yield from _oldest([tag for tag in steps if hint(tag) is not False], hint, reads)
        exact = exact and certain
        if oldest:
            return Suggestion(oldest, step, exact=exact and listed.read == "complete")
    architectures = list(dict.fromkeys(platform.architecture for platform in missing))
    names = siblings(current, architectures)
    for tag in names[:1] if listed.read == "no" else [name for name in names if name in tags]:
        if tag != current and (yield from reads.read(tag)) in {"has", "part"}:
            return Suggestion(tag, "sibling", exact=True)
    latest = current != _LATEST and (_LATEST in tags or listed.read == "no")
    if latest and (yield from reads.read(_LATEST)) == "has":
        return Suggestion(_LATEST, "latest", exact=True)
    return None


def _steps(now: Version, later: Iterable[Version]) -> list[tuple[Step, list[str]]]:
    by_step: dict[Step, list[str]] = {"patch": [], "minor": [], "major": []}
    for other in later:
        step = step_between(now, other)
        if step:
            by_step[step].append(other.tag)
    return list(by_step.items())


def _oldest(
    tags: list[str], hint: Callable[[str], bool | None], reads: Reads
) -> Generator[str, Reading, tuple[str, bool]]:
    """The oldest of a step's tags that has the platforms, "" for none, and whether nothing stands against that.

    tags: oldest first.
    """
    exact = True
    if tags and hint(tags[0]):
        reading = yield from reads.read(tags[0])
        if reading == "has":
            return tags[0], True
        tags, exact = tags[1:], reading != "unknown"
    while tags:
        reading = yield from reads.read(tags[-1])
        if reading == "has":
            break
        if reading not in {"absent", "unknown"}:
            only = reading == "part" and len(tags) == 1
            return "", exact and (reading == "lacks" or only)
        tags, exact = tags[:-1], exact and reading == "absent"
    if not tags:
        return "", exact
    high = next(index for index, tag in enumerate(tags) if reads.known.get(tag) == "has")
    low = max(
        (index for index in range(high) if reads.known.get(tags[index]) in {"lacks", "part"}), default=-1
    )
    while high - low > 1:
        middle = (low + high) // 2
        reading = yield from reads.read(tags[middle])
        match reading:
            case "has":
                high = middle
            case "lacks":
                low = middle
            case "part":  # a build of another kind than its neighbours: older ones may have all
                low, exact = middle, False
            case "unread":
                return tags[high], False
            case _:
                tags = tags[:middle] + tags[middle + 1 :]
                high -= 1
                exact = exact and reading == "absent"
    return tags[high], exact


def offers(platforms: Iterable[Platform], wanted: Iterable[Platform]) -> bool:
    """A baseline node of each wanted platform finds a build; any variant of arm counts for arm."""
    built = {(platform.os, platform.architecture) for platform in platforms if platform.is_baseline}
    return all((platform.os, platform.architecture) in built for platform in wanted)
