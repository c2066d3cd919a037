"""What is behind digests as the store keeps it: JSON texts, re-validated when they are read.

contents:..     {"kind": "index", "builds": [["sha256:..", "linux/arm64", true], ..], "rules": 2, "checked": ..}
                {"kind": "manifest", "config": "sha256:..", "platform": "linux/arm64", "checked": ..}
                {"kind": "config", "platform": "linux/arm64", "checked": ..}

rules           as in `entries`: an index that was read by other rules is read again
platform        "" where nothing has read it
"""

from __future__ import annotations

import json

from archfit.base.errors import InvalidReference
from archfit.images.contents import Build, ImageContents
from archfit.images.platforms import parse_platform
from archfit.images.reference import is_digest
from archfit.lookup.entries import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_BUILDS = 1024


def to_json(contents: ImageContents, checked: int) -> str:
    """The text to keep. checked: Unix seconds."""
    body: dict[str, Any] = {"kind": contents.kind, "checked": checked}
    if contents.kind == "index":
        body |= {
            "builds": [[build.digest, str(build.platform), build.stated] for build in contents.children],
            "rules": RULES,
        }
    else:
        body |= {"config": contents.config, "platform": str(contents.platform or "")}
    return json.dumps(body)


def from_json(text: str) -> ImageContents | None:
    """What is kept; None for anything that `to_json` did not make."""
    try:
        kept = json.loads(text)
        kind = kept["kind"]
        if kind == "index":
            if kept["rules"] != RULES or len(kept["builds"]) > _MAX_BUILDS:
                return None
            return ImageContents("index", tuple(_build(*build) for build in kept["builds"]))
        if kind not in {"manifest", "config"}:
            return None
        config, platform = kept["config"], kept["platform"]
        if config and not is_digest(config):
            return None
        return ImageContents(kind, config=config, platform=parse_platform(platform) if platform else None)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, InvalidReference):
        return None


def _build(digest: str, platform: str, stated: object) -> Build:
    if not is_digest(digest) or not isinstance(stated, bool):
        raise ValueError(digest)
    return Build(digest, parse_platform(platform), stated)
