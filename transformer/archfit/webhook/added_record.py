"""What the policy or the webhook added to one Pod, so that a later pass of the same admission takes that back. Pure.

    metadata:
      annotations:
        archfit.dev/added: |-
          [{"by":"policy","images":2,"path":"/spec/affinity","value":{}},
          {"by":"policy","images":2,"path":"/spec/tolerations/-","value":{...}}]

One entry on each line, in the format of `edit.stamp.annotation`, with the writer of it and the number of images
that it saw. `{}` is a mapping that was made for items of a list; it goes with the last of them. Each writer takes back
its own. The webhook, which is called after the policy, also takes over what the policy added to a Pod that had fewer
images: the policy has not seen the last injection, and is not asked again.

Anybody can write the annotation. So an entry counts only for one item of the Pod that equals it, and only if it has
the shape of what archfit writes. A record that came with the request (`request_fields`) stays as it is, and takes
nothing away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from archfit.base.patch import Add, Operation, Path, Remove, Test, apply, pointer
from archfit.edit.stamp.annotation import ANNOTATIONS, MISSING, at
from archfit.options import placement_fields
from archfit.options.placement_fields import PREFERRED, REQUIRED
from archfit.placement.affinity import ARCH, OS
from archfit.placement.annotations import STAMP
from archfit.placement.pod_patch import toleration_fields
from archfit.startup.record import Record
from archfit.webhook.request_fields import is_requested
from archfit.yaml.values import mapping_of, plain

Writer: TypeAlias = 'Literal["policy", "webhook"]'

NAME = STAMP
SEPARATOR = ",\n"
AFFINITY: Path = ("spec", placement_fields.AFFINITY)
NODE_AFFINITY: Path = (*AFFINITY, placement_fields.NODE_AFFINITY)
REQUIRED_SET: Path = (*NODE_AFFINITY, REQUIRED)
TERMS: Path = (*REQUIRED_SET, placement_fields.TERM_LIST)
PREFERENCES: Path = (*NODE_AFFINITY, PREFERRED)
TOLERATIONS: Path = ("spec", placement_fields.TOLERATIONS)
KEYS = (ARCH, OS)
OPERATORS = ("In", "NotIn")
LONGEST = 100_000
"""Characters of a record that is read: the API server's budget for CEL is enough for them."""
_PREFIX = '{"by":"'
_HEAD = re.compile(r'\{"by":"(?P<by>policy|webhook)","images":(?P<images>[0-9]{1,9}),(?="path":)')


class Item(Record):
    """An item of a list that may be archfit's. path: where it stands. line: its entry."""

    path: Path
    value: Mapping[str, Any]
    line: str

    @property
    def narrows(self) -> bool:
        """Whether it is an expression of a required term: without it the Pod reaches more nodes."""
        return "matchExpressions" in self.path

    @property
    def term(self) -> int:
        """The index of that term."""
        return int(self.path[len(TERMS)])


class AddedRecord(Record):
    """The annotation of a Pod.

    text: None where there is none. images: how many the Pod has. lines: of this writer, less that number, and those
    that it takes over. others: of the other writer. requested: it came with the request, and has no lines.
    """

    text: str | None
    images: int = 0
    lines: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    requested: bool = False


def entry(writer: Writer, path: Path, value: object) -> str:
    """One line of the record, less the number of images."""
    members = {"by": writer, "path": pointer(path), "value": plain(value)}
    return json.dumps(members, sort_keys=True, separators=(",", ":"))


def text_of_lines(lines: Iterable[str]) -> str:
    """The record of these lines."""
    return f"[{SEPARATOR.join(lines)}]"


def read_record(value: Mapping[str, Any], writer: Writer) -> AddedRecord:
    """The record of a Pod; without lines where the annotation is no writer's."""
    text = mapping_of(mapping_of(value.get("metadata")).get("annotations")).get(NAME)
    images = _images(value)
    if not isinstance(text, str):
        return AddedRecord(None, images)
    own, others = list[str](), list[str]()
    is_record = text.startswith(f"[{_PREFIX}") and text.endswith("]") and len(text) < LONGEST
    for line in text[1:-1].split(SEPARATOR) if is_record else ():
        head = _HEAD.match(line)
        late = head and writer == "webhook" and head["by"] == "policy" and int(head["images"]) < images
        if head and (head["by"] == writer or late):
            own.append(f'{_PREFIX}{writer}",{line[head.end() :]}')
        elif line.startswith(_PREFIX):
            others.append(line)
    requested = is_requested(value)
    return AddedRecord(text, images, () if requested else tuple(own), tuple(others), requested)


