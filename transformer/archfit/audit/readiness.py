"""Which images and workloads are ready for which architecture, and how much of a cluster that is.

readiness   = amount of `ready` / amount of all workloads that could move (`MOVABLE`): what is not known is no part
              of what is ready, and stands beside it
DaemonSets  are no part of it, since they follow the nodes
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeAlias, get_args

from archfit.audit.amount import NOTHING, Amount, amount_of
from archfit.audit.builds import Failures
from archfit.audit.places import Lack, Places, Terms, named
from archfit.audit.running.container_images import SUSPICION
from archfit.facts.facts import ContainerImage, ImageFacts, Standing, Term, WorkloadFacts, any_of
from archfit.startup.record import Record

ImageState: TypeAlias = Literal["yes", "no", "fails", "absent", "unknown"]
"""yes: it is Found and offers the architecture, or restricts nothing. fails: a pod says so, whatever its registry says.

absent: its registry has no such image any more. unknown: no answer, no reference, or another shard asks."""
WorkloadState: TypeAlias = Literal["ready", "blocked", "unknown", "apart"]
"""blocked: an image is no, fails or absent. unknown: none is, and one is unknown. apart: a pod for Windows."""
Owner: TypeAlias = tuple[str, str, str, str]
"""(namespace, kind, name, snapshot)."""
_MOST_OWNERS = 5

MOVABLE: frozenset[Standing] = frozenset({"running", "pending", "scheduled", "manifest"})
WORST: tuple[WorkloadState, ...] = ("blocked", "unknown", "ready")
REQUIRED: frozenset[Standing] = MOVABLE | {"daemonset", "gated", "idle"}
"""What --require counts: what runs or will run on nodes of the cluster."""


class ImageFinding(Record):
    """An image. states: for each architecture of the findings. used: by workloads that could move; apart: by others.

    failures: for each architecture what pods say, where the state is `fails`, or `unknown` for it; "" else.
    """

    facts: ImageFacts
    states: tuple[ImageState, ...]
    used: Amount
    apart: Amount
    failures: tuple[str, ...] = ()


class WorkloadFinding(Record):
    """A workload. Each tuple has an entry for each architecture of the findings.

    not_ready: the images that are not `yes`, each once, in the order of the containers.
    amount: with what is assumed for pods without a CPU request.
    waves: in which one its owner is (`plan.waves`), None for none; () where nobody asked.
    allowed: those of all architectures that its own placement allows. lacks: why labels keep it off, where they do.
    unsaid: the labels that it asks for, where the input does not say whether nodes there have them; "" else.
    """

    facts: WorkloadFacts
    states: tuple[WorkloadState, ...]
    not_ready: tuple[tuple[ContainerImage, ...], ...]
    amount: Amount
    waves: tuple[int | None, ...] = ()
    allowed: frozenset[str] = frozenset()
    lacks: tuple[Lack | None, ...] = ()
    unsaid: tuple[str, ...] = ()

    @property
    def owner(self) -> Owner:
        """By which the rows of a workload are put together."""
        return self.facts.namespace, self.facts.kind, self.facts.name, self.facts.snapshot

    @property
    def movable(self) -> bool:
        return self.facts.standing in MOVABLE

    def goes_to(self, architecture: str) -> bool:
        """Whether its own nodeSelector and required affinity let it run on nodes of the architecture."""
        return architecture in self.allowed

    def is_required(self, architecture: str) -> bool:
        """Whether --require and the waves count it. A DaemonSet that leaves the nodes out never starts there."""
        standing = self.facts.standing
        return standing in REQUIRED and (standing != "daemonset" or self.goes_to(architecture))


def title(owner: Owner) -> str:
    """`namespace/Kind/name`."""
    return "/".join(filter(None, owner[:3]))


def first_titles(owners: Iterable[Owner]) -> tuple[str, ...]:
    """Of the first owners, at most five, each once: those of two clusters may be called the same."""
    return tuple(dict.fromkeys(map(title, owners)))[:_MOST_OWNERS]


def worst_of(states: Collection[WorkloadState]) -> WorkloadState:
    """What a workload is whose rows are so."""
    return next(state for state in WORST if state in states)


def total(rows: Iterable[WorkloadFinding]) -> Amount:
    """All of the rows. A workload counts once, however many of them it has."""
    rows = tuple(rows)
    return sum((row.amount for row in rows), NOTHING).replace(workloads=len({row.owner for row in rows}))


class Readiness(Record):
    """One architecture. pinned: what is `ready` by its images, but its own nodeSelector or affinity keeps it off.

    A workload counts once, as the worst of its rows.
    """

    architecture: str
    ready: Amount = NOTHING
    blocked: Amount = NOTHING
    unknown: Amount = NOTHING
    pinned: Amount = NOTHING

    @property
    def total(self) -> Amount:
        return self.ready + self.blocked + self.unknown

    @property
    def by_cpu(self) -> bool:
        """Whether CPU is counted; pods are where nothing that could move requests CPU."""
        return bool(self.total.cpu)

    def counted(self, amount: Amount) -> int:
        """The amount in what is counted: 1/1000 CPU, or pods."""
        return amount.cpu if self.by_cpu else amount.pods

    @property
    def share(self) -> tuple[int, int]:
        """(ready, all), counted."""
        return self.counted(self.ready), self.counted(self.total)

    @property
    def is_known(self) -> bool:
        return bool(self.counted(self.ready + self.blocked))


class DaemonSet(Record):
    """One DaemonSet that is not ready. images: references of those that are not `yes`."""

    snapshot: str
    namespace: str
    kind: str
    name: str
    state: WorkloadState
    images: tuple[str, ...]


class DaemonSets(Record):
    """What starts on the first node of an architecture of its own accord.

    ready, blocked, unknown: how many. elsewhere: those whose own placement leaves such nodes out.
    not_ready: each that is blocked, then each that is unknown, by namespace and name.
    """

    architecture: str
    ready: int
    blocked: int
    unknown: int
    elsewhere: int
    not_ready: tuple[DaemonSet, ...]

    @property
    def starting(self) -> int:
        return self.ready + self.blocked + self.unknown


class Apart(Record):
    """What is counted apart, by standing."""

    standing: Standing
    amount: Amount


class Images:
    """The images by reference, and whether each runs on Linux nodes of an architecture. failures: of it there."""

    def __init__(self, images: Iterable[ImageFacts], failures: Failures) -> None:
        self.facts = {image.reference: image for image in images}
        self._failures = failures

    def failure(self, reference: str, architecture: str) -> str:
        """What is known to fail there, "" for nothing."""
        return self._failures.get((reference, architecture), "")

    def state(self, use: ContainerImage, architecture: str) -> ImageState:
        """Whether a use of an image runs there.

        A single manifest as a volume restricts nothing: no runtime compares its platform with the node's. An index
        does.
        """
        image, volume = self.facts.get(use.reference), use.role == "volume"
        if image is None:
            return "unknown"
        if image.answer == "Absent":
            return "absent"
        restricts = image.restricts and not (volume and image.kind == "manifest")
        if image.answer == "Found" and restricts and architecture not in image.architectures:
            return "no"
        if evidence := "" if volume else self.failure(use.reference, architecture):
            return "unknown" if evidence == SUSPICION else "fails"
        return "yes" if image.answer == "Found" else "unknown"


def distinct_uses(workload: WorkloadFacts) -> tuple[ContainerImage, ...]:
    """The images of a workload, each once; one that runs and is mounted counts as one that runs."""
    uses: dict[str, ContainerImage] = {}
    for use in workload.images:
        before = uses.get(use.reference)
        if before is None or (before.role == "volume" and use.role != "volume"):
            uses[use.reference] = use
    return tuple(uses.values())


def image_findings(
    images: Images, workloads: Sequence[WorkloadFinding], architectures: Sequence[str]
) -> tuple[ImageFinding, ...]:
    """Every image, in the order of the facts; those that no record speaks of come last, as Unread."""
    rows: dict[str, list[WorkloadFinding]] = {reference: [] for reference in images.facts}
    uses: dict[str, ContainerImage] = {}
    for workload in workloads:
        for use in distinct_uses(workload.facts):
            rows.setdefault(use.reference, []).append(workload)
            if use.role != "volume":
                uses[use.reference] = use
            uses.setdefault(use.reference, use)
    judged = []
    for reference, own in rows.items():
        image = images.facts.get(reference) or ImageFacts(reference, "Unread")
        use = uses.get(reference) or ContainerImage("", "container", reference, reference)
        states = tuple(images.state(use, architecture) for architecture in architectures)
        failures = tuple(
            images.failure(reference, architecture) if state in ("fails", "unknown") else ""
            for architecture, state in zip(architectures, states, strict=True)
        )
        used = total(workload for workload in own if workload.movable)
        others = total(workload for workload in own if not workload.movable)
        judged.append(ImageFinding(image, states, used, others, failures))
    return tuple(judged)


def workload_finding(
    workload: WorkloadFacts,
    images: Images,
    architectures: Sequence[str],
    assume_cpu: int,
    there: Collection[str],
    places: Places,
) -> WorkloadFinding:
    """One workload. there: the architectures of all nodes, beside those of the findings. places: of its cluster."""
    uses = distinct_uses(workload)
    states: list[WorkloadState] = []
    not_ready: list[tuple[ContainerImage, ...]] = []
    for architecture in architectures:
        if workload.standing == "windows":
            states.append("apart")
            not_ready.append(())
            continue
        judged = [(use, images.state(use, architecture)) for use in uses]
        missing = {state for _, state in judged} - {"yes"}
        states.append("blocked" if missing - {"unknown"} else "unknown" if missing else "ready")
        not_ready.append(tuple(use for use, state in judged if state != "yes"))
    everywhere = {*architectures, *there}
    if any(term.end for term in workload.terms):
        workload = workload.replace(terms=_of_the_user(workload, images, everywhere))
    terms = workload.terms
    return WorkloadFinding(
        workload,
        tuple(states),
        tuple(not_ready),
        amount_of(workload, assume_cpu),
        allowed=frozenset(name for name in everywhere | places.architectures if places.allow(terms, name)),
        lacks=tuple(places.lack(terms, name) for name in architectures) if terms else (),
        unsaid=tuple(places.unsaid(terms, name) for name in architectures) if terms else (),
    )


def _of_the_user(workload: WorkloadFacts, images: Images, architectures: Collection[str]) -> Terms:
    """Its terms, each without an end that archfit would write: what is left out is what the images lack.

    Whoever wrote it, the workload then goes where its images go.
    """
    uses = distinct_uses(workload)

    def bare(term: Term) -> Term:
        without, names = term.replace(end=()), {*architectures, *term.end}
        runs = {name for name in names if all(images.state(use, name) != "no" for use in uses)}
        return without if named((without,), names) & runs == named((term,), names) else term

    return any_of(bare(term) if term.end else term for term in workload.terms)


def readiness(workloads: Sequence[WorkloadFinding], architectures: Sequence[str]) -> tuple[Readiness, ...]:
    """For each architecture, of what could move."""
    movable = [workload for workload in workloads if workload.movable]
    rows = []
    for index, architecture in enumerate(architectures):
        members: dict[WorkloadState, list[WorkloadFinding]] = {"ready": [], "blocked": [], "unknown": []}
        states: dict[Owner, set[WorkloadState]] = defaultdict(set)
        for workload in movable:
            members[workload.states[index]].append(workload)
            states[workload.owner].add(workload.states[index])
        owners = Counter(map(worst_of, states.values()))
        sums = {state: total(own).replace(workloads=owners[state]) for state, own in members.items()}
        pinned = total(workload for workload in members["ready"] if not workload.goes_to(architecture))
        rows.append(Readiness(architecture, **sums, pinned=pinned))
    return tuple(rows)


def daemon_sets(workloads: Sequence[WorkloadFinding], architectures: Sequence[str]) -> tuple[DaemonSets, ...]:
    """For each architecture. A DaemonSet with pods of several revisions counts by the worst of them."""
    revisions: dict[tuple[str, str, str, str], list[WorkloadFinding]] = {}
    for workload in workloads:
        facts = workload.facts
        if facts.standing == "daemonset":
            key = facts.namespace, facts.name, facts.kind, facts.snapshot
            revisions.setdefault(key, []).append(workload)
    rows = []
    for index, architecture in enumerate(architectures):
        counts: dict[WorkloadState, int] = {"ready": 0, "blocked": 0, "unknown": 0}
        elsewhere, not_ready = 0, []
        for (namespace, name, kind, snapshot), own in sorted(revisions.items()):
            starting = [revision for revision in own if revision.goes_to(architecture)]
            if not starting:
                elsewhere += 1
                continue
            worst = worst_of({revision.states[index] for revision in starting})
            counts[worst] += 1
            if worst != "ready":
                uses = (use.reference for revision in starting for use in revision.not_ready[index])
                not_ready.append(
                    DaemonSet(snapshot, namespace, kind, name, worst, tuple(dict.fromkeys(uses)))
                )
        not_ready.sort(key=lambda daemon_set: WORST.index(daemon_set.state))
        rows.append(DaemonSets(architecture, **counts, elsewhere=elsewhere, not_ready=tuple(not_ready)))
    return tuple(rows)


def apart(workloads: Sequence[WorkloadFinding]) -> tuple[Apart, ...]:
    """What could not move, by standing."""
    members: dict[Standing, list[WorkloadFinding]] = defaultdict(list)
    for workload in workloads:
        members[workload.facts.standing].append(workload)
    return tuple(
        Apart(standing, total(members[standing]))
        for standing in get_args(Standing)
        if standing in members and standing not in MOVABLE
    )
