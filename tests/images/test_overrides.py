"""Overrides: which row answers for an image."""

import pytest

from archfit.base.errors import UsageError
from archfit.images.overrides import override
from archfit.images.platforms import Found, ImagePlatforms, Platform
from archfit.images.reference import parse

AMD64, ARM64 = Platform("linux", "amd64"), Platform("linux", "arm64")
PIN = "sha256:" + "a" * 64


def row(pattern: str, *platforms: Platform) -> ImagePlatforms:
    return ImagePlatforms(pattern, platforms or (AMD64,))


@pytest.mark.parametrize(
    ("pattern", "image", "matches"),
    [
        pytest.param("docker.io/library/nginx", "nginx", True, id="exact-name-any-tag"),
        pytest.param("nginx", "nginx", False, id="patterns-are-not-normalised"),
        pytest.param("docker.io/library/nginx", f"nginx@{PIN}", True, id="exact-name-any-digest"),
        pytest.param("docker.io/library/*", "nginx:1", True, id="star"),
        pytest.param("registry.local/legacy/*", "registry.local/legacy/a/b:1", True, id="star-crosses-slashes"),
        pytest.param("registry.local/legacy/*", "registry.local/legacyx/a", False, id="slash-is-literal"),
        pytest.param("*/app", "example.com/team/app", True, id="star-for-host"),
        pytest.param("example.com/ap?", "example.com/app", True, id="question-mark"),
        pytest.param("example.com/[ab]pp", "example.com/app", True, id="set"),
        pytest.param("example.com/[!a]pp", "example.com/app", False, id="negated-set"),
        pytest.param("example.com/app:1.*", "example.com/app:1.2", True, id="tag-glob"),
        pytest.param("example.com/app:1.*", "example.com/app:2.0", False, id="other-tag"),
        pytest.param("example.com/app:1.2", f"example.com/app:1.2@{PIN}", False, id="tag-pattern-digest-pin"),
        pytest.param(f"example.com/app@{PIN}", f"example.com/app:1@{PIN}", True, id="digest"),
        pytest.param("example.com/app@sha256:b*", f"example.com/app@{PIN}", False, id="other-digest"),
        pytest.param("localhost:5000/*", "localhost:5000/app:1", True, id="a-port-is-no-tag"),
        pytest.param("[::1]:5000/*", "[::1]:5000/app", True, id="ipv6-host-is-no-set"),
        pytest.param("[::1]:5000/app", "[::1]:5000/app", True, id="ipv6-exact"),
        pytest.param("EXAMPLE.com/app", "example.com/app", False, id="case-matters"),
    ],
)  # fmt: skip
def test_what_a_pattern_matches(pattern, image, matches):
    assert (override(parse(image), (row(pattern),)) is not None) is matches


def test_the_answer_is_sorted_unique_and_says_its_origin():
    found = override(parse("nginx"), (row("docker.io/*", ARM64, AMD64, ARM64),))
    assert found == Found((AMD64, ARM64), origin="override")


@pytest.mark.parametrize(
    ("patterns", "winner"),
    [
        pytest.param(("*", "docker.io/*"), 1, id="more-literal-characters"),
        pytest.param(("docker.io/library/*", "docker.io/*"), 0, id="order-does-not-matter"),
        pytest.param(("docker.io/library/nginx*", "docker.io/library/nginx"), 1, id="exact-beats-glob"),
        pytest.param(("docker.io/library/nginx", "docker.io/library/ngin[x]:1.27-long-*"), 0, id="exact-beats-longer-glob"),
        pytest.param(("docker.io/library/nginx:1.27-long-tag", "docker.io/library/nginx"), 0, id="exact-with-tag-beats-exact"),
    ],
)  # fmt: skip
def test_the_most_specific_pattern_wins(patterns, winner):
    platforms = [Platform("linux", f"arch{number}") for number in range(2)]
    rows = tuple(row(pattern, platform) for pattern, platform in zip(patterns, platforms, strict=True))
    found = override(parse("nginx:1.27-long-tag"), rows)
    assert found is not None
    assert found.platforms == (platforms[winner],)


def test_a_tie_of_different_platforms_is_an_error_that_names_both():
    with pytest.raises(UsageError) as caught:
        override(parse("a.io/b"), (row("a.io/?", AMD64), row("a.i?/b", ARM64)))
    assert "'a.io/?'" in str(caught.value)
    assert "'a.i?/b'" in str(caught.value)


def test_a_tie_of_equal_platforms_is_none():
    found = override(parse("a.io/b"), (row("a.io/?", AMD64, ARM64), row("a.i?/b", ARM64, AMD64)))
    assert found == Found((AMD64, ARM64), origin="override")


def test_a_tie_below_the_winner_is_no_error():
    rows = (row("a.io/?", AMD64), row("a.i?/b", ARM64), row("a.io/b", AMD64))
    assert override(parse("a.io/b"), rows) == Found((AMD64,), origin="override")


def test_no_row_no_answer():
    assert override(parse("nginx"), ()) is None
