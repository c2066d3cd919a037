"""The repository's address is in one place; no file has another one, and no page shows what is not published."""

import re
import shutil
import sys
import tomllib
from pathlib import Path

import install_block
import pytest
import repository_address

from machine import ROOT, run

ADDRESS = repository_address.address()
OWNER = repository_address.owner_of(ADDRESS)
PAGES = [path for path in repository_address.files(ROOT) if path.suffix == ".md"]
# NAME is what the instructions for it say.
ANY_ADDRESS = re.compile(
    r"(?:github\.com[/:]|ghcr\.io/|github>|CI_SERVER_FQDN/)([\w.-]+)/archfit(?![A-Za-z0-9_])"
)
UNPUBLISHED = re.compile(
    r"(?:(?:pip|pipx|uv tool) install|pipx run|uvx|uv pip install|brew install|krew install)\s+(?:-\S+\s+)*"
    r"""['"]?archfit(?![\w./-])"""
)


def texts(root: Path) -> dict[str, str]:
    """The files that it reads, by their path."""
    found = {}
    for path in repository_address.files(root):
        content = path.read_bytes()
        if b"\0" not in content:
            found[path.relative_to(root).as_posix()] = content.decode(errors="replace")
    return found


@pytest.fixture
def small(tmp_path):
    """A repository of few files."""
    for name in ("pyproject.toml", "README.md", "docs/install.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


def test_every_url_of_the_project_begins_with_the_address():
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert list(urls) == ["Homepage", "Documentation", "Source", "Issues", "Changelog"]
    assert [url for url in urls.values() if not url.startswith(ADDRESS)] == []


def test_no_file_has_another_address():
    other = {
        (name, owner)
        for name, text in texts(ROOT).items()
        for owner in ANY_ADDRESS.findall(text)
        if owner.lower() not in {OWNER.lower(), "name"}
        and (name, owner) != ("scripts/repository_address.py", "owner")
    }
    assert sorted(other) == []


def test_an_address_is_written_everywhere_and_can_be_changed_again(copy):
    before = texts(copy)
    named = {name for name, text in before.items() if ADDRESS in text}
    assert {"pyproject.toml"} <= named
    for owner in {"Example-Team", "archfit", "example"} - {OWNER}:
        changed = repository_address.write(copy, f"https://github.com/{owner}/archfit")
        now = texts(copy)
        assert repository_address.address(copy) == f"https://github.com/{owner}/archfit"
        assert named <= {path.relative_to(copy).as_posix() for path in changed}
        kept = {"scripts/repository_address.py"}  # it says what the placeholder is
        assert [
            name for name, text in now.items() if f"{OWNER}/archfit" in text and name not in kept
        ] == [], "repository_address.py does not know this form of the address"
        assert [
            name
            for name, text in now.items()
            if re.search(r"ghcr\.io/(?!NAME)[a-z-]*[A-Z][\w-]*/archfit", text)
        ] == []
        assert repository_address.write(copy, f"https://github.com/{owner}/archfit/") == []
    repository_address.write(copy, ADDRESS)
    assert texts(copy) == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("https://github.com/TEAM/archfit/issues", "https://github.com/Acme/archfit/issues", id="web"),
        pytest.param("git@github.com:TEAM/archfit.git", "git@github.com:Acme/archfit.git", id="git"),
        pytest.param("oci://ghcr.io/TEAM/archfit/x", "oci://ghcr.io/acme/archfit/x", id="registry"),
        pytest.param("ghcr.io/TEAM/archfit-bundle:1", "ghcr.io/acme/archfit-bundle:1", id="longer-image"),
        pytest.param("https://TEAM.github.io/archfit/", "https://acme.github.io/archfit/", id="site"),
        pytest.param('"github>TEAM/archfit"', '"github>Acme/archfit"', id="renovate"),
        pytest.param("- uses: TEAM/archfit@v1", "- uses: Acme/archfit@v1", id="action"),
        pytest.param("- repo: TEAM/archfit", "- repo: Acme/archfit", id="repo"),
        pytest.param("$CI_SERVER_FQDN/TEAM/archfit/x@1", "$CI_SERVER_FQDN/Acme/archfit/x@1", id="gitlab"),
        pytest.param("/opt/TEAM/archfit", "/opt/TEAM/archfit", id="a-path"),
        pytest.param("https://github.com/TEAM/archfitted", "https://github.com/TEAM/archfitted", id="another-name"),
        pytest.param("https://github.com/OTHER/archfit", "https://github.com/OTHER/archfit", id="another-owner"),
    ],
)  # fmt: skip
def test_each_form_of_the_address(text, expected):
    assert repository_address.replaced(text, "TEAM", "Acme") == expected


@pytest.mark.parametrize(
    "url",
    [
        "github.com/acme/archfit",
        "https://gitlab.com/acme/archfit",
        "https://github.com/acme/other",
        "https://github.com/-a/archfit",
        "",
    ],
)
def test_other_urls_are_refused_and_change_nothing(small, url):
    before = texts(small)
    with pytest.raises(ValueError, match=re.escape("write https://github.com/NAME/archfit")):
        repository_address.write(small, url)
    assert texts(small) == before


def test_it_names_the_lines_that_explain_the_placeholder(small):
    repository_address.write(small, "https://github.com/acme/archfit")
    (small / "page.md").write_text("a\n`OWNER` is a placeholder\nOWNER stands for you\n", encoding="utf-8")
    found = list(repository_address.explanations(small))
    assert [one for one in found if one.startswith("page.md")] == ["page.md:2", "page.md:3"]


@pytest.mark.parametrize(("words", "code"), [((), 0), (("https://example.com",), 2), (("a", "b"), 2)])
def test_the_program_says_the_address_or_what_is_wrong(words, code):
    done = run([sys.executable, ROOT / "scripts" / "repository_address.py", *words])
    assert done.returncode == code
    assert (done.stdout == f"{ADDRESS}\n") if code == 0 else done.stderr.startswith("repository_address: ")


def test_the_install_blocks_are_renewed():
    """If not: python scripts/repository_address.py $(python scripts/repository_address.py)"""
    published = repository_address.is_set()
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        assert install_block.updated(text, published=published) == text, path


def test_a_block_follows_from_the_address():
    page = "a\n<!-- install -->\nold\n<!-- /install -->\nb\n"
    made = {published: install_block.updated(page, published=published) for published in (True, False)}
    assert "pipx install archfit " in made[True]
    assert "not published" in made[False]
    assert not UNPUBLISHED.search(made[False])
    for text in made.values():
        assert text.startswith("a\n<!-- install -->\n")
        assert text.endswith("<!-- /install -->\nb\n")
        assert install_block.updated(text, published=True) == made[True]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_installs_what_is_not_published(page):
    if repository_address.is_set():
        return  # then the pages show what is published
    text = page.read_text(encoding="utf-8")
    assert UNPUBLISHED.findall(text) == []
    if f"{OWNER}/archfit" in text:
        assert re.search(r"OWNER`? (?:stands for|is a placeholder)", text), "say what OWNER stands for"
