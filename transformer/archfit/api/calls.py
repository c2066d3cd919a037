"""The three functions. Each opens what it needs, closes it, and keeps nothing.

An error of archfit leaves a call as ArchfitError, without the frames inside. Other exceptions pass: those of the
caller's signal handlers, KeyboardInterrupt, SystemExit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from typing import Any, AnyStr, TypeVar, Unpack

from archfit.api.answers import GivenAnswers, as_values
from archfit.api.options import Options, settings_of, type_name
from archfit.api.values import ArchfitError, Decision, ImageAnswer, Message, Result
from archfit.base.errors import ArchfitError as RunError
from archfit.base.errors import ErrorKind, InvalidInput, UsageError, message_of
from archfit.base.patch import Path, dotted
from archfit.base.printable import visible
from archfit.base.results import Decision as PodDecision
from archfit.base.results import Location, has_error
from archfit.base.results import Message as StreamMessage
from archfit.images.platforms import Absent, Answer, Malformed, Unasked, Unknown
from archfit.lookup.lookup import lookup_of
from archfit.options.table import VARIABLE_PREFIX
from archfit.placement.decide import decide as decide_pod
from archfit.placement.selection import pod_options, questions
from archfit.reports.report import decision_value, message_value
from archfit.reports.summary import lines
from archfit.rewrite.function import frame_of, layer_of
from archfit.run import Run
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.pods import Pod
from archfit.yaml import stream
from archfit.yaml.values import plain, typed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from archfit.run import StreamOutcome

_PROGRAM = "import archfit"
_Value = TypeVar("_Value")


def transform(manifests: AnyStr, **options: Unpack[Options]) -> Result[AnyStr]:
    """The manifests as `archfit` writes them on standard output, and why: the same bytes for the same options.

    manifests: rendered YAML or JSON as Kubernetes reads it; bytes in UTF-8, or str. A ResourceList (KRM) is edited as
        the function does it: its functionConfig counts below the options.
    options: see `Options`. Registries are asked for images that neither an override, the lock file nor the cache
        knows; `timeout` (30 s) bounds all of it.

    Raises ArchfitError where the command would exit with 1 or 2; its `kind` says whom to tell, its `messages` all
    problems.
    """
    return _guarded(lambda: _transform(manifests, options))


def platforms(images: str | Iterable[str], **options: Unpack[Options]) -> dict[str, ImageAnswer]:
    """What each image runs on: an answer for each image string, in the order given, each once.

        {"nginx:1.27": {"answer": "Found", "platforms": ["linux/amd64", "linux/arm64"], "digest": "sha256:..", ..},
         "gone:1":     {"answer": "Absent", "cause": ".."},
         "down/app:1": {"answer": "Unknown", "cause": ".."}}

    An image that could not be asked for is "Unknown" and no error: what that means is the caller's decision, or that of
    `decide`. options: see `Options`; those about placement change nothing here, but imagePlatforms and lockFile.

    Raises ArchfitError for wrong options and files that cannot be used.
    """
    return _guarded(lambda: _platforms(images, options))


def decide(
    pod_spec: Mapping[str, Any], images: Mapping[str, ImageAnswer | Sequence[str]], **options: Unpack[Options]
) -> Decision:
    """What one pod spec needs, decided without network, cache or files.

    pod_spec: a PodSpec (core/v1) as JSON has it: `deployment["spec"]["template"]["spec"]`, not the whole object. It is
        not changed.
    images: what is known of its images: what `platforms` returned, or lists of platforms, as in
        {"nginx:1.27": ["linux/amd64", "linux/arm64"]}. An image that is not named is Unasked: the other images still
        narrow the pod, and no toleration is added.
    options: see `Options`; those about lookups change nothing here. It is decided as for a template of a Deployment:
        annotations, `skip`, the kind of the workload, and other objects are not seen. `transform` sees them.

    Raises ArchfitError where the command would fail (`onAbsent`, `onUnknown`, `onConflict`), and for what is no pod
    spec.
    """
    return _guarded(lambda: _decide(pod_spec, images, options))


def _transform(manifests: AnyStr, options: Options) -> Result[AnyStr]:
    data = _bytes_of(manifests)
    frame = frame_of(data)
    settings = settings_of(options, layer_of(frame) if frame else None)
    run = Run(_PROGRAM, settings, _environ(), StringIO(), frame=frame, named_hosts_only=True)
    try:
        outcome = run.outcome(data)
    finally:
        run.close()
    edits = outcome.edits
    if edits is None or edits.failed():
        raise _failed(outcome)
    splices = frame.with_results(edits, outcome.messages, edits.splices) if frame else edits.splices
    written: Any = manifests
    if splices or outcome.data is not data:
        written = b"".join(stream.parts(outcome.data, splices))
        if not isinstance(manifests, bytes):
            written = written.decode()
    return Result(written, _decisions(outcome), _messages(outcome), as_values(edits.answers))


def _bytes_of(manifests: object) -> bytes:
    if isinstance(manifests, bytes):
        return manifests
    if isinstance(manifests, str):
        try:
            return manifests.encode()
        except UnicodeEncodeError as error:
            line = manifests.count("\n", 0, error.start) + 1
            raise InvalidInput("the text holds half a character (a surrogate)", line=line) from None
    advice = "pass rendered YAML as bytes or str"
    if isinstance(manifests, (Mapping, list, tuple)):
        advice = "pass json.dumps(..) of it, or its pod spec to decide"
    raise UsageError(f"manifests: has to be bytes or str, not {type_name(manifests)}: {advice}")


def _platforms(images: object, options: Options) -> dict[str, ImageAnswer]:
    texts = _texts_of(images)
    lookup = lookup_of(settings_of(options), _environ(), StringIO(), named_hosts_only=True)
    try:
        answers = lookup.answers(texts) if texts else {}
        return as_values({text: answers[text] for text in texts})
    finally:
        lookup.close()


def _texts_of(images: object) -> list[str]:
    if isinstance(images, str):
        return [images]
    if isinstance(images, (bytes, Mapping)) or not isinstance(images, Iterable):
        raise UsageError(
            f"images: has to be a list of image strings, not {type_name(images)}: write ['nginx:1.27']"
        )
    texts = list(images)
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"images: {type_name(text)} is no image string: write ['nginx:1.27']")
    return list(dict.fromkeys(texts))


_AT: Path = ("template", "spec")


def _decide(pod_spec: object, images: object, options: Options) -> Decision:
    settings = settings_of(options)
    given = GivenAnswers(images, settings.options.image_platforms)
    pod = _pod(pod_spec)
    own = pod_options(pod, settings.options)
    answers = {text: given.of(text) for text in questions(pod, own)}
    decision = decide_pod(pod, own, answers, settings.options)
    values = as_values(answers)
    messages = [_message(_below(message), _kind(message, decision, answers)) for message in decision.messages]
    if has_error(decision.messages):
        errors = [message for message in messages if message.severity == "error"]
        raise ArchfitError("\n".join(map(str, errors)), _one_kind(errors), messages, images=values)
    patch = [step.replace(path=step.path[len(_AT) :]) for step in decision.patch]
    value = decision_value(pod, decision.replace(patch=tuple(patch)))
    return _decision(value | {"object": {}, "path": ""}, messages, values)


def _below(message: StreamMessage) -> StreamMessage:
    """The message, seen from the pod spec."""
    path = message.path[len(_AT) :]
    return message.replace(ref=None, location=None, path=path, field=dotted(path))


def _pod(pod_spec: object) -> Pod:
    """The pod of a template that has this spec. Raises UsageError and InvalidInput."""
    if not isinstance(pod_spec, Mapping):
        raise UsageError(
            f"pod_spec: has to be a dict, as deployment['spec']['template']['spec'] is, not {type_name(pod_spec)}"
        )
    if "kind" in pod_spec and "apiVersion" in pod_spec:
        raise UsageError(
            f"pod_spec: is a whole {visible(str(pod_spec['kind']))}: pass its pod spec (spec.template.spec of a "
            "Deployment), or the object to transform, as transform(json.dumps(..))"
        )
    spec = _json_value(pod_spec, ())
    containers = spec.get("containers")
    if (
        not isinstance(containers, list)
        or not containers
        or not all(isinstance(container, dict) for container in containers)
    ):
        raise InvalidInput(
            "pod_spec: has no list of containers, so it is no pod spec: pass spec.template.spec of a Deployment"
        )
    head = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "pod-spec"}}
    (pod,) = find_pods({**head, "template": {"spec": typed(spec)}}, Location(1, 1))
    return pod


_DEEPEST = 128
_LARGEST = 2**64


def _json_value(value: object, path: Path) -> Any:
    """The value as a JSON decoder gives it. Raises InvalidInput for what JSON does not have."""
    if len(path) > _DEEPEST:
        raise InvalidInput(f"pod_spec: is nested more than {_DEEPEST} levels deep")
    if isinstance(value, Mapping):
        wrong = next((key for key in value if not isinstance(key, str)), None)
        if wrong is not None:
            where = dotted(path) or "it"
            raise InvalidInput(
                f"pod_spec: {visible(where)} has {type_name(wrong)} as a key: JSON has only texts"
            )
        return {str(key): _json_value(member, (*path, str(key))) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(item, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        if not -_LARGEST <= value <= _LARGEST:  # NaN, too
            raise InvalidInput(
                f"pod_spec: {visible(dotted(path))} is a number that no field of Kubernetes holds"
            )
        return value
    raise InvalidInput(
        f"pod_spec: {visible(dotted(path))} is {type_name(value)}, which JSON does not have: pass plain values"
    )


def _environ() -> dict[str, str]:
    """The variables of the process that are not archfit's own."""
    return {name: text for name, text in os.environ.items() if not name.startswith(VARIABLE_PREFIX)}


