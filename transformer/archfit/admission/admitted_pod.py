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

Source: kubernetes, pkg/registry/core/pod and pkg/controller/daemon/util; KEP-585 (RuntimeClass scheduling).
"""

from __future__ import annotations

from collections.abc import Mapping

from archfit.errors import InvalidInput
from archfit.images.platforms import Answer
from archfit.options.settings import Options
from archfit.placement.decide import decide
from archfit.placement.questions import questions
from archfit.placement.selection import PodOptions, pod_options
from archfit.record import Record
from archfit.results import Decision, Location
from archfit.source.values import mapping_of, text_of, typed
from archfit.typing_names import Any
from archfit.workloads.owner import controller_of
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.pods import Pod

MIRROR = "kubernetes.io/config.mirror"
_HERE = Location(1, 1)


class AdmittedPod(Record):
    """A Pod at admission, with its options. questions: the image strings that have to be looked up."""

    pod: Pod
    own: PodOptions
    questions: tuple[str, ...]

    def decide(self, answers: Mapping[str, Answer], options: Options) -> Decision:
        """The decision. answers: for each of `questions`. options: `at_admission(..)`. Raises UsageError."""
        return decide(self.pod, self.own, answers, options)


def at_admission(options: Options) -> Options:
    """The options of a run, for pods that are new."""
    return options.replace(immutable="full", stamp=False)


def admitted_pod(value: Mapping[str, Any], namespace: str, options: Options) -> AdmittedPod:
    """A Pod as decoded from JSON. namespace: of the request. options: `at_admission(..)`.

    Raises InvalidInput where it is no Pod with a spec.
    """
    found = find_pods(typed(dict(value)), _HERE)
    if len(found) != 1 or found[0].path != ("spec",) or (found[0].group, found[0].ref.kind) != ("", "Pod"):
        raise InvalidInput("the object is not a v1 Pod with a spec")
    pod = found[0].replace(ref=found[0].ref.replace(namespace=namespace))
    reason = _left_alone(pod)
    if reason:
        return AdmittedPod(pod, PodOptions(reason), ())
    metadata = {key: member for key, member in pod.object_metadata.items() if key != "ownerReferences"}
    pod = pod.replace(object_metadata=metadata)
    own = pod_options(pod, options)
    return AdmittedPod(pod, own, questions(pod, own))


def _left_alone(pod: Pod) -> str:
    controller = controller_of(pod.object_metadata)
    if controller.startswith("DaemonSet/"):
        return f"it is made for one node ({controller})"
    annotations = mapping_of(pod.object_metadata.get("annotations"))
    if text_of(annotations.get(MIRROR)):
        return "it shows a static pod, which already runs"
    return ""
