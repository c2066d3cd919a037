"""Layers of configuration, and how they become one.

    flags  >  functionConfig, application parameters  >  environment  >  file  >  default

The highest layer that gives a key gives its whole value; lists and mappings are never merged. A key that the
operator's file lists under `operator.enforced` has the file's value (or the default, if the file gives none):
a layer that gives another value is an error. An annotation that would decide instead is one, too (`table.ANNOTATIONS`).

A variable is ARCHFIT_ and the flag's name in capitals; blanks divide the values of a repeatable one, and an empty one
counts as unset. One whose name is nearly that of an option is an error; others with the prefix are ignored.
ARCHFIT_CACHE_PASSWORD is not an option: `lookup.store.open` reads it, and nothing shows it.

A run without arguments and without ARCHFIT_* variables, which is what Helm 3 makes of `--post-renderer archfit`, gets
the defaults at once: the table of options is loaded for others alone.
"""

from __future__ import annotations

from archfit.base.errors import Problem, UsageError
from archfit.options.settings import Given, Layer, Operator, Options, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from archfit.options.table import Option

_PRESENT = "present"
MOST_GLOBS = 500
STAMPS_PRESENT = Layer("", {"stamp": Given(_PRESENT, "the command")})
"""Commands that judge files which `--in-place` may have changed read the stamps that are there, and ask for none."""


def load(
    argv: Sequence[str],
    environ: Mapping[str, str],
    read_file: Callable[[str], bytes],
    *,
    application: Layer | None = None,
    rows: Sequence[Option] | None = None,
    program: str = "archfit",
    flags: tuple[Layer, str | None] | None = None,
    fallback: Layer | None = None,
    named_by: str = "",
) -> Settings:
    """The settings of a run.

    argv: without program and command. read_file: the bytes of the file at a path, or OSError. application: what
    `config_file.from_values` gave, where the caller has such a layer. rows: the options of the command; all of them if
    None. flags: what `arguments.parse` made of argv, where a command takes more than options. fallback: the caller's
    own defaults. named_by: what names the configuration file, "" for flag or variable. Raises UsageError.
    """
    given = argv or application or flags or fallback
    if not given and not any(name.startswith("ARCHFIT_") for name in environ):
        return Settings()
    from archfit.options.table import BY_KEY, CONFIG_FLAG, CONFIG_VARIABLE, TABLE

    layers = []
    path: str | None = None
    if argv and flags is None:
        rows = TABLE if rows is None else rows
        flags = from_flags(argv, rows)
        if flags is None:
            from archfit.options.arguments import from_arguments  # argparse costs 4 ms

            flags = from_arguments(argv, rows, program)
    if flags is not None:
        layer, path = flags
        layers.append(layer)
    if application is not None:
        layers.append(application)
    layers.append(from_environment(environ))
    named_by = named_by or (CONFIG_FLAG if path else CONFIG_VARIABLE)
    path = path or environ.get(CONFIG_VARIABLE)
    if path:
        from archfit.options.config_file import from_file  # the YAML parser costs 15 ms

        try:
            content = read_file(path)
        except OSError as error:
            raise UsageError(
                f"{named_by}: cannot read {path!r} ({error.strerror or error}): name a file that archfit can read"
            ) from None
        layers.append(from_file(content, path, named_by))
    settings = merge(layers, fallback)
    own = dict(application.given) if application else {}
    own |= flags[0].given if flags else {}
    filters = tuple((key, value.where) for key, value in own.items() if BY_KEY[key].filter)
    return settings.replace(filters=filters) if filters else settings


def merge(layers: Sequence[Layer], fallback: Layer | None = None) -> Settings:
    """One result of all layers, the one with the highest precedence first. Raises UsageError.

    fallback: replaces some defaults. It overrides no layer, so no enforced key forbids it.
    """
    from archfit.options.table import ANNOTATIONS, BY_KEY

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
        for option in filter(None, map(BY_KEY.get, layer.enforced)):
            _enforce(option, layer, layers, fallback)
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


def _enforce(option: Option, operator: Layer, layers: Sequence[Layer], fallback: Layer | None) -> None:
    """Raises UsageError for a layer with another value than the operator's."""
    key = option.key
    own = operator.given.get(key) or (fallback.given.get(key) if fallback else None)
    fixed = own.value if own else getattr(Options() if option.part == "spec" else Operator(), option.field)
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
    from archfit.options.option_types import SWITCH
    from archfit.options.table import CONFIG_FLAG, flag_layer
    from archfit.startup.flags import read_flags

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


def from_environment(environ: Mapping[str, str]) -> Layer:
    """The layer of the environment. Raises UsageError."""
    from archfit.options.table import CONFIG_VARIABLE, TABLE, VARIABLE_PREFIX

    given = {}
    own = {name: text for name, text in environ.items() if name.startswith(VARIABLE_PREFIX)}
    if own:
        options = {option.variable: option for option in TABLE if option.variable}
        for variable, option in options.items():
            text = own.get(variable, "")
            if not text.strip():
                continue
            given[option.key] = Given(option.parsed(option.divided(text), variable), variable)
        _no_misspelt(own, (*options, CONFIG_VARIABLE, f"{VARIABLE_PREFIX}CACHE_PASSWORD"), VARIABLE_PREFIX)
    names = ", ".join(value.where for value in given.values())
    return Layer(f"environment ({names})", given)


def is_service_link(variable: str, value: str) -> bool:
    """Whether the kubelet sets such a variable for a Service: ARCHFIT_CACHE_PORT=tcp://10.0.0.1:80 for archfit-cache.

    Both name and value count: PORT is near to REPORT. Source: kubernetes v1.36, pkg/kubelet/envvars/envvars.go.
    """
    import re  # a run whose variables are archfit's alone does without it

    return re.fullmatch(_SERVICE_LINK, f"{variable}={value}", re.ASCII) is not None


def _no_misspelt(own: Mapping[str, str], known: Sequence[str], prefix: str) -> None:
    from archfit.base.spelling import nearest

    names = sorted(variable.removeprefix(prefix) for variable in known)
    for variable, value in own.items():
        if variable in known or is_service_link(variable, value):
            continue
        if near := nearest(variable.removeprefix(prefix), names):
            raise Problem(f"{variable}: there is no such variable: write {prefix}{near}, or unset it")
