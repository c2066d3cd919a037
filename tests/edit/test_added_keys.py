"""The short proof accepts the usual edit and nothing that the proof of the whole text refuses."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archfit.base.errors import InternalError
from archfit.base.patch import Add, Operation, Test
from archfit.edit import added_keys
from archfit.edit.added_keys import proves
from archfit.edit.insert import TextEdit, insertions
from archfit.edit.prove import prove
from broken_edits import LIST, documents_of, drawn
from edit_cases import FOLDER
from machine import shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from archfit.workloads.documents import Document

POD = """\
apiVersion: v1
kind: Pod
metadata:
  annotations:
    text: |
      spec:
        containers: []
        nodeName: x
spec:
  containers:
  - name: a
    image: amd:1
  hostname: h # comment

status:
  phase: x
"""
ADDED = '  tolerations:\n    - key: "on"\n'
PATCH: list[Operation] = [
    Test(("spec", "tolerations"), None),
    Add(("spec", "tolerations"), [{"key": "on"}]),
]


def document(text: str) -> Document:
    ((found, _),) = documents_of(text.encode())
    return found


def verdict(text: str, *edits: TextEdit, patch: Sequence[Operation] = PATCH) -> bool:
    return proves(document(text), list(patch), text, edits)


def at(text: str, behind: str) -> int:
    return text.index(behind) + len(behind)


HOSTNAME = at(POD, "# comment\n")


def test_what_the_editor_writes_is_proven() -> None:
    one = document(POD)
    edits = insertions(POD, one.value, one.sites, PATCH)
    assert proves(one, PATCH, POD, edits)
    assert verdict(POD, TextEdit(HOSTNAME, HOSTNAME, ADDED))
    assert verdict(POD, TextEdit(HOSTNAME + 1, HOSTNAME + 1, ADDED)), "behind the blank line"


@pytest.mark.parametrize(
    ("place", "added"),
    [
        pytest.param(HOSTNAME, ADDED.replace("  tol", "   tol"), id="one column too far right"),
        pytest.param(HOSTNAME, ADDED.replace("  tol", " tol"), id="one column too far left"),
        pytest.param(at(POD, "- name: a\n"), ADDED, id="inside of a container"),
        pytest.param(at(POD, "containers:\n"), ADDED, id="between a key and its list"),
        pytest.param(at(POD, "nodeName: x\n"), ADDED, id="inside of a block scalar"),
        pytest.param(at(POD, "status:\n"), ADDED, id="in another mapping"),
        pytest.param(len(POD), ADDED, id="at the end of another mapping"),
        pytest.param(at(POD, "# com"), ADDED, id="inside of a comment"),
        pytest.param(HOSTNAME, ADDED.replace("tolerations:", "tolerations"), id="no colon"),
        pytest.param(HOSTNAME, ADDED.replace("    -", "\t-"), id="a tab"),
        pytest.param(HOSTNAME, ADDED.replace('"on"', '"on'), id="a quote that stays open"),
        pytest.param(HOSTNAME, ADDED.replace('"on"', "on"), id="a boolean in place of the string"),
        pytest.param(HOSTNAME, ADDED.replace('"on"', '"off"'), id="another value"),
        pytest.param(HOSTNAME, ADDED.replace('"on"', '!!str "on"'), id="a tag"),
        pytest.param(HOSTNAME, ADDED.replace('"on"', '&a "on"'), id="an anchor"),
        pytest.param(HOSTNAME, ADDED.replace("tolerations", "toleration"), id="another key"),
        pytest.param(HOSTNAME, ADDED + ADDED, id="twice"),
        pytest.param(HOSTNAME, ADDED + "  hostname: i\n", id="a key that is there"),
        pytest.param(HOSTNAME, ADDED + "  nodeName: i\n", id="one more key"),
        pytest.param(HOSTNAME, ADDED + "...\n", id="the end of the document"),
        pytest.param(HOSTNAME, ADDED + "--- # c\n", id="another document"),
        pytest.param(HOSTNAME, ADDED.rstrip("\n"), id="no line break"),
        pytest.param(HOSTNAME, "# c\n", id="nothing"),
        pytest.param(HOSTNAME, ADDED[2:], id="at the left margin"),
    ],
)
def test_a_broken_editor_is_left_to_the_whole_proof_which_refuses_it(place: int, added: str) -> None:
    edit = TextEdit(place, place, added)
    assert not verdict(POD, edit)
    if added == ADDED.replace('"on"', '!!str "on"') or added == ADDED.rstrip("\n"):
        return  # the first says the same with a tag more, the second glues two lines in a way that may be YAML
    with pytest.raises(InternalError):
        prove(document(POD), PATCH, POD[:place] + added + POD[place:])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(POD.replace("name: a", "name: &a a"), id="an anchor"),
        pytest.param(POD.replace("phase: x", "phase: !!str x"), id="a tag"),
        pytest.param(POD.replace("phase: x", "phase: x\n  phase: x"), id="a key twice"),
        pytest.param(POD.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(POD.replace("phase: x", "phase: x # \u2028"), id="another line break"),
        pytest.param(POD.replace("# comment", "#\tcomment"), id="a tab"),
        pytest.param(POD.replace("h # comment", "|+\n    h"), id="a block scalar at the end"),
        pytest.param(POD.replace("h # comment", '"h\n    i"'), id="a quoted scalar over two lines"),
        pytest.param(
            POD.replace("  hostname", "  x: {a: b,\n    c: d}\n  hostname"), id="flow over two lines"
        ),
        pytest.param("{apiVersion: v1, kind: Pod, spec: {containers: [{image: 'amd:1'}]}}\n", id="flow"),
    ],
)
def test_unusual_documents_take_the_whole_proof(text: str) -> None:
    one = document(text)
    edits = insertions(text, one.value, one.sites, PATCH)
    assert not proves(one, PATCH, text, edits)


def listed(document: Document, text: str, indent: str) -> bytes:
    """The document as an item of a list, between two others."""
    lines = [f"{indent}  {line}" if line else "" for line in text.rstrip("\n").split("\n")]
    while not lines[0].strip() or lines[0].lstrip(" ").startswith("#"):
        del lines[0]
    other = f"{indent}- kind: Secret\n{indent}  apiVersion: v1\n"
    item = "\n".join(lines).lstrip(" ")
    return f"{LIST}{other}{indent}- {item}\n{other}".encode()


def judged(files: list[bytes], count: int, *, as_items: bool = False) -> tuple[int, int]:
    """How many edits the short proof accepted: of the editor's own, and of broken ones that say the same after all."""
    documents = [pair for data in files for pair in documents_of(data)]
    if as_items:
        lists = [listed(*pair, indent) for pair in documents for indent in ("", "  ")]
        documents = [pair for data in lists for pair in documents_of(data) if pair[0].span.item]
    own = same = 0
    for case in drawn(documents, random.Random(13), count):
        if proves(case.document, case.patch, case.text, case.edits):
            prove(case.document, case.patch, case.after)
            own, same = own + case.whole, same + (not case.whole)
    return own, same


