"""The judge of policies: the API server's own CEL compiler, evaluator and patcher, without a server (tests/judges/cel).

judge.compile(objects)      what the API server would refuse of a policy and its companion
judge.admit(pod, "shop")    the pod as the policy leaves it, and what the companion then warns of
decided(pod, ..)            the pod as archfit's own decision leaves it, with the lock file alone for answers
outcome(judge, pod, ..)     raises where the two differ
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import machine
from admission_reviews import NOT_REQUESTED
from archfit.base.patch import apply
from archfit.base.results import Decision
from archfit.images.overrides import override
from archfit.images.platforms import Absent, Answer, Found
from archfit.images.reference import parse
from archfit.options.settings import Options
from archfit.webhook.added_record import NAME
from archfit.webhook.admitted_pod import admitted_pod, at_admission
from archfit.yaml.values import plain, typed
from line_judge import LineJudge
from pod_decisions import ARCH, terms_of

OLDEST = "1.33"
"""What the API server of the oldest supported Kubernetes, 1.34, checks a new policy as."""
ALONE, UNFIT, UNKNOWN = "archfit leaves pod ", " may go to ", "archfit does not know where "
_ADDS_NOTHING, _OWN_TERMS = "no toleration and no preference is added", "with its own required node affinity"
_UNKNOWN = f"{_ADDS_NOTHING} (--on-"
_BINDING = "ValidatingAdmissionPolicyBinding"


class Admitted(NamedTuple):
    """What became of a pod. error: what the API server ignored, "" for nothing. warnings: of the companion."""

    pod: dict[str, Any]
    matches: bool
    error: str
    shown: dict[str, Any]
    warnings: Sequence[str]


class PolicyJudge(LineJudge):
    def compile(
        self, objects: Sequence[Mapping[str, Any]], version: str = OLDEST, *, denying: bool = False
    ) -> list[str]:
        """The errors of the policy among the objects and of its companion; later pods are admitted by them.

        denying: by the binding that refuses: its `warnings` are why a pod is refused.
        """
        kinds = {one["kind"]: one for one in reversed(objects)}
        bindings = [one for one in objects if one["kind"] == _BINDING]
        question = {
            "policy": kinds["MutatingAdmissionPolicy"],
            "params": kinds.get("PlatformTable"),
            "companion": kinds.get("ValidatingAdmissionPolicy"),
            "own": kinds.get("PlatformTable") or (bindings and bindings[-1 if denying else 0]) or None,
            "version": version,
        }
        errors: list[str] = self.ask(question)["errors"]
        return errors

    def admit(self, pod: Any, namespace: str = "shop", *show: str) -> Admitted:
        """show: names of variables whose values are wanted."""
        found = self.ask({"pod": pod, "namespace": namespace, "show": show})
        if "pod" not in found:
            raise AssertionError(f"the judge does not take the pod: {found['error']}")
        rest = (found["matches"], found.get("error", ""), found.get("shown", {}))
        return Admitted(found["pod"], *rest, found["warnings"] or ())

    def normalised(self, pod: Any) -> dict[str, Any]:
        made: dict[str, Any] = self.ask({"pod": pod, "normalise": True})["pod"]
        return made


def judge_binary() -> Path:
    return machine.go_build(machine.ROOT / "tests" / "judges" / "cel", "cel-judge")


def outcome(
    judge: PolicyJudge,
    pod: dict[str, Any],
    images: Mapping[str, Found],
    options: Options,
    namespace: str = "shop",
) -> str:
    """The outcome of archfit's decision, or why the policy leaves the pod alone. images: of the lock file.

    Raises AssertionError where the compiled policy does anything else than archfit, or more when it is asked again,
    or where its companion says anything else of the pod.
    """
    admitted = judge.admit(pod, namespace, "leftAlone")
    assert admitted.error == "", (admitted.error, pod)
    reason: str = admitted.shown["leftAlone"]
    said = {kind for kind in (ALONE, UNFIT, UNKNOWN) for text in admitted.warnings if kind in text}
    if reason:
        assert admitted.pod == judge.normalised(pod), pod
        assert not admitted.matches or f"alone ({reason}): " in admitted.warnings[0], (pod, admitted.warnings)
        return f"left alone: {reason}"
    decision, after = decided(pod, images, options, namespace)
    assert admitted.pod == judge.normalised(after), (options, pod, admitted.pod["spec"], after["spec"])
    complaints = _complaints(decision, pod, after, options) if admitted.matches else set()
    assert said == complaints, (pod, admitted.warnings, decision.messages, options)
    if decision.outcome == "Change":
        assert judge.admit(admitted.pod, namespace).pod == admitted.pod, ("a second time", options, pod)
        later = _injected(pod, admitted.pod)
        _, after = decided(later, images, options, namespace)
        last = judge.admit(later, namespace).pod
        assert last == judge.normalised(after), ("a later pass", options, later, last["spec"], after["spec"])
    return decision.outcome


def _injected(pod: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    """The pod after a pass, as another webhook changes it in the same request: a sidecar, or another image."""
    random = Random(str(pod))
    entries = deepcopy(pod["metadata"].get("managedFields", [NOT_REQUESTED]))
    for one in entries:
        one["fieldsV1"]["f:metadata"].get("f:annotations", {}).pop(f"f:{NAME}", None)
    container, *others = first["spec"]["containers"]
    late = {**container, "image": f"quay.io/team/{random.choice(('both', 'amd', 'arm', 'new'))}:1"}
    more = [container, {**late, "name": "late"}] if random.random() < 0.5 else [late]
    metadata = {**first["metadata"], "managedFields": entries}
    return {**first, "metadata": metadata, "spec": {**first["spec"], "containers": [*more, *others]}}


def _complaints(decision: Decision, pod: dict[str, Any], after: dict[str, Any], options: Options) -> set[str]:
    """What the companion has to say of a pod that the policy decides."""
    somewhere = any(_allows(pod["spec"], name) for name in options.cluster_architectures)
    conflict = decision.outcome == "Conflict" and somewhere
    unfit = conflict or any(_OWN_TERMS in one.text for one in decision.messages)
    # Beside a record it names each one: a webhook added it late. Else not `auto`, which Istio or nobody fills in.
    late = NAME in after["metadata"].get("annotations", {})
    unknown = any(
        (_ADDS_NOTHING if late else _UNKNOWN) in one.text and (late or one.image != "auto")
        for one in decision.messages
    )
    return ({UNFIT} if unfit else set()) | ({UNKNOWN} if unknown else set())


def _allows(spec: dict[str, Any], architecture: str) -> bool:
    """Whether nodeSelector and one of the required terms let it through, in the words that the policy decides."""
    terms = [term.get("matchExpressions", ()) for term in terms_of(spec) or [{"matchFields": []}] if term]
    return spec.get("nodeSelector", {}).get(ARCH, architecture) == architecture and any(
        all(
            one["key"] != ARCH or (one["operator"] == "In") == (architecture in one["values"]) for one in term
        )
        for term in terms
    )


def decided(
    pod: dict[str, Any], images: Mapping[str, Found], options: Options, namespace: str = "shop"
) -> tuple[Decision, dict[str, Any]]:
    """Archfit's own decision for the pod, and the pod after its patch.

    images: of the lock file. What it lacks is left, whatever the options say: nobody else can answer.
    """
    options = at_admission(options).replace(on_absent="leave", on_conflict="leave")
    if options.on_unknown == "fail":
        options = options.replace(on_unknown="leave")
    admitted = admitted_pod(pod, namespace, options, "policy")
    answers = {text: answered(text, images, options) for text in admitted.questions}
    decision = admitted.decide(answers, options.replace(image_platforms=()))
    return decision, plain(apply(typed(pod), decision.patch))


def answered(text: str, images: Mapping[str, Found], options: Options) -> Answer:
    """What the policy knows of an image: overrides count for those of the lock file."""
    reference = parse(text)
    known = images.get(reference.normalised)
    if known is None:
        return Absent("the lock file lacks it")
    return override(reference, options.image_platforms) or known
