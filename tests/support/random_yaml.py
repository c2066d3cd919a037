"""Objects as YAML text in a random style, all of which kubectl and kustomize read alike.

    stream_text([{"kind": "Pod", ..}], Style(random.Random(1)))

Each node is block or flow by chance. Equal collections may be anchored once and be aliases after that, in the same
document; a mapping may take some members by `<<` from an anchor. What the readers disagree on is left out: words such
as `on` as plain text, keys before a `<<` that supplies them, block scalars without a final line break.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9./-]*(?: [a-z]+)*")
_WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
_COMMENTS = ("", "", "", "# note", "# image: x", "# - kind: Pod", "#", "# 'it''s \"")


# The first one alone is what kubectl takes between JSON documents, which it does not read as YAML.
_SEPARATORS = ("---\n", "--- # c\n", "---\n# Source: c/t/y.yaml\n", "---# c\n", "...\n---\n", "---\n\ufeff")


class Style:
    """Chances of one stream. indent: columns of a mapping; dash: columns of a sequence below its key."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.indent = chance.choice((2, 2, 4))
        self.dash = chance.choice((0, 2))
        self.flow = chance.choice((0.0, 0.1, 0.3, 1.0))
        self.json = chance.random() < 0.2
        self.comments = chance.choice((0.0, 0.0, 0.3))
        self.share = chance.choice((0.0, 0.5))
        self.newline = chance.choice(("\n", "\n", "\r\n"))
        self.anchors: dict[str, str] = {}

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share


def stream_text(objects: Sequence[Any], style: Style) -> bytes:
    """The objects as documents, some of them as items of a List."""
    chance = style.chance
    if len(objects) > 1 and chance.random() < 0.4:
        objects = [{"apiVersion": "v1", "kind": "List", "items": list(objects)}]
    text = chance.choice(("", "---\n", "# Source: c/t/x.yaml\n", "\ufeff", "--- # c\n"))
    for number, value in enumerate(objects):
        if number:
            text += chance.choice(_SEPARATORS[: 1 if style.json else None])
        style.anchors = {}
        text += _document(value, style)
    if chance.random() < 0.2 and not _ends_in_block_scalar(text):
        text = text.rstrip("\n")
    return text.replace("\n", style.newline).encode()


def _ends_in_block_scalar(text: str) -> bool:
    # kubectl and kustomize disagree on its value without a final line break.
    return any(line.rstrip().endswith(("|", "|-", "|+", "|2", ">-")) for line in text.splitlines())


def _document(value: Any, style: Style) -> str:
    if style.json and style.maybe(0.5):
        return json.dumps(value, indent=style.chance.choice((None, 1, 2)), ensure_ascii=False) + "\n"
    if style.flow == 1.0 and style.maybe(0.5):
        return _flow(value, style) + "\n"
    return "".join(line + "\n" for line in _block(value, 0, style))


def _block(value: Any, column: int, style: Style) -> list[str]:
    """The lines of a non-empty collection at a column."""
    made: list[str] = []
    pad = " " * column
    if isinstance(value, dict):
        value = _merged(value, column, style, made)
        for key, member in value.items():
            made += _comment(pad, style)
            made += _member(f"{pad}{_key(key, style)}:", member, column, style)
        return made
    for item in value:
        made += _comment(pad, style)
        if isinstance(item, (dict, list)) and item and not style.maybe(style.flow):
            anchor, alias = _anchor(item, style)
            if alias:
                made.append(f"{pad}- {alias}")
                continue
            lines = _block(item, column + 2, style)
            if anchor or style.maybe(0.1) or lines[0].lstrip().startswith("#"):
                made += [f"{pad}-{anchor}", *lines]
            else:
                made += [f"{pad}- {lines[0][column + 2 :]}", *lines[1:]]
        else:
            made.append(f"{pad}- {_flow(item, style)}{_trail(style)}")
    return made


