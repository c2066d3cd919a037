"""A KRM function's functionConfig as a layer of configuration: placement only, because anyone may have supplied it.

    absent, null, or the empty ConfigMap that kpt makes      nothing is given
    kind: ArchFit     spec: {onConflict: leave}              as in the configuration file
    kind: ConfigMap   data: {onConflict: leave}              strings, as the environment has them

Annotations of it belong to the orchestrator and are ignored.
"""

from __future__ import annotations

from archfit.errors import UsageError
from archfit.options.config_file import API_VERSION, KIND, from_values
from archfit.options.layers import Given, Layer
from archfit.options.problem import Problem
from archfit.options.table import BY_KEY, SPEC
from archfit.spelling import expected
from archfit.typing_names import Any

SOURCE = "functionConfig"


def from_function_config(value: Any) -> Layer | None:
    """The layer of a functionConfig, None where it gives nothing. value: plain. Raises UsageError."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise UsageError(f"{SOURCE}: has to be an object: write apiVersion: {API_VERSION} and kind: {KIND}")
    if value.get("kind") == "ConfigMap" and value.get("apiVersion") == "v1":
        return _from_data(value.get("data"))
    return from_values(value, SOURCE)


def _from_data(data: Any) -> Layer | None:
    if not data:
        return None
    if not isinstance(data, dict):
        raise UsageError(f"{SOURCE}, data: has to be a mapping of options: write them as key: value")
    keys = tuple(option.key for option in SPEC if not option.file_only)
    given = {}
    for key, text in data.items():
        where = f"{SOURCE}, data.{key}"
        if key not in keys:
            raise UsageError(f"{where}: {_unknown(key, keys)}")
        if not isinstance(text, str):
            raise UsageError(f"{where}: has to be a string, as in every ConfigMap: put it in quotes")
        option = BY_KEY[key]
        try:
            parsed = option.type.text(text.split() if option.repeatable else [text.strip()])
        except Problem as problem:
            raise UsageError(f"{where}: {problem.message}") from None
        given[key] = Given(parsed, where)
    return Layer(SOURCE, given)


def _unknown(key: str, keys: tuple[str, ...]) -> str:
    option = BY_KEY.get(key)
    if option is not None and option.part == "operator":
        return "only the operator may set this, by a flag, a variable, or a file that one of them names"
    if option is not None:
        return f"does not fit into a ConfigMap: use apiVersion: {API_VERSION}, kind: {KIND}"
    return f"there is no option {key!r}: {expected(key, keys)}"