def _failed(outcome: StreamOutcome) -> ArchfitError:
    edits = outcome.edits
    messages = _messages(outcome)
    errors = [message for message in messages if message.severity == "error"]
    text = "\n".join(
        line.removeprefix("error: ")
        for line in lines(message for message in outcome.messages if message.severity == "error")
    )
    images = as_values(edits.answers) if edits else {}
    return ArchfitError(text, _one_kind(errors), messages, _decisions(outcome), images)


def _one_kind(errors: Sequence[Message]) -> ErrorKind:
    kinds = {message.kind for message in errors if message.kind}
    return kinds.pop() if len(kinds) == 1 else "several"


def _messages(outcome: StreamOutcome) -> tuple[Message, ...]:
    edits = outcome.edits
    if edits is None:
        return tuple(_message(message, "input") for message in outcome.messages)
    # `located` gives a message of a decision another line.
    owners = {
        _identity(message): decision for _, decision in edits.decisions for message in decision.messages
    }
    return tuple(
        _message(message, _kind(message, owners.get(_identity(message)), edits.answers))
        for message in outcome.messages
    )


def _identity(message: StreamMessage) -> tuple[object, ...]:
    return message.ref, message.field, message.text


_KINDS: Mapping[type, ErrorKind] = {
    Absent: "absent", Unknown: "unknown", Unasked: "unasked", Malformed: "input"
}  # fmt: skip


