"""The sites of an object in usual JSON, which are those that `find_sites` finds in its tree.

    {"spec": {"containers": [..], "tolerations": []}}
             │                                   └── where an empty list is filled
             └── where a member is added: behind the last one

Only what is on the way to a pod spec and its spine is looked at. The scanner goes over the rest at ten times the speed
of the parser.
"""

from __future__ import annotations

from archfit.patch import Path
from archfit.source.usual_json import scanned
from archfit.typing_names import Literal, Mapping
from archfit.workloads.sites import Site, Sites, Spine

_BLANKS = " \t\n"
_NULL = "null"


def json_sites(text: str, spines: Mapping[Path, Spine]) -> Sites:
    """The sites below the object that the text is. Raises Unusual where it is no usual JSON."""
    found = _Found(text)
    for pod, spine in spines.items():
        found.add((), 0)
        for depth in range(1, len(pod) + 1):
            found.add_below(pod[: depth - 1], pod[depth - 1])
        found.collect(pod, spine)
    return Sites(found.sites, (), 2, 0)


class _Found:
    """Sites so far, and where what they hold begins: by key, or by number."""

    def __init__(self, text: str) -> None:
        self.sites: dict[Path, Site] = {}
        self._text = text
        self._inside: dict[Path, dict[str | int, int]] = {}

    def add(self, path: Path, at: int) -> None:
        """The site of the value that begins there."""
        if path not in self.sites:
            above = self.sites[path[:-1]] if path else None
            self.sites[path], self._inside[path] = _site(self._text, at, above)

    def add_below(self, path: Path, step: str | int) -> None:
        """The site of a member or item of the value at path."""
        self.add((*path, step), self._inside[path][step])

    def collect(self, path: Path, spine: Spine) -> None:
        """The sites of what the spine asks for below path."""
        kind, inside = self.sites[path].kind, self._inside[path]
        if kind == "mapping" and isinstance(spine, dict):
            for name, inner in spine.items():
                if name in inside:
                    self.add_below(path, name)
                    self.collect((*path, name), inner)
        elif kind == "sequence" and isinstance(spine, list):
            for number in inside:
                self.add_below(path, number)
                self.collect((*path, number), spine[0])


def _site(text: str, at: int, above: Site | None) -> tuple[Site, dict[str | int, int]]:
    line_start = text.rfind("\n", 0, at) + 1
    line = text.count("\n", 0, line_start) + 1
    json, column = (above.json, above.column) if above else (False, 0)
    if text[at] not in "{[":
        _, end = scanned(text, at)
        kind: Literal["empty", "other"] = "empty" if text.startswith(_NULL, at) else "other"
        return Site(kind, True, json, column, at, end, line), {}
    first = _behind_blanks(text, at + 1)
    is_mapping = text[at] == "{"
    inside, end = _members(text, first) if is_mapping else _items(text, first)
    if is_mapping:
        if not inside:
            return Site("mapping", True, json, 0, -1, at + 1, line), inside
        column = first - text.rfind("\n", 0, first) - 1
        return Site("mapping", True, True, column, -1, end, line, len(inside)), inside
    if not inside:
        return Site("sequence", True, json, 0, -1, at + 1, line), inside
    # As the parser's mark behind the bracket is read: a minus there is taken for a dash.
    column = at - line_start + text.startswith("-", at + 1)
    json = json or (text[first] == "{" and text[_behind_blanks(text, first + 1)] != "}")
    return Site("sequence", True, json, column, -1, end, line, len(inside)), inside


def _members(text: str, at: int) -> tuple[dict[str | int, int], int]:
    """Where the value of each key begins, and where the last one ends. at: of the first key, or of the bracket."""
    found: dict[str | int, int] = {}
    end = at
    while text[at] != "}":
        key, at = scanned(text, at)
        start = _behind_blanks(text, at + 1)
        found[key] = start
        _, end = scanned(text, start)
        at = _behind_comma(text, end)
    return found, end


def _items(text: str, at: int) -> tuple[dict[str | int, int], int]:
    """Where each item begins, and where the last one ends. at: of the first one, or of the bracket."""
    found: dict[str | int, int] = {}
    end = at
    while text[at] != "]":
        found[len(found)] = at
        _, end = scanned(text, at)
        at = _behind_comma(text, end)
    return found, end


def _behind_comma(text: str, at: int) -> int:
    at = _behind_blanks(text, at)
    return _behind_blanks(text, at + 1) if text[at] == "," else at


def _behind_blanks(text: str, at: int) -> int:
    while text[at] in _BLANKS:
        ahead = text[at : at + 80]
        at += len(ahead) - len(ahead.lstrip(_BLANKS))
    return at
