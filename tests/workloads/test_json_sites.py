"""The places of an edit in JSON are those that the parser's tree has, and a broken edit is not proven."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archfit.edit.insert import insertions
from archfit.edit.prove import prove
from archfit.errors import ArchfitError, InternalError
from archfit.patch import Add
from archfit.results import Location
from archfit.source.compose import parse
from archfit.source.json_list import Listed
from archfit.source.scan import Span
from archfit.source.tree import ROOT
from archfit.source.usual_json import read
from archfit.workloads.documents import Document
from archfit.workloads.json_objects import placed
from archfit.workloads.json_sites import json_sites
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.sites import Sites, Spine, anchors, find_sites
from fuzz.objects import objects
from json_layouts import LAYOUTS, any_layout, json_value

SPINE: Spine = {
    "a": None,
    "b": {"c": None, '\u00e9"': None},
    "tolerations": None,
    "e": [{"f": None}],
    "": None,
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "\u00e9"},
    "spec": {"containers": [{"image": "a:1"}], "tolerations": [], "affinity": {"nodeAffinity": None}},
}
VALUES = [
    pytest.param({}, id="nothing"),
    pytest.param({"a": {}, "b": [], "e": None}, id="empty collections"),
    pytest.param({"a": None, "b": "c", "e": 1, "tolerations": True}, id="scalars"),
    pytest.param({"b": {"c": None, 'é"': {"a": "\U0001f600"}}, "": {"a": "x"}}, id="mappings"),
    pytest.param({"e": [{"f": []}, {"f": {}}, {}, None, "f", [1]]}, id="a list"),
    pytest.param({"e": [-1, {"f": 1}], "b": {"c": [[]]}}, id="a number first"),
    pytest.param({"e": [[{"f": 1}]], "a": [{}, {"f": 1}]}, id="lists in a list"),
]


def same(text: str, spines: dict[Any, Spine]) -> Sites:
    tree = parse(text)
    found = json_sites(text, spines)
    assert found == find_sites(tree, ROOT, tree.value, spines)
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("value", VALUES)
def test_sites_are_those_of_the_tree(value: Any, layout: str) -> None:
    text = LAYOUTS[layout]({"x": [1, {"y": value}], "z": value}).strip()
    same(text, {("z",): SPINE, ("x", 1, "y"): SPINE, ("z", *list(value)[:1]): None})


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32))
def test_sites_of_random_objects_are_those_of_the_tree(seed: int) -> None:
    chance = random.Random(seed)
    for item in map(json_value, objects(chance)):
        text = any_layout(item, chance).strip()
        same(text, dict(anchors(find_pods(read(text), Location(1, 1)))))


def document(text: str) -> Document:
    span = Span(0, len(text.encode()), 1, 1, listed=Listed(7, 1))
    pods = find_pods(read(text), Location(1, 1), ("items", 7))
    return placed(Document(span, {}, (), 0, Sites({}, (), 2, 0), tuple(pods), light=True), text)


AFFINITY = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}
PATCHES = [
    pytest.param([("tolerations", "-")], {"key": "a", "operator": "Exists"}, id="into an empty list"),
    pytest.param([("affinity", "nodeAffinity")], AFFINITY, id="in place of null"),
    pytest.param([("nodeSelector",)], {"a": 'b"\\'}, id="a new member"),
]


@pytest.mark.parametrize("layout", ["kubectl", "kubectl-raw", "jq-tabs"])
@pytest.mark.parametrize(("paths", "value"), PATCHES)
def test_a_broken_edit_is_not_proven(paths: Any, value: Any, layout: str) -> None:
    text = LAYOUTS[layout](POD).strip()
    one = document(text)
    patch = [Add(("items", 7, "spec", *path), value) for path in paths]
    (edit,) = insertions(text, one.value, one.sites, patch)
    after = text[: edit.start] + edit.text + text[edit.end :]
    prove(one, patch, after)
    wanted, refused = parse(after).value, 0
    for broken in broken_texts(text, edit, after):
        try:
            tree = parse(broken)
            harmless = tree.value == wanted and not tree.duplicates
        except ArchfitError:
            harmless = False
        if harmless:
            prove(one, patch, broken)
            continue
        refused += 1
        with pytest.raises(InternalError):
            prove(one, patch, broken)
    assert refused > 50


def broken_texts(text: str, edit: Any, after: str) -> list[str]:
    """The edit elsewhere, without one of its characters, or with one more; a character of the text gone."""
    places = range(max(0, edit.start - 8), min(len(text), edit.start + 9))
    moved = [text[:at] + edit.text + text[at + edit.end - edit.start :] for at in places if at != edit.start]
    inside = range(edit.start, edit.start + len(edit.text))
    shorter = [after[:at] + after[at + 1 :] for at in range(len(after))]
    longer = [after[:at] + sign + after[at:] for at in inside for sign in '",:{}[] \n#']
    return [*moved, *shorter, *longer, f'{after[:-1]}, "kind": "Pod"}}']
