"""The annotations under `archfit.dev/`, as users write them.

    archfit.dev/skip              "true" or "false"             leaves the pod alone
    archfit.dev/only              amd64, arm64                  narrows the pod, never widens it
    archfit.dev/tolerate          "true" or "false"             whether toleration rules apply
    archfit.dev/image-platforms   linux/amd64, linux/arm/v7     what every image of the pod supports
    archfit.dev/added             what an in-place run added    on the object; `stamp` reads it, and on a Pod what the
                                                                policy or the webhook added (`admission.added_record`)

They count in the metadata of the object and of every template on the way to the pod, and the one nearest to the pod
wins. At any other place a name under archfit.dev/ is an error (`misplaced`), but not in an object without pods, such as
a Service that got its annotations from `commonAnnotations`, nor in one that a controller made.
"""

from __future__ import annotations

from archfit.base.errors import InvalidReference
from archfit.base.patch import Path, dotted
from archfit.base.results import Message
from archfit.base.spelling import nearest
from archfit.images.platforms import ARCHITECTURES, Platform, no_architecture, normalised, parse_platform
from archfit.placement.fields import MalformedField, mapping
from archfit.startup.record import Record
from archfit.workloads.builtin import UserRows
from archfit.workloads.pod_specs import controller_of, objects
from archfit.workloads.pods import Pod
from archfit.yaml.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

PREFIX = "archfit.dev/"
STAMP = f"{PREFIX}added"
_NAMED = 5
"""Errors of one kind that are told one by one; the others of a place are counted."""
KNOWN = tuple(PREFIX + name for name in ("skip", "only", "tolerate", "image-platforms", "added"))


class Annotations(Record):
    """The values of one pod's annotations; None where an annotation is missing.

    only: architectures, as node labels spell them.
    messages: an error for each annotation that cannot be obeyed.
    """

    skip: bool = False
    only: frozenset[str] | None = None
    tolerate: bool | None = None
    platforms: tuple[Platform, ...] | None = None
    messages: tuple[Message, ...] = ()


def annotated(pod: Pod, enforced: tuple[tuple[str, str], ...] = ()) -> Annotations:
    """The annotations on the way to the pod, of each name the nearest one. enforced: as `Options` has them."""
    return _Reading(pod, enforced).annotated()


def metadata_chain(pod: Pod) -> list[tuple[Path, dict[str, Any]]]:
    """(path, metadata) where annotations count, the nearest to the pod last."""
    above = [metadata for metadata in pod.between if len(metadata[0]) <= len(pod.root)]
    below = [metadata for metadata in pod.between if len(metadata[0]) > len(pod.root)]
    own = ((*pod.root, "metadata"), pod.object_metadata)
    nearest = (pod.metadata_path, pod.metadata)
    return [*above, own, *below, *([nearest] if nearest[0] != own[0] else [])]


def known_name(name: str) -> str:
    """The known name to write instead, as a question."""
    close = nearest(name, KNOWN, 0.0)
    return f"did you mean {close}?" if close else f"known are {', '.join(KNOWN)}"


