r"""The Markdown of docs/ as the site needs it: the same pages read well on GitHub.

![..](NAME.svg)          the drawing itself instead of a reference, so that it follows the site's colours
[..](../.github/SECURITY.md)  the page that PAGES makes of the file
[..](../tests/x.py)      a file that no page shows: a link to the repository, or the text alone while the repository
                         has no address
`a \| b` in a table      GitHub needs the backslash, Markdown for Python shows it
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Files outside of docs/ that are pages of the site.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    ".github/SECURITY.md": "security.md",
    "charts/archfit/README.md": "chart.md",
}
_DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\s*(.*?\})\s*\}", re.DOTALL)
_FENCE = re.compile(r"^ *(`{3,})")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_SPAN = re.compile(r"`[^`]+`")


def adapted(markdown: str, source: str, known: set[str], address: str) -> str:
    """Markdown for GitHub as Markdown for the site.

    source: where the page is in the repository. known: the paths of the site's files, relative to docs/. address: of
    the repository, "" while it has none.
    """
    lines, fence = [], ""
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1] == fence):
            fence = "" if fence else mark[1]
        elif not fence:
            line = _adapted_line(line, source, known, address)  # noqa: PLW2901 - the line as the site has it
        lines.append(line)
    return "\n".join(lines)


def _adapted_line(line: str, source: str, known: set[str], address: str) -> str:
    if line.lstrip().startswith("|"):
        line = _SPAN.sub(lambda span: span[0].replace("\\|", "|"), line)
    kept = [(span.start(), span.end()) for span in _SPAN.finditer(line)]

    def replaced(link: re.Match[str]) -> str:
        if any(start < link.start() and link.end() < end for start, end in kept):
            return link[0]
        return _adapted_link(link, source, known, address)

    return _LINK.sub(replaced, line)


def _adapted_link(link: re.Match[str], source: str, known: set[str], address: str) -> str:
    bang, text, target, anchor = link[1], link[2], link[3], link[4] or ""
    if not target or re.match(r"[a-z]+:", target):
        return link[0]
    place = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    inside = PAGES.get(place, place.removeprefix("docs/") if place.startswith("docs/") else "")
    if bang and inside.endswith(".svg"):
        return drawing(ROOT / place, text)
    if inside in known:
        named = text in {place, posixpath.basename(place)} and place.endswith(".md")
        return f"{bang}[{title(ROOT / place) if named else text}]({inside}{anchor})"
    if place.startswith("..") or not (ROOT / place).exists():
        return link[0]
    return f"{bang}[{text}]({address}/blob/main/{place}{anchor})" if address else text


def title(path: Path) -> str:
    """The heading of a page."""
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def drawing(path: Path, text: str) -> str:
    """An SVG file as a part of the page. text: what it shows, for those who do not see it.

    Its colours for the dark follow the site's toggle instead of the system.
    """
    svg = re.sub(r"<\?xml.*?\?>\s*|<!--.*?-->\s*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    svg = _DARK.sub(r'[data-md-color-scheme="slate"] \1', svg)
    label = text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    lines = [line.strip() for line in svg.splitlines() if line.strip()]
    return f'<div class="drawing" role="img" aria-label="{label}">{"".join(lines)}</div>'
