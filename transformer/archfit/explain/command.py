"""`archfit explain [FILE|DIR|-].. [--only KIND[/NAMESPACE[/NAME]]] [--format text|json]`: why pods are placed so.

With --only it asks for the images of the pods that it shows, and for no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, BinaryIO, TextIO

from archfit.base import standard_streams
from archfit.base.errors import Problem, UsageError
from archfit.base.record_json import record_value
from archfit.base.results import Location, Message, ObjectRef, has_error
from archfit.cli.inputs.command_inputs import manifests_of
from archfit.cli.inputs.manifests import Manifests
from archfit.cli.invocation import read_invocation
from archfit.cli.usage.command_table import BY_NAME
from archfit.explain import text as explained_text
from archfit.explain.explained import Explained, explained
from archfit.options.layers import STAMPS_PRESENT
from archfit.options.rules import exclude
from archfit.options.settings import Exclude
from archfit.pipeline import decide
from archfit.placement.filters import GLOBS, nothing_matches
from archfit.placement.selection import questions
from archfit.pod_stages import located
from archfit.reports.summary import lines
from archfit.run import Run
from archfit.yaml.json_output import document_head, json_output

_COMMAND = BY_NAME["explain"]


def explain(
    argv: Sequence[str], stdin: BinaryIO, stdout: BinaryIO, stderr: TextIO, environ: Mapping[str, str]
) -> int:
    """The command, after its name. The exit code; raises ArchfitError."""
    invocation = read_invocation(_COMMAND, argv, environ, stderr, fallback=STAMPS_PRESENT)
    flags, options = invocation.flags, invocation.settings.options
    only = [_glob(text) for text in flags.only]

    def wanted(ref: ObjectRef) -> bool:
        return not only or next(GLOBS.meaning(only, ref), None) is not None

    manifests = manifests_of(invocation, stdin, options)
    inventory = manifests.inventory
    if only:
        _check_only(only, manifests)
    with closing(Run(_COMMAND.program, invocation.settings, environ, stderr)) as run:
        pairs = (pair for pair in inventory.pods() if wanted(pair[0].ref))
        texts = list(dict.fromkeys(text for pod, own in pairs for text in questions(pod, own)))
        if texts:
            run.look_closely()
        answers = run.answers([(manifests.data, manifests.pieces)], texts)
        every = decide(inventory, answers, options).decisions
        whole = explained(manifests.data, inventory, every, answers, options, wanted)
        decisions = tuple(pair for pair in every if wanted(pair[0].ref))
        messages = [*run.messages, *_about_the_stream(manifests)]
        messages += [*run.unmatched_filters(manifests.pods, inventory), *run.elsewhere(texts)]
        if not whole.pods and not whole.passed_over and not has_error(messages):
            messages.append(Message("info", "the input holds no pods that archfit reads: nothing to explain"))
        failed = has_error(messages)
        code = int(failed or not all(pod.settled for pod in whole.pods))
        everything = [*messages, *(message for _, decision in decisions for message in decision.messages)]
        report = run.prepare_report(code, everything, decisions, answers)
    output = as_json(whole, code) if flags.format == "json" else explained_text.text(whole).encode()
    report.commit_after(lambda: standard_streams.write_report(stdout, [output]))
    run.write_messages(lines(messages))
    return code


def _about_the_stream(manifests: Manifests) -> Iterable[Message]:
    """What is wrong with the inputs. What is said about their objects is in the trees."""
    left = {untouched.ref for untouched in manifests.inventory.untouched}
    own = [
        message
        for message in manifests.inventory.messages
        if message.severity != "info" or message.ref not in left
    ]
    exact = located(manifests.data, manifests.inventory.documents, (*manifests.messages, *own))
    return manifests.in_order(exact)


def _glob(text: str) -> Exclude:
    try:
        return exclude(text)
    except Problem as problem:
        raise UsageError(f"--only: {problem}") from None


def _check_only(globs: Sequence[Exclude], manifests: Manifests) -> None:
    every = [*(pod.ref for pod in manifests.pods), *(left.ref for left in manifests.inventory.untouched)]
    refs = list(dict.fromkeys(every))
    if idle := GLOBS.idle(globs, refs):
        raise UsageError(f"--only: {nothing_matches(idle[0], refs)}")


def as_json(whole: Explained, exit_code: int) -> bytes:
    """One JSON object."""
    return json_output(
        {
            **document_head("explain"),
            "exit": exit_code,
            "pods": [_flat(pod.location, **record_value(pod.explanation)) for pod in whole.pods],
            "passedOver": [
                _flat(left.location, record_value(left.ref), reason=left.reason, controller=left.controller)
                for left in whole.passed_over
            ],
        }
    )


def _flat(at: Location, ref: dict[str, str], **value: Any) -> dict[str, Any]:
    place = {"file": at.file, "line": at.line, "document": at.document, "source": at.source}
    return {**place, **ref, **value}
