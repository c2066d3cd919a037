"""Platforms, and the answers to "on which platforms does this image run?"; code, cache and report keep them apart.

A platform is `os/architecture[/variant]` in Go's words (GOOS, GOARCH; OCI image-spec, image-index.md). Spellings are
folded as containerd does (containerd/platforms, database.go). A normalised platform has a variant only where it differs
from the baseline of its architecture, and always for arm.
"""

from __future__ import annotations

from archfit.base.errors import InvalidReference, Problem
from archfit.base.spelling import expected, nearest
from archfit.images.reference import is_placeholder
from archfit.startup.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal, TypeAlias

    Kind: TypeAlias = Literal["Found", "Absent", "Unknown", "Unasked", "Malformed"]

# `go tool dist list`, less wasm: what a kubelet can write into the label kubernetes.io/arch.
ARCHITECTURES = (
    "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le",
    "riscv64", "s390x",
)  # fmt: skip
# Go's ports to Windows.
WINDOWS = ("386", "amd64", "arm", "arm64")
# Of images: `go tool dist list`, and the name of WASI before Go had one.
_SYSTEMS = (
    "linux", "windows", "darwin", "freebsd", "netbsd", "openbsd", "dragonfly", "illumos", "solaris", "aix",
    "android", "ios", "plan9", "js", "wasip1", "wasi",
)  # fmt: skip
# What `uname -m` says, and two spellings of it: read wherever an architecture is named, and shown as the label.
ALIASES = {"x86_64": "amd64", "x86-64": "amd64", "aarch64": "arm64"}
# These names imply their variant, whatever is written beside them.
_WITH_VARIANT = {"armhf": ("arm", "v7"), "armel": ("arm", "v6"), "i386": ("386", "")}
# What other tools write. An error names the label for them; they are never read as one.
_TOOLS = {
    "armv8": "arm64", "armv8a": "arm64", "arm64v8": "arm64", "arm32v5": "arm", "arm32v6": "arm", "arm32v7": "arm",
    "armv6": "arm", "armv7": "arm", "armv6l": "arm", "armv7l": "arm", "x64": "amd64", "i586": "386",
    "i686": "386", "x8664": "amd64",
}  # fmt: skip
# Clouds call their amd64 nodes so.
_REMEDIES = {"x86": "write 'amd64' (64 bit) or '386' (32 bit)"}
_VARIANTS = {
    "amd64": {"v1": ""},
    "arm64": {"8": "", "v8": "", "v8.0": ""},
    "arm": {"": "v7", "7": "v7", "6": "v6", "5": "v5", "8": "v8"},
}


class Platform(Record):
    """One `os/architecture/variant`, in normalised spelling; variant is "" for the baseline."""

    os: str
    architecture: str
    variant: str = ""

    @property
    def is_baseline(self) -> bool:
        """It counts for every node of its architecture; nodes report no variant, and arm always has one."""
        return not self.variant or self.architecture == "arm"

    def __str__(self) -> str:
        return f"{self.os}/{self.architecture}" + (f"/{self.variant}" if self.variant else "")


def normalised(os: str, architecture: str, variant: str = "") -> Platform:
    """The platform in normalised spelling (containerd/platforms). An empty os means linux."""
    os, architecture, variant = os.lower() or "linux", architecture.lower(), variant.lower()
    if architecture in _WITH_VARIANT:
        architecture, variant = _WITH_VARIANT[architecture]
    architecture = ALIASES.get(architecture, architecture)
    variant = _VARIANTS.get(architecture, {}).get(variant, variant)
    return Platform({"macos": "darwin"}.get(os, os), architecture, variant)


def parse_platform(text: str) -> Platform:
    """`linux/amd64`, `linux/arm/v7` or `arm64` (linux is implied) as a Platform. Raises InvalidReference."""
    parts = text.split("/")
    if len(parts) == 1:
        parts.insert(0, "linux")
    if not 2 <= len(parts) <= 3 or not all(
        part.replace(".", "").replace("-", "").replace("_", "").isalnum() for part in parts
    ):
        raise InvalidReference(
            f"{text!r} is not a platform: write os/architecture[/variant], as in 'linux/arm64'"
        )
    return normalised(*parts)


def known_platform(text: str) -> Platform:
    """One `os/architecture[/variant]` of the systems and architectures that images have. Raises Problem."""
    try:
        value = parse_platform(text)
    except InvalidReference as error:
        raise Problem(str(error)) from None
    if value.os in ARCHITECTURES or value.os in ALIASES:
        raise Problem(f"{text!r} begins with an architecture: write 'linux/{text}'")
    if value.os not in _SYSTEMS:
        raise Problem(f"{text!r} has an operating system that no image has: {expected(value.os, _SYSTEMS)}")
    if value.architecture not in ARCHITECTURES and not value.architecture.startswith("wasm"):
        raise Problem(no_architecture(value.architecture))
    return value


