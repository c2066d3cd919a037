"""Recordings of operators, fixtures/operators/NAME-VERSION/CASE/, and what has to hold of them.

    object.yaml        as a user writes it; images are img.test/multi/.., img.test/amd/.., img.test/arm64/.., whose
                       platforms archfit is told; of every other image it knows nothing
                       "{namespace}" in it is the namespace that it is put into
    placed.yaml        as archfit leaves it; missing where it refuses the stream
    made.yaml          what the operator made of object.yaml: workloads and pods, as lab/operators/made.py says
    made-placed.yaml   the same of placed.yaml; missing where both are equal
    turn-N/            placed.yaml and made-placed.yaml of the object whose Nth image has no arm64 build; of cases whose
                       name begins with "whole"
    outcome.json       what the API server and the operator's webhooks said, and the digest of each recorded object

`changed(case)` is what archfit writes otherwise now, `faults(case, oracle)` what is wrong with the pods: the file, the
object and what does not hold.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from archfit.workloads.builtin import WORKLOADS, group_of
from archfit.workloads.patterns import get
from corpus_streams import Oracle
from file_runs import run

Object = dict[str, Any]

_PLATFORMS = {"amd": ["linux/amd64"], "arm64": ["linux/arm64"], "multi": ["linux/amd64", "linux/arm64"]}
ARGUMENTS = (
    *("--offline", "--no-cache"),
    *(f"--image-platforms=img.test/{name}/*={','.join(words)}" for name, words in _PLATFORMS.items()),
)
# What every row writes; which rows were seen follows from it.
ALL = "--custom-resources=all"
_IMAGE = re.compile(rb"""img\.test/multi/[^\s"',}\]]+""")
_DIGEST_LENGTH = 12
# A user says what every image of these pods runs on.
_STATED = "archfit.dev/image-platforms:"
FILES = ("made.yaml", "made-placed.yaml")


class Placed(NamedTuple):
    """What archfit makes of a stream. text: None where it refuses it. report: the JSON report."""

    text: bytes | None
    report: Any

    @property
    def changed(self) -> list[Any]:
        """The decisions that change a pod."""
        return [one for one in self.report["decisions"] if one["outcome"] == "Change"]

    @property
    def left(self) -> bool:
        """Whether archfit says of something in the stream that it leaves it as it is, or warns."""
        outcomes = {one["outcome"] for one in self.report["decisions"]}
        said = any(
            "object" in one and (one["severity"] == "warning" or "not transformed" in one["message"])
            for one in self.report["results"]
        )
        return said or bool(outcomes - {"Change", "AlreadySet", "NotNeeded"})


def placed(text: bytes, *words: str) -> Placed:
    """Run archfit over a stream of a recording. words: more options."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        ended = run((*ARGUMENTS, f"--report={path}", *words), text)
        report = json.loads(path.read_text(encoding="utf-8"))
    return Placed(ended.stdout if ended.status == 0 else None, report)


def turns(text: bytes) -> list[tuple[str, bytes]]:
    """(image, stream) for each image of a stream: the stream in which that image has no arm64 build."""
    images = list(dict.fromkeys(_IMAGE.findall(text)))
    return [
        (
            image.decode(),
            re.sub(re.escape(image) + rb"""(?=[\s"',}\]]|$)""", image.replace(b"/multi/", b"/amd/"), text),
        )
        for image in images
    ]


def has_turns(case: Path) -> bool:
    """Whether its images take turns; see the module."""
    return case.name.startswith("whole")


def digests(folder: Path) -> dict[str, dict[str, str]]:
    """By file and object, what the recorder writes down to find a change by hand."""
    found: dict[str, dict[str, str]] = {}
    for name in FILES:
        if (folder / name).exists():
            of_file = found[name] = {}
            for number, one in enumerate(read(folder / name)):
                text = json.dumps(one, sort_keys=True)
                of_file[f"{number} {_key(one)}"] = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]
    return found


def read(path: Path) -> list[Object]:
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


def changed(case: Path, *words: str) -> Iterator[str]:
    """What archfit writes otherwise than it did, and what of a recording was changed by hand. words: more options."""
    for folder, text, said in _streams(case):
        yield from _same(folder / "placed.yaml", placed(text, *words))
        yield from _edited(folder, said.get("digests", {}))


def faults(case: Path, oracle: Oracle, *words: str) -> Iterator[str]:
    """What is wrong with the pods that an operator made, as long as nothing is `changed`. words: more options."""
    for folder, text, said in _streams(case):
        now = placed(text, *words)
        if now.text is None:
            continue
        if said["create"]:
            yield f"{folder}: the API server refused placed.yaml: {said['create']}"
        if said.get("update") and not any(one["immutable"] for one in now.report["decisions"]):
            yield f"{folder}: applying placed.yaml over object.yaml was refused: {said['update']}"
        without = folder / ("made.yaml" if folder == case else "made-placed.yaml")
        yield from _judged(folder, without, now, oracle)


def _streams(case: Path) -> Iterator[tuple[Path, bytes, dict[str, Any]]]:
    """(folder, stream, what outcome.json says of it): the object of a case, and each of its turns."""
    text, said = (case / "object.yaml").read_bytes(), json.loads((case / "outcome.json").read_text("utf-8"))
    yield case, text, said
    if has_turns(case):
        for number, (_, turned) in enumerate(turns(text), 1):
            yield case / f"turn-{number}", turned, said["turns"].get(str(number), {})


