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
from archfit.base.errors import UsageError
from archfit.base.patch import apply
from archfit.base.results import Decision
from archfit.images.platforms import Absent, Found, Unknown
from archfit.lookup.lockfile import Lock
from archfit.options.settings import Operator, Options
from archfit.policy.cel.left_alone import LEFT_ALONE
from archfit.webhook.admitted_pod import admitted_pod, at_admission
from archfit.yaml.values import plain, typed
from line_judge import LineJudge
from lookup_runs import lookup_with

# Left alone by archfit too, where nothing but the lock file may answer.
_AS_ARCHFIT = {"unlisted-image"}
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
    made: str
    try:
        decision, after = decided(pod, images, options, namespace)
        made = decision.outcome
    except UsageError:
        made, after = "overrides that disagree", pod
    admitted = judge.admit(pod, namespace, "leftAlone")
    assert admitted.error == "", pod
    reasons = set(admitted.shown["leftAlone"])
    if reasons - _AS_ARCHFIT:
        assert reasons < {one.id for one in LEFT_ALONE}
        assert admitted.pod == judge.normalised(pod), pod
        return f"left alone: {', '.join(reasons)}"
    assert admitted.pod == judge.normalised(after), (options, pod)
    if made == "Change":
        assert judge.admit(admitted.pod, namespace).pod == admitted.pod, ("a second time", options, pod)
    return made


def decided(
    pod: dict[str, Any], images: Mapping[str, Found], options: Options, namespace: str = "shop"
) -> tuple[Decision, dict[str, Any]]:
    """Archfit's own decision for the pod, and the pod after its patch.

    images: of the lock file. What it lacks is left, whatever the options say: nobody else can answer.
    """
    options = at_admission(options).replace(on_absent="leave")
    if options.on_unknown == "fail":
        options = options.replace(on_unknown="leave")
    admitted = admitted_pod(pod, namespace, options, "policy")
    lock = Lock("archfit.lock", images, only=True)
    lookup = lookup_with(Operator(), Options(image_platforms=options.image_platforms), lock=lock)
    answers = {
        text: Absent(answer.cause) if isinstance(answer, Unknown) else answer
        for text, answer in lookup.resolve(admitted.questions).items()
    }
    decision = admitted.decide(answers, options)
    return decision, plain(apply(typed(pod), decision.patch))
