"""`archfit [transform] FILE|DIR|-..`: the main job on files, with what becomes of them.

    inputs ── inventory of all ── one lookup ── decided ── edited ─┬─ stdout, or the file of -o: all as one stream
                                                                ├─ the folder of -o: a file for each
                                                                ├─ --in-place: each file that changes
                                                                └─ --diff: what would change, as a unified diff

Everything is decided before the first byte is written, and a problem in one input writes nothing of any. A ResourceList
that is the only input is a KRM function's, as on standard input.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO, TextIO

from archfit.base import standard_streams
from archfit.base.errors import UsageError
from archfit.base.files import read_file
from archfit.base.printable import count
from archfit.base.results import Decision, has_error
from archfit.base.terminal import colored
from archfit.cli.inputs import output_files
from archfit.cli.inputs.command_inputs import in_file, location_in_file, questions, with_note
from archfit.cli.inputs.input_files import TRANSFORMER, Input, Inputs, read_inputs
from archfit.cli.inputs.manifests import Manifests, read_manifests
from archfit.cli.inputs.renderer_command import rendered_inputs
from archfit.explain.verbose import verbose_lines
from archfit.options.config_file import from_function_config
from archfit.options.layers import STAMPS_PRESENT, Given, Layer
from archfit.options.load import load
from archfit.options.settings import Options
from archfit.pipeline import Transformed, transformed
from archfit.reports.summary import lines
from archfit.rewrite.call import TransformCall
from archfit.rewrite.resource_list import FunctionFrame, function_config, recognised
from archfit.rewrite.unified_diff import DiffObject, colored_diff, unified_diff
from archfit.run import Run
from archfit.startup.record import Record
from archfit.workloads.pods import Pod
from archfit.yaml import stream
from archfit.yaml.join import joined
from archfit.yaml.stream import BOM, OutputChange, Splice

_STANDARD_INPUT = "stdin"


class _Target(Record):
    """What the flags say about the output. folder, file: of --output, "" where it is another form."""

    diff: bool
    in_place: bool
    folder: str
    file: str


class _Edited(Record):
    """One input with its changes. splices: in its own data. objects: those that may change, for the diff."""

    input: Input
    splices: tuple[Splice, ...]
    objects: tuple[DiffObject, ...] = ()

    @property
    def parts(self) -> list[bytes | memoryview]:
        """The output."""
        return stream.write(self.input.data, self.splices)


def run(
    call: TransformCall, stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command. The exit code; raises ArchfitError."""
    place = _place(call)
    if call.rendering:
        read = rendered_inputs(call.rendering, call.words, stdin, stderr, environ)
    else:
        read = read_inputs(call.words, stdin, TRANSFORMER, skipped=place.folder)
    _check(place, read)
    frame = _frame(read)
    application = from_function_config(function_config(frame.function)) if frame else None
    settings = load(
        (), environ, read_file, flags=call.options, application=application, fallback=_fallback(place)
    )
    written = output_files.folder_targets(place.folder, read.files) if place.folder else [place.file]
    output_files.check_report(
        "--report", settings.operator.report, (*(file.path for file in read.files), *written)
    )
    color = colored(settings.operator.color, stdout, environ) and not place.file
    one = Run(
        "archfit transform",
        settings,
        environ,
        stderr,
        frame=frame,
        explain=verbose_lines,
        named_hosts_only=frame is not None,
    )
    try:
        if not frame:
            return _transformed(
                read, one, settings.options, _writer(place, stdout, color, settings.options.on_blank)
            )
        write = _writer(place, stdout, color, settings.options.on_blank)
        given = stdout if place == _Target(False, False, "", "") else io.BytesIO()
        whole = read.files[0]
        found = (
            _objects(read_manifests([(whole.name, whole.data)], settings.options)[0]) if place.diff else ()
        )
        return one.transform(
            whole.data, given, deliver=lambda splices: write([_Edited(whole, splices, found)])
        )
    finally:
        one.close()


def _fallback(place: _Target) -> Layer | None:
    """What the forms of the output change in the defaults: files that are kept have to be changed again."""
    if place.in_place:
        return Layer("default of --in-place (stamp)", {"stamp": Given(True, "--in-place")})
    return STAMPS_PRESENT if place.diff else None


def _place(call: TransformCall) -> _Target:
    flags, output = call.flags, call.flags.output or ""
    output = "" if output == "-" else output
    is_folder = output.endswith("/") or os.path.isdir(output)
    if flags.in_place and (flags.diff or flags.output):
        other = "--diff" if flags.diff else "--output"
        raise UsageError(f"--in-place: writes the files themselves: leave out --in-place or {other}")
    if flags.in_place and call.rendering:
        raise UsageError(
            f"--in-place: {call.rendering.flag} renders no file: write -o FILE, or leave out --in-place"
        )
    if flags.in_place and (not call.words or "-" in call.words):
        raise UsageError(
            "--in-place: standard input is no file: name files or folders, or leave out --in-place"
        )
    if is_folder and call.rendering:
        raise UsageError(
            f"--output: {output!r} is a folder, and {call.rendering.flag} gives one stream: name a file"
        )
    if flags.diff and is_folder:
        raise UsageError(f"--output: {output!r} is a folder, and a diff is one file: name a file")
    return _Target(flags.diff, flags.in_place, output if is_folder else "", "" if is_folder else output)


def _check(place: _Target, read: Inputs) -> None:
    """Raises UsageError where the output cannot go where the flags say."""
    if place.in_place:
        output_files.check_in_place(read.files)
    if place.folder:
        output_files.folder_targets(place.folder, read.files)
    if place.file:
        output_files.check_file(place.file, read.files)


