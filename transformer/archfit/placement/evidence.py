"""What the answers about a pod's images mean for it.

    Found               it counts (`architectures`, `uncounted`); overrides and stale answers are said
    Absent              on_absent: fail -> an error, leave -> the pod is left as it is
    Unknown             on_unknown: fail -> an error, leave -> the pod is left as it is,
                        assume -> it counts as an image with the platforms of `assume`
                        an error in any case, where the answer is final
    Unasked             restricts nothing, but no toleration is added; an error with `strict`
    Malformed           an error: no node could pull it

Every image is looked at: all errors of a pod are reported at once, each image once.
"""

from __future__ import annotations

from collections.abc import Iterable

from archfit.images.platforms import Absent, Answer, Found, Malformed, Unasked, Unknown
from archfit.options.settings import Options
from archfit.patch import dotted
from archfit.placement.architectures import is_plain
from archfit.record import Record
from archfit.results import Result, Severity
from archfit.workloads.pods import ImageUse, Pod


class Evidence(Record):
    """The answers of one pod, weighed by the options.

    known: each use of an image whose platforms count.
    unasked: for at least one image nobody could answer.
    leave: why the pod is left as it is, "" when it is not.
    results: what to tell the user; any of severity error means that the pod cannot be decided.
    """

    known: tuple[tuple[ImageUse, Found], ...]
    unasked: bool = False
    leave: str = ""
    results: tuple[Result, ...] = ()


def weigh(pod: Pod, given: Iterable[Answer], options: Options) -> Evidence:
    """Weighs one answer for each of `pod.images`, in order."""
    known: list[tuple[ImageUse, Found]] = []
    unasked, leave = False, ""
    results: dict[tuple[str, str], Result] = {}
    for use, given_answer in zip(pod.images, given, strict=True):
        answer = given_answer
        if isinstance(answer, Found):
            if answer.origin in ("override", "stale"):
                _say(results, pod, use, *_origin(answer))
            answer = _counted(results, pod, use, answer, options)
        if (
            isinstance(answer, Unknown)
            and not answer.final
            and options.on_unknown == "assume"
            and options.assume
        ):
            _say(results, pod, use, "warning", _assumed(answer, options))
            answer = _counted(results, pod, use, Found(options.assume, origin="assumed"), options)
        if isinstance(answer, Found):
            known.append((use, answer))
        elif isinstance(answer, Unasked):
            unasked = True
            _say(
                results,
                pod,
                use,
                "error" if options.strict else "info",
                _unasked(answer, strict=options.strict),
            )
        elif isinstance(answer, Malformed):
            _say(results, pod, use, "error", _malformed(answer))
        elif isinstance(answer, Absent):
            severity, message = _absent(answer, options)
            leave = leave or f"{use.text} does not exist"
            _say(results, pod, use, severity, message)
        else:
            severity, message = _unknown(answer, options)
            leave = leave or f"the platforms of {use.text} are not known"
            _say(results, pod, use, severity, message)
    return Evidence(tuple(known), unasked, leave, tuple(results.values()))


def malformed(pod: Pod, given: Iterable[Answer], options: Options) -> tuple[Result, ...]:
    """The errors that `weigh` has for images that are no references, whatever the others' answers."""
    pairs = [pair for pair in zip(pod.images, given, strict=True) if isinstance(pair[1], Malformed)]
    if not pairs:
        return ()
    uses, answers = zip(*pairs, strict=True)
    return weigh(pod.replace(images=uses), answers, options).results


def _counted(
    results: dict[tuple[str, str], Result], pod: Pod, use: ImageUse, found: Found, options: Options
) -> Found | Unknown:
    """What counts of the answer for this pod; the warnings are said."""
    if is_plain(found):
        return found
    from archfit.placement.uncounted import counted

    runtime_class = bool(pod.spec.get("runtimeClassName"))
    answer, warnings = counted(use, found, runtime_class=runtime_class, wanted=options.cluster_architectures)
    for warning in warnings:
        _say(results, pod, use, "warning", warning)
    return answer


def _say(
    results: dict[tuple[str, str], Result], pod: Pod, use: ImageUse, severity: Severity, message: str
) -> None:
    field = dotted(use.path)
    message = f"{use.text}: {message}" if use.text else message
    results.setdefault((use.text or field, message), Result(severity, message, pod.ref, field, pod.location))


def _origin(found: Found) -> tuple[Severity, str]:
    platforms = ", ".join(map(str, found.platforms))
    if found.origin == "override":
        return "info", f"its platforms are stated by configuration or annotation: {platforms}"
    return (
        "warning",
        f"the registry could not be asked; an answer that is {found.age_seconds} s old is used: {platforms}",
    )


def _unasked(answer: Unasked, *, strict: bool) -> str:
    effect = (
        "--strict does not allow that"
        if strict
        else "it restricts nothing, and no toleration and no preference is added"
    )
    return f"nobody can say on which platforms it runs: {answer.reason}; {effect}"


def _malformed(answer: Malformed) -> str:
    return (
        f"no node can pull it: {answer.reason}; correct it, or where something fills it in later, state its platforms "
        "with the annotation archfit.dev/image-platforms on the pod template"
    )


def _absent(answer: Absent, options: Options) -> tuple[Severity, str]:
    said = f"there is no such image: {answer.detail}"
    if options.on_absent == "leave":
        return "warning", f"{said}; the pod is left as it is (--on-absent leave)"
    return "error", f"{said}; correct the image, or leave such pods as they are with --on-absent leave"


def _assumed(answer: Unknown, options: Options) -> str:
    return f"{answer.cause}; assumed to run on {', '.join(map(str, options.assume))} (--on-unknown assume)"


def _unknown(answer: Unknown, options: Options) -> tuple[Severity, str]:
    if answer.final:
        return "error", answer.cause
    said = f"its platforms are not known: {answer.cause}"
    if options.on_unknown == "leave":
        return "warning", f"{said}; the pod is left as it is (--on-unknown leave)"
    if options.on_unknown == "assume":
        return "error", f"{said}; --on-unknown assume needs --assume, as in --assume linux/amd64"
    if answer.remedy:
        return "error", f"{said}; {answer.remedy}, or choose --on-unknown assume or leave"
    return "error", (
        f"{said}; state them with --image-platforms or archfit.dev/image-platforms, "
        "or choose --on-unknown assume or leave"
    )
