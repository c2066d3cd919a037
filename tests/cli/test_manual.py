"""`archfit help`: the pages of the documentation in a terminal, offline, and how Markdown becomes text."""

import re
import tomllib
from pathlib import Path

import pytest

from archfit.base import documentation
from archfit.cli.manual import topics
from archfit.cli.page_text import headings, inline, page_lines
from archfit.cli.usage.command_table import COMMANDS, MAIN
from archfit.cli.usage.help import COLUMNS, short_help
from file_runs import run
from machine import ROOT
from program import archfit

WHEEL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"][
    "targets"
]["wheel"]
# A checkout shows every page; a wheel those that it holds.
LEFT_OUT = set() if Path(documentation.pages_folder()).resolve() == ROOT / "docs" else set(WHEEL["exclude"])
WRITTEN = sorted((ROOT / "docs").glob("*.md"))
PAGES = [page for page in WRITTEN if f"/docs/{page.name}" not in LEFT_OUT]


def text(*words: str) -> str:
    ended = run(("help", *words))
    assert ended.status == 0, ended.stderr
    return ended.stdout.decode()


def test_without_a_word_it_shows_the_help_and_names_every_page():
    shown = text()
    assert shown.startswith(short_help(MAIN))
    listing = shown.partition("pages, shown by `archfit help PAGE`:\n")[2]
    assert listing.replace(",", "").split() == sorted(page.stem for page in PAGES)
    assert max(map(len, listing.splitlines())) <= COLUMNS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_page_is_shown_whole_as_plain_text(page):
    source = page.read_text(encoding="utf-8")
    shown = text(page.name)
    assert "\x1b" not in shown
    assert "](" not in re.sub(r"^    .*$", "", shown, flags=re.MULTILINE)
    missing = [heading for _, _, heading in headings(source) if inline(heading) not in shown]
    assert missing == []
    blocks = re.findall(r"^```\w*\n(.*?)^```$", source, re.MULTILINE | re.DOTALL)
    for block in blocks:
        for line in block.splitlines():
            assert line.rstrip() in shown
    # It fits 80 columns but for what is copied.
    for line in shown.splitlines():
        longest = max(map(len, line.split()), default=0)
        assert len(line) <= COLUMNS or line.startswith("    ") or longest > COLUMNS // 3, line


@pytest.mark.parametrize(
    ("word", "same_as"),
    [
        pytest.param("registries", "registries.md", id="name"),
        pytest.param("docs/registries.md", "registries.md", id="path"),
        pytest.param("docs/check.md", "check.md", id="path-of-a-page-with-the-name-of-a-command"),
    ],
)
def test_a_page_has_several_names(word, same_as):
    assert text(word) == text(same_as)


def test_a_command_comes_before_a_page_and_says_where_the_page_is():
    shared = [command.name for command in COMMANDS if command.name in topics()]
    assert {"check", "audit", "serve"} <= set(shared)
    assert text("check").endswith("\nIts page: archfit help check.md\n")
    assert text("check.md").startswith("archfit check\n=============\n")
    assert "Its page" not in text("inspect")


def test_a_part_of_a_page_ends_at_the_next_heading_of_its_level():
    shown = text("check.md#exit-codes")
    assert shown.startswith("Exit codes\n----------\n")
    assert "As tests" in text("check.md#formats")
    assert "Formats\n" not in shown


MISTAKES = [
    pytest.param(["regisries"], "did you mean archfit help registries?", id="page"),
    pytest.param(["chekc"], "did you mean 'check'?", id="command-first"),
    pytest.param(["zzzzzzzz"], "`archfit help` lists both", id="nothing-near"),
    pytest.param(["check.md#exit-code"], "did you mean check.md#exit-codes?", id="heading"),
    pytest.param(["check.md#zzzzzzzz"], "see archfit help check.md", id="no-heading-near"),
    pytest.param(["registries", "helm"], "so name it alone", id="two-words"),
    pytest.param(["../README"], "neither a command nor a page", id="no-other-file"),
    pytest.param(["registries\x1b[31m"], r"\x1b", id="escaped"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_a_mistake_names_what_was_meant(words, said):
    ran = archfit(b"", "help", *words)
    assert (ran.status, ran.stdout) == (2, b"")
    assert said in ran.stderr


def test_an_installation_without_pages_says_so(monkeypatch, tmp_path):
    from archfit.cli import manual

    monkeypatch.setattr(manual, "pages_folder", lambda: str(tmp_path / "none"))
    assert topics() == []


def test_the_pages_of_a_wheel_come_first(monkeypatch, tmp_path):
    base = tmp_path / "archfit" / "base"
    base.mkdir(parents=True)
    monkeypatch.setattr(documentation, "__file__", str(base / "documentation.py"))
    assert not documentation.pages_folder().endswith("pages")
    (tmp_path / "archfit" / "pages").mkdir()
    assert Path(documentation.pages_folder()).resolve() == tmp_path / "archfit" / "pages"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        pytest.param("# A `b`\n\n### c", ["A `b`", "=====", "", "c"], id="headings"),
        pytest.param("a\nb\n\nc", ["a b", "", "c"], id="paragraphs"),
        pytest.param("- a\n  b\n- c", ["- a b", "- c"], id="items"),
        pytest.param("1. a\n2. b", ["1. a", "2. b"], id="numbers"),
        pytest.param("```sh\n# a\n  b | c\n```\nd", ["    # a", "      b | c", "d"], id="code"),
        pytest.param(
            "| A | B |\n| --- | --: |\n| a \\| `x\\|y` | b<br>c |",
            ["A          B", "---------  -", "a | `x|y`  b", "           c"],
            id="table",
        ),
        pytest.param("[a](helm.md#b) [helm.md](helm.md) [c](#d) [e](../x/y.md)", ["a (helm.md#b) helm.md c e"], id="links"),
        pytest.param("**a** `**b**` ![c](d.svg)", ["a `**b**` [picture: c]"], id="marks"),
        pytest.param("<!-- a -->\nb", ["", "b"], id="comment"),
        pytest.param("", [""], id="nothing"),
        pytest.param("```\nopen", ["    open"], id="a-block-that-does-not-end"),
    ],
)  # fmt: skip
def test_markdown_as_text(source, shown):
    assert list(page_lines(source, 80)) == shown


def test_a_table_is_wrapped_until_it_fits():
    row = f"| {'word ' * 30}| {'other ' * 30}|"
    lines = list(page_lines(f"| A | B |\n| - | - |\n{row}", 60))
    assert max(map(len, lines)) <= 60
    assert sum(line.count("word") for line in lines) == 30
