"""The judge of policies: the API server's own CEL compiler, evaluator and patcher, without a server (tests/judges/cel).

judge.compile(policy)       what the API server would refuse of a MutatingAdmissionPolicy
judge.admit(pod, "shop")    the pod as the policy leaves it
decided(pod, ..)            the pod as archfit's own decision leaves it, with the lock file alone for answers
outcome(judge, pod, ..)     raises where the two differ
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import machine
from archfit.base.patch import apply
from archfit.base.results import Decision
from archfit.images.overrides import override
from archfit.images.platforms import Absent, Answer, Found
from archfit.images.reference import parse
from archfit.options.settings import Options
from archfit.webhook.admitted_pod import admitted_pod, at_admission
from archfit.yaml.values import plain, typed
from line_judge import LineJudge

OLDEST = "1.33"
"""What the API server of the oldest supported Kubernetes, 1.34, checks a new policy as."""


class Admitted(NamedTuple):
    """What became of a pod. error: what the API server ignored, "" for nothing. cost: as CEL counts it."""

    pod: dict[str, Any]
    matches: bool
    error: str
    cost: int
    shown: dict[str, Any]


class PolicyJudge(LineJudge):
    def compile(self, objects: Sequence[dict[str, Any]], version: str = OLDEST) -> list[str]:
        """The errors of the policy among the objects; later pods are admitted by it."""
        (policy,) = (one for one in objects if one["kind"] == "MutatingAdmissionPolicy")
        params = next((one for one in objects if one["kind"] == "PlatformTable"), None)
        errors: list[str] = self.ask({"policy": policy, "params": params, "version": version})["errors"]
        return errors

    def admit(self, pod: Any, namespace: str = "shop", *show: str) -> Admitted:
        """show: names of variables whose values are wanted."""
        found = self.ask({"pod": pod, "namespace": namespace, "show": show})
        if "pod" not in found:
            raise AssertionError(f"the judge does not take the pod: {found['error']}")
        return Admitted(
            found["pod"], found["matches"], found.get("error", ""), found["cost"], found.get("shown", {})
        )

    def normalised(self, pod: Any) -> dict[str, Any]:
        made: dict[str, Any] = self.ask({"pod": pod, "normalise": True})["pod"]
        return made

    def read(self, expression: str, made: Sequence[str] = ()) -> tuple[list[str], int]:
        """What is wrong with the values of its JSONPatch operations, and its size in code points.

        made: the variables that hold no part of the pod.
        """
        found = self.ask({"read": expression, "made": made})
        return found["errors"], found["code_points"]


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

    Raises AssertionError where the compiled policy does anything else than archfit, or more when it is asked again.
    """
    admitted = judge.admit(pod, namespace, "leftAlone")
    assert admitted.error == "", (admitted.error, pod)
    reason: str = admitted.shown["leftAlone"]
    if reason:
        assert admitted.pod == judge.normalised(pod), pod
        return f"left alone: {reason}"
    decision, after = decided(pod, images, options, namespace)
    assert admitted.pod == judge.normalised(after), (options, pod, admitted.pod["spec"], after["spec"])
    if decision.outcome == "Change":
        assert judge.admit(admitted.pod, namespace).pod == admitted.pod, ("a second time", options, pod)
    return decision.outcome


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
