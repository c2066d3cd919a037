"""`archfit policy --check [FILE|-]..`: the installed policy's answers beside archfit's own decisions.

manifests ── pods ──┬── kubectl create --dry-run=server ── with the policy ───────────────────┐
                    └── the same with archfit.dev/skip ── admitted_pod ── lookup ── decide ── compare ── report

exit    0  every pod is as archfit would place it, or is left alone for a documented reason
        1  no policy is installed, the cluster cannot be asked, it refused a pod for another reason, an image
           cannot be looked up, or there was no pod to compare
        3  a pod differs

`policy.installed.dry_run` makes the pods and sends them. What can be found about each:

    the API server's pod is ..                             outcome
    as archfit's patch of the pod without the policy       same
    as the pod without the policy, for a listed reason     left-alone
    anything else                                          different
    not admitted, or made by an operator; or archfit       not-compared
      itself cannot decide

Placement is nodeSelector, the required and preferred node affinity, and the tolerations, whose order means nothing.

The report, as text or as JSON:

    different: apps/v1/Deployment/shop/web (web.yaml, document 2, line 14): archfit adds .., and the policy adds nothing
    left alone: batch/v1/Job/shop/once (..): its namespace is left out
    not compared: ..
    policy archfit.dev: 12 pods: 9 as archfit would place them, 1 different, 1 left alone, 1 not compared
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Literal, TextIO, TypeAlias

from archfit import __version__
from archfit.admission.admitted_pod import AdmittedPod, admitted_pod, at_admission
from archfit.base import standard_streams
from archfit.base.patch import apply
from archfit.base.printable import count, visible
from archfit.base.results import Decision, Location, ObjectRef, Result, has_error
from archfit.cli.inputs.command_inputs import check_objects, in_file, manifests_of
from archfit.cli.invocation import Invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.cluster.checks import kubectl_of
from archfit.options.placement_fields import PREFERRED, REQUIRED
from archfit.options.settings import Options, Settings
from archfit.policy.cel.left_alone import reason
from archfit.policy.cel.policy_settings import PolicySettings
from archfit.policy.installed.dry_run import SKIP, Admitted, SamplePod, admitted, sample_pods
from archfit.policy.installed.installed_policy import Installed, installed
from archfit.reports.summary import failure, lines
from archfit.run import Run
from archfit.startup.record import Record
from archfit.yaml.json_output import json_output, location_value, object_value
from archfit.yaml.values import mapping_of, plain, typed

_WORDS = {"different": "different", "left-alone": "left alone", "not-compared": "not compared"}


class ComparedPod(Record):
    """One pod. file: "" for standard input. outcome: same, left-alone, different or not-compared; reason: in words.

    expected, actual: placement, where they differ.
    """

    ref: ObjectRef
    file: str
    location: Location
    outcome: str
    reason: str
    expected: dict[str, Any] | None = None
    actual: dict[str, Any] | None = None


def as_text(name: str, pods: Sequence[ComparedPod]) -> bytes:
    """The check for a terminal. name: of the policy."""
    lines = []
    for outcome, words in _WORDS.items():
        lines += [
            f"{words}: {pod.ref} ({pod.location.replace(file=pod.file)}): {pod.reason}"
            for pod in pods
            if pod.outcome == outcome
        ]
    number = Counter(pod.outcome for pod in pods)
    parts = [f"{number['same']} as archfit would place {'it' if number['same'] == 1 else 'them'}"]
    parts += [f"{number[outcome]} {words}" for outcome, words in _WORDS.items() if number[outcome]]
    found = (
        f"{count(len(pods), 'pod')}: {', '.join(parts)}"
        if pods
        else "the input has no pod, so nothing was compared"
    )
    lines.append(f"policy {name}: {found}")
    return "".join(f"{visible(line)}\n" for line in lines).encode()


def as_json(name: str, pods: Sequence[ComparedPod]) -> bytes:
    """The check as one JSON object."""
    return json_output({"archfit": __version__, "policy": name, "pods": [_value(pod) for pod in pods]})


def _value(pod: ComparedPod) -> dict[str, Any]:
    return {
        "object": object_value(pod.ref),
        **({"file": pod.file} if pod.file else {}),
        "location": location_value(pod.location),
        "outcome": pod.outcome,
        "reason": pod.reason,
        **({"expected": pod.expected, "actual": pod.actual} if pod.expected is not None else {}),
    }


_COMMAND = BY_NAME["policy"]
OPERATOR = "its operator makes the pods, so archfit does not know them"


def run(
    invocation: Invocation,
    settings: PolicySettings,
    stdin: BinaryIO,
    stdout: BinaryIO,
    stderr: TextIO,
    environ: Mapping[str, str],
) -> int:
    """The check. The exit code; raises ArchfitError."""
    flags, own = invocation.flags, _settings(invocation.settings)
    inputs = manifests_of(invocation, (stdin, stderr, environ), own.options)
    check_objects(inputs)
    results = [
        in_file(result, manifests.name)
        for manifests in inputs
        for result in (*manifests.results, *manifests.inventory.results)
    ]
    if has_error(results):
        stderr.writelines(f"{line}\n" for line in (*lines(results), failure(results)))
        return 1
    samples = [
        (manifests.name, pod) for manifests in inputs for pod in sample_pods(manifests.inventory.documents)
    ]
    kubectl = kubectl_of(flags, environ)
    policy = installed(kubectl, settings)
    answers = iter(admitted(kubectl, [pod for _, pod in samples]))
    pairs = [(name, pod, next(answers) if pod.value is not None else None) for name, pod in samples]
    one = Run(f"{_COMMAND.program} --check", own, environ, stderr)
    try:
        found, messages = _compared(pairs, policy, own.options, one)
    finally:
        one.close()
    standard_streams.write(
        stdout, [as_json(settings.name, found) if flags.format == "json" else as_text(settings.name, found)]
    )
    one.write_messages(lines([*results, *messages]))
    return exit_code(found)


def exit_code(pods: Sequence[ComparedPod]) -> int:
    """See the module. Pods of operators are not compared, and fail nothing beside others."""
    if any(pod.outcome == "different" for pod in pods):
        return 3
    open_questions = any(pod.outcome == "not-compared" and pod.reason != OPERATOR for pod in pods)
    return 1 if open_questions or all(pod.outcome == "not-compared" for pod in pods) else 0


def _compared(
    pairs: list[tuple[str, SamplePod, Admitted | None]], policy: Installed, options: Options, one: Run
) -> tuple[list[ComparedPod], list[Result]]:
    """What was found about each pod, and messages."""
    decided: dict[int, AdmittedPod] = {}
    for at, (_, pod, answer) in enumerate(pairs):
        if answer and not answer.refused and answer.skipped:
            decided[at] = admitted_pod(
                _as_before(answer.skipped, pod), answer.skipped["metadata"]["namespace"], options, "policy"
            )
    texts = list(dict.fromkeys(text for each in decided.values() for text in each.questions))
    answers = one.answers([], texts)
    table = policy.table()
    found = []
    results = list(one.messages)
    for at, (name, pod, answer) in enumerate(pairs):
        if at not in decided or answer is None or answer.plain is None or answer.skipped is None:
            outcome = Compared("not-compared", answer.refused if answer else OPERATOR)
        else:
            decision = decided[at].decide(answers, options)
            results += decision.results
            metadata = answer.skipped["metadata"]
            labels = mapping_of(metadata.get("labels"))
            left_alone = policy.leaves_out(metadata["namespace"], labels) or reason(
                decided[at], options, table, decision.patch
            )
            outcome = compared(answer.plain, answer.skipped, decision, left_alone)
        found.append(
            ComparedPod(
                pod.ref, name, pod.location, outcome.outcome, outcome.reason, outcome.expected, outcome.actual
            )
        )
    return found, results


def _as_before(skipped: Mapping[str, Any], pod: SamplePod) -> dict[str, Any]:
    """The pod without the policy, as its admission saw it: with its own annotations, and not yet with a name."""
    metadata = {key: value for key, value in skipped["metadata"].items() if key != "name"}
    annotations = {key: value for key, value in metadata.get("annotations", {}).items() if key != SKIP}
    own = (pod.value or {})["metadata"].get("annotations", {})
    metadata["annotations"] = annotations | ({SKIP: own[SKIP]} if SKIP in own else {})
    return {**skipped, "metadata": metadata}


def _settings(settings: Settings) -> Settings:
    """Those of the run, for pods that are new; what cannot be decided is left alone, as the policy leaves it."""
    options = at_admission(settings.options).replace(on_conflict="leave", on_absent="leave")
    if options.on_unknown == "fail":
        options = options.replace(on_unknown="leave")
    return settings.replace(options=options)


Outcome: TypeAlias = Literal["same", "left-alone", "different", "not-compared"]


class Compared(Record):
    """What was found about one pod. reason: in words. expected, actual: placement, where they differ."""

    outcome: Outcome
    reason: str
    expected: dict[str, Any] | None = None
    actual: dict[str, Any] | None = None


def compared(
    actual: dict[str, Any], skipped: dict[str, Any], decision: Decision, left_alone: str
) -> Compared:
    """The policy's answer. actual: with the policy. skipped: the pod without it. decision: archfit's, about `skipped`.

    left_alone: why the policy does not touch it, "" if it should.
    """
    patched = plain(apply(typed(skipped), decision.patch))
    before, wanted, found = placement(skipped), placement(patched), placement(actual)
    if found == wanted:
        return Compared("same", decision.reason)
    if decision.outcome == "Unresolved":
        return Compared("not-compared", f"archfit cannot decide: {decision.reason}")
    if found == before and left_alone:
        return Compared("left-alone", left_alone, wanted, found)
    if found == before:
        return Compared(
            "different", f"archfit adds {_added(before, wanted)}, and the policy adds nothing", wanted, found
        )
    if wanted == before:
        return Compared(
            "different", f"archfit adds nothing, and the policy adds {_added(before, found)}", wanted, found
        )
    return Compared(
        "different",
        f"archfit adds {_added(before, wanted)}, and the policy adds {_added(before, found)}",
        wanted,
        found,
    )


def placement(pod: dict[str, Any]) -> dict[str, Any]:
    """What places a pod, in one spelling for all that means the same."""
    spec = mapping_of(pod.get("spec"))
    affinity = mapping_of(mapping_of(spec.get("affinity")).get("nodeAffinity"))
    tolerations = [
        {"operator": "Equal", **{key: value for key, value in one.items() if value not in {"", None}}}
        for one in spec.get("tolerations") or ()
    ]
    found = {
        "nodeSelector": spec.get("nodeSelector"),
        REQUIRED: affinity.get(REQUIRED),
        PREFERRED: affinity.get(PREFERRED),
        "tolerations": sorted(tolerations, key=_canonical),
    }
    return {key: value for key, value in found.items() if value}


def _added(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What one placement has and the other has not, in a few words."""
    return "; ".join(_differences(before, after)) or "nothing"


def _differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    known = [_canonical(one) for one in before.get("tolerations", ())]
    for toleration in after.get("tolerations", ()):
        if _canonical(toleration) not in known:
            yield f"the toleration {_canonical(toleration)}"
    for name in (REQUIRED, PREFERRED, "nodeSelector"):
        if after.get(name) != before.get(name):
            yield f"{name} {_canonical(after.get(name))}"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
