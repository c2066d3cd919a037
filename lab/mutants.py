"""`make -C lab mutants COUNT=150 SEED=1`: small faults in a copy of the package, and those that no fast test finds.

    python -m mutants [--count N] [--seed N] [--folder PATTERN]

Drawn by the seed, each place equally likely: in Python a comparison, a boolean operator or a `not` turned round, a
condition made constant, a number or boolean changed, a word that is compared or looked up, neighbours of a call or a
dict exchanged, a call left out, nothing returned; one in twelve is in a row of `workloads/kinds`: a line left out, or
the end of its text changed. Messages, types and docstrings are left alone.

First run the tests that name the module, and those of its folder, until one fails that passes without the fault. What
is left runs through all fast tests at once, and each test that fails there is asked of each of them alone. A run that
loops or breaks counts as found. A survivor may mean the same as the original: read each.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from machine import ROOT

PACKAGE = Path("transformer") / "archfit"
FAST = ("-m", "not load", "--ignore=tests/real", "--quick", "-q")
# Half of all fast tests take less of a processor.
BOUNDED = ("timeout", "--signal=KILL", "1h", "prlimit", "--cpu=600", f"--as={6 << 30}")
BROKEN = "pytest ends before its tests"
MOST = 40  # failed tests of a run of all
_TURNED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip
_LEFT_ALONE = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)
_COMPARED = {ast.Compare: ("left", "comparators"), ast.Subscript: ("slice",), ast.Dict: ("keys",)}


class Mutant(NamedTuple):
    """The bytes of a file from `start` to `end` are `new`. path: from the repository. old: the whole file."""

    path: Path
    old: bytes
    start: int
    end: int
    new: bytes

    def __str__(self) -> str:
        line, was = self.old.count(b"\n", 0, self.start) + 1, self.old[self.start : self.end].decode()
        return f"{self.path}:{line}: {' '.join(was.split())!r} -> {' '.join(self.new.decode().split())!r}"

    @property
    def folder(self) -> str:
        return self.path.relative_to(PACKAGE).parts[0]


def of_python(path: Path) -> Iterator[Mutant]:
    """Every fault of a module."""
    data = (ROOT / path).read_bytes()
    begins = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    pending: list[Any] = [ast.parse(data)]
    while pending:
        node = pending.pop()
        if isinstance(node, _LEFT_ALONE):
            continue
        for name, value in ast.iter_fields(node):
            if name not in {"annotation", "returns", "decorator_list"}:
                pending += filter(ast.AST.__instancecheck__, value if isinstance(value, list) else [value])
        for place, new in changes(node):
            start, end = (
                begins[place.lineno - 1] + place.col_offset,
                begins[place.end_lineno - 1] + place.end_col_offset,
            )
            if new.encode() != data[start:end]:
                yield Mutant(path, data, start, end, new.encode())


def changes(node: Any) -> Iterator[tuple[Any, str]]:
    """(node, what may stand in its place) of a node, and of the texts in it that a program compares or looks up."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _TURNED:
            yield node, _unparsed(node, ops=[_TURNED[type(op)]()])
        case ast.BoolOp(op=op) | ast.BinOp(op=ast.Add() | ast.Sub() as op):
            yield node, _unparsed(node, op=_TURNED[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({ast.unparse(operand)})"
        case ast.Constant(value=bool() | int() as value):
            yield node, str(value + 1 if type(value) is int else not value)
        case ast.Return(value=ast.expr()):
            yield node, "return None"
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
            yield node, "pass"
        case ast.Call(args=[first, second, *rest]) if not isinstance(first, ast.Starred | ast.Constant):
            yield node, _unparsed(node, args=[second, first, *rest])
        case ast.Dict(values=[first, second, *rest]):
            yield node, _unparsed(node, values=[second, first, *rest])
        case ast.If(test=test) | ast.IfExp(test=test) if "TYPE_CHECKING" not in ast.unparse(test):
            yield from ((test, word) for word in ("True", "False"))
    for field in _COMPARED.get(type(node), ()):
        value = getattr(node, field)
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, ast.Constant) and isinstance(word.value, str):
                yield word, repr(word.value + "X")


def _unparsed(node: ast.AST, **fields: object) -> str:
    return f"({ast.unparse(type(node)(**{**dict(ast.iter_fields(node)), **fields}))})"


def of_rows(path: Path) -> Iterator[Mutant]:
    """Every fault of a file of kinds."""
    data = (ROOT / path).read_bytes()
    for line in re.finditer(rb"^ *(?:- )?[\w'][^\n#]*[^\n:>|#]\n", data, re.MULTILINE):
        for new in (b"", line[0][:-1] + b"X\n"):
            yield Mutant(path, data, line.start(), line.end(), new)


def drawn(count: int, seed: int, fits: Callable[[str], object]) -> list[Mutant]:
    files = [one.relative_to(ROOT) for one in sorted((ROOT / PACKAGE).rglob("*.*"))]
    files = [one for one in files if fits(one.relative_to(PACKAGE).parts[0])]
    rows = [one for path in files if path.suffix == ".yaml" for one in of_rows(path)]
    python = [one for path in files if path.suffix == ".py" for one in of_python(path)]
    chance, of_kinds = random.Random(seed), count // 12 if rows else 0
    return [*chance.sample(python, count - of_kinds), *chance.sample(rows, of_kinds)]


class Site:
    """A copy of the repository, with an environment whose `archfit` is the copy's."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._fit, own = folder, dict[str, bool](), Path(sys.prefix)
        leave = shutil.ignore_patterns(".git", ".venv", ".tools", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, folder, symlinks=True, ignore=leave, dirs_exist_ok=True)
        (folder / ".tools").symlink_to((ROOT / ".tools").resolve())
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
        (packages,) = (folder / ".venv").glob("lib/python3*/site-packages")
        paths = f"{folder / PACKAGE.parent}\n{own / packages.relative_to(folder / '.venv')}\n"
        (packages / "copy.pth").write_text(paths, encoding="utf-8")
        for script in (own / "bin").glob("*archfit"):
            copy = Path(shutil.copy(script, folder / ".venv" / "bin"))
            copy.write_text(copy.read_text("utf-8").replace(str(own), str(folder / ".venv")), "utf-8")

    def failed(self, mutants: Collection[Mutant], *words: str) -> list[str]:
        """The tests that fail with the faults and pass without them; or how the run ended otherwise."""
        known = [f"--deselect={one}" for one, fit in self._fit.items() if not fit]
        found = self._run(mutants, *words, *known)
        unknown = [one for one in found if one not in {*self._fit, BROKEN}]
        unfit = self._run((), *unknown) if unknown else []
        self._fit |= {one: one not in unfit for one in unknown}
        fit = [name for name in found if self._fit.get(name, True)]
        return fit if fit or not found else self.failed(mutants, *words)

    def near(self, path: Path) -> list[str]:
        """The tests that name the module, and those of its folder."""
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        tests = [one for one in sorted(self._folder.glob("tests/*/**/test_*.py")) if "real" not in one.parts]
        named = [one for one in tests if f"archfit.{module} " in one.read_text(encoding="utf-8")]
        beside = [one for one in tests if one.relative_to(self._folder).parts[1] == module.partition(".")[0]]
        return list(map(str, (*named, *beside)))

    def _run(self, mutants: Collection[Mutant], *words: str) -> list[str]:
        for one in mutants:
            (self._folder / one.path).write_bytes(one.old[: one.start] + one.new + one.old[one.end :])
        told = self._folder / ".pytest_cache" / "v" / "cache" / "lastfailed"
        told.unlink(missing_ok=True)
        command = [*BOUNDED, str(self._folder / ".venv" / "bin" / "python"), "-m", "pytest", *FAST, *words]
        environ = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": ""}
        null = subprocess.DEVNULL
        status = subprocess.run(command, cwd=self._folder, env=environ, stdout=null, check=False).returncode
        for one in mutants:
            (self._folder / one.path).write_bytes(one.old)
        names = list(json.loads(told.read_bytes())) if told.exists() else []
        return names if names or status in {0, 5} else [BROKEN]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab mutants", description="Counts what no fast test finds."
    )
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--folder", type=re.compile, default=re.compile(""), help="a pattern of folders of the package"
    )
    given = parser.parse_args()
    ends: Counter[tuple[str, str]] = Counter()
    left: list[Mutant] = []
    with tempfile.TemporaryDirectory(prefix="archfit-mutants-") as folder:
        site = Site(Path(folder).resolve())
        print(f"seed {given.seed}: {given.count} mutants in {folder}", flush=True)
        for one in drawn(given.count, given.seed, given.folder.match):
            found = site.failed([one], "-x", *site.near(one.path))
            print(f"{one}: {found[0] if found else 'left by its own tests'}", flush=True)
            if found:
                ends[one.folder, "killed"] += 1
            else:
                left.append(one)
        while left:
            some = {one.path: one for one in left}.values()  # two faults of one file take turns
            failed = site.failed(some, "-n", "2", f"--maxfail={MOST}", "tests")
            names = set(failed) - {BROKEN}
            fell = {one: found[0] for one in some if failed and (found := site.failed([one], "-x", *names))}
            for one in some if len(failed) < MOST or not fell else fell:
                ends[one.folder, "killed" if one in fell else "survived"] += 1
                print(f"{one}: {fell.get(one, 'survived')}", flush=True)
                left.remove(one)
    for name in sorted({name for name, _ in ends}):
        print(f"{name}: killed {ends[name, 'killed']}, survived {ends[name, 'survived']}")
    killed = sum(count for (_, end), count in ends.items() if end == "killed")
    print(f"seed {given.seed}: killed {killed} of {ends.total()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
