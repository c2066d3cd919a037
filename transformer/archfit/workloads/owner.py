"""Who controls an object: `metadata.ownerReferences[].controller: true`, as live lists have it.

A ReplicaSet of a Deployment, a Pod of a ReplicaSet, a Job of a CronJob, a ControllerRevision: the controller makes and
changes it from its own template (apimachinery, metav1.GetControllerOf), so a change to it is lost or refused.
"""

from __future__ import annotations

from archfit.base.results import ObjectRef, Result
from archfit.base.typing_names import Any, Iterator, Sequence
from archfit.yaml.values import resolve, text_of

_TRUE = resolve("true")


def controller_of(metadata: Any) -> str:
    """`ReplicaSet/web-5d4f` of the object that controls this one, "" where none does."""
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, dict) and owner.get("controller") == _TRUE:
            return f"{text_of(owner.get('kind'))}/{text_of(owner.get('name'))}"
    return ""


def left_to_controllers(owned: Sequence[tuple[ObjectRef, str]]) -> Iterator[Result]:
    """One result about all objects that a controller made. owned: each with what controls it."""
    if not owned:
        return
    ref, controller = owned[0]
    others = len(owned) - 1
    more = f"; so {'is' if others == 1 else 'are'} {others} more with a controller" if others else ""
    yield Result("info", f"left as it is, because {controller} controls it and decides{more}", ref)
