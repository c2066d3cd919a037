"""`make injections COUNT=10000 SEED=1`: random pods that other webhooks change while archfit decides them.

    python -m policy_injections [--count N] [--seed N]

Each round has one door (archfit's policy with its companion, its webhook, or both) in a real API server, and two more
webhooks: one that is called before archfit's and one that is called after it. Each pod has a script for them: a
sidecar or an init container (known, unknown, without an architecture in common), another image, a toleration, an
expression, in the first pass, the second, or both. What is stored is compared with archfit's own decision for the pod
with all its final containers, which is made apart: the steps that were taken are made on the pod as the API server
makes it without any webhook.

    equal       it is what archfit decides
    equal, and the record names more
                another webhook wanted what archfit had added already, and so did not add it
    left alone  it has nothing of archfit's, although archfit would add something, and the companion names it
    kept        it has expressions of an earlier pass, which are narrower than the decision, and what is decided for it
                beside them: a narrowing by known images is safe, and stays
    late        the last step came after archfit's last pass: equal; warned of; or without a companion to warn
    late for the policy
                the webhook had a pass after it, and leaves alone what the policy added to a pod with as many images
    wrong       anything else, and a late one that differs without a warning, and whatever lacks what its request or
                another webhook put there; the exit status is 1 if there is one

A pod that is wrong is told with the seed that draws it again.
"""

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from admission_doors import LOCKED, admission_door
from archfit.options.layers import load
from archfit.options.settings import Options
from archfit.webhook.added_record import NAME
from control_plane import ControlPlane, Refused, pod_in
from drawn_pods import at_creation
from drawn_pods.drawing import ARCH
from mutating_webhooks import ARCHFIT, SCRIPT, Event, Scripted, changed, webhook
from pod_decisions import PREFERRED, REQUIRED
from policy_judge import decided
from policy_runs import Policies, stripped

ARCHITECTURES = ("amd64", "arm64", "s390x")
DOORS = ("policy", "webhook", "both")
FIRST, LAST = "aa", "zz"
"""The webhooks, called before and after archfit's `mm`."""
CHOICES: tuple[tuple[str, ...], ...] = (
    (),
    ("--cluster-architectures=amd64,arm64,s390x", "--prefer=arm64=10"),
    ("--tolerate=arch=arm64:NoSchedule", "--tolerate=arch=amd64:NoSchedule", "--prefer=amd64=3,arm64=7"),
)
_IMAGES = tuple(f"quay.io/team/{name}:1" for name in ("both", "amd", "arm", "all", "z", "new", "win", "wasm"))
_SHORT = ("both:1", "index.docker.io/team/arm:1", "auto", "new", "localhost:5000/a/b/amd:1")
_TOLERATIONS = (
    {"key": ARCH, "operator": "Equal", "value": "arm64", "effect": "NoSchedule"},
    {"key": "pool", "operator": "Exists"},
    {"key": ARCH, "operator": "Exists"},
)
_EXPRESSIONS = (
    {"key": "pool", "operator": "In", "values": ["a"]},
    {"key": ARCH, "operator": "In", "values": ["amd64", "arm64"]},
    {"key": ARCH, "operator": "NotIn", "values": ["s390x"]},
)
_SECONDS = 30
_THREADS = 4
_ROUND = 250


class Drawn(NamedTuple):
    """A pod with its script. seed: that draws it again."""

    seed: str
    pod: dict[str, Any]


class Stored(NamedTuple):
    """What became of one. plain: with the same steps, and without archfit. expected: by archfit's decision.

    beside: by its decision beside the required terms that the pod has in the end.
    """

    drawn: Drawn
    plain: Any
    expected: Any
    beside: Any
    actual: Any
    events: Sequence[Event]
    warnings: Sequence[str]

    def __str__(self) -> str:
        pods = {"plain": self.plain, "expected": self.expected, "actual": self.actual}
        parts = [f"{name}: {json.dumps(_placed(pod))}" for name, pod in pods.items()]
        steps = [f"{one.webhook} {one.call}: {json.dumps(one.steps)}" for one in self.events]
        return "\n  ".join((f"seed {self.drawn.seed}", *steps, *parts, f"warnings: {list(self.warnings)}"))


