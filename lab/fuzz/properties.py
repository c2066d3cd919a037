"""What has to hold for each stream. A defect is a signature, which is equal for equal causes, and a sentence.

raises             a run ends in its output or in an error with message and place, never in another exception
reads otherwise    kubectl and kustomize read the output as the patch applied to what they read before, typed
bytes              only insertions, an empty value or an alias differ, and only in documents that get a patch
                   (a stamp of an earlier run may go)
second run         changes nothing, and is not refused; with `--stamp` too
pod missing        a pod that kubectl reads has a decision
refused            what both readers take is refused only for the reasons of `refusals`
slow               no run takes longer than SLOW_SECONDS of the processor
"""

import re
import time
import traceback
from collections import Counter
from typing import Any, NamedTuple

from archfit.base.errors import ArchfitError
from archfit.yaml.stream import split
from fuzz.asking import Answer, Question, question
from fuzz.engine import Done, Refused, run
from fuzz.refusals import reason
from fuzz.steps import has_only_merges, patch, renumbered
from fuzz.streams import OPTIONS, Stream

SLOW, SLOW_SECONDS = "slow", 1.0
_REPLACED = re.compile(rb"(?:null|Null|NULL|~|\[[ \r\n]*\]|\{[ \r\n]*\}|\*[^\s,\[\]{}]+|[ \t]+|)").fullmatch
_PATHS = re.compile(r"(?<!\S)(?:/[\w.~-]*)+|\b\w+(?:\[[^\]]*\]|\.\w+)+")
_NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|\b[0-9][0-9,]*\b|U\+[0-9A-F]+|\*\S+")


class Defect(NamedTuple):
    """signature: of the cause. detail: of this stream."""

    signature: str
    detail: str


class Examined(NamedTuple):
    """A stream that was run. outcome: None where the run raised. asked: what the judge has to say on.

    again: the second run, if there was one.
    """

    stream: Stream
    outcome: Done | Refused | None
    defects: tuple[Defect, ...]
    asked: Question | None
    again: Done | Refused | None = None


def examine(stream: Stream) -> Examined:
    """Runs the stream, and whatever can be said of it without the judge."""
    options = OPTIONS[stream.options]
    mode = " --stamp" if options.stamp else ""
    defects: list[Defect] = []
    started = time.process_time()
    try:
        outcome = run(stream.text, options)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        return Examined(stream, None, (_raised(error, mode),), None)
    took = time.process_time() - started
    if took > SLOW_SECONDS:
        defects.append(Defect(SLOW, f"{took:.1f} s for {len(stream.text)} bytes"))
    if isinstance(outcome, Refused):
        defects += [
            Defect(f"no place: {general(message)}", message)
            for message, placed in outcome.messages
            if not placed
        ]
        asked = question(stream.text, None, 0, (), both=True)
        return Examined(stream, outcome, tuple(defects), asked)
    if not outcome.splices:
        asked = question(stream.text, None, 0, (), both=False)
        return Examined(stream, outcome, tuple(defects), asked)
    pieces = split(stream.text)
    defects += _bytes(stream, outcome)
    try:
        again = run(outcome.data, options, results=False)
    except Exception as error:  # noqa: BLE001 - as above
        defects.append(_raised(error, f"{mode}, second run"))
        again = None
    asked = question(stream.text, outcome.data, len(pieces), patch(stream.text, outcome), both=True)
    return Examined(stream, outcome, tuple(defects), asked, again)


def judged(examined: Examined, answer: Answer | None) -> list[Defect]:
    """What the judge's answer says about the stream."""
    outcome = examined.outcome
    if answer is None or outcome is None:
        return []
    kubectl, kustomize = answer["kubectl"], answer["kustomize"]
    taken = "refused" not in kubectl and "refused" not in kustomize
    defects: list[Defect] = []
    if isinstance(outcome, Refused):
        unknown = [message for message, _ in outcome.messages if not reason(message, examined.stream.text)]
        return [Defect(f"refused: {general(message)}", message) for message in unknown if taken]
    mode = " --stamp" if OPTIONS[examined.stream.options].stamp else ""
    # What no reader takes may be passed through in parts and refused as a whole.
    if examined.again and ("refused" not in kubectl or "refused" not in kustomize):
        defects += _second(examined.again, mode)
    defects += [
        Defect(f"{reader} reads otherwise{mode}: {_kind(verdict['difference'])}", verdict["difference"])
        for reader, verdict in (("kubectl", kubectl), ("kustomize", kustomize))
        if "difference" in verdict and not (reader == "kustomize" and _told_apart(verdict, answer))
    ]
    if "refused" not in kubectl:
        defects += _missing(outcome, answer["pods"])
    return defects


