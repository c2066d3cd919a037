"""Layers of configuration, and how they become one.

    flags  >  functionConfig, application parameters  >  environment  >  file  >  default

The highest layer that gives a key gives its whole value; lists and mappings are never merged. A key that the
operator's file lists under `operator.enforced` has the file's value (or the default, if the file gives none):
a layer that gives another value is an error. An annotation that would decide instead is one, too (`ANNOTATIONS`).

A variable is ARCHFIT_ and the flag's name in capitals; blanks divide the values of a repeatable one, and an empty one
counts as unset. One whose name is nearly that of an option is an error; others with the prefix are ignored.
ARCHFIT_CACHE_PASSWORD is not an option: `lookup.store.open` reads it, and nothing shows it.
"""

from __future__ import annotations

from archfit.base.errors import UsageError
from archfit.base.spelling import nearest
from archfit.options.option_types import SWITCH
from archfit.options.settings import Operator, Options, Settings
from archfit.options.table import (
    BY_KEY,
    CONFIG_FLAG,
    CONFIG_VARIABLE,
    TABLE,
    VARIABLE_PREFIX,
    Option,
)
from archfit.options.text_form import Problem
from archfit.startup.flags import read_flags
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

# What `enforced` covers beside the options: annotations of manifests that say something else.
ANNOTATIONS = {"imagePlatforms": "archfit.dev/image-platforms", "skip": "archfit.dev/skip"}


class Given(Record):
    """A value and its source: `--strict`, `ARCHFIT_STRICT` or `archfit.yaml line 4, spec.strict`."""

    value: object
    where: str


class Layer(Record):
    """What one source gives, by key.

    source: its name for the report's head. enforced: keys that no other layer may change.
    """

    source: str
    given: Mapping[str, Given]
    enforced: tuple[str, ...] = ()


_PRESENT = "present"
MOST_GLOBS = 500
STAMPS_PRESENT = Layer("", {"stamp": Given(_PRESENT, "the command")})
"""Commands that judge files which `--in-place` may have changed read the stamps that are there, and ask for none."""


def merge(layers: Sequence[Layer], fallback: Layer | None = None) -> Settings:
    """One result of all layers, the one with the highest precedence first. Raises UsageError.

    fallback: replaces some defaults. It overrides no layer, so no enforced key forbids it.
    """
    chosen: dict[str, Given] = {}
    everything = (*layers, fallback) if fallback else layers
    for layer in everything:
        for key, given in layer.given.items():
            chosen.setdefault(key, given)
    _one_of_quiet_and_verbose(everything, chosen)
    spec: dict[str, Any] = {}
    operator: dict[str, Any] = {}
    for key, given in chosen.items():
        option = BY_KEY[key]
        if option.filter:
            _check_globs(given.where, given.value)
        (spec if option.part == "spec" else operator)[option.field] = given.value
    if spec.get("stamp") == _PRESENT:
        spec |= {"stamp": False, "stamps_present": True}
    annotations: dict[str, str] = {}
    for layer in layers:
        _enforce(layer, layers, fallback)
        if "onUnknown" in layer.enforced:
            spec["on_unknown_is_enforced"] = True
        for key in layer.enforced:
            if key in ANNOTATIONS:
                annotations.setdefault(ANNOTATIONS[key], layer.source)
    if annotations:
        spec["enforced_annotations"] = tuple(annotations.items())
    settings = Settings(
        Options(**spec),
        Operator(**operator),
        tuple(layer.source for layer in everything if layer.source and (layer.given or layer.enforced)),
        given=tuple((key, value.where) for key, value in chosen.items()),
    )
    if settings.options.on_unknown == "assume" and not settings.options.assume:
        raise UsageError(
            f"{chosen['onUnknown'].where}: 'assume' needs the platforms to assume: "
            "add --assume, as in --assume linux/amd64"
        )
    if settings.options.locked and not settings.options.lock_file:
        raise UsageError(
            f"{chosen['locked'].where}: needs a lock file: add --lock-file, as in --lock-file archfit.lock"
        )
    return settings


def _check_globs(where: str, entries: Any) -> None:
    """Raises UsageError for more globs than may be compared with each object; what has no wildcard is looked up."""
    globs = [entry for entry in entries if any(mark in repr(entry) for mark in "*?[")]
    if len(globs) > MOST_GLOBS:
        raise UsageError(
            f"{where}: {len(globs)} entries have wildcards, of {MOST_GLOBS} that may: write the others in full"
        )


def _one_of_quiet_and_verbose(layers: Sequence[Layer], chosen: dict[str, Given]) -> None:
    """The highest layer that has one of the two gets it."""
    for layer in layers:
        switches = [key for key in ("quiet", "verbose") if key in layer.given and layer.given[key].value]
        if len(switches) == 2:
            less, more = (layer.given[key].where for key in switches)
            raise UsageError(f"{less} asks for fewer messages and {more} for more: leave one of them out")
        if switches:
            chosen.pop("verbose" if switches == ["quiet"] else "quiet", None)
            return


