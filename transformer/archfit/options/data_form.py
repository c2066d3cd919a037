"""Option values in the shape of a configuration file: lists and mappings instead of one line of text.

Values are plain: dict, list, str, bool, int and None, as `config_yaml` reads them. The word `none` stands for
the empty list or mapping. A function raises Problem whose `path` leads to the part that is wrong.
"""

from __future__ import annotations

from archfit.base.spelling import expected
from archfit.images.platforms import ImagePlatforms, Platform
from archfit.options import text_form
from archfit.options.hosts import mirror, registry_host, request_rate
from archfit.options.option_entries import Mirror, RequestRate
from archfit.options.settings import Toleration, TolerationRule
from archfit.options.text_form import OPERATORS, WHEN, Problem, effect, toleration_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    T = TypeVar("T")


def string(value: object) -> str:
    """A scalar's text. Raises Problem for a boolean, which YAML made of a bare word, and for the rest."""
    if isinstance(value, bool):
        raise Problem(f"{str(value).lower()} is a boolean in YAML: write it in quotes if you mean the word")
    if isinstance(value, (str, int)):
        return str(value)
    raise Problem(
        "has no value: write one, or leave the key out" if value is None else "has to be a single text"
    )


def boolean(value: object) -> bool:
    """A YAML boolean. Raises Problem."""
    if not isinstance(value, bool):
        shown = repr(value) if isinstance(value, (str, int)) else "this"
        raise Problem(f"{shown} is not a boolean: write true or false")
    return value


def within(step: str | int, parse: Callable[[object], T], value: object) -> T:
    """What `parse` makes of a part of a value; a Problem gets the step that leads there."""
    try:
        return parse(value)
    except Problem as problem:
        raise Problem(problem.message, (step, *problem.path)) from None


def items(value: object, parse: Callable[[object], T], example: str) -> tuple[T, ...]:
    """The items of a list, or of `none`, doubles dropped. Raises Problem."""
    rows = enumerate(listed(value, example))
    return tuple(dict.fromkeys(within(index, parse, item) for index, item in rows))


def listed(value: object, example: str) -> list[object]:
    """A list, or `none`. Raises Problem."""
    if value == "none":
        return []
    if not isinstance(value, list):
        shown = value if isinstance(value, str) and value.isprintable() and "," not in value else example
        raise Problem(f"has to be a list: write it as [{shown}]")
    return value


def members(value: object, example: str) -> dict[str, object]:
    """A mapping, or `none`. Raises Problem."""
    if value == "none":
        return {}
    if not isinstance(value, dict):
        raise Problem(f"has to be a mapping: write it as {{{example}}}")
    return value


def fields(
    value: object, known: Sequence[str], example: str, needed: Sequence[str] = ()
) -> dict[str, object]:
    """A mapping with none but the known keys, and all that are needed. Raises Problem."""
    given = members(value, example)
    for key in given:
        if key not in known:
            raise Problem(f"there is no key {key!r} here: {expected(key, known)}", (key,))
    for key in needed:
        if key not in given:
            raise Problem(f"has no {key}: write it as {{{example}}}")
    return given


def architectures(value: object) -> tuple[str, ...]:
    """A list of architectures, not empty, sorted and unique. Raises Problem."""
    return tuple(sorted(_at_least_one(value, text_form.architecture)))


def cluster_architectures(value: object) -> tuple[str, ...]:
    """A list of architectures of nodes, at least one of Linux, sorted and unique. Raises Problem."""
    entries = sorted(_at_least_one(value, text_form.cluster_architecture))
    if all("/" in entry for entry in entries):
        raise Problem(
            "names no architecture of Linux nodes: write those too, as 'amd64', beside "
            + ", ".join(map(repr, entries))
        )
    return tuple(entries)


def _at_least_one(value: object, architecture: Callable[[str], str]) -> tuple[str, ...]:
    entries = items(value, lambda item: architecture(string(item)), "amd64, arm64")
    if not entries:
        raise Problem("names no architecture: write at least one, as [amd64]")
    return entries


def platforms(value: object) -> tuple[Platform, ...]:
    """A list of platforms, sorted by their text and unique. Raises Problem."""
    return tuple(sorted(items(value, lambda item: text_form.platform(string(item)), "linux/amd64"), key=str))


