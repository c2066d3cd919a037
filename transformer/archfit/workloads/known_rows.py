"""How the rows of custom resources are known, in words, and what is said where that decides (`customResources`).

A kind is named once in a stream: with `read`, where one of its pods got an affinity; with `seen` and `none`, where one
was left; in a version for which no row was read, always.
"""

from __future__ import annotations

from archfit.base.results import Decision, Message
from archfit.options.settings import STATED, Options, Workload
from archfit.workloads.builtin import other_versions
from archfit.workloads.pods import Pod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def operator_of(group: str) -> str:
    """`CloudNativePG` of `postgresql.cnpg.io`; for a group without rows `the operator of GROUP`."""
    from archfit.workloads.custom_rows import groups, kinds_file  # with the first row that has to be named

    return kinds_file(group).operator if group in groups() else f"the operator of {group}"


def known(row: Workload) -> str:
    """How the row is known: `seen with k6 operator 1.2.0 of 2025-09-02`."""
    if row.seen == STATED:
        return STATED
    return f"seen with {row.seen}" if row.seen else f"read, {not_seen(row)}"


def not_seen(row: Workload) -> str:
    """What a row lacks that rests on reading."""
    return f"not seen with {operator_of(row.group)}"


def known_kind(rows: Iterable[Workload]) -> str:
    """How the rows of a kind are known together: `never changed`, `seen with ..`, `read, ..`, or partly one of each."""
    texts = list(dict.fromkeys(known(row) for row in rows if row.pod_spec or row.objects))
    return "; other parts ".join(sorted(texts, reverse=True)) or "never changed"


def left_alone(row: Workload, options: Options) -> str:
    """Why the option leaves the pods of the row alone, "" where it does not."""
    if options.custom_resources == "none":
        return "it is a custom resource (--custom-resources none)"
    if options.custom_resources == "seen" and not row.seen:
        return f"{not_seen(row)} (--custom-resources seen)"
    return ""


def row_messages(decisions: Iterable[tuple[Pod, Decision]], options: Options) -> list[Message]:
    """One message for each kind of which the option `customResources` decided something."""
    kinds: dict[tuple[str, str], list[tuple[Pod, Workload]]] = {}
    for pod, decision in decisions:
        row = pod.row
        if row is not None and _decided(pod, row, decision, options):
            kinds.setdefault((row.group, row.kind), []).append((pod, row))
    return [_message(*pods[0], len(pods), options) for pods in kinds.values()]


def _decided(pod: Pod, row: Workload, decision: Decision, options: Options) -> bool:
    reason = left_alone(row, options)
    if reason:
        return decision.outcome == "OptedOut" and decision.reason == reason
    return not row.seen and (decision.outcome == "Change" or bool(_other_versions(pod, row)))


def _other_versions(pod: Pod, row: Workload) -> str:
    """The versions for which the row was read, "" where that of the object is one, or the row is one around it."""
    if pod.ref.kind != row.kind:
        return ""
    return other_versions(pod.ref.api_version, row.kind, {(row.group, row.kind): (row,)})


def _message(pod: Pod, row: Workload, number: int, options: Options) -> Message:
    number_of_pods = f" ({number} such pods)" if number > 1 else ""
    reason = left_alone(row, options)
    if reason:
        return Message("info", f"not transformed: {reason}{number_of_pods}", pod.ref, location=pod.location)
    check = f"check the pods{number_of_pods}, or let admission place them (archfit policy, archfit serve)"
    versions = _other_versions(pod, row)
    why = f"archfit has read {row.kind} in {versions} only" if versions else not_seen(row)
    return Message("warning", f"{why}: {check}", pod.ref, location=pod.location)
