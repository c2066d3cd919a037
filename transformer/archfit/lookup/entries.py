"""Answers as the store keeps them: their keys, and JSON texts, which are re-validated when they are read.

    tag:<host/repository:tag>
    digest:<host/repository>@<digest>
    contents:<host/repository>@<digest>      what is behind it, or that it is there (`listed_builds`)
    programs:<host/repository>@<digest>      what it starts, for --programs
    tags:<host/repository>                   its tags, for newer ones
    host:<origin>                            see `registry.http.servers`

`scoped_keys` adds who answered and who may read the answer, where that matters.

    tag:..            {"checked": 1767225600, "digest": "sha256:..", "index": true, "image": true, "platforms": [..],
                       "rules": 2}
    digest:..         the same without "digest"
    contents:..       {"kind": "index", "builds": [["sha256:..", "linux/arm64", true], ..], "rules": 2, "checked": ..}
                      {"kind": "manifest", "config": "sha256:..", "platform": "linux/arm64", "checked": ..}
                      {"kind": "config", "platform": "linux/arm64", "checked": ..}
                      {"kind": "presence", "checked": ..}
    programs:..       {"checked": .., "entrypoint": true, "programs": {"": {"files": [["app", "elf 64 lsb 183"]],
                       "looked": ["app"], "reason": ""}}}                  by the key of a start
    tags:..           {"checked": 1767225600, "read": "complete", "tags": ["1.24.3", "latest"],
                       "offers": {"1.24.3": ["linux/amd64", "linux/arm64"]}}

    platforms         as the entries state them, variants too: each run decides what they mean
    rules             of an index: the version of the rules by which entries were left out; another one is asked again
    platform          of contents: "" where nothing has read it

Only Found is kept: `Unknown` and `Absent` are asked for again in each run, so that no run fails because of an old
answer. A tag's entry repeats the platforms, so that a warm run reads everything in one query.
"""

from __future__ import annotations

from archfit.base.errors import Problem
from archfit.base.memo import Memo
from archfit.images.platforms import Found, Platform, known_platform
from archfit.images.reference import Reference, is_digest, is_tag
from archfit.startup import c_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from archfit.images.contents import ImageContents
    from archfit.images.tag_list import TagList
    from archfit.programs.program import Programs
    from archfit.registry.routing.endpoints import Endpoint

_MAX_PLATFORMS = 256
_MAX_BUILDS = 1024
_MOST_PROGRAMS = 64
_MOST_TAGS = 200_000
LIST_SECONDS = 86400
# 1, unwritten, left out what has an `artifactType`, and kept what a runtime never reaches.
RULES = 2
CLOCK_SLACK_SECONDS = 60
"""How far clocks of machines that share a cache may differ: a later time is from the future."""
_LATEST = 2**40  # Unix seconds; a later time is an error


def _parsed(names: tuple[str, ...]) -> tuple[Platform, ...]:
    return tuple(sorted(set(map(known_platform, names)), key=str))


_platforms = Memo(_parsed, 256)
_OFTEN = 32
"""Platforms of an index that others repeat; a longer list is parsed anew."""


def to_json(answer: Found, checked: int) -> dict[str, str]:
    """The two texts worth keeping, without their keys: "tag" and "digest". checked: Unix seconds."""
    body = {
        "image": answer.image,
        "index": answer.index,
        "platforms": [str(platform) for platform in answer.platforms],
        "rules": RULES,
    }
    return {
        "tag": c_json.dumps({"checked": checked, "digest": answer.digest, **body}),
        "digest": c_json.dumps({"checked": checked, **body}),
    }


def from_json(text: str, digest: str) -> tuple[Found, int] | None:
    """A kept answer and when it was checked (0 for a digest's entry); None for anything that `to_json` did not make.

    digest: the digest whose entry it is, "" for a tag's.
    """
    try:
        kept = c_json.loads(text)
        index, image, names = kept["index"], kept["image"], kept["platforms"]
        checked = 0 if digest else kept["checked"]
        digest = digest or kept["digest"]
        if not (
            isinstance(index, bool)
            and isinstance(image, bool)
            and isinstance(names, list)
            and len(names) <= _MAX_PLATFORMS
            and bool(names) == image
            and isinstance(digest, str)
            and is_digest(digest)
            and isinstance(checked, int)
            and (not index or kept.get("rules") == RULES)
            and 0 <= checked < _LATEST
        ):
            return None
        platforms = _platforms[tuple(names)] if len(names) <= _OFTEN else _parsed(tuple(names))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, Problem):
        return None
    return Found(platforms, digest, index, image, "cache"), checked


def contents_to_json(contents: ImageContents, checked: int) -> str:
    """The text to keep. checked: Unix seconds."""
    body: dict[str, Any] = {"kind": contents.kind, "checked": checked}
    if contents.kind == "index":
        body |= {
            "builds": [[build.digest, str(build.platform), build.stated] for build in contents.children],
            "rules": RULES,
        }
    elif contents.kind != "presence":
        body |= {"config": contents.config, "platform": str(contents.platform or "")}
    return c_json.dumps(body)


