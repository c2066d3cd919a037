"""docs/files.md, Editors and schemas: its files are valid, its commands find what is wrong in other pages' files."""

import json
import re

import pytest
import yaml

import machine
from archfit.cli.usage.command_table import BY_NAME

PAGE = (
    (machine.ROOT / "docs" / "files.md")
    .read_text(encoding="utf-8")
    .partition("\n## Editors and schemas\n")[2]
)
CONFIGURATION = (machine.ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
LOCK = (machine.ROOT / "docs" / "lock.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path, archfit):
    """A folder with the schemas, as the page's first command writes them."""
    for name, file in (("config", "archfit"), ("lock", "lock")):
        (tmp_path / f"{file}.schema.json").write_bytes(archfit(b"", "schema", name).ok())
    return tmp_path


def check(folder, line):
    words = line.split()
    return machine.run([machine.tool(words[0]), *words[1:]], cwd=folder)


def test_the_commands_of_the_page_take_the_files_of_the_pages(folder):
    whole = next(block for block in blocks(CONFIGURATION, "yaml") if "enforced:" in block)
    lines = blocks(PAGE, "sh")[1].splitlines()
    assert len(lines) == 2
    for content in (whole, blocks(PAGE, "yaml")[0]):
        (folder / "archfit.yaml").write_text(content, encoding="utf-8")
        (folder / "archfit.lock").write_text(blocks(LOCK, "json")[0], encoding="utf-8")
        for line in lines:
            done = check(folder, line)
            assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("clusterArchitectures", "clusterArchitecture", id="a misspelt key"),
        pytest.param("[amd64, arm64]", "[]", id="no architecture"),
        pytest.param("kind: ArchFit", "kind: Archfit", id="another kind"),
    ],
)
def test_they_find_what_archfit_refuses(folder, archfit, right, wrong):
    content = blocks(PAGE, "yaml")[0]
    assert right in content
    (folder / "archfit.yaml").write_text(content.replace(right, wrong), encoding="utf-8")
    assert check(folder, blocks(PAGE, "sh")[1].splitlines()[0]).returncode == 1
    assert archfit(b"", "--config", "archfit.yaml", cwd=folder).status == 2


def test_the_settings_name_the_schemas(folder):
    settings = json.loads(blocks(PAGE, "json")[0])
    (schema,) = settings["yaml.schemas"]
    named = [schema, *(one["url"].removeprefix("./") for one in settings["json.schemas"])]
    assert all((folder / name).exists() for name in named)
    assert [repo["hooks"][0]["id"] for repo in yaml.safe_load(blocks(PAGE, "yaml")[1])["repos"]] == [
        "check-jsonschema"
    ]


@pytest.mark.parametrize("name", BY_NAME["schema"].words)
def test_a_schema_is_one_for_editors_too(name, archfit, tmp_path):
    """Their patterns are those of JavaScript."""
    (tmp_path / "x.json").write_bytes(archfit(b"", "schema", name).ok())
    done = check(tmp_path, "check-jsonschema --check-metaschema x.json")
    assert done.returncode == 0, done.stdout
