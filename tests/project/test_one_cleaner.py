"""What commands write to standard output goes through the one cleaner, or is on the list of what needs none."""

from __future__ import annotations

import ast
from pathlib import Path

import archfit

PACKAGE = Path(archfit.__file__).parent
CLEANING = {"encoded", "json_output", "json_text", "visible"}
# What is written as it is: manifests and files of archfit's own making, help texts, and the bytes that --raw asks for.
AS_IT_IS = {
    "commands/inspect.py": {"documents", "as_json"},
    "integrations/argocd/command.py": {"renderer_of", "announcement"},
    "integrations/helm/setup.py": {"setup_files"},
    "commands/login_check.py": {"_text"},
}
HELP = {"HELP", "_answered", "help_text"}


def test_every_write_to_standard_output_is_cleaned() -> None:
    found = []
    for path in sorted([*(PACKAGE / "commands").rglob("*.py"), *(PACKAGE / "integrations").rglob("*.py")]):
        name = str(path.relative_to(PACKAGE))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if (
                node.func.attr not in {"write", "writelines"}
                or getattr(node.func.value, "id", "") != "stdout"
            ):
                continue
            names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            if not names & (CLEANING | HELP | AS_IT_IS.get(name, set())):
                found.append(f"{name}:{node.lineno}")
    assert found == []


def test_no_module_has_a_table_of_characters_of_its_own() -> None:
    own = [
        str(path.relative_to(PACKAGE))
        for path in sorted((*(PACKAGE / "report").glob("*.py"), *(PACKAGE / "commands").glob("*.py")))
        if "isprintable" in (text := path.read_text(encoding="utf-8")) or "range(127, 160)" in text
    ]
    assert own == []
