"""Patch and sites into text edits.

    below an alias                the alias is replaced by its value, written out, with the addition
    below what `<<` supplies      the key is added with its value written out: an own key wins over a merged one
    below an anchor               made there; aliases of it that do not want the same are written out

Nothing is moved and nothing is removed but empty values and aliases that get replaced.
"""

from __future__ import annotations

from archfit.base.errors import UnplaceableEdit
from archfit.base.patch import Add, Operation, Path, apply, dotted
from archfit.edit.render import Style, block, block_item, block_member, flow
from archfit.startup.record import Record
from archfit.workloads.sites import Site, Sites
from archfit.yaml.tree import MERGE
from archfit.yaml.values import Typed, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_UNSEEN = object()
_BLANKS = " \t\r\n"
_MOST_WRITTEN = 256
_written: dict[tuple[str, int, int, int, int], tuple[Any, list[str]]] = {}


class TextEdit(Record):
    """`text` replaces the code points start to end of a document."""

    start: int
    end: int
    text: str


def applied(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with the edits made, which are in the order of their places."""
    parts: list[str] = []
    at = 0
    for edit in edits:
        parts += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join((*parts, text[at:]))


def insertions(text: str, value: Any, sites: Sites, patch: Iterable[Operation]) -> list[TextEdit]:
    """The edits of `text` that apply the patch, in the order of their places.

    value: the document's value before the patch; paths of the patch are counted from it.
    Raises UnplaceableEdit, its line counted from the first line of text.
    """
    additions = folded(step for step in patch if isinstance(step, Add))
    below: dict[Path, list[Add]] = {}
    direct: list[Add] = []
    for addition in additions:
        barrier = _barrier(addition.path, sites)
        if barrier is None:
            direct.append(addition)
        else:
            below.setdefault(barrier, []).append(addition.replace(path=addition.path[len(barrier) :]))
    written_out = {barrier: apply(value_at(value, barrier), steps) for barrier, steps in below.items()}
    if sites.aliases:
        _spare_other_users(written_out, value, apply(value, additions), sites)
    edits: list[tuple[int, TextEdit]] = []
    holders: set[Path] = set()
    for addition in direct:
        holder = addition.path[:-1]
        depth = len(addition.path) + (addition.path in sites.at)
        edits.append((depth, _addition(text, sites, addition, first=holder not in holders)))
        holders.add(holder)
    aliases = {alias.path: alias.site for alias in sites.aliases}
    for path, new in written_out.items():
        site = aliases.get(path) or sites.at[path]
        edits.append((len(path), _written_out(text, sites, site, Add(path, new))))
    # Where two collections end on the same line, the inner one has to be continued first.
    edits.sort(key=lambda depth_and_edit: (depth_and_edit[1].start, -depth_and_edit[0]))
    return [edit for _, edit in edits]


def folded(additions: Iterable[Add]) -> list[Add]:
    """The additions, those at or below an earlier one made part of its value."""
    whole: list[Add] = []
    added: dict[Path, int] = {}
    for addition in additions:
        path = addition.path
        around = next((path[:length] for length in range(1, len(path) + 1) if path[:length] in added), None)
        if around is None:
            if path[-1] != "-":
                added[path] = len(whole)
            whole.append(addition)
            continue
        earlier = whole[added[around]]
        inner = addition.replace(path=path[len(around) :])
        whole[added[around]] = earlier.replace(value=apply(earlier.value, [inner]))
    return whole


def _barrier(path: Path, sites: Sites) -> Path | None:
    """The first node on the way that is not written there: an alias, or supplied by a merge."""
    for length in range(len(path) + 1):
        site = sites.at.get(path[:length])
        if site is not None and site.kind in ("alias", "merged"):
            return path[:length]
    return None


def value_at(value: Any, path: Path, otherwise: Any = None) -> Any:
    """The value at path; `otherwise` where the path leads through a `<<` or a key that is an alias."""
    for token in path:
        if isinstance(value, dict) and (token == MERGE or token not in value):
            return otherwise
        value = value[token]
    return value


def _spare_other_users(written_out: dict[Path, Any], value: Any, after: Any, sites: Sites) -> None:
    """Writes out each alias that wants another value than its anchor will have, and spares the others.

    value, after: the document's, before and after the patch. An anchor inside of a `<<` is never edited.
    """
    anchored: dict[Path, tuple[Any, Any]] = {}
    alike: dict[tuple[int, int], bool] = {}
    for alias in sites.aliases:
        if alias.anchored not in anchored:
            before = value_at(value, alias.anchored, _UNSEEN)
            anchored[alias.anchored] = before, value_at(after, alias.anchored, before)
        before, becomes = anchored[alias.anchored]
        if before is _UNSEEN:
            continue
        wanted = value_at(after, alias.path, before)
        # Most aliases want the very same value: it is compared once.
        pair = id(becomes), id(wanted)
        if pair not in alike:
            alike[pair] = becomes is wanted or becomes == wanted
        if alike[pair]:
            written_out.pop(alias.path, None)
        elif alias.site.kind == "alias":
            written_out[alias.path] = wanted


def _addition(
    text: str, sites: Sites, addition: Add, *, first: bool = True, merged: bool = False
) -> TextEdit:
    """The edit for one addition. first: of those to its collection. merged: `<<` supplies what is at its path."""
    path, value = addition.path, addition.value
    style = Style(sites.indent, sites.dash)
    here, above = sites.at.get(path), sites.at[path[:-1]]
    if here is not None and not merged:
        _check(here, addition)
        if here.end > here.start and not here.flow:
            below = _line_below(text, here.end)
            if _below_tabs(text, below) > below:
                raise _impossible(addition, here, "a blank line below it holds a tab; remove that line first")
        return _filled(text, here, value, style)
    _check(above, addition)
    if path[-1] == "-":
        if above.flow:
            return _into_flow(above, flow(value, as_json=above.json), first=first)
        return _lines_behind(text, above, block_item(value, above.column, style))
    key = str(path[-1])
    if above.flow:
        member = flow({key: value}, as_json=above.json)
        return _into_flow(above, member[1:-1], first=first)
    return _lines_behind(text, above, _member(key, value, above.column, style))


def _member(key: str, value: Any, column: int, style: Style) -> list[str]:
    """The lines of `key: value`, as `block_member`. Pods that get the same share the value (`placement.pod_patch`)."""
    at = key, id(value), column, style.indent, style.dash
    written = _written.get(at)
    if written is None:
        if len(_written) >= _MOST_WRITTEN:
            _written.clear()
        # The value is kept, too: so no other one has its id.
        written = _written[at] = value, block_member(key, value, column, style)
    return written[1]


def _check(site: Site, addition: Add) -> None:
    if site.problem or site.kind == "other":
        raise _impossible(
            addition,
            site,
            site.problem or "the value there is neither a mapping nor a list, or a tag stands in its place",
        )


def _impossible(addition: Add, site: Site, problem: str) -> UnplaceableEdit:
    return UnplaceableEdit(
        f"{dotted(addition.path)} cannot be edited: {problem}. Write it yourself: {flow(addition.value)}",
        line=site.line,
    )


def _filled(text: str, site: Site, value: Any, style: Style) -> TextEdit:
    if site.end > site.start:
        return TextEdit(site.start, site.end, flow(value, as_json=site.json))
    if site.flow or not value or not isinstance(value, (dict, list)):
        blank = "" if text[site.end - 1] in _BLANKS else " "
        return TextEdit(site.end, site.end, blank + flow(value, as_json=site.json))
    column = site.column + (style.indent if isinstance(value, dict) else style.dash)
    return _lines_below(text, site.end, block(value, column, style))


def _into_flow(site: Site, member: str, *, first: bool) -> TextEdit:
    if first and not site.members:
        return TextEdit(site.end, site.end, member)
    # Kubernetes' readers take a comma right behind a tag for a part of the tag.
    comma = " , " if site.ends_with_tag else ", "
    return TextEdit(site.end, site.end, comma + member)


def _lines_behind(text: str, site: Site, lines: list[str]) -> TextEdit:
    at = site.end
    if not site.block_scalar:
        return _lines_below(text, at, lines)
    if text[at - 1 : at] != "\n":
        # A block scalar that ends the text without a line break would gain one: its value would change.
        at = text.rfind("\n", 0, site.last) + 1
        if site.last < 0 or text[at : site.last].strip(" ") or text.startswith("<<", site.last):
            raise UnplaceableEdit(
                "the text ends inside a block scalar, behind which something has to be added: that would change its "
                "value. End the text with a line break",
                line=site.line,
            )
    return TextEdit(at, at, _joined(text, at, lines))


def _lines_below(text: str, at: int, lines: list[str]) -> TextEdit:
    """Lines below the line that holds the offset `at`.

    Blank lines with a tab stay with the plain scalar that they follow: behind anything else they are no YAML.
    """
    below = _below_tabs(text, _line_below(text, at))
    if text[below - 1] == "\n":
        return TextEdit(below, below, _joined(text, below, lines))
    newline = _newline(text, below)
    return TextEdit(below, below, "".join(newline + line for line in lines))


def _below_tabs(text: str, at: int) -> int:
    """Of the blank lines from `at` on, where the last one that holds a tab ends; `at` where none does."""
    below = at
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end]
        if line.strip(_BLANKS):
            break
        if "\t" in line:
            below = end
        at = end
    return below


def _line_below(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _joined(text: str, at: int, lines: list[str]) -> str:
    newline = _newline(text, at)
    return "".join(line + newline for line in lines)


def _newline(text: str, at: int) -> str:
    before = text.rfind("\n", 0, at)
    return "\r\n" if text[before - 1 : before] == "\r" else "\n"


def _written_out(text: str, sites: Sites, site: Site, addition: Add) -> TextEdit:
    """The edit that writes a value where an alias stands, or where `<<` supplied it. site: what is there."""
    if _holds_tagged_value(addition.value):
        raise _impossible(addition, site, "a value there has a tag, which would get lost")
    if site.kind == "alias":
        return TextEdit(site.start, site.end, flow(addition.value, as_json=site.json))
    return _addition(text, sites, addition, merged=True)


def _holds_tagged_value(value: Any) -> bool:
    """Whether a number or boolean in it is one by its tag alone, as in `!!float 1`."""
    if isinstance(value, dict):
        return any(map(_holds_tagged_value, value.values()))
    if isinstance(value, list):
        return any(map(_holds_tagged_value, value))
    return isinstance(value, Typed) and resolve(value.text) != value
