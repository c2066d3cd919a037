"""However a large stream is read, by documents, by items, by objects or in runs, it becomes what it does as one whole.

drawn     documents, Lists in YAML and in JSON, and what is wrong anywhere among them
whole     every part one parsed document with all of its values; one lookup; then the decisions; then the edits
small     every limit so low that each short way is taken: its bytes, messages and decisions are those of the whole
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import pytest

from archfit import pipeline, stream
from archfit.errors import ArchfitError
from archfit.options.settings import Options
from archfit.source import json_list, scan
from fuzz.engine import lookup
from fuzz.objects import objects
from fuzz.writing import as_json, written
from json_layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from archfit.images.platforms import Found
    from archfit.pipeline import Settled, Transformed

STREAMS = 150
OPTIONS = {
    "leave": Options(on_conflict="leave"),
    "fail": Options(),
    "always": Options(on_conflict="leave", affinity="always", prefer=(("arm64", 5),)),
    "never": Options(on_conflict="leave", affinity="never", immutable="full"),
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"ä": "\u65e5\U0001f600"}},
    "spec": {"containers": [{"name": "a", "image": "nginx:1", "args": ["b"]}]},
}
OWNED = {
    **POD,
    "metadata": {"name": "o", "ownerReferences": [{"kind": "ReplicaSet", "name": "r", "controller": True}]},
}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "x: é\n"}}
POOL = {
    "apiVersion": "kafka.strimzi.io/v1beta2",
    "kind": "KafkaNodePool",
    "metadata": {"name": "n", "labels": {"strimzi.io/cluster": "k"}},
    "spec": {"template": {"pod": {}}},
}
KAFKA = {
    "apiVersion": "kafka.strimzi.io/v1beta2",
    "kind": "Kafka",
    "metadata": {"name": "k"},
    "spec": {"kafka": {"image": "b"}},
}
CLASS = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "r"},
    "scheduling": {"nodeSelector": {"kubernetes.io/arch": "amd64"}},
}
OF_CLASS = {**POD, "spec": {**POD["spec"], "runtimeClassName": "r"}}  # type: ignore[dict-item]
MISPLACED = {**POD, "status": {"archfit.dev/skip": "true"}}
ODD_ITEMS: tuple[Any, ...] = (None, [], "x", 1, {}, {"kind": "Pod"}, {"spec": POD["spec"]}, {"items": [POD]})
WRONG = (
    "apiVersion: v1\nkind: Pod\nspec: {containers: [\n",
    "apiVersion: v1\nkind: Pod\nkind: Pod\nspec:\n  containers:\n  - image: nginx\n",
    "- a\n- b\n",
    "a: b\n",
    'apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: d:3\n    args: ["a\u2028b"]\n',
    "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: No Image\n",
    "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: nginx\n  ? nodeName2\n  : a\n",
)
DAMAGE: tuple[Callable[[str], str], ...] = (
    lambda text: text[:-9],
    lambda text: text + "x\n",
    lambda text: text.replace('"kind"', '"kind": "List", "kind"', 1),
    lambda text: text.replace('"Pod"', "Pod", 1),
    lambda text: text.replace('"Pod"', '"Pod",', 1),
    lambda text: text.replace('"name"', '"name" ', 1),
    lambda text: text.replace('"name"', f'"{"k" * 1100}": 1, "name"', 1),
    lambda text: text.replace('"items"', f'"{"k" * 1100}": 1, "items"', 1),
    lambda text: text.replace('"items"', '"\\u0069tems": [], "items"', 1),
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text.replace("{", "{ # a\n", 1),
    lambda text: text.replace('"c"', '"\u2028"', 1),
)


def drawn(seed: int) -> str:
    """A stream of up to eight parts."""
    chance = random.Random(seed)
    parts = [_part(chance) for _ in range(chance.randint(1, 7))]
    if chance.random() < 0.25:
        parts.insert(chance.randint(0, len(parts)), chance.choice(WRONG))
    return "---\n".join(part if part.endswith("\n") else part + "\n" for part in parts)


def _part(chance: random.Random) -> str:
    draw = chance.random()
    if draw < 0.4:
        return written(_item(chance), chance)
    items = [_item(chance) for _ in range(chance.randint(0, 5))]
    if chance.random() < 0.15:
        items.insert(chance.randint(0, len(items)), chance.choice(ODD_ITEMS))
    members = {"apiVersion": "v1", "items": items, "kind": "List"}
    if chance.random() < 0.2:
        pods = [{**item, "kind": "Pod"} for item in items if isinstance(item, dict)]
        members = {"apiVersion": "v1", "kind": "PodList", "items": pods}
    if draw < 0.6:
        return written(members, chance)
    text = LAYOUTS[chance.choice(sorted(LAYOUTS))](json.loads(as_json(members, chance)))
    return chance.choice(DAMAGE)(text) if chance.random() < 0.25 else text


def _item(chance: random.Random) -> Any:
    draw = chance.random()
    if draw < 0.65:
        return chance.choice((POD, POD, OWNED, CONFIG))
    if draw < 0.75:
        return chance.choice((POOL, KAFKA, CLASS, OF_CLASS, MISPLACED))
    return chance.choice(objects(chance))


class Outcome(NamedTuple):
    """All that is written, said and reported of a stream."""

    output: bytes
    results: tuple[Any, ...]
    decisions: list[Any]
    answers: list[Any]
    untouched: tuple[Any, ...]


def outcome(data: bytes, of: Callable[[Any], Transformed | Settled]) -> Outcome | str:
    """What becomes of the stream, or the error that ends the run."""
    try:
        read = stream.read(data, "pass")
        made = of(read)
    except ArchfitError as error:
        return f"{type(error).__name__}: {error}"
    output = b"" if made.failed() else b"".join(map(bytes, stream.parts(read.data, made.splices)))
    decisions = [
        (pod.ref, pod.location, pod.path, pod.named_images, pod.immutable, pod.placed_elsewhere, decision)
        for pod, decision in made.decisions
    ]
    return Outcome(output, made.results, decisions, list(made.answers.items()), made.untouched)


def whole(data: bytes, options: Options, patched: pytest.MonkeyPatch) -> Outcome | str:
    patched.setattr(pipeline, "_SMALL", 1 << 40)
    patched.setattr(scan, "_LARGE", 1 << 40)
    return outcome(data, lambda read: pipeline.transform(read.data, read.pieces, options, lookup))


def known(texts: Iterable[str]) -> Mapping[str, Found]:
    """The answers for most images."""
    return lookup(text for text in texts if crc32(text[::-1].encode()) % 4)


def in_small_parts(
    data: bytes, options: Options, patched: pytest.MonkeyPatch, chance: random.Random
) -> Outcome | str:
    patched.setattr(pipeline, "_SMALL", -1)
    patched.setattr(pipeline, "_RUN", chance.choice((1, 400, 4000)))
    patched.setattr(scan, "_LARGE", -1)
    patched.setattr(json_list, "_WINDOW", chance.choice((1, 9, 100, 1 << 18)))
    return outcome(
        data, lambda read: pipeline.transform_in_runs(read.data, read.pieces, options, lookup, known)
    )


@pytest.mark.parametrize("options", OPTIONS)
def test_a_stream_that_is_read_in_small_parts_becomes_what_the_whole_becomes(options: str) -> None:
    chance, changed = random.Random(options), 0
    for seed in range(STREAMS):
        data = drawn(chance.randrange(1 << 32)).encode()
        with pytest.MonkeyPatch.context() as patched:
            expected = whole(data, OPTIONS[options], patched)
        with pytest.MonkeyPatch.context() as patched:
            found = in_small_parts(data, OPTIONS[options], patched, chance)
        assert found == expected, (seed, data)
        changed += isinstance(expected, Outcome) and expected.output not in (b"", data)
    assert changed > STREAMS // 10
