"""The search for the smallest upgrade: which tags are read, in which order, and what is said of them."""

import tracemalloc
from collections.abc import Mapping, Sequence

import pytest

from archfit.images.candidates import MOST_MANIFESTS, Reads, Suggestion, search
from archfit.images.platforms import parse_platform
from archfit.images.tag_list import TagList

AMD, ARM = parse_platform("amd64"), parse_platform("arm64")
MINORS = [f"1.{minor}.0" for minor in range(1, 9)]
MANY = [f"1.{minor}.0" for minor in range(1, 200)]


def searched(
    current: str,
    tags: Sequence[str],
    readings: Mapping[str, str],
    *,
    read: str = "complete",
    moved: bool = False,
    offers: Mapping[str, Sequence[str]] | None = None,
    reads: Reads | None = None,
) -> tuple[Suggestion | None, list[str]]:
    """The outcome, and the tags that were read. readings: of tags that do not lack the platforms."""
    stated = {tag: tuple(map(parse_platform, names)) for tag, names in (offers or {}).items()}
    listed = TagList(tuple(tags), read, offers=stated)
    plan = search(current, listed, (AMD, ARM), (ARM,), reads or Reads(), moved=moved)
    asked: list[str] = []
    try:
        tag = next(plan)
        while True:
            asked.append(tag)
            tag = plan.send(readings.get(tag, "lacks"))
    except StopIteration as ended:
        return ended.value, asked


def has(*tags: str) -> dict[str, str]:
    return dict.fromkeys(tags, "has")


