"""The images of a policy and their platforms: from a lock file, from manifests, or from a live cluster.

an image without an answer         what the policy does
--on-absent, --on-unknown: fail    nothing is written: an error for each; the default for manifests
leave                              a warning: the policy writes no toleration for its pods; the default of --live
--on-unknown assume                it has the platforms of --assume

--live takes the images of every pod, also of one made by an operator or by hand, and of the templates that pods are
made from: a rollback takes an older ReplicaSet. The pods of a DaemonSet, and mirror pods, are left alone by the policy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from archfit.base.errors import UsageError
from archfit.base.patch import dotted
from archfit.base.printable import count, few
from archfit.base.results import Location, Message, ObjectRef, has_error
from archfit.cli.inputs.lock_images import Failure, LockNeeds, asked_anew, lock_needs, looked_up
from archfit.cli.inputs.manifests import Manifests
from archfit.cluster import live_objects as live
from archfit.cluster.live_objects import PODS
from archfit.images.overrides import override
from archfit.images.platforms import Absent, Found, Unknown
from archfit.images.reference import parse
from archfit.lookup.lockfile import content_of, lock_of
from archfit.lookup.lockfile import parse as parse_lock
from archfit.options.settings import Options, Settings
from archfit.placement.evidence import assumed
from archfit.placement.selection import PodOptions, questions
from archfit.policy.table import Table, as_found
from archfit.startup.record import Record
from archfit.webhook.admitted_pod import MIRROR
from archfit.workloads.pod_specs import controller_of, find_pods
from archfit.yaml.values import mapping_of, typed

KINDS = (PODS, live.DEPLOYMENTS, live.STATEFUL_SETS, live.REPLICA_SETS, live.JOBS, live.CRON_JOBS)
_HERE = Location(1, 1)
_ENDED = ("Succeeded", "Failed")
_NOTHING: Table = {}
_TAKEN = {
    "kept": "those in the installed policy are kept",
    "assume": "those of --assume count",
    "leave": "pods with it get no toleration",
}
MAX_ASKED = 20_000
"""Of a cluster, the most used first: more than any carrier holds."""
_SHOWN = 3


class PolicyImages(Record):
    """What a policy is made from. images: by normalised reference. source: in words, for its head comment.

    unknown: why images are not in it, in a word or two, one for each.
    """

    images: dict[str, Found]
    source: str
    messages: tuple[Message, ...] = ()
    requests: int = 0
    unknown: tuple[str, ...] = ()


def from_lock(options: Options) -> PolicyImages:
    """The images of the lock file. Raises ArchfitError where there is none, or none in it."""
    path = options.lock_file
    content = content_of(path) if path else None
    if content is None:
        raise UsageError(
            "no manifests and no lock file are named: write --lock-file archfit.lock, as `archfit lock` makes it from "
            "your manifests, or pass the manifests to archfit policy (- is standard input)"
        )
    images = parse_lock(content, path)
    if not images:
        raise UsageError(
            f"{path} holds no images, so a policy would change no pod: run `archfit lock` on your manifests"
        )
    return PolicyImages(images, f"{path} ({count(len(images), 'image')})")


def from_manifests(
    manifests: Manifests, settings: Settings, environ: Mapping[str, str], stderr: TextIO
) -> PolicyImages:
    """The images of manifests. Raises ArchfitError."""
    needs = lock_needs(manifests, settings.options)
    if has_error(needs.messages):
        return PolicyImages({}, "", needs.messages)
    held = {**_held(settings.options), **_overridden(manifests, settings.options)}
    images = _with_answers(held, needs, settings, environ, stderr, anew=True)
    names = few([source.name or "standard input" for source in manifests.sources if source.pieces], _SHOWN)
    messages = [*needs.messages, *images.messages]
    if not images.images and not has_error(images.messages):
        why = "the manifests name no image with known platforms, so a policy would change no pod: pass others"
        messages.append(Message("error", why))
    return images.replace(source=f"{names} ({count(len(images.images), 'image')})", messages=tuple(messages))


def from_cluster(
    live: Iterable[LiveImage],
    installed: Table,
    settings: Settings,
    environ: Mapping[str, str],
    stderr: TextIO,
) -> PolicyImages:
    """The images that a cluster uses. installed: what the policy in force knows about images. Raises ArchfitError."""
    needed: dict[str, str] = {}
    uses: dict[str, Message] = {}
    order: list[str] = []
    held = _held(settings.options)
    every = list(live)
    for image in every[:MAX_ASKED]:
        reference = parse(image.text)
        stated = override(reference, settings.options.image_platforms)
        order.append(reference.normalised)
        if stated:
            held[reference.normalised] = stated
            continue
        needed.setdefault(reference.normalised, image.text)
        uses.setdefault(image.text, Message("error", "", ObjectRef(*image.owner), image.field))
    needs = LockNeeds(needed, uses, ())
    images = _with_answers(held, needs, settings, environ, stderr, installed, anew=False)
    rest = [image.text for image in every[MAX_ASKED:]]
    why = f"of the cluster were not looked up, as {MAX_ASKED:,} others are used more"
    images = images.replace(messages=(*images.messages, *_without(rest, why)))
    first = {name: images.images[name] for name in order if name in images.images}
    images = images.replace(images={**first, **images.images})
    if not images.images:
        why = (
            "no image of the cluster has known platforms, so a policy would change no pod: correct what the warnings "
            "name"
            if needed
            else "no pod and no workload of the cluster names an image that can be looked up, so a policy would change "
            "no pod"
        )
        return images.replace(messages=(*images.messages, Message("error", why)))
    return images.replace(
        source=f"the pods and workloads of a cluster ({count(len(images.images), 'image')})"
    )


def left_out(names: Sequence[str], carrier: str) -> list[Message]:
    """The warning about images that the policy does not hold; none where it holds all."""
    remedies = {
        "literal": "; --carrier crd holds more",
        "crd": "; write policies for several groups of namespaces (--name, --namespace-selector)",
    }
    return _without(names, "did not fit into the policy", remedies[carrier])


def _without(names: Sequence[str], why: str, remedy: str = "") -> list[Message]:
    shown = f"{few(names, _SHOWN)}{remedy}"
    text = f"{count(len(names), 'image')} {why}, so that pods with them get no toleration: {shown}"
    return [Message("warning", text)] if names else []


def _held(options: Options) -> dict[str, Found]:
    lock = lock_of(options)
    return dict(lock.images) if lock else {}


def _overridden(manifests: Manifests, options: Options) -> dict[str, Found]:
    references = map(parse, manifests.inventory.texts)
    return {
        reference.normalised: stated
        for reference in references
        if (stated := override(reference, options.image_platforms))
    }


def _with_answers(
    images: Mapping[str, Found],
    needs: LockNeeds,
    settings: Settings,
    environ: Mapping[str, str],
    stderr: TextIO,
    installed: Table = _NOTHING,
    *,
    anew: bool,
) -> PolicyImages:
    """The images with the answers for those that they lack. installed: what a policy in force says of them."""
    options, operator = settings.options, settings.operator
    names = [name for name in needs.needed if name not in images]
    lookup = Settings(
        Options(lock_file=options.lock_file, locked=options.locked),
        asked_anew(operator) if anew else operator,
    )
    # The images of a live cluster are its tenants' words: they must not choose which private servers are asked.
    looked = looked_up(names, needs, lookup, environ, stderr, named_hosts_only=not anew)
    kept, counting = {}, {}
    for failure in looked.failed:
        name, answer = failure.reference, failure.answer
        if isinstance(answer, Unknown) and not answer.final and name in installed:
            kept[name] = as_found(installed[name])
        if isinstance(answer, Unknown) and (counts := assumed(answer, options)):
            counting[name] = counts
    messages = [_message(failure, options, kept=failure.reference in kept) for failure in looked.failed]
    held = {**images, **looked.locked, **counting, **kept}
    why = [
        "no such image" if isinstance(failure.answer, Absent) else "no answer"
        for failure in looked.failed
        if failure.reference not in held
    ]
    return PolicyImages(held, "", (*looked.messages, *messages), looked.requests, (*needs.unknown, *why))


def _message(failure: Failure, options: Options, *, kept: bool) -> Message:
    answer = failure.answer
    policy, remedy = "fail", "correct it"
    if isinstance(answer, Absent):
        policy = options.on_absent
        remedy += ", or leave it out with --on-absent leave"
        why = f"there is no such image: {answer.cause}"
    elif isinstance(answer, Unknown):
        policy = "kept" if kept else "fail" if answer.final else options.on_unknown
        remedy += "" if answer.mistake or answer.final else ", or leave it out with --on-unknown leave"
        why = f"its platforms are not known: {answer.cause}"
    else:
        why = "" if isinstance(answer, Found) else answer.cause
    return failure.use.replace(
        severity="error" if policy == "fail" else "warning",
        text=f"{failure.text}: {why}; {_TAKEN.get(policy, remedy)}",
        image=failure.text,
    )


class LiveImage(Record):
    """An image in use. owner: apiVersion, kind, namespace and name of the object that names it, at `field`."""

    text: str
    owner: tuple[str, str, str, str]
    field: str


def live_images(objects: Iterable[dict[str, Any]]) -> list[LiveImage]:
    """Each image string of the objects once, with the first object that names it: most running pods first, then most
    other objects that name it. Equal ones alternate between namespaces, so that the many images of one do not come
    before the only one of another.
    """
    first: dict[str, LiveImage] = {}
    pods, others = Counter[str](), Counter[str]()
    for value in objects:
        runs = value.get("kind") == PODS.kind and mapping_of(value.get("status")).get("phase") == "Running"
        named = {image.text: image for image in _of(value)}
        for text, image in named.items():
            first.setdefault(text, image)
            (pods if runs else others)[text] += 1
    turns = Counter[tuple[int, int, str]]()
    ranked = []
    for text, image in sorted(first.items()):
        namespace = image.owner[2]
        equals = (-pods[text], -others[text], namespace)
        turns[equals] += 1
        ranked.append((*equals[:2], turns[equals], namespace, text))
    return [first[row[-1]] for row in sorted(ranked)]


def _of(value: dict[str, Any]) -> Iterator[LiveImage]:
    metadata = mapping_of(value.get("metadata"))
    if value.get("kind") == PODS.kind and (
        controller_of(typed(metadata)).startswith("DaemonSet/")
        or MIRROR in mapping_of(metadata.get("annotations"))
        or mapping_of(value.get("status")).get("phase") in _ENDED
    ):
        return
    for pod in find_pods(typed(value), _HERE):
        texts = set(questions(pod, PodOptions(), left_alone=True))
        ref = pod.ref
        for use in pod.images:
            if use.text in texts:
                owner = (ref.api_version, ref.kind, ref.namespace, ref.name)
                yield LiveImage(use.text or "", owner, dotted(use.path))
