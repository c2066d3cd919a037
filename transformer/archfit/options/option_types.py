"""How the options of each type are written: as text (flag, variable), as data (file), and the JSON Schema.

`none` alone stands for the empty list or mapping everywhere but in clusterArchitectures. The texts' grammars
are in `text_form` and `hosts`, the data's in `data_form`.
"""

from __future__ import annotations

from archfit.base.spelling import refused
from archfit.images.platforms import ALIASES, ARCHITECTURES, WINDOWS
from archfit.options import data_form, text_form
from archfit.options.hosts import FASTEST, SLOWEST, host_pattern, mirror_pair, request_rate_pair
from archfit.options.text_form import (
    EFFECTS,
    OPERATORS,
    WHEN,
    Problem,
    cache_path,
    distinct,
    exclude,
    file_path,
)
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias, TypeVar

    T = TypeVar("T")

Schema: TypeAlias = "dict[str, Any]"


_LIST = 'Sequence[str] | Literal["none"]'


class OptionType(Record):
    """text: from the occurrences of a flag, at least one. data: from a file. schema: of the data.

    field: the type of the value, as `settings` writes it. written: the type of the data, as `api.options` writes it.
    """

    text: Callable[[Sequence[str]], object]
    data: Callable[[object], object]
    schema: Schema
    field: str
    written: str


def choice(*choices: str) -> OptionType:
    """One of some words."""

    def parse(word: str) -> str:
        if word not in choices:
            raise Problem(refused(word, choices))
        return word

    literal = "Literal[" + ", ".join(f'"{word}"' for word in choices) + "]"
    return single(parse, {"enum": list(choices)}, literal, literal)


def single(parse: Callable[[str], object], schema: Schema, field: str, written: str) -> OptionType:
    """One text; of several occurrences of a flag the last one counts."""
    return OptionType(
        lambda given: parse(given[-1]), lambda value: parse(data_form.string(value)), schema, field, written
    )


def listed(data: Callable[[object], object], item: Schema, field: str, written: str = _LIST) -> OptionType:
    """A list, of which each occurrence of a flag is an item."""
    schema = _or_none({"type": "array", "items": item})
    return OptionType(lambda given: data(_occurrences(given)), data, schema, field, written)


def repeated(parse: Callable[[str], object], item: Schema, example: str, field: str) -> OptionType:
    """A list of texts."""
    return listed(
        lambda value: data_form.items(value, lambda text: parse(data_form.string(text)), example),
        item,
        f"tuple[{field}, ...]",
    )


def keyed(
    parse: Callable[[str], T],
    key: Callable[[T], str],
    data: Callable[[object], object],
    schema: Schema,
    field: str,
    written: str,
) -> OptionType:
    """A mapping, of which each occurrence of a flag is a member. key: of a member; two of one key are an error."""

    def text(given: Sequence[str]) -> tuple[T, ...]:
        return distinct(tuple(dict.fromkeys(map(parse, _occurrences(given)))), key)

    literal = f'Mapping[str, {written}] | Literal["none"]'
    return OptionType(text, data, _or_none({"type": "object", **schema}), f"tuple[{field}, ...]", literal)


def _switch(word: str) -> bool:
    if word not in {"true", "false", "1", "0"}:
        raise Problem(f"{word!r} is not a boolean: write true or false")
    return word in {"true", "1"}


def _occurrences(given: Sequence[str]) -> list[str]:
    """Of a flag; `none` stands alone, for no one."""
    if list(given) == ["none"]:
        return []
    if "none" in given:
        raise Problem("'none' cannot stand beside other values: leave out either it or the others")
    return list(given)


def _last(parse: Callable[[str], tuple[T, ...]]) -> Callable[[Sequence[str]], tuple[T, ...]]:
    return lambda given: () if given[-1] == "none" else parse(given[-1])


def _or_none(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"const": "none"}]}


