"""`archfit policy --check [FILE|-]..`: the installed policy's answers beside archfit's own decisions.

    manifests ── pods ──┬── kubectl create --dry-run=server ── with the policy ───────────────────┐
                        └── the same with archfit.dev/skip ── admitted_pod ── lookup ── decide ── compare ── report

    exit    0  every pod is as archfit would place it, or is left alone for a documented reason
            1  no policy is installed, the cluster cannot be asked, it refused a pod for another reason, or an image
               cannot be looked up
            3  a pod differs

`integrations.policy` has the parts: `sample_pods`, `dry_run`, `comparison`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO, TextIO

from archfit import standard_streams
from archfit.admission.admitted_pod import AdmittedPod, admitted_pod, at_admission
from archfit.admission.policy.policy_settings import PolicySettings
from archfit.commands.inputs import check_objects, in_file, manifests_of, on_blank
from archfit.commands.invocation import Invocation
from archfit.integrations.cluster_checks import kubectl_of
from archfit.integrations.policy.comparison import Compared, compared
from archfit.integrations.policy.dry_run import SKIP, Admitted, admitted
from archfit.integrations.policy.installed_policy import Installed, installed
from archfit.integrations.policy.left_alone_reasons import reason
from archfit.integrations.policy.sample_pods import SamplePod, sample_pods
from archfit.lookup.lock_storage import content_of
from archfit.lookup.lockfile import DEFAULT_PATH
from archfit.options.settings import Options, Settings
from archfit.report.policy_comparison import ComparedPod, as_json, as_text
from archfit.report.run_text import failure, lines
from archfit.results import Result, has_error
from archfit.run import Run
from archfit.source.values import mapping_of
from archfit.usage.command_table import BY_NAME

_COMMAND = BY_NAME["policy"]
_OPERATOR = "its operator makes the pods, so archfit does not know them"


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
    inputs = manifests_of(invocation, (stdin, stderr, environ), own.options, on_blank(invocation.layer))
    check_objects(inputs)
    results = [
        in_file(result, manifests.name)
        for manifests in inputs
        for result in (*manifests.results, *manifests.survey.results)
    ]
    if has_error(results):
        stderr.writelines(f"{line}\n" for line in (failure(results), *lines(results)))
        return 1
    samples = [
        (manifests.name, pod) for manifests in inputs for pod in sample_pods(manifests.survey.documents)
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
        stdout, [as_json(settings.name, found) if flags.json else as_text(settings.name, found)]
    )
    one.write_messages(lines([*results, *messages]))
    if any(pod.outcome == "different" for pod in found):
        return 3
    return 1 if any(pod.outcome == "not-compared" and pod.reason != _OPERATOR for pod in found) else 0


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
            outcome = Compared("not-compared", answer.refused if answer else _OPERATOR)
        else:
            decision = decided[at].decide(answers, options)
            results += decision.results
            metadata = answer.skipped["metadata"]
            labels = mapping_of(metadata.get("labels"))
            left_alone = policy.leaves_out(metadata["namespace"], labels) or reason(
                decided[at], options, table
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
    if not options.lock_file and content_of(DEFAULT_PATH) is not None:
        options = options.replace(lock_file=DEFAULT_PATH)
    return settings.replace(options=options)
