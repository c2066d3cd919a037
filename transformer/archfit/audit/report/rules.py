"""The rules of a wave as a configuration file of archfit: what is in it goes to the architecture, all others stay.

The waves before are in the file, too: without them the next render would take back what they have. Those of wave 0 get
the toleration alone; DaemonSets have no preference. Workloads of one owner are one rule. What is not known, what stays,
and later waves have no rule of their own. A rule has no word for "without a namespace": that of a manifest without one
matches its kind and name in each namespace, so those of other namespaces that go otherwise follow at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from glob import escape

from archfit.audit.amount import cpu_text
from archfit.audit.compare import AuditComparison
from archfit.audit.findings import AuditFindings
from archfit.audit.plan.waves import MOST_RULED, NOT_KNOWN, Wave
from archfit.audit.readiness import Owner
from archfit.audit.report.words import cluster_words, done_words, wave_name
from archfit.base.errors import UsageError
from archfit.base.printable import count, few, json_text, visible
from archfit.edit.render import scalar

_WEIGHT = 100
_MOST_NAMES = 3


def render(
    findings: AuditFindings,
    since: AuditComparison | None = None,  # noqa: ARG001
    *,
    number: int | None = None,
) -> bytes:
    """The file in UTF-8. number: of the wave; None for the next one. Raises UsageError for several clusters."""
    if len(findings.facts.snapshots) > 1:
        raise UsageError(
            f"--format rules: a configuration file is for one cluster, and this audit is of "
            f"{len(findings.facts.snapshots)}: name the report of one"
        )
    return "".join(f"{line}\n" for line in _lines(findings, number)).encode()


def _lines(findings: AuditFindings, number: int | None) -> Iterator[str]:
    plan = findings.waves[0]
    wave = plan.following if number is None else plan.waves[number]
    last = MOST_RULED if wave is None or wave.number is None else wave.number
    yield from _head(findings, wave)
    yield "apiVersion: archfit.dev/v1alpha1"
    yield "kind: ArchFit"
    yield "spec:"
    yield "  rules:"
    yield "    # all that no rule below names: no toleration and no preference"
    yield "    - match: {}"
    yield "      tolerate: false"
    yield "      prefer: {}"
    moved = {
        workload.owner: place
        for workload in findings.workloads
        if (place := workload.waves[0]) is not None and 0 <= place <= last
    }
    for place in sorted(set(moved.values())):
        yield f"    # wave {wave_name(plan.waves[place])}"
        owners = [owner for owner, own in moved.items() if own == place]
        for owner in owners:
            if owner[2]:
                yield f"    - match: {{{_match(owner)}}}"
                yield "      tolerate: true"
                if place:
                    yield f"      prefer: {{{scalar(plan.architecture)}: {_WEIGHT}}}"
        nameless = sum(not owner[2] for owner in owners)
        if nameless:
            yield f"    # {count(nameless, 'workload')} without metadata.name: no rule can name what has no name"
    namesakes = _namesakes(findings, moved)
    if namesakes:
        yield "    # namesakes of those above that have no namespace"
    for owner in namesakes:
        place = moved.get(owner, NOT_KNOWN)
        yield f"    - match: {{{_match(owner)}}}"
        yield f"      tolerate: {'true' if place >= 0 else 'false'}"
        yield f"      prefer: {f'{{{scalar(plan.architecture)}: {_WEIGHT}}}' if place > 0 else '{}'}"


def _namesakes(findings: AuditFindings, moved: Mapping[Owner, int]) -> list[Owner]:
    """Those that the rule of a workload without a namespace matches, too, and that go otherwise."""
    loose = {owner[1:3]: place for owner, place in moved.items() if not owner[0]}
    owners = dict.fromkeys(workload.owner for workload in findings.workloads)
    return [
        owner
        for owner in owners
        if owner[0] and owner[1:3] in loose and moved.get(owner) != loose[owner[1:3]]
    ]


def _head(findings: AuditFindings, wave: Wave | None) -> Iterator[str]:
    plan = findings.waves[0]
    for cluster in findings.clusters:
        yield f"# {visible(cluster.name)}: {visible(cluster_words(cluster))}"
    if wave is None:
        yield f"# Waves 0 to {MOST_RULED} to {plan.architecture} are done, as far as they are known: their rules"
    else:
        yield (
            f"# Wave {wave_name(wave)}, to {plan.architecture}: {count(wave.owner_count, 'workload')}, "
            f"{cpu_text(wave.amount.cpu)} CPU, {done_words(wave)}; with the waves before it"
        )
    for earlier in plan.waves[: MOST_RULED + 1 if wave is None or wave.number is None else wave.number + 1]:
        if earlier.waiting:
            verb = "is" if earlier.waiting == 1 else "are"
            named = visible(few(earlier.owners[: earlier.waiting], _MOST_NAMES, earlier.waiting))
            yield f"# Wave {wave_name(earlier)}: {earlier.waiting} of {earlier.owner_count} {verb} not ready ({named})"
    yield "# To use it: archfit --config FILE, or copy rules: into your own file"


def _match(owner: Owner) -> str:
    parts = zip(("namespace", "kind", "name"), owner[:3], strict=True)
    return ", ".join(f"{key}: {json_text(scalar(escape(text)))}" for key, text in parts if text)
