"""The compiled wheel: which modules are in it, and what the build makes of them. `make compiled-test` builds one."""

from __future__ import annotations

import ast
import copy
import importlib.util
import os
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from archfit import record
from archfit.store.directories import default_path
from machine import ROOT
from warm_cache import warm

if TYPE_CHECKING:
    from types import ModuleType

PLACE = ROOT / "scripts" / "compiled_wheel"
PACKAGE = ROOT / "transformer" / "archfit"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
    "contracts"
]
WARM = (PLACE / "warm_modules.txt").read_text(encoding="utf-8").split()
INTERPRETED = {
    "c_json.py": "mypyc knows no assignment to several names in a class",
    "c_parser.py": "mypyc knows no class in a function",
    "errors.py": "interpreted modules derive exceptions from these",
    "memo.py": "it derives from dict, so mypyc would leave it as it is",
    "printable.py": "terminal derives a class from one of these",
    "record.py": "it is a metaclass",
    "typing_names.py": "type checkers read another block of it than programs run",
}
DEPLOYMENT = b"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: a
spec:
  template:
    spec:
      containers:
      - name: a
        image: a.example/a
"""
LOADED = """
import sys
import archfit.cli
status = archfit.cli.main([])
print(status, *sorted(name for name in sys.modules if name.startswith("archfit.")), file=sys.stderr)
"""


def _loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, PLACE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


native_classes = _loaded("native_classes")


def text(module: str) -> str:
    return (PACKAGE / module).read_text(encoding="utf-8")


def test_the_pure_modules_of_a_warm_run_are_compiled():
    """If not: write them into scripts/compiled_wheel/warm_modules.txt, or into INTERPRETED with the reason."""
    warm({"a.example/a": ["linux/amd64"]}, default_path(os.environ))
    done = subprocess.run(
        [sys.executable, "-I", "-c", LOADED], input=DEPLOYMENT, capture_output=True, check=False
    )
    status, *names = done.stderr.decode().splitlines()[-1].split()
    assert status == "0", done.stderr
    (pure,) = [one["source_modules"] for one in CONTRACTS if one["name"].startswith("pure code never")]
    paths = [name.removeprefix("archfit.").replace(".", "/") + ".py" for name in names]
    loaded = {
        path
        for name, path in zip(names, paths, strict=True)
        if (PACKAGE / path).exists() and any(f"{name}.".startswith(f"{one}.") for one in pure)
    }
    missing = loaded - set(WARM) - set(INTERPRETED)
    assert missing == set()
    assert all((PACKAGE / path).exists() for path in (*WARM, *INTERPRETED))
    assert not INTERPRETED.keys() & set(WARM)


@pytest.mark.parametrize("module", WARM)
def test_a_module_keeps_its_lines(module):
    """A traceback of compiled code names the line of the source."""
    before = text(module)
    assert native_classes.compilable(before)
    after = native_classes.with_native_classes(before)
    assert after.count("\n") == before.count("\n")
    assert _lines(before).items() <= _lines(after).items()
    assert "(Record)" not in after or "from archfit.native_record import" in after


def _lines(source: str) -> dict[tuple[int, str], str]:
    """Where each statement of a function begins, and what it says."""
    return {
        (statement.lineno, type(statement).__name__): ast.unparse(statement)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        for statement in ast.walk(node)
        if isinstance(statement, ast.stmt) and not isinstance(statement, (ast.FunctionDef, ast.AnnAssign))
    }


def test_no_interpreted_class_derives_from_a_compiled_one():
    """Python would refuse to make it: interpreted classes cannot inherit from compiled."""
    compiled = {f"archfit.{module.removesuffix('.py').replace('/', '.')}" for module in WARM}
    found = []
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).as_posix() in WARM:
            continue
        module = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            alias.asname or alias.name
            for node in ast.walk(module)
            if isinstance(node, ast.ImportFrom) and node.module in compiled
            for alias in node.names
        }
        found += [
            (path.name, node.name)
            for node in ast.walk(module)
            if isinstance(node, ast.ClassDef)
            and any(isinstance(base, ast.Name) and base.id in names for base in node.bases)
        ]
    assert found == []


RECORDS = '''\
from __future__ import annotations

from archfit.record import Record


class Base(Record):
    """A first one.

    key: .
    """

    __test__ = False

    key: str
    effect: str = ""

    @property
    def both(self) -> str:
        return self.key + self.effect


class Longer(Base):
    """Derived."""

    many: tuple[
        int, ...
    ] = ()


class Word(str):
    __slots__ = ()
'''


@pytest.fixture
def twins(monkeypatch) -> tuple[dict[str, object], dict[str, object]]:
    """The records as they are, and as they are compiled, in the interpreter."""
    monkeypatch.setitem(sys.modules, "archfit.native_record", _loaded("native_record"))
    made = []
    for source in (RECORDS, native_classes.with_native_classes(RECORDS)):
        names: dict[str, object] = {"__name__": "twin"}
        exec(compile(source, "twin.py", "exec"), names)
        made.append(names)
    return made[0], made[1]


@pytest.mark.parametrize("form", [0, 1], ids=["record", "native"])
def test_a_native_record_does_what_a_record_does(twins, form):
    base, longer = twins[form]["Base"], twins[form]["Longer"]
    assert base("a") == base(key="a") == base("a", "")
    assert base("a") != base("b")
    assert base("a") != longer("a")
    assert hash(base("a")) == hash(base("a"))
    assert repr(longer("a", many=(1,))) == "Longer(key='a', effect='', many=(1,))"
    assert longer("a").replace(effect="b") == longer("a", "b")
    assert longer("a", "b", (2,)).both == "ab"
    assert base._fields == ("key", "effect")
    assert longer._fields == ("key", "effect", "many")
    assert not base.__test__
    one = longer("a", "b", (3,))
    assert copy.copy(one) is one
    assert copy.deepcopy(one) is one
    for wrong in (
        base,
        lambda: base("a", "b", "c"),
        lambda: base("a", other=1),
        lambda: one.replace(x=1),
    ):
        with pytest.raises(TypeError):
            wrong()
    assert isinstance(one, record.Record) == (form == 0)


def test_a_record_without_room_for_its_constructor_is_refused():
    tight = "from __future__ import annotations\nclass A(Record):\n    'A.'\n    a: int\n    b = 1\n"
    with pytest.raises(ValueError, match="has no empty line beside it"):
        native_classes.with_native_classes(tight)


@pytest.mark.parametrize(
    ("source", "may"),
    [
        pytest.param("TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import a\n", True, id="types"),
        pytest.param("if TYPE_CHECKING:\n    import a\nelse:\n    a = 1\n", False, id="two-blocks"),
        pytest.param("import a\n", True, id="plain"),
    ],
)
def test_a_module_that_type_checkers_read_otherwise_is_not_compiled(source, may):
    assert native_classes.compilable(source) is may
