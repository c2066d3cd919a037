"""What the site makes of the Markdown of docs/; and docs/ itself, as GitHub reads it."""

import importlib.util
import re

import pytest

from archfit.cli.page_text import anchor, headings
from machine import ROOT

ADDRESS = "https://git.example/team/archfit"
KNOWN = {"helm.md", "index.md", "audit.png", "security.md", "chart.md", "schemas/lock.json"}


@pytest.fixture(scope="module")
def site_markdown():
    spec = importlib.util.spec_from_file_location("site_markdown", ROOT / "scripts/site/site_markdown.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("See [Helm](helm.md#jobs).", "See [Helm](helm.md#jobs).", id="a page"),
        pytest.param("[all](#jobs)", "[all](#jobs)", id="an anchor"),
        pytest.param("[x](https://x.example/a.md)", "[x](https://x.example/a.md)", id="elsewhere"),
        pytest.param("[a](../.github/SECURITY.md#x)", "[a](security.md#x)", id="a file that is a page"),
        pytest.param("[helm.md](helm.md#jobs)", "[Helm 3 and Helm 4](helm.md#jobs)", id="a file's name"),
        pytest.param("[SECURITY.md](../.github/SECURITY.md)", "[Security](security.md)", id="the name of such a file"),
        pytest.param("[c](../charts/archfit/README.md)", "[c](chart.md)", id="a file below"),
        pytest.param("[m](../Makefile) and [h](helm.md)", f"[m]({ADDRESS}/blob/main/Makefile) and [h](helm.md)", id="a file of the repository"),
        pytest.param("[n](nothing.md)", "[n](nothing.md)", id="a dead link stays, so that the build says so"),
        pytest.param("[`x`](../Makefile)", f"[`x`]({ADDRESS}/blob/main/Makefile)", id="code in a link"),
        pytest.param("`[m](../Makefile)`", "`[m](../Makefile)`", id="a link in code"),
        pytest.param("![p](audit.png)", "![p](audit.png)", id="a picture"),
        pytest.param(r"| `a \| b` | \| |", r"| `a | b` | \| |", id="a bar in a table"),
        pytest.param(r"`a \| b`", r"`a \| b`", id="a bar outside of a table"),
        pytest.param(
            "```sh\n| `a \\| b`\n[m](../Makefile)\n```\n[m](../Makefile)",
            f"```sh\n| `a \\| b`\n[m](../Makefile)\n```\n[m]({ADDRESS}/blob/main/Makefile)",
            id="a block of code",
        ),
        pytest.param("````\n```\n[m](../Makefile)\n````", "````\n```\n[m](../Makefile)\n````", id="nested fences"),
    ],
)  # fmt: skip
def test_markdown_for_github_becomes_markdown_for_the_site(site_markdown, text, expected):
    assert site_markdown.adapted(text, "docs/page.md", KNOWN, ADDRESS) == expected


def test_without_an_address_a_link_to_the_repository_is_its_text(site_markdown):
    text = "The [`Makefile`](../Makefile) and [Helm](helm.md)."
    assert site_markdown.adapted(text, "docs/page.md", KNOWN, "") == "The `Makefile` and [Helm](helm.md)."


def test_links_of_a_file_that_is_a_page_lead_from_there(site_markdown):
    text = "[a](docs/helm.md) [b](.github/SECURITY.md)"
    assert site_markdown.adapted(text, "CHANGELOG.md", KNOWN, "") == "[a](helm.md) [b](security.md)"


def test_a_drawing_becomes_a_part_of_the_page_and_follows_its_colours(site_markdown):
    (part,) = site_markdown.adapted('![Says "x" & <y>](diff.svg)', "docs/index.md", KNOWN, "").splitlines()
    assert part.startswith(
        '<div class="drawing" role="img" aria-label="Says &quot;x&quot; &amp; &lt;y>"><svg'
    )
    assert part.endswith("</svg></div>")
    assert "prefers-color-scheme" not in part
    assert '[data-md-color-scheme="slate"] .diff {' in part
    assert "prefers-reduced-motion" in part


def test_the_styles_of_a_drawing_count_for_nothing_else_on_the_page():
    for path in sorted((ROOT / "docs").glob("*.svg")):
        text = path.read_text(encoding="utf-8")
        styles = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
        rules = re.sub(r"@keyframes [\w-]+ \{[^{}]*\{[^{}]*\}\s*\}|@media [^{]*\{", "", styles)
        selectors = re.findall(r"([^{}]+)\{[^{}]*\}", rules)
        assert [one for one in selectors if not one.strip().startswith(f".{path.stem}")] == [], path
        assert not styles or f'class="{path.stem}"' in text


def test_the_anchors_of_links_exist_on_github_too():
    """MkDocs and GitHub may make different anchors of a heading: choose another heading then."""
    folders = (ROOT, ROOT / ".github", ROOT / "docs")
    pages = {path: path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.md")}
    anchors = {path: {anchor(heading) for _, _, heading in headings(text)} for path, text in pages.items()}
    links = [
        (path, (path.parent / target).resolve() if target else path, linked)
        for path, text in pages.items()
        for target, linked in re.findall(r"\]\(([^)\s#:]*)#([^)\s]+)\)", text)
    ]
    assert len(links) > 30
    dead = [
        (path.name, to.name, linked)
        for path, to, linked in links
        if to in anchors and linked not in anchors[to]
    ]
    assert dead == []
