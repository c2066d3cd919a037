"""Images as their registry has them, as a table and as JSON.

`runs on` is what archfit concludes for pods on Linux: values of the node label kubernetes.io/arch. The size of an
entry is that of its manifest; of a single manifest, config and layers are listed, and their sizes added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from archfit.base.printable import visible
from archfit.images.candidates import NewerTags
from archfit.images.platforms import Absent, Answer, Found, Malformed, Platform, Unasked, Unknown
from archfit.inspect.listing import ListedEntry, ManifestListing
from archfit.programs.program import Verdict, wrong_words
from archfit.startup.record import Record
from archfit.yaml.json_output import document_head, json_output

_HEADS = ("PLATFORM", "DIGEST", "SIZE", "KIND")


class Inspected(Record):
    """One image. text: as the user wrote it. reference: normalised, "" if it is none.

    answer: the registry's, or the cache's. stated: what an override says instead, None if none does.
    source: server and repository that were read, "" where none was.
    listing: None where there is no document. runs_on: node labels for Linux, None where it restricts nothing.
    notes: sentences about platforms that do not count as they stand. lacks: the architectures of the cluster that newer
    tags were searched for; newer: what was found, None where nothing was searched. programs: what its entries start.
    """

    text: str
    reference: str
    answer: Answer
    stated: Found | None = None
    source: str = ""
    listing: ManifestListing | None = None
    runs_on: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    newer: NewerTags | None = None
    programs: tuple[tuple[Platform, Verdict], ...] = ()

    @property
    def wrong(self) -> list[str]:
        """A sentence for each entry that starts a program of another machine."""
        return [
            f"{self.text}: {wrong_words(platform, verdict.words)}: repair its build"
            for platform, verdict in self.programs
            if verdict.state == "wrong"
        ]

    @property
    def kind(self) -> str:
        """`index`, `single` or `artifact`; "" where it is not known."""
        if not isinstance(self.answer, Found):
            return ""
        return "artifact" if not self.answer.image else "index" if self.answer.index else "single"


def problem(image: Inspected) -> str:
    """Why there is no answer, as a sentence; "" where there is one."""
    match image.answer:
        case Absent():
            return f"{image.text}: there is no such image: {image.answer.cause}"
        case Unknown() | Unasked() | Malformed():
            return f"{image.text}: {image.answer.cause}"
    return ""


def text(images: Sequence[Inspected]) -> str:
    """The images that were found, one after the other."""
    parts = ["".join(f"{line}\n" for line in _lines(image)) for image in images if not problem(image)]
    return "\n".join(parts)


def as_json(images: Sequence[Inspected], requests: Mapping[str, int]) -> bytes:
    """One JSON object. requests: by kind, of all images together."""
    return json_output(
        {**document_head("inspect"), "images": list(map(_image_value, images)), "requests": dict(requests)}
    )


def _lines(image: Inspected) -> Iterator[str]:
    answer, listing = image.answer, image.listing
    if not isinstance(answer, Found):
        return
    yield image.reference
    yield f"  digest      {answer.digest}"
    if listing:
        yield f"  media type  {visible(listing.media_type)} ({_size(listing.size)})"
        if listing.artifact_type:
            yield f"  artifact    {visible(listing.artifact_type)}"
    yield f"  source      {_source(image, answer)}"
    if not listing or image.kind == "single":
        yield f"  platforms   {', '.join(map(str, answer.platforms)) or '-'}"
    if listing and not listing.index:
        sizes = [entry.size for entry in listing.entries]
        yield f"  contents    {_size(-1 if -1 in sizes else sum(sizes))}"
    yield f"  runs on     {_runs_on(image)}"
    label = "programs"
    for platform, verdict in image.programs:
        starts = f"{platform}: not read: " if verdict.state == "unread" else f"{platform} starts "
        end = ", which does not run there" if verdict.state == "wrong" else ""
        yield f"  {label:10}  {visible(starts + verdict.words)}{end}"
        label = ""
    for note in image.notes:
        yield f"  note        {note}"
    if image.newer:
        newer = image.newer.advice + "".join(f": {', '.join(tag.platforms)}" for tag in image.newer.tags)
        yield f"  {visible(', '.join(image.lacks)).ljust(10)}  {visible(newer)}"
    if listing and listing.entries:
        yield ""
        yield from _table(listing.entries)


def _source(image: Inspected, answer: Found) -> str:
    if image.source:
        return image.source
    return f"the cache, confirmed {answer.age_seconds} s ago" if answer.age_seconds else "the cache"


def _runs_on(image: Inspected) -> str:
    if image.runs_on is None:
        words = "anywhere: it is no image, and restricts nothing" if image.kind == "artifact" else "anywhere"
    else:
        words = ", ".join(image.runs_on) or "no Linux node"
    return f"{words} (stated by image platforms, against the registry)" if image.stated else words


def _table(entries: Sequence[ListedEntry]) -> Iterator[str]:
    rows = [_HEADS, *map(_row, entries)]
    widths = [*(max(len(row[column]) for row in rows) for column in range(3)), 0]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))


def _row(entry: ListedEntry) -> tuple[str, str, str, str]:
    kind = f"{entry.kind} of {entry.subject}" if entry.subject else entry.kind
    if entry.kind in {"other", "config", "layer"}:
        kind = f"{entry.kind} {entry.media_type}".strip()
    platform = f"{entry.platform} {entry.os_version}".strip() or "-"
    return visible(platform), visible(entry.digest) or "-", _size(entry.size), visible(kind)


def _image_value(image: Inspected) -> dict[str, Any]:
    value: dict[str, Any] = {"image": image.text, "reference": image.reference}
    answer, listing = image.answer, image.listing
    if not isinstance(answer, Found):
        return {**value, "outcome": type(answer).__name__, "error": problem(image)}
    value |= {"outcome": "Found", "digest": answer.digest}
    value |= {"kind": image.kind, "source": image.source or "cache"}
    if not image.source:
        value["ageSeconds"] = answer.age_seconds
    if listing:
        value |= {"mediaType": listing.media_type, "size": listing.size}
        value |= {"artifactType": listing.artifact_type} if listing.artifact_type else {}
    value["platforms"] = [str(platform) for platform in answer.platforms]
    value["architectures"] = None if image.runs_on is None else list(image.runs_on)
    if image.notes:
        value["notes"] = list(image.notes)
    if image.programs:
        value["programs"] = [
            {"platform": str(platform), "state": verdict.state, "words": verdict.words}
            for platform, verdict in image.programs
        ]
    if image.stated:
        value["stated"] = [str(platform) for platform in image.stated.platforms]
    if image.newer:
        value |= {"lacks": list(image.lacks), **image.newer.members}
    if listing:
        value["entries"] = [_entry_value(entry) for entry in listing.entries]
    return value


def _entry_value(entry: ListedEntry) -> dict[str, Any]:
    value: dict[str, Any] = {"kind": entry.kind, "mediaType": entry.media_type, "digest": entry.digest}
    value["size"] = None if entry.size < 0 else entry.size
    more = {"platform": entry.platform, "osVersion": entry.os_version, "of": entry.subject}
    value |= {key: value for key, value in more.items() if value}
    return {**value, "counts": entry.counts}


def _size(count: int) -> str:
    """In powers of a thousand, as registries' pages show it."""
    if count < 0:
        return "-"
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"
