"""What is explained, as trees for a terminal or a log.

Rows without content are left out. Each line is `visible`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from archfit.base.printable import count, span, visible
from archfit.base.results import Location, ObjectRef, Reason
from archfit.explain.explained import Explained, ExplainedPod
from archfit.explain.explanation import Explanation, RequiredTerm
from archfit.explain.images import ImageAnswer
from archfit.startup.record import Record
from archfit.workloads.unsupported.untouched import Untouched

_MARKS = ("├─ ", "└─ ", "│  ", "   ")
_GAP = "    "
_WIDEST = 60
_WIDEST_IMAGE = 90
_LONGEST = 100  # characters of one expression of a term
MOST_LINES = 400
_ANSWERS = {
    "Absent": "there is no such image",
    "Unknown": "its platforms are not known",
    "Unasked": "its platforms cannot be looked up",
    "Malformed": "it is no image reference",
}
_LABEL = len("the cluster has")


class Branch(Record):
    """A line of a tree, and the lines below it."""

    text: str
    below: tuple[Branch, ...] = ()


def text(whole: Explained) -> str:
    """All trees, with a blank line between them; "" for nothing."""
    return "\n".join("".join(f"{line}\n" for line in tree) for tree in _trees(whole))


def bounded_lines(whole: Explained) -> list[str]:
    """The trees of the pods as lines, as many as `MOST_LINES` lines hold, and how many are left out."""
    lines: list[str] = []
    for number, tree in enumerate(_trees(whole.replace(passed_over=()))):
        if len(lines) + len(tree) > MOST_LINES:
            left = count(len(whole.pods) - number, "pod")
            more = f"archfit: no more than {MOST_LINES} lines: archfit explain also shows the last {left}"
            return [*lines, more]
        lines += tree
    return lines


def _trees(whole: Explained) -> Iterator[list[str]]:
    for tree in (*map(_pod, whole.pods), *map(_passed_over, whole.passed_over)):
        yield [visible(tree.text), *(visible(line) for line in _lines(tree.below, ""))]


def _lines(branches: Sequence[Branch], before: str) -> Iterator[str]:
    for number, branch in enumerate(branches, start=1):
        last = number == len(branches)
        yield f"{before}{_MARKS[last]}{branch.text}"
        yield from _lines(branch.below, before + _MARKS[2 + last])


def _columns(rows: Iterable[Sequence[str]], widest: int = _WIDEST) -> list[str]:
    """Rows of cells as lines; the last cell of a row, or one that is too wide, moves no other line."""
    rows = [tuple(row) for row in rows]
    most = max((len(row) for row in rows), default=0)
    widths = [
        max((len(row[at]) for row in rows if at + 1 < len(row) and len(row[at]) <= widest), default=0)
        for at in range(most)
    ]
    return [
        _GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
        for row in rows
    ]


def _pod(pod: ExplainedPod) -> Branch:
    why = pod.explanation
    head = [_name(why.ref), why.path if pod.several else "", _place(pod.location), _status(why)]
    return Branch(_GAP.join(part for part in head if part), tuple(_branches(why)))


def _branches(why: Explanation) -> Iterator[Branch]:
    yield Branch("images" if why.images else "images: none", tuple(_images(why.images)))
    if why.row:
        yield Branch(_row("custom resource", why.row))
    yield from _listing("settings", why.settings)
    if why.decided:
        width = max(len(_listed(names)) for names in (why.allows, why.cluster, why.reaches))
        yield Branch(
            _row("the pod allows", _listed(why.allows).ljust(width), _asks(why)), tuple(_terms(why.terms))
        )
        yield Branch(_row("the cluster has", _listed(why.cluster).ljust(width), why.cluster_source))
        yield Branch(_row("it can run on", _listed(why.reaches).ljust(width), "; ".join(why.because)))
    for label in ("affinity", "tolerations", "preferences"):
        yield from _listing(label, [_reason(reason) for reason in why.reasons if reason.about == label])
    for message in why.messages:
        at = f"{message.field}: " if message.field and message.severity == "error" else ""
        yield Branch(f"{message.severity}: {at}{message.message}")
    if why.remedies:
        lines = _columns([remedy.command, remedy.effect][not remedy.command :] for remedy in why.remedies)
        yield Branch("to change this", tuple(map(Branch, lines)))


def _row(label: str, *cells: str) -> str:
    return _GAP.join((label.ljust(_LABEL), *cells)).rstrip()


def _listing(label: str, lines: Sequence[str]) -> Iterator[Branch]:
    if len(lines) == 1:
        yield Branch(_row(label, lines[0]))
    elif lines:
        yield Branch(label, tuple(map(Branch, lines)))


def _name(ref: ObjectRef) -> str:
    name = "/".join(part for part in (ref.namespace, ref.name) if part)
    return " ".join(part for part in (ref.api_version, ref.kind, name) if part)


def _place(location: Location) -> str:
    if location.file:
        return f"{location.file}:{location.line}"
    source = f" of the stream, {location.source}" if location.source else ""
    return f"line {location.line}{source}"


def _status(why: Explanation) -> str:
    words = {
        "Change": "changes",
        "OptedOut": "left alone",
        "Unresolved": "not decided",
        "Conflict": "conflict",
    }
    return f"{words.get(why.outcome, 'stays as it is')}: {why.reason}"


def _listed(names: Sequence[str]) -> str:
    return " ".join(names) or "nothing"


def _asks(why: Explanation) -> str:
    if why.asks:
        return "; ".join(why.asks)
    if len(why.terms) > 1:
        return f"{len(why.terms)} required terms, one of which has to hold"
    if why.terms:
        return "1 required term"
    return "it asks for no architecture" if why.allows else "its required node affinity has no terms"


def _terms(terms: Iterable[RequiredTerm]) -> Iterator[Branch]:
    rows = [
        (f"term {term.number}", _listed(term.allows), ", ".join(map(_short, term.asks)) or "matches nothing")
        for term in terms
    ]
    yield from map(Branch, _columns(rows))


def _short(expression: str) -> str:
    if len(expression) <= _LONGEST:
        return expression
    shown = expression[:_LONGEST].rpartition(", ")[0] or expression[:_LONGEST]
    return f"{shown}, and {count(expression.count(', ') - shown.count(', '), 'more value')}]"


def _images(images: Sequence[ImageAnswer]) -> Iterator[Branch]:
    rows = [(_image(image), _runs_on(image), _source(image)) for image in images]
    for image, line in zip(images, _columns(rows, _WIDEST_IMAGE), strict=True):
        messages = [message for message in image.messages if not _says_the_same(image, message)]
        yield Branch(line, tuple(map(Branch, messages)))


def _image(image: ImageAnswer) -> str:
    more = f" (in {len(image.fields)} places)" if len(image.fields) > 1 else ""
    return f"{image.image or image.fields[0]}{more}"


def _runs_on(image: ImageAnswer) -> str:
    if image.runs_on is not None:
        return _listed(image.runs_on)
    if image.counts:
        return "anywhere"
    return "?" if image.answer else "-"


def _source(image: ImageAnswer) -> str:
    if not image.answer:
        return "not looked up: the pod is left alone"
    if image.counts:
        lacks = f": no {' and no '.join(image.lacks)} build" if image.lacks else ""
        if image.runs_on is None:
            lacks += ": it is only data" if image.volume else ": it restricts nothing"
        return f"{_origin(image)}{lacks}"
    words = _ANSWERS[image.answer]
    below = any(not _says_the_same(image, message) for message in image.messages)
    return words if below or not image.detail else f"{words}: {image.detail}"


def _origin(image: ImageAnswer) -> str:
    digest = f", {image.digest[:19]}" if image.digest else ""
    match image.origin:
        case "registry":
            return f"registry{digest}, asked now"
        case "cache":
            pinned = "@" in image.image and not image.age_seconds
            return f"cache{digest}, {'which never changes' if pinned else _age(image.age_seconds)}"
        case "stale":
            return f"cache{digest}, {_age(image.age_seconds)}, as the registry could not be asked"
        case "lock":
            return f"lock file{digest}"
        case "override":
            return "--image-platforms"
        case "annotation":
            return "archfit.dev/image-platforms"
        case "assumed":
            return f"assumed (--on-unknown assume), as {image.detail}"
    return ""


def _age(seconds: int) -> str:
    return f"{span(seconds)} old" if seconds >= 0 else "dated in the future"


def _says_the_same(image: ImageAnswer, message: str) -> bool:
    """Whether the line of the image does."""
    if image.origin in ("override", "annotation") and message.startswith("its platforms are stated"):
        return True
    return image.origin in ("assumed", "stale") or (image.answer == "Unasked" and "error" not in message)


def _reason(of: Reason) -> str:
    term = f"term {of.term} " if of.term else ""
    if not of.what:
        return f"{term}{of.reason}"
    effect = "there already" if of.effect == "present" else of.effect
    return f"{term}{effect}: {of.what}" + (f" ({of.reason})" if of.reason else "")


def _passed_over(left: Untouched) -> Branch:
    head = [_name(left.ref), _place(left.location), "passed over"]
    reason = f"its controller decides ({left.controller})" if left.controller else left.reason
    return Branch(_GAP.join(head), (Branch(f"because    {reason}"),))
