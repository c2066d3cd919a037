"""`archfit setup workloads`: rows for `workloads:` from the schemas of CustomResourceDefinitions.

In a folder, other objects are passed over. The same definitions give the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, TextIO

from archfit.base import standard_streams
from archfit.base.errors import InvalidInput, UsageError
from archfit.base.files import SUFFIXES
from archfit.base.printable import count
from archfit.cli.usage.command_table import BY_NAME
from archfit.cluster.configuration_file import deliver, read_input
from archfit.cluster.crds.definitions import KIND, Definition, definitions
from archfit.cluster.crds.derive import Derived, derived
from archfit.cluster.rows_file import rows_file
from archfit.workloads.builtin import WORKLOADS
from archfit.workloads.custom_rows import all_custom_rows
from archfit.workloads.known_rows import known_kind
from archfit.yaml.compose import parse
from archfit.yaml.scan import whole
from archfit.yaml.skip import identity
from archfit.yaml.stream import check_utf8, split

LIMIT = 64 << 20
"""Bytes of one file; all definitions of a cluster with 500 kinds are about 30 MB."""
_SOURCE = "kubectl get crd -o yaml"
_ASK = f"pass the output of `{_SOURCE}`, or the definitions that the operator publishes"


def set_up_workloads(argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO) -> int:
    """The command, after the words `setup workloads`. The exit code; raises UsageError and InvalidInput."""
    flags, words = BY_NAME["setup workloads"].parser().parse(argv)
    if words:
        raise UsageError(f"{words[0]!r} is not expected: name files and folders behind --crds")
    names = [name for name in flags.crds if name]
    if not names:
        raise UsageError("no definitions are named: write --crds FILE, a folder, or - for standard input")
    rows = {} if flags.include_known else {**all_custom_rows(), **dict.fromkeys(WORKLOADS, ())}
    kinds, passed_over = _kinds(_definitions(names, stdin), rows)
    left_out = {"/".join(key): known_kind(rows[key]) if rows[key] else "Kubernetes" for key in passed_over}
    without_schema = [f"{kind.group}/{kind.kind}" for kind in kinds if not kind.version]
    if without_schema and len(without_schema) == len(kinds) and not left_out:
        raise InvalidInput(
            f"{', '.join(without_schema)}: the definition has no structural schema, so it names no field: write "
            "a row by hand, or take the definition from a newer release of the operator (apiextensions.k8s.io/v1)"
        )
    advice = "check it, then use it with --config or ARCHFIT_CONFIG"
    deliver(rows_file(kinds, left_out), flags.output, stdout, stderr, _summary(kinds, left_out), advice)
    return 0


def _kinds(
    definitions: Iterable[Definition], known: Collection[tuple[str, str]]
) -> tuple[list[Derived], list[tuple[str, str]]]:
    kinds: dict[tuple[str, str], Derived] = {}
    left_out = set()
    for definition in definitions:
        key = definition.group, definition.kind
        if key in known:
            left_out.add(key)
            continue
        kind = derived(definition)
        first = kinds.setdefault(key, kind)
        note = "a second definition of it differs; the rows are those of the first one"
        if note not in first.notes and first.replace(notes=()) != kind.replace(notes=()):
            kinds[key] = first.replace(notes=(*first.notes, note))
    return [kinds[key] for key in sorted(kinds)], sorted(left_out)


def _definitions(names: Sequence[str], stdin: BinaryIO) -> Iterator[Definition]:
    standard_streams.check_named_once(names, "--crds: ")
    for name in names:
        is_folder = name != "-" and os.path.isdir(name)
        files = _files(name) if is_folder else [name]
        place = "standard input" if name == "-" else name
        kinds, empty = set(), True
        for file in files:
            content = read_input(file, stdin, _SOURCE, flag="--crds", limit=LIMIT)
            for value in _values(file if is_folder else place, content, every=not is_folder):
                if isinstance(value, dict):
                    kind = str(value.get("kind") or "an object without a kind")
                    kinds.add(
                        "one of another API group or without a spec, as a patch is" if kind == KIND else kind
                    )
                for definition in definitions(value):
                    empty = False
                    yield definition
        if empty and is_folder:
            raise InvalidInput(f"{place}: none of its {len(files)} files holds a {KIND}: {_ASK}")
        if empty:
            others = f", but {', '.join(sorted(kinds)[:5])}" if kinds else ""
            raise InvalidInput(f"{place}: it holds no {KIND}{others}: {_ASK}")


def _files(folder: str) -> list[str]:
    files = sorted(
        os.path.join(root, name)
        for root, _, names in os.walk(folder)
        for name in names
        if name.endswith(SUFFIXES) and os.path.isfile(os.path.join(root, name))  # a pipe may have no end
    )
    if not files:
        raise UsageError(
            f"--crds: the folder {folder!r} holds no *.yaml, *.yml or *.json: name the folder with the definitions"
        )
    return files


def _values(name: str, data: bytes, *, every: bool) -> Iterator[Any]:
    """The documents; unless `every`, without plain other kinds, and what is unreadable and names no definition."""
    at = 0
    try:
        check_utf8(data)
        for piece in split(data):
            at = piece.line - 1
            named = None if every else identity(data, piece.start, piece.end)
            if named is None or named.kind in (KIND, f"{KIND}List", "List"):
                yield parse(whole(piece).text(data)).value
            at = 0
    except InvalidInput as error:
        if not every and KIND.encode() not in data:
            return
        line = f" line {at + error.line}" if error.line else ""
        hint = (
            "; if it is a chart's template, run `helm template` on the chart first" if b"{{" in data else ""
        )
        raise InvalidInput(f"{name}{line}: {error.message.rstrip('.')}{hint}") from None


def _summary(kinds: Sequence[Derived], left_out: Collection[str]) -> str:
    rows = sum(len(kind.rows) for kind in kinds)
    with_rows = sum(bool(kind.rows) for kind in kinds)
    without = sum(bool(kind.notes) and not kind.rows for kind in kinds)
    parts = [f"{count(rows, 'row')} for {count(with_rows, 'kind')}"]
    if without:
        parts.append(f"{without} with comments only")
    if left_out:
        parts.append(f"{len(left_out)} left out, as archfit has rows for them")
    return "; ".join(parts) + "\n"
