"""The places of a document where an edit may go: a pod spec, the nodes above it, and those of its placement.

The tree is dropped once its sites are found: the parser events of a thousand workloads take a hundred megabytes.
"""

from __future__ import annotations

from archfit.base.patch import Path
from archfit.options.settings import PREFERRED, REQUIRED
from archfit.startup.record import Record
from archfit.workloads.pods import Pod
from archfit.yaml.tree import (
    Alias,
    Children,
    Scalar,
    Tree,
    Written,
    child,
    colon_follows,
    is_mapping,
    is_sequence,
    items,
    last_leaf,
    members,
    written,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal, TypeAlias


Spine: TypeAlias = "dict[str, Spine] | list[Spine] | None"

_SPINE: dict[str, Spine] = {
    "tolerations": None,
    "affinity": {
        "nodeAffinity": {
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": None}]},
            PREFERRED: None,
        },
    },
}
WIDEST_INDENT = 9
_AFFINITY = _SPINE["affinity"]


class Site(Record):
    """A node that an edit may fill, extend or replace. Offsets are code points of the document's text.

    kind: "mapping", "sequence", "empty" (null in any spelling), "alias", "merged" (supplied by `<<`, nowhere in the
    text) or "other".
    flow: it is written in flow style, or stands inside a flow collection. json: with keys in double quotes there.
    column: 0-based; of the keys or dashes of a block collection, else of the key or dash that holds the value.
    start, end: the text of an empty value or alias. Of a collection, `end` is where its last member ends (of an empty
    flow collection, where the opening bracket ends).
    members: how many it has.
    last: where the last member of a block mapping begins that ends with a block scalar, else -1.
    block_scalar: it ends with a block scalar, to which the blank lines behind it belong.
    ends_with_tag: its last member is a tag without text.
    line: 1-based line of the document's text.
    problem: why no edit can go here, "" if one can.
    """

    kind: Literal["mapping", "sequence", "empty", "alias", "merged", "other"]
    flow: bool
    json: bool
    column: int
    start: int
    end: int
    line: int
    members: int = 0
    last: int = -1
    block_scalar: bool = False
    problem: str = ""
    ends_with_tag: bool = False


class AliasSite(Record):
    """An alias in the document. path: its own, with "<<" for a merge; anchored: of the node that it repeats."""

    path: Path
    anchored: Path
    site: Site


class Sites(Record):
    """All sites of a document's pod specs.

    indent: columns that a mapping inside a mapping stands to the right.
    dash: columns that a sequence inside a mapping stands to the right, 0 in compact style.
    """

    at: dict[Path, Site]
    aliases: tuple[AliasSite, ...]
    indent: int
    dash: int


def anchors(pods: Iterable[Pod]) -> dict[Path, Spine]:
    """For each pod the path of a mapping that is there, and what to look for below it."""
    spines: dict[Path, Spine] = {}
    for pod in pods:
        if pod.placement_paths is None:
            spines[pod.path] = _SPINE
            continue
        spine = spines.setdefault(pod.placement_paths.there, {})
        for field, below in (("tolerations", None), ("affinity", _AFFINITY), ("nodeSelector", None)):
            if not pod.lacks(field) and (field != "nodeSelector" or pod.placement_paths.pins):
                _graft(spine, pod.at(field)[len(pod.placement_paths.there) :], below)
    return spines


def _graft(spine: Spine, path: Path, below: Spine) -> None:
    if path and isinstance(spine, dict):
        name = str(path[0])
        spine[name] = spine.get(name) or _empty(path[1:], below)
        _graft(spine[name], path[1:], below)
    elif path and isinstance(spine, list):
        spine[0] = spine[0] or _empty(path[1:], below)
        _graft(spine[0], path[1:], below)
    elif isinstance(spine, dict) and isinstance(below, dict):
        spine.update(below)


def _empty(rest: Path, below: Spine) -> Spine:
    if rest:
        return [None] if isinstance(rest[0], int) else {}
    return {} if isinstance(below, dict) else below


def find_sites(tree: Tree, root: int, value: Any, pods: Iterable[Path] | Mapping[Path, Spine]) -> Sites:
    """The sites of the pod specs at `pods`; paths are counted from the node `root`, whose value is `value`."""
    spines = pods if isinstance(pods, dict) else dict.fromkeys(pods, _SPINE)
    at: dict[Path, Site] = {}
    known: Children = {}
    indent = dash = -1
    for pod, spine in spines.items():
        node, below = _descend(tree, root, value, pod, at, known)
        if node < 0:
            continue
        spec, above = at[pod], at[pod[:-1]]
        _collect(tree, node, pod, below, spine, at, known)
        if spec.kind == "mapping" and not spec.flow:
            if indent < 0 and 0 < spec.column - above.column <= WIDEST_INDENT:
                indent = spec.column - above.column
            if dash < 0:
                dash = _dash_of(tree, node, spec.column)
    return Sites(at, _aliases(tree, root), indent if indent > 0 else 2, max(dash, 0))


def _descend(
    tree: Tree, node: int, value: Any, path: Path, at: dict[Path, Site], known: Children
) -> tuple[int, Any]:
    """Keeps the sites along path; the node and value at its end, or -1 where an alias or merge bars the way."""
    above = at[()] = at.get(()) or site(tree, node, None)
    for depth, step in enumerate(path, start=1):
        here = path[:depth]
        value = value[step]
        node = child(tree, node, step, known)
        above = at[here] = at.get(here) or (site(tree, node, above) if node >= 0 else _merged(above))
        if above.kind in ("alias", "merged"):
            return -1, value
    return node, value


def _collect(
    tree: Tree, node: int, path: Path, value: Any, spine: Spine, at: dict[Path, Site], known: Children
) -> None:
    above = at[path]
    below: Iterable[tuple[str | int, Spine]] = ()
    if above.kind == "mapping" and isinstance(spine, dict):
        below = ((name, inner) for name, inner in spine.items() if name in value)
    elif above.kind == "sequence" and isinstance(spine, list):
        below = ((number, spine[0]) for number in range(len(value)))
    for step, inner in below:
        inner_node, here = child(tree, node, step, known), (*path, step)
        at[here] = site(tree, inner_node, above) if inner_node >= 0 else _merged(above)
        _collect(tree, inner_node, here, value[step], inner, at, known)


def _aliases(tree: Tree, root: int) -> tuple[AliasSite, ...]:
    """The aliases of collections that are read; an alias of a scalar has no part in any edit but its own."""
    if not any(use.anchored in tree.ends for use in tree.aliases):
        return ()
    places = {place.node: place for place in written(tree, root) if place.live}
    sites: dict[int, Site] = {}
    alias_sites = []
    for use in tree.aliases:
        place, anchored = places.get(use.index), places.get(use.anchored)
        if place and anchored:
            above = _site_of(tree, place.holder, places, sites)
            alias_sites.append(AliasSite(place.path, anchored.path, site(tree, use.index, above)))
    return tuple(alias_sites)


def _site_of(tree: Tree, node: int, places: Mapping[int, Written], sites: dict[int, Site]) -> Site:
    if node not in sites:
        holder = places[node].holder
        sites[node] = site(tree, node, _site_of(tree, holder, places, sites) if holder >= 0 else None)
    return sites[node]


def _merged(above: Site) -> Site:
    return Site("merged", above.flow, above.json, above.column, above.end, above.end, above.line)


def site(tree: Tree, node: int, above: Site | None) -> Site:
    """The site of a node; above: that of the collection that holds it, None for the root."""
    event = tree.events[node]
    flow, json, column = (above.flow, above.json, above.column) if above else (False, False, 0)
    start, end, line = event.start_mark.index, event.end_mark.index, event.start_mark.line + 1
    if is_mapping(tree, node):
        return _mapping_site(tree, node, flow=flow or event.flow_style, json=json)
    if is_sequence(tree, node):
        return _sequence_site(tree, node, flow=flow or event.flow_style, json=json)
    if not isinstance(event, Scalar):
        return Site("alias", flow, json, column, start, end, line)
    if event.value in _NULLS and event.implicit[0] and event.tag is None:
        problem = "an anchor stands where the value is missing" if event.anchor is not None else ""
        if not problem and start == end and above is not None and above.kind == "mapping":
            key_end = tree.events[node - 1].end_mark.index
            problem = "" if colon_follows(tree.text, key_end) else "a key without ':' stands there"
        return Site("empty", flow, json, column, start, end, line, problem=problem)
    return Site("other", flow, json, column, start, end, line)


_NULLS = ("", "~", "null", "Null", "NULL")


def _mapping_site(tree: Tree, node: int, *, flow: bool, json: bool) -> Site:
    event = tree.events[node]
    line = event.start_mark.line + 1
    keys = [(key, value) for _, key, value in members(tree, node)]
    if not keys:
        return Site("mapping", flow=True, json=json, column=0, start=-1, end=event.end_mark.index, line=line)
    first, last = tree.events[keys[0][0]], tree.events[keys[-1][0]]
    leaf = last_leaf(tree, keys[-1][1])
    problem, block_scalar = "", getattr(leaf, "style", None) in ("|", ">")
    if flow:
        json = getattr(first, "style", None) == '"'
        if tree.text[event.end_mark.index - 1 : event.end_mark.index] != "{":
            problem = "a mapping of one pair in a flow sequence has no braces"
    elif tree.text.find(
        "?", first.start_mark.index - first.start_mark.column, last.start_mark.index
    ) >= 0 and any(
        # Each mapping reads its own text alone first: a list may hold many.
        _line_before(tree.text, tree.events[key]).rstrip().endswith("?")
        for key, _ in keys
    ):
        problem = "an explicit key ('? key') stands there"
    if tree.aliases and any(isinstance(tree.events[key], Alias) for key, _ in keys):
        problem = "an alias stands there in place of a key"
    return Site(
        "mapping",
        flow,
        json,
        first.start_mark.column,
        -1,
        leaf.end_mark.index,
        line,
        len(keys),
        last.start_mark.index if block_scalar and not flow else -1,
        block_scalar,
        problem,
        _is_bare_tag(leaf),
    )


def _sequence_site(tree: Tree, node: int, *, flow: bool, json: bool) -> Site:
    event = tree.events[node]
    line, opening = event.start_mark.line + 1, event.end_mark
    nodes = list(items(tree, node))
    if not nodes:
        return Site("sequence", flow=True, json=json, column=0, start=-1, end=opening.index, line=line)
    leaf = last_leaf(tree, nodes[-1])
    # The mark stands on the first dash, or behind it where the sequence is not indented (libyaml's parser).
    column = opening.column if tree.text[opening.index : opening.index + 1] == "-" else opening.column - 1
    if flow and is_mapping(tree, nodes[0]) and tree.ends[nodes[0]] > nodes[0] + 1:
        json = getattr(tree.events[nodes[0] + 1], "style", None) == '"'
    return Site(
        "sequence",
        flow,
        json,
        column,
        -1,
        leaf.end_mark.index,
        line,
        len(nodes),
        block_scalar=getattr(leaf, "style", None) in ("|", ">"),
        ends_with_tag=_is_bare_tag(leaf),
    )


def _is_bare_tag(event: Any) -> bool:
    return isinstance(event, Scalar) and event.tag is not None and not event.value and not event.style


def _line_before(text: str, key: Any) -> str:
    """What stands before a key in its line: in a block mapping nothing but a dash or `?`."""
    at = key.start_mark.index
    return text[text.rfind("\n", 0, at) + 1 : at]


def _dash_of(tree: Tree, pod_spec: int, column: int) -> int:
    """How far the pod spec's own sequences are indented, -1 where it has none in block style."""
    for _, _, value in members(tree, pod_spec):
        if is_sequence(tree, value) and not tree.events[value].flow_style:
            return max(_sequence_site(tree, value, flow=False, json=False).column - column, 0)
    return -1