def test_what_the_short_proof_accepts_the_whole_proof_accepts() -> None:
    own, same = judged([path.read_bytes() for path in sorted(FOLDER.glob("*/input.yaml"))], 3000)
    assert own > 20
    assert same > 20


def test_what_the_short_proof_accepts_of_items_the_whole_proof_accepts() -> None:
    files = [path.read_bytes() for path in sorted(FOLDER.glob("*/input.yaml"))]
    own, same = judged([*files, POD.encode()], 4000, as_items=True)
    assert own > 20
    assert same > 20


@pytest.mark.real
@pytest.mark.parametrize("as_items", [False, True], ids=["documents", "items"])
def test_what_the_short_proof_accepts_in_charts_the_whole_proof_accepts(as_items: bool) -> None:
    folder = shared("corpus", "helm3")
    files = [path.read_bytes() for path in sorted(folder.glob("*.yaml"))]
    own, same = judged(files, 3000, as_items=as_items)
    assert own > 100
    assert same > 50


LINES = st.lists(
    st.builds(
        "{}{}".format,
        st.integers(0, 6).map(" ".__mul__),
        st.sampled_from(["", "a:", "b: c", "- d", "-", "-e", "--", "# f", "#", ": g", '"h" # i', "- # j"]),
    ),
    max_size=12,
)


@given(LINES, st.integers(1, 6))
def test_what_is_left_of_the_lines_is_what_the_patterns_say(lines: list[str], column: int) -> None:
    """A way to the mapping, then its own lines without what is right of its column, comments and blank lines."""
    text = "".join(f"{line}\n" for line in lines) or "\n"
    left_of = list(re.finditer(rf"^( {{0,{column - 1}}})[^ \n#].*\n", text, re.MULTILINE))
    way: list[str] = []
    limit = column
    for line in reversed(left_of):
        if len(line[1]) < limit:
            way.append(line[0])
            limit = len(line[1])
    start = left_of[-1].end() if left_of else 0
    dropped = rf"^ {{{column}}}(?: .*|- .*|-)\n|^ *(?:#.*)?\n"
    own = re.sub(dropped, "", text[start:], flags=re.MULTILINE)
    assert added_keys._outline(text, column, len(text)) == "".join(reversed(way)) + own


@example("")
@example(" ")
@example(" # a\n  \n\n")
@given(st.text(" #\na", max_size=8))
def test_the_end_of_a_line_is_what_the_pattern_says(text: str) -> None:
    assert added_keys._ends_line(text) is (re.fullmatch(r" *(?:#.*)?\n(?: *\n)*", text) is not None)
