"""What is explained, as trees for a terminal or a log.

    apps/v1 Deployment shop/web    web.yaml:12    changes: node affinity added
    ├─ images
    │  ├─ nginx:1.29           amd64 arm64    registry, sha256:ab12cd34ef56, asked now
    │  └─ ghcr.io/acme/api:2   amd64          cache, sha256:12ab34cd56ef, 2 h old: no arm64 build
    ├─ the pod allows    amd64 arm64    it asks for no architecture
    ├─ the cluster has   amd64 arm64    --cluster-architectures
    ├─ it can run on     amd64          ghcr.io/acme/api:2 has no arm64 build
    ├─ affinity          added: kubernetes.io/arch In [amd64]
    ├─ tolerations       left out: kubernetes.io/arch=arm64:NoSchedule (the pod cannot run on arm64)
    └─ to change this
       └─ archfit inspect ghcr.io/acme/api:2    shows its builds: ..

Rows without content are left out. Each line is `visible`. With `ascii` the tree is drawn with |, + and `.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from archfit.base.printable import count, visible
from archfit.explain.explained import Explained, ExplainedPod, PassedOver
from archfit.explain.explanation import Explanation, Term
from archfit.explain.images import ImageAnswer
from archfit.explain.steps import Step
from archfit.startup.record import Record

_BOXES = ("├─ ", "└─ ", "│  ", "   ")
_ASCII = ("|- ", "`- ", "|  ", "   ")
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
_PARTS = (("affinity", "node affinity"), ("tolerations", "toleration"), ("preferences", "preference"))


class Branch(Record):
    """A line of a tree, and what hangs below it."""

    text: str
    below: tuple[Branch, ...] = ()


def text(found: Explained, *, ascii_only: bool = False) -> str:
    """All trees, with a blank line between them; "" for nothing."""
    return "\n".join("".join(f"{line}\n" for line in tree) for tree in trees(found, ascii_only=ascii_only))


def bounded_lines(found: Explained, *, ascii_only: bool = False) -> list[str]:
    """The trees of the pods as lines, as many as `MOST_LINES` lines hold, and how many are left out."""
    lines: list[str] = []
    for number, tree in enumerate(trees(found.replace(passed_over=()), ascii_only=ascii_only)):
        if len(lines) + len(tree) > MOST_LINES:
            left = count(len(found.pods) - number, "pod")
            return [
                *lines,
                f"archfit: no more than {MOST_LINES} lines: archfit explain also shows the last {left}",
            ]
        lines += tree
    return lines


def trees(found: Explained, *, ascii_only: bool = False) -> Iterator[list[str]]:
    """The lines of each tree: the pods, then the objects that are passed over."""
    marks = _ASCII if ascii_only else _BOXES
    for tree in (*map(_pod, found.pods), *map(_passed_over, found.passed_over)):
        yield [visible(tree.text), *(visible(line) for line in _lines(tree.below, marks, ""))]


def _lines(branches: Sequence[Branch], marks: Sequence[str], before: str) -> Iterator[str]:
    for number, branch in enumerate(branches, start=1):
        last = number == len(branches)
        yield f"{before}{marks[last]}{branch.text}"
        yield from _lines(branch.below, marks, before + marks[2 + last])


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
    one = pod.explanation
    path = one.path if pod.several else ""
    head = [_name(one.api_version, one.kind, one.namespace, one.name), path, str(pod.place), _status(one)]
    return Branch(_GAP.join(part for part in head if part), tuple(_branches(one)))


def _branches(one: Explanation) -> Iterator[Branch]:
    yield Branch("images" if one.images else "images: none", tuple(_images(one.images)))
    if one.row:
        yield Branch(_row("custom resource", one.row))
    yield from _listing("settings", one.settings)
    if one.decided:
        width = max(len(_listed(names)) for names in (one.allows, one.cluster, one.reaches))
        yield Branch(
            _row("the pod allows", _listed(one.allows).ljust(width), _asks(one)), tuple(_terms(one.terms))
        )
        yield Branch(_row("the cluster has", _listed(one.cluster).ljust(width), one.cluster_source))
        yield Branch(_row("it can run on", _listed(one.reaches).ljust(width), "; ".join(one.because)))
    for label, steps in (
        ("affinity", one.affinity),
        ("tolerations", one.tolerations),
        ("preferences", one.preferences),
    ):
        yield from _listing(label, list(map(_step, steps)))
    for message in one.messages:
        at = f"{message.field}: " if message.field and message.severity == "error" else ""
        yield Branch(f"{message.severity}: {at}{message.message}")
    if one.remedies:
        lines = _columns([remedy.command, remedy.effect][not remedy.command :] for remedy in one.remedies)
        yield Branch("to change this", tuple(map(Branch, lines)))


def _row(label: str, *cells: str) -> str:
    return _GAP.join((label.ljust(_LABEL), *cells)).rstrip()


def _listing(label: str, lines: Sequence[str]) -> Iterator[Branch]:
    """One line beside its label, several below it."""
    if len(lines) == 1:
        yield Branch(_row(label, lines[0]))
    elif lines:
        yield Branch(label, tuple(map(Branch, lines)))


def _name(api_version: str, kind: str, namespace: str, name: str) -> str:
    return " ".join(
        part for part in (api_version, kind, "/".join(one for one in (namespace, name) if one)) if part
    )


def _status(one: Explanation) -> str:
    if one.outcome == "Change":
        given = [
            word for field, word in _PARTS if any(step.effect == "added" for step in getattr(one, field))
        ]
        return f"changes: {' and '.join(given)} added" if given else f"changes: {one.reason}"
    words = {"OptedOut": "left alone", "Unresolved": "not decided", "Conflict": "conflict"}
    return f"{words.get(one.outcome, 'stays as it is')}: {one.reason}"


def _listed(names: Sequence[str]) -> str:
    return " ".join(names) or "nothing"


def _asks(one: Explanation) -> str:
    if one.asks:
        return "; ".join(one.asks)
    if one.terms:
        return (
            "1 required term"
            if len(one.terms) == 1
            else f"{len(one.terms)} required terms, one of which has to hold"
        )
    return "it asks for no architecture" if one.allows else "its required node affinity has no terms"


def _terms(terms: Iterable[Term]) -> Iterator[Branch]:
    rows = [
        (f"term {term.number}", _listed(term.allows), ", ".join(map(_short, term.asks)) or "matches nothing")
        for term in terms
    ]
    yield from map(Branch, _columns(rows))


def _short(expression: str) -> str:
    """An expression with as many of its values as fit."""
    if len(expression) <= _LONGEST:
        return expression
    shown = expression[:_LONGEST].rpartition(", ")[0] or expression[:_LONGEST]
    return f"{shown}, and {count(expression.count(', ') - shown.count(', '), 'more value')}]"


def _images(images: Sequence[ImageAnswer]) -> Iterator[Branch]:
    rows = [(_image(image), _runs_on(image), _source(image)) for image in images]
    for one, line in zip(images, _columns(rows, _WIDEST_IMAGE), strict=True):
        messages = [message for message in one.messages if not _said(one, message)]
        yield Branch(line, tuple(map(Branch, messages)))


def _image(one: ImageAnswer) -> str:
    more = f" (in {len(one.fields)} places)" if len(one.fields) > 1 else ""
    return f"{one.image or one.fields[0]}{more}"


def _runs_on(one: ImageAnswer) -> str:
    if one.runs_on is not None:
        return _listed(one.runs_on)
    if one.counts:
        return "anywhere"
    return "?" if one.answer else "-"


def _source(one: ImageAnswer) -> str:
    if not one.answer:
        return "not looked up: the pod is left alone"
    if one.counts:
        lacks = f": no {' and no '.join(one.lacks)} build" if one.lacks else ""
        anywhere = (
            ""
            if one.runs_on is not None
            else f": {'it is only data' if one.volume else 'it restricts nothing'}"
        )
        return f"{_origin(one)}{lacks}{anywhere}"
    words = _ANSWERS[one.answer]
    said = any(not _said(one, message) for message in one.messages)
    return words if said or not one.detail else f"{words}: {one.detail}"


def _origin(one: ImageAnswer) -> str:
    digest = f", {one.digest[:19]}" if one.digest else ""
    match one.origin:
        case "registry":
            return f"registry{digest}, asked now"
        case "cache":
            pinned = "@" in one.image and not one.age_seconds
            return f"cache{digest}, {'which never changes' if pinned else _age(one.age_seconds)}"
        case "stale":
            return f"cache{digest}, {_age(one.age_seconds)}, as the registry could not be asked"
        case "lock":
            return f"lock file{digest}"
        case "override":
            return "--image-platforms"
        case "annotation":
            return "archfit.dev/image-platforms"
        case "assumed":
            return f"assumed (--on-unknown assume), as {one.detail}"
    return ""


def _age(seconds: int) -> str:
    if seconds < 0:
        return "dated in the future"
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit} old"
    return f"{seconds} s old"


def _said(one: ImageAnswer, message: str) -> bool:
    """Whether the line of the image says the same."""
    if one.origin in ("override", "annotation") and message.startswith("its platforms are stated"):
        return True
    return one.origin in ("assumed", "stale") or (one.answer == "Unasked" and "error" not in message)


def _step(step: Step) -> str:
    term = f"term {step.term} " if step.term else ""
    if not step.what:
        return f"{term}{step.reason}"
    effect = "there already" if step.effect == "present" else step.effect
    return f"{term}{effect}: {step.what}" + (f" ({step.reason})" if step.reason else "")


def _passed_over(one: PassedOver) -> Branch:
    head = [_name(one.api_version, one.kind, one.namespace, one.name), str(one.place), "passed over"]
    reason = f"its controller decides ({one.controller})" if one.controller else one.reason
    return Branch(_GAP.join(head), (Branch(f"because    {reason}"),))