def contents_from_json(text: str) -> ImageContents | None:
    """What is kept; None for anything that `contents_to_json` did not make."""
    from archfit.images.contents import Build, ImageContents  # few runs need them

    try:
        kept = c_json.loads(text)
        kind = kept["kind"]
        if kind == "index":
            if kept["rules"] != RULES or len(kept["builds"]) > _MAX_BUILDS:
                return None
            builds = tuple(
                Build(digest, known_platform(name), stated) for digest, name, stated in kept["builds"]
            )
            good = all(is_digest(build.digest) and isinstance(build.stated, bool) for build in builds)
            return ImageContents("index", builds) if good else None
        if kind == "presence":
            return ImageContents(kind)
        if kind not in {"manifest", "config"}:
            return None
        config, name = kept["config"], kept["platform"]
        if config and not is_digest(config):
            return None
        return ImageContents(kind, config=config, platform=known_platform(name) if name else None)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, Problem):
        return None


def programs_to_json(programs: Programs, checked: int) -> str:
    """The text to keep: of those that will not be read better. checked: Unix seconds."""
    kept = {
        key: {"files": program.files, "looked": program.looked, "reason": program.reason}
        for key, program in [*programs.by_key.items()][-_MOST_PROGRAMS:]
        if program.final or not program.reason
    }
    return c_json.dumps({"checked": checked, "entrypoint": programs.entrypoint, "programs": kept})


def programs_from_json(text: str) -> Programs | None:
    """What is kept; None for anything that `programs_to_json` did not make."""
    from archfit.programs.heads import is_head
    from archfit.programs.program import Program, Programs

    try:
        kept = c_json.loads(text)
        entrypoint, by_key = kept["entrypoint"], {}
        for key, value in kept["programs"].items():
            files = tuple((path, head) for path, head in value["files"])
            looked, reason = tuple(value["looked"]), value["reason"]
            texts = (reason, *looked, *(path for path, _ in files))
            if not all(isinstance(word, str) for word in texts) or not all(
                is_head(head) for _, head in files
            ):
                return None
            by_key[key] = Program(files, looked, reason, final=bool(reason))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return Programs(entrypoint, by_key) if isinstance(entrypoint, bool) else None


def tags_to_json(listed: TagList, checked: int) -> str:
    """The text to keep. checked: Unix seconds."""
    offers = {tag: [str(platform) for platform in platforms] for tag, platforms in listed.offers.items()}
    body = {"checked": checked, "read": listed.read, "tags": list(listed.tags)}
    return c_json.dumps({**body, "offers": offers} if offers else body)


def tags_from_json(text: str) -> tuple[TagList, int] | None:
    """The list and when it was read; None for anything that `tags_to_json` did not make."""
    from archfit.images.tag_list import TagList  # for newer tags alone

    try:
        kept = c_json.loads(text)
        checked, read, tags = kept["checked"], kept["read"], kept["tags"]
        if not (
            isinstance(checked, int)
            and 0 <= checked < _LATEST
            and read in {"complete", "partial"}
            and isinstance(tags, list)
            and len(tags) <= _MOST_TAGS
            and all(isinstance(tag, str) and is_tag(tag) for tag in tags)
        ):
            return None
        offers = {
            tag: tuple(map(known_platform, names))
            for tag, names in kept.get("offers", {}).items()
            if is_tag(tag)
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, Problem):
        return None
    return TagList(tuple(tags), read, offers=offers), checked


def youngest_tags(texts: list[str], now: float, seconds: float) -> TagList | None:
    """The youngest list of those that are not older; None where there is none. now: Unix seconds."""
    kept = [entry for text in texts if (entry := tags_from_json(text))]
    young = [entry for entry in kept if -CLOCK_SLACK_SECONDS <= now - entry[1] <= seconds]
    return max(young, key=lambda entry: entry[1])[0] if young else None


def key_of(reference: Reference) -> str:
    """The key of an answer of the reference's own registry that everybody may read."""
    return f"{'digest' if reference.digest else 'tag'}:{reference.normalised}"


def other_key(kind: str, key: str) -> str:
    """The key of contents, programs or tags. key: of the answer for the digest, or for `repository`."""
    return f"{kind}:{key.partition(':')[2]}"


def repository(reference: Reference) -> Reference:
    """What stands for the whole repository of a reference, in routes, keys and claims."""
    return reference.replace(tag="", digest="", original=reference.name)


class OwnKeys:
    """Keys without any addition."""

    def of(self, reference: Reference) -> list[str]:
        """The keys to read first."""
        return [key_of(reference)]

    def late(
        self, references: Sequence[Reference], get: Callable[[list[str]], dict[str, str]]
    ) -> dict[str, list[str]]:
        """More keys to read, by normalised reference. get: what the store has, for entries of servers."""
        del references, get
        return {}

    def written(self, reference: Reference, endpoint: Endpoint | None, *, used: bool) -> str:
        """The key to write. endpoint: who answered, None for the image's own registry. used: a credential was sent."""
        del endpoint, used
        return key_of(reference)

    def claimed(self, reference: Reference) -> str:
        """The key of a claim: who asks for the image just now."""
        return (self.of(reference) or [key_of(reference)])[-1]
