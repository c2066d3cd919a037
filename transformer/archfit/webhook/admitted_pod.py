"""One Pod as the API server admits it on CREATE, and what is decided for it.

It differs from a Pod in a stream:

    it is new                                     nothing of it is immutable yet: `immutable` is `full`
    it has a controller (ReplicaSet, Job)         which sets its template and does not change the pod: it is decided
    a DaemonSet controls it                       it is left alone: matchFields metadata.name chose its node
    annotation kubernetes.io/config.mirror        it is left alone: it shows a static pod, which already runs
    its RuntimeClass                              admission has merged nodeSelector and tolerations into it
    metadata.namespace may be missing             the request has it
    metadata.name may be missing                  the API server makes it from generateName after admission

It passes more than once: other webhooks change it in between. A later pass finds the tolerations and preferred terms
that an earlier one added (`added_record`), and decides for the Pod without them: others take their place; where the Pod
is Unresolved or in Conflict, they are taken back; where it opted out, they stay. A narrowing stays.

A list that the Pod states, if somebody applies it (`request_fields`), is not extended. Without an expression that it
needs in its required terms, the Pod may go to nodes that cannot run it, and a warning says so.

Source: kubernetes, pkg/registry/core/pod and pkg/controller/daemon/util; KEP-585 (RuntimeClass scheduling).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from archfit.base.errors import InvalidInput
from archfit.base.patch import Add, Remove, apply
from archfit.base.results import Decision, Location
from archfit.edit.stamp.annotation import ANNOTATIONS
from archfit.images.platforms import Answer
from archfit.options.settings import LISTS, Options
from archfit.placement.affinity import ARCH
from archfit.placement.annotations import STAMP
from archfit.placement.decide import decide
from archfit.placement.pod_patch import because, joined
from archfit.placement.pod_warnings import unsafe
from archfit.placement.selection import PodOptions, pod_options, questions
from archfit.startup.record import Record
from archfit.webhook.added_record import (
    REQUIRED_SET,
    AddedRecord,
    Item,
    Writer,
    annotated,
    items,
    read_record,
    record_text,
    recorded,
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

    pod: without what an earlier pass added. whole: with it. value: the part of it that a patch may touch, as it came.
    back: what of value is an earlier pass's. stated: `stated_lists(..)`.
    """

    pod: Pod
    own: PodOptions
    questions: tuple[str, ...]
    whole: Pod
    value: Mapping[str, Any] = MappingProxyType({})
    record: AddedRecord = AddedRecord(None)
    back: tuple[Item, ...] = ()
    writer: Writer = "webhook"
    stated: frozenset[Field] = frozenset()

    def decide(self, answers: Mapping[str, Answer], options: Options) -> Decision:
        """The decision, as a patch of the Pod as it came. Raises UsageError.

        answers: for each of `questions`. options: `at_admission(..)`.
        """
        decision = self._decided(self.pod, self.own, answers, options)
        if self.own.left_alone or not (decision.patch or self.record.entries):
            return decision
        added = self._added(decision, options)
        same = sorted(added) == sorted(item.entry for item in self.back)
        placed = (*taken_back(self.back), *decision.patch)
        if same:
            bare = self.own.replace(tolerate=(), prefer=())
            placed = self._decided(self.whole, bare, answers, options).patch if self.back else decision.patch
        text = record_text(self.writer, self.record.images, added)
        patch = (*placed, *annotated(self.value, text, self.record))
        if not patch and decision.outcome == "Change":
            return decision.replace(outcome="AlreadySet", reason="an earlier pass added this", patch=())
        if not patch or decision.patch or decision.outcome in ("Unresolved", "Conflict"):
            return decision.replace(patch=patch)
        reason = f"what an earlier pass added is taken back; {decision.reason}"
        return decision.replace(outcome="Change", reason=reason, patch=patch)

    def _decided(
        self, pod: Pod, own: PodOptions, answers: Mapping[str, Answer], options: Options
    ) -> Decision:
        """The decision for the pod; without an expression for its required terms, where it states them."""
        decision = decide(pod, own, answers, options)
        if STATES_TERMS not in self.stated or not any(
            isinstance(step, Add) and step.path[: len(REQUIRED_SET)] == REQUIRED_SET
            for step in decision.patch
        ):
            return decision
        decision = decide(pod, own, answers, options.replace(affinity="never"))
        lacking = decision.removed
        warning = pod.message(
            "warning",
            f"it is applied with its own required node affinity, to which archfit adds nothing: add {ARCH} In "
            f"{joined(decision.reachable)} to it{because(lacking)}",
            REQUIRED_SET,
        )
        messages = [warning if message.text == unsafe(lacking) else message for message in decision.messages]
        if decision.outcome != "Change":
            decision = decision.replace(reason="its own required node affinity is not extended")
        return decision.replace(messages=tuple(messages))

    def _added(self, decision: Decision, options: Options) -> list[str]:
        """The entries of the tolerations and preferred terms that the decision adds to the Pod without `back`."""
        if not decision.patch:
            return []
        before = {"spec": _placement(self.pod.spec)}
        there = items(before, options.tolerate)
        after = items(apply(before, decision.patch), options.tolerate)
        return list(
            (Counter(item.entry for item in after) - Counter(item.entry for item in there)).elements()
        )


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
    came = typed(dict(value))
    record, stated = read_record(came, writer), stated_lists(came)
    back = recorded(items(came, options.tolerate), record) if record.entries else ()
    unrecorded = came if record.text is None else apply(came, [Remove((*ANNOTATIONS, STAMP))])
    pod = whole = _pod(unrecorded, namespace)
    if back:
        pod = _pod(apply(unrecorded, taken_back(back)), namespace)
    reason = _left_alone(pod)
    if reason:
        return AdmittedPod(pod, PodOptions(reason), (), whole)
    pod, whole = _without_owners(pod), _without_owners(whole)
    own = pod_options(pod, options)
    if record.settled or STATES_TOLERATIONS in stated:
        own = own.replace(tolerate=())
    if record.settled or STATES_PREFERENCES in stated:
        own = own.replace(prefer=())
    spec = _placement(mapping_of(came.get("spec")))
    metadata = mapping_of(came.get("metadata"))
    annotations = {"annotations": metadata["annotations"]} if "annotations" in metadata else {}
    part = {"metadata": annotations, "spec": spec}
    return AdmittedPod(pod, own, questions(pod, own), whole, part, record, back, writer, stated)


def _pod(value: Mapping[str, Any], namespace: str) -> Pod:
    pods = find_pods(value, _HERE)
    if len(pods) != 1 or pods[0].path != ("spec",) or (pods[0].group, pods[0].ref.kind) != ("", "Pod"):
        raise InvalidInput("the object is not a v1 Pod with a spec")
    return pods[0].replace(ref=pods[0].ref.replace(namespace=namespace))


def _without_owners(pod: Pod) -> Pod:
    metadata = {key: member for key, member in pod.object_metadata.items() if key != "ownerReferences"}
    return pod.replace(object_metadata=metadata)


def _left_alone(pod: Pod) -> str:
    controller = controller_of(pod.object_metadata)
    if controller.startswith("DaemonSet/"):
        return f"it is made for one node ({controller})"
    annotations = mapping_of(pod.object_metadata.get("annotations"))
    if text_of(annotations.get(MIRROR)):
        return "it shows a static pod, which already runs"
    return ""
