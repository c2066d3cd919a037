"""Options in environment variables: ARCHFIT_ and the flag's name in capitals.

    ARCHFIT_ON_CONFLICT=leave
    ARCHFIT_MIRROR="docker.io=https://hub.example *=https://all.example"    repeatable: separated by blanks
    ARCHFIT_STRICT=true                                                     true, false, 1 or 0

ARCHFIT_CACHE_PASSWORD is not an option: `store.open` reads it, and nothing shows it. An empty variable counts as unset.
A variable whose name is nearly that of an option is an error. Other variables with the prefix are ignored, and so are
service links, whatever their names: the kubelet sets ARCHFIT_CACHE_PORT=tcp://10.0.0.1:80 for a Service archfit-cache.
Source of their shape: kubernetes v1.36, pkg/kubelet/envvars/envvars.go.
"""

from __future__ import annotations

from archfit.errors import UsageError
from archfit.options.layers import Given, Layer
from archfit.options.problem import Problem
from archfit.options.table import CONFIG_VARIABLE, TABLE, VARIABLE_PREFIX
from archfit.spelling import nearest
from archfit.typing_names import Mapping

_SERVICE_LINK = (
    r"\w+_(?:"
    r"SERVICE_HOST=[\d.:a-f]+"
    r"|SERVICE_PORT(?:_[A-Z0-9_]+)?=\d+"
    r"|PORT(?:_\d+_(?:TCP|UDP|SCTP))?=(?:tcp|udp|sctp)://[\d.:a-f\[\]]+:\d+"
    r"|PORT_\d+_(?:TCP|UDP|SCTP)_(?:PROTO=(?:tcp|udp|sctp)|PORT=\d+|ADDR=[\d.:a-f]+))"
)


def from_environment(environ: Mapping[str, str]) -> Layer:
    """The layer of the environment. Raises UsageError."""
    given = {}
    for option in TABLE:
        text = environ.get(option.variable, "") if option.variable else ""
        if not text.strip():
            continue
        try:
            parsed = option.type.text(text.split() if option.repeatable else [text.strip()])
        except Problem as problem:
            raise UsageError(f"{option.variable}: {problem.message}") from None
        given[option.key] = Given(parsed, option.variable)
    _no_misspelt(environ)
    names = ", ".join(value.where for value in given.values())
    return Layer(f"environment ({names})", given)


def is_service_link(variable: str, value: str) -> bool:
    """Whether the kubelet sets such a variable for a Service. Both name and value count: PORT is near to REPORT."""
    import re  # a run whose variables are archfit's alone does without it

    return re.fullmatch(_SERVICE_LINK, f"{variable}={value}", re.ASCII) is not None


def _no_misspelt(environ: Mapping[str, str]) -> None:
    known = {option.variable.removeprefix(VARIABLE_PREFIX) for option in TABLE if option.variable}
    known |= {CONFIG_VARIABLE.removeprefix(VARIABLE_PREFIX), "CACHE_PASSWORD"}
    for variable, value in environ.items():
        name = variable.removeprefix(VARIABLE_PREFIX)
        if name == variable or name in known or is_service_link(variable, value):
            continue
        near = nearest(name, sorted(known))
        if near:
            raise UsageError(
                f"{variable}: there is no such variable: write {VARIABLE_PREFIX}{near}, or unset it"
            )
