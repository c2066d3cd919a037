"""Option values as flags and variables write them: one line of text.

    architectures   amd64,arm64                       GOARCH words, as in the label kubernetes.io/arch; x86_64, aarch64
    the cluster's   amd64,arm64,windows/amd64         the same for Linux nodes; windows/.. for Windows nodes
    weights         arm64=10,amd64=5                  1 to 100 each
    platforms       linux/amd64,linux/arm/v7,arm64    linux is implied
    overrides       GLOB=PLATFORM,..                  GLOB over host/repository[:tag|@digest]
    duration        90s  15m  6h  7d  1h30m  500ms    0 needs no unit
    label key       [prefix/]name                     Kubernetes, "Labels and Selectors: syntax"
    exclude         KIND[/NAMESPACE[/NAME]]           each a glob; parts left out match everything
                    KIND/NAME                         as kubectl writes it: deployment/cart; see `placement.filters`
    cache           /var/cache/archfit/lookups.sqlite
                    redis[s]://[USER@]HOST[:PORT][/DATABASE]    port 6379, database 0; rediss:// is TLS
    toleration      gke, or KEY[=[VALUE]]:EFFECT[@ARCHITECTURE,..]       kubectl, pkg/cmd/taint

    taints of systems    windows=KEY[=VALUE]:EFFECT       exactly the taint that all nodes of the system have

    arch=arm64:NoSchedule          Equal "arm64", for nodes of arm64: the value is an architecture
    pool=arm:NoSchedule@arm64      Equal "arm",   for nodes of arm64
    arm-only=:NoSchedule@arm64     Equal "",      exactly the taint without a value
    arm-only:NoSchedule@arm64      Exists,        the taint with any value, as `kubectl describe` prints it

A password in the URL of a cache is an error: lists of processes would show it. Mirrors and hosts are in `hosts`.
"""

from __future__ import annotations

from archfit.base.errors import InvalidReference, UsageError
from archfit.base.patch import Path
from archfit.base.printable import visible
from archfit.base.spelling import expected, nearest
from archfit.images.platforms import (
    ALIASES,
    ARCHITECTURES,
    WINDOWS,
    ImagePlatforms,
    Platform,
    no_architecture,
    normalised,
    parse_platform,
)
from archfit.options.option_entries import CacheServer, Exclude
from archfit.options.settings import GKE, Toleration, TolerationRule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    T = TypeVar("T")


class Problem(UsageError):
    """What is wrong with a value and what to write; the caller puts the name of the flag, variable or key before it.

    message: on one line, and visible, whoever wrote the value. path: from the option's value to the wrong part. line: 0
    where unknown.
    """

    def __init__(self, message: str, path: Path = (), line: int = 0) -> None:
        self.message = visible(message)
        super().__init__(self.message)
        self.path = path
        self.line = line


# Of images: `go tool dist list`, and the name of WASI before Go had one.
SYSTEMS = (
    "linux", "windows", "darwin", "freebsd", "netbsd", "openbsd", "dragonfly", "illumos", "solaris", "aix",
    "android", "ios", "plan9", "js", "wasip1", "wasi",
)  # fmt: skip
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}

# `re` is loaded for what few options hold: loading it takes a tenth of a small run.
_DURATION = r"(?:[0-9]{1,9}(?:ms|s|m|h|d))+"
_DURATION_PART = r"([0-9]+)(ms|s|m|h|d)"


def distinct(rows: tuple[T, ...], key: Callable[[T], str]) -> tuple[T, ...]:
    """The rows, when no key is there twice. Raises Problem."""
    seen: set[str] = set()
    for row in rows:
        if key(row) in seen:
            raise Problem(f"{key(row)!r} is given twice: write it once")
        seen.add(key(row))
    return rows


def words(text: str, what: str) -> list[str]:
    """The parts of a list with commas, blanks around them dropped. Raises Problem when a part is empty."""
    parts = [part.strip() for part in text.split(",")]
    if "=" not in text and any(letter == ";" or letter.isspace() for letter in "".join(parts)):
        import re

        listed = ",".join(part for part in re.split(r"[,;\s]+", text) if part)
        raise Problem(f"{text!r} is not a list: write {what} separated by commas, as {listed!r}")
    if not all(parts):
        raise Problem(f"{text!r} has an empty entry: write {what} separated by single commas")
    return parts


def architecture(text: str) -> str:
    """One GOARCH word, from that or from what `uname -m` says. Raises Problem."""
    label = ALIASES.get(text, text)
    if label in ARCHITECTURES:
        return label
    raise Problem(no_architecture(text))


def cluster_architecture(text: str) -> str:
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


def weight(text: str) -> int:
    """The weight of a preferred scheduling term, 1 to 100 (PreferredSchedulingTerm). Raises Problem."""
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= 100):
        raise Problem(f"{text!r} is not a weight: write a whole number from 1 to 100")
    return int(text)


