"""What became of each image of a pod: its answer, where it runs, what the pod loses by it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from archfit.base.patch import Path, dotted
from archfit.base.results import Decision
from archfit.images.platforms import Answer, Found, Unknown, kind_of
from archfit.options.settings import Options
from archfit.placement.case import PodCase
from archfit.placement.evidence import offered
from archfit.placement.reach import by_system, named
from archfit.placement.selection import PodOptions
from archfit.startup.record import Record
from archfit.workloads.pods import ImageUse, Pod

Kind = Literal["Found", "Absent", "Unknown", "Unasked", "Malformed", ""]
Origin = Literal["registry", "cache", "lock", "stale", "override", "annotation", "assumed", ""]


class ImageAnswer(Record):
    """One image of a pod, which several of its containers may name (`schema.FIELDS`).

    answer: Unknown too where no entry of what was found counts. runs_on: None where the image restricts nothing.
    """

    image: str
    fields: tuple[str, ...]
    volume: bool
    answer: Kind
    platforms: tuple[str, ...]
    digest: str
    origin: Origin
    age_seconds: int
    detail: str
    final: bool
    runs_on: tuple[str, ...] | None
    lacks: tuple[str, ...]
    messages: tuple[str, ...]
    part_of: str = ""

    @property
    def counts(self) -> bool:
        """Whether it has platforms to go by: an answer, an old one, or assumed ones."""
        return self.answer == "Found" or self.origin in ("assumed", "stale")

    @property
    def unknown(self) -> bool:
        """Whether it has no platforms to go by, although there is something to ask for."""
        return self.answer in ("Absent", "Unknown", "Malformed") and not self.counts


def image_answers(
    pod: Pod,
    own: PodOptions,
    given: Iterable[Answer],
    case: PodCase | None,
    decision: Decision,
    options: Options,
) -> tuple[ImageAnswer, ...]:
    """The images of the pod, in its order. given: an answer for each, none of a pod that is left alone."""
    # Images that another object lends stand at one path.
    counted = dict(case.evidence.known) if case else {}
    groups: dict[tuple[object, ...], tuple[ImageUse, Answer | None, list[Path]]] = {}
    for use, answer in zip(pod.images, given if case else (None,) * len(pod.images), strict=True):
        groups.setdefault((use.text, use.volume, answer), (use, answer, []))[2].append(use.path)
    wanted, by_image = _wanted(case, options), _messages(pod, decision)
    entries = []
    for use, answer, paths in groups.values():
        about = sorted(
            message
            for path in dict.fromkeys(paths)
            for image in (use.text, None)
            for message in by_image.get((path, image), ())
        )
        messages = dict.fromkeys(text for _, text in about)
        entry = _answer(use, answer, counted.get(use), own, wanted)
        entries.append(entry.replace(fields=tuple(map(dotted, paths)), messages=tuple(messages)))
    return tuple(entries)


def _messages(pod: Pod, decision: Decision) -> dict[tuple[Path, str | None], list[tuple[int, str]]]:
    """By a path and the image that they begin with, or None, the messages with their numbers."""
    known = {(image.path, image.text) for image in pod.images if image.text}
    by_image: dict[tuple[Path, str | None], list[tuple[int, str]]] = {}
    for number, message in enumerate(decision.messages):
        image, _, text = message.text.partition(": ")
        is_of_one = (message.path, image) in known
        key = (message.path, image if is_of_one else None)
        by_image.setdefault(key, []).append((number, text if is_of_one else message.text))
    return by_image


def _wanted(case: PodCase | None, options: Options) -> dict[str, frozenset[str]]:
    """By OS, the architectures that the pod could use: those of the cluster, and those that it names."""
    wanted: dict[str, frozenset[str]] = {}
    for reach in case.reaches if case else ():
        for system in reach.systems:
            wanted[system.os] = wanted.get(system.os, frozenset()) | system.cluster | system.allowed
        for os, name in reach.shut:
            wanted[os] = wanted.get(os, frozenset()) | {name}
    return wanted or {"linux": by_system(options.cluster_architectures)["linux"]}


def _answer(
    use: ImageUse,
    answer: Answer | None,
    counts: Found | None,
    own: PodOptions,
    wanted: dict[str, frozenset[str]],
) -> ImageAnswer:
    source = answer if isinstance(answer, Found) else counts
    runs_on: tuple[str, ...] | None = None
    lacks: tuple[str, ...] = ()
    if counts is not None:
        per_system = {os: offered(use, counts, os) for os in wanted}
        if not any(names is None for names in per_system.values()):
            runs = {named(os, name) for os, names in per_system.items() for name in names or ()}
            needs = {named(os, name) for os, names in wanted.items() for name in names}
            runs_on, lacks = tuple(sorted(runs)), tuple(sorted(needs - runs))
    origin = source.origin if source else ""
    if origin == "override" and own.platforms is not None:
        origin = "annotation"
    return ImageAnswer(
        use.text or "",
        (),
        use.volume,
        _kind(answer, counts),
        tuple(map(str, source.platforms)) if source else (),
        source.digest if source else "",
        origin,  # type: ignore[arg-type]  # Found says which there are
        source.age_seconds if source else 0,
        _detail(answer),
        isinstance(answer, Unknown) and answer.final,
        runs_on,
        lacks,
        (),
        source.part_of if source else "",
    )


def _kind(answer: Answer | None, counts: Found | None) -> Kind:
    if answer is None:
        return ""
    if isinstance(answer, Found) and counts is None:
        return "Unknown"
    return kind_of(answer)


def _detail(answer: Answer | None) -> str:
    return "" if answer is None or isinstance(answer, Found) else answer.cause
