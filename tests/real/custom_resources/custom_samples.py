"""An object for every row of the table: as little as its pod needs, so that whatever archfit adds can be judged.

    for sample in samples(row, ["v1", "v2"]): sample.value, sample.made

A "*" of a row's paths is an item of a list in one sample and a member of a mapping in another: only the schema knows
which is right, and the wrong ones have errors before anything is added.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

from archfit.base.patch import Path
from archfit.options.settings import Workload

MEMBER = "a"
_KNOWN = {"metadata": {"name": "sample", "annotations": {"archfit.dev/image-platforms": "linux/amd64"}}}


class Sample(NamedTuple):
    """value: the object. made: whether archfit has to create the pod's mapping, if it is to write there."""

    value: dict[str, Any]
    made: bool


def samples(row: Workload, versions: Iterable[str], image: str) -> Iterator[Sample]:
    """Objects whose pod the row finds, with `image` wherever the row looks first."""
    there = row.there or row.pod_spec
    paths = [entry[0] for entry in row.images]
    containers = (*row.pod_spec, "containers")
    stars = sorted(
        {path[:at] for path in (*paths, row.pod_spec, there) for at, step in enumerate(path) if step == "*"}
    )
    for version in versions:
        for lists in product((True, False), repeat=len(stars)):
            kinds = dict(zip(stars, lists, strict=True))
            head = {"apiVersion": f"{row.group}/{version}", "kind": row.kind}
            value: dict[str, Any] = {**head, "metadata": {"name": "sample"}}
            put(value, there, {}, kinds)
            for path in paths:
                put(value, path, image, kinds)
            if not paths or row.main:
                put(value, containers, [{"name": row.main or "main", "image": image}], kinds)
            if row.operator == "kubevirt":
                put(value, (*row.pod_spec, "architecture"), "arm64", kinds)
            yield Sample(value, made=False)
            if there != row.pod_spec and image != "both:1":
                bare: dict[str, Any] = {**head, **_KNOWN}
                put(bare, there, {}, kinds)
                for path in paths:
                    put(bare, path[:-1], {}, kinds)
                yield Sample(bare, made=True)


def put(value: Any, path: Path, new: Any, lists: dict[Path, bool]) -> None:
    """Set what stands at the path, where "*" is the one item of a list or the member MEMBER."""
    joined = str(path[-1]).split("+")
    for name in joined[1:]:
        put(value, (*path[:-1], name), "1", lists)
    path = (*path[:-1], joined[0])
    if len(joined) > 1 and isinstance(new, str):
        new = new.partition(":")[0]
    for at, step in enumerate(path):
        last = at == len(path) - 1
        following: Any = new if last else [] if _is_list(path, at + 1, lists) else {}
        key: str | int = step
        if step == "*":
            key = 0 if isinstance(value, list) else MEMBER
        if isinstance(value, list):
            if not value:
                value.append(following)
        elif key not in value or (last and not isinstance(new, dict)):
            value[key] = following
        value = value[key]


def _is_list(path: Path, at: int, lists: dict[Path, bool]) -> bool:
    return path[at] == "*" and lists.get(path[:at], True)
