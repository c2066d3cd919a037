"""JSON in the layouts that tools write, and in any other.

LAYOUTS["kubectl"](value)     text, as the tool writes it
any_layout(value, chance)     text, blanks and escapes as chance has it
"""

import json
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from fuzz.writing import Anchored, Pairs, Raw


def _go(value: Any) -> str:
    """As Go's encoding/json escapes it; kubectl sorts the keys."""
    text = json.dumps(value, indent=4, ensure_ascii=False, sort_keys=True) + "\n"
    return text.translate({ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


LAYOUTS: dict[str, Callable[[Any], str]] = {
    "kubectl": _go,
    "kubectl-raw": lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n",
    "jq": lambda value: json.dumps(value, indent=2, ensure_ascii=False) + "\n",
    "jq-tabs": lambda value: json.dumps(value, indent="\t", ensure_ascii=False) + "\n",
    "jq-compact": lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
    "python": json.dumps,
    "python-indented": partial(json.dumps, indent=4),
    "wide": lambda value: json.dumps(value, indent=9) + "\n\n",
    "no-indent": lambda value: json.dumps(value, indent=0),
}


def any_layout(value: Any, chance: Random) -> str:
    """The tree as JSON, keys that stand twice too. Between a key and its colon stands nothing, as libyaml wants it."""
    return _written(value, chance) + chance.choice(("", "\n", " \n\n"))


def _written(value: Any, chance: Random) -> str:
    while isinstance(value, Anchored):
        value = value.tree
    if isinstance(value, (dict, Pairs)):
        pairs = value.items() if isinstance(value, dict) else value
        members = [
            f"{_string(key, chance)}:{_blank(chance)}{_written(member, chance)}" for key, member in pairs
        ]
        return "{" + _joined(members, chance) + "}"
    if isinstance(value, list):
        return "[" + _joined([_written(item, chance) for item in value], chance) + "]"
    return _string(value, chance) if isinstance(value, str) else json.dumps(value)


def _joined(parts: list[str], chance: Random) -> str:
    if not parts:
        return _blank(chance)
    return ",".join(f"{_blank(chance)}{part}{_blank(chance)}" for part in parts)


def _blank(chance: Random) -> str:
    return chance.choice(("", "", " ", "\n", "\n  ", "\t", " \n\n \t"))


def _string(text: str, chance: Random) -> str:
    """Text that is no JSON, as of an alias or a quoted key, becomes a string."""
    text = text.rpartition(" ")[2].strip("\"'") if isinstance(text, Raw) else text
    return json.dumps(text, ensure_ascii=chance.random() < 0.5)