def _same(path: Path, now: Placed) -> Iterator[str]:
    recorded = path.read_bytes() if path.exists() else None
    if recorded == now.text:
        return
    if recorded is None or now.text is None:
        yield f"{path}: archfit {'refuses' if now.text is None else 'no longer refuses'} the stream"
        return
    before, after = recorded.splitlines(), now.text.splitlines()
    at = next(
        (number for number, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]),
        min(len(before), len(after)),
    )
    line = after[at].decode() if at < len(after) else "nothing"
    yield f"{path}: line {at + 1}: archfit writes another line: {line.strip()}"


def _edited(folder: Path, recorded: dict[str, dict[str, str]]) -> Iterator[str]:
    now = digests(folder)
    for name in sorted(now.keys() | recorded.keys()):
        ours, theirs = now.get(name, {}), recorded.get(name, {})
        for key in sorted(ours.keys() | theirs.keys()):
            if ours.get(key) != theirs.get(key):
                yield f"{folder}/{name}: {key.partition(' ')[2]} was changed by hand: record it again"


def _judged(folder: Path, without: Path, now: Placed, oracle: Oracle) -> Iterator[str]:
    """What the made pods lack. without: what was made of the object as written."""
    path = folder / "made-placed.yaml"
    if not path.exists():  # archfit changed nothing
        path = folder / "made.yaml"
    before, after = read(without), read(path)
    stated = _STATED in (folder / "placed.yaml").read_text(encoding="utf-8")
    there = set(map(_key, after))
    before = [one for one in before if _key(one) in there or not _kept_off(one)]
    if list(map(_key, before)) != list(map(_key, after)):
        named = sorted(set(map(_key, before)) ^ set(map(_key, after)))
        yield f"{path}: other objects than in {without.name}: {', '.join(named) or 'in another number'}"
        return
    for old, new in zip(before, after, strict=True):
        for gone in lost(pod_spec(old), pod_spec(new)):
            yield f"{path}: {_key(new)}: {gone} is there without archfit, and missing with it"
    platforms = {image: _platforms(image) for image in _images(after) if _platforms(image)}
    verdict = oracle(_dumped(before), _dumped(after), platforms=platforms, policy={"unknown": "narrow"})
    for violation in verdict.violations:
        if violation.startswith(("SAFETY", "WIDENED")) and not now.left:
            yield f"{path}: {violation}"
    for old, new in zip(before, after, strict=True):
        unknown = [image for image in _images([new]) if not (stated or _platforms(image))]
        if unknown and len(pod_spec(new).get("tolerations", ())) > len(pod_spec(old).get("tolerations", ())):
            yield f"{path}: {_key(new)}: tolerates an architecture, and nobody knows {', '.join(unknown)}"


def lost(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """What of `old` is not in `new`, as a path."""
    if isinstance(old, dict):
        for key, value in old.items():
            if not isinstance(new, dict) or key not in new:
                yield f"{at}.{key}".lstrip(".")
            else:
                yield from lost(value, new[key], f"{at}.{key}")
    elif isinstance(old, list):
        others = list(new) if isinstance(new, list) else []
        for number, value in enumerate(old):
            kept = next((one for one in others if not list(lost(value, one))), None)
            if kept is None:
                yield f"{at}[{number}]".lstrip(".")
            else:
                others.remove(kept)
    elif old != new:
        yield at.lstrip(".")


def _kept_off(value: Object) -> bool:
    """Whether a pod is pinned to a node on which its images do not run, so that it is rightly missing."""
    nodes = [term["matchFields"][0]["values"][0] for term in pinning(pod_spec(value))]
    platforms = list(filter(None, map(_platforms, _images([value]))))
    return bool(nodes) and not all(f"linux/{nodes[0].partition('-')[0]}" in offered for offered in platforms)


def pinning(spec: Object) -> Iterator[Object]:
    """The required terms of a pod spec that name a node."""
    required = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for name in required:
        spec = spec.get(name) or {}
    for term in spec.get("nodeSelectorTerms", ()):
        if any(field["key"] == "metadata.name" for field in term.get("matchFields", ())):
            yield term


def _key(value: Object) -> str:
    nodes = "".join(f" on {term['matchFields'][0]['values'][0]}" for term in pinning(pod_spec(value)))
    return f"{value['kind']}/{value['metadata']['name']}{nodes}"


def pod_path(value: Object) -> tuple[Any, ...]:
    """Where an object of Kubernetes' kinds holds its pod spec."""
    return WORKLOADS[group_of(value["apiVersion"]), value["kind"]].pod_spec


def pod_spec(value: Object) -> Object:
    """The pod spec that an object holds."""
    found: Object = get(value, pod_path(value))
    return found


def _images(objects: Sequence[Object]) -> list[str]:
    containers = [
        one
        for value in objects
        for name in ("containers", "initContainers")
        for one in pod_spec(value).get(name, ())
    ]
    return sorted({one["image"] for one in containers if "image" in one})


def _platforms(image: str) -> list[str]:
    """Its platforms, [] for an image that nobody knows."""
    host, _, rest = image.partition("/")
    return _PLATFORMS.get(rest.partition("/")[0], []) if host == "img.test" else []


def _dumped(objects: Sequence[Object]) -> bytes:
    return b"".join(b"---\n" + json.dumps(one).encode() + b"\n" for one in objects)
