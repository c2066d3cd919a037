"""What the cache keeps, and what it is believed (security 15)."""

import json

import pytest

from archfit.images.contents import Build, ImageContents
from archfit.images.platforms import Found, Platform, parse_platform
from archfit.images.reference import parse
from archfit.lookup.entries import contents_from_json, contents_to_json, from_json, key_of, to_json

DIGEST = "sha256:" + "a" * 64
FOUND = Found((Platform("linux", "amd64"), Platform("linux", "arm", "v7")), DIGEST, origin="cache")


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(FOUND, id="index"),
        pytest.param(FOUND.replace(index=False), id="single"),
        pytest.param(Found((), DIGEST, index=False, image=False, origin="cache"), id="artifact"),
    ],
)
def test_what_is_kept_comes_back(found):
    texts = to_json(found, 1767225600)
    assert from_json(texts["tag"], "") == (found, 1767225600)
    assert from_json(texts["digest"], DIGEST) == (found, 0)


def without_rules(found: Found) -> dict[str, object]:
    kept: dict[str, object] = json.loads(to_json(found, 5)["tag"])
    del kept["rules"]
    return kept


def test_an_index_that_was_read_by_other_rules_is_asked_for_again():
    assert from_json(json.dumps(without_rules(FOUND)), "") is None
    assert from_json(json.dumps({**without_rules(FOUND), "rules": 3}), "") is None


@pytest.mark.parametrize("found", [FOUND.replace(index=False), Found((), DIGEST, False, False, "cache")])
def test_what_is_no_index_is_not(found):
    assert from_json(json.dumps(without_rules(found)), "") == (found, 5)


def test_variants_are_kept_as_they_are_stated():
    found = FOUND.replace(platforms=(Platform("linux", "amd64", "v3"), Platform("wasi", "wasm")))
    assert from_json(to_json(found, 5)["digest"], DIGEST) == (found, 0)


def test_keys_are_normalised():
    keys = {
        key_of(parse(text))
        for text in ("ubuntu", "docker.io/ubuntu", "index.docker.io/ubuntu", "library/ubuntu")
    }
    assert keys == {"tag:docker.io/library/ubuntu:latest"}
    assert key_of(parse(f"ubuntu:1@{DIGEST}")) == f"digest:docker.io/library/ubuntu@{DIGEST}"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"digest": "sha256:short"}, id="digest"),
        pytest.param({"digest": 5}, id="digest-type"),
        pytest.param({"platforms": ["linux/amd64;x"]}, id="platform"),
        pytest.param({"platforms": ["linux/amd74"]}, id="no-architecture"),
        pytest.param({"platforms": [["linux"]]}, id="platform-type"),
        pytest.param({"platforms": "linux/amd64"}, id="platforms-type"),
        pytest.param({"platforms": []}, id="image-without-platforms"),
        pytest.param({"platforms": [f"linux/a{n}" for n in range(300)]}, id="too-many-platforms"),
        pytest.param({"image": False}, id="artifact-with-platforms"),
        pytest.param({"index": "yes"}, id="index-type"),
        pytest.param({"checked": "now"}, id="time"),
        pytest.param({"checked": None}, id="no-time"),
    ],
)
def test_a_changed_entry_is_not_believed(change):
    kept = json.loads(to_json(FOUND, 5)["tag"])
    assert from_json(json.dumps({**kept, **change}), "") is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "5", '"x"', "{}", "[" * 100_000, '{"kind": "manifest", "config": "x"}'],
    ids=ascii,
)
def test_rubbish_is_not_believed(text):
    assert from_json(text, "") is None
    assert from_json(text, DIGEST) is None
    assert contents_from_json(text) is None


ARM64 = parse_platform("linux/arm64")
KEPT = [
    ImageContents("index", (Build(DIGEST, ARM64), Build(DIGEST, parse_platform("linux/arm/v7"), stated=False))),
    ImageContents("index"),
    ImageContents("manifest", config=DIGEST, platform=ARM64),
    ImageContents("manifest", config=DIGEST),
    ImageContents("manifest"),
    ImageContents("config", platform=ARM64),
]  # fmt: skip


@pytest.mark.parametrize("contents", KEPT, ids=lambda contents: contents.kind)
def test_contents_that_are_kept_are_read_back(contents):
    assert contents_from_json(contents_to_json(contents, 1_767_225_600)) == contents


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"kind": "layer"}, id="another-kind"),
        pytest.param({"rules": 1}, id="other-rules"),
        pytest.param({"builds": [["x", "linux/arm64", True]]}, id="no-digest"),
        pytest.param({"builds": [[DIGEST, "</script>", True]]}, id="no-platform"),
        pytest.param({"builds": [[DIGEST, "linux/arm64", "yes"]]}, id="no-boolean"),
        pytest.param({"builds": [[DIGEST, "linux/arm64"]]}, id="too-short"),
        pytest.param({"builds": [[DIGEST, "linux/arm64", True]] * 2000}, id="too-many"),
        pytest.param({"builds": 5}, id="no-list"),
    ],
)
def test_other_contents_are_nothing(changes):
    assert contents_from_json(json.dumps({**json.loads(contents_to_json(KEPT[0], 1)), **changes})) is None
