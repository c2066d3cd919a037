"""What archfit writes to standard output goes through the one cleaner, or is on the list of what needs none."""

from __future__ import annotations

import ast
from pathlib import Path

import archfit

PACKAGE = Path(archfit.__file__).parent
CLEANING = {"encoded", "json_output", "json_text", "visible"}
HELP = {"_help", "short_help", "__version__"}
# What is written as it is: manifests and files of archfit's own making, and the bytes that --raw asks for.
AS_IT_IS = {
    "run.py": {"stream", "after_failure"},
    "audit/command.py": {"report"},
    "check/reports.py": {"reports"},
    "explain/command.py": {"output"},
    "inspect/command.py": {"documents", "as_json"},
    "inspect/login_check.py": {"_text"},
    "cli/package_files.py": {"schema", "_content"},
    "cli/manual.py": {"page_text"},
    "doctor/command.py": {"doctor_text"},
    "cli/inputs/output_files.py": {"parts"},
    "patch/command.py": {"output"},
    "policy/command.py": {"output", "objects_yaml"},
    "policy/check.py": {"as_text", "as_json"},
    "rewrite/command.py": {"parts"},
    "integrations/argocd/command.py": {"renderer_of", "rendering"},
    "cluster/configuration_file.py": {"text"},
    "integrations/helm/setup.py": {"setup_files"},
}
# Whose question it is whether a character can be seen, beside the cleaner: texts that become YAML, JSON or headers,
# not messages.
ASKS_ITSELF = {
    "base/c_json.py",
    "cluster/rows_file.py",
    "cluster/crds/derive.py",
    "yaml/block_lines.py",
}


def written(node: ast.AST) -> list[ast.expr]:
    """What `stdout.write(..)` or `standard_streams.write(stdout, ..)` writes; nothing for another node."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return []
    if node.func.attr not in {"write", "writelines"}:
        return []
    if getattr(node.func.value, "id", "") == "stdout":
        return node.args
    return node.args[1:] if node.args and getattr(node.args[0], "id", "") == "stdout" else []


def test_every_write_to_standard_output_is_cleaned() -> None:
    found, seen = [], 0
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(PACKAGE))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for argument in written(node):
                seen += 1
                parts = [part for part in ast.walk(argument) if isinstance(part, (ast.Name, ast.Attribute))]
                names = {part.id if isinstance(part, ast.Name) else part.attr for part in parts}
                if name != "base/standard_streams.py" and not names & (
                    CLEANING | HELP | AS_IT_IS.get(name, set())
                ):
                    found.append(f"{name}:{node.lineno}")
    assert found == []
    assert seen > 20


def test_no_module_has_a_table_of_characters_of_its_own() -> None:
    own = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "isprintable()" in (text := path.read_text(encoding="utf-8")) or "range(127, 160)" in text
    }
    assert own - ASKS_ITSELF == {"base/printable.py"}
