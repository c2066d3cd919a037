"""Tolerations: which exist, which cover a new one, and the patch that appends.

A toleration covers another when it tolerates every taint that the other does (core/v1,
Toleration.ToleratesTaint):

    effect      empty, or the same
    key         empty, or the same
    operator    Exists                              covers any value, and Exists
                Equal, which "" means               covers Equal with the same value
                anything else (Lt, Gt, to come)     covers nothing, and is no error
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archfit.options.settings import Toleration
from archfit.patch import Add, Operation, Test
from archfit.placement.fields import items, string
from archfit.source.values import text_of
from archfit.workloads.pods import Pod

_FIELDS = ("key", "operator", "value", "effect")


def existing(pod: Pod) -> list[Toleration]:
    """The pod's own tolerations and its RuntimeClass's; missing fields are "". Raises Malformed."""
    found = []
    if pod.runtime_class is not None:
        found += [
            Toleration(*[text_of(item.get(field)) for field in _FIELDS])
            for item in pod.runtime_class.tolerations
        ]
    if pod.spec.get("tolerations") is None:
        return found
    for index, item in enumerate(items(pod.spec, "tolerations", pod.at("tolerations")[:-1])):
        at = (*pod.at("tolerations"), index)
        found.append(Toleration(*[string(item, field, at) for field in _FIELDS]))
    return found


def covers(there: Toleration, new: Toleration) -> bool:
    """Whether every taint that `new` tolerates is tolerated by `there` already."""
    if there.effect not in ("", new.effect) or there.key not in ("", new.key):
        return False
    if there.operator == "Exists":
        return True
    return there.operator in ("", "Equal") and new.operator in ("", "Equal") and there.value == new.value


def uncovered(there: Sequence[Toleration], new: Iterable[Toleration]) -> list[Toleration]:
    """Those of `new` that neither `there` nor an earlier one of `new` covers, in order."""
    added: list[Toleration] = []
    for toleration in new:
        if not any(covers(one, toleration) for one in (*there, *added)):
            added.append(toleration)
    return added


def operations(pod: Pod, new: Sequence[Toleration]) -> list[Operation]:
    """The patch that appends `new` to the pod's tolerations."""
    if not new:
        return []
    path = pod.at("tolerations")
    there = pod.spec.get("tolerations")
    values = [_written(toleration) for toleration in new]
    if there is None:
        return [Test(path, None), Add(path, values)]
    return [Test(path, there), *[Add((*path, "-"), value) for value in values]]


def _written(toleration: Toleration) -> dict[str, str]:
    fields = (
        ("key", toleration.key),
        ("operator", toleration.operator),
        ("value", toleration.value),
        ("effect", toleration.effect),
    )
    return {name: text for name, text in fields if text}
