"""archfit in process, as `archfit [transform]` runs it, without network: text and options into an outcome.

    Done      what is written, the decisions, and the splices
    Refused   exit 1 or 2 with messages: what is wrong, and where

Anything else that is raised is a defect, and passes through. What an image offers follows from its name alone.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple
from zlib import crc32

from archfit.base.errors import ArchfitError, InvalidInput, UnplaceableEdit, UsageError
from archfit.images.platforms import Found, parse_platform
from archfit.options.config_file import from_function_config
from archfit.options.layers import load
from archfit.options.settings import Options
from archfit.pipeline import StreamEdits, transform
from archfit.rewrite.resource_list import function_config, recognised
from archfit.yaml import stream
from archfit.yaml.stream import Splice

_OFFERS = tuple(
    Found(
        tuple(sorted((parse_platform(f"linux/{one}") for one in words.split()), key=str)), digest="sha256:0"
    )
    for words in ("amd64", "arm64", "amd64 arm64", "amd64 arm64", "amd64 arm64 s390x")
)


class Done(NamedTuple):
    """data: the output. splices: what archfit decided to change; results of a ResourceList are not among them."""

    data: bytes
    edits: StreamEdits
    splices: tuple[Splice, ...]


class Refused(NamedTuple):
    """messages: (text, whether a line or a place is named) of each error."""

    messages: tuple[tuple[str, bool], ...]


def lookup(texts: Iterable[str]) -> dict[str, Found]:
    return {text: _OFFERS[crc32(text.encode()) % len(_OFFERS)] for text in texts}


def run(data: bytes, options: Options, *, results: bool = True) -> Done | Refused:
    """One run. results: whether a ResourceList gets them. Raises what a run must never raise."""
    function = recognised(data) if b"ResourceList" in data else None
    try:
        if function is not None:
            options = _with_function_config(options, function)
        read = stream.read_stream(data, options.on_blank)
        edits = transform(read.data, read.pieces, options, lookup)
        said = [*read.messages, *edits.messages]
        splices: tuple[Any, ...] = edits.splices
        if function is not None and results:
            splices = function.with_results(edits, said, splices)
    except InvalidInput as error:
        return Refused(((error.message, bool(error.line or error.document)),))
    except (UsageError, UnplaceableEdit) as error:
        return Refused(((str(error), True),))
    except ArchfitError as error:
        if type(error) is not ArchfitError:
            raise
        return Refused(((str(error), True),))
    if edits.failed():
        errors = [result for result in said if result.severity == "error"]
        return Refused(tuple((result.text, result.location is not None) for result in errors))
    written = b"".join(map(bytes, stream.parts(read.data, splices)))
    return Done(written, edits, edits.splices)


def _with_function_config(options: Options, function: Any) -> Options:
    """What was chosen for the stream holds where the functionConfig says nothing."""
    given = load([], {}, _no_file, application=from_function_config(function_config(function))).options
    default = type(given)()
    said = {name: getattr(given, name) for name in type(given)._fields}
    return options.replace(**{name: one for name, one in said.items() if one != getattr(default, name)})


def _no_file(path: str) -> bytes:
    raise OSError(path)
