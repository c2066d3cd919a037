"""tests/support/sentences.md: what each sentence with a number or with `all`, `nothing`, `ready` counts, and its test.

The scan finds the texts that the package makes where results become words (`PLACES`). `N` stands for what is put in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from machine import ROOT

_PACKAGE = ROOT / "transformer" / "archfit"
PLACES = (
    "audit",
    "check",
    "cli",
    "cluster",
    "doctor",
    "edit/object_patches.py",
    "explain",
    "inspect",
    "integrations",
    "lock",
    "lookup",
    "patch",
    "policy",
    "reports",
    "rewrite",
    "webhook",
    "run.py",
    "base/terminal.py",
)
SILENT = re.compile(
    r"schema\.py$|schemas\.py$"  # describe fields
    r"|^cli/(usage/|inputs/|completion_scripts|unknown_flag)"  # help, errors
    r"|^policy/cel/|^webhook/server/|^lookup/store/"  # CEL, logs
    r"|^cluster/crds/|setup_files\.py$|own_pods\.py$|rows_file\.py$"  # written into files for people to edit
    r"|^explain/(explanation|steps|images|remedies)\.py$"  # held by test_explained_laws: they agree with the decision
    r"|/(source_parameters|plugin_environment|renderer_.*)\.py$"  # settings, and errors of settings
)
CLAIM = re.compile(
    r"\bN %|\bN of N\b|\bof N that|\b(0|N) (images?|pods?|objects?|nodes?|workloads?|files?|lists?|entries|places?)\b"
    r"|\bN (of them|not known|left|stated|pod (spec|template)s?|DaemonSets?|registry requests?|problems?|things?)\b"
    r"|\b(all|nothing|every|everything|none|each|only|ready|same|whole|up to date|complete|accepted|100 %)\b"
    r"|\bno (pods?|workload|images?|node|Linux node|DaemonSet|registry|file)\b",
    re.IGNORECASE,
)
NO_CLAIM = re.compile(
    r"^--(?!require N|min-ready: N|fail)|^- is |^, or "  # an error of usage
    r"|^give this user "  # a remedy
    r"|: (add|write|name|correct|pass|run|install|set|leave) "  # with its remedy
    r"|^note: v1beta1|^kubectl "  # about Kubernetes; a command
    r"|nothing was written\. |no file was changed: |is no file"  # an error: the exit code says that nothing was done
    r"|^[^ ]* ?ready$|^CPU |^Not ready$|^All tables|^a whole number$|^no (pods now|image|node)$"  # labels
    r"|\(\?|\[a-z|^tuple\["  # patterns and types
    r"|which is for Helm 4|loses? all|loads none|exec format error"  # about other programs
)


def _texts(path: Path, *, errors: bool) -> Iterator[str]:
    """The texts of a module, without docstrings. errors: also those that are raised."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            left_out.update(id(part) for part in node.values)
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if not errors and (isinstance(node, ast.Raise) or called.endswith(("Error", "Wrong", "compile"))):
            left_out.update(map(id, ast.walk(node)))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in left_out:
            text = _text(node)
            if " " in text:
                yield text


def _text(node: ast.expr) -> str:
    """The words with `N` for what is put in, and `N pods` for `count(number, "pod")`."""
    match node:
        case ast.Constant(value=str(text)):
            return " ".join(text.replace("`", "'").replace("|", "/").split())
        case ast.JoinedStr(values=parts):
            return " ".join("".join(map(_part, parts)).replace("`", "'").replace("|", "/").split())
    return ""


def _part(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(
            value=ast.Call(func=ast.Name(id="count"), args=[_, ast.Constant(value=noun)])
        ):
            return f"N {noun}s"
    return "N"


def _modules() -> Iterator[str]:
    for place in PLACES:
        for path in sorted((_PACKAGE / place).rglob("*.py")) or [_PACKAGE / place]:
            name = str(path.relative_to(_PACKAGE))
            if not SILENT.search(name):
                yield name


def _rows() -> list[list[str]]:
    """Of each row: the sentence, its package, what is counted, what is not in it, its test."""
    text = (ROOT / "tests" / "support" / "sentences.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    return [[row[0].strip("`"), *row[1:]] for row in rows]


def test_each_sentence_has_a_row_and_each_row_its_sentence() -> None:
    said = {
        (text, module.split("/")[0])
        for module in _modules()
        for text in _texts(_PACKAGE / module, errors=False)
        if CLAIM.search(text) and not NO_CLAIM.search(text)
    }
    raised = {
        (text, module.split("/")[0])
        for module in _modules()
        for text in _texts(_PACKAGE / module, errors=True)
    }
    rows = {(row[0], row[1]) for row in _rows()}
    assert sorted(said - rows) == [], "write a row for it into tests/support/sentences.md"
    assert sorted(rows - said - raised) == []
    assert len(said) > 100


def test_each_row_says_what_it_counts_and_names_a_test_that_exists() -> None:
    there = {
        f"{path.stem}::{name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
    }
    assert [row for row in _rows() if len(row) != 5 or not all(row[2:4]) or row[4] not in there] == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param("f\"{count(pods, 'pod')} run\"", "N pods run", id="a number"),
        pytest.param('f"{part} of {whole} run"', "N of N run", id="a part"),
        pytest.param('"nothing is wrong"', "nothing is wrong", id="nothing"),
        pytest.param('"every image " "has it"', "every image has it", id="two parts"),
    ],
)
def test_the_scan_finds(tmp_path: Path, source: str, text: str) -> None:
    (tmp_path / "a.py").write_text(f"said = {source}\n", encoding="utf-8")
    assert list(_texts(tmp_path / "a.py", errors=False)) == [text]
    assert CLAIM.search(text)
    assert not NO_CLAIM.search(text)
