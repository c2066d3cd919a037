"""Newer tags of images for the programs that change manifests: kustomize and Renovate.

    kustomize   an `images:` block, for a kustomization.yaml. It names an image without its tag, so a name that is there
                with several tags gets an entry only if all of them become one; else a comment says why not
    renovate    packageRules: a rule for each image and tag allows one version, the one that was read. It names the tag
                that it leads away from, so it ends by itself once that is gone

Only versions that were read come here. Names stand as the manifests write them, because both programs compare them so.

Sources: kustomize, api/filters/imagetag; Renovate, configuration options `allowedVersions` and `matchCurrentValue`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from archfit.base.printable import visible
from archfit.images.candidates import NewerTag
from archfit.startup.record import Record

_RENOVATE_SCHEMA = "https://docs.renovatebot.com/renovate-schema.json"
_HEAD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]*", re.ASCII).fullmatch


class TagUpdate(Record):
    """An image as the manifests write it, and the version that can take its place."""

    image: str
    newer: NewerTag


def name_and_tag(image: str) -> tuple[str, str]:
    """`localhost:5000/app` and `1.0` of `localhost:5000/app:1.0@sha256:..`; "" where there is no tag."""
    bare = image.partition("@")[0]
    path, slash, last = bare.rpartition("/")
    name, _, tag = last.partition(":")
    return f"{path}{slash}{name}", tag


def kustomize(updates: Iterable[TagUpdate], kept: Iterable[str], has: str, note: str) -> bytes:
    """The block. kept: images as the manifests write them that stay as they are.

    has: what the tags have, as `arm64`. note: how many images there are beside, a sentence without its full stop.
    """
    by_name: dict[str, dict[str, NewerTag]] = {}
    for update in updates:
        name = name_and_tag(update.image)[0]
        if _HEAD(name):
            by_name.setdefault(name, {})[_version(update.image)] = update.newer
    others: dict[str, set[str]] = {}
    for image in kept:
        others.setdefault(name_and_tag(image)[0], set()).add(_version(image))
    lines = [f"# {visible(_head(has))}: {visible(note)}."]
    entries: list[str] = []
    for name, news in sorted(by_name.items()):
        stay = others.get(name, set())
        why = _conflict(news, stay)
        if why:
            lines.append(f"# {name} is left out: {why}. kustomize knows one tag for a name.")
        else:
            entries += _entry(name, news, pinned=any("@" in text for text in (*news, *stay)))
    lines += ["images:", *entries] if entries else ["images: []"]
    return "".join(f"{line}\n" for line in lines).encode()


def _conflict(news: Mapping[str, NewerTag], others: set[str]) -> str:
    tags = sorted({newer.tag for newer in news.values()})
    if len(tags) > 1:
        return "its tags become " + " and ".join(tags)
    digest = next(iter(news.values())).digest
    stays = sorted(
        text
        for text in others
        if text.partition("@")[0] != tags[0] or text.partition("@")[2] not in ("", digest)
    )
    return f"it is also there as {visible(stays[0]) or 'latest'}, which stays" if stays else ""


def _entry(name: str, news: Mapping[str, NewerTag], *, pinned: bool) -> Iterator[str]:
    newer = next(iter(news.values()))
    was = ", ".join(sorted(news))
    steps = " and ".join(sorted({tag.step for tag in news.values()}))
    bound = "" if all(tag.exact for tag in news.values()) else "; a smaller step may exist"
    yield f"- name: {json.dumps(name)} # {visible(was)}: {steps}{bound}"
    yield f"  newTag: {json.dumps(newer.tag)}"
    if pinned:
        yield f"  digest: {json.dumps(newer.digest)}"


def _version(image: str) -> str:
    """`1.0@sha256:..`: the tag and the digest, as far as there are any."""
    before, at, digest = image.partition("@")
    return name_and_tag(image)[1] + (at + digest if before else "")


def _head(has: str) -> str:
    return f"Newer tags that were read to have {has}, by archfit"


def renovate(updates: Iterable[TagUpdate], has: str, note: str) -> bytes:
    """The rules as JSON, a preset that a configuration may extend. has, note: as `kustomize` takes them."""
    rules: dict[tuple[str, str], NewerTag] = {}
    for update in updates:
        name, tag = name_and_tag(update.image)
        if _HEAD(name) and (tag != update.newer.tag or "@" in update.image):
            rules[name, tag] = update.newer
    document = {
        "$schema": _RENOVATE_SCHEMA,
        "description": [_head(has), note],
        "packageRules": [_rule(name, tag, rules[name, tag], has) for name, tag in sorted(rules)],
    }
    return (json.dumps(document, indent=2, ensure_ascii=True) + "\n").encode()


def _rule(name: str, tag: str, newer: NewerTag, has: str) -> dict[str, object]:
    if newer.tag == tag:  # Renovate keeps a digest of one platform to it (docker datasource, getDigest)
        note = f"{tag} is {newer.digest}, which has {has}; a digest of one platform stays at it: pin this one instead"
        return {
            "description": [note],
            "matchDatasources": ["docker"],
            "matchPackageNames": [name],
            "matchCurrentValue": f"/^{_escaped(tag)}$/",
            "prBodyNotes": [note],
        }
    bound = "" if newer.exact else ", at most: a smaller step may exist"
    return {
        "description": [f"{newer.tag} has {has} ({newer.step}{bound})"],
        "matchDatasources": ["docker"],
        "matchPackageNames": [name],
        "matchCurrentValue": f"/^{_escaped(tag)}$/",
        "allowedVersions": f"/^{_escaped(newer.tag)}$/",
        "groupName": f"images that gain {has}",
    }


def _escaped(tag: str) -> str:
    return re.sub(r"([^A-Za-z0-9_-])", r"\\\1", tag)