_FILE = "str | os.PathLike[str]"
_NAME = "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
_LABEL_KEY = {"type": "string", "pattern": f"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?{_NAME}$"}
LABEL_VALUE: Schema = {"type": ["string", "integer"], "pattern": f"^({_NAME})?$"}
_PLATFORM = {"type": ["string", "integer"], "pattern": "^[^/,]+(/[^/,]+){0,2}$"}
_DURATION = {"type": "string", "pattern": "^([0-9]+(ms|s|m|h|d))+$"}
_TEXT = {"type": "string", "minLength": 1}
_NAMES = (*ARCHITECTURES, *ALIASES)
ARCHITECTURE_LIST: Schema = {"type": "array", "items": {"enum": [*_NAMES, 386]}, "minItems": 1}
_CLUSTER_LIST: Schema = {
    "type": "array",
    "items": {"enum": [*_NAMES, 386, *(f"windows/{name}" for name in (*WINDOWS, *ALIASES))]},
    "contains": ARCHITECTURE_LIST["items"],
}
_TOLERATION = {
    "type": "object",
    "properties": {
        "key": _LABEL_KEY,
        "operator": {"enum": list(OPERATORS)},
        "value": LABEL_VALUE,
        "effect": {"enum": list(EFFECTS)},
    },
    "required": ["key"],
    "additionalProperties": False,
}
_RULE = {
    "anyOf": [
        {"type": "string", "pattern": f"^(gke|[^@:]+:({'|'.join(EFFECTS)})(@.+)?)$"},
        {
            "type": "object",
            "properties": {
                "architectures": ARCHITECTURE_LIST,
                "toleration": _TOLERATION,
                "when": {"enum": list(WHEN)},
            },
            "required": ["architectures", "toleration"],
            "additionalProperties": False,
        },
    ]
}
_WEIGHTS = {
    "type": "object",
    "propertyNames": {"enum": list(_NAMES)},
    "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 100},
}

SWITCH = OptionType(lambda given: _switch(given[-1]), data_form.boolean, {"type": "boolean"}, "bool", "bool")
PATH = single(file_path, _TEXT, "str", _FILE)
CACHE = single(cache_path, _TEXT, "str | CacheServer", _FILE)
WHOLE_SECONDS = single(
    text_form.whole_seconds, {"anyOf": [_DURATION, {"const": 0}]}, "int", "str | Literal[0]"
)
DEADLINE = single(text_form.deadline, _DURATION, "float", "str")
CLUSTER = OptionType(
    lambda given: data_form.cluster_architectures(text_form.words(given[-1], "architectures")),
    data_form.cluster_architectures,
    _CLUSTER_LIST,
    "tuple[str, ...]",
    "Sequence[str]",
)
PLATFORMS = OptionType(
    _last(text_form.platforms),
    data_form.platforms,
    _or_none({"type": "array", "items": _PLATFORM}),
    "tuple[Platform, ...]",
    _LIST,
)
PREFERENCE = OptionType(
    _last(text_form.weights),
    data_form.weights,
    _or_none(_WEIGHTS),
    "tuple[tuple[str, int], ...]",
    'Mapping[str, int] | Literal["none"]',
)
TOLERATIONS = listed(
    data_form.tolerations,
    _RULE,
    "tuple[TolerationRule, ...]",
    'Sequence[str | Mapping[str, Any]] | Literal["none"]',
)
SYSTEM_TAINTS = keyed(
    lambda text: text_form.system_taint(*text.partition("=")[::2]),
    lambda row: row[0],
    data_form.system_taints,
    {"properties": {"windows": _TEXT}, "additionalProperties": False},
    "tuple[str, Toleration]",
    "str",
)
OVERRIDES = keyed(
    text_form.image_platforms,
    lambda row: row.pattern,
    data_form.overrides,
    {"additionalProperties": {"type": "array", "items": _PLATFORM, "minItems": 1}},
    "ImagePlatforms",
    "Sequence[str]",
)
MIRRORS = keyed(
    mirror_pair,
    lambda row: row.source,
    data_form.mirrors,
    {"additionalProperties": {"type": "string", "pattern": "^https?://[^@?#]+$"}},
    "Mirror",
    "str",
)
RATES = keyed(
    request_rate_pair,
    lambda row: row.host,
    data_form.request_rates,
    {"additionalProperties": {"type": "number", "minimum": SLOWEST, "maximum": FASTEST}},
    "RequestRate",
    "float",
)
ALLOWED_HOSTS = repeated(
    host_pattern,
    {"type": "string", "pattern": "^[^/@ ]+$"},
    "harbor.corp.example, '*.corp.example'",
    "HostPattern",
)
DENIED_HOSTS = repeated(lambda text: host_pattern(text, every=True), _TEXT, "'*.example.com'", "HostPattern")
EXCLUDES = repeated(exclude, _TEXT, "DaemonSet, '*/kube-system'", "Exclude")
KEYS = repeated(text_form.label_key, _LABEL_KEY, "example.com/virtual", "str")
