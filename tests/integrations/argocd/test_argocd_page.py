"""docs/argocd.md is true: its examples are the recipe's files, its tables have every row, its components build."""

from __future__ import annotations

import re

import pytest

import machine
from archfit.integrations.argocd import setup_files
from archfit.integrations.argocd.source_parameters import ROWS, SOURCES
from archfit.usage.command_table import BY_NAME

PAGE = (machine.ROOT / "docs" / "argocd.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = setup_files.files(
    discover=False, sidecar_image=setup_files.SIDECAR_IMAGE, bundle_image=setup_files.BUNDLE_IMAGE
)


def test_the_application_is_the_recipes() -> None:
    assert ("yaml", FILES["sidecar/application.yaml"]) in BLOCKS


def test_every_parameter_is_in_the_table_with_its_form() -> None:
    shown = dict(re.findall(r"^\| `([a-z-]+)` \| (string|array|map) \|", PAGE, re.MULTILINE))
    assert shown == {row.name: "string" if row.shape == "boolean" else row.shape for row in ROWS}
    assert all(f"`{source}`" in PAGE for source in SOURCES)


@pytest.mark.parametrize("folder", ["sidecar", "build-options"])
def test_the_components_are_where_the_page_says(folder: str) -> None:
    assert f"components: [argocd-archfit/{folder}]" in PAGE
    assert f"{folder}/kustomization.yaml" in FILES
    assert f"-f argocd-plugin/{folder}/Dockerfile ." in PAGE
    assert f"-f argocd-plugin/{folder}/Dockerfile ." in FILES[f"{folder}/Dockerfile"]


def test_every_file_that_an_image_copies_is_in_the_repository() -> None:
    for name, text in FILES.items():
        if name.endswith("Dockerfile"):
            for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE):
                *sources, _target = line.split()
                assert all((machine.ROOT / source).exists() for source in sources), line


def test_the_commands_of_the_page_exist() -> None:
    flags = {name for flag in BY_NAME["setup argocd"].flags for name in flag.names}
    for kind, text in BLOCKS:
        if kind == "sh":
            for flag in re.findall(r"setup argocd.*?(--[a-z-]+)", text):
                assert flag in flags
