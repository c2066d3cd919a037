"""Trees as YAML text in a random style, with everything that the readers know and much that they refuse.

    dict, list, str, None, bool, int, float    as in JSON
    Pairs([("a", 1), ("a", 2), ("<<", ..)])    a mapping whose keys may stand twice
    Anchored("x", tree)                        `&x` before it
    Raw("*x")                                  text as it is, on one line; as a key too

Each collection is block or flow by chance; strings are plain where the text allows it, quoted, or block scalars of
every kind. Nothing here promises that a reader takes the text.
"""

import json
import random
import re
from typing import Any, NamedTuple

PLAIN = re.compile(
    r"[A-Za-z0-9_./%@+][A-Za-z0-9_./%@+=-]*(?::[A-Za-z0-9_./-]+)*(?: [A-Za-z(][\w.()/-]*)*"
).fullmatch
WORDS = re.compile(
    r"(?i)(?:true|false|yes|no|on|off|y|n|null|[-+.]?[0-9][0-9_.:xobe+a-f-]*|[-+]?\.(?:inf|nan))"
).fullmatch
HEADERS = ("|", "|", "|-", "|+", ">", ">-", ">+")
COMMENTS = ("# note", "# image: x", "# - kind: Pod", "#", "# 'it''s \"", "# a: &b *c")


class Raw(str):
    """Text that is written as it is."""

    __slots__ = ()


class Pairs(list):  # type: ignore[type-arg]
    """A mapping as a list of (key, tree)."""


class Anchored(NamedTuple):
    name: str
    tree: Any


class Style:
    """The chances of one document, drawn once."""

    def __init__(self, chance: random.Random) -> None:
        draw = chance.random
        self.draw, self.choice = draw, chance.choice
        self.indent = 2 if draw() < 0.8 else chance.choice((1, 3, 4))
        self.dash = 0 if draw() < 0.6 else self.indent
        self.flow = chance.choice((0.0, 0.0, 0.05, 0.3))
        self.json = draw() < 0.1
        self.comments = 0.0 if draw() < 0.7 else 0.15
        self.quotes = chance.choice((0.0, 0.2, 0.2, 1.0))
        self.explicit = 0.0 if draw() < 0.93 else 0.1
        self.odd = 0.0 if draw() < 0.6 else 0.1


def written(tree: Any, chance: random.Random) -> str:
    style = Style(chance)
    if style.json and chance.random() < 0.5:
        return as_json(tree, chance)
    if not _is_collection(tree) or (style.flow == 0.3 and chance.random() < 0.1):
        return flow(tree, style) + "\n"
    anchor = ""
    if isinstance(tree, Anchored):
        anchor, tree = f"&{tree.name}\n", tree.tree
    if not tree:
        return anchor + flow(tree, style) + "\n"
    return anchor + block(tree, style)


def block(tree: Any, style: Style) -> str:
    """A collection that is not empty, in block style."""
    lines: list[str] = []
    _block(lines, tree, "", style)
    return "\n".join(lines) + "\n"


def as_json(tree: Any, chance: random.Random) -> str:
    """The tree as JSON, with what JSON lacks left out."""
    indent = chance.choice((None, None, 1, 2, 4, "\t"))
    separators = chance.choice((None, (",", ":"), (", ", ": ")))
    return (
        json.dumps(plain(tree), indent=indent, separators=separators, ensure_ascii=chance.random() < 0.5)
        + "\n"
    )


def plain(tree: Any) -> Any:
    """The tree without what is YAML only."""
    if isinstance(tree, Anchored):
        return plain(tree.tree)
    if isinstance(tree, Pairs):
        return {key: plain(member) for key, member in tree}
    if isinstance(tree, dict):
        return {key: plain(member) for key, member in tree.items()}
    return [plain(item) for item in tree] if isinstance(tree, list) else tree


def _is_collection(tree: Any) -> bool:
    return isinstance(tree, (dict, list, Anchored))


def _block(lines: list[str], tree: Any, pad: str, style: Style) -> None:
    """The lines of a non-empty collection."""
    if isinstance(tree, (dict, Pairs)):
        for key, member in tree.items() if isinstance(tree, dict) else tree:
            if style.comments and style.draw() < style.comments:
                lines.append(_comment(pad, style))
            _member(lines, key, member, pad, style)
        return
    for item in tree:
        if style.comments and style.draw() < style.comments:
            lines.append(_comment(pad, style))
        _item(lines, item, pad, style)