def weights(value: object) -> tuple[tuple[str, int], ...]:
    """A mapping of architectures to weights, sorted. Raises Problem."""
    rows = tuple(
        (text_form.architecture(name), within(name, lambda item: text_form.weight(string(item)), number))
        for name, number in members(value, "arm64: 10, amd64: 5").items()
    )
    return tuple(sorted(text_form.distinct(rows, lambda row: row[0])))


def overrides(value: object) -> tuple[ImagePlatforms, ...]:
    """A mapping of globs to lists of platforms, in its order. Raises Problem."""

    def some(listed: object) -> tuple[Platform, ...]:
        if offered := platforms(listed):
            return offered
        raise Problem("names no platform: write at least one, as [linux/amd64]")

    return tuple(
        ImagePlatforms(text_form.glob(pattern), within(pattern, some, row))
        for pattern, row in members(value, "'registry.local/legacy/*': [linux/amd64]").items()
    )


def mirrors(value: object) -> tuple[Mirror, ...]:
    """A mapping of registries to URLs, in its order. Raises Problem, whose path never holds a URL."""
    urls = members(value, "docker.io: 'https://hub.example/proxy'")
    hosts = [(registry_host(source), url) for source, url in urls.items()]
    rows = tuple(_of_host(mirror, host, url) for host, url in hosts)
    return text_form.distinct(rows, lambda row: row.source)


def system_taints(value: object) -> tuple[tuple[str, Toleration], ...]:
    """A mapping of operating systems to taints. Raises Problem."""
    taints = members(value, "windows: 'node.kubernetes.io/os=windows:NoSchedule'")
    return tuple(_of_host(text_form.system_taint, system, taint) for system, taint in taints.items())


def request_rates(value: object) -> tuple[RequestRate, ...]:
    """A mapping of registries to numbers of requests a second, in its order. Raises Problem."""
    rows = tuple(
        _of_host(request_rate, host, str(number) if isinstance(number, float) else number)
        for host, number in members(value, "docker.io: 5").items()
    )
    return text_form.distinct(rows, lambda row: row.host)


def _of_host(parse: Callable[[str, str], T], host: str, value: object) -> T:
    return within(host, lambda text: parse(host, string(text)), value)


def tolerations(value: object) -> tuple[TolerationRule, ...]:
    """A list of taints and of rules written out, in its order. Raises Problem."""
    return items(value, _rule, "'arch=arm64:NoSchedule'")


def _rule(value: object) -> TolerationRule:
    if not isinstance(value, dict):
        return toleration_rule(string(value))
    rule = fields(value, ("architectures", "toleration", "when"), "architectures: [arm64], toleration: {..}")
    for key in ("architectures", "toleration"):
        if key not in rule:
            raise Problem(f"has no {key}: write both architectures and toleration")
    return TolerationRule(
        within("architectures", architectures, rule["architectures"]),
        within("toleration", _toleration, rule["toleration"]),
        word(rule, "when", WHEN, "does not say when to tolerate") == "needed",
    )


def word(given: dict[str, object], key: str, known: Sequence[str], wrong: str) -> str:
    """The word at a key, by default the first one that is known. wrong: see `text_form.one_of`. Raises Problem."""
    value = given.get(key, known[0])
    return within(key, lambda item: text_form.one_of(string(item), known, wrong), value)


def _toleration(value: object) -> Toleration:
    given = fields(
        value, ("key", "operator", "value", "effect"), "key: arch, value: arm64, effect: NoSchedule"
    )
    if "key" not in given:
        raise Problem("has no key: write the taint's key, as archfit never adds a toleration of every taint")
    key = within("key", lambda item: text_form.label_key(string(item)), given["key"])
    operator = word(given, "operator", OPERATORS, "is not an operator of tolerations")
    text = within("value", lambda item: text_form.label_value(string(item)), given.get("value", ""))
    if operator == "Exists" and text:
        raise Problem("operator Exists takes no value: leave it out, or write operator: Equal", ("value",))
    scope = within("effect", lambda item: effect(string(item)), given["effect"]) if "effect" in given else ""
    return Toleration(key, operator, text, scope)