def _images(value: Mapping[str, Any]) -> int:
    """How many places of the Pod name an image."""
    spec = mapping_of(value.get("spec"))
    containers, more, volumes = (
        listed if isinstance(listed := spec.get(field), list) else []
        for field in ("containers", "initContainers", "volumes")
    )
    return len(containers) + len(more) + sum("image" in mapping_of(volume) for volume in volumes)


def items(value: Mapping[str, Any], writer: Writer, tolerations: Iterable[Mapping[str, str]]) -> list[Item]:
    """What of the Pod has the shape of what archfit adds, list by list. tolerations: of `rule_tolerations`."""
    rules = list(tolerations)
    lists: list[tuple[Path, Callable[[Any], bool]]] = [
        *(
            ((*TERMS, index, "matchExpressions"), _is_expression)
            for index in range(len(_listed(value, TERMS)))
        ),
        (PREFERENCES, _is_preference),
        (TOLERATIONS, rules.__contains__),
    ]
    return [
        Item((*path, index), item, entry(writer, (*path, "-"), item))
        for path, is_ours in lists
        for index, item in enumerate(_listed(value, path))
        if is_ours(item)
    ]


def _listed(value: Mapping[str, Any], path: Path) -> list[Any]:
    there = at(value, path)
    return there if isinstance(there, list) else []


def _is_expression(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"key", "operator", "values"}
        and value["key"] in KEYS
        and value["operator"] in OPERATORS
        and isinstance(value["values"], list)
        and all(isinstance(name, str) for name in value["values"])
    )


def _is_preference(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() != {"weight", "preference"}:
        return False
    preference = mapping_of(value["preference"])
    expressions = preference.get("matchExpressions")
    return (
        preference.keys() == {"matchExpressions"}
        and isinstance(expressions, list)
        and len(expressions) == 1
        and _is_expression(expressions[0])
        and expressions[0]["key"] == ARCH
        and expressions[0]["operator"] == "In"
    )


def rule_tolerations(rules: Iterable[Any]) -> list[dict[str, str]]:
    """The tolerations of rules, as they stand in a Pod."""
    return [toleration_fields(rule.toleration) for rule in rules]


def taken_back(
    value: Mapping[str, Any], writer: Writer, gone: Sequence[Item], record: AddedRecord
) -> list[Operation]:
    """The operations that take these items out of the Pod, and the mappings that were made for them.

    Items of a list are taken from its end, so that no index of a later operation moves.
    """
    steps: list[Operation] = []
    for item in reversed(gone):
        steps += (Test(item.path, item.value), Remove(item.path))
    if not gone:
        return steps
    for path in (REQUIRED_SET, NODE_AFFINITY, AFFINITY):
        left = at(apply(value, steps), path)
        if entry(writer, path, {}) in record.lines and left is not MISSING and is_empty(left):
            steps = [step for step in steps if step.path[: len(path)] != path]
            steps += (Test(path, at(value, path)), Remove(path))
    return steps


def is_empty(value: Any) -> bool:
    """Whether a mapping or a list of them holds nothing at all."""
    if isinstance(value, dict):
        return all(map(is_empty, value.values()))
    return isinstance(value, list) and all(map(is_empty, value))


def lines_of(
    value: Mapping[str, Any], writer: Writer, added: Sequence[Item], record: AddedRecord
) -> tuple[str, ...]:
    """The lines for these items. value: the Pod as it came. record: what it said then."""
    lines = []
    for path in (AFFINITY, NODE_AFFINITY, REQUIRED_SET):
        line = entry(writer, path, {})
        below = any(item.path[: len(path)] == path for item in added)
        if below and (at(value, path) in (None, MISSING) or line in record.lines):
            lines.append(line)
    return (*lines, *[item.line for item in added])


def annotated(
    value: Mapping[str, Any], writer: Writer, lines: Sequence[str], record: AddedRecord
) -> list[Operation]:
    """What writes these lines into the annotation, beside those of the other writers; [] where it says so already."""
    head = f'{_PREFIX}{writer}",'
    own = [f'{head}"images":{record.images},{line[len(head) :]}' for line in lines]
    both = (own, record.others) if writer == "policy" else (record.others, own)
    text = text_of_lines([line for part in both for line in part])
    if record.requested or text == record.text or not (lines or record.lines):
        return []
    path = (*ANNOTATIONS, NAME)
    if not isinstance(at(value, ANNOTATIONS), dict):
        return [Test(ANNOTATIONS, None), Add(ANNOTATIONS, {NAME: text})]
    if not lines and not record.others:
        return [Test(path, record.text), Remove(path)]
    return [Test(path, record.text), Add(path, text)]
