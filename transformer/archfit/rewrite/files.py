"""`archfit [transform] FILE|DIR|-..`: the main job on files, with what becomes of them.

Everything is decided before the first byte is written, and a problem in one input writes nothing of any. A ResourceList
that is the only input is a KRM function's, as on standard input.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.base import standard_streams
from archfit.base.errors import UsageError
from archfit.base.files import read_file
from archfit.base.printable import count
from archfit.base.results import has_error
from archfit.base.terminal import colored
from archfit.cli.inputs import output_files
from archfit.cli.inputs.command_inputs import questions, with_note
from archfit.cli.inputs.input_files import TRANSFORMER, Input, Inputs, read_inputs
from archfit.cli.inputs.manifests import Manifests, read_manifests
from archfit.options.layers import STAMPS_PRESENT, load
from archfit.options.settings import Given, Layer, Options
from archfit.pipeline import edit
from archfit.reports.summary import lines
from archfit.rewrite.call import TransformCall
from archfit.rewrite.function import frame_of, layer_of, run_of
from archfit.rewrite.resource_list import FunctionFrame
from archfit.rewrite.unified_diff import DiffObject, colored_diff, unified_diff
from archfit.run import Run
from archfit.startup.record import Record
from archfit.workloads.documents import Document
from archfit.yaml import stream
from archfit.yaml.join import joined
from archfit.yaml.stream import BOM, Splice


class _Output(Record):
    """What the flags say about the output. folder, file: of --output, "" where it is another form."""

    diff: bool
    in_place: bool
    folder: str
    file: str

    @property
    def is_stdout(self) -> bool:
        """Whether the whole stream goes to standard output."""
        return not (self.diff or self.in_place or self.folder or self.file)


class _Edited(Record):
    """One input with its changes. splices: in its own data. objects: those that may change, for the diff."""

    input: Input
    splices: tuple[Splice, ...]
    objects: tuple[DiffObject, ...] = ()

    @property
    def parts(self) -> list[bytes | memoryview]:
        """The output."""
        return list(stream.parts(self.input.data, self.splices))


def transform_files(
    call: TransformCall, stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command. The exit code; raises ArchfitError."""
    target = _target(call)
    read = read_inputs(call.words, stdin, TRANSFORMER, skipped=target.folder)
    paths = _paths(target, read)
    frame = _frame(read)
    application = layer_of(frame) if frame else None
    settings = load(
        (), environ, read_file, flags=call.options, application=application, fallback=_fallback(target)
    )
    output_files.check_report(
        "--report", settings.operator.report, (*(file.path for file in read.files), *paths)
    )
    color = colored(settings.operator.color, stdout, environ) and not target.file
    write = _writer(target, stdout, color, settings.options.on_blank)
    run = run_of(settings, environ, stderr, frame)
    try:
        if not frame:
            return _transform(read, run, settings.options, write)
        whole = read.files[0]
        objects: tuple[DiffObject, ...] = ()
        if target.diff:
            manifests = read_manifests([(whole.name, whole.data)], settings.options)
            objects = _objects(manifests.inventory.documents)
        return run.transform(
            whole.data,
            stdout if target.is_stdout else io.BytesIO(),
            deliver=lambda splices: write([_Edited(whole, splices, objects)]),
        )
    finally:
        run.close()


def _fallback(target: _Output) -> Layer | None:
    if target.in_place:
        return Layer("default of --in-place (stamp)", {"stamp": Given(True, "--in-place")})
    return STAMPS_PRESENT if target.diff else None


def _target(call: TransformCall) -> _Output:
    flags, output = call.flags, call.flags.output or ""
    output = "" if output == "-" else output
    is_folder = output.endswith("/") or os.path.isdir(output)
    if flags.in_place and (flags.diff or flags.output):
        other = "--diff" if flags.diff else "--output"
        raise UsageError(f"--in-place: writes the files themselves: leave out --in-place or {other}")
    if flags.in_place and (not call.words or "-" in call.words):
        raise UsageError(
            "--in-place: standard input is no file: name files or folders, or leave out --in-place"
        )
    if flags.diff and is_folder:
        raise UsageError(f"--output: {output!r} is a folder, and a diff is one file: name a file")
    return _Output(flags.diff, flags.in_place, output if is_folder else "", "" if is_folder else output)


def _paths(target: _Output, read: Inputs) -> list[str]:
    """The files that --output names. Raises UsageError where the output cannot go where the flags say."""
    if target.in_place:
        output_files.check_in_place(read.files)
    if target.folder:
        return output_files.folder_targets(target.folder, read.files)
    if target.file:
        output_files.check_file(target.file, read.files)
    return [target.file]


