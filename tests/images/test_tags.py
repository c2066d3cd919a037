"""Tags as versions: their families, and the step from one to another."""

import pytest

from archfit.images.tags import siblings, step_between, version, without_architecture

# (current, other, the step; None where there is none)
STEPS = [
    ("1.24.3", "1.24.4", "patch"),
    ("1.24.3", "1.25.0", "minor"),
    ("1.24.3", "2.0.0", "major"),
    ("1.9.3", "1.10.0", "minor"),
    ("v1.24.3", "v1.24.10", "patch"),
    ("v1.24.3", "1.24.4", None),
    ("1.24.3", "1.24.3", None),
    ("1.24.3", "1.24.2", None),
    ("1.24.3", "1.24", None),
    ("1.24", "1.25", "minor"),
    ("1.24", "1.25.1", None),
    ("8", "9", "major"),
    ("1.2.3.4", "1.2.3.5", "patch"),
    ("1.2.3.4", "1.2.4.0", "patch"),
    ("release-1.24", "release-1.25", "minor"),
    ("1.24.3-alpine", "1.24.4-alpine", "patch"),
    ("1.24.3-alpine", "1.24.4", None),
    ("1.24.3", "1.24.4-alpine", None),
    ("1.24.3-alpine", "1.24.4-alpine3.18", None),
    ("1.24.3-alpine3.18", "1.24.3-alpine3.19", "patch"),
    ("1.24.3-alpine3.18", "1.25.0-alpine3.19", "minor"),
    ("1.24.3-alpine3.18", "1.25.0-alpine3.17", None),
    ("1.24.3-alpine3.9", "1.25.0-alpine3.10", "minor"),
    ("3.11-slim-bookworm", "3.12-slim-bookworm", "minor"),
    ("3.11-slim-bookworm", "3.12-slim-trixie", None),
    ("0.6.2-debian-11-r20", "0.6.2-debian-11-r21", "patch"),
    ("0.6.2-debian-11-r20", "0.6.3-debian-11-r2", "patch"),
    ("0.6.2-debian-11-r20", "0.7.0-debian-12-r0", "minor"),
    ("0.6.2-debian-11-r20", "0.6.3-debian-10-r99", None),
    ("v1.10.1-eks-1-28-11", "v1.10.1-eks-1-28-12", "patch"),
    ("v1.10.1-eks-1-28-11", "v1.11.0-eks-1-29-2", "minor"),
    ("v1.10.1-eks-1-28-11", "v1.11.0-eks-1-27-20", None),
    ("v1.10.1-eksbuild.2", "v1.11.1-eksbuild.1", "minor"),
    ("9.3-1361.1699548032", "9.4-12.1700000000", "minor"),
    ("17.0.9_9-jre-alpine", "17.0.10_7-jre-alpine", "patch"),
    ("1.27.0-rc.1", "1.27.0-rc.2", "patch"),
    ("1.27.0-rc.1", "1.27.0", "patch"),
    ("1.27.0-rc.1", "1.28.0-beta1", "minor"),
    ("1.27.0", "1.27.1-rc.1", None),
    ("1.27.0", "1.28.0-beta", None),
    ("1.27.0-beta2", "1.27.0-alpha3", None),
    ("3.13.0a1-slim", "3.13.0b2-slim", "patch"),
    ("3.13.0b2-slim", "3.13.0-slim", "patch"),
    ("17-ea-jdk", "17-jdk", "patch"),
    ("1.2.3-dev", "1.2.4-dev", "patch"),
    ("1.2.3-dev", "1.2.4", None),
    ("20231231", "20240115", "major"),
    ("2023-12-31", "2024-01-15", "major"),
    ("2024-01-15", "2024-02-01", "minor"),
    ("2023.12.1", "2024.1.0", "major"),
    ("1.24.3", "2024.1.0", None),
    ("1", "20240115", None),
    ("RELEASE.2024-01-11T07-46-16Z", "RELEASE.2024-01-13T03-00-00Z", "patch"),
    ("v20231011-8b53cabe0", "v20231226-1a7112e06", "minor"),
    ("1.2.3-gabc1234", "1.2.4-gdef5678", "patch"),
    ("1.2.3-amd64", "1.2.4-arm64", None),
    ("1.2.0", "5f3c2a1", None),
    ("1.2.0", "1", None),
    ("1.2.0", "1..2", None),
    ("1.2.0", "2024", None),
    ("1.2.0", "1.2.0.", None),
    ("1.2.0", "1.2.0-", None),
]


@pytest.mark.parametrize(("current", "other", "step"), STEPS, ids=[f"{row[0]} to {row[1]}" for row in STEPS])
def test_the_step_between_two_tags(current, other, step):
    now, then = version(current), version(other)
    assert now
    assert then
    assert step_between(now, then) == step


@pytest.mark.parametrize(
    "tag",
    [
        "latest", "stable", "main", "sha256-1a2b", "edge-1.2", "v", "-1", "x1.2.3", "sha-5f3c2a1", "",
        "nightly", "pr-17", "_", "x" * 128,
    ],
)  # fmt: skip
def test_a_tag_that_is_no_version(tag):
    assert version(tag) is None


@pytest.mark.parametrize(
    ("tag", "bare"),
    [
        ("1.2.3-amd64", "1.2.3"),
        ("1.2.3-linux-amd64", "1.2.3"),
        ("amd64-1.2.3", "1.2.3"),
        ("v1.2.3_x86_64", "v1.2.3"),
        ("1.2.3", "1.2.3"),
        ("amd64", "amd64"),
        ("1.2.3-amd64-slim", "1.2.3-amd64-slim"),
    ],
)
def test_a_tag_without_its_architecture(tag, bare):
    assert without_architecture(tag) == bare


def test_siblings_begin_with_the_commonest_name():
    assert siblings("1.2", ["arm64"]) == [
        "1.2-arm64",
        "1.2-arm64v8",
        "1.2-aarch64",
        "1.2-linux-arm64",
        "1.2-linux-arm64v8",
        "1.2-linux-aarch64",
        "arm64-1.2",
        "arm64v8-1.2",
        "aarch64-1.2",
        "1.2-multiarch",
        "1.2-multi-arch",
    ]
    assert siblings("1.2-amd64", ["arm64"])[0] == "1.2-arm64"
    assert "ci.1184-linux-x64" in siblings("ci.1184", ["amd64"])
