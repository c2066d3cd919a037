"""Modules of archfit as mypyc compiles them: records become native classes. No line moves, so tracebacks stay right.

    class Toleration(Record):        class Toleration(Record):
        key: str                         key: Final[str]; effect: Final[str]; _fields: ClassVar[..] = ("key", "effect")
        effect: str = ""                 def __init__(self, key: str, effect: str = "") -> None: self.key = key; ..

    class PlainKey(str):             @interpreted
                                     class PlainKey(str):

`archfit.record` makes records by a metaclass, and mypyc compiles no class that has one: its methods would be compiled,
but its fields would stay Python attributes. A native class keeps its fields in a C struct. `Record` and the other names
come from `native_record`. mypyc knows no native class that derives from str. What is noted as bytes is compiled as Any.
"""

from __future__ import annotations

import ast

_NAMES = "Any as Sliced, ClassVar, Final, Record, interpreted"
_FUTURE = "from __future__ import annotations"
_FOREIGN = {"bytes", "float", "frozenset", "int", "list", "set", "str", "tuple", "type"}


def compilable(source: str) -> bool:
    """Whether mypyc may compile the module: not where types are checked with one block and programs run another.

    mypyc leaves out what `TYPE_CHECKING` makes unreachable to a type checker.
    """
    return not any(
        isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and node.orelse
        for node in ast.parse(source).body
    )


def with_native_classes(source: str) -> str:
    """The module's text with as many lines. Raises ValueError for a record whose lines do not suffice."""
    module = ast.parse(source)
    lines = source.split("\n")
    records: dict[str, list[ast.AnnAssign]] = {"Record": []}
    for node in module.body:
        if not isinstance(node, ast.ClassDef):
            continue
        bases = [ast.unparse(base) for base in node.bases]
        if bases and bases[0] in records:
            records[node.name] = records[bases[0]] + _record(node, lines, records[bases[0]])
        elif _FOREIGN.intersection(bases):
            _write(lines, [node.lineno - 2], ["@interpreted"])
    _without_bytes(module, lines)
    first = lines.index(_FUTURE)
    lines[first] = f"{_FUTURE}; from archfit.native_record import {_NAMES}"
    return "\n".join("" if line == "from archfit.record import Record" else line for line in lines)


def _record(node: ast.ClassDef, lines: list[str], inherited: list[ast.AnnAssign]) -> list[ast.AnnAssign]:
    """Writes the record's own fields and constructor in their lines; the fields."""
    own = [member for member in node.body if isinstance(member, ast.AnnAssign)]
    if not own:
        return own
    places = []
    for field in own:
        places += range(field.lineno - 1, field.end_lineno or field.lineno)
    for number in places:
        lines[number] = ""
    for near in (places[0] - 1, places[-1] + 1):
        if near < len(lines) and not lines[near]:
            places.append(near)
    fields = [*inherited, *own]
    names = [ast.unparse(field.target) for field in fields]
    declared = [f"{ast.unparse(field.target)}: Final[{ast.unparse(field.annotation)}]" for field in own]
    declared.append(f"_fields: ClassVar[tuple[str, ...]] = {tuple(names)!r}")
    for member in node.body:
        # A plain assignment would be the default of an attribute.
        if isinstance(member, ast.Assign):
            lines[member.lineno - 1] = (
                f"    {ast.unparse(member.targets[0])}: ClassVar[object] = {ast.unparse(member.value)}"
            )
    body = [f"self.{name} = {name}" for name in names[len(inherited) :]]
    if inherited:
        body.insert(0, f"super().__init__({', '.join(names[: len(inherited)])})")
    parameters = ", ".join(["self", *map(_parameter, fields)])
    _write(
        lines,
        sorted(places),
        [f"    {'; '.join(declared)}", f"    def __init__({parameters}) -> None: {'; '.join(body)}"],
    )
    return own


def _without_bytes(module: ast.Module, lines: list[str]) -> None:
    """Leaves slices of bytes to Python: mypyc 2.4.1 raises SystemError for one that ends before it begins."""
    noted = [
        note
        for node in ast.walk(module)
        for note in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if note is not None
    ]
    names = {
        name for note in noted for name in ast.walk(note) if isinstance(name, ast.Name) and name.id == "bytes"
    }
    for name in sorted(names, key=lambda name: name.col_offset, reverse=True):
        line = lines[name.lineno - 1].encode()
        begin, end = name.col_offset, name.col_offset + len("bytes")
        if line[begin:end] == b"bytes":
            lines[name.lineno - 1] = (line[:begin] + b"Sliced" + line[end:]).decode()


def _parameter(field: ast.AnnAssign) -> str:
    default = f" = {ast.unparse(field.value)}" if field.value else ""
    return f"{ast.unparse(field.target)}: {ast.unparse(field.annotation)}{default}"


def _write(lines: list[str], places: list[int], written: list[str]) -> None:
    free = [place for place in places if not lines[place].strip()]
    if len(free) < len(written):
        raise ValueError(f"line {places[0] + 1} has no empty line beside it for: {written[-1].strip()}")
    for place, text in zip(free, written, strict=False):
        lines[place] = text
