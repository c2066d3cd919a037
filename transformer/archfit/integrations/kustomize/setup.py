"""`archfit setup kustomize|kpt [--into DIR] [--check]`: the files that make archfit a KRM function.

    kustomize    DIR/archfit.yaml, and its line in DIR's kustomization     DIR: the outermost one, by default here
    kpt          DIR/archfit.yaml, and its entry in DIR/Kptfile            DIR: the package

A file of the user's gets one more entry and keeps every other byte. Where that is not possible, the entry is shown for
the user to add. No file that is there is replaced. The engine that edits manifests makes the edit: ruamel.yaml's round
trip would change the indents of lists and the blanks before comments.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, BinaryIO, TextIO

from archfit.base.errors import ArchfitError, InvalidInput, UnplaceableEdit, UsageError
from archfit.base.patch import Add, Operation, apply
from archfit.cli.inputs.input_files import KUSTOMIZATIONS
from archfit.cli.setup.check_lines import up_to_wrong, write_lines
from archfit.cli.setup.configuration import ToolConfiguration, compared, configuration
from archfit.cli.setup.owned_files import File, content_of_users_file, remove_files, write_file
from archfit.cli.usage.command_table import BY_NAME
from archfit.edit.insert import insertions
from archfit.edit.render import flow
from archfit.integrations.kustomize import setup_files as files
from archfit.integrations.kustomize.setup_check import check_lines, functions
from archfit.workloads.sites import Spine, find_sites
from archfit.yaml.compose import parse
from archfit.yaml.stream import check_utf8
from archfit.yaml.tree import ROOT

_HOLDERS = {"kustomize": KUSTOMIZATIONS, "kpt": ("Kptfile",)}
_ENTRIES: dict[str, tuple[tuple[str, ...], Any]] = {
    "kustomize": (files.TRANSFORMERS, files.NAME),
    "kpt": (files.MUTATORS, files.MUTATOR),
}
"""Of the user's file the list, and what is added to it."""
_MOST_LINES = 4
"""Of an entry with the keys that are made for it."""


def inserted(text: str, path: tuple[str, ...], item: Any) -> str:
    """The text with `item` at the end of the list at path, which is made where it is missing.

    text: one document, a mapping. Raises UnplaceableEdit where the text has no place for it, InvalidInput.
    """
    tree = parse(text)
    spine: Spine = None
    for key in reversed(path):
        spine = {key: spine}
    operation = _operation(tree.value, path, item)
    edits = insertions(text, tree.value, find_sites(tree, ROOT, tree.value, {(): spine}), [operation])
    for edit in reversed(edits):
        text = text[: edit.start] + edit.text + text[edit.end :]
    if parse(text).value != apply(tree.value, [operation]):
        raise ArchfitError(
            f"the entry cannot be added to {'.'.join(path)} without another change to the file"
        )
    return text


def _operation(value: Any, path: tuple[str, ...], item: Any) -> Operation:
    new: Any = [item]
    for depth, key in enumerate(path):
        if not isinstance(value, dict):
            raise UnplaceableEdit(f"{'.'.join(path[:depth]) or 'the document'} is not a mapping")
        if value.get(key) is None:
            for inner in reversed(path[depth + 1 :]):
                new = {inner: new}
            return Add(path[: depth + 1], new)
        value = value[key]
    if not isinstance(value, list):
        raise UnplaceableEdit(f"{'.'.join(path)} is not a list")
    return Add((*path, "-"), item)


