"""What `check`, `patch`, `lock` and `policy` read: files, folders or standard input, read before any lookup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import BinaryIO

from archfit.base.errors import UsageError
from archfit.base.results import Location, Message, has_error
from archfit.cli.inputs.input_files import Inputs, holds_object, read_inputs
from archfit.cli.inputs.manifests import Manifests, read_manifests
from archfit.cli.invocation import Invocation
from archfit.options.settings import Options
from archfit.placement.selection import questions as of_pod
from archfit.workloads.unsupported.non_objects import OTHER_COMMAND
from archfit.yaml.stream import BEFORE_THE_PIPE

_SECONDS = re.compile(r"[0-9]{1,11}", re.ASCII).fullmatch


def moment_text(moment: datetime) -> str:
    """As 2026-11-23T06:17:00Z (RFC 3339). moment: in UTC."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def stated_date(environ: Mapping[str, str]) -> str:
    """That of SOURCE_DATE_EPOCH, "" where it is not set. Raises UsageError. Source: reproducible-builds.org."""
    seconds = environ.get("SOURCE_DATE_EPOCH", "")
    if not seconds:
        return ""
    if not _SECONDS(seconds):
        raise UsageError(
            f"SOURCE_DATE_EPOCH: {seconds[:40]!r} is not a number of seconds since 1970: correct it, or unset it"
        )
    return moment_text(datetime.fromtimestamp(int(seconds), UTC))


def manifests_of(invocation: Invocation, stdin: BinaryIO, options: Options) -> list[Manifests]:
    """What the words of a command line name, read.

    Raises ArchfitError, as where there is no object in it: an empty result would take away what an earlier one said.
    """
    read = read_inputs(invocation.words, stdin, invocation.program)
    inputs = with_note(read_manifests(((file.name, file.data) for file in read.files), options), read)
    _check_objects(inputs)
    return inputs


def with_note(inputs: list[Manifests], read: Inputs) -> list[Manifests]:
    """The inputs, and one without a name that says what was left out."""
    notes = (Message("info", read.note), Message("warning", read.warning))
    note = Manifests("", b"", messages=tuple(message for message in notes if message.text))
    return [*inputs, note] if note.messages else inputs


def _check_objects(inputs: Sequence[Manifests]) -> None:
    """Raises UsageError where the inputs hold no Kubernetes object: then nothing can be said about them."""
    sources = [source for source in inputs if source.pieces or source.blank or has_error(source.messages)]
    if sources and all(source.blank and has_error(source.messages) for source in sources):
        raise UsageError(in_file(sources[0].messages[0], sources[0].name).text)
    read = [source for source in inputs if source.pieces]
    if read and not any(
        source.inventory.documents
        or has_error((*source.messages, *source.inventory.messages))
        or holds_object(source.data[source.start : source.end], empty_lists=False)
        for source in read
    ):
        raise UsageError("the input holds no Kubernetes object: pass rendered manifests")


def questions(inputs: Iterable[Manifests], *, left_alone: bool = False) -> list[str]:
    """Every image string that has to be looked up, once. left_alone: those of pods that archfit leaves alone, too."""
    if not left_alone:
        return list(dict.fromkeys(text for manifests in inputs for text in manifests.inventory.texts))
    pods = (pair for manifests in inputs for pair in manifests.inventory.pods())
    return list(dict.fromkeys(text for pod, own in pods for text in of_pod(pod, own, left_alone=True)))


def in_file(message: Message, name: str) -> Message:
    """The message with the name of its file, if it has one. No command before a pipe wrote what a file holds."""
    if not name:
        return message
    for words in (OTHER_COMMAND, BEFORE_THE_PIPE):
        message = message.replace(text=message.text.replace(words, "Name files that hold rendered manifests"))
    if not message.location:
        return message.replace(text=f"{name}: {message.text}")
    return message.replace(location=location_in_file(message.location, name))


def location_in_file(location: Location, name: str) -> Location:
    """The place with the name of its file, if it has one."""
    return location.replace(file=name) if name else location
