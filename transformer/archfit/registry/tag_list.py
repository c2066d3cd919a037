"""The tags of a repository, page by page (OCI distribution-spec 1.1, Listing Tags).

    what registries do                                 what is done
    distribution 2.8: all tags in one answer           one request, without `n`, which some refuse
    GHCR, Quay, ECR, Harbor: pages with Link           Link is followed (RFC 8288), with `n=1000` in place of a smaller
    `n` refused (400, 413)                             Link as it is
    Link to another path of the same server            a proxy's mistake: only its query counts
    Link to another server                             asked as redirects are: by host policy, without credentials
    go-containerregistry: a full page without Link     a page of 50, 100, .. tags may be full: once more with `last`
    `last` ignored, a page repeated                    a page without a new tag is the end

Docker Hub's own listing says the platforms of each tag, newest first. It is asked for public repositories of docker.io,
where no mirror is in Docker's place; what refuses it, or a repository that it does not have, leads to the registry.

    {"next": "https://..", "results": [{"name": "1.27", "images": [{"os": "linux", "architecture": "arm64"}, ..]}, ..]}

At most six pages are read, 4 MiB in all. The last of them begin where the tags in use stand: `?n=1000&last=1.24.` (tags
are in lexical order, and any text may be `last`), of Docker Hub `&name=1.24.`; one that is refused gives nothing. Where
another one fails, what came before it is kept and said to be a part; where the first one fails, that is the error.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from archfit.images.platforms import Platform, normalised
from archfit.images.reference import is_tag
from archfit.images.tag_list import TagList
from archfit.registry.http.request import Reply, origin_of
from archfit.registry.quirks import FULL_PAGE, TOO_MANY_TAGS
from archfit.registry.registry_errors import InvalidManifest, RegistryError
from archfit.registry.untrusted_json import load
from archfit.startup.record import Record

MAX_PAGES = 6
MAX_BYTES = 4 * 1024 * 1024
PAGE = 1000
_MAX_PLATFORMS = 64
_NEXT = re.compile(r'<([^<>]*)>\s*;[^<]*\brel\s*=\s*"?next\b', re.ASCII | re.IGNORECASE).search


class Page(Record):
    """One page. tags: valid ones, unique. next: the URL of the next page, "" for none.

    understood: whether each entry has a name.
    """

    tags: tuple[str, ...]
    next: str = ""
    offers: Mapping[str, tuple[Platform, ...]] = {}
    understood: bool = True


def read_tags(
    first: str, ask: Callable[[str, int], Reply], parse: Callable[[Reply], Page], near: Sequence[str] = ()
) -> TagList:
    """The list that begins at a URL. near: URLs of pages that a long list is read from, too.

    ask: the answer for a URL, with a body of at most so many bytes; raises RegistryError for any but 200, whose status
    counts. parse: `registry_page` or `hub_page`. Raises the errors of the first page, InvalidManifest among them.
    """
    tags: dict[str, None] = {}
    offers: dict[str, tuple[Platform, ...]] = {}
    beside: dict[str, None] = {}
    starts = list(near)
    left = MAX_BYTES
    wide = url = first
    linked, odd = False, ""
    why: str | None = None  # what ended the list before its end, "" for nothing; None while pages are left
    for number in range(MAX_PAGES):
        if starts and number >= MAX_PAGES - len(starts):
            with contextlib.suppress(RegistryError, InvalidManifest):
                reply = ask(starts.pop(0), left)
                page = parse(reply)
                left -= len(reply.body)
                beside.update(dict.fromkeys(page.tags))
                offers.update(page.offers)
            continue
        try:
            reply = _wide(wide, url, ask, left)
            page = parse(reply)
        except (RegistryError, InvalidManifest) as error:
            if not number:
                raise
            why = str(error)
            break
        left -= len(reply.body)
        known = len(tags)
        tags.update(dict.fromkeys(page.tags))
        offers.update(page.offers)
        odd = odd or ("" if page.understood else "entries of its list are no tags")
        if len(tags) == known and number:
            why = "its pages repeat" if page.next else odd
            break
        url, linked = page.next, linked or bool(page.next)
        if url and origin_of(url) == origin_of(first):
            wide = widened(first, url)
        elif url:
            wide = url
        elif page.tags and not linked and not len(page.tags) % FULL_PAGE and parse is registry_page:
            wide = url = f"{first}{'&' if '?' in first else '?'}n={PAGE}&last={page.tags[-1]}"
        else:
            why = odd
            break
        if left <= 0:
            break
    every = tags | beside
    if why is None:
        why = f"{len(every)} tags were read, and there are more"
    return TagList(tuple(every), "partial" if why else "complete", why, offers)


def _wide(wide: str, url: str, ask: Callable[[str, int], Reply], left: int) -> Reply:
    try:
        return ask(wide, left)
    except RegistryError as error:
        if wide == url or error.status not in TOO_MANY_TAGS:
            raise
        return ask(url, left)


def widened(first: str, following: str) -> str:
    """The URL of the next page of the same server: the path of the first, the query of Link, with a larger `n`."""
    path = first.partition("?")[0]
    query = dict(parse_qsl(urlsplit(first).query) + parse_qsl(urlsplit(following).query))
    if query.get("n", "").isdigit() and int(query["n"][:9]) < PAGE:
        query["n"] = str(PAGE)
    return f"{path}?{urlencode(query)}" if query else path


def registry_page(reply: Reply) -> Page:
    """A page of the registry's own list. Raises InvalidManifest."""
    listed = load(reply.body, reply.headers.get("content-type", "")).get("tags")
    if listed is not None and not isinstance(listed, list):
        raise InvalidManifest("its `tags` is not a list")
    link = _NEXT(reply.headers.get("link", ""))
    names = [tag for tag in listed or () if isinstance(tag, str)]
    following = _target(reply.url, link[1]) if link else ""
    return Page(_valid(names), following, understood=len(names) == len(listed or ()))


def hub_page(reply: Reply) -> Page:
    """A page of Docker Hub's own listing. Raises InvalidManifest."""
    document = load(reply.body, reply.headers.get("content-type", ""))
    results, following = document.get("results"), document.get("next")
    if not isinstance(results, list):
        raise InvalidManifest("its `results` is not a list")
    named = [result for result in results if isinstance(result, dict) and isinstance(result.get("name"), str)]
    offers = {
        result["name"]: tuple(_platforms(result["images"]))
        for result in named
        if is_tag(result["name"]) and isinstance(result.get("images"), list)
    }
    tags = _valid([result["name"] for result in named])
    target = _target(reply.url, following) if isinstance(following, str) and following else ""
    return Page(tags, target, offers, understood=len(named) == len(results))


def _platforms(images: list[Any]) -> Iterator[Platform]:
    for image in images[:_MAX_PLATFORMS]:
        if isinstance(image, dict):
            parts = [image.get(key) for key in ("os", "architecture", "variant")]
            words = [part if isinstance(part, str) else "" for part in parts]
            if words[1] and words[1] != "unknown":
                yield normalised(*words)


def _valid(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(is_tag, tags)))


def _target(url: str, target: str) -> str:
    """Where the next page is. Raises InvalidManifest for what cannot be asked."""
    try:
        joined = urljoin(url, target)
        origin = origin_of(joined)
    except (ValueError, RegistryError):
        raise InvalidManifest("its link to the next page is not an http or https URL") from None
    if "@" in urlsplit(joined).netloc or (origin.startswith("http:") and url.startswith("https:")):
        raise InvalidManifest("its link to the next page is not one that may be followed")
    return joined
