"""Option values in the shape of a configuration file: lists and mappings instead of one line of text.

    architectures    [amd64, arm64]
    the cluster's    [amd64, arm64, windows/amd64]
    platforms        [linux/amd64, linux/arm/v7]
    weights          {arm64: 10, amd64: 5}
    overrides        {"registry.local/legacy/*": [linux/amd64]}
    mirrors          {docker.io: "https://hub.example/proxy"}
    system taints    {windows: "node.kubernetes.io/os=windows:NoSchedule"}
    tolerations      ["arch=arm64:NoSchedule", {architectures: [arm64], toleration: {key, ..}, when: needed}]

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
    found = listed(value, example)
    return tuple(dict.fromkeys(within(index, parse, item) for index, item in enumerate(found)))


def listed(value: object, example: str) -> list[object]:
    """A list, or `none`. Raises Problem."""
    found = [] if value == "none" else value
    if not isinstance(found, list):
        shown = found if isinstance(found, str) and found.isprintable() and "," not in found else example
        raise Problem(f"has to be a list: write it as [{shown}]")
    return found


def members(value: object, example: str) -> dict[str, object]:
    """A mapping, or `none`. Raises Problem."""
    found = {} if value == "none" else value
    if not isinstance(found, dict):
        raise Problem(f"has to be a mapping: write it as {{{example}}}")
    return found


def fields(
    value: object, known: Sequence[str], example: str, needed: Sequence[str] = ()
) -> dict[str, object]:
    """A mapping with none but the known keys, and all that are needed. Raises Problem."""
    found = members(value, example)
    for key in found:
        if key not in known:
            raise Problem(f"there is no key {key!r} here: {expected(key, known)}", (key,))
    for key in needed:
        if key not in found:
            raise Problem(f"has no {key}: write it as {{{example}}}")
    return found


def architectures(value: object) -> tuple[str, ...]:
    """A list of architectures, not empty, sorted and unique. Raises Problem."""
    return tuple(sorted(_at_least_one(value, text_form.architecture)))


def cluster_architectures(value: object) -> tuple[str, ...]:
    """A list of architectures of nodes, at least one of Linux, sorted and unique. Raises Problem."""
    return text_form.with_linux(_at_least_one(value, text_form.cluster_architecture))


def _at_least_one(value: object, architecture: Callable[[str], str]) -> tuple[str, ...]:
    found = items(value, lambda item: architecture(string(item)), "amd64, arm64")
    if not found:
        raise Problem("names no architecture: write at least one, as [amd64]")
    return found


def platforms(value: object) -> tuple[Platform, ...]:
    """A list of platforms, sorted by their text and unique. Raises Problem."""
    return tuple(sorted(items(value, lambda item: text_form.platform(string(item)), "linux/amd64"), key=str))


def weights(value: object) -> tuple[tuple[str, int], ...]:
    """A mapping of architectures to weights, sorted. Raises Problem."""
    found = members(value, "arm64: 10, amd64: 5")
    rows = tuple(
        (text_form.architecture(name), within(name, lambda item: text_form.weight(string(item)), number))
        for name, number in found.items()
    )
    return tuple(sorted(text_form.distinct(rows, lambda row: row[0])))


def overrides(value: object) -> tuple[ImagePlatforms, ...]:
    """A mapping of globs to lists of platforms, in its order. Raises Problem."""

    def some(listed: object) -> tuple[Platform, ...]:
        found = platforms(listed)
        if not found:
            raise Problem("names no platform: write at least one, as [linux/amd64]")
        return found

    found = members(value, "'registry.local/legacy/*': [linux/amd64]")
    return tuple(
        ImagePlatforms(text_form.glob(pattern), within(pattern, some, row)) for pattern, row in found.items()
    )


def mirrors(value: object) -> tuple[Mirror, ...]:
    """A mapping of registries to URLs, in its order. Raises Problem, whose path never holds a URL."""
    found = members(value, "docker.io: 'https://hub.example/proxy'")
    hosts = [(registry_host(source), url) for source, url in found.items()]
    rows = tuple(_of_host(mirror, host, url) for host, url in hosts)
    return text_form.distinct(rows, lambda row: row.source)


def system_taints(value: object) -> tuple[tuple[str, Toleration], ...]:
    """A mapping of operating systems to taints. Raises Problem."""
    found = members(value, "windows: 'node.kubernetes.io/os=windows:NoSchedule'")
    return tuple(_of_host(text_form.system_taint, system, taint) for system, taint in found.items())


def request_rates(value: object) -> tuple[RequestRate, ...]:
    """A mapping of registries to numbers of requests a second, in its order. Raises Problem."""
    found = members(value, "docker.io: 5")
    rows = tuple(
        _of_host(request_rate, host, str(number) if isinstance(number, float) else number)
        for host, number in found.items()
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
    found = fields(value, ("architectures", "toleration", "when"), "architectures: [arm64], toleration: {..}")
    for key in ("architectures", "toleration"):
        if key not in found:
            raise Problem(f"has no {key}: write both architectures and toleration")
    return TolerationRule(
        within("architectures", architectures, found["architectures"]),
        within("toleration", _toleration, found["toleration"]),
        within("when", lambda text: one_of(text, WHEN, "when to tolerate"), found.get("when", WHEN[0]))
        == "needed",
    )


def one_of(value: object, words: Sequence[str], what: str) -> str:
    """One of the words. what: what it has to say. Raises Problem."""
    text = string(value)
    if text not in words:
        raise Problem(f"{text!r} does not say {what}: {expected(text, words)}")
    return text


def _toleration(value: object) -> Toleration:
    found = fields(
        value, ("key", "operator", "value", "effect"), "key: arch, value: arm64, effect: NoSchedule"
    )
    if "key" not in found:
        raise Problem("has no key: write the taint's key, as archfit never adds a toleration of every taint")
    key = within("key", lambda item: text_form.label_key(string(item)), found["key"])
    operator = within("operator", _operator, found.get("operator", "Equal"))
    text = within("value", lambda item: text_form.label_value(string(item)), found.get("value", ""))
    if operator == "Exists" and text:
        raise Problem("operator Exists takes no value: leave it out, or write operator: Equal", ("value",))
    scope = within("effect", lambda item: effect(string(item)), found["effect"]) if "effect" in found else ""
    return Toleration(key, operator, text, scope)


def _operator(value: object) -> str:
    word = string(value)
    if word not in OPERATORS:
        raise Problem(f"{word!r} is not an operator of tolerations: {expected(word, OPERATORS)}")
    return word
