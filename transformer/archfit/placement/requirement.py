"""Does every image run there? The question of `check --require`, beside the one of `decide`.

A pod that archfit leaves alone is judged as any other; one for nodes of another operating system is not checked. No
option stands for an answer that is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from archfit.base.results import Message
from archfit.images.platforms import Absent, Answer, Found, Malformed, Platform, Unasked, Unknown
from archfit.images.reference import is_placeholder
from archfit.options.settings import Options
from archfit.placement.affinity import Demand, allowed, demands
from archfit.placement.evidence import ImageEvidence, offered
from archfit.placement.fields import MalformedField
from archfit.placement.reach import Offers
from archfit.placement.selection import PodOptions, answers_for
from archfit.programs.program import ProgramsOf, wrong_words
from archfit.programs.start import Start, start_of
from archfit.startup.record import Record
from archfit.workloads.pods import ImageUse, Pod


class LackingUse(Record):
    """One use of an image that does not run everywhere it has to.

    missing: the required platforms that it does not offer. offers: what it does. kept_off: the pod's own nodeSelector
    and affinity keep it away from all that is missing. left_alone: why archfit leaves the pod as it is, "" where it
    does not. absent: what the registry said that has no such image, "" where there is one. not_there: as of `Found`.
    programs: which entries start a program of another machine, a sentence.
    """

    use: ImageUse
    missing: tuple[str, ...]
    offers: tuple[str, ...]
    kept_off: bool
    left_alone: str = ""
    absent: str = ""
    not_there: str = ""
    programs: str = ""


class NotKnown(Record):
    """One use of an image of which nobody can say where it runs.

    reason: in a word or two, as `placeholder`. cause: in a sentence.
    """

    use: ImageUse
    reason: str
    cause: str


class PlatformCheck(Record):
    """What became of one pod. left_out: why its images were not checked, "" where they were.

    unasked: images with "stated", where the configuration or an annotation states the platforms, and with "listed",
    where only the index says that they have a required platform (`Found.listed`).
    unread: whose programs were asked for and not read; `reason` is "not read".
    """

    left_out: str = ""
    lacks: tuple[LackingUse, ...] = ()
    messages: tuple[Message, ...] = ()
    unknown: tuple[NotKnown, ...] = ()
    unasked: frozenset[tuple[str, str]] = frozenset()
    unread: tuple[NotKnown, ...] = ()


def judge(
    pod: Pod,
    own: PodOptions,
    answers: Mapping[str, Answer],
    options: Options,
    required: Sequence[Platform],
    programs: ProgramsOf | None = None,
) -> PlatformCheck:
    """Which images of the pod lack one of the required platforms, and of which nobody knows.

    own, answers: as for `decide`. programs: what images start, None where that is not asked.
    Raises UsageError for overrides that disagree.
    """
    given = answers_for(pod, answers, options, own)
    evidence = ImageEvidence.from_answers(pod, given, options, at_gate=True)
    messages = (*own.messages, *evidence.messages)
    try:
        terms = demands(pod)
    except MalformedField as error:
        if own.left_alone:
            return PlatformCheck(own.left_alone, messages=messages)
        return PlatformCheck(messages=(*messages, pod.message("error", str(error), error.path)))
    by_os = Offers(evidence.known)
    systems = {os for demand in terms for os in by_os.systems(demand)}
    wanted = [platform for platform in required if platform.os in systems]
    if not wanted:
        return PlatformCheck(f"it is for {', '.join(sorted(systems))} nodes", messages=messages)
    filled_in = own.left_by == "placeholder"
    lacks, unread = [], []
    for use, known in evidence.known:
        missing, wrong, why = _missing(pod, use, known, wanted, programs)
        if missing:
            kept_off = not filled_in and not any(_reachable(terms, platform) for platform in missing)
            offers = tuple(map(str, known.platforms))
            lack = LackingUse(use, tuple(map(_named, missing)), offers, kept_off, own.left_alone)
            lacks.append(lack.replace(not_there=known.not_there, programs=wrong))
        elif why:
            unread.append(NotKnown(use, "not read", why))
    unknown = []
    for use, answer in evidence.unknown:
        if isinstance(answer, Absent):
            names = tuple(map(_named, wanted))
            lacks.append(LackingUse(use, names, (), False, own.left_alone, answer.cause))
        else:
            unknown.append(not_known(use, answer))
    unasked = frozenset(
        (use.text, "listed" if known.listed else "stated")
        for use, known in evidence.known
        if use.text and (known.listed or known.origin == "override")
    )
    return PlatformCheck("", tuple(lacks), messages, tuple(unknown), unasked, tuple(unread))


def _missing(
    pod: Pod, use: ImageUse, known: Found, wanted: Iterable[Platform], programs: ProgramsOf | None
) -> tuple[list[Platform], str, str]:
    """What a use lacks, then two sentences: which of it starts another machine's program, which was not read."""
    missing, wrong = [], []
    unread: dict[str, list[str]] = {}
    start = container_start(pod, use) if programs else None
    for platform in wanted:
        architectures = offered(use, known, platform.os)
        if architectures is not None and platform.architecture not in architectures:
            missing.append(platform)
        elif programs and start and (verdict := programs(use.text or "", platform, start)):
            if verdict.state == "wrong":
                missing.append(platform)
                wrong.append(wrong_words(platform, verdict.words))
            elif verdict.state == "unread":
                unread.setdefault(verdict.words, []).append(_named(platform))
    why = "; ".join(f"{', '.join(names)}: {words}" for words, names in unread.items())
    return missing, "; ".join(wrong), why


def container_start(pod: Pod, use: ImageUse) -> Start | None:
    """What the pod says of the program that a use of an image starts; None for a volume, which starts nothing."""
    if use.volume:
        return None
    if use.path[:-3] != pod.path or use.path[-1] != "image":
        return Start(unread="its operator chooses what the container starts")
    return start_of(pod.spec[str(use.path[-3])][use.path[-2]])


def not_known(use: ImageUse, answer: Unknown | Unasked | Malformed) -> NotKnown:
    """Why nobody can say where the image runs."""
    if isinstance(answer, Unknown):
        return NotKnown(use, "no answer", answer.cause)
    if isinstance(answer, Malformed):
        return NotKnown(use, "malformed", answer.cause)
    text = use.text or ""
    if use.unasked:
        reason = "chosen elsewhere"
    elif not text:
        reason = "no image named"
    elif is_placeholder(text):
        reason = "placeholder"
    elif use.pull_policy == "Never":
        reason = "never pulled"
    else:
        reason = "injected"
    return NotKnown(use, reason, answer.cause)


def _reachable(terms: Sequence[Demand], platform: Platform) -> bool:
    only = frozenset({platform.architecture})
    return any(
        platform.os in demand.systems and platform.architecture in allowed(demand, only) for demand in terms
    )


def _named(platform: Platform) -> str:
    return f"{platform.os}/{platform.architecture}"