def _frame(read: Inputs) -> FunctionFrame | None:
    functions = [
        (file.name, function)
        for file in read.files
        if b"ResourceList" in file.data and (function := recognised(file.data))
    ]
    if functions and len(read.files) > 1:
        raise UsageError(
            f"{functions[0][0] or 'standard input'!r} is the ResourceList of a KRM function: transform it alone"
        )
    return FunctionFrame(functions[0][1]) if functions else None


Write = Callable[[Sequence[_Edited]], str]


def _writer(place: _Target, stdout: BinaryIO, color: bool, on_blank: str) -> Write:
    """What writes the output, and says how many files it wrote, if it wrote several."""

    def write(files: Sequence[_Edited]) -> str:
        changed = [file for file in files if file.splices]
        if place.diff:
            above = "/".join(max((_parents(one.input.name) for one in changed), default=[]))
            parts = [line for one in changed for line in _diff(one, above)]
            diff = [*colored_diff(parts)] if color else parts
            if place.file:
                output_files.write_stream(diff, place.file, stdout)
            else:
                standard_streams.write_report(stdout, diff)
            where = (
                f"archfit: the diff names files from {above}: apply it there, as patch -p1 -d {above} does"
            )
            return where if above else ""
        if place.in_place:
            output_files.write_all(
                [output_files.in_place_target(one.input, b"".join(one.parts)) for one in changed]
            )
            return f"archfit: {len(changed)} of {count(len(files), 'file')} written"
        if place.folder:
            paths = output_files.folder_targets(place.folder, [file.input for file in files])
            output_files.write_folder(
                [(path, b"".join(one.parts)) for path, one in zip(paths, files, strict=True)]
            )
            return f"archfit: {count(len(files), 'file')} written below {place.folder}"
        whole = files[0].parts if len(files) == 1 else joined([b"".join(file.parts) for file in files])
        if on_blank == "comment" and not b"".join(whole).removeprefix(BOM).strip():
            whole = [stream.COMMENT]
        output_files.write_stream(whole, place.file, stdout)
        return ""

    return write


def _diff(one: _Edited, above: str) -> list[bytes]:
    return unified_diff(_shown_name(one.input, above), one.input.data, one.splices, one.objects)


def _shown_name(one: Input, above: str) -> str:
    """The name in a diff. above: the folder that names begin at, as no tool applies `../web.yaml`; "" for here."""
    if above and one.name and not os.path.isabs(one.name):
        return os.path.relpath(one.name, above)
    return one.name.removeprefix("/") or one.below or _STANDARD_INPUT


def _parents(name: str) -> list[str]:
    """The `..` that a name begins with."""
    return [step for step in name.split("/") if step == os.pardir]


def _transformed(read: Inputs, one: Run, options: Options, write: Write) -> int:
    pairs = ((file.name, file.data) for file in read.files)
    inputs = with_note(read_manifests(pairs, options), read)
    answers = one.answers([(manifests.data, manifests.pieces) for manifests in inputs], questions(inputs))
    made = [transformed(manifests.data, manifests.inventory, answers, options) for manifests in inputs]
    results = list(one.messages)
    for manifests, part in zip(inputs, made, strict=True):
        results += [in_file(result, manifests.name) for result in (*manifests.results, *part.results)]
    inventories = [manifests.inventory for manifests in inputs]
    results += one.unmatched_filters([pod for manifests in inputs for pod in manifests.pods], inventories)
    decisions = tuple(
        pair for manifests, part in zip(inputs, made, strict=True) for pair in _named(manifests, part)
    )
    parts = zip(inputs, made, strict=True)
    why = one.explanations([(of.name, of.data, of.inventory, part.decisions) for of, part in parts], answers)
    if has_error(results):
        one.prepare_report(1, results, decisions, answers).commit()
        one.write_messages([*why, *one.failure_lines(results, decisions, answers)])
        return 1
    files = [_edited(*row) for row in zip(read.files, inputs, made, strict=False)]
    edits = tuple(edit for file in files for edit in _output_changes(file))
    report = one.prepare_report(0, results, decisions, answers, edits)
    said: list[str] = []
    report.commit_after(lambda: said.append(write(files)))
    one.write_messages(
        [
            *lines(results),
            *why,
            one.summary(
                decisions, answers, [left for manifests in inputs for left in manifests.inventory.untouched]
            ),
            *said,
        ]
    )
    return 0


def _named(manifests: Manifests, part: Transformed) -> list[tuple[Pod, Decision]]:
    """The decisions, whose places name the file."""
    return [
        (pod.replace(location=location_in_file(pod.location, manifests.name)), decision)
        for pod, decision in part.decisions
    ]


def _edited(file: Input, manifests: Manifests, part: Transformed) -> _Edited:
    at = manifests.start
    moved = (splice.replace(start=splice.start - at, end=splice.end - at) for splice in part.splices)
    return _Edited(file, tuple(moved), _objects(manifests))


def _objects(manifests: Manifests) -> tuple[DiffObject, ...]:
    at = manifests.start
    return tuple(
        DiffObject(document.span.start - at, document.span.end - at, str(document.pods[0].ref))
        for document in manifests.inventory.documents
    )


def _output_changes(one: _Edited) -> list[OutputChange]:
    changes = stream.output_changes(one.input.data, one.splices)
    return [change.replace(file=one.input.name) for change in changes]
