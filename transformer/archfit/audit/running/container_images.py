"""The images of a pod spec, and what its status says of builds that its node cannot run.

Volumes may be images, too (KEP-4639); ephemeralContainers[] never count: they belong to live debugging.

Messages are read in `state` and `lastState`, `waiting` and `terminated`, at most 16 KiB of each. The evidence is one of
EVIDENCE and never the message, which may hold anything. A program that its node cannot run ends at once with any
exit code, and says `exec format error` in its log alone: a suspicion, which the log confirms or ends where it is read.
The reason Unknown is what the kubelet writes for a container that did not survive a restart of its node, OOMKilled
says another cause: no evidence. Source: runc and crun (execve, ENOEXEC); containerd, core/images/image.go;
containers/image, internal/manifest/oci_index.go; moby, distribution/pull_v2.go. OpenShift's multiarch-tuning-operator
(internal/controller/enoexecevent) labels a pod in which the kernel refused a program, which a script without `#!` may
survive: it counts for containers that do not run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from archfit.audit.running.object_fields import text
from archfit.base.errors import InvalidReference
from archfit.cluster.nodes import mapping, sequence
from archfit.facts.facts import ContainerImage, Role
from archfit.images.reference import parse
from archfit.startup.record import Record

_LISTS: tuple[tuple[str, Role], ...] = (("containers", "container"), ("initContainers", "init"))
_REASON = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}", re.ASCII).fullmatch
_IMAGE_ID = 1024


class ContainerStatus(Record):
    """One container of a pod. image_id: as reported, "" before it starts.

    reason: of `state` where it waits or has ended, as ImagePullBackOff; "" while it runs. evidence: `runtime_evidence`.
    ready: whether it is Ready; of an init container whether it has succeeded.
    """

    container: str
    image: str
    image_id: str
    reason: str
    evidence: str
    ready: bool = False


def container_statuses(
    pod: Mapping[str, Any], log: Callable[[str], str | None] = lambda _container: None
) -> tuple[ContainerStatus, ...]:
    """What runs in the pod's containers, in the order of its spec; () without a status.

    log: the last lines of a container of which nothing but a suspicion is known; None where nobody reads them.
    """
    spec, status = mapping(pod, "spec"), mapping(pod, "status")
    entries = {
        text(entry.get("name")): entry
        for name in ("containerStatuses", "initContainerStatuses")
        for entry in sequence(status, name)
    }
    marked = mapping(pod, "metadata", "labels").get(_MARK) == "true"
    return tuple(
        _status(container, entries[text(container.get("name"))], log, marked=marked)
        for name, _ in _LISTS
        for container in sequence(spec, name)
        if text(container.get("name")) in entries
    )


@lru_cache(maxsize=8192)
def reference_of(image: str) -> str:
    """The normalised reference, or the string as written where it is none."""
    try:
        return parse(image).normalised
    except InvalidReference:
        return image


def container_image(container: str, role: Role, image: str) -> ContainerImage:
    """One use of an image."""
    return ContainerImage(container, role, image, reference_of(image))


def container_images(spec: Mapping[str, Any]) -> tuple[ContainerImage, ...]:
    """The images of a pod spec, in its order."""
    images = [
        container_image(text(container.get("name")), role, text(container.get("image")))
        for name, role in _LISTS
        for container in sequence(spec, name)
    ]
    for volume in sequence(spec, "volumes"):
        if "image" in volume:
            reference = text(mapping(volume, "image").get("reference"))
            images.append(container_image(text(volume.get("name")), "volume", reference))
    return tuple(images)


def _status(
    container: Mapping[str, Any], entry: Mapping[str, Any], log: Callable[[str], str | None], *, marked: bool
) -> ContainerStatus:
    name = text(container.get("name"))
    evidence = runtime_evidence(entry)
    if evidence == SUSPICION and (lines := log(name)) is not None:
        evidence = _word([lines])
    state, ready = mapping(entry, "state"), entry.get("ready") is True
    if marked and not ready and "running" not in state:
        evidence = _EXEC
    part = mapping(state.get("waiting") or state.get("terminated"))
    reason = text(part.get("reason"))
    image, image_id = text(container.get("image")), text(entry.get("imageID"))[:_IMAGE_ID]
    return ContainerStatus(name, image, image_id, reason if _REASON(reason) else "", evidence, ready)


SUSPICION = "crash loop"
"""It ends in its first minute, was started again, and is not ready."""
_MARK = "multiarch.openshift.io/exec-format-error"
_EXEC = "exec format error"
_WORDS = {
    _EXEC: _EXEC,
    "no match for platform in manifest": "no match for platform in manifest",  # containerd
    "no image found for architecture": "no image found in [a-z ]{1,40} for architecture",  # CRI-O
    "no matching manifest": "no matching manifest for ",  # Docker
    "does not match the specified platform": "does not match the specified platform",  # CRI-O, Docker
}
_PATTERNS = {word: re.compile(pattern, re.IGNORECASE) for word, pattern in _WORDS.items()}
EVIDENCE = (*_WORDS, SUSPICION)
"""Every text that `runtime_evidence` gives, the strongest first."""
_LONGEST = 16 * 1024
_OTHER_CAUSES = frozenset({"Unknown", "ContainerStatusUnknown", "OOMKilled"})
_AT_ONCE_SECONDS = 60


def runtime_evidence(status: object) -> str:
    """The strongest evidence in one entry of `status.containerStatuses`, "" where there is none.

    status: decoded JSON, not trusted. Raises nothing.
    """
    if not isinstance(status, Mapping) or status.get("ready") is True:
        return ""
    states = list(_states(status))
    messages = [state["message"][:_LONGEST] for state in states if isinstance(state.get("message"), str)]
    if word := _word(messages):
        return word
    restarts = status.get("restartCount")
    looping = isinstance(restarts, int) and restarts > 0 and any(map(_ended_at_once, states))
    return SUSPICION if looping else ""


def _word(messages: Sequence[str]) -> str:
    words = (word for word, pattern in _PATTERNS.items() if any(map(pattern.search, messages)))
    return next(words, "")


def _ended_at_once(state: Mapping[str, Any]) -> bool:
    """Whether a `terminated` is of a container that failed within a minute; without times, exit code 255 says so."""
    code = state.get("exitCode")
    if not isinstance(code, int) or not code or text(state.get("reason")) in _OTHER_CAUSES:
        return False
    try:
        began, ended = (datetime.fromisoformat(state[name]) for name in ("startedAt", "finishedAt"))
        return 0 <= (ended - began).total_seconds() <= _AT_ONCE_SECONDS
    except (KeyError, TypeError, ValueError):
        return code == 255


def _states(status: object) -> Iterator[Mapping[str, Any]]:
    for name in ("state", "lastState"):
        yield from (mapping(status, name, part) for part in ("waiting", "terminated"))
