"""The pages of a built site: what they link, what they load, what they say.

Site(folder).pages["helm.html"].links        [("lock.html", "air-gapped"), ..]
"""

import posixpath
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "video": "src"}
# A link of these relations is not loaded.
NAMES = {"canonical", "next", "prev", "edit"}


@dataclass
class SitePage(HTMLParser):
    """One page. links: (path, anchor) of each link within the site. outside: addresses of others.

    loads: what the browser asks for by itself. paragraphs and cells: their text, the code of cells included.
    """

    path: str
    ids: set[str] = field(default_factory=set)
    links: list[tuple[str, str]] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attrs}
        if "id" in of:
            self.ids.add(of["id"])
        if tag == "a" and of.get("href"):
            self._link(of["href"])
        if (target := of.get(LOADS.get(tag, ""))) and of.get("rel", "") not in NAMES:
            self.loads.append(target)
        if tag in {"p", "td", "th"}:
            (self.texts if tag == "p" else self.cells).append("")
            self._open.append(tag)
        elif tag in {"code", "pre", "script", "style"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "p":
            self.texts[-1] += data
        if {"td", "th"} & set(self._open):
            self.cells[-1] += data

    def _link(self, target: str) -> None:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            self.outside.append(target)
            return
        place = (
            posixpath.normpath(posixpath.join(posixpath.dirname(self.path), parts.path))
            if parts.path
            else self.path
        )
        self.links.append((unquote(place), unquote(parts.fragment)))


class Site:
    """A site that has been built into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def pages(self) -> dict[str, SitePage]:
        """Every page by its path, but the one for addresses that do not exist."""
        found = {}
        for path in sorted(self.folder.rglob("*.html")):
            page = SitePage(path.relative_to(self.folder).as_posix())
            page.feed(path.read_text(encoding="utf-8"))
            found[page.path] = page
        del found["404.html"]
        return found