def weights(text: str) -> tuple[tuple[str, int], ...]:
    """`arm64=10,amd64=5` sorted by architecture. Raises Problem."""
    numbers: dict[str, int] = {}
    for word in words(text, "weights"):
        name, equals, number = word.partition("=")
        base, _, behind = name.partition(":")
        if not equals:
            meant = f"{architecture(base.strip())}={behind if behind.isdecimal() else 1}"
            raise Problem(f"{word!r} has no weight: write {meant!r}")
        name = architecture(name.strip())
        if name in numbers:
            raise Problem(f"{name!r} has two weights: write one of them")
        numbers[name] = weight(number.strip())
    return tuple(sorted(numbers.items()))


def platform(text: str) -> Platform:
    """One `os/architecture[/variant]`. Raises Problem."""
    try:
        value = parse_platform(text)
    except InvalidReference as error:
        raise Problem(str(error)) from None
    if value.os in ARCHITECTURES or value.os in ALIASES:
        raise Problem(f"{text!r} begins with an architecture: write 'linux/{text}'")
    if value.os not in SYSTEMS:
        raise Problem(f"{text!r} has an operating system that no image has: {expected(value.os, SYSTEMS)}")
    if value.architecture not in ARCHITECTURES and not value.architecture.startswith("wasm"):
        raise Problem(no_architecture(value.architecture))
    return value


def platforms(text: str) -> tuple[Platform, ...]:
    """`linux/amd64,arm64` sorted by their text and unique. Raises Problem."""
    return tuple(sorted(set(in_order(text)), key=str))


def in_order(text: str) -> list[Platform]:
    """The platforms as they stand in `arm64,linux/amd64`. Raises Problem."""
    return [platform(word) for word in words(text, "platforms")]


def closed(text: str) -> str:
    """A glob whose last `[` has an end: for each without, `fnmatch` reads to the end of the text. Raises Problem."""
    if text.rfind("[") > text.rfind("]"):
        raise Problem(f"{text!r} has a '[' that nothing closes: add ']', or write '?' for any one character")
    return text


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
    return ImagePlatforms(glob(pattern.strip()), platforms(rest))


def duration(text: str) -> float:
    """Seconds. Raises Problem."""
    if text == "0":
        return 0.0
    number, unit = text[:-1], text[-1:]
    if unit in ("s", "m", "h", "d") and len(number) < 10 and number.isascii() and number.isdigit():
        return int(number) * UNITS[unit]
    import re

    if not re.fullmatch(_DURATION, text):
        spelled = re.fullmatch(r"([0-9]+) ?([dhms])[a-z]*", text)
        example = (
            f"{text}s"
            if text.isascii() and text.isdigit()
            else "".join(spelled.groups())
            if spelled
            else "30s"
        )
        raise Problem(f"{text!r} is not a duration: write {example!r}, or another with d, h, m, s or ms")
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(_DURATION_PART, text))


def whole_seconds(text: str) -> int:
    """A duration without a fraction of a second, in seconds. Raises Problem."""
    seconds = duration(text)
    if seconds != int(seconds):
        raise Problem(f"{text!r} is not a whole number of seconds: write '1s' or more")
    return int(seconds)


def deadline(text: str) -> float:
    """A duration above zero, in seconds. Raises Problem."""
    seconds = duration(text)
    if not seconds:
        raise Problem(f"{text!r} leaves no time for lookups: write a duration such as '30s'")
    return seconds


def label_key(text: str) -> str:
    """A label or taint key: `[prefix/]name`, 253 and 63 characters at most. Raises Problem."""
    prefix, slash, name = text.rpartition("/")
    if not _is_name(name) or (slash and not _is_dns_name(prefix)):
        raise Problem(
            f"{text!r} is not a key of a label or taint: write letters, digits, '-', '_' and '.', with a DNS "
            "name and '/' in front if it has one, as 'example.com/arch'"
        )
    return text


def label_value(text: str) -> str:
    """The value of a label or taint: empty, or 63 characters at most. Raises Problem."""
    if text and not _is_name(text):
        raise Problem(
            f"{text!r} is not a value of a label or taint: write up to 63 letters, digits, '-', '_' and '.'"
        )
    return text


def _is_name(text: str) -> bool:
    """`[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?`, 63 characters at most."""
    return len(text) <= 63 and _is_worded(text, "-_.")


def _is_dns_name(text: str) -> bool:
    """Labels `[a-z0-9]([-a-z0-9]*[a-z0-9])?` with dots between them, 253 characters at most."""
    return (
        len(text) <= 253 and text == text.lower() and all(_is_worded(label, "-") for label in text.split("."))
    )


def _is_worded(text: str, marks: str) -> bool:
    """Letters and digits of ASCII, between which the marks may stand."""
    bare = text
    for mark in marks:
        bare = bare.replace(mark, "")
    return text.isascii() and bare.isalnum() and text[0].isalnum() and text[-1].isalnum()


def exclude(text: str) -> Exclude:
    """One of the grammar above. Raises Problem."""
    parts = text.split("/")
    if len(parts) > 3 or not all(parts) or text != text.strip():
        raise Problem(
            f"{text!r} is not KIND/NAMESPACE/NAME: write it as 'Job', '*/kube-system' or 'Job/*/migrate-*'"
        )
    return Exclude(*map(closed, parts))