def _told_apart(verdict: dict[str, Any], answer: Answer) -> bool:
    """Whether a value differs in an input that the readers read differently: one of them has to be wrong."""
    return " instead of " in verdict["difference"] and "disagree" in answer


def _kind(difference: str) -> str:
    """What a difference is, without the place and the values."""
    words = (
        "output is refused",
        " instead of ",
        " is gone",
        " is new",
        "does not fit",
        "documents, the input",
    )
    kind = next((word for word in words if word in difference), "")
    return f"{kind.strip()}: {general(difference.partition(kind)[2])}" if kind == words[0] else kind.strip()


def recount(examined: Examined, answer: Answer | None) -> Question | None:
    """The question again, where archfit and a reader count documents otherwise because some hold nothing."""
    if answer is None or examined.asked is None:
        return None
    if not any("counted" in verdict for verdict in (answer["kubectl"], answer["kustomize"])):
        return None
    return renumbered(examined.stream.text, examined.asked)


def counted_otherwise(examined: Examined, answer: Answer | None) -> list[Defect]:
    """A reader that takes the input and finds other documents in it than archfit, which changes some."""
    if answer is None:
        return []
    defects = [
        Defect(
            f"{reader} counts documents otherwise",
            f"{answer[reader]['documents']} for {reader}, {answer[reader]['counted']} for archfit",
        )
        for reader in ("kubectl", "kustomize")
        if "counted" in answer[reader]
    ]
    return [] if defects and has_only_merges(examined.stream.text) else defects


def _raised(error: Exception, mode: str) -> Defect:
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "/archfit/" in frame.filename]
    last = inside[-1] if inside else frames[-1]
    where = "" if isinstance(error, ArchfitError) else f" in {last.filename.rpartition('/')[2]} {last.name}"
    said = f": {general(str(error))}" if isinstance(error, ArchfitError) else ""
    return Defect(
        f"raises{mode}: {type(error).__name__}{where}{said}", f"{error} ({last.filename}:{last.lineno})"
    )


def general(message: str) -> str:
    return " ".join(_NAMES.sub("_", _PATHS.sub("PATH", message)).split())[:110]


def _bytes(stream: Stream, outcome: Done) -> list[Defect]:
    changed = {pod.location.document for pod, decision in outcome.edits.decisions if decision.patch}
    pieces = [piece for piece in split(stream.text) if piece.number in changed]
    defects = []
    for splice in outcome.splices:
        was = stream.text[splice.start : splice.end]
        if not _REPLACED(was) and b"archfit.dev/added" not in stream.text:
            defects.append(
                Defect(
                    f"bytes{' --stamp' if OPTIONS[stream.options].stamp else ''}: more than an insertion",
                    repr(was),
                )
            )
        if not any(piece.start <= splice.start and splice.end <= piece.end for piece in pieces):
            defects.append(Defect("bytes: outside of the documents that get a patch", repr(was)))
    return defects


def _second(again: Done | Refused, mode: str) -> list[Defect]:
    if isinstance(again, Refused):
        text = again.messages[0][0]
        return [Defect(f"second run{mode} is refused: {general(text)}", text)]
    if again.splices:
        said = "; ".join(decision.reason for _, decision in again.edits.decisions if decision.patch)
        return [Defect(f"second run{mode} changes something", f"{said}: {again.splices[0].text!r}")]
    return []


def _missing(outcome: Done, pods: list[dict[str, Any]]) -> list[Defect]:
    """A decision may know more images of its pod than the containers', never fewer."""
    left = [(pod.ref.kind, Counter(use.text for use in pod.images)) for pod, _ in outcome.edits.decisions]
    defects = []
    for pod in sorted(pods, key=lambda one: -len(one["images"])):
        wanted = Counter(pod["images"])
        found = next((one for one in left if one[0] == pod["kind"] and wanted <= one[1]), None)
        if found is None:
            defects.append(Defect("pod missing", f"no decision for a {pod['kind']} with {pod['images']}"))
        else:
            left.remove(found)
    return defects
