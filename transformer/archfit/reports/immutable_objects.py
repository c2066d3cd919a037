"""Jobs, bare Pods and other objects whose change the API server may refuse, and what to do as a command.

`--exclude` does not help once archfit's part has been applied: without it the template differs again.
"""

from __future__ import annotations

from archfit.base.printable import count, few
from archfit.base.results import ObjectRef

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from archfit.workloads.pods import Pod

_NAMED = 3
_NAMESPACE = "NAMESPACE"


def immutable_advice(refs: Sequence[ObjectRef]) -> str:
    """What the user needs to know before applying these objects, "" if there are none. Each counts once."""
    objects = list(dict.fromkeys(refs))
    if not objects:
        return ""
    single, named = len(objects) == 1, few(list(map(str, objects)), _NAMED)
    sentences = [
        f"archfit: the API server may refuse the change of {count(len(objects), 'object')}: {named}. Where "
        f'{"it" if single else "one"} exists with another pod template, applying it fails ("field is immutable").'
    ]
    commands = _deleting(objects[:_NAMED])
    if commands:
        kept = _exclusion(objects[0]) if single else "KIND/NAMESPACE/NAME"
        sentences.append(
            f"Delete {'it' if single else 'those'} first: {commands}; or, where it was applied without archfit, keep "
            f"it so with --exclude={kept}"
        )
    return " ".join(sentences)


def changing(pods: Sequence[Pod], single: str, more: str) -> str:
    """`1 Job changes, SINGLE`, `3 objects (Job, Pod) change, MORE`: the objects of these pods, each once."""
    number = len({(pod.location, pod.root) for pod in pods})
    kinds = sorted({pod.ref.kind for pod in pods})
    named = count(number, kinds[0]) if len(kinds) == 1 else f"{count(number, 'object')} ({', '.join(kinds)})"
    return f"{named} changes, {single}" if number == 1 else f"{named} change, {more}"


def _deleting(refs: Sequence[ObjectRef]) -> str:
    by_namespace: dict[str, list[str]] = {}
    for ref in refs:
        group = ref.api_version.rpartition("/")[0]
        resource = ref.kind.lower() + (f".{group}" if group not in ("", "batch") else "")
        if all(map(_plain, (resource, ref.name, ref.namespace or _NAMESPACE))):
            by_namespace.setdefault(ref.namespace or _NAMESPACE, []).append(f"{resource}/{ref.name}")
    return "; ".join(
        f"kubectl delete -n {namespace} {' '.join(names)}" for namespace, names in by_namespace.items()
    )


def _exclusion(ref: ObjectRef) -> str:
    kind = ref.qualified_kind
    return f"{kind}/{ref.namespace}/{ref.name}" if ref.namespace else f"'{kind}/*/{ref.name}'"


def _plain(word: str) -> bool:
    """Whether a shell and kubectl take the word for nothing but a name (RFC 1123)."""
    return word.isascii() and word.replace("-", "").replace(".", "").isalnum() and word[0].isalnum()
