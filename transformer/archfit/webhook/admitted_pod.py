"""One Pod as the API server admits it on CREATE, and what is decided for it.

It differs from a Pod in a stream:

    it is new                                     nothing of it is immutable yet: `immutable` is `full`
    it has a controller (ReplicaSet, Job)         which sets its template and does not change the pod: it is decided
    a DaemonSet controls it                       it is left alone: matchFields metadata.name chose its node
    annotation kubernetes.io/config.mirror        it is left alone: it shows a static pod, which already runs
    its RuntimeClass                              admission has merged nodeSelector and tolerations into it
    metadata.namespace may be missing             the request has it
    metadata.name may be missing                  the API server makes it from generateName after admission

It passes more than once: other webhooks change it in between. A later pass finds what an earlier one added
(`added_record`), and decides for the Pod without it: other additions take its place; where the Pod is Unresolved or in
Conflict, it is taken back; where it opted out, it stays.

A list that the Pod states, if somebody applies it (`request_fields`), is not extended. Without an expression that it
needs in its required terms, the Pod may go to nodes that cannot run it, and a warning says so.

Source: kubernetes, pkg/registry/core/pod and pkg/controller/daemon/util; KEP-585 (RuntimeClass scheduling).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from archfit.base.errors import InvalidInput
from archfit.base.patch import Remove, apply
from archfit.base.results import Decision, Location
from archfit.edit.stamp.annotation import ANNOTATIONS, at
from archfit.images.platforms import Answer
from archfit.options.placement_fields import LISTS
from archfit.options.settings import Options
from archfit.placement.affinity import ARCH
from archfit.placement.annotations import STAMP
from archfit.placement.decide import decide
from archfit.placement.pod_patch import because, listed
from archfit.placement.pod_warnings import unsafe
from archfit.placement.selection import PodOptions, pod_options, questions
from archfit.startup.record import Record
from archfit.webhook.added_record import (
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
from archfit.webhook.request_fields import (
    STATES_PREFERENCES,
    STATES_TERMS,
    STATES_TOLERATIONS,
    Field,
    stated_lists,
)
from archfit.workloads.pod_specs import controller_of, find_pods
from archfit.workloads.pods import Pod
from archfit.yaml.values import mapping_of, text_of, typed

MIRROR = "kubernetes.io/config.mirror"
_HERE = Location(1, 1)


class AdmittedPod(Record):
    """A Pod at admission, with its options. questions: the image strings that have to be looked up.

    pod: without what an earlier pass added. value: the part of it that a patch may touch, as it came. back: what of
    value is an earlier pass's. stated: `stated_lists(..)`.
    """

    pod: Pod
    own: PodOptions
    questions: tuple[str, ...]
    value: Mapping[str, Any] = MappingProxyType({})
    record: AddedRecord = AddedRecord(None)
    back: tuple[Item, ...] = ()
    writer: Writer = "webhook"
    stated: frozenset[Field] = frozenset()

    def decide(self, answers: Mapping[str, Answer], options: Options) -> Decision:
        """The decision, as a patch of the Pod as it came. Raises UsageError.

        answers: for each of `questions`. options: `at_admission(..)`.
        """
        decision = decide(self.pod, self.own, answers, options)
        if STATES_TERMS in self.stated and any(item.narrows for item in self._added(decision, options)):
            decision = self._not_narrowed(answers, options)
        if self.own.left_alone or not (decision.patch or self.record.lines):
            return decision
        added = self._added(decision, options)
        same = sorted(item.line for item in added) == sorted(item.line for item in self.back)
        lines = lines_of(self.value, self.writer, added, self.record)
        annotation = annotated(self.value, self.writer, lines, self.record)
        if same and not annotation:
            if decision.outcome != "Change":
                return decision
            return decision.replace(outcome="AlreadySet", reason="an earlier pass added this", patch=())
        steps = taken_back(self.value, self.writer, self.back, self.record)
        patch = (*(() if same else (*steps, *decision.patch)), *annotation)
        if decision.patch or decision.outcome in ("Unresolved", "Conflict"):
            return decision.replace(patch=patch)
        reason = f"what an earlier pass added is taken back; {decision.reason}"
        return decision.replace(outcome="Change", reason=reason, patch=patch)

    def _not_narrowed(self, answers: Mapping[str, Answer], options: Options) -> Decision:
        """The decision without an expression for the required terms, and a warning that says so."""
        decision = decide(self.pod, self.own, answers, options.replace(affinity="never"))
        lacking = decision.removed
        warning = self.pod.result(
            "warning",
            f"it is applied with its own required node affinity, to which archfit adds nothing: add {ARCH} In "
            f"{listed(decision.reachable)} to it{because(lacking)}",
            REQUIRED_SET,
        )
        results = [warning if result.message == unsafe(lacking) else result for result in decision.results]
        if decision.outcome != "Change":
            decision = decision.replace(reason="its own required node affinity is not extended")
        return decision.replace(results=tuple(results))

    def _added(self, decision: Decision, options: Options) -> tuple[Item, ...]:
        """What the decision adds to the Pod without `back`."""
        if not decision.patch:
            return ()
        before = {"spec": _placement(self.pod.spec)}
        rules = rule_tolerations(options.tolerate)
        there = {item.line for item in items(before, self.writer, rules)}
        after = items(apply(before, decision.patch), self.writer, rules)
        return tuple(item for item in after if item.line not in there)


def _placement(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {field: spec[field] for field in LISTS if field in spec}


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
    record, stated = read_record(whole, writer), stated_lists(whole)
    back: tuple[Item, ...] = ()
    bare = whole
    if record.lines or record.others:
        there = items(whole, writer, rule_tolerations(options.tolerate))
        back = _own(there, whole, writer, record)
        steps = taken_back(whole, writer, back, record)
        bare = apply(whole, [*steps, Remove((*ANNOTATIONS, STAMP))])
    pods = find_pods(bare, _HERE)
    if len(pods) != 1 or pods[0].path != ("spec",) or (pods[0].group, pods[0].ref.kind) != ("", "Pod"):
        raise InvalidInput("the object is not a v1 Pod with a spec")
    pod = pods[0].replace(ref=pods[0].ref.replace(namespace=namespace))
    reason = _left_alone(pod)
    if reason:
        return AdmittedPod(pod, PodOptions(reason), ())
    metadata = {key: member for key, member in pod.object_metadata.items() if key != "ownerReferences"}
    pod = pod.replace(object_metadata=metadata)
    own = pod_options(pod, options)
    if STATES_TOLERATIONS in stated:
        own = own.replace(tolerate=())
    if STATES_PREFERENCES in stated:
        own = own.replace(prefer=())
    spec = _placement(mapping_of(whole.get("spec")))
    metadata = mapping_of(whole.get("metadata"))
    annotations = {"annotations": metadata["annotations"]} if "annotations" in metadata else {}
    part = {"metadata": annotations, "spec": spec}
    return AdmittedPod(pod, own, questions(pod, own), part, record, back, writer, stated)


def _own(
    there: Iterable[Item], value: Mapping[str, Any], writer: Writer, record: AddedRecord
) -> tuple[Item, ...]:
    """The items that the record names and that may be taken back.

    Of equal ones the first, as another webhook may have added one of them. No term of the Pod's own loses its last
    condition: archfit adds nothing to a term without any.
    """
    first = dict[str, Item]()
    for item in there:
        if item.line in record.lines:
            first.setdefault(item.line, item)
    own = tuple(first.values())
    if any(item.narrows for item in own) and entry(writer, REQUIRED_SET, {}) not in record.lines:
        bare = apply(value, taken_back(value, writer, own, record))
        own = tuple(item for item in own if not (item.narrows and is_empty(at(bare, (*TERMS, item.term)))))
    return own


def _left_alone(pod: Pod) -> str:
    controller = controller_of(pod.object_metadata)
    if controller.startswith("DaemonSet/"):
        return f"it is made for one node ({controller})"
    annotations = mapping_of(pod.object_metadata.get("annotations"))
    if text_of(annotations.get(MIRROR)):
        return "it shows a static pod, which already runs"
    return ""
