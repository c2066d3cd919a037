"""Where the pages of the documentation are: on the site once it is published, until then in the checkout.

page("helm", "jobs")     docs/helm.md#jobs          SITE is ""
                         https://SITE/helm/#jobs    it is the site's address, without a slash at its end
"""

from __future__ import annotations

SITE = ""


def page(name: str, anchor: str = "") -> str:
    """The place of a page. name: of its file below docs/, without .md. anchor: of a heading, "" for the whole page."""
    where = f"{SITE}/{name}/" if SITE else f"docs/{name}.md"
    return f"{where}#{anchor}" if anchor else where
