"""Docstrings and comments that name another module, as `registry.client` or `decide.decide`, name one that exists."""

import ast
import io
import pkgutil
import re
import tokenize
from collections import Counter
from contextlib import suppress

import pytest

from machine import ROOT

PACKAGE = ROOT / "transformer" / "archfit"
_DOTTED = re.compile(r"(?<!`)`((?:[a-z_0-9]+\.)+[A-Za-z_0-9]+)`(?!`)")
# Dotted names that begin like a module: Go's functions, fields of YAML objects.
OTHERS = {
    "platforms.Only",
    "platforms.Ordered",
    "affinity.tolerations",
    "affinity.advanced",
    "kustomize.dir",
    "kustomize.buildOptions",
}


def modules():
    """Dotted name below archfit -> the names that the module or package defines, imports or gives its objects."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assigned = {
            node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        found[name] = defined | assigned
    return found


MODULES = modules()
FOLDERS = {part for name in MODULES for part in name.split(".")}


def exists(dotted):
    """Whether it ends the name of a module, or is a name in one; `json.loads` and `yaml.load` are not ours."""
    if dotted.split(".")[0] in ("json", "yaml"):
        with suppress(ImportError, AttributeError):
            return bool(pkgutil.resolve_name(dotted))
    head, _, last = dotted.rpartition(".")
    ends = [name for name in MODULES if f".{name}".endswith((f".{dotted}", f".{head}"))]
    return any(f".{name}".endswith(f".{dotted}") or last in MODULES[name] for name in ends)


def texts(path):
    """The docstrings and comments of a file."""
    source = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.string.endswith('"""')):
            yield token.string


@pytest.mark.parametrize(
    "package",
    sorted(path.name for path in PACKAGE.iterdir() if path.suffix == ".py" or any(path.glob("*.py"))),
)
def test_docstrings_name_modules_that_exist(package):
    paths = [PACKAGE / package] if package.endswith(".py") else (PACKAGE / package).rglob("*.py")
    named = {
        (path.name, dotted) for path in paths for text in texts(path) for dotted in _DOTTED.findall(text)
    }
    known = {
        (file, dotted) for file, dotted in named if dotted.split(".")[0] in FOLDERS and dotted not in OTHERS
    }
    assert sorted(one for one in known if not exists(one[1].removeprefix("archfit."))) == []


def test_a_file_name_of_the_core_names_one_thing():
    """Products repeat names for the same part: `command`, `text`, `findings`, `setup`. Two nouns have a listing."""
    core = (
        "base",
        "yaml",
        "images",
        "options",
        "workloads",
        "placement",
        "edit",
        "registry",
        "lookup",
        "reports",
    )
    counted = Counter(path.stem for folder in core for path in (PACKAGE / folder).rglob("*.py"))
    assert (
        sorted(name for name, number in counted.items() if number > 1 and name not in ("__init__", "listing"))
        == []
    )
