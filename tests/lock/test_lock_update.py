"""What `archfit lock` asks anew, what the file holds then, and what is said about it."""

from __future__ import annotations

import pytest

from archfit.base.errors import UsageError
from archfit.images.platforms import Found, Platform
from archfit.lock.update import Change, changes, chosen, merged

AMD64, ARM64, S390X = (Platform("linux", name) for name in ("amd64", "arm64", "s390x"))
PIN = f"quay.io/team/app@sha256:{'c' * 64}"
NGINX, REDIS, APP = "docker.io/library/nginx:1", "docker.io/library/redis:7", "quay.io/team/app:1"
NEEDED = [REDIS, NGINX, PIN, APP]


def found(letter: str, *platforms: Platform) -> Found:
    return Found(platforms or (AMD64,), f"sha256:{letter * 64}", origin="lock")


HELD = {NGINX: found("a"), PIN: found("c"), "docker.io/library/gone:1": found("d")}


@pytest.mark.parametrize(
    ("globs", "add", "asked"),
    [
        pytest.param([], False, list(NEEDED), id="no flag: all, pinned ones too"),
        pytest.param(["*"], False, list(NEEDED), id="--update: the same"),
        pytest.param(["*"], True, list(NEEDED), id="--update --add-missing: the same"),
        pytest.param([], True, [REDIS, APP], id="--add-missing: what is not held"),
        pytest.param(["docker.io/*"], False, [REDIS, NGINX], id="--update GLOB: what matches, held or not"),
        pytest.param(["docker.io/library/nginx:*"], True, [REDIS, NGINX, APP], id="--update GLOB --add-missing: both"),
        pytest.param(["*/nginx:1", "quay.io/*:1"], False, [NGINX, APP], id="two globs"),
        pytest.param(["*@*"], False, [PIN], id="a glob that matches a digest asks for it"),
        pytest.param(["*/[nr]*"], False, [REDIS, NGINX], id="brackets"),
    ],
)  # fmt: skip
def test_what_is_asked(globs: list[str], add: bool, asked: list[str]) -> None:
    assert chosen(NEEDED, HELD, globs, add=add) == asked


@pytest.mark.parametrize(
    ("held", "globs", "add"),
    [
        pytest.param(dict.fromkeys(NEEDED, found("a")), [], True, id="--add-missing, and nothing is missing"),
        pytest.param({PIN: found("c")}, [], True, id="--add-missing, and only a digest is needed"),
    ],
)
def test_where_nothing_is_left_to_ask_nothing_is_asked(
    held: dict[str, Found], globs: list[str], add: bool
) -> None:
    assert chosen(held, held, globs, add=add) == []


@pytest.mark.parametrize("glob", ["nginx*", "docker.io/library/gone:1", "x.yaml", ""])
def test_a_glob_that_matches_nothing_is_wrong_usage(glob: str) -> None:
    """Also one that matches only entries that these manifests do not need."""
    with pytest.raises(UsageError) as caught:
        chosen(NEEDED, HELD, ["docker.io/*", glob], add=False)
    assert str(caught.value) == (
        f"--update: {glob!r} matches no image of the manifests: write it for whole references, as in "
        "'docker.io/library/*:1.*'"
    )


def test_entries_of_other_images_stay() -> None:
    fresh = {NGINX: found("b")}
    assert merged(HELD, fresh, NEEDED, prune=False) == HELD | fresh


def test_pruned_it_holds_what_is_needed_and_no_more() -> None:
    fresh = {NGINX: found("b")}
    assert merged(HELD, fresh, NEEDED, prune=True) == {NGINX: found("b"), PIN: found("c")}


@pytest.mark.parametrize(
    ("before", "after", "verb", "gained", "lost"),
    [
        pytest.param(None, found("a", AMD64, ARM64), "added", ["linux/amd64", "linux/arm64"], [], id="added"),
        pytest.param(found("a"), None, "dropped", [], ["linux/amd64"], id="dropped"),
        pytest.param(found("a"), found("b"), "moved", [], [], id="moved, same platforms"),
        pytest.param(found("a", AMD64), found("b", AMD64, ARM64), "moved", ["linux/arm64"], [], id="gained"),
        pytest.param(found("a", AMD64, ARM64), found("b", AMD64), "moved", [], ["linux/arm64"], id="lost"),
        pytest.param(
            found("a", AMD64, ARM64), found("b", AMD64, S390X), "moved", ["linux/s390x"], ["linux/arm64"], id="both"
        ),
        pytest.param(
            found("a"), found("a").replace(index=False), "corrected", [], [], id="the same digest, read otherwise"
        ),
    ],
)  # fmt: skip
def test_a_change_says_what_it_is(
    before: Found | None, after: Found | None, verb: str, gained: list[str], lost: list[str]
) -> None:
    change = Change(NGINX, before, after)
    assert (change.verb, change.gained, change.lost) == (verb, gained, lost)
    assert change.as_json() == {
        "reference": NGINX,
        "change": verb,
        "from": before.digest if before else None,
        "to": after.digest if after else None,
        "gained": gained,
        "lost": lost,
    }


def test_changes_are_sorted_and_leave_out_what_stayed() -> None:
    after = {APP: found("e"), NGINX: found("b"), PIN: found("c")}
    assert [(change.verb, change.reference) for change in changes(HELD, after)] == [
        ("dropped", "docker.io/library/gone:1"),
        ("moved", NGINX),
        ("added", APP),
    ]
    assert changes(HELD, dict(reversed(HELD.items()))) == []
