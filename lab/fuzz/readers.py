"""`make readers COUNT=100000 SEED=1`: what kubectl, Helm and kustomize find in a stream, archfit saw or refused.

    python -m fuzz.readers [--count N] [--first N] [--seed N]

Each object that a reader yields is one of these; the last is a defect, and ends the program with exit code 1:

    seen       archfit has a pod with its kind, names and images, or names it as left as it is
    empty      there is no pod in it: its kind has none, or no container stands where its kind has them
    refused    archfit refused the stream
    unseen     anything else

A run that ends in another exception than an error for the user is a defect too.
What a reader yields before it stops counts too: kubectl applies it. .fuzz/readers-SEED-NUMBER.yaml is the
smallest stream found for a defect of its kind, and .fuzz/readers-SEED-NUMBER.txt says who finds what there.
"""

import argparse
import base64
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import machine
from archfit.base.errors import ArchfitError, InvalidInput
from archfit.base.results import ObjectRef
from archfit.pipeline import scan as stream_inventory
from archfit.workloads.builtin import LISTS, PODLESS, group_of, rows_of
from archfit.yaml import stream
from fuzz.asking import Answer, Asking, answered
from fuzz.engine import Refused, run
from fuzz.listings import listing
from fuzz.properties import general
from fuzz.shrinking import shrunk
from fuzz.streams import OPTIONS, Stream

READERS = ("kubectl", "helm3", "helm4", "kustomize", "krm")
FOLDER = machine.ROOT / ".fuzz"
WHOLE = 8
"""One stream of so many is edited too."""
_NAME = re.compile(r"[A-Za-z0-9][\w./:@-]*", re.ASCII).fullmatch
# What kubectl infers for an item of a ResourceList; no API has it.
_RESOURCE = ("config.kubernetes.io", "Resource")
# What a reader makes of `!!timestamp`.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[0-9:]+Z").fullmatch
_TRUTHS = ("y", "n", "yes", "no", "on", "off")


class Seen(NamedTuple):
    """What archfit found: pods with their images, and the objects that it names as left as they are."""

    pods: tuple[tuple[ObjectRef, Counter[str]], ...]
    named: tuple[ObjectRef, ...]


class Raised(NamedTuple):
    """A run ended in an exception that no run may end in."""

    said: str


class Unseen(NamedTuple):
    """An object that nobody told archfit's user about, or how the run failed. readers: who yields it."""

    readers: tuple[str, ...]
    found: dict[str, Any]

    @property
    def signature(self) -> str:
        if "raised" in self.found:
            return f"raises {self.found['raised']}"
        return f"{'+'.join(self.readers)}: {'a pod' if self.found.get('own') else 'a template'}"


class Tally:
    """What a run counts. refused: streams, by archfit. objects: by reader and fate."""

    def __init__(self) -> None:
        self.streams = self.killed = self.refused = 0
        self.objects: Counter[tuple[str, str]] = Counter()
        self.defects: Counter[str] = Counter()


def scan(text: bytes, *, whole: bool = False) -> Seen | Refused | Raised:
    """What archfit finds in a stream before it asks a registry. whole: it decides and edits too, which may fail."""
    try:
        seen = _inventory(text)
        if whole and isinstance(seen, Seen):
            run(text, OPTIONS["default"])
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        return Raised(f"{type(error).__name__}: {general(str(error))}")
    return seen


def _inventory(text: bytes) -> Seen | Refused:
    options = OPTIONS["default"]
    try:
        read = stream.read_stream(text, options.on_blank)
        held = stream_inventory(read.data, read.pieces, options)
    except InvalidInput as error:
        return Refused(((error.message, True),))
    except ArchfitError as error:
        if type(error) is not ArchfitError:
            raise
        return Refused(((str(error), True),))
    errors = [result for result in (*read.messages, *held.messages) if result.severity == "error"]
    if errors:
        return Refused(tuple((result.text, True) for result in errors))
    pods = (
        (pod.ref, Counter(use.text.strip() for use in pod.images if use.text))
        for document in held.documents
        for pod in document.pods
    )
    return Seen(tuple(pods), tuple(one.ref for one in held.untouched))


