"""The proof finds every way in which an edit could say something else."""

import pytest

from archfit.base.errors import InternalError
from archfit.base.patch import Add
from archfit.edit.prove import prove
from archfit.workloads.documents import Document
from archfit.workloads.inventory import scan_piece
from archfit.yaml.stream import split

TEXT = "apiVersion: v1\nkind: Pod\nspec:\n  x: &a !t text\n  y: !t [!!str 1]\n  hostNetwork: true\n  containers:\n  - image: both:1\n    z: *a\n"
PATCH = [Add(("spec", "tolerations"), [{"key": "on"}])]
GOOD = TEXT + '  tolerations: [{key: "on"}]\n'


def document(text: str) -> Document:
    data = text.encode()
    (piece,) = split(data)
    return scan_piece(data, piece).documents[0]


@pytest.mark.parametrize(
    "after", [GOOD, GOOD.rstrip("\n"), GOOD.replace("[{", "[ {"), TEXT + '  tolerations:\n  - key: "on"\n']
)
def test_accepts_every_text_that_says_it(after):
    prove(document(TEXT), PATCH, after)


@pytest.mark.parametrize(
    ("after", "message"),
    [
        pytest.param(TEXT, "is not what was decided", id="nothing done"),
        pytest.param(GOOD.replace('"on"', "on"), "is not what was decided", id="a boolean in place of the string"),
        pytest.param(GOOD.replace("true", '"true"'), "is not what was decided", id="the string in place of a boolean"),
        pytest.param(GOOD.replace("hostNetwork", "hostIPC"), "is not what was decided", id="another key changed"),
        pytest.param(GOOD.replace("&a ", "&b ").replace("*a", "*b"), "anchors or tags", id="an anchor changed"),
        pytest.param(GOOD.replace("&a !t ", "&a !u "), "anchors or tags", id="a tag changed"),
        pytest.param(GOOD.replace("!t [", "["), "anchors or tags", id="a tag of a list without an anchor lost"),
        pytest.param(GOOD.replace("!!str 1", "'1'"), "anchors or tags", id="a tag of a scalar without an anchor lost"),
        pytest.param(GOOD.replace("&a !t text", "&a text"), "anchors or tags", id="a tag lost"),
        pytest.param(GOOD + "  hostNetwork: true\n", "names a key twice", id="a key twice"),
        pytest.param(GOOD + "  [\n", "cannot be read again", id="no YAML any more"),
        pytest.param(GOOD + "---\na: b\n", "cannot be read again", id="another document"),
    ],
)  # fmt: skip
def test_refuses(after, message):
    with pytest.raises(InternalError, match=message):
        prove(document(TEXT), PATCH, after)


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


@pytest.mark.parametrize(
    ("above", "added"),
    [
        pytest.param("# comment\n", ADDED.replace("  tol", "   tol"), id="one column too far right"),
        pytest.param("# comment\n", ADDED.replace("  tol", " tol"), id="one column too far left"),
        pytest.param("- name: a\n", ADDED, id="inside of a container"),
        pytest.param("containers:\n", ADDED, id="between a key and its list"),
        pytest.param("nodeName: x\n", ADDED, id="inside of a block scalar"),
        pytest.param("status:\n", ADDED, id="in another mapping"),
        pytest.param("phase: x\n", ADDED, id="at the end of another mapping"),
        pytest.param("# com", ADDED, id="inside of a comment"),
        pytest.param("# comment\n", ADDED.replace("tolerations:", "tolerations"), id="no colon"),
        pytest.param("# comment\n", ADDED.replace("    -", "\t-"), id="a tab"),
        pytest.param("# comment\n", ADDED.replace('"on"', '"on'), id="a quote that stays open"),
        pytest.param("# comment\n", ADDED.replace('"on"', '"off"'), id="another value"),
        pytest.param("# comment\n", ADDED.replace('"on"', '&a "on"'), id="an anchor"),
        pytest.param("# comment\n", ADDED.replace("tolerations", "toleration"), id="another key"),
        pytest.param("# comment\n", ADDED + ADDED, id="twice"),
        pytest.param("# comment\n", ADDED + "  hostname: i\n", id="a key that is there"),
        pytest.param("# comment\n", ADDED + "  nodeName: i\n", id="one more key"),
        pytest.param("# comment\n", ADDED + "...\n", id="the end of the document"),
        pytest.param("# comment\n", ADDED + "--- # c\n", id="another document"),
        pytest.param("# comment\n", "# c\n", id="nothing"),
        pytest.param("# comment\n", ADDED[2:], id="at the left margin"),
    ],
)
def test_refuses_what_a_broken_editor_writes(above, added):
    at = POD.index(above) + len(above)
    with pytest.raises(InternalError):
        prove(document(POD), PATCH, POD[:at] + added + POD[at:])
