"""Hooks of MkDocs: what the site has beyond docs/.

    CHANGELOG.md, .github/SECURITY.md, ..  become pages of the site (`PAGES`)
    what `archfit schema` prints    is served as schemas/NAME.json, where its `$id` points to
    the Markdown of a page          see site_markdown.py

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
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "site"), str(ROOT / "transformer")]

import repository_address  # noqa: E402 - found only now
from site_markdown import PAGES, adapted  # noqa: E402 - found only now

from archfit.cli.schema import schema  # noqa: E402 - found only now
from archfit.cli.usage.command_table import BY_NAME  # noqa: E402 - found only now

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

SCRIPTS = ROOT / ".tools" / "docs" / "scripts"
MERMAID, SHIM = "assets/scripts/mermaid.js", "assets/scripts/iframe-worker.js"
_SOURCES = {target: source for source, target in PAGES.items()}
_DIAGRAM = re.compile(r'<pre class="mermaid">.*?</pre>', re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the addresses of the repository and of the site, once they are known."""
    config.repo_url = repository()
    if config.repo_url:
        config.repo_name = "/".join(config.repo_url.rstrip("/").split("/")[-2:])
    config.site_url = site() or None
    config.extra["polyfills"] = [SHIM]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, schemas and scripts that are not in docs/."""
    for source, target in PAGES.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text(encoding="utf-8")))
    for name in BY_NAME["schema"].words:
        target = f"schemas/{'archfit' if name == 'config' else name}.json"
        files.append(File.generated(config, target, content=schema(name)))
    values = (ROOT / "charts" / "archfit" / "values.schema.json").read_bytes()
    files.append(File.generated(config, "schemas/chart-values.json", content=values))
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
    """The page with what its diagrams need, and without the request for the stars of the repository."""
    output = output.replace('data-md-component="source"', "")
    if _DIAGRAM.search(output) is None:
        return output
    output = _DIAGRAM.sub(r'<div class="diagram">\g<0></div>', output)
    up = posixpath.relpath(MERMAID, posixpath.dirname(page.file.dest_uri) or ".")
    return output.replace("</body>", f'<script src="{up}"></script></body>')


def repository() -> str:
    """The address of the repository, "" while it is the placeholder."""
    return repository_address.address().rstrip("/") if repository_address.is_set() else ""


def site() -> str:
    """The address of the published site, "" while there is none. See archfit/base/documentation.py."""
    text = (ROOT / "transformer" / "archfit" / "base" / "documentation.py").read_text(encoding="utf-8")
    found = re.search(r'^SITE = "(.*)"$', text, re.MULTILINE)
    return f"{found[1]}/" if found and found[1] else ""