def missing(seen: Seen, yielded: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """The objects of one reader that archfit has not seen, and the number of those that hold no pod."""
    unseen, empty = [], 0
    own: list[dict[str, Any]] = []
    for one in yielded:
        # Other kinds are named once each, so the name is left out.
        kind_of_it = {"apiVersion": one["apiVersion"], "kind": one["kind"]}
        if holds_none(one):
            empty += 1
        elif one.get("own"):
            own.append(one)
        elif not any(_is(ref, kind_of_it) for ref in (*seen.named, *(ref for ref, _ in seen.pods))):
            unseen.append(one)
    return [*unseen, *_without_pod(own, seen)], empty


def _without_pod(own: list[dict[str, Any]], seen: Seen) -> list[dict[str, Any]]:
    """The objects that are left if as many as can be have a pod of archfit's, each another one."""
    fitting = []
    for one in own:
        images = Counter(text for text in one.get("images", ()) if _is_word(text))
        fitting.append([at for at, (ref, there) in enumerate(seen.pods) if images <= there and _is(ref, one)])
    taken: dict[int, int] = {}

    def has_pod(number: int, tried: set[int]) -> bool:
        for at in fitting[number]:
            if at not in tried:
                tried.add(at)
                if at not in taken or has_pod(taken[at], tried):
                    taken[at] = number
                    return True
        return False

    return [one for number, one in enumerate(own) if not has_pod(number, set())]


def holds_none(found: dict[str, Any]) -> bool:
    """Whether there is no pod in an object: nothing without a kind, and no `List` without items, is an object.

    Nor is a kind or a version that no API server can have. What an object carries for other clusters (`Policy`) is no
    object of this one.
    """
    api_version, kind = found["apiVersion"], found["kind"]
    if not _is_word(kind) or not kind[0].isalpha() or not (_is_word(api_version) or not api_version):
        return True
    if found.get("own"):
        return not found.get("pods")
    key = group_of(api_version), kind
    if not found.get("images") or "skipped" in found or not api_version or key == _RESOURCE:
        return True
    rows = rows_of(api_version, kind, {})
    return key in PODLESS or key in LISTS or any(row.objects for row in rows)


def _is_word(text: str) -> bool:
    """Whether a name of Kubernetes can be so, and no reader takes it for true, false or a time."""
    return _NAME(text) is not None and text.lower() not in _TRUTHS and _TIME(text) is None


def _is(ref: ObjectRef, found: dict[str, Any]) -> bool:
    """Whether both are one object. A name that no object can have has no say."""
    if ref.kind != found["kind"] or found["apiVersion"] not in ("", ref.api_version):
        return False
    name, namespace = found.get("name", ""), found.get("namespace", "")
    return (ref.name.strip() == name or not _is_word(name)) and (
        ref.namespace.strip() == namespace or not _is_word(namespace)
    )


def unseen_in(text: bytes, seen: Seen | Refused | Raised, answer: Answer, tally: Tally) -> list[Unseen]:
    """What any reader finds in a stream and archfit neither saw nor refused; all of it is counted."""
    if isinstance(seen, Raised):
        return [Unseen((), {"raised": seen.said})]
    objects = answer["objects"]
    lost: dict[str, list[dict[str, Any]]] = {}
    for name in READERS:
        yielded = [objects[number] for number in answer[name]["objects"]]
        if isinstance(seen, Refused):
            tally.objects[name, "refused"] += len(yielded)
            continue
        lost[name], empty = missing(seen, yielded)
        tally.objects[name, "empty"] += empty
        tally.objects[name, "seen"] += len(yielded) - empty - len(lost[name])
    # What follows the inventory may refuse the stream, so that nothing of it is written.
    late = any(lost.values()) and _is_refused(text)
    for name, unseen in lost.items():
        tally.objects[name, "refused" if late else "unseen"] += len(unseen)
    defects = [(tuple(name for name in lost if one in lost[name]), one) for one in objects]
    return [] if late else [Unseen(names, one) for names, one in defects if names]


def _is_refused(text: bytes) -> bool:
    """Whether archfit refuses the stream, sooner or later."""
    try:
        return isinstance(run(text, OPTIONS["default"]), Refused)
    except ArchfitError:
        return False


class Reading:
    """Streams, judged by the readers. asking: Asking(judge, "streams", "read")."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def run(
        self,
        numbers: range,
        made: Callable[[int], bytes],
        seconds: float,
        found: Callable[[int, bytes, Unseen], None],
        tally: Tally,
    ) -> Tally:
        """Judges stream after stream, for at most so long. found: is told of each defect."""

        def read(number: int) -> tuple[int, bytes, Seen | Refused | Raised]:
            text = made(number)
            return number, text, scan(text, whole=number % WHOLE == 0)

        for (number, text, seen), answer in answered(
            self._asking, numbers, read, lambda one: _encoded(one[1]), seconds
        ):
            tally.streams += 1
            tally.refused += isinstance(seen, Refused)
            if answer is None:
                tally.killed += 1
                continue
            for one in unseen_in(text, seen, answer, tally):
                tally.defects[one.signature] += 1
                found(number, text, one)
        return tally

    def unseen(self, text: bytes) -> list[Unseen]:
        """All that is unseen in one stream."""
        (answer,) = self._asking.ask([_encoded(text)])
        return unseen_in(text, scan(text, whole=True), answer, Tally()) if answer else []

    def smallest(self, text: bytes, signature: str) -> bytes:
        """The smallest stream found with such a defect."""

        def fails(candidate: Stream) -> bool:
            return any(one.signature == signature for one in self.unseen(candidate.text))

        return shrunk(Stream(text, "default"), fails).text


def _encoded(text: bytes) -> str:
    return base64.b64encode(text).decode("ascii")


def table(tally: Tally) -> list[str]:
    head = f"{tally.streams:,} streams; archfit refuses {tally.refused:,}; {tally.killed:,} end the judge"
    fates = ("seen", "empty", "refused", "unseen")
    lines = [head, "objects   " + "".join(f"{fate:>10}" for fate in fates)]
    lines += [
        f"{name:10}" + "".join(f"{tally.objects[name, fate]:>10,}" for fate in fates) for name in READERS
    ]
    return [*lines, *(f"{count:>9,}  UNSEEN {signature}" for signature, count in tally.defects.most_common())]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make -C lab readers", description="Compares readers of streams with archfit."
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    judge = machine.go_build(machine.ROOT / "tests" / "judges" / "yaml", "judge")
    shown: Counter[str] = Counter()
    tally, started = Tally(), time.monotonic()
    with Asking(judge, "streams", "read") as asking, Asking(judge, "streams", "read") as again:

        def found(number: int, text: bytes, one: Unseen) -> None:
            shown[one.signature] += 1
            if shown[one.signature] > 5:
                return
            small = Reading(again).smallest(text, one.signature)
            FOLDER.mkdir(exist_ok=True)
            name = FOLDER / f"readers-{given.seed}-{number}"
            name.with_suffix(".yaml").write_bytes(small)
            name.with_suffix(".txt").write_text(f"{one.signature}\n{one.found}\n", encoding="utf-8")
            print(f"{one.signature}: {one.found}\n    {name}.yaml", flush=True)

        numbers = range(given.first, given.first + given.count)
        Reading(asking).run(numbers, lambda number: listing(given.seed, number), 1e9, found, tally)
    print(f"seed {given.seed}, {time.monotonic() - started:.0f} s")
    print("\n".join(table(tally)))
    return bool(tally.defects)


if __name__ == "__main__":
    sys.exit(main())
