"""What `archfit doctor` found, as values: findings, and the entry points that need them. Pure.

An entry point is a way in which other programs reach archfit. It is open where every finding that it needs is ok or a
note.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archfit.base.record_json import record_value
from archfit.startup.record import Record
from archfit.yaml.json_output import document_head

OK, NOTE, MISSING, WRONG = "ok", "note", "missing", "wrong"
_WORST_FIRST = (WRONG, MISSING, NOTE, OK)


class Diagnostic(Record):
    """One thing that was looked at. subject: `cache`, `helm 4`; an entry point names it. text: without its full stop.

    remedy: what to do, as a command where there is one; "" where there is nothing to do.
    """

    subject: str
    state: str
    text: str
    remedy: str = ""


def ok(subject: str, text: str) -> Diagnostic:
    """It is there and works."""
    return Diagnostic(subject, OK, text)


def note(subject: str, text: str, remedy: str = "") -> Diagnostic:
    """It works, and something about it is worth knowing."""
    return Diagnostic(subject, NOTE, text, remedy)


def missing(subject: str, text: str, remedy: str) -> Diagnostic:
    """An optional part is not here."""
    return Diagnostic(subject, MISSING, text, remedy)


def wrong(subject: str, text: str, remedy: str = "") -> Diagnostic:
    """It is configured, and broken: exit 3."""
    return Diagnostic(subject, WRONG, text, remedy)


class Need(Record):
    """What an entry point needs. subjects: of the findings that decide it. elsewhere: where it is checked instead."""

    entry_point: str
    words: str
    subjects: tuple[str, ...] = ()
    elsewhere: str = ""


class EntryPoint(Record):
    """here: `yes`, `no`, `wrong`, or `-` where it is checked elsewhere."""

    entry_point: str
    needs: str
    here: str
    remedy: str


ENTRY_POINTS = (
    Need("files, pipes", "archfit alone", ("python",)),
    Need("Helm 3", "Helm 3, archfit on PATH", ("helm 3", "archfit")),
    Need("Helm 4", "Helm 4, the plugin", ("helm 4", "helm plugin")),
    Need("kustomize", "kustomize 4, archfit on PATH", ("kustomize", "archfit")),
    Need("kpt", "kpt, archfit on PATH", ("kpt", "archfit")),
    Need("container function", "docker, podman or nerdctl", ("containers",)),
    Need("Argo CD", "nothing here", elsewhere="in its sidecar: archfit setup argocd --check"),
    Need("Flux, Rancher Fleet", "nothing here", elsewhere="archfit setup flux --check"),
    Need("webhook", "nothing here", elsewhere="helm test archfit --namespace archfit"),
    Need("audit, policy --live", "kubectl, a context", ("kubectl", "context")),
    Need("audit --format html", "the extra audit", ("extra audit",)),
    Need("serve", "the extra serve", ("extra serve",)),
    Need("shared cache", "the extra redis", ("extra redis",)),
)
SHOWN_BY_ENTRY_POINT = frozenset(subject for need in ENTRY_POINTS for subject in need.subjects)


def entry_points(findings: Iterable[Diagnostic]) -> list[EntryPoint]:
    """Each entry point of ENTRY_POINTS, by the findings."""
    by_subject: dict[str, Diagnostic] = {}
    for finding in findings:
        before = by_subject.setdefault(finding.subject, finding)
        by_subject[finding.subject] = min(before, finding, key=_rank)
    return [
        _entry_point(need, [by_subject[subject] for subject in need.subjects if subject in by_subject])
        for need in ENTRY_POINTS
    ]


def exit_code(findings: Iterable[Diagnostic]) -> int:
    """3 where something that is configured is broken, else 0."""
    return 3 if any(finding.state == WRONG for finding in findings) else 0


def doctor_value(facts: object, findings: Sequence[Diagnostic]) -> dict[str, object]:
    """All of it for JSON. facts: as `archfit version --json` has them."""
    return {
        **document_head("doctor"),
        "installation": facts,
        "findings": [{**record_value(finding), "remedy": finding.remedy or None} for finding in findings],
        "entryPoints": [
            {**record_value(row), "remedy": row.remedy or None} for row in entry_points(findings)
        ],
        "wrong": sum(finding.state == WRONG for finding in findings),
    }


def _rank(finding: Diagnostic) -> int:
    return _WORST_FIRST.index(finding.state)


def _entry_point(need: Need, findings: list[Diagnostic]) -> EntryPoint:
    if not need.subjects:
        return EntryPoint(need.entry_point, need.words, "-", need.elsewhere)
    worst = min(findings, key=_rank, default=Diagnostic("", MISSING, ""))
    here = {WRONG: "wrong", MISSING: "no"}.get(worst.state, "yes")
    return EntryPoint(need.entry_point, need.words, here, "" if here == "yes" else worst.remedy)