class Judged(NamedTuple):
    """counts: by class. wrong: the pods that are none of the others."""

    counts: Counter[str]
    wrong: list[Stored]


def drawn(seed: str, namespace: str) -> Drawn:
    random = Random(seed)
    pod = at_creation.pod(random, ARCHITECTURES, namespace)
    name = f"p-{seed.replace('/', '-')}"
    metadata = {key: value for key, value in pod["metadata"].items() if key != "generateName"}
    script: dict[str, Any] = {"id": f"{namespace}/{name}"}
    for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3))):
        step = _step(random)
        for call in random.choice(((1,), (1,), (2,), (1, 2))):
            script.setdefault(random.choice((FIRST, LAST)), []).append([call, step])
    annotations = {**metadata.get("annotations", {}), SCRIPT: json.dumps(script)}
    return Drawn(seed, {**pod, "metadata": {**metadata, "name": name, "annotations": annotations}})


def _step(random: Random) -> dict[str, Any]:
    kind = random.choice(("container", "container", "container", "init", "image", "toleration", "expression"))
    if kind == "toleration":
        return {kind: random.choice(_TOLERATIONS)}
    if kind == "expression":
        return {kind: random.choice(_EXPRESSIONS)}
    return {kind: random.choice(_IMAGES if random.random() < 0.8 else _SHORT)}


@contextlib.contextmanager
def door(policies: Policies, kind: str, name: str, words: Sequence[str], folder: Path) -> Iterator[Scripted]:
    """The door and the two webhooks, in force for the namespace of that name. words: options as flags."""
    plane, scripted = policies.plane, Scripted()
    plane.namespace(name)
    notes = {"name": "probe", "annotations": {SCRIPT: '{"id": "probe"}'}}
    arm = pod_in(name, "quay.io/team/arm:1", metadata=notes)
    with contextlib.ExitStack() as stack:
        for other in (FIRST, LAST):
            url = stack.enter_context(scripted.webhook(other))
            stack.enter_context(webhook(plane, f"{other}-{name}", url, name, seconds=_SECONDS))
        stack.enter_context(
            admission_door(
                policies,
                kind,
                name,
                folder,
                options=_options(words),
                words=words,
                name=f"mm-{name}",
                companion=True,
                seconds=_SECONDS,
                through=scripted.before,
            )
        )
        watched = [other for other in (FIRST, LAST, ARCHFIT) if other != ARCHFIT or kind != "policy"]

        def in_force() -> bool:
            scripted.events.clear()
            placed = "affinity" in plane.dry(arm)["spec"]
            called = {one.webhook for one in scripted.events.get("probe", ())}
            return placed and called == set(watched)

        plane.until("every door is in force", in_force)
        yield scripted


def _options(words: Sequence[str]) -> Options:
    return load(words, {}, lambda path: Path(path).read_bytes()).options


def judged(
    policies: Policies, kind: str, name: str, seed: str, numbers: Iterable[int], folder: Path
) -> Judged:
    """The pods of these numbers of a round, through one door."""
    plane = policies.plane
    words = Random(seed).choice(CHOICES)
    options = _options(words)
    pods = [drawn(f"{seed}/{number}", name) for number in numbers]

    def created(one: Drawn) -> Any:
        try:
            return plane.warned(one.pod)
        except Refused as refused:
            return refused

    with door(policies, kind, name, words, folder) as scripted, ThreadPoolExecutor(_THREADS) as threads:
        made = list(threads.map(created, pods))
    events = [scripted.events.get(f"{name}/{one.pod['metadata']['name']}", []) for one in pods]
    before = policies.plain([one.pod for one in pods])
    plain = policies.plain(
        [
            _after(pod, steps)
            for pod, steps in zip(before, events, strict=True)
            if not isinstance(pod, Refused)
        ]
    )
    found = []
    rest = iter(plain)
    for one, stored, steps, pod in zip(pods, made, events, before, strict=True):
        if isinstance(pod, Refused):
            assert isinstance(stored, Refused), one
            continue
        bare = next(rest)
        if isinstance(stored, Refused) or isinstance(bare, Refused):
            assert type(stored) is type(bare), (one, stored, bare)
            continue
        bare = {**bare, "metadata": {**bare["metadata"], "namespace": name}}
        value, warnings = stored
        texts = [text for text in warnings if "archfit" in text]
        expected = decided(bare, LOCKED, options, name)[1]
        actual = stripped(value)
        beside = decided(_with_terms(bare, actual), LOCKED, options, name)[1]
        found.append(Stored(one, bare, expected, beside, actual, steps, texts))
    plane.delete(f"/api/v1/namespaces/{name}/pods")
    return _classified(policies, kind, found)


