"""What the answers about a pod's images mean for it.

    Found               it counts; overrides and stale answers are said
    Absent              on_absent: fail -> an error, leave -> the pod is left as it is
    Unknown             on_unknown: fail -> an error, leave -> the pod is left as it is,
                        assume -> it counts as an image with the platforms of `assume`
                        an error in any case, where the answer is final
    Unasked             restricts nothing, but no toleration and no preference is added; an error with `strict`

Every image is looked at: all errors of a pod are reported at once, each image once.
"""

from __future__ import annotations

from archfit.images.platforms import Absent, Found, Unasked
from archfit.outcome import Result
from archfit.patch import dotted
from archfit.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from archfit.images.platforms import Answer, Unknown
    from archfit.options.values import Options
    from archfit.outcome import Severity
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
    for use, answer in zip(pod.images, given, strict=True):
        if isinstance(answer, Found):
            known.append((use, answer))
            if answer.origin in ("override", "stale"):
                _say(results, pod, use, *_origin(answer))
        elif isinstance(answer, Unasked):
            unasked = True
            _say(
                results,
                pod,
                use,
                "error" if options.strict else "info",
                _unasked(answer, strict=options.strict),
            )
        elif isinstance(answer, Absent):
            severity, message = _absent(answer, options)
            leave = leave or f"{use.text} does not exist"
            _say(results, pod, use, severity, message)
        elif options.on_unknown == "assume" and options.assume and not answer.final:
            known.append((use, Found(options.assume, origin="assumed")))
            _say(results, pod, use, "warning", _assumed(answer, options))
        else:
            severity, message = _unknown(answer, options)
            leave = leave or f"the platforms of {use.text} are not known"
            _say(results, pod, use, severity, message)
    return Evidence(tuple(known), unasked, leave, tuple(results.values()))


def _say(
    results: dict[tuple[str, str], Result], pod: Pod, use: ImageUse, severity: Severity, message: str
) -> None:
    field = dotted(use.path)
    message = f"{use.text}: {message}" if use.text else message
    results.setdefault((use.text or field, message), Result(severity, message, pod.ref, field, pod.place))


def _origin(found: Found) -> tuple[Severity, str]:
    platforms = ", ".join(map(str, found.platforms))
    if found.origin == "override":
        return "info", f"counts as {platforms}, because configuration or annotation says so"
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
    return "error", (
        f"{said}; state them with --image-platforms or archfit.dev/image-platforms, "
        "or choose --on-unknown assume or leave"
    )
