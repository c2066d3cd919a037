"""Where the pages of the documentation are: on the site once it is published, until then in the checkout or wheel."""

from __future__ import annotations

import os

SITE = ""
_SCHEMAS = "https://archfit.dev/schemas"


def page(name: str, anchor: str = "") -> str:
    """The place of a page. name: of its file below docs/, without .md. anchor: of a heading, "" for the whole page."""
    where = f"{SITE}/{name}.html" if SITE else f"docs/{name}.md"
    return f"{where}#{anchor}" if anchor else where


def place(name: str, anchor: str = "") -> str:
    """The page for a message: its path where it is here, else the command that shows it."""
    where = page(name, anchor)
    here = (os.curdir, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
    if SITE or any(os.path.exists(os.path.join(folder, "docs", f"{name}.md")) for folder in here):
        return where
    return f"`archfit help {name}.md{'#' if anchor else ''}{anchor}`"


def pages_folder() -> str:
    """Where the pages are that `archfit help` shows. The folder may not exist."""
    package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    own = os.path.join(package, "pages")
    return own if os.path.isdir(own) else os.path.join(package, "..", "..", "docs")


def schema_id(name: str) -> str:
    """The `$id` of a JSON Schema. The site serves it at this address."""
    return f"{_SCHEMAS}/{name}.json"
