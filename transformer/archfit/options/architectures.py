"""Architectures of nodes, and platforms of images.

architectures   amd64,arm64                       GOARCH words, as in the label kubernetes.io/arch; x86_64, aarch64
the cluster's   amd64,arm64,windows/amd64         the same for Linux nodes; windows/.. for Windows nodes
weights         arm64=10,amd64=5                  1 to 100 each
platforms       linux/amd64,linux/arm/v7,arm64    linux is implied
overrides       GLOB=PLATFORM,..                  GLOB over host/repository[:tag|@digest]
"""

from __future__ import annotations

from archfit.base.errors import Problem
from archfit.base.spelling import nearest
from archfit.images.platforms import (
    ALIASES,
    ARCHITECTURES,
    WINDOWS,
    ImagePlatforms,
    Platform,
    known_platform,
    no_architecture,
    normalised,
)
from archfit.options.option_types import LIST, OptionType, closed, distinct, mapping_of, or_none, words
from archfit.yaml.data_form import items, members, of_text, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from archfit.options.option_types import Schema


def architecture(text: str) -> str:
    """One GOARCH word, from that or from what `uname -m` says. Raises Problem."""
    label = ALIASES.get(text, text)
    if label in ARCHITECTURES:
        return label
    raise Problem(no_architecture(text))


def architectures(value: object) -> tuple[str, ...]:
    """A list of architectures, not empty, sorted and unique. Raises Problem."""
    return tuple(sorted(_at_least_one(value, architecture)))


def _at_least_one(value: object, parse: Callable[[str], str]) -> tuple[str, ...]:
    entries = items(value, of_text(parse), "amd64, arm64")
    if not entries:
        raise Problem("names no architecture: write at least one, as [amd64]")
    return entries


def _cluster_architecture(text: str) -> str:
    """An architecture of Linux nodes, `amd64`, or of Windows nodes, `windows/amd64`. Raises Problem."""
    system, slash, name = text.partition("/")
    name = ALIASES.get(name, name)
    if system == "windows" and name in WINDOWS:
        return f"windows/{name}"
    if system == "linux" or not (slash or system[:3].lower() == "win"):
        return architecture(text)
    label = normalised("windows", name.partition("/")[0]).architecture
    near = label if label in WINDOWS else nearest(name, WINDOWS) or "amd64"
    choices = {"linux": near, "windows": f"windows/{near}"}
    meant = nearest(system.partition("-")[0], choices)
    end = repr(choices[meant]) if meant else f"{near!r} for Linux nodes, 'windows/{near}' for Windows nodes"
    raise Problem(f"{text!r} is not an architecture of nodes: write {end}")


def _cluster_architectures(value: object) -> tuple[str, ...]:
    """A list of architectures of nodes, at least one of Linux, sorted and unique. Raises Problem."""
    entries = sorted(_at_least_one(value, _cluster_architecture))
    if all("/" in entry for entry in entries):
        raise Problem(
            "names no architecture of Linux nodes: write those too, as 'amd64', beside "
            + ", ".join(map(repr, entries))
        )
    return tuple(entries)


_NAMES = (*ARCHITECTURES, *ALIASES)
ARCHITECTURE_LIST: Schema = {"type": "array", "items": {"enum": [*_NAMES, 386]}, "minItems": 1}
CLUSTER = OptionType(
    lambda given: _cluster_architectures(words(given[-1], "architectures")),
    _cluster_architectures,
    {
        "type": "array",
        "items": {"enum": [*_NAMES, 386, *(f"windows/{name}" for name in (*WINDOWS, *ALIASES))]},
        "contains": ARCHITECTURE_LIST["items"],
    },
    "tuple[str, ...]",
    "Sequence[str]",
)


def _weight(text: str) -> int:
    """The weight of a preferred scheduling term, 1 to 100 (PreferredSchedulingTerm). Raises Problem."""
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= 100):
        raise Problem(f"{text!r} is not a weight: write a whole number from 1 to 100")
    return int(text)


def _weights_of_text(given: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """`arm64=10,amd64=5` sorted by architecture. Raises Problem."""
    numbers: dict[str, int] = {}
    for word in words(given[-1], "weights") if given[-1] != "none" else ():
        name, equals, number = word.partition("=")
        base, _, behind = name.partition(":")
        if not equals:
            meant = f"{architecture(base.strip())}={behind if behind.isdecimal() else 1}"
            raise Problem(f"{word!r} has no weight: write {meant!r}")
        name = architecture(name.strip())
        if name in numbers:
            raise Problem(f"{name!r} has two weights: write one of them")
        numbers[name] = _weight(number.strip())
    return tuple(sorted(numbers.items()))


def weights(value: object) -> tuple[tuple[str, int], ...]:
    """A mapping of architectures to weights, sorted. Raises Problem."""
    rows = tuple(
        (architecture(name), within(name, of_text(_weight), number))
        for name, number in members(value, "arm64: 10, amd64: 5").items()
    )
    return tuple(sorted(distinct(rows, lambda row: row[0])))


PREFERENCE = OptionType(
    _weights_of_text,
    weights,
    or_none(
        {
            "type": "object",
            "propertyNames": {"enum": list(_NAMES)},
            "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 100},
        }
    ),
    "tuple[tuple[str, int], ...]",
    'Mapping[str, int] | Literal["none"]',
)


def in_order(text: str) -> list[Platform]:
    """The platforms as they stand in `arm64,linux/amd64`. Raises Problem."""
    return [known_platform(word) for word in words(text, "platforms")]


def _platforms(value: object) -> tuple[Platform, ...]:
    """A list of platforms, sorted by their text and unique. Raises Problem."""
    return tuple(sorted(items(value, of_text(known_platform), "linux/amd64"), key=str))


_PLATFORM = {"type": ["string", "integer"], "pattern": "^[^/,]+(/[^/,]+){0,2}$"}
PLATFORMS = OptionType(
    lambda given: _platforms(words(given[-1], "platforms") if given[-1] != "none" else []),
    _platforms,
    or_none({"type": "array", "items": _PLATFORM}),
    "tuple[Platform, ...]",
    LIST,
)


def glob(text: str) -> str:
    """A pattern over normalised references: not empty, no blanks, with a host. Raises Problem."""
    if not text or any(character.isspace() for character in text):
        raise Problem(f"{text!r} is not a pattern for images: write one as 'registry.local/legacy/*'")
    from archfit.images.overrides import with_host  # 0.7 ms, and few runs have patterns

    if (full := with_host(closed(text))) != text:
        raise Problem(f"{text!r} matches no image, because archfit compares full names: write {full!r}")
    return text


def image_platforms(text: str) -> ImagePlatforms:
    """`GLOB=PLATFORM,..`: no reference holds an equals sign, so the first one divides. Raises Problem."""
    pattern, equals, rest = text.partition("=")
    if not equals or not rest.strip():
        raise Problem(f"{text!r} names no platforms: write it as 'registry.local/legacy/*=linux/amd64'")
    return ImagePlatforms(glob(pattern.strip()), _platforms(words(rest, "platforms")))


def _some_platforms(value: object) -> tuple[Platform, ...]:
    if offered := _platforms(value):
        return offered
    raise Problem("names no platform: write at least one, as [linux/amd64]")


OVERRIDES = mapping_of(
    image_platforms,
    lambda pattern, value: ImagePlatforms(glob(pattern), within(pattern, _some_platforms, value)),
    lambda row: row.pattern,
    "'registry.local/legacy/*': [linux/amd64]",
    {"additionalProperties": {"type": "array", "items": _PLATFORM, "minItems": 1}},
    "ImagePlatforms",
    "Sequence[str]",
)