def _enforce(operator: Layer, layers: Sequence[Layer], fallback: Layer | None) -> None:
    for key in operator.enforced:
        option = BY_KEY.get(key)
        if option is None:
            continue
        own = operator.given.get(key) or (fallback.given.get(key) if fallback else None)
        fixed = (
            own.value if own else getattr(Options() if option.part == "spec" else Operator(), option.field)
        )
        for layer in layers:
            given = layer.given.get(key)
            if given and given.value != fixed:
                raise UsageError(f"{given.where}: {key} is enforced by {operator.source}: leave it out here")


_SERVICE_LINK = (
    r"\w+_(?:"
    r"SERVICE_HOST=[\d.:a-f]+"
    r"|SERVICE_PORT(?:_[A-Z0-9_]+)?=\d+"
    r"|PORT(?:_\d+_(?:TCP|UDP|SCTP))?=(?:tcp|udp|sctp)://[\d.:a-f\[\]]+:\d+"
    r"|PORT_\d+_(?:TCP|UDP|SCTP)_(?:PROTO=(?:tcp|udp|sctp)|PORT=\d+|ADDR=[\d.:a-f]+))"
)


def from_flags(argv: Sequence[str], rows: Sequence[Option]) -> tuple[Layer, str | None] | None:
    """The layer of the flags and the configuration file that they name; None where `arguments` has to read them.

    rows: the options of the command at hand.
    """
    options = {flag: option for option in rows for flag in option.flags}
    switches = {flag for flag, option in options.items() if option.type is SWITCH}
    flags = read_flags(argv, {CONFIG_FLAG, *options}, switches)
    if flags is None:
        return None
    texts: dict[str, list[str]] = {}
    config: str | None = None
    for flag, text in flags:
        if flag == CONFIG_FLAG:
            config = text
            continue
        option = options[flag]
        value = text if flag not in switches else "true" if flag == option.flags[0] else "false"
        texts.setdefault(option.key, []).append(value)
    try:
        return flag_layer(texts, rows), config
    except UsageError:
        return None


def flag_layer(texts: Mapping[str, Sequence[str] | None], rows: Sequence[Option]) -> Layer:
    """The layer of the flags. texts: what each was given, by the option's key. Raises UsageError."""
    given = {
        option.key: Given(flag_value(option, occurrences), option.flags[0])
        for option in rows
        if (occurrences := texts.get(option.key))
    }
    names = ", ".join(value.where for value in given.values())
    return Layer(f"flags ({names})", given)


def flag_value(option: Option, texts: Sequence[str]) -> object:
    """The value of the texts that a flag was given. Raises UsageError."""
    if "" in texts:
        raise UsageError(f"{option.flags[0]}: is empty: write a value, or leave the flag out")
    return parsed(option, texts, option.flags[0])


def parsed(option: Option, texts: Sequence[str], where: str) -> object:
    """The value of texts, by the option's own rules. Raises UsageError, which begins with `where`."""
    try:
        return option.type.text(texts)
    except Problem as problem:
        raise UsageError(f"{where}: {problem.message}") from None


def from_environment(environ: Mapping[str, str]) -> Layer:
    """The layer of the environment. Raises UsageError."""
    given = {}
    own = {name: text for name, text in environ.items() if name.startswith(VARIABLE_PREFIX)}
    if own:
        options = {option.variable: option for option in TABLE if option.variable}
        for variable, option in options.items():
            text = own.get(variable, "")
            if not text.strip():
                continue
            given[option.key] = Given(parsed(option, option.divided(text), variable), variable)
        _no_misspelt(own, options)
    names = ", ".join(value.where for value in given.values())
    return Layer(f"environment ({names})", given)


def is_service_link(variable: str, value: str) -> bool:
    """Whether the kubelet sets such a variable for a Service: ARCHFIT_CACHE_PORT=tcp://10.0.0.1:80 for archfit-cache.

    Both name and value count: PORT is near to REPORT. Source: kubernetes v1.36, pkg/kubelet/envvars/envvars.go.
    """
    import re  # a run whose variables are archfit's alone does without it

    return re.fullmatch(_SERVICE_LINK, f"{variable}={value}", re.ASCII) is not None


def _no_misspelt(own: Mapping[str, str], options: Iterable[str]) -> None:
    known = {variable.removeprefix(VARIABLE_PREFIX) for variable in options}
    known |= {CONFIG_VARIABLE.removeprefix(VARIABLE_PREFIX), "CACHE_PASSWORD"}
    for variable, value in own.items():
        name = variable.removeprefix(VARIABLE_PREFIX)
        if name in known or is_service_link(variable, value):
            continue
        near = nearest(name, sorted(known))
        if near:
            raise Problem(
                f"{variable}: there is no such variable: write {VARIABLE_PREFIX}{near}, or unset it"
            )
