"""The site is whole: every link leads somewhere, nothing is loaded from others, no Markdown is left as text."""

import json
import re

from machine import ROOT


def test_every_page_of_the_documentation_is_on_the_site(site):
    wanted = {path.stem for path in (ROOT / "docs").glob("*.md")} | {
        "changelog",
        "security",
        "chart",
        "commands",
    }
    assert {path.removesuffix(".html") for path in site.pages} == wanted


def test_every_link_and_anchor_leads_somewhere(site):
    dead = [
        (page.path, place, anchor)
        for page in site.pages.values()
        for place, anchor in page.links
        if not (site.folder / place).exists()
        or (anchor and place in site.pages and anchor not in site.pages[place].ids)
    ]
    assert dead == []


def test_nothing_is_loaded_from_another_place(site):
    loaded = {(page.path, target) for page in site.pages.values() for target in page.loads}
    assert len(loaded) > 100
    assert [one for one in sorted(loaded) if re.match(r"(?:[a-z]+:)?//", one[1])] == []
    styles = [path.read_text(encoding="utf-8") for path in site.folder.rglob("*.css")]
    assert styles
    outside = re.compile(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)]*")
    assert [found for text in styles for found in outside.findall(text)] == []


def test_no_address_is_a_placeholder(site):
    found = [
        (page.path, target) for page in site.pages.values() for target in page.outside if "OWNER" in target
    ]
    assert found == []


def test_no_markdown_is_left_as_text(site):
    left = [
        (page.path, line)
        for page in site.pages.values()
        for text in page.texts
        for line in text.splitlines()
        if re.match(r"\s*(?:[-*] |1\. |\||```|#+ )", line)
    ]
    assert left == []
    assert [(page.path, cell) for page in site.pages.values() for cell in page.cells if "\\|" in cell] == []


def test_each_schema_is_served_where_its_id_points(site):
    schemas = {
        path.name: json.loads(path.read_text(encoding="utf-8"))
        for path in (site.folder / "schemas").iterdir()
    }
    assert {name: schema.get("$id") for name, schema in schemas.items()} == {
        name: f"https://archfit.dev/schemas/{name}" for name in schemas
    }
    assert len(schemas) >= 3
