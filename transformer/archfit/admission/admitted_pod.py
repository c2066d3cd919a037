"""One Pod as the API server admits it on CREATE, and what is decided for it.

    value (JSON) ── admitted_pod ─> Pod ── admission_options ─> PodOptions ── `placement.decide` ─> Decision

It differs from a Pod in a stream:

    it is new                                     nothing of it is immutable yet: `immutable` is `full`
    it has a controller (ReplicaSet, Job)         which sets its template and does not change the pod: it is decided
    a DaemonSet controls it                       it is left alone: matchFields metadata.name chose its node
    annotation kubernetes.io/config.mirror        it is left alone: it shows a static pod, which already runs
    its RuntimeClass                              admission has merged nodeSelector and tolerations into it
    metadata.namespace may be missing             the request has it
    metadata.name may be missing                  the API server makes it from generateName after admission
    it passes more than once                      other webhooks change it in between: see below

A later pass of the same admission finds what an earlier one added (`added_record`), and decides for the Pod without it:

    the decision                          what becomes of it
    adds the same                         nothing changes
    adds something else                   the new additions take its place
    Unresolved, Conflict                  it is taken back: a Pod is decided whole or not at all
    the Pod opted out                     it stays

A record that came with the request may be made up, and never widens a Pod: an expression that it names goes only for
one as narrow. Else the expression stays, and nothing is added.

Source: kubernetes, pkg/registry/core/pod and pkg/controller/daemon/util; KEP-585 (RuntimeClass scheduling).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from archfit.admission.added_record import (
    REQUIRED_SET,
    TERMS,
    AddedRecord,
    Item,
    Writer,
    annotated,
    entry,
    is_empty,
    items,
    lines_of,
    read_record,
    rule_tolerations,
    taken_back,
)
from archfit.base.errors import InvalidInput
from archfit.base.patch import Remove, apply
from archfit.base.record import Record
from archfit.base.results import Decision, Location
from archfit.edit.stamp.annotation import ANNOTATIONS, at
from archfit.images.platforms import Answer
from archfit.options.settings import Options
from archfit.placement.affinity import Demand, allowed
from archfit.placement.annotations import STAMP
from archfit.placement.case import Trace
from archfit.placement.decide import decide
from archfit.placement.selection import PodOptions, pod_options, questions
from archfit.workloads.pod_specs import controller_of, find_pods
from archfit.workloads.pods import Pod
from archfit.yaml.values import mapping_of, text_of, typed

MIRROR = "kubernetes.io/config.mirror"
_HERE = Location(1, 1)


class AdmittedPod(Record):
    """A Pod at admission, with its options. questions: the image strings that have to be looked up.

    pod: without what an earlier pass added. value: the part of it that a patch may touch, as it came. back: what of
    value is an earlier pass's.
    """

    pod: Pod
    own: PodOptions
    questions: tuple[str, ...]
    value: Mapping[str, Any] = MappingProxyType({})
    record: AddedRecord = AddedRecord(None)
    back: tuple[Item, ...] = ()
    writer: Writer = "webhook"

    def decide(self, answers: Mapping[str, Answer], options: Options) -> Decision:
        """The decision, as a patch of the Pod as it came. Raises UsageError.

        answers: for each of `questions`. options: `at_admission(..)`.
        """
        decision = decide(self.pod, self.own, answers, options)
        if self.own.left_alone or not (decision.patch or self.record.lines):
            return decision
        back = self.back
        if any(item.narrows for item in back) and self._is_foreign(decision, answers, options):
            back = tuple(item for item in back if not item.narrows)
            decision = self._foreign(decision)
        return self._recorded(decision, back, options)

    def _recorded(self, decision: Decision, back: tuple[Item, ...], options: Options) -> Decision:
        """The decision, which was made for the Pod without `back`, for the Pod as it came."""
        added = self._added(decision, options)
        same = sorted(item.line for item in added) == sorted(item.line for item in back)
        lines = lines_of(self.value, self.writer, added, self.record)
        annotation = annotated(self.value, self.writer, lines, self.record)
        if same and not annotation:
            if decision.outcome != "Change":
                return decision
            return decision.replace(outcome="AlreadySet", reason="an earlier pass added this", patch=())
        steps = taken_back(self.value, self.writer, back, self.record)
        patch = (*(() if same else (*steps, *decision.patch)), *annotation)
        if decision.patch or decision.outcome in ("Unresolved", "Conflict"):
            return decision.replace(patch=patch)
        reason = f"what an earlier pass added is taken back; {decision.reason}"
        return decision.replace(outcome="Change", reason=reason, patch=patch)

    def _added(self, decision: Decision, options: Options) -> tuple[Item, ...]:
        """What the decision adds to the Pod without `back`."""
        if not decision.patch:
            return ()
        before = {"spec": _placement(self.pod.spec)}
        there = {item.line for item in self._items(before, options)}
        after = self._items(apply(before, decision.patch), options)
        return tuple(item for item in after if item.line not in there)

    def _items(self, value: dict[str, Any], options: Options) -> list[Item]:
        return items(value, self.writer, rule_tolerations(options.tolerate))

    def _is_foreign(self, decision: Decision, answers: Mapping[str, Answer], options: Options) -> bool:
        """Whether the expressions of the record may be somebody else's: without them the Pod would be wider.

        archfit adds nothing to a term without conditions: one that would be left without any is not its own.
        """
        narrowing = [item for item in self.back if item.narrows]
        if entry(self.writer, REQUIRED_SET, {}) not in self.record.lines:
            bare = apply(self.value, taken_back(self.value, self.writer, narrowing, self.record))
            if any(is_empty(at(bare, (*TERMS, item.term))) for item in narrowing):
                return True
        if not self.record.requested:
            return False
        if decision.outcome in ("Unresolved", "Conflict"):
            return True
        trace = Trace()
        decision = decide(self.pod, self.own, answers, options, trace)
        if trace.case is None:
            return True
        needed = [item for item in self._added(decision, options) if item.narrows]
        for old in narrowing:
            given = [item for item in needed if item.term == old.term]
            demand = trace.case.reaches[old.term].demand
            if not any(_narrower(new, old) for new in given) and not _within(demand, given, old):
                return True
        return False

    def _foreign(self, decision: Decision) -> Decision:
        warning = self.pod.result(
            "warning",
            "it names a node affinity that archfit would not write for these images: the affinity stays, and nothing "
            "is added",
            (*ANNOTATIONS, STAMP),
        )
        return decision.replace(
            outcome="Unresolved",
            reason=f"{STAMP} is not archfit's",
            patch=(),
            results=(*decision.results, warning),
        )


def _narrower(new: Item, old: Item) -> bool:
    """Whether every node that meets the expression `new` meets `old`."""
    if new.value["operator"] != old.value["operator"]:
        return False
    ours, theirs = set(new.value["values"]), set(old.value["values"])
    return ours <= theirs if new.value["operator"] == "In" else theirs <= ours


def _within(demand: Demand, given: Sequence[Item], old: Item) -> bool:
    """Whether what a term names, with the expressions that it is given, meets `old` already."""
    if all(operator != "In" for operator, _ in demand.requirements):
        return False
    left = allowed(demand, frozenset())
    for item in given:
        left = frozenset(name for name in left if _meets(name, item))
    return all(_meets(name, old) for name in left)


def _meets(architecture: str, item: Item) -> bool:
    named: bool = architecture in item.value["values"]
    return named is (item.value["operator"] == "In")


def _placement(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {field: spec[field] for field in ("affinity", "tolerations") if field in spec}


def at_admission(options: Options) -> Options:
    """The options of a run, for pods that are new."""
    return options.replace(immutable="full", stamp=False)


def admitted_pod(
    value: Mapping[str, Any], namespace: str, options: Options, writer: Writer = "webhook"
) -> AdmittedPod:
    """A Pod as decoded from JSON. namespace: of the request. options: `at_admission(..)`. writer: whose record counts.

    Raises InvalidInput where it is no Pod with a spec.
    """
    whole = typed(dict(value))
    record = read_record(whole, writer)
    back: tuple[Item, ...] = ()
    bare = whole
    if record.lines or record.others:
        there = items(whole, writer, rule_tolerations(options.tolerate))
        back = _recorded_once(there, record)
        steps = taken_back(whole, writer, back, record)
        bare = apply(whole, [*steps, Remove((*ANNOTATIONS, STAMP))])
    found = find_pods(bare, _HERE)
    if len(found) != 1 or found[0].path != ("spec",) or (found[0].group, found[0].ref.kind) != ("", "Pod"):
        raise InvalidInput("the object is not a v1 Pod with a spec")
    pod = found[0].replace(ref=found[0].ref.replace(namespace=namespace))
    reason = _left_alone(pod)
    if reason:
        return AdmittedPod(pod, PodOptions(reason), ())
    metadata = {key: member for key, member in pod.object_metadata.items() if key != "ownerReferences"}
    pod = pod.replace(object_metadata=metadata)
    own = pod_options(pod, options)
    spec = _placement(mapping_of(whole.get("spec")))
    metadata = mapping_of(whole.get("metadata"))
    annotations = {"annotations": metadata["annotations"]} if "annotations" in metadata else {}
    part = {"metadata": annotations, "spec": spec}
    return AdmittedPod(pod, own, questions(pod, own), part, record, back, writer)


def _recorded_once(there: Iterable[Item], record: AddedRecord) -> tuple[Item, ...]:
    """The items that the record names: of equal ones the first, as another webhook may have added one of them."""
    found = dict[str, Item]()
    for item in there:
        if item.line in record.lines:
            found.setdefault(item.line, item)
    return tuple(found.values())


def _left_alone(pod: Pod) -> str:
    controller = controller_of(pod.object_metadata)
    if controller.startswith("DaemonSet/"):
        return f"it is made for one node ({controller})"
    annotations = mapping_of(pod.object_metadata.get("annotations"))
    if text_of(annotations.get(MIRROR)):
        return "it shows a static pod, which already runs"
    return ""
