"""The Kubernetes objects of a policy, in the order to apply them: the texts in template/ with the values of a cluster.

    policy.yaml      the MutatingAdmissionPolicy and its binding
    companion.yaml   the ValidatingAdmissionPolicy that warns of what the policy cannot say, and its binding
    deny.yaml        with `deny`, the one that refuses
    pod.yaml         variables about the pod, which each of them has

In a text `%name` stands for a value, on a line of its own for lines; other names are written out. The reasons of
`leftAlone` in pod.yaml are the table of the page. Everything in the CEL is known to Kubernetes 1.34, whose API server
checks it as 1.33 would: two-variable comprehensions (1.32), optional values, `find` and `findAll`; not the `lists` of
1.34. A patch is made of the policy's own literals, never of parts of `object`, and never of a list of
`Object{..}`: the API server loses the first and panics at the second (kubernetes#140164, #142181).
Source: KEP-3962; k8s.io/apiserver, pkg/cel/environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from importlib.resources import files
from typing import Any, TypeAlias

import yaml

from archfit.base.results import ObjectRef
from archfit.options.settings import PREFERRED, Exclude, Options, TolerationRule
from archfit.placement.filters import names_kind
from archfit.placement.pod_patch import preference, toleration_fields
from archfit.policy.settings import ALWAYS_LEFT_OUT, OPT_OUT, PolicySettings
from archfit.policy.table import GROUP, KIND, VERSION, Table, check_fits, pieces, table_objects
from archfit.webhook.added_record import entry
from archfit.yaml.values import plain

Literal: TypeAlias = "str | Iterable[Literal] | Mapping[str, Literal]"

POD = ObjectRef("v1", "Pod", "", "")
DENY = "-deny"
_REASON = re.compile(r"(?m) \? '((?:[^'\\]|\\.)*)' :(?: '')?$")
_COMPANION = "ValidatingAdmissionPolicy"
_LEFT_OUT = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(ALWAYS_LEFT_OUT)}
_GLOB = {"*": ".*", "?": ".", ".": "[.]"}
_IS_NAMESPACE = re.compile(r"[-a-z0-9.*?]*").fullmatch
"""Of a glob that may match one: a namespace has no other characters."""
_PLACE = re.compile(r"%([a-z_]+)")
_ESCAPED = re.compile(r"[^ -~]|[\\']")


def left_alone() -> list[str]:
    """The reasons for which a policy does not decide for a pod."""
    return [reason.replace("\\'", "'") for reason in _REASON.findall(_template("pod.yaml"))]


def policy_text(table: Table, options: Options, settings: PolicySettings) -> str:
    """The YAML of the objects to apply. table: what images run on. options: of the run.

    Raises UsageError for more images than a policy holds.
    """
    check_fits(table, settings)
    values = _values(table, options, settings)
    texts = [_text("policy.yaml", values), _text("companion.yaml", values)]
    texts += [_text("deny.yaml", values)] if settings.deny else []
    if settings.carrier == "crd":
        texts = [yaml.safe_dump_all(table_objects(table, settings), sort_keys=False), *texts]
    return "---\n".join(texts)


def policy_objects(table: Table, options: Options, settings: PolicySettings) -> list[dict[str, Any]]:
    """The same as values. Raises UsageError."""
    return list(yaml.load_all(policy_text(table, options, settings), Loader=yaml.CSafeLoader))


def _values(table: Table, options: Options, settings: PolicySettings) -> dict[str, str]:
    """What stands for each `%name` of the texts."""
    cluster = sorted(options.cluster_architectures)
    names, resource = {f"variables.{name}": piece for name, piece in _named(table).items()}, ""
    if settings.carrier == "crd":
        names, resource = {"params.images": {}}, _flow({"apiVersion": f"{GROUP}/{VERSION}", "kind": KIND})
    own = _flow({"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{_COMPANION}Binding"})
    prefers = "true" if options.prefer else ""
    gets = "(variables.gets + variables.getsPreferences)" if prefers else "variables.gets"
    had = "(variables.had + variables.hadPreferences)" if prefers else "variables.had"
    narrows = "variables.narrowed.exists(list, list.size() > 0)"
    param = {"name": settings.name, "parameterNotFoundAction": "Allow"}
    values = {
        "version": settings.api_version,
        "name": settings.name,
        "metadata": _flow(settings.dated(settings.name)),
        "deny_metadata": _flow(settings.dated(settings.name + DENY)),
        "param_kind": resource or own,
        "param": _flow(param),
        "deny_param": _flow(param | {"name": settings.name + DENY}),
        "table_kind": resource and f"paramKind: {resource}",
        "table_param": resource and f", paramRef: {_flow(param)}",
        "namespaces": ",\n  ".join(map(_flow, (_LEFT_OUT, OPT_OUT, *settings.namespace_selector))),
        "opt_out": _flow(OPT_OUT),
        "excluded": _excluded(options.exclude),
        "cluster": literal(cluster),
        "table": "" if resource else "\n".join(_piece(*row) for row in names.items()),
        "listed": " || ".join(f"i in {name}" for name in names),
        "lookup": _lookup(names),
        "rules": _list(
            _rule(rule) for rule in options.tolerate if not set(cluster).isdisjoint(rule.architectures)
        ),
        "weights": _list(_weight(*weight) for weight in sorted(options.prefer)),
        "gets": gets,
        "same": f"{had} == {gets}",
        "affine": f"{narrows} || variables.getsPreferences.size() > 0" if prefers else narrows,
        "or_denied": " || 'Deny' in params.spec.validationActions" if settings.deny else "",
    }
    values["matching"] = _text("matching.yaml", values)
    values["preferences"] = prefers and _text("preferences.yaml", values)
    values["prefer"] = prefers and _text("prefer.yaml", values)
    values["pod"] = _text("pod.yaml", values)
    values["pod_again"] = re.sub(r"(?m)^(- name: \w+) #.*", r"\1", values["pod"])
    return values


def _flow(value: Any) -> str:
    """The value in one line of YAML."""
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=float("inf")).strip()


def _excluded(globs: Iterable[Exclude]) -> str:
    """The condition that the pod is of no excluded namespace; "" where none is excluded."""
    patterns = [
        "".join(_GLOB.get(mark, mark) for mark in glob.namespace or "*")
        for glob in globs
        if names_kind(glob.kind, POD) and _IS_NAMESPACE(glob.namespace)
    ]
    if not patterns:
        return ""
    listed = ",\n    ".join(literal(f"^{pattern}$") for pattern in dict.fromkeys(patterns))
    test = f"![{listed}].exists(glob, request.namespace.matches(glob))"
    return f"- name: not-of-an-excluded-namespace\n  expression: |-\n    {test}"


def _named(table: Table) -> dict[str, Table]:
    """The variables of the table, with their rows."""
    every = list(pieces(table))
    return {f"platforms{number if len(every) > 1 else ''}": piece for number, piece in enumerate(every, 1)}


def _piece(name: str, piece: Table) -> str:
    rows = ",\n     ".join(f"{literal(image)}: {literal(row)}" for image, row in piece.items())
    comment = "on which of them each known image runs; 'manifest': it is no index, so any node can mount it as a volume"
    return f"- name: {name.removeprefix('variables.')} # {comment}\n  expression: |-\n    {{{rows}}}"


def _lookup(names: Iterable[str]) -> str:
    """What the table says of an image, as an optional value."""
    first, *others = (f"{name}[?variables.images[n]]" for name in names)
    return first + "".join(f"\n  .or({other})" for other in others)


def _list(rows: Iterable[str]) -> str:
    lines = ",\n".join(rows)
    return f"[{lines}]"


def _rule(rule: TolerationRule) -> str:
    fields = toleration_fields(rule.toleration)
    return (
        f"{{'architectures': dyn({literal(sorted(rule.architectures))}),\n"
        f"  'toleration': dyn({literal(fields)}),\n"
        f"  'entry': dyn({literal(entry(('spec', 'tolerations', '-'), fields))})}}"
    )


def _weight(architecture: str, weight: int) -> str:
    term = plain(preference(architecture, weight))
    (expression,) = term["preference"]["matchExpressions"]
    written = ", ".join(f"'{key}': dyn({literal(member)})" for key, member in expression.items())
    text = literal(entry(("spec", "affinity", "nodeAffinity", PREFERRED, "-"), term))
    half = text.index('"value"')
    return (
        f"{{'architecture': dyn({literal(architecture)}),\n"
        f"  'term': dyn({{'weight': dyn({weight}), 'preference':\n"
        f"    dyn({{'matchExpressions': [{{{written}}}]}})}}),\n"
        f"  'entry': dyn({text[:half]}'\n    + '{text[half:]})}}"
    )


def _escape(mark: re.Match[str]) -> str:
    return f"\\U{ord(mark[0]):08x}"


def literal(value: Literal) -> str:
    """The value as CEL writes it; members of mappings keep their order."""
    if isinstance(value, str):
        return f"'{_ESCAPED.sub(_escape, value)}'"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(key)}: {literal(member)}' for key, member in value.items())}}}"
    return f"[{', '.join(map(literal, value))}]"


def _template(name: str) -> str:
    return files(__package__).joinpath("template", name).read_text(encoding="utf-8")


def _text(name: str, values: Mapping[str, str]) -> str:
    """A template with its values; the lines of a value are indented as the line that it stands in."""
    lines = []
    for line in _template(name).splitlines():
        margin = line[: len(line) - len(line.lstrip())]
        alone = _PLACE.fullmatch(line.strip())
        if alone and not values[alone[1]]:
            continue
        lines.append(_PLACE.sub(partial(_filled, values, margin), line))
    return "".join(f"{line}\n" for line in lines)


def _filled(values: Mapping[str, str], margin: str, place: re.Match[str]) -> str:
    return values[place[1]].rstrip("\n").replace("\n", f"\n{margin}")
