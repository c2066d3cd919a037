"""Layers of configuration, and how they become one.

    flags  >  functionConfig, application parameters  >  environment  >  file  >  default

The highest layer that gives a key gives its whole value; lists and mappings are never merged. A key that the
operator's file lists under `operator.enforced` has the file's value (or the default, if the file gives none):
a layer that gives another value is an error. An annotation that would decide instead is one, too (`ANNOTATIONS`).
"""

from __future__ import annotations

from archfit.errors import UsageError
from archfit.options.settings import Operator, Options, Settings
from archfit.options.table import BY_KEY
from archfit.record import Record
from archfit.typing_names import Mapping, Sequence

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
    parts: dict[str, dict[str, object]] = {"spec": {}, "operator": {}}
    for key, given in chosen.items():
        parts[BY_KEY[key].part][BY_KEY[key].field] = given.value
    annotations: dict[str, str] = {}
    for layer in layers:
        _enforce(layer, layers, fallback)
        for key in layer.enforced:
            if key in ANNOTATIONS:
                annotations.setdefault(ANNOTATIONS[key], layer.source)
    if annotations:
        parts["spec"]["enforced_annotations"] = tuple(annotations.items())
    settings = Settings(
        Options(**parts["spec"]),  # type: ignore[arg-type]  # the table's kinds give each field its type; tested
        Operator(**parts["operator"]),  # type: ignore[arg-type]  # as above
        tuple(layer.source for layer in everything if layer.given or layer.enforced),
        states_taints="tolerate" in chosen,
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


def _one_of_quiet_and_verbose(layers: Sequence[Layer], chosen: dict[str, Given]) -> None:
    """The highest layer that asks for less or for more gets it."""
    for layer in layers:
        asked = [key for key in ("quiet", "verbose") if key in layer.given and layer.given[key].value]
        if len(asked) == 2:
            less, more = (layer.given[key].where for key in asked)
            raise UsageError(f"{less} asks for fewer messages and {more} for more: leave one of them out")
        if asked:
            chosen.pop("verbose" if asked == ["quiet"] else "quiet", None)
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
