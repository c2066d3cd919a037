"""The tolerations and preferred terms that the policy or the webhook added to one Pod, so that a later pass of the same
admission takes them back. Pure.

    metadata:
      annotations:
        archfit.dev/added: |-
          [{"by":"policy","images":2,"path":"/spec/tolerations/-","value":{...}}]

One entry on each line, in the format of `edit.stamp.annotation`, with its writer, which is the same for all, and the
number of images that it saw. A narrowing is not recorded: by images that are known it is safe, and stays. Each writer
takes back its own. The webhook, which is called after the policy, also takes over what the policy added to a Pod that
had fewer images: the policy has not seen the last injection, and is not asked again.

Anybody can write the annotation. So an entry counts only for an item of the Pod that equals it and has the shape of
what archfit writes. A record that came with the request (`request_fields`), or that the other writer keeps, is settled:
it stays as it is and takes nothing away, and nothing beside it is tolerated or preferred.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from archfit.base.patch import Add, Operation, Path, Remove, Test, pointer
from archfit.edit.stamp.annotation import ANNOTATIONS, at
from archfit.options import settings
from archfit.options.settings import PREFERRED, REQUIRED
from archfit.placement.affinity import ARCH
from archfit.placement.annotations import STAMP
from archfit.placement.pod_patch import toleration_fields
from archfit.startup.record import Record
from archfit.webhook.request_fields import is_requested
from archfit.yaml.values import mapping_of, plain

Writer: TypeAlias = 'Literal["policy", "webhook"]'

NAME = STAMP
NODE_AFFINITY: Path = ("spec", settings.AFFINITY, settings.NODE_AFFINITY)
REQUIRED_SET: Path = (*NODE_AFFINITY, REQUIRED)
PREFERENCES: Path = (*NODE_AFFINITY, PREFERRED)
TOLERATIONS: Path = ("spec", settings.TOLERATIONS)
LONGEST = 9_999
"""Characters of a record that is read: the API server's budget for CEL is enough for them."""
SEPARATOR = ",\n"
_HEAD = re.compile(r'\{"by":"(?P<by>policy|webhook)","images":(?P<images>[0-9]{1,9}),(?="path":)')


class Item(Record):
    """An item of a list that may be archfit's. path: where it stands. entry: as the record has it."""

    path: Path
    value: Mapping[str, Any]
    entry: str


class AddedRecord(Record):
    """The annotation of a Pod.

    text: None where there is none. images: how many the Pod has. entries: of this writer, and those that it takes over.
    settled: see the module; there are no entries then.
    """

    text: str | None
    images: int = 0
    entries: tuple[str, ...] = ()
    settled: bool = False


def entry(path: Path, value: object) -> str:
    """One entry of the record, less its writer and the number of images."""
    return json.dumps({"path": pointer(path), "value": plain(value)}, sort_keys=True, separators=(",", ":"))[
        1:
    ]


def record_text(writer: Writer, images: int, entries: Iterable[str]) -> str:
    """The record of these entries; "" for none."""
    lines = [f'{{"by":"{writer}","images":{images},{entry}' for entry in entries]
    return f"[{SEPARATOR.join(lines)}]" if lines else ""


def read_record(value: Mapping[str, Any], writer: Writer) -> AddedRecord:
    """The record of a Pod."""
    text = mapping_of(mapping_of(value.get("metadata")).get("annotations")).get(NAME)
    images = _images(value)
    if not isinstance(text, str):
        return AddedRecord(None, images)
    head = _HEAD.match(text, 1)
    late = head and head["by"] == "policy" and int(head["images"]) < images
    if not head or len(text) > LONGEST or is_requested(value) or not (head["by"] == writer or late):
        return AddedRecord(text, images, settled=True)
    lines = text[1:-1].split(SEPARATOR)
    entries = tuple(line[head.end() :] for line in lines if (head := _HEAD.match(line)))
    return AddedRecord(text, images, entries)


def _images(value: Mapping[str, Any]) -> int:
    """How many places of the Pod name an image."""
    spec = mapping_of(value.get("spec"))
    containers, more, volumes = (
        listed if isinstance(listed := spec.get(field), list) else []
        for field in ("containers", "initContainers", "volumes")
    )
    return len(containers) + len(more) + sum("image" in mapping_of(volume) for volume in volumes)


def items(value: Mapping[str, Any], rules: Iterable[Any]) -> list[Item]:
    """What of the Pod has the shape of what archfit adds: tolerations of the rules, then preferred terms."""
    tolerations = [toleration_fields(rule.toleration) for rule in rules]
    return [
        Item((*path, index), item, entry((*path, "-"), item))
        for path, is_ours in ((TOLERATIONS, tolerations.__contains__), (PREFERENCES, _is_preference))
        for index, item in enumerate(_listed(value, path))
        if is_ours(item)
    ]


def _listed(value: Mapping[str, Any], path: Path) -> list[Any]:
    there = at(value, path)
    return there if isinstance(there, list) else []


def _is_preference(value: Any) -> bool:
    preference = mapping_of(mapping_of(value).get("preference"))
    expressions = preference.get("matchExpressions")
    if mapping_of(value).keys() != {"weight", "preference"} or not isinstance(expressions, list):
        return False
    shapes = [(row.get("key"), row.get("operator")) for row in map(mapping_of, expressions)]
    return preference.keys() == {"matchExpressions"} and shapes == [(ARCH, "In")]


def recorded(there: Iterable[Item], record: AddedRecord) -> tuple[Item, ...]:
    """The items that the record names; of equal ones the first, as another webhook may have added one of them."""
    first = dict[str, Item]()
    for item in there:
        if item.entry in record.entries:
            first.setdefault(item.entry, item)
    return tuple(first.values())


def taken_back(gone: Sequence[Item]) -> list[Operation]:
    """The operations that take these items out of the Pod, from the end of each list, so that no index moves."""
    return [step for item in reversed(gone) for step in (Test(item.path, item.value), Remove(item.path))]


def annotated(value: Mapping[str, Any], text: str, record: AddedRecord) -> list[Operation]:
    """What writes this text into the annotation, "" for none; [] where it says so already."""
    if record.settled or text == (record.text or ""):
        return []
    path = (*ANNOTATIONS, NAME)
    if not isinstance(at(value, ANNOTATIONS), dict):
        return [Test(ANNOTATIONS, None), Add(ANNOTATIONS, {NAME: text})]
    if not text:
        return [Test(path, record.text), Remove(path)]
    return [Test(path, record.text), Add(path, text)]