def _after(pod: Any, events: Sequence[Event]) -> Any:
    """The pod after the steps that were taken, and nothing else."""
    spec = pod["spec"]
    for event in events:
        spec = changed(spec, event.steps, event.webhook)
    return {**pod, "spec": spec}


def _classified(policies: Policies, kind: str, found: Sequence[Stored]) -> Judged:
    """What archfit decided goes through admission, too: a RuntimeClass drops a toleration that another one implies."""
    differing = [one for one in found if _canonical(one.actual) != _canonical(one.expected)]
    merged = zip(
        policies.plain([one.expected for one in differing]),
        policies.plain([one.actual for one in differing]),
        strict=True,
    )
    again = {
        id(one): Refused not in (type(after), type(there)) and _canonical(after) == _canonical(there)
        for one, (after, there) in zip(differing, merged, strict=True)
    }
    counts, wrong = Counter[str](), []
    for one in found:
        equal = again.get(id(one), True)
        late = _late(kind, one.events)
        if _taken(one):
            counts["wrong"] += 1
            wrong.append(one)
        elif equal:
            counts[f"{late}equal{'' if one.expected == one.plain else ', with additions'}"] += 1
        elif _canonical(one.actual) == _canonical(one.plain) and one.warnings:
            counts[f"{late}left alone, and named"] += 1
        elif _placement_is(one):
            counts[f"{late}equal, and the record names more"] += 1
        elif _canonical(one.actual) == _canonical(one.beside):
            counts[f"{late}kept{', warned of' if one.warnings else ''}"] += 1
        elif late and one.warnings:
            counts[f"{late}differs, warned of"] += 1
        elif late and kind == "webhook":
            counts[f"{late}differs, and no companion is there to warn"] += 1
        else:
            counts["wrong"] += 1
            wrong.append(one)
    return Judged(counts, wrong)


def _taken(one: Stored) -> bool:
    """Whether it lacks something of the pod without archfit."""
    plain, actual = _canonical(one.plain)["spec"], _canonical(one.actual)["spec"]
    before, after = (
        _at(spec, ("affinity", "nodeAffinity", REQUIRED)).get("nodeSelectorTerms", [])
        for spec in (plain, actual)
    )
    terms = [
        (expression, list(there.get("matchExpressions", ())))
        for term, there in zip(before, after, strict=False)
        for expression in term.get("matchExpressions", ())
    ]
    return (
        any(row not in actual.get("tolerations", ()) for row in plain.get("tolerations", ()))
        or any(row not in _preferred(actual) for row in _preferred(plain))
        or len(after) < len(before)
        or any(expression not in there for expression, there in terms)
    )


def _preferred(spec: Any) -> list[Any]:
    found: list[Any] = _at(spec, ("affinity", "nodeAffinity")).get(PREFERRED) or []
    return found


def _placement_is(one: Stored) -> bool:
    """Whether it is placed as it should be, and the record lacks nothing of what was added."""
    actual, expected = _canonical(one.actual), _canonical(one.expected)
    missing = [item for item in _items(expected) if item not in _items(actual)]
    return actual["spec"] == expected["spec"] and not missing


def _items(canonical: Any) -> list[Any]:
    found: list[Any] = canonical["annotations"].get(NAME, [])
    return found


