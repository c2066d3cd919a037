"""What `check`, `patch`, `lock` and `policy` read: files, folders or standard input, read before any lookup."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import BinaryIO

from archfit.base.errors import UsageError
from archfit.base.printable import TIME
from archfit.base.results import Message, has_error
from archfit.cli.inputs.input_files import Inputs, holds_object, read_inputs
from archfit.cli.inputs.manifests import Manifests, read_manifests
from archfit.cli.invocation import Invocation
from archfit.options.settings import Options
from archfit.placement.selection import questions as of_pod

_SECONDS = re.compile(r"[0-9]{1,11}", re.ASCII).fullmatch


def moment_text(moment: datetime) -> str:
    """As 2026-11-23T06:17:00Z (RFC 3339). moment: in UTC."""
    return moment.strftime(TIME)


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


def manifests_of(invocation: Invocation, stdin: BinaryIO, options: Options) -> Manifests:
    """What the words of a command line name, read.

    Raises ArchfitError, as where there is no object in it: an empty result would take away what an earlier one said.
    """
    read = read_inputs(invocation.words, stdin, invocation.program)
    manifests = with_note(read_manifests(((file.name, file.data) for file in read.files), options), read)
    _check_objects(manifests)
    return manifests


def with_note(manifests: Manifests, read: Inputs) -> Manifests:
    """The manifests, with a message that says what was left out."""
    notes = (Message("info", read.note), Message("warning", read.warning))
    return manifests.replace(notes=tuple(note for note in notes if note.text))


def _check_objects(manifests: Manifests) -> None:
    """Raises UsageError where the inputs hold no Kubernetes object: then nothing can be said about them."""
    sources = manifests.sources
    if all(source.blank and has_error(source.messages) for source in sources):
        raise UsageError(manifests.messages[0].text)
    inventory = manifests.inventory
    if manifests.pieces and not (
        inventory.documents
        or has_error(inventory.messages)
        or any(holds_object(source.data, empty_lists=False) for source in sources if source.pieces)
    ):
        raise UsageError("the input holds no Kubernetes object: pass rendered manifests")


def questions(manifests: Manifests, *, left_alone: bool = False) -> list[str]:
    """Every image string that has to be looked up, once. left_alone: those of pods that archfit leaves alone, too."""
    if not left_alone:
        return list(manifests.inventory.texts)
    pods = manifests.inventory.pods()
    return list(dict.fromkeys(text for pod, own in pods for text in of_pod(pod, own, left_alone=True)))
