"""The man page and docs/commands.md are those of the table."""

from __future__ import annotations

import subprocess

import command_pages as pages
import option_pages
import pytest

import machine
from archfit.cli.usage.command_table import COMMANDS
from machine import ROOT


def test_the_man_page_is_the_one_in_the_code():
    """Renew it: python scripts/command_pages.py man > docs/archfit.1"""
    assert (ROOT / "docs" / "archfit.1").read_text(encoding="utf-8") == pages.man_page()


def test_the_reference_of_the_commands_is_the_one_in_the_code():
    """Renew it: python scripts/command_pages.py update docs/commands.md > X && cp X docs/commands.md"""
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert pages.updated(text) == text


def test_the_schema_of_the_charts_values_is_the_one_in_the_code():
    """Renew it: python scripts/command_pages.py values charts/archfit/values.schema.json > X && cp X charts/.."""
    text = (ROOT / "charts" / "archfit" / "values.schema.json").read_text(encoding="utf-8")
    before = option_pages.main(["schema"])
    assert pages.values_schema(text) == text
    assert option_pages.main(["schema"]) == before


@pytest.mark.real
def test_roff_takes_the_man_page_without_a_warning():
    done = subprocess.run(
        [machine.tool("groff"), "-man", "-Tutf8", "-ww", "-z"],
        input=pages.man_page(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""


def test_the_man_page_shows_every_command_as_the_user_types_it():
    page = pages.man_page().replace("\\-", "-")
    for command in COMMANDS:
        if command.run:
            assert f".B archfit {command.usage[0].split(' [')[0]}".split(" <")[0] in page


def test_the_reference_shows_every_command_and_flag():
    page = pages.markdown_reference()
    for command in COMMANDS:
        if command.run:
            section = page.partition(f"## archfit {command.name}\n")[2].partition("\n## ")[0]
            assert f"archfit {command.usage[0]}" in section
            assert all(f"`{flag.names[0]}" in section for flag in command.flags)


@pytest.mark.parametrize(
    ("argv", "begins"), [(["man"], ".TH ARCHFIT 1"), (["commands"], "| Command | What it does |")]
)
def test_each_page_is_printed(argv, begins):
    assert pages.main(argv).startswith(begins)


def test_wrong_words_and_pages_without_markers_are_refused():
    with pytest.raises(ValueError, match="write man, commands"):
        pages.main(["book"])
    with pytest.raises(ValueError, match="has no lines"):
        pages.updated("# a page\n")