# (id, current, tags, readings, more, the suggestion as (tag, step, exact), the tags that are read)
SEARCHES = [
    ("a patch", "1.2.3", ["1.2.3", "1.2.4"], has("1.2.4"), {}, ("1.2.4", "patch", True), ["1.2.4"]),
    ("the oldest patch", "1.2.3", ["1.2.4", "1.2.5", "1.2.6"], has("1.2.5", "1.2.6"), {}, ("1.2.5", "patch", True), ["1.2.6", "1.2.4", "1.2.5"]),
    ("a minor after a patch that lacks it", "1.2.3", ["1.2.4", "1.3.0", "1.3.1"], has("1.3.0", "1.3.1"), {}, ("1.3.0", "minor", True), ["1.2.4", "1.3.1", "1.3.0"]),
    ("a major last", "1.2.3", ["1.2.4", "2.0.0"], has("2.0.0"), {}, ("2.0.0", "major", True), ["1.2.4", "2.0.0"]),
    ("bisected", "1.0.0", MINORS, has(*MINORS[4:]), {}, ("1.5.0", "minor", True), ["1.8.0", "1.4.0", "1.6.0", "1.5.0"]),
    ("a step too long", "1.0.0", MANY, has(*MANY[150:]), {}, ("1.155.0", "minor", False), ["1.199.0", "1.99.0", "1.149.0", "1.174.0", "1.161.0", "1.155.0"]),
    ("a list in part", "1.2.3", ["1.2.4"], has("1.2.4"), {"read": "partial"}, ("1.2.4", "patch", False), ["1.2.4"]),
    ("moved", "1.2.3", ["1.2.3", "1.2.4"], has("1.2.3"), {"moved": True}, ("1.2.3", "same", True), ["1.2.3"]),
    ("not moved far enough", "1.2.3", ["1.2.3", "1.2.4"], has("1.2.4"), {"moved": True}, ("1.2.4", "patch", True), ["1.2.3", "1.2.4"]),
    ("without its architecture", "1.2.3-amd64", ["1.2.3", "1.2.3-amd64", "1.2.3-arm64", "1.2.4"], has("1.2.3"), {}, ("1.2.3", "same", True), ["1.2.3"]),
    ("a tag that does not exist", "1.2.3", ["1.2.4", "1.2.9"], {"1.2.9": "absent", "1.2.4": "has"}, {}, ("1.2.4", "patch", True), ["1.2.9", "1.2.4"]),
    ("a tag of which nobody can say", "1.2.3", ["1.2.4", "1.2.9"], {"1.2.9": "unknown", "1.2.4": "has"}, {}, ("1.2.4", "patch", False), ["1.2.9", "1.2.4"]),
    ("a lie in the middle", "1.0.0", MINORS, {**has(*MINORS[4:]), "1.4.0": "absent"}, {}, ("1.5.0", "minor", True), ["1.8.0", "1.4.0", "1.3.0", "1.6.0", "1.5.0"]),
    (
        "an unknown in the middle",
        "1.0.0",
        MINORS,
        {**has(*MINORS[4:]), "1.4.0": "unknown"},
        {},
        ("1.5.0", "minor", False),
        ["1.8.0", "1.4.0", "1.3.0", "1.6.0", "1.5.0"],
    ),
    (
        "a build for it alone says nothing of older ones",
        "1.2.3",
        ["1.2.4", "1.2.5", "1.2.6", "1.2.7", "1.2.8"],
        {"1.2.4": "has", "1.2.5": "part", "1.2.6": "has", "1.2.7": "has", "1.2.8": "has"},
        {},
        ("1.2.6", "patch", False),
        ["1.2.8", "1.2.5", "1.2.6"],
    ),
    ("a build for it alone is no upgrade", "1.2.3", ["1.2.4", "1.3.0"], {"1.2.4": "part", "1.3.0": "has"}, {}, ("1.3.0", "minor", True), ["1.2.4", "1.3.0"]),
    ("a sibling", "1.2.3", ["1.2.3-arm64", "1.2.4"], {"1.2.3-arm64": "part"}, {}, ("1.2.3-arm64", "sibling", True), ["1.2.4", "1.2.3-arm64"]),
    ("latest", "1.2.3", ["1.2.4", "latest"], has("latest"), {}, ("latest", "latest", True), ["1.2.4", "latest"]),
    ("latest lacks it", "1.2.3", ["latest"], {}, {}, None, ["latest"]),
    ("no version", "stable", ["1.2.4", "stable", "latest"], has("1.2.4"), {}, None, ["latest"]),
    ("latest itself", "latest", ["1.2.4", "latest"], has("1.2.4"), {}, None, []),
    ("no list", "1.2.3", [], has("1.2.3-arm64"), {"read": "no"}, ("1.2.3-arm64", "sibling", True), ["1.2.3-arm64"]),
    ("no list, and nothing", "1.2.3", [], {}, {"read": "no"}, None, ["1.2.3-arm64", "latest"]),
    ("an empty list", "1.2.3", [], {}, {}, None, []),
    ("no pre-release", "1.2.3", ["1.2.4-rc.1", "1.3.0-beta"], has("1.2.4-rc.1"), {}, None, []),
    ("the list repeats", "1.2.3", ["1.2.4", "1.2.4", "1.2.4"], has("1.2.4"), {}, ("1.2.4", "patch", True), ["1.2.4"]),
    (
        "the list states platforms",
        "1.0.0",
        MINORS,
        has(*MINORS[4:]),
        {"offers": {tag: ["amd64", "arm64"] if tag in MINORS[4:] else ["amd64"] for tag in MINORS}},
        ("1.5.0", "minor", True),
        ["1.5.0"],
    ),
    (
        "the list states too much",
        "1.2.3",
        ["1.2.4", "1.2.5"],
        has("1.2.5"),
        {"offers": {tag: ["amd64", "arm64"] for tag in ("1.2.4", "1.2.5")}},
        ("1.2.5", "patch", True),
        ["1.2.4", "1.2.5"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("current", "tags", "readings", "more", "suggested", "read"),
    [row[1:] for row in SEARCHES],
    ids=[row[0] for row in SEARCHES],
)
def test_what_is_read_and_suggested(current, tags, readings, more, suggested, read):
    found, asked = searched(current, tags, readings, **more)
    assert asked == read
    assert found == (Suggestion(*suggested[:2], exact=suggested[2]) if suggested else None)


@pytest.mark.parametrize("first", range(len(MANY)))
def test_at_most_six_reads_and_never_a_tag_that_was_not_read(first):
    found, asked = searched("1.0.0", MANY, has(*MANY[first:]))
    assert len(asked) <= MOST_MANIFESTS
    assert found
    assert found.tag in asked
    assert MANY.index(found.tag) >= first
    assert not found.exact or MANY.index(found.tag) == first


def test_the_images_of_a_repository_share_reads_and_budget():
    reads = Reads(3)
    first, asked = searched("1.0.0", MINORS, has("1.8.0"), reads=reads)
    assert first == Suggestion("1.8.0", "minor", exact=False)
    assert asked == ["1.8.0", "1.4.0", "1.6.0"]
    again, asked = searched("1.1.0", MINORS, has("1.8.0"), reads=reads)
    assert again == Suggestion("1.8.0", "minor", exact=False)
    assert asked == []
    assert reads.spent


def test_a_budget_that_ends_before_an_upgrade_is_said():
    reads = Reads(1)
    found, asked = searched("1.2.3", ["1.2.4", "1.3.0"], has("1.3.0"), reads=reads)
    assert (found, asked, reads.spent) == (None, ["1.2.4"], True)


@pytest.mark.load
def test_many_tags_take_memory_for_their_own_family_alone():
    other = [f"pr-{number}-1.2.{number}" for number in range(10_000)]
    own = [f"1.{number // 250}.{number % 250}" for number in range(10_000)]
    tracemalloc.start()
    found, asked = searched("1.39.240", [*own, *other], has("1.39.249"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == Suggestion("1.39.249", "patch", exact=True)
    assert asked == ["1.39.249", "1.39.244", "1.39.246", "1.39.247", "1.39.248"]
    assert peak < 6.4 * 1024 * 1024