def is_wasm(platform: Platform) -> bool:
    """WebAssembly, which a runtime class runs on nodes of any architecture."""
    return platform.os == "wasi" or platform.architecture[:4] == "wasm"


class ImagePlatforms(Record):
    """An override: images whose normalised `host/repository[:tag|@digest]` matches `pattern` have these platforms."""

    pattern: str
    platforms: tuple[Platform, ...]


def no_architecture(text: str) -> str:
    """Why a word is not a value of the label kubernetes.io/arch, and the word to write."""
    word = text.lower().removeprefix("linux/").partition("/")[0].replace("-", "").replace("_", "")
    label = _TOOLS.get(word) or normalised("linux", word).architecture
    near = label if label in ARCHITECTURES else nearest(word, ARCHITECTURES)
    remedy = _REMEDIES.get(word) or (f"write {near!r}" if near else f"known are {', '.join(ARCHITECTURES)}")
    return f"{text!r} is not an architecture as Kubernetes labels its nodes: {remedy}"


def meant_arm64(architectures: Iterable[str], answers: Iterable[object]) -> str:
    """What to say where 32-bit arm is named and images have arm64 alone, as many call those nodes arm; else ""."""
    if "arm" not in architectures or "arm64" in architectures:
        return ""
    offered = [
        {entry.architecture for entry in answer.platforms} for answer in answers if isinstance(answer, Found)
    ]
    number = sum("arm64" in names and "arm" not in names for names in offered)
    if not number:
        return ""
    return (
        f"arm is the 32-bit arm; nodes such as Graviton, Ampere and Axion are arm64: {number} of the images "
        f"{'has' if number == 1 else 'have'} arm64 and no arm"
    )


class Found(Record):
    """The image's platforms are known.

    platforms: normalised, sorted by their text, unique; of an index, those of the entries that can run.
    digest: `sha256:...` of the index or manifest that was read; "" when an override answered.
    index: it is an image index (or Docker manifest list), not a single manifest.
    image: False for artifacts that are no images (Helm charts, signatures): they restrict nothing.
    origin: "override", "lock", "cache", "stale" or "registry"; "caller" where a program states the platforms.
    age_seconds: how long ago the registry confirmed the tag, 0 for digests and fresh answers.
    missing: what the index lists and no server has; not in `platforms`. listed: those of `platforms` that only the
    index names, as nobody may be asked. Both are of platforms in question alone (`lookup.listed_builds`).
    part_of: of a digest that is one build of the tag beside it: the tag with the digest of its index, else "".
    """

    platforms: tuple[Platform, ...]
    digest: str = ""
    index: bool = True
    image: bool = True
    origin: str = "registry"
    age_seconds: int = 0
    missing: tuple[Platform, ...] = ()
    listed: tuple[Platform, ...] = ()
    part_of: str = ""

    @property
    def not_there(self) -> str:
        """What to say of `missing`, "" where that is empty."""
        names = ", ".join(map(str, self.missing))
        return f"its index lists {names}, and the registry does not have that build" if names else ""


class Absent(Record):
    """The registry answered that it has no such manifest: `cause` is what it said."""

    cause: str


class Unknown(Record):
    """The registry could not be asked, or its answer was not understood. `cause` is a sentence for the user.

    final: no `--on-unknown` applies, as with `--locked`: an answer outside the lock file would change the output.
    remedy: what to do, "" for the usual advice. mistake: the configuration is wrong and the
    cause tells how to correct it, so no `--on-unknown` is advised. last: what the cache last heard, older than
    --max-stale or, with an age below 0, dated in the future; it counts before an assumption.
    """

    cause: str
    final: bool = False
    remedy: str = ""
    mistake: bool = False
    last: Found | None = None


class Unasked(Record):
    """No lookup is possible: the string is empty or a placeholder, or the image is never pulled."""

    cause: str


class Malformed(Record):
    """The string is no reference, and no placeholder that something fills in later: no node could pull it."""

    cause: str


Answer: TypeAlias = "Found | Absent | Unknown | Unasked | Malformed"


def kind_of(answer: Answer) -> Kind:
    """What documents call an answer."""
    kind: Kind = type(answer).__name__  # type: ignore[assignment]  # the records are called so
    return kind


def unanswerable(text: str, error: InvalidReference) -> Unasked | Malformed:
    """The answer for a string that is no reference. error: why it is none."""
    return Unasked(str(error)) if not text or is_placeholder(text) else Malformed(str(error))
