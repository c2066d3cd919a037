r"""Hooks of MkDocs: what the site has beyond docs/, so that the same pages read well on GitHub and on the site.

    CHANGELOG.md, SECURITY.md, ..   become pages of the site (PAGES)
    docs/NAME.schema.json           is served as schemas/NAME.json, too, where its `$id` points to
    ![..](NAME.svg)                 the drawing itself instead of a reference, so that it follows the site's colours
    [..](../tests/x.py)             a file that no page shows: a link to the repository, or the text alone while the
                                    repository has no address
    `a \| b` in a table              GitHub needs the backslash, Markdown for Python shows it

A page with a Mermaid diagram loads the script from the site itself, and a page that is opened from a disk the shim that
its search needs: `make docs` puts both into .tools/docs/scripts.

Source: https://www.mkdocs.org/dev-guide/plugins/#events; material/plugins/offline/plugin.py, templates/base.html.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import repository_address  # noqa: E402 - found only now

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

PAGES = {
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "charts/archfit/README.md": "chart.md",
}
SCHEMAS = {
    **{
        f"docs/{path.name}": path.name.split(".")[0] for path in sorted((ROOT / "docs").glob("*.schema.json"))
    },
    "charts/archfit/values.schema.json": "chart-values",
}
SCRIPTS = ROOT / ".tools" / "docs" / "scripts"
MERMAID, SHIM = "assets/scripts/mermaid.js", "assets/scripts/iframe-worker.js"
_SOURCES = {target: source for source, target in PAGES.items()}
_DIAGRAM = re.compile(r'<pre class="mermaid">.*?</pre>', re.DOTALL)
_FENCE = re.compile(r"^ *(`{3,})")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\s*(.*?\})\s*\}", re.DOTALL)
_SPAN = re.compile(r"`[^`]+`")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the addresses of the repository and of the site, once they are known."""
    config.repo_url = repository()
    if config.repo_url:
        config.repo_name = "/".join(config.repo_url.rstrip("/").split("/")[-2:])
        config.edit_uri = "edit/main/docs/"
    config.site_url = site() or None
    config.extra["polyfills"] = [SHIM]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, schemas and scripts that are not in docs/."""
    for source, target in PAGES.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text(encoding="utf-8")))
    for source, name in SCHEMAS.items():
        files.append(File.generated(config, f"schemas/{name}.json", content=(ROOT / source).read_bytes()))
    for place in (MERMAID, SHIM):
        script = SCRIPTS / posixpath.basename(place)
        files.append(File.generated(config, place, abs_src_path=str(script)))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """The page as MkDocs needs it."""
    source = _SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    known = {file.src_uri for file in files}
    return adapted(markdown, source, known, repository())


def on_post_page(output: str, page: Page, **_: object) -> str:
    """The page with what its diagrams need."""
    if _DIAGRAM.search(output) is None:
        return output
    output = _DIAGRAM.sub(r'<div class="diagram">\g<0></div>', output)
    up = posixpath.relpath(MERMAID, posixpath.dirname(page.file.dest_uri) or ".")
    return output.replace("</body>", f'<script src="{up}"></script></body>')


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
        return f"{bang}[{text}]({inside}{anchor})"
    if place.startswith("..") or not (ROOT / place).exists():
        return link[0]
    return f"{bang}[{text}]({address}/blob/main/{place}{anchor})" if address else text


def drawing(path: Path, text: str) -> str:
    """An SVG file as a part of the page. text: what it shows, for those who do not see it.

    Its colours for the dark follow the site's toggle instead of the system.
    """
    svg = re.sub(r"<\?xml.*?\?>\s*|<!--.*?-->\s*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    svg = _DARK.sub(r'[data-md-color-scheme="slate"] \1', svg)
    label = text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    lines = [line.strip() for line in svg.splitlines() if line.strip()]
    return f'<div class="drawing" role="img" aria-label="{label}">{"".join(lines)}</div>'


def repository() -> str:
    """The address of the repository, "" while it is the placeholder."""
    return repository_address.address().rstrip("/") if repository_address.is_set() else ""


def site() -> str:
    """The address of the published site, "" while there is none. See archfit/documentation.py."""
    text = (ROOT / "transformer" / "archfit" / "documentation.py").read_text(encoding="utf-8")
    found = re.search(r'^SITE = "(.*)"$', text, re.MULTILINE)
    return f"{found[1]}/" if found and found[1] else ""
