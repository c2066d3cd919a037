"""Hooks of MkDocs: what the site has beyond docs/.

    CHANGELOG.md, .github/SECURITY.md, ..  become pages of the site (`PAGES`), and the tables of commands another
    what `archfit schema` prints    is served as schemas/NAME.json, where its `$id` points to
    the Markdown of a page          see site_markdown.py

A page that is opened from a disk loads the shim that its search needs from the site itself: `make docs` puts it into
.tools/docs/scripts.

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
from command_pages import commands_page  # noqa: E402 - found only now
from site_markdown import PAGES, adapted  # noqa: E402 - found only now

from archfit.cli.schema import schema  # noqa: E402 - found only now
from archfit.cli.usage.command_table import BY_NAME  # noqa: E402 - found only now

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

SCRIPTS = ROOT / ".tools" / "docs" / "scripts"
SHIM = "assets/scripts/iframe-worker.js"
_SOURCES = {target: source for source, target in PAGES.items()}


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
    files.append(File.generated(config, "commands.md", content=commands_page()))
    script = SCRIPTS / posixpath.basename(SHIM)
    files.append(File.generated(config, SHIM, abs_src_path=str(script)))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """The page as MkDocs needs it."""
    source = _SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    known = {file.src_uri for file in files}
    return adapted(markdown, source, known, repository())


def on_post_page(output: str, **_: object) -> str:
    """The page without the request for the stars of the repository."""
    return output.replace('data-md-component="source"', "")


def repository() -> str:
    """The address of the repository, "" while it is the placeholder."""
    return repository_address.address().rstrip("/") if repository_address.is_set() else ""


def site() -> str:
    """The address of the published site, "" while there is none. See archfit/base/documentation.py."""
    text = (ROOT / "transformer" / "archfit" / "base" / "documentation.py").read_text(encoding="utf-8")
    found = re.search(r'^SITE = "(.*)"$', text, re.MULTILINE)
    return f"{found[1]}/" if found and found[1] else ""
