r"""Usual YAML by its lines: block collections, one key or item on a line, as charts, kustomize and kubectl write it.

    entry     = *" " [ "-" 1*" " ] key ":" [ value ]  /  *" " "-" 1*" " value       a dash begins at most one item
              / 1*" " ( "{}" / "[]" )                                               below a key without a value
    key       = plain / quoted
    value     = 1*" " ( plain / quoted / "{}" / "[]" / "[" plain, quoted, .. "]" / "{" plain: plain, .. "}" )
              / 1*" " ( "|" / "|-" ) and the lines of a literal below
    plain     = no indicator first, no ": " and no " #" inside, not ":" last
    quoted    = "..." with the escapes \\ \" \n \t alone  /  '...'
    line      = entry / comment / blank; blanks and a comment may end an entry; every character is printable

Text that is nothing else has one reading in every version of YAML, the one that `compose.parse` gives, for which
libyaml makes an object for each key and value and two for their places. Read by lines it takes a fifth of the time:
an equal line is taken apart once. Of anything else (anchors, tags, text over several lines, tabs, CRLF, a key twice,
indentation that fits nothing above) nothing is said here, neither a value nor an error: `compose.parse` reads it.
"""

from __future__ import annotations

from itertools import accumulate

from archfit.base.record import Record
from archfit.yaml.values import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

Entry: TypeAlias = "tuple[int, int, int, str | None, Any, int]"
Place: TypeAlias = "tuple[Any, int, int, int]"
"""A block collection, the column of its keys or dashes, its first line and its last."""

_INDICATORS = "?:,[]{}#&*!|>%@`"
_MOST_KEPT = 3000
_LAST = 7
# libyaml takes keys of 1,024 characters and `compose.parse` 250 collections inside each other, each a column at least.
_LONGEST_KEY = 1000
_WIDEST = 200


class BlockText(Record):
    """What usual YAML says, and where.

    places: of each block collection in value, in the order of their ends. literals: the lines where a literal ends.
    line_ends: offsets without line breaks, added up for the first site, as a document may have one in each line.
    by_id: the places, once somebody asks for one that is not among the last.
    """

    value: Any
    places: list[Place]
    literals: set[int]
    lines: list[str]
    entries: list[Entry]
    line_ends: list[int]
    by_id: dict[int, Place]

    def place(self, collection: Any) -> Place | None:
        """The place of a collection in value, None for one in flow style. Those around a pod spec end last."""
        for place in self.places[:-_LAST:-1]:
            if place[0] is collection:
                return place
        if not self.by_id:
            self.by_id.update((id(place[0]), place) for place in self.places)
        return self.by_id.get(id(collection))

    def end(self, line: int) -> int:
        """The offset where what an entry says ends; blanks and a comment may stand behind it."""
        if not self.line_ends:
            self.line_ends.extend(accumulate(map(len, self.lines)))
        return self.line_ends[line] - len(self.lines[line]) + line + self.entries[line][5]


class _Form:
    """A value that is not the same object wherever its text stands, or is in the lines below."""

    __slots__ = ("collection",)

    def __init__(self, collection: Any = None) -> None:
        self.collection = collection


_BELOW, _LITERAL, _STRIPPED = _Form(), _Form(), _Form()
_FORMS = {"{}": _Form({}), "[]": _Form([]), "|": _LITERAL, "|-": _STRIPPED}
_NOTHING: Any = object()
_BLANK: Entry = (-2, -1, -1, None, None, 0)
_UNUSUAL: Entry = (-2, -2, -2, None, None, 0)


class _Entries(dict):  # type: ignore[type-arg]  # Any is not imported at run time
    """Lines and what they say: (member, begin, column, key, value, end).

    begin: where it begins; column: of its key, or of the value of an item without one; more than begin behind a dash.
    end: where its value ends. member: the column, of a key without a dash whose value is a scalar or below; else -2.
    Workloads repeat most lines, and share the texts in them then.
    """

    def __missing__(self, line: str) -> Entry:
        entry = _entry(line) if line.isprintable() else _UNUSUAL
        if len(self) >= _MOST_KEPT:
            self.clear()
        if entry[1] >= 0:
            self[line] = entry
        return entry