def _kind(message: StreamMessage, decision: PodDecision | None, answers: Mapping[str, Answer]) -> ErrorKind:
    """Of an error. decision: whose it is, None for one about the stream."""
    if decision is None:
        return "input"
    if message.image:
        return _KINDS.get(type(answers.get(message.image)), "input")
    return "conflict" if decision.outcome == "Conflict" else "input"


def _message(message: StreamMessage, kind: ErrorKind) -> Message:
    value = message_value(message)
    return Message(
        message.severity,
        visible(message.text.replace("\n", " ")),
        value.get("object", {}),
        value.get("field", ""),
        value.get("document", 0),
        value.get("line", 0),
        value.get("source", ""),
        message.image,
        kind if message.severity == "error" else "",
    )


def _decisions(outcome: StreamOutcome) -> tuple[Decision, ...]:
    edits = outcome.edits
    if edits is None:
        return ()
    decisions = []
    for pod, decision in edits.decisions:
        messages = [
            _message(message, _kind(message, decision, edits.answers)) for message in decision.messages
        ]
        texts = dict.fromkeys(text for _, text in pod.named_images if text in edits.answers)
        values = as_values({text: edits.answers[text] for text in texts if text})
        decisions.append(_decision(decision_value(pod, decision), messages, values))
    return tuple(decisions)


def _decision(
    value: Mapping[str, Any], messages: Sequence[Message], images: Mapping[str, ImageAnswer]
) -> Decision:
    """value: `decision_value(..)`. A `test` of what is missing is left out: RFC 6902 has no word for it."""
    patch = [step for step in plain(value["patch"]) if step["op"] != "test" or step["value"] is not None]
    return Decision(
        value["outcome"],
        visible(value["reason"]),
        tuple(patch),
        value["supported"],
        value["reachable"],
        {gone["architecture"]: gone["images"] for gone in value["removed"]},
        tuple(messages),
        images,
        value["object"],
        value["path"],
        value["immutable"],
    )


# Whose frames may stand at the end of a traceback that is archfit's own.
_OWN = {"archfit", "certifi", "h11", "jsonpatch", "jsonpointer", "redis", "ruamel", "yaml"}


def _guarded(call: Callable[[], _Value]) -> _Value:
    try:
        return call()
    except ArchfitError as error:
        raised = error
    except RunError as error:
        raised = ArchfitError(str(error), error.kind)
        raised.exit_code, raised.document, raised.line = error.exit_code, error.document, error.line
    except RecursionError:
        raised = ArchfitError(
            "Python's limit of recursion was reached: call archfit with fewer calls around it, or raise the limit "
            "with sys.setrecursionlimit"
        )
    except (OSError, MemoryError) as error:
        if not _is_own(error):
            raise
        raised = ArchfitError(message_of(error))
    except Exception as error:
        if not _is_own(error):
            raise
        raised = ArchfitError(message_of(error), "internal")
    raised.__context__ = None
    raise raised.with_traceback(None)


def _is_own(error: Exception) -> bool:
    """Whether archfit, or what it stands on, raised the error, and no signal handler of the caller's."""
    frame = error.__traceback__
    name = ""
    while frame is not None:
        name = str(frame.tb_frame.f_globals.get("__name__", ""))
        frame = frame.tb_next
    head = name.partition(".")[0]
    return head in _OWN or head in sys.stdlib_module_names
