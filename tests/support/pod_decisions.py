"""Pods, answers and decisions in few words, for the tests of placement.

decided({"containers": [...]}, {"app:1": "amd64 arm64"})    the decision and the pod spec after it
images "amd64 windows/amd64"                                a Found index with linux/amd64 and windows/amd64
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from archfit.base import patch
from archfit.base.results import Decision, Location
from archfit.images.platforms import Answer, Found, parse_platform
from archfit.options.settings import Options
from archfit.placement.decide import decide
from archfit.placement.selection import pod_options, questions
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.pods import Pod

ARCH = "kubernetes.io/arch"
BETA = "beta.kubernetes.io/arch"
OS = "kubernetes.io/os"
GKE = {"key": ARCH, "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
DEFAULT = Options()

_KINDS = {
    "Pod": ("v1", ("spec",)),
    "Deployment": ("apps/v1", ("spec", "template", "spec")),
    "DaemonSet": ("apps/v1", ("spec", "template", "spec")),
    "Job": ("batch/v1", ("spec", "template", "spec")),
    "CronJob": ("batch/v1", ("spec", "jobTemplate", "spec", "template", "spec")),
}


class Outcome(NamedTuple):
    """A decision, the pod it is about, and the object and pod spec that its patch makes."""

    decision: Decision
    pod: Pod
    object: dict[str, Any]
    spec: dict[str, Any]

    @property
    def name(self) -> str:
        return self.decision.outcome

    @property
    def messages(self) -> list[str]:
        return [f"{result.severity}: {result.text}" for result in self.decision.messages]

    @property
    def added(self) -> dict[str, Any]:
        """The members of the pod spec that decide its place, but for what an untouched spec has."""
        return {name: self.spec[name] for name in ("affinity", "tolerations") if name in self.spec}


def found(platforms: str, **fields: Any) -> Found:
    """Found from words such as `amd64`, `arm/v7` or `windows/amd64`; `linux/` is implied."""
    known = {"linux", "windows", "wasi", "wasip1", "freebsd", "darwin"}
    texts = [word if word.split("/")[0] in known else f"linux/{word}" for word in platforms.split()]
    return Found(tuple(sorted(map(parse_platform, texts), key=str)), **{"digest": "sha256:0", **fields})


def answers(images: dict[str, str | Answer]) -> dict[str, Answer]:
    return {text: found(answer) if isinstance(answer, str) else answer for text, answer in images.items()}


def using(*images: str) -> dict[str, Any]:
    """A pod spec with one container for each image."""
    return {"containers": [{"name": f"c{index}", "image": image} for index, image in enumerate(images)]}


def an_object(
    spec: dict[str, Any],
    kind: str = "Deployment",
    metadata: dict[str, Any] | None = None,
    object_metadata: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """metadata: of the pod template; object_metadata: of the object (both are one for a Pod)."""
    api_version, path = _KINDS[kind]
    own = {"name": "web", "namespace": "shop", **(object_metadata or {})}
    made: dict[str, Any] = {"apiVersion": api_version, "kind": kind, "metadata": own}
    holder = made
    for token in path[:-1]:
        holder = holder.setdefault(token, {})
    holder[path[-1]] = spec
    if metadata:
        holder.setdefault("metadata", {}).update(metadata)
    return made


def pod_of(made: dict[str, Any]) -> Pod:
    (pod,) = find_pods(made, Location(1, 1))
    return pod


def a_pod(spec: dict[str, Any], kind: str = "Deployment", **metadata: Any) -> Pod:
    return pod_of(an_object(spec, kind, **metadata))


def decision_for(pod: Pod, known: Mapping[str, Answer], options: Options = DEFAULT) -> Decision:
    """The decision for a pod, with the options of the run, its rules and its annotations."""
    return decide(pod, pod_options(pod, options), known, options)


def questions_of(pod: Pod, options: Options = DEFAULT) -> tuple[str, ...]:
    """The images to look up for a pod."""
    return questions(pod, pod_options(pod, options))


def decided(
    spec: dict[str, Any],
    images: dict[str, str | Answer],
    options: Options = DEFAULT,
    kind: str = "Deployment",
    **metadata: Any,
) -> Outcome:
    """Decides, and applies the patch."""
    made = an_object(spec, kind, **metadata)
    pod = pod_of(made)
    decision = decision_for(pod, answers(images), options)
    assert bool(decision.patch) == (decision.outcome == "Change")
    after = patch.apply(made, decision.patch)
    return Outcome(decision, pod, after, pod_of(after).spec)


def one(platforms: str, options: Options = DEFAULT, kind: str = "Deployment", **fields: Any) -> Outcome:
    """A pod with the one image `app:1`, and whatever other fields of the pod spec are given."""
    return decided({**using("app:1"), **fields}, {"app:1": platforms}, options, kind)


def term(*expressions: Any, **more: Any) -> dict[str, Any]:
    """A required term from (key, operator, values) or (key, operator)."""
    made = [dict(zip(("key", "operator", "values"), one, strict=False)) for one in expressions]
    return {"matchExpressions": made, **more}


def in_(*architectures: str) -> tuple[str, str, list[str]]:
    return (ARCH, "In", list(architectures))


def requiring(*terms: Any) -> dict[str, Any]:
    """`affinity` with these required terms."""
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


def terms_of(spec: dict[str, Any]) -> Any:
    """The required terms of a pod spec, None where it has no required set."""
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED)
    return None if required is None else required["nodeSelectorTerms"]
