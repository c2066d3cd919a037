"""What people read agrees with the code."""

import re

import pytest

from archfit.cli.usage.command_table import COMMANDS
from machine import ROOT

FOLDERS = (ROOT, ROOT / ".github", ROOT / "docs")
PAGES = sorted(path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in folder.glob("*.md"))
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = [target for target in _LINK.findall(text) if not (ROOT / page).parent.joinpath(target).exists()]
    assert missing == []


def test_the_table_of_exit_codes_is_that_of_the_commands():
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8").partition("## Exit codes")[2]
    said = {
        name: tuple(cell.strip() for cell in row.strip("|").split("|")[1:])
        for row in text.splitlines()
        if row.startswith("| `archfit ")
        for name in re.findall(r"`archfit ([a-z -]+)`", row.split("|")[1])
    }
    codes = {command.name: dict(command.exits) for command in COMMANDS}
    assert said == {name: (of[0], of[1], of.get(3, "")) for name, of in codes.items()}
    assert {of[2] for of in codes.values()} == {"wrong usage"}


def test_the_modules_and_folders_that_contributing_names_exist():
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_0-9]+/)+(?:[a-z_0-9]+\.[a-z]+)?|[a-z_0-9]+\.py)`", text))
    package = ROOT / "transformer" / "archfit"
    places = (ROOT, package, package / "workloads", package / "placement", package / "integrations" / "helm")
    assert len(named) > 30
    assert sorted(name for name in named if not any((place / name).exists() for place in places)) == []