# Not the grammar of registries: names of containers, which serve as hosts here, have underscores.
_HOST = r"[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?|\[[a-fA-F0-9:.]+\]"
_URL = rf"redis(s?)://(?:([^@/?#:\s]+)@)?({_HOST})(?::([0-9]{{1,5}}))?(?:/([0-9]{{1,4}})?)?"
_EXAMPLE = "'redis://cache.example:6379/0'"


def file_path(text: str) -> str:
    """The path of a file. Raises Problem."""
    if not text or "\0" in text:
        raise Problem("is not a path: write one without NUL characters" if text else "is empty: write a path")
    return text


def cache_path(text: str) -> str | CacheServer:
    """The path of a file, or a server. Raises Problem, which never repeats a user or password."""
    if text.startswith(("redis:", "rediss:")) and "://" not in text:
        raise Problem(f"begins as a URL without its two slashes: write it as {_EXAMPLE}, or a path behind ./")
    return _server(text) if "://" in file_path(text) else text


def _server(text: str) -> CacheServer:
    import re  # the table of options is loaded for every option, and most name no server

    scheme, _, rest = text.partition("://")
    if scheme not in {"redis", "rediss"}:
        raise Problem(f"{scheme!r} is not the scheme of a cache: write a path, or a URL as {_EXAMPLE}")
    if "@" in rest and ":" in rest.rpartition("@")[0]:
        raise Problem(
            "has a password in it, which others can see: put it into ARCHFIT_CACHE_PASSWORD or the file of "
            "--cache-password-file, and leave it out here"
        )
    parts = re.fullmatch(_URL, text, re.ASCII)
    if parts is None or not 0 < int(parts[4] or 6379) <= 65535:
        shown = re.split("[?#]", f"{scheme}://{rest.rpartition('@')[2]}")[0]
        raise Problem(f"{shown!r} is not the URL of a cache: write it as {_EXAMPLE}")
    return CacheServer(
        bool(parts[1]), parts[3].strip("[]"), int(parts[4] or 6379), int(parts[5] or 0), parts[2] or ""
    )


ARCH_KEYS = ("kubernetes.io/arch", "beta.kubernetes.io/arch")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
OPERATORS = ("Equal", "Exists")
WHEN = ("possible", "needed")


def one_of(text: str, known: Sequence[str], wrong: str) -> str:
    """One of the known words. wrong: what another one is not. Raises Problem."""
    if text not in known:
        raise Problem(f"{text!r} {wrong}: {expected(text, known)}")
    return text


def effect(text: str) -> str:
    """A taint's effect. Raises Problem."""
    return one_of(text, EFFECTS, "is not a taint effect")


def architecture_of(key: str, value: str) -> str:
    """The architecture that a taint's value spells, in any usual spelling; "" where it spells none.

    Under other keys than those of Kubernetes, `arm` often means arm64 nodes, so it spells nothing there.
    """
    word = normalised("linux", value).architecture
    return word if word in ARCHITECTURES and (word != "arm" or key in ARCH_KEYS) else ""


def system_taint(system: str, text: str) -> tuple[str, Toleration]:
    """The taint that all nodes of a system have, as the toleration of exactly that taint. Raises Problem."""
    if system != "windows":
        raise Problem(f"{system!r} is no system of nodes beside Linux: write windows={text}")
    head, colon, last = text.rpartition(":")
    if not colon or effect(last) == "PreferNoSchedule":
        example = f"{head or text}:NoSchedule"
        raise Problem(f"{text!r} does not keep pods off: write the taint's effect, as {example!r}")
    key, _, value = head.partition("=")
    return system, Toleration(label_key(key), "Equal", label_value(value), last)


def toleration_rule(text: str) -> TolerationRule:
    """One rule of the grammar above. Raises Problem."""
    if text == "gke":
        return GKE
    if text == "none":
        raise Problem("'none' is no item of a list: write tolerate: none")
    taint, at, names = text.partition("@")
    head, colon, last = taint.rpartition(":")
    if not colon and nearest(text, ("gke",)):
        raise Problem(f"{text!r} names no effect: write 'gke' for the taint of GKE's Arm nodes")
    if not colon:
        key, _, value = taint.partition("=")
        named = architecture_of(ARCH_KEYS[0], taint)
        example = f"{ARCH_KEYS[0]}={named}:NoSchedule" if named else f"{taint}:NoSchedule"
        listed = at + names or ("" if named or architecture_of(key, value) else "@arm64")
        raise Problem(f"{text!r} names no effect: write {example + listed!r}")
    key, equals, value = head.partition("=")
    toleration = Toleration(label_key(key), "Equal" if equals else "Exists", label_value(value), effect(last))
    if at:
        if not names.strip():
            raise Problem(f"{text!r} names no architecture after '@': write {taint + '@arm64'!r}")
        architectures = {architecture(word) for word in words(names, "architectures")}
    else:
        architectures = {architecture_of(key, value)} - {""}
    if not architectures:
        raise Problem(f"{text!r} does not say which architectures its nodes have: write {text + '@arm64'!r}")
    return TolerationRule(tuple(sorted(architectures)), toleration)