_entry_of = _Entries().__getitem__


def block_text(text: str) -> BlockText | None:
    """What the text says, None unless all of it is usual, and a collection."""
    lines = text.split("\n")
    entries = list(map(_entry_of, lines))
    places: list[Place] = []
    literals: set[int] = set()
    above: list[tuple[Any, int, int]] = []
    # What holds the document's value as its member; a key is kept from its line to that of its value.
    holder: dict[str, Any] = {}
    top: Any = holder
    key: Any = ""
    # at: the column where the next key of `top` may stand, -1 where what is above has to be looked at first.
    at = here = first = last = -1
    numbered = enumerate(entries)
    for number, (member, begin, column, name, said, _) in numbered:
        if member == at:
            if name in top:
                return None
            last = number
            if said is _BELOW:
                key, at = name, -1
            else:
                top[name] = said
            continue
        if begin < 0:
            if begin == -1:
                continue
            return None
        at = -1
        if key is not _NOTHING:
            if column == begin and name is None:
                if begin <= here or top is holder:
                    return None
                top[key], key, last = said.collection.copy(), _NOTHING, number
                continue
            if begin > here or (begin == here and column > begin):
                above.append((top, here, first))
                inside: Any = {} if column == begin else []
                top[key] = inside
                top, here, first = inside, begin, number
            else:
                top[key] = None
            key = _NOTHING
        elif column == begin and name is None:
            return None
        while begin < here:
            places.append((top, here, first, last))
            top, here, first = above.pop()
        if column > begin:
            if begin != here or top.__class__ is not list:
                return None
            if name is not None:
                above.append((top, here, first))
                inside = {}
                top.append(inside)
                top, here, first = inside, column, number
        else:
            if top.__class__ is list:
                places.append((top, here, first, last))
                top, here, first = above.pop()
            if begin != here:
                return None
        last, value = number, said
        if said.__class__ is _Form:
            if said is _BELOW:
                if name in top:
                    return None
                key = name
                continue
            if said.collection is not None:
                value = said.collection.copy()
            else:
                block = _literal(lines, number + 1, begin if name is None else column)
                if not block:
                    return None
                value = "\n".join(block) + ("" if said is _STRIPPED else "\n")
                for _ in block:
                    last, _ = next(numbered)
                literals.add(last)
        if name is None:
            top.append(value)
        elif name in top:
            return None
        else:
            top[name] = value
            at = here
    if key is not _NOTHING:
        if top is holder:
            return None
        top[key] = None
    while above:
        places.append((top, here, first, last))
        top, here, first = above.pop()
    return BlockText(holder[""], places, literals, lines, entries, [], {})


def _literal(lines: list[str], start: int, parent: int) -> list[str]:
    """The lines of a literal whose first line may be `start`, without those that are blank at its end."""
    block: list[str] = []
    filled = width = 0
    for number in range(start, len(lines)):
        line = lines[number]
        if line:
            indent = len(line) - len(line.lstrip(" "))
            if indent == len(line) or not line.isprintable():
                return []
            if indent < width or (not width and indent <= parent):
                break
            width = width or indent
            filled = len(block) + 1
        block.append(line[width:])
    return block[:filled]