def _member(head: str, value: Any, column: int, style: Style) -> list[str]:
    if isinstance(value, (dict, list)) and value and not style.maybe(style.flow):
        anchor, alias = _anchor(value, style)
        if alias:
            return [f"{head} {alias}{_trail(style)}"]
        inner = column + (style.indent if isinstance(value, dict) else style.dash)
        return [f"{head}{anchor}{_trail(style)}", *_block(value, inner, style)]
    if isinstance(value, str) and "\n" in value and style.maybe(0.7):
        return _literal(head, value, column + style.indent)
    if value is None and style.maybe(0.5):
        return [f"{head}{_trail(style)}"]
    if isinstance(value, str) and " " in value and _plain(value) and style.maybe(0.5):
        first, rest = value.split(" ", 1)
        return [f"{head} {first}", " " * (column + style.indent) + rest]
    return [f"{head} {_flow(value, style)}{_trail(style)}"]


def _literal(head: str, value: str, column: int) -> list[str]:
    body = value.rstrip("\n")
    tail = len(value) - len(body)
    if not body or body.startswith((" ", "\n")):
        return [f"{head} {json.dumps(value)}"]
    chomp = {0: "-", 1: ""}.get(tail, "+")
    lines = [" " * column + line if line else "" for line in body.split("\n")]
    return [f"{head} |{chomp}", *lines, *[""] * (tail - 1)]


def _merged(value: dict[str, Any], column: int, style: Style, made: list[str]) -> dict[str, Any]:
    """The members that are still to be written; the others have come by `<<`."""
    if (
        len(value) < 2
        or not style.maybe(style.share / 4)
        or not all(isinstance(v, (str, list)) for v in value.values())
    ):
        return value
    taken = style.chance.sample(sorted(value), style.chance.randint(1, len(value) - 1))
    made.append(" " * column + "<<: " + _flow({key: value[key] for key in taken}, style, share=False))
    return {key: member for key, member in value.items() if key not in taken}


def _flow(value: Any, style: Style, *, share: bool = True) -> str:
    if isinstance(value, dict):
        inside = [f"{_key(key, style)}: {_flow(member, style, share=share)}" for key, member in value.items()]
        return _bracketed("{", inside, "}", style)
    if isinstance(value, list):
        return _bracketed("[", [_flow(item, style, share=share) for item in value], "]", style)
    if isinstance(value, str):
        return _string(value, style)
    if value is None:
        return style.chance.choice(("null", "~", "null"))
    return json.dumps(value)


def _bracketed(opening: str, inside: list[str], closing: str, style: Style) -> str:
    if not inside:
        return opening + style.chance.choice(("", " ")) + closing
    comma = style.chance.choice((", ", ",", " , ")) if style.json else ", "
    blank = style.chance.choice(("", "", " "))
    trailing = "," if not style.json and style.maybe(0.1) else ""
    return opening + blank + comma.join(inside) + trailing + blank + closing


def _anchor(value: Any, style: Style) -> tuple[str, str]:
    """(` &name`, "") for a node that gets an anchor, ("", `*name`) for one that has it elsewhere, else twice ""."""
    if not style.share or not style.maybe(style.share):
        return "", ""
    text = json.dumps(value)
    if text in style.anchors:
        return "", f"*{style.anchors[text]}"
    name = f"a{len(style.anchors)}"
    if style.maybe(0.3):
        name = "again"
        style.anchors = {key: used for key, used in style.anchors.items() if used != name}
    # An anchor can be used once its node has ended: no part of a value equals the whole.
    style.anchors[text] = name
    return f" &{name}", ""


def _key(key: str, style: Style) -> str:
    if style.json or style.maybe(0.1):
        return json.dumps(key)
    return style.chance.choice((key, key, key, f"'{key}'"))


def _string(value: str, style: Style) -> str:
    ways = [json.dumps(value, ensure_ascii=style.maybe(0.5))]
    if not style.json:
        if "\n" not in value:
            ways.append("'" + value.replace("'", "''") + "'")
        if _plain(value) or value in {"amd:1", "arm:1", "both:1", "all:1"}:
            ways += [value, value]
    return style.chance.choice(ways)


def _plain(value: str) -> bool:
    return _PLAIN.fullmatch(value) is not None and value.lower() not in _WORDS


def _comment(pad: str, style: Style) -> list[str]:
    if not style.maybe(style.comments):
        return []
    return [style.chance.choice((pad, "", pad + "    ")) + style.chance.choice(_COMMENTS)]


def _trail(style: Style) -> str:
    if not style.maybe(style.comments):
        return style.chance.choice(("", "", " "))
    return " " + style.chance.choice(_COMMENTS)
