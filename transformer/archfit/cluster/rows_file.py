"""A configuration file with derived rows, for a person to read and check: the notes of a kind stand above its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from ruamel.yaml.comments import CommentedSeq
from ruamel.yaml.scalarstring import SingleQuotedScalarString

from archfit.cli.setup.yaml_files import mapping, written
from archfit.cluster.crds.derive import Derived, entries
from archfit.options.config_file import API_VERSION, KIND

_WIDTH = 110
_PLAIN = re.compile(r"[A-Za-z][-A-Za-z0-9_./+*\[\]]*").fullmatch
_WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null", "none"}
_HEAD = """\
Written by `archfit setup workloads` from CustomResourceDefinitions. A schema says where a field is, not what
the operator does with it: check each row against the operator's documentation, then use the file with --config
or ARCHFIT_CONFIG."""

_KNOWN = "archfit has rows of its own for these (--include-known writes them too):"


def rows_file(kinds: Sequence[Derived], known: Mapping[str, str]) -> str:
    """The whole file. known: how archfit knows its own rows of the kinds that were left out, by `group/Kind`."""
    rows = CommentedSeq()
    comment: list[str] = []
    for kind in kinds:
        if kind.rows or kind.notes:
            comment += _about(kind)
        for row in kind.rows:
            rows.append(mapping(**{key: _scalar(value) for key, value in entries(row)}))
            if comment:
                rows.yaml_set_comment_before_after_key(len(rows) - 1, before="\n".join(comment), indent=4)
            comment = []
    data = mapping(apiVersion=API_VERSION, kind=KIND, spec=mapping(workloads=rows))
    data.yaml_set_start_comment(_HEAD)
    without = [_name(kind) for kind in kinds if not kind.rows and not kind.notes and kind.version]
    unknown = [_name(kind) for kind in kinds if not kind.version]
    last = [
        *_listed("No pod, image or placement in the schema of:", without),
        *([_KNOWN] if known else []),
        *(f"  {name}: {text}" for name, text in sorted(known.items())),
        *_listed("Without any schema (write a row by hand where a pod is in it):", unknown),
    ]
    return (
        written(data)
        + "".join(f"    # {line}\n" for line in comment)
        + "".join(f"# {line}\n" for line in last)
    )


def _name(kind: Derived) -> str:
    return f"{kind.group}/{kind.kind}"


def _about(kind: Derived) -> Iterator[str]:
    yield from _indented(
        f"{_name(kind)}, by the schema of {_shown(kind.version)}" + ("" if kind.rows else ": no row")
    )
    for note in kind.notes:
        yield from _indented(f"Check: {_shown(note)}")


def _listed(head: str, names: Iterable[str]) -> list[str]:
    shown = ", ".join(sorted(names))
    return [head, *(f"  {line}" for line in wrap(shown, _WIDTH - 4, break_on_hyphens=False))] if shown else []


def _indented(line: str) -> Iterator[str]:
    """The line in parts; a row in braces stays whole, because a user may paste it."""
    head, brace, row = line.partition(" {")
    first, *more = wrap(head, _WIDTH, break_long_words=False, break_on_hyphens=False)
    yield first
    yield from (f"  {part}" for part in (*more, *([f"{{{row}"] if brace else [])))


def _shown(line: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in line)


def _scalar(value: str | bool | list[str]) -> object:
    """The value; text is in quotes where a reader of YAML might take it for something else."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return [_scalar(item) for item in value]
    plain = _PLAIN(value) and (value.lower() not in _WORDS or value == "none")
    return value if plain else SingleQuotedScalarString(value)