def _with_terms(plain: Any, actual: Any) -> Any:
    """The pod with the required terms of another one."""
    made = json.loads(json.dumps(plain))
    required = _at(actual["spec"], ("affinity", "nodeAffinity", REQUIRED))
    if required:
        affinity = made["spec"].setdefault("affinity", {})
        affinity.setdefault("nodeAffinity", {})[REQUIRED] = required
    return made


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) or {}
    return value


def _filled(value: Any) -> bool:
    """Whether it holds anything but empty lists and mappings."""
    if isinstance(value, dict):
        return any(map(_filled, value.values()))
    return any(map(_filled, value)) if isinstance(value, list) else True


def _late(kind: str, events: Sequence[Event]) -> str:
    """Whether the last step came after archfit's last pass; the policy's is the first of the second pass."""
    steps = [at for at, event in enumerate(events) if event.steps]
    if not steps:
        return ""
    seen = [at for at, event in enumerate(events) if event.webhook == ARCHFIT]
    if kind != "webhook" and events[steps[-1]].call == 1:
        return ""
    if not seen or seen[-1] < steps[-1]:
        return "late: "
    return "late for the policy: " if kind == "both" else ""


def _placed(pod: Any) -> dict[str, Any]:
    spec = pod["spec"]
    images = [one.get("image") for one in (*spec.get("initContainers", ()), *spec["containers"])]
    parts = {key: spec[key] for key in ("nodeSelector", "affinity", "tolerations", "os") if key in spec}
    annotations = {key: text for key, text in pod["metadata"].get("annotations", {}).items() if key != SCRIPT}
    return {"images": images, **parts, "annotations": annotations}


def _canonical(pod: Any) -> Any:
    """Spec and annotations, with lists sorted whose order means nothing. Of the record, the items that were added:
    who wrote them, how many images it saw, and what mappings it made for them depend on the passes.
    """
    made = json.loads(json.dumps(pod))
    spec, annotations = made["spec"], made["metadata"].get("annotations", {})
    if spec.get("tolerations"):
        spec["tolerations"] = _sorted(spec["tolerations"])
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    for term in (affinity.get(REQUIRED) or {}).get("nodeSelectorTerms", ()):
        if term.get("matchExpressions"):
            term["matchExpressions"] = _sorted(term["matchExpressions"])
    if PREFERRED in affinity:
        affinity[PREFERRED] = _sorted(affinity[PREFERRED])
    for holder, key in ((spec.get("affinity") or {}, "nodeAffinity"), (spec, "affinity")):
        if key in holder and not _filled(holder[key]):
            del holder[key]
    if NAME in annotations:
        entries = json.loads(annotations[NAME])
        annotations[NAME] = _sorted([(one["path"], one["value"]) for one in entries if one["value"]])
    return {"spec": spec, "annotations": annotations}


def _sorted(values: list[Any]) -> list[Any]:
    return sorted(values, key=lambda one: json.dumps(one, sort_keys=True))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab injections", description="Judges random pods that other webhooks change."
    )
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    totals: dict[str, Counter[str]] = {kind: Counter() for kind in DOORS}
    started, wrong = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder, ControlPlane(Path(folder)) as plane:
        policies = Policies(plane)
        policies.runtime_classes()
        for number in range(-(-words.count // _ROUND)):
            kind, scratch = DOORS[number % len(DOORS)], Path(folder) / f"round-{number}"
            scratch.mkdir()
            found = judged(policies, kind, scratch.name, f"{words.seed}/{number}", range(_ROUND), scratch)
            totals[kind] += found.counts
            wrong += len(found.wrong)
            sys.stdout.writelines(f"{kind}, {one}\n\n" for one in found.wrong[:3])
            sys.stdout.flush()
    for kind, counts in totals.items():
        sys.stdout.writelines(f"{kind:8} {count:7,} {what}\n" for what, count in sorted(counts.items()))
    count = sum(counts.total() for counts in totals.values())
    sys.stdout.write(f"{count:,} pods in {time.monotonic() - started:.0f} s, {wrong} wrong\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