def _member(lines: list[str], key: str, member: Any, pad: str, style: Style) -> None:
    name = _key(key, style)
    explicit = style.explicit and style.draw() < style.explicit
    head = f"{pad}{name}:"
    if explicit:
        lines.append(f"{pad}? {name}")
        if member is None and style.draw() < 0.5:
            return
        head = f"{pad}:"
    anchor = ""
    if isinstance(member, Anchored):
        anchor, member = f" &{member.name}", member.tree
    if isinstance(member, (dict, list)) and member and not (style.flow and style.draw() < style.flow):
        lines.append(head + anchor + _trail(style))
        dash = style.indent if isinstance(member, (dict, Pairs)) else style.dash
        _block(lines, member, pad + " " * (max(dash, 1) if explicit else dash), style)
        return
    if isinstance(member, str) and not isinstance(member, Raw) and "\n" in member and style.draw() < 0.85:
        lines.append(head + anchor + _scalar(member, pad + " " * style.indent, style))
        return
    if member is None and style.draw() < 0.6:
        lines.append(head + anchor + _trail(style))
        return
    text = flow(member, style)
    if style.odd and " " in text and text[0].isalpha() and ": " not in text and style.draw() < 0.3:
        text = text.replace(" ", "\n" + pad + " " * style.indent, 1)
    lines.append(f"{head}{anchor} {text}{_trail(style)}")


def _item(lines: list[str], item: Any, pad: str, style: Style) -> None:
    anchor = ""
    if isinstance(item, Anchored):
        anchor, item = f" &{item.name}", item.tree
    if isinstance(item, (dict, list)) and item and not (style.flow and style.draw() < style.flow):
        gap = " " if not style.odd or style.draw() < 0.7 else "   "
        inner = pad + " " + gap
        start = len(lines)
        _block(lines, item, inner, style)
        first = lines[start]
        if (
            anchor
            or first.lstrip().startswith(("#", "?"))
            or not first.startswith(inner)
            or style.draw() < 0.05
        ):
            lines.insert(start, f"{pad}-{anchor}{_trail(style)}")
        else:
            lines[start] = f"{pad}-{gap}{first[len(inner) :]}"
        return
    if isinstance(item, str) and not isinstance(item, Raw) and "\n" in item and style.draw() < 0.85:
        lines.append(f"{pad}-{anchor}" + _scalar(item, pad + "  ", style))
        return
    if item is None and style.draw() < 0.5:
        lines.append(f"{pad}-{anchor}")
        return
    lines.append(f"{pad}-{anchor} {flow(item, style)}{_trail(style)}")


def _scalar(text: str, pad: str, style: Style) -> str:
    """A block scalar behind its key, with whatever header: the value may come out as another one."""
    header = style.choice(HEADERS)
    body = text.split("\n")
    if body[0][:1] in " \t" or not body[0]:
        header = header[0] + str(style.indent if pad else 2) + header[1:]
    empty = "" if style.draw() < 0.9 else pad
    return f" {header}{_trail(style)}\n" + "\n".join(pad + line if line else empty for line in body)


def flow(tree: Any, style: Style) -> str:
    if isinstance(tree, Raw):
        return str(tree)
    if isinstance(tree, Anchored):
        return f"&{tree.name} {flow(tree.tree, style)}"
    if isinstance(tree, (dict, Pairs)):
        pairs = tree.items() if isinstance(tree, dict) else tree
        return _bracketed(
            "{", [f"{_key(key, style)}: {flow(member, style)}" for key, member in pairs], "}", style
        )
    if isinstance(tree, list):
        return _bracketed("[", [flow(item, style) for item in tree], "]", style)
    if isinstance(tree, str):
        return _string(tree, style)
    if tree is None:
        return style.choice(("null", "~", "null", "Null"))
    return json.dumps(tree)


def _bracketed(opening: str, inside: list[str], closing: str, style: Style) -> str:
    if not inside:
        return opening + closing
    comma = ", " if style.draw() < 0.9 else style.choice((",", " , ", ",  "))
    if not style.odd or style.draw() < 0.8:
        return opening + comma.join(inside) + closing
    return opening + " " + comma.join(inside) + style.choice((",", ", ", " ")) + closing


def _key(key: str, style: Style) -> str:
    if isinstance(key, Raw):
        return key
    if style.json or (style.odd and style.draw() < style.odd):
        return style.choice((json.dumps(key), f"'{key}'"))
    return key if key == "<<" or PLAIN(key) else json.dumps(key)


def _string(text: str, style: Style) -> str:
    plain = not style.json and PLAIN(text) is not None and (WORDS(text) is None or style.draw() < 0.1)
    if plain and (not style.quotes or style.draw() >= style.quotes):
        return text
    if not style.json and "\n" not in text and "\\" not in text and style.draw() < 0.5:
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text, ensure_ascii=style.draw() < 0.5)


def _comment(pad: str, style: Style) -> str:
    return style.choice((pad, pad, "", pad + "    ")) + style.choice(("", *COMMENTS))


def _trail(style: Style) -> str:
    if not style.comments or style.draw() >= style.comments:
        return "" if style.draw() < 0.98 else " "
    return " " + style.choice(COMMENTS)
