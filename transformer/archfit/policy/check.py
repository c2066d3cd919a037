"""`archfit policy --check [FILE|-]..`: the installed policy's answers beside archfit's own decisions.

Each pod of the manifests goes to the API server as a dry run, as it is, and with archfit.dev/skip: of that pod archfit
decides itself.

exit    0  every pod is as archfit would place it, or is left alone for a documented reason
        1  no policy is installed, the cluster cannot be asked, it refused a pod for another reason, an image
           cannot be looked up, or there was no pod to compare
        3  a pod differs

Placement is nodeSelector, the required and preferred node affinity, and the tolerations, whose order means nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, BinaryIO, TextIO, TypeAlias

from archfit.base import standard_streams
from archfit.base.patch import apply
from archfit.base.printable import count, visible
from archfit.base.results import Decision, Message, has_error
from archfit.cli.inputs.command_inputs import manifests_of
from archfit.cli.invocation import Invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.cluster.cluster_connection import SECONDS
from archfit.cluster.kubectl import Kubectl
from archfit.images.reference import parse
from archfit.options.settings import PREFERRED, REQUIRED, Options, Settings
from archfit.policy.installed.dry_run import SKIP, Admitted, SamplePod, admitted, sample_pods
from archfit.policy.installed.installed_policy import Installed, installed
from archfit.policy.settings import PolicySettings
from archfit.policy.table import Table
from archfit.reports.summary import failure, lines
from archfit.run import Run
from archfit.startup.record import Record
from archfit.webhook.admitted_pod import AdmittedPod, admitted_pod, at_admission
from archfit.yaml.json_output import document_head, json_output, location_value, object_value
from archfit.yaml.values import mapping_of, plain, typed

_COMMAND = BY_NAME["policy"]
_WORDS = {"different": "different", "left-alone": "left alone", "not-compared": "not compared"}
OPERATOR = "its operator makes the pods, so archfit does not know them"


class Compared(Record):
    """What was learned about one pod. outcome: same, left-alone, different or not-compared; reason: in words.

    expected, actual: placement, where they differ.
    """

    outcome: str
    reason: str
    expected: dict[str, Any] | None = None
    actual: dict[str, Any] | None = None


ComparedPod: TypeAlias = tuple[SamplePod, Compared]
"""A pod of the manifests, and what was learned about it."""


def as_text(name: str, pods: Sequence[ComparedPod]) -> bytes:
    """The check for a terminal. name: of the policy."""
    lines = [
        f"{words}: {pod.ref} ({pod.location}): {result.reason}"
        for outcome, words in _WORDS.items()
        for pod, result in pods
        if result.outcome == outcome
    ]
    number = Counter(result.outcome for _, result in pods)
    parts = [f"{number['same']} as archfit would place {'it' if number['same'] == 1 else 'them'}"]
    parts += [f"{number[outcome]} {words}" for outcome, words in _WORDS.items() if number[outcome]]
    total = f"{count(len(pods), 'pod')}: {', '.join(parts)}"
    lines.append(f"policy {name}: {total if pods else 'the input has no pod, so nothing was compared'}")
    return "".join(f"{visible(line)}\n" for line in lines).encode()


def as_json(name: str, pods: Sequence[ComparedPod]) -> bytes:
    """The check as one JSON object."""
    return json_output(
        {**document_head("policy-check"), "policy": name, "pods": [_value(*pair) for pair in pods]}
    )


def _value(pod: SamplePod, result: Compared) -> dict[str, Any]:
    return {
        "object": object_value(pod.ref),
        **({"file": pod.location.file} if pod.location.file else {}),
        "location": location_value(pod.location.replace(file="")),
        "outcome": result.outcome,
        "reason": result.reason,
        **({"expected": result.expected, "actual": result.actual} if result.expected is not None else {}),
    }


def check_policy(
    invocation: Invocation,
    settings: PolicySettings,
    stdin: BinaryIO,
    stdout: BinaryIO,
    stderr: TextIO,
    environ: Mapping[str, str],
) -> int:
    """The check. The exit code; raises ArchfitError."""
    flags, own = invocation.flags, _settings(invocation.settings)
    manifests = manifests_of(invocation, stdin, own.options)
    problems = manifests.in_order((*manifests.messages, *manifests.inventory.messages))
    if has_error(problems):
        stderr.writelines(f"{line}\n" for line in (*lines(problems), failure(problems)))
        return 1
    samples = sample_pods(manifests.inventory.documents)
    context, kubeconfig = flags.context or "", flags.kubeconfig or ""
    kubectl = Kubectl(environ, context=context, kubeconfig=kubeconfig, seconds=SECONDS)
    policy = installed(kubectl, settings)
    answers = iter(admitted(kubectl, samples))
    pairs = [(pod, next(answers) if pod.value is not None else None) for pod in samples]
    with closing(Run(f"{_COMMAND.program} --check", own, environ, stderr)) as lookups:
        pods, messages = _compared_pods(pairs, policy, own.options, lookups)
    report = as_json if flags.format == "json" else as_text
    standard_streams.write(stdout, [report(settings.name, pods)])
    lookups.write_messages(lines([*problems, *messages]))
    return exit_code(pods)


def exit_code(pods: Sequence[ComparedPod]) -> int:
    """See the module. Pods of operators are not compared, and fail nothing beside others."""
    outcomes = {result.outcome for _, result in pods}
    if "different" in outcomes:
        return 3
    not_compared = [result.reason for _, result in pods if result.outcome == "not-compared"]
    return 1 if len(not_compared) == len(pods) or set(not_compared) - {OPERATOR} else 0


def _compared_pods(
    pairs: list[tuple[SamplePod, Admitted | None]], policy: Installed, options: Options, lookups: Run
) -> tuple[list[ComparedPod], list[Message]]:
    admitted: dict[int, AdmittedPod] = {}
    for at, (pod, answer) in enumerate(pairs):
        if answer and not answer.refused and answer.skipped:
            admitted[at] = admitted_pod(
                _as_before(answer.skipped, pod), answer.skipped["metadata"]["namespace"], options, "policy"
            )
    texts = list(dict.fromkeys(text for each in admitted.values() for text in each.questions))
    answers = lookups.answers([], texts)
    table = policy.table()
    pods = []
    messages = list(lookups.messages)
    for at, (pod, answer) in enumerate(pairs):
        if at not in admitted or answer is None or answer.plain is None or answer.skipped is None:
            result = Compared("not-compared", answer.refused if answer else OPERATOR)
        else:
            decision = admitted[at].decide(answers, options)
            messages += [
                message.replace(ref=pod.ref, field="", location=pod.location) for message in decision.messages
            ]
            metadata = answer.skipped["metadata"]
            labels = mapping_of(metadata.get("labels"))
            left_alone = (
                policy.leaves_out(metadata["namespace"], labels)
                or unlisted(admitted[at].questions, table)
                or answer.left_alone
            )
            result = compared(answer.plain, answer.skipped, decision, left_alone)
        pods.append((pod, result))
    return pods, messages


def unlisted(texts: Sequence[str], table: Table) -> str:
    """A sentence about the images that the policy does not know, "" where it knows all."""
    names = [text for text in texts if parse(text).normalised not in table]
    return f"the policy does not know {', '.join(names)}: renew it with archfit policy" if names else ""


def _as_before(skipped: Mapping[str, Any], pod: SamplePod) -> dict[str, Any]:
    """The pod without the policy, as its admission saw it: with its own annotations."""
    metadata = skipped["metadata"]
    annotations = {key: value for key, value in metadata.get("annotations", {}).items() if key != SKIP}
    own = (pod.value or {})["metadata"].get("annotations", {})
    annotations |= {SKIP: own[SKIP]} if SKIP in own else {}
    return {**skipped, "metadata": {**metadata, "annotations": annotations}}


def _settings(settings: Settings) -> Settings:
    """Those of the run, for pods that are new; what cannot be decided is left alone, as the policy leaves it."""
    options = at_admission(settings.options).replace(on_conflict="leave", on_absent="leave")
    if options.on_unknown == "fail":
        options = options.replace(on_unknown="leave")
    return settings.replace(options=options)


def compared(
    actual: dict[str, Any], skipped: dict[str, Any], decision: Decision, left_alone: str
) -> Compared:
    """The policy's answer. actual: with the policy. skipped: the pod without it. decision: archfit's, about `skipped`.

    left_alone: why the policy does not touch it, "" if it should.
    """
    patched = plain(apply(typed(skipped), decision.patch))
    before, wanted, there = placement(skipped), placement(patched), placement(actual)
    if there == wanted:
        return Compared("same", decision.reason)
    if decision.outcome == "Unresolved":
        return Compared("not-compared", f"archfit cannot decide: {decision.reason}")
    if there == before and left_alone:
        return Compared("left-alone", left_alone, wanted, there)
    why = f"archfit adds {_added(before, wanted)}, and the policy adds {_added(before, there)}"
    return Compared("different", why, wanted, there)


def placement(pod: dict[str, Any]) -> dict[str, Any]:
    """What places a pod, in one spelling for all that means the same."""
    spec = mapping_of(pod.get("spec"))
    affinity = mapping_of(mapping_of(spec.get("affinity")).get("nodeAffinity"))
    tolerations = [
        {"operator": "Equal", **{key: value for key, value in toleration.items() if value not in {"", None}}}
        for toleration in spec.get("tolerations") or ()
    ]
    fields = {
        "nodeSelector": spec.get("nodeSelector"),
        REQUIRED: affinity.get(REQUIRED),
        PREFERRED: affinity.get(PREFERRED),
        "tolerations": sorted(tolerations, key=_canonical),
    }
    return {key: value for key, value in fields.items() if value}


def _added(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What one placement has and the other has not, in a few words."""
    known, now = (list(map(_canonical, of.get("tolerations", ()))) for of in (before, after))
    parts = [f"the toleration {toleration}" for toleration in now if toleration not in known]
    parts += [
        f"{name} {_canonical(after.get(name))}"
        for name in (REQUIRED, PREFERRED, "nodeSelector")
        if after.get(name) != before.get(name)
    ]
    return "; ".join(parts) or "nothing"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
