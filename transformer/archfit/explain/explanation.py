"""Why a pod is placed as it is: the reasons of its decision, and what it was made from, as plain values.

`schema.FIELDS` says what each value means. Architectures are node labels; of another OS than Linux they are written
`windows/amd64`. Texts from manifests are as they were written: the form that shows them escapes control characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from archfit.base.patch import dotted, pattern_text
from archfit.base.printable import few
from archfit.base.results import Decision, ObjectRef, Outcome, Reason, Severity, has_error
from archfit.explain.images import ImageAnswer, image_answers
from archfit.explain.remedies import Remedy, remedies
from archfit.images.platforms import Answer
from archfit.options.settings import STATED, Options, Rule
from archfit.placement.affinity import ARCH_LABELS, OS_LABELS, existing_terms
from archfit.placement.annotations import PREFIX, annotated
from archfit.placement.case import PodCase
from archfit.placement.decide import pod_case
from archfit.placement.filters import RULES
from archfit.placement.reach import Reach, by_system, named, union
from archfit.placement.selection import PodOptions, answers_for
from archfit.startup.record import Record
from archfit.workloads.builtin import WORKLOADS, UserRows, group_of, rows_of
from archfit.workloads.known_rows import known
from archfit.workloads.pods import Pod
from archfit.yaml.values import mapping_of

_MOST = 3  # images that a reason names


class RequiredTerm(Record):
    """One required term of the node affinity."""

    number: int
    asks: tuple[str, ...]
    allows: tuple[str, ...]
    reaches: tuple[str, ...]


class PodMessage(Record):
    """A message of the decision that is about no image."""

    severity: Severity
    field: str
    message: str


class Explanation(Record):
    """One pod, explained. decided: it was judged; else asks and all that follows are empty."""

    ref: ObjectRef
    path: str
    row: str
    outcome: Outcome
    reason: str
    decided: bool
    images: tuple[ImageAnswer, ...]
    settings: tuple[str, ...]
    asks: tuple[str, ...]
    allows: tuple[str, ...]
    terms: tuple[RequiredTerm, ...]
    cluster: tuple[str, ...]
    cluster_source: str
    reaches: tuple[str, ...]
    because: tuple[str, ...]
    reasons: tuple[Reason, ...]
    messages: tuple[PodMessage, ...]
    remedies: tuple[Remedy, ...]


def explanation(
    pod: Pod,
    own: PodOptions,
    decision: Decision,
    answers: Mapping[str, Answer],
    options: Options,
    user_rows: UserRows,
) -> Explanation:
    """Why `decision` came out as it did.

    own, answers: what it was made from. With `stamp` the decision is that for the object as it stands, and pod that
    without the additions of an earlier run.
    """
    given = () if own.left_alone else answers_for(pod, answers, options, own)
    facts = None if own.left_alone else pod_case(pod, own, given, options)
    images = image_answers(pod, own, given, facts, decision, options)
    case = None if facts is None or has_error(facts.messages) else facts
    pod = case.pod if case else pod  # with what an earlier run recorded, where that counts
    demands = case.reaches if case else ()
    opened, reaches = _open(demands), _reaches(demands)
    shut = _names(pair for reach in demands for pair in reach.shut)
    about_images = {use.path for use in pod.images}
    return Explanation(
        pod.ref,
        dotted(pod.path),
        _row(pod, user_rows),
        decision.outcome,
        decision.reason,
        case is not None,
        images,
        tuple(_settings(pod, own, decision, options)),
        tuple(_asks(pod)) if case else (),
        opened,
        _terms(pod, demands),
        *_cluster(demands, options),
        reaches,
        tuple(_because(case, images, reaches)) if case else (),
        decision.reasons,
        tuple(
            PodMessage(message.severity, message.field, message.text)
            for message in decision.messages
            if message.path not in about_images
        ),
        tuple(remedies(own, case, decision, images, frozenset(opened) - {*reaches, *shut})),
    )


def _open(reaches: Iterable[Reach]) -> tuple[str, ...]:
    return _names(cell for reach in reaches for cell in reach.cells)


def _cluster(reaches: Sequence[Reach], options: Options) -> tuple[tuple[str, ...], str]:
    stated = by_system(options.cluster_architectures)
    systems = {system.os: system.cluster for reach in reaches for system in reach.systems}
    shut = [pair for reach in reaches for pair in reach.shut]
    names = _names((*((os, name) for os, names in (systems or stated).items() for name in names), *shut))
    unstated = sorted(os for os in systems if os not in stated)
    source = "--cluster-architectures"
    if unstated:
        source += f", which has no entry for {' and '.join(unstated)}: what the images offer counts"
    return names, source


def _reaches(reaches: Iterable[Reach]) -> tuple[str, ...]:
    return _names(cell for reach in reaches for cell in reach.live_cells)


def _names(pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(sorted({named(os, name) for os, name in pairs}))


def _terms(pod: Pod, reaches: Iterable[Reach]) -> tuple[RequiredTerm, ...]:
    terms = [(reach.demand.index, reach) for reach in reaches if reach.demand.index is not None]
    written = existing_terms(pod)[0] if terms else None
    return tuple(
        RequiredTerm(
            index + 1, tuple(_expressions((written or [])[index])), _open([reach]), _reaches([reach])
        )
        for index, reach in terms
    )


def _expressions(term: Mapping[str, object]) -> Iterator[str]:
    for member, prefix in (("matchExpressions", ""), ("matchFields", "field ")):
        listed = term.get(member)
        for expression in listed if isinstance(listed, list) else ():
            values = expression.get("values")
            texts = f" [{', '.join(map(str, values))}]" if values else ""
            yield f"{prefix}{expression.get('key') or ''} {expression.get('operator') or ''}{texts}"


def _asks(pod: Pod) -> Iterator[str]:
    """What the pod says about architecture and OS outside of its required terms."""
    at = pod.placement_paths.architecture if pod.placement_paths else ()
    for label, value in mapping_of(pod.spec.get("nodeSelector")).items():
        if label in ARCH_LABELS | OS_LABELS:
            where = dotted(at) if at and label in ARCH_LABELS else "nodeSelector"
            yield f"{where} {label}={value}"
    if pod.runtime_class is not None:
        for label, value in pod.runtime_class.node_selector:
            if label in ARCH_LABELS | OS_LABELS:
                yield f"RuntimeClass {pod.runtime_class.name} {label}={value}"
    system = pod.spec.get("os")
    if isinstance(system, dict) and system.get("name"):
        yield f"spec.os.name {system['name']}"


def _because(case: PodCase, images: Sequence[ImageAnswer], reaches: Sequence[str]) -> Iterator[str]:
    opened = _open(case.reaches)
    if not opened:
        yield "no node matches what it asks for"
        return
    if case.own.only is not None:
        yield f"{case.own.only_by} allows {', '.join(sorted(case.own.only)) or 'nothing'}"
    missing = [name for name in opened if name not in reaches]
    for name in missing:
        lacking = [image.image for image in images if name in image.lacks]
        if lacking:
            yield f"{few(lacking, _MOST)} {'has' if len(lacking) == 1 else 'have'} no {name} build"
    lost = union(frozenset(named(os, name) for os, name in reach.lost) for reach in case.reaches)
    for name in sorted(lost & frozenset(missing)):
        yield f"a term for several operating systems has one list of architectures, so {name} is lost"
    if not missing and case.own.only is None:
        everywhere = set(_cluster(case.reaches, case.options)[0]) <= set(opened)
        if all(image.runs_on is None for image in images):
            yield f"no image{' that is known' * case.evidence.unasked} restricts it"
        else:
            which = " that are known" if case.evidence.unasked else ""
            yield f"all its images{which} run {'there' if everywhere else 'on what it allows'}"


def _settings(pod: Pod, own: PodOptions, decision: Decision, options: Options) -> Iterator[str]:
    if own.controller:
        return
    for number in RULES.meaning(options.rules, pod):
        yield f"rule {number + 1} of the configuration matches: {_rule(options.rules[number])}"
    notes = annotated(pod)
    if notes.skip:
        yield f'{PREFIX}skip: "true"'
    if notes.only is not None:
        yield f"{PREFIX}only: {', '.join(sorted(notes.only))}"
    if notes.tolerate is not None:
        yield f'{PREFIX}tolerate: "{str(notes.tolerate).lower()}"'
    if notes.platforms is not None:
        yield f"{PREFIX}image-platforms: {', '.join(map(str, notes.platforms))}"
    if pod.runtime_class is not None:
        yield f"RuntimeClass {pod.runtime_class.name} of the input adds its nodeSelector and tolerations"
    if own.unlabelled:
        yield f"it tolerates nodes without an architecture label (toleration of {own.unlabelled})"
    if pod.namespace is not None and pod.namespace.node_selector:
        labels = ", ".join(f"{key}={value}" for key, value in pod.namespace.node_selector)
        yield f"Namespace {pod.ref.namespace} selects nodes: {labels}"
    if pod.immutable and not own.left_alone:
        yield _changeable(pod, decision, options)


def _changeable(pod: Pod, decision: Decision, options: Options) -> str:
    if decision.immutable:
        needed = ": it gets only what it cannot run without (--immutable needed)"
        full = ", and is treated as any other (--immutable full)"
        treated = needed if options.immutable == "needed" else full
        return f"a {pod.ref.kind} cannot be changed once applied{treated}"
    if pod.object_metadata.get("name") and options.hooks == "recreated":
        return "a hook, which is made anew each time (--hooks recreated)"
    return "generateName without a name: it is made anew each time"


def _rule(rule: Rule) -> str:
    parts = []
    if rule.skip is not None:
        parts.append(f"skip {str(rule.skip).lower()}")
    if rule.only is not None:
        where = " where its images are built for that" if rule.offered else ""
        parts.append(f"only {', '.join(rule.only) or 'nothing'}{where}")
    if rule.tolerate is not None:
        parts.append(f"tolerate {str(rule.tolerate).lower()}")
    if rule.prefer is not None:
        parts.append(f"prefer {', '.join(f'{name}={weight}' for name, weight in rule.prefer) or 'nothing'}")
    return "; ".join(parts) or "it says nothing"


def _row(pod: Pod, user_rows: UserRows) -> str:
    key = group_of(pod.ref.api_version), pod.ref.kind
    own = key in user_rows
    if key in WORKLOADS and not own:
        return f"inside of {pod.row.kind}: {known(pod.row)}" if pod.row is not None else ""
    state = f": {known(pod.row)}" if pod.row is not None and not own else ""
    path = pod.path[len(pod.root) :]
    for row in rows_of(pod.ref.api_version, pod.ref.kind, user_rows):
        if len(row.pod_spec) == len(path) and all(
            step in ("*", token) for step, token in zip(row.pod_spec, path, strict=True)
        ):
            return f"{STATED if own else 'built-in row'}, {pattern_text(row.pod_spec)}{state}"
    return STATED if own else f"built-in row{state}"