class _Reading:
    def __init__(self, pod: Pod, enforced: tuple[tuple[str, str], ...]) -> None:
        self.pod = pod
        self.enforced = dict(enforced)
        self.errors: list[Message] = []

    def annotated(self) -> Annotations:
        values: dict[str, Any] = {}
        for at, metadata in metadata_chain(self.pod):
            for name, text in self.ours(metadata, at).items():
                read = _READ.get(name)
                value = read(self, text, (*at, "annotations", name)) if read else None
                if value and name in self.enforced:
                    remedy = f"{name} is enforced by {self.enforced[name]}: remove the annotation"
                    self.error((*at, "annotations", name), remedy)
                elif value is not None:
                    values[name] = value
        skip, only, tolerate, platforms = (values.get(name) for name in KNOWN[:4])
        return Annotations(bool(skip), only, tolerate, platforms, tuple(self.errors))

    def error(self, path: Path, text: str) -> None:
        message = self.pod.message("error", text, path)
        if message not in self.errors:
            self.errors.append(message)

    def ours(self, metadata: dict[str, Any], at: Path) -> dict[str, str]:
        try:
            notes = mapping(metadata, "annotations", at) or {}
        except MalformedField as malformed:
            self.error(malformed.path, str(malformed))
            return {}
        names = [name for name in notes if name.startswith(PREFIX)]
        unknown = [name for name in names if name not in KNOWN]
        for name in unknown[:_NAMED]:
            self.error((*at, "annotations", name), f"there is no annotation {name}; {known_name(name)}")
        if len(unknown) > _NAMED:
            self.error(
                (*at, "annotations"), f"{len(unknown) - _NAMED} more names here are unknown to archfit"
            )
        return {name: text_of(notes[name]).strip() for name in names}

    def truth(self, text: str, at: Path) -> bool | None:
        if text in ("true", "false"):
            return text == "true"
        self.error(at, f'{at[-1]} has to be "true" or "false", not {text!r}')
        return None

    def architectures(self, text: str, at: Path) -> frozenset[str] | None:
        names = _listed(text)
        if names and all(word.replace("_", "").isalnum() for word in names):
            labels = {normalised("linux", word).architecture: word for word in names}
            wrong = next((word for label, word in labels.items() if label not in ARCHITECTURES), None)
            if wrong is None:
                return frozenset(labels)
            self.error(at, f"{at[-1]}: {no_architecture(wrong)}")
            return None
        self.error(at, f"{at[-1]} has to be a list of architectures, as in amd64,arm64, not {text!r}")
        return None

    def platforms(self, text: str, at: Path) -> tuple[Platform, ...] | None:
        try:
            platforms = {str(platform): platform for platform in map(parse_platform, _listed(text))}
        except InvalidReference as error:
            self.error(at, f"{at[-1]}: {error}")
            return None
        if not platforms:
            self.error(at, f"{at[-1]} is empty; write platforms, as in linux/amd64,linux/arm64")
            return None
        return tuple(platforms[text] for text in sorted(platforms))


_READ = dict(
    zip(KNOWN, (_Reading.truth, _Reading.architectures, _Reading.truth, _Reading.platforms), strict=False)
)


def _listed(text: str) -> list[str]:
    return text.replace(",", " ").split()


def misplaced(value: Any, pods: Sequence[Pod], user_rows: UserRows) -> list[Message]:
    """An error for each annotation in a document that counts nowhere. value: the document's."""
    counts = {(*at, "annotations") for pod in pods for at, _ in metadata_chain(pod)}
    by_root: dict[Path, list[Pod]] = {}
    for pod in pods:
        by_root.setdefault(pod.root, []).append(pod)
    roots = {at: by_root.get(at, []) for at, *_ in objects(value, (), user_rows)}
    counts |= {(*at, "metadata", "annotations") for at in roots}
    wrong: dict[Path, list[Path]] = {}
    for at in _names(value, []):
        if at[:-1] in counts:
            continue
        root = next((at[:end] for end in range(len(at), -1, -1) if at[:end] in roots), ())
        holding = roots.get(root, [])
        if holding and not controller_of(holding[0].object_metadata):
            wrong.setdefault(root, []).append(at)
    messages = []
    for root, paths in wrong.items():
        holding, others = roots[root], len(paths) - _NAMED
        texts = [_misplaced(str(at[-1]), holding) for at in paths[:_NAMED]]
        if others > 0:
            texts.append(f"{others} more names that begin with {PREFIX} have no effect where they stand")
        messages += [
            Message("error", text, holding[0].ref, dotted(at), holding[0].location)
            for text, at in zip(texts, paths, strict=False)
        ]
    return messages


def _names(value: Any, path: list[str | int]) -> Iterator[Path]:
    """The path of every name of ours that may be meant as an annotation."""
    if isinstance(value, dict):
        for name, member in value.items():
            path.append(name)
            if name[:12] == PREFIX and (name in KNOWN or path[-2:-1] == ["annotations"]):
                yield tuple(path)
            if isinstance(member, (dict, list)):
                yield from _names(member, path)
            path.pop()
    elif isinstance(value, list):
        for number, item in enumerate(value):
            if isinstance(item, (dict, list)):
                path.append(number)
                yield from _names(item, path)
                path.pop()


def _misplaced(name: str, pods: Sequence[Pod]) -> str:
    places = dict.fromkeys(dotted((*at, "annotations")) for at, _ in reversed(metadata_chain(pods[0])))
    unknown = "" if name in KNOWN else f"there is no annotation {name}; {known_name(name)} "
    return f"{unknown}{name} has no effect here; write it in {' or '.join(places)}"