def _entry(line: str) -> Entry:
    body = line.lstrip(" ")
    if not body or body[0] == "#":
        return _BLANK
    begin = column = len(line) - len(body)
    if body[:2] == "- ":
        body = body[2:].lstrip(" ")
        column = len(line) - len(body)
    if not body or column > _WIDEST or body[:2] == "- " or body == "-":
        return _UNUSUAL
    body = body.rstrip(" ")
    key: str | None
    if body[0] in "\"'":
        close = body.find(body[0], 1)
        key, rest = body[1:close], body[close + 1 :]
        if rest[:1] != ":" or "\\" in key or key[:3] == "---":
            key, rest = None, body
        else:
            rest = rest[1:]
    else:
        key, colon, rest = body.partition(": ")
        if colon:
            rest = " " + rest
        elif body[-1] == ":":
            key = body[:-1]
        else:
            key, rest = None, body
        if key is not None and not _is_plain_key(key):
            return _UNUSUAL
    if key is None:
        found = _value(rest)
        # Templates of charts leave an empty collection below its key.
        if column == begin and (
            found is None or rest[:2] not in ("{}", "[]") or found[0].__class__ is not _Form
        ):
            return _UNUSUAL
    elif len(key) > _LONGEST_KEY:
        return _UNUSUAL
    elif rest:
        text = rest.lstrip(" ")
        if rest[0] != " ":
            return _UNUSUAL
        found = (_BELOW, -len(rest)) if text[0] == "#" else _value(text)
    else:
        found = _BELOW, 0
    if found is None or (key is None and found[0] is _BELOW):
        return _UNUSUAL
    value, left = found
    simple = value.__class__ is not _Form or value is _BELOW
    member = column if simple and column == begin else -2
    return member, begin, column, key, value, column + len(body) + left


def _is_plain_key(key: str) -> bool:
    return (
        key != ""
        and (key[0].isalnum() or key[0] in "._/$")
        and key[-1] != " "
        and key[:4] != "... "
        and " #" not in key
        and resolve(key).__class__ is str
    )


def _value(text: str) -> tuple[Any, int] | None:
    """A value, and how far before the end of text it ends, as a number below 0; None for an unusual one."""
    first = text[0]
    if first in "\"'":
        return _quoted(text)
    left = 0
    comment = text.find(" #")
    if comment >= 0:
        bare = text[:comment].rstrip(" ")
        text, left = bare, len(bare) - len(text)
    if text in _FORMS:
        form = _FORMS[text]
        return None if left and form.collection is None else (form, left)
    if first in _INDICATORS:
        collection = _flow(text)
        return None if collection is None else (_Form(collection), left)
    if (first == "-" and text[1:2] in ("", " ")) or ": " in text or text[-1] == ":":
        return None
    return resolve(text), left


def _quoted(text: str) -> tuple[str, int] | None:
    quote = text[0]
    close = text.find(quote, 1)
    if quote == '"' and text.find("\\", 0, close) >= 0:
        inside = text[1:-1]
        bare = inside.replace("\\\\", "  ").replace('\\"', "  ").replace("\\n", "  ").replace("\\t", "  ")
        if text[-1] != '"' or '"' in bare or "\\" in bare:
            return None
        inside = inside.replace("\\\\", "\0").replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t")
        return inside.replace("\0", "\\"), 0
    if close < 0:
        return None
    behind = text[close + 1 :]
    if not behind:
        return text[1:close], 0
    if behind[0] == " " and behind.lstrip(" ")[0] == "#":
        return text[1:close], -len(behind)
    inside = text[1:-1]
    if quote == "'" and text[-1] == "'" and "'" not in inside.replace("''", ""):
        return inside.replace("''", "'"), 0
    return None


def _flow(text: str) -> Any:
    """A flow collection of plain and quoted scalars without commas, None for another."""
    inside = text[1:-1].strip(" ")
    if text[0] == "[" and text[-1] == "]":
        items = [_flow_scalar(part.strip(" ")) for part in inside.split(",")]
        return None if _NOTHING in items else items
    if text[0] != "{" or text[-1] != "}":
        return None
    made: dict[str, Any] = {}
    for part in inside.split(","):
        key, colon, member = part.partition(": ")
        name, value = _flow_scalar(key.strip(" ")), _flow_scalar(member.strip(" "))
        if not colon or name.__class__ is not str or value is _NOTHING or name in made:
            return None
        made[name] = value
    return made


def _flow_scalar(text: str) -> Any:
    if text[:1] in ('"', "'"):
        inside = text[1:-1]
        usual = len(text) > 1 and text[-1] == text[0] and text[0] not in inside and "\\" not in inside
        return inside if usual else _NOTHING
    bare = text.translate(_WITHOUT_MARKS)
    return resolve(text) if bare.isalnum() and bare.isascii() and text[0] != "-" else _NOTHING


_WITHOUT_MARKS = dict.fromkeys(map(ord, "-_./"))
