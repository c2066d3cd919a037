"""Where the pages of the documentation are: on the site once it is published, until then in the checkout.

page("helm", "jobs")     docs/helm.md#jobs          SITE is ""
                         SITE/helm.html#jobs        it is the site's address, without a slash at its end
schema_id("archfit")     https://archfit.dev/schemas/archfit.json, the name of a JSON Schema
"""

from __future__ import annotations

SITE = ""
_SCHEMAS = "https://archfit.dev/schemas"


def page(name: str, anchor: str = "") -> str:
    """The place of a page. name: of its file below docs/, without .md. anchor: of a heading, "" for the whole page."""
    where = f"{SITE}/{name}.html" if SITE else f"docs/{name}.md"
    return f"{where}#{anchor}" if anchor else where


def schema_id(name: str) -> str:
    """The `$id` of a JSON Schema. The site serves it at this address."""
    return f"{_SCHEMAS}/{name}.json"