def _frame(read: Inputs) -> FunctionFrame | None:
    functions = [(file.name, frame) for file in read.files if (frame := frame_of(file.data))]
    if not functions:
        return None
    name, frame = functions[0]
    if len(read.files) > 1:
        raise UsageError(
            f"{name or 'standard input'!r} is the ResourceList of a KRM function: transform it alone"
        )
    return frame


Write = Callable[[Sequence[_Edited]], str]


def _writer(target: _Output, stdout: BinaryIO, color: bool, on_blank: str) -> Write:
    """What writes the output, and says how many files it wrote, if it wrote several."""

    def write(files: Sequence[_Edited]) -> str:
        changed = [file for file in files if file.splices]
        if target.diff:
            parents = (file.input.name.split("/") for file in changed)
            above = "/".join(
                max(([step for step in path if step == os.pardir] for path in parents), default=[])
            )
            parts = [line for file in changed for line in _diff(file, above)]
            diff = [*colored_diff(parts)] if color else parts
            if target.file:
                output_files.write_stream(diff, target.file, stdout)
            else:
                standard_streams.write_report(stdout, diff)
            where = f"the diff names files from {above}: apply it there, as patch -p1 -d {above} does"
            return f"archfit: {where}" if above else ""
        if target.in_place:
            output_files.write_in_place((file.input, b"".join(file.parts)) for file in changed)
            return f"archfit: {len(changed)} of {count(len(files), 'file')} written"
        if target.folder:
            paths = output_files.folder_targets(target.folder, [file.input for file in files])
            output_files.write_folder(zip(paths, (b"".join(file.parts) for file in files), strict=True))
            return f"archfit: {count(len(files), 'file')} written below {target.folder}"
        whole = files[0].parts if len(files) == 1 else joined([b"".join(file.parts) for file in files])
        if on_blank == "comment" and not b"".join(whole).removeprefix(BOM).strip():
            whole = [stream.COMMENT]
        output_files.write_stream(whole, target.file, stdout)
        return ""

    return write


def _diff(file: _Edited, above: str) -> list[bytes]:
    """above: the folder that names begin at, as no tool applies `../web.yaml`; "" for here."""
    name = file.input.name
    if above and name and not os.path.isabs(name):
        name = os.path.relpath(name, above)
    shown = name.removeprefix("/") or file.input.below or "stdin"
    return unified_diff(shown, file.input.data, file.splices, file.objects)


def _transform(read: Inputs, run: Run, options: Options, write: Write) -> int:
    manifests = with_note(read_manifests(((file.name, file.data) for file in read.files), options), read)
    data, inventory = manifests.data, manifests.inventory
    answers = run.answers([(data, manifests.pieces)], questions(manifests))
    edits = edit(data, inventory, answers, options)
    decisions = edits.decisions
    messages = [*run.messages, *manifests.in_order((*manifests.messages, *edits.messages))]
    messages += run.unmatched_filters(manifests.pods, inventory)
    why = run.explanations(data, inventory, decisions, answers)
    if has_error(messages):
        run.prepare_report(1, messages, decisions, answers).commit()
        run.write_messages([*why, *run.failure_lines(messages, decisions, answers)])
        return 1
    files = _edited(read.files, manifests, edits.splices)
    changes = tuple(
        change.replace(file=file.input.name)
        for file in files
        for change in stream.output_changes(file.input.data, file.splices)
    )
    report = run.prepare_report(0, messages, decisions, answers, changes)
    written: list[str] = []
    report.commit_after(lambda: written.append(write(files)))
    summary = run.summary(decisions, answers, inventory.untouched)
    run.write_messages([*lines(messages), *why, summary, *written])
    return 0


def _edited(files: Iterable[Input], manifests: Manifests, splices: Iterable[Splice]) -> list[_Edited]:
    """Each input with its part of the changes."""
    documents = manifests.by_source(manifests.inventory.documents, lambda document: document.span.start)
    rows = zip(
        files,
        manifests.sources,
        manifests.by_source(splices, lambda splice: splice.start),
        documents,
        strict=True,
    )
    return [
        _Edited(
            file,
            tuple(
                splice.replace(start=splice.start - source.start, end=splice.end - source.start)
                for splice in own
            ),
            _objects(held, source.start),
        )
        for file, source, own, held in rows
    ]


def _objects(documents: Iterable[Document], start: int = 0) -> tuple[DiffObject, ...]:
    """start: where the documents' own input stands in the text that their places count in."""
    return tuple(
        DiffObject(document.span.start - start, document.span.end - start, str(document.pods[0].ref))
        for document in documents
    )
