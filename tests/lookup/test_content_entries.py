"""What is behind digests, as the cache keeps it."""

from __future__ import annotations

import json

import pytest

from archfit.images.contents import Build, ImageContents
from archfit.images.platforms import parse_platform
from archfit.lookup.entries import contents_from_json as from_json
from archfit.lookup.entries import contents_to_json as to_json

DIGEST = f"sha256:{'a' * 64}"
ARM64 = parse_platform("linux/arm64")
KEPT = [
    ImageContents(
        "index", (Build(DIGEST, ARM64), Build(DIGEST, parse_platform("linux/arm/v7"), stated=False))
    ),
    ImageContents("index"),
    ImageContents("manifest", config=DIGEST, platform=ARM64),
    ImageContents("manifest", config=DIGEST),
    ImageContents("manifest"),
    ImageContents("config", platform=ARM64),
]


@pytest.mark.parametrize("contents", KEPT, ids=lambda contents: contents.kind)
def test_what_is_kept_is_read_back(contents):
    assert from_json(to_json(contents, 1_767_225_600)) == contents


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
def test_anything_else_is_nothing(changes):
    assert from_json(json.dumps({**json.loads(to_json(KEPT[0], 1)), **changes})) is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", "[" * 100_000, '{"kind": "manifest", "config": "x"}']
)
def test_rubbish_is_nothing(text):
    assert from_json(text) is None