def set_up_kustomize(
    tool: str, argv: Sequence[str], stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after the words `setup TOOL`. The exit code; raises ArchfitError."""
    at = argv.index("--") if "--" in argv else len(argv)
    command = list(argv[at + 1 :])
    flags, words = BY_NAME[f"setup {tool}"].parser().parse(argv[:at])
    unexpected = [*words[:1], *(["--"] if command and not flags.check else [])]
    if unexpected:
        raise UsageError(f"{unexpected[0]!r} is not expected; see archfit setup {tool} --help")
    if not os.path.isdir(flags.into):
        raise UsageError(f"--into: {flags.into!r} is not a directory: name one that is there")
    if flags.check:
        named = [path for path, _ in functions(flags.into)] if tool == "kustomize" else [_path(flags.into)]
        same = up_to_wrong(compared(flags.config, environ, filter(os.path.isfile, named)))
        return write_lines(chain(same, check_lines(tool, flags.into, command, environ)), stdout)
    own = configuration(flags.config, environ)
    image = flags.container if tool == "kustomize" else ""
    text = files.kpt_config(own.spec) if tool == "kpt" else files.kustomize_config(image, own.spec)
    if flags.remove:
        _remove(tool, flags.into, text, stderr)
    else:
        _write(tool, flags.into, text, image, own, stderr)
    return 0


def _path(folder: str) -> str:
    return os.path.join(folder, files.NAME)


def _write(tool: str, folder: str, text: str, image: str, own: ToolConfiguration, stderr: TextIO) -> None:
    """Writes the function's configuration, its text, and its entry. image: of a container, for kustomize."""
    holder = next((name for name in _HOLDERS[tool] if os.path.exists(os.path.join(folder, name))), "")
    if not holder:
        missing = (
            f"Kptfile: `kpt pkg init {folder}` writes one, or name a package with --into"
            if tool == "kpt"
            else "kustomization: name the folder of the outermost one with --into DIR"
        )
        raise UsageError(f"{'the working directory' if folder == '.' else folder} holds no {missing}")
    _write_config(_path(folder), text, own, stderr)
    _add(os.path.join(folder, holder), tool, stderr)
    build = f"kustomize build --enable-alpha-plugins {'--network' if image else '--enable-exec'}"
    render = "kpt fn render --allow-exec" if tool == "kpt" else build
    stderr.write(f"Now: {render} {folder}    (archfit setup {tool} --check tries it)\n")


def _remove(tool: str, folder: str, config: str, stderr: TextIO) -> None:
    """Takes away the function's configuration and its entry, where both are as they were written."""
    stderr.write(remove_files(folder, {files.NAME: config}, tool))
    place, entry = _ENTRIES[tool]
    for name in _HOLDERS[tool]:
        path = os.path.join(folder, name)
        content = content_of_users_file(path) or b""
        if files.NAME.encode() not in content:
            continue
        text = content.decode(errors="replace")
        before = without(text, place, entry) if text.encode() == content else None
        if before is None:
            stderr.write(f"stays: {path}: take the entry of archfit below {'.'.join(place)} out yourself\n")
        else:
            write_file(path, File(before.encode()))
            stderr.write(f"one entry removed: {path}, {'.'.join(place)}\n")


def without(text: str, path: tuple[str, ...], item: Any) -> str | None:
    """The text that `inserted` makes this one of, the shortest; None where no lines are found whose absence does."""
    lines = text.splitlines(keepends=True)
    for length in range(_MOST_LINES, 0, -1):
        for at in range(len(lines) - length + 1):
            if files.NAME not in "".join(lines[at : at + length]):
                continue
            shorter = "".join(lines[:at] + lines[at + length :])
            try:
                if inserted(shorter, path, item) == text:
                    return shorter
            except (ArchfitError, UnplaceableEdit, InvalidInput, AttributeError, TypeError):
                continue
    return None


def _write_config(path: str, text: str, own: ToolConfiguration, stderr: TextIO) -> None:
    """Writes the function's configuration where there is none; the user's stays. Raises ArchfitError."""
    there = content_of_users_file(path)
    if there is None:
        write_file(path, File(text.encode()))
        stderr.write(f"written: {path}\n{own.advice}")
    elif b"kind: ArchFit" in there and (files.FUNCTION.encode() in there) == (files.FUNCTION in text):
        own.check(path)
        stderr.write(f"there already: {path}\n")
    else:
        raise ArchfitError(
            f"{path} is there and is not the function's configuration: nothing was written. Move it away, or rename it"
        )


def _add(path: str, tool: str, stderr: TextIO) -> None:
    """Adds an entry to a list of the user's file, or says which one."""
    place, entry = _ENTRIES[tool]
    content = content_of_users_file(path) or b""
    try:
        check_utf8(content)
        text = content.decode()
        listed = parse(text).value or {}
        for key in place:
            listed = (listed or {}).get(key)
        if any(files.is_mutator(item) if tool == "kpt" else item == entry for item in listed or []):
            stderr.write(f"there already: the entry in {path}\n")
            return
        edited = inserted(text, place, entry)
    except (UnplaceableEdit, InvalidInput, AttributeError, TypeError) as error:
        stderr.write(
            f"warning: {path} cannot be edited ({error}). Add this below {'.'.join(place)} yourself: - {flow(entry)}\n"
        )
        return
    write_file(path, File(edited.encode()))
    stderr.write(f"one entry added: {path}, {'.'.join(place)}\n")
