"""Events into values: anchors, aliases, merges, tags and keys as Kubernetes' readers understand them.

    events -> Tree.value     dict, list, str, None, Typed
                             an alias is the anchored value itself, shared and never copied
                             what `<<` supplies is part of the mapping

Values are composed here and not by PyYAML, whose composers raise on a re-used anchor, lose the place of an alias and
overflow the C stack on 200,000 nested brackets.
"""

from __future__ import annotations

from archfit.base.errors import InvalidInput
from archfit.base.memo import Memo
from archfit.base.typing_names import Any, Callable
from archfit.yaml.aliases import DEPTH_LIMIT, EXPANSION_LIMIT, Anchors, line_of, merge
from archfit.yaml.tree import (
    MERGE,
    TAG_PREFIX,
    Alias,
    DocumentStart,
    Duplicate,
    MappingEnd,
    MappingStart,
    MarkedError,
    ReaderError,
    Scalar,
    SequenceEnd,
    SequenceStart,
    StreamEnd,
    Tree,
    events_of,
    is_merge,
)
from archfit.yaml.values import PlainKey, Typed, plain, resolve

_resolved = Memo(resolve, 10_000)
_NO_KEY = object()
_MERGE = object()


def parse(text: str) -> Tree:
    """The one document in text as a Tree; value is None for an empty one.

    It is read with a line break at its end, as kubectl reads it: a block scalar may end one code point behind the text.
    Raises InvalidInput, its line counted from the first line of text.
    """
    masked = _masked(text) if "\\ud" in text or "\\uD" in text else text
    try:
        return _compose(masked, events_of(masked if masked.endswith("\n") else f"{masked}\n"))
    except MarkedError as error:
        raise _unreadable(error, len(masked.rstrip())) from None
    except ReaderError as error:
        # Its position counts bytes or code points, by parser; the first one of its kind is the one.
        code = error.character if isinstance(error.character, int) else ord(error.character)
        raise InvalidInput(
            f"this is not YAML: the character U+{code:04X} is not allowed in it",
            line=masked.count("\n", 0, masked.find(chr(code))) + 1,
        ) from None


def _masked(text: str) -> str:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    from archfit.yaml.unusual_text import with_surrogates_masked

    return with_surrogates_masked(text)


def _unreadable(error: Any, end: int) -> InvalidInput:
    """The parser's error, at the line where something is wrong or, where the end is missing, begins.

    It never quotes the text at that line, which may be part of a Secret.
    """
    problem = " ".join(part for part in (error.context, error.problem) if part)
    if "expected <document start>" in problem:
        problem += " (documents are separated by a line '---')"
    mark = error.problem_mark or error.context_mark
    if mark and error.context_mark and mark.index >= end:
        mark = error.context_mark
    return InvalidInput(f"this is not YAML: {problem}", line=mark.line + 1 if mark else 1)


def _compose(text: str, get_event: Callable[[], Any]) -> Tree:
    events: list[Any] = []
    ends: dict[int, int] = {}
    duplicates: list[Duplicate] = []
    anchors = Anchors(events, ends)
    open_anchors = anchors.open
    merges: dict[int, list[tuple[Any, int]]] = {}
    stack: list[tuple[Any, Any, int, int]] = []
    resolved = _resolved
    root: Any = None
    container: Any = None
    key: Any = _NO_KEY
    opened = size_at_open = 0
    size = 0
    document = False
    append = events.append
    while True:
        event = get_event()
        append(event)
        kind = event.__class__
        size += 1
        if kind is Scalar:
            if event.tag is None:
                value = resolved[event.value] if event.implicit[0] else event.value
            else:
                value = _tagged(event)
            if event.anchor is not None or event.tag is not None:
                anchors.scalar(event, value, len(events) - 1)
            if key is _NO_KEY and container.__class__ is dict:
                if value == MERGE and is_merge(event):
                    key = _MERGE
                else:
                    key = value if value.__class__ is str else _key(value, event)
                continue
        elif kind is MappingStart or kind is SequenceStart:
            if container.__class__ is dict and key is _NO_KEY:
                raise _collection_as_key(event)
            if len(stack) >= DEPTH_LIMIT:
                raise InvalidInput(
                    f"collections are nested more than {DEPTH_LIMIT} deep", line=line_of(event)
                )
            stack.append((container, key, opened, size_at_open))
            opened, size_at_open = len(events) - 1, size
            if event.anchor is not None or event.tag is not None:
                anchors.begin(event, opened)
            container, key = ({}, _NO_KEY) if kind is MappingStart else ([], None)
            continue
        elif kind is MappingEnd or kind is SequenceEnd:
            ends[opened] = len(events) - 1
            if opened in merges:
                merge(container, merges.pop(opened), events, opened, ends)
            value = container
            if opened in open_anchors:
                anchors.end(opened, value, size - size_at_open)
            container, key, opened, size_at_open = stack.pop()
        elif kind is Alias:
            value, weight = anchors.value(event, len(events) - 1, len(stack))
            size += weight
            if size > EXPANSION_LIMIT:
                raise InvalidInput(
                    f"its aliases stand for more than {EXPANSION_LIMIT:,} nodes", line=line_of(event)
                )
            if container.__class__ is dict and key is _NO_KEY:
                key = value if value.__class__ is str else _key(value, event)
                continue
        elif kind is DocumentStart:
            if document:
                raise InvalidInput(
                    "a second document begins here without '---' at the start of a line", line=line_of(event)
                )
            document = True
            continue
        elif kind is StreamEnd:
            return Tree(
                text, root, events, ends, tuple(duplicates), tuple(anchors.uses), tuple(anchors.properties)
            )
        else:
            continue
        if container is None:
            root = value
        elif container.__class__ is list:
            container.append(value)
        else:
            if key is _MERGE:
                merges.setdefault(opened, []).append((value, len(events) - 1))
            else:
                if key in container:
                    duplicates.append(Duplicate(opened, key, line_of(event)))
                container[key] = value
            key = _NO_KEY


def _key(value: Any, event: Any) -> str:
    """A key that is no string in YAML: its text, as JSON has only strings."""
    if isinstance(event, Scalar):
        return PlainKey(event.value)
    if isinstance(value, Typed):
        return PlainKey(value.text)
    raise _collection_as_key(event)


def _collection_as_key(event: Any) -> InvalidInput:
    return InvalidInput(
        "a mapping key that is a collection; Kubernetes knows only strings. Is it a placeholder such as {{image}}? "
        "Put it in quotes",
        line=line_of(event),
    )


def _tagged(event: Any) -> Any:
    """The value of a scalar with a tag; what Kubernetes' readers do not know is a string to them."""
    tag, text = event.tag.removeprefix(TAG_PREFIX), event.value
    if tag == "null":
        return None
    if tag == "bool":
        value = resolve(text)
        return value if isinstance(value, Typed) else Typed(tag, text)
    if tag == "binary":
        from binascii import a2b_base64

        try:
            return a2b_base64(text).decode(errors="replace")
        except ValueError:
            raise InvalidInput("a value tagged !!binary is not base64", line=line_of(event)) from None
    if tag not in ("int", "float"):
        return text
    number = Typed(tag, text)
    if isinstance(plain(number), str):
        raise InvalidInput(f"a value tagged !!{tag} is not a number", line=line_of(event))
    return number
