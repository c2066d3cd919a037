"""The unified diff of a change that is known by its places: exact, small, and in git's and patch's own form."""

import re

import pytest

from archfit.rewrite.unified_diff import DiffObject, colored_diff, unified_diff
from archfit.yaml.stream import Splice

TEXT = b"".join(b"line %d\n" % number for number in range(1, 21))


def diff_of(data: bytes, splices: list[Splice], objects: list[DiffObject] | None = None) -> bytes:
    found = [DiffObject(0, len(data), "v1/Pod/a")] if objects is None else objects
    return b"".join(unified_diff("a.yaml", data, splices, found))


@pytest.mark.parametrize(
    ("data", "splices", "expected"),
    [
        pytest.param(b"a\nb\nc\n", [Splice(2, 2, b"x\n")], b"@@ -1,3 +1,4 @@\n a\n+x\n b\n c\n", id="before-a-line"),
        pytest.param(b"a\nb\nc\n", [Splice(3, 3, b"\nx")], b"@@ -1,3 +1,4 @@\n a\n b\n+x\n c\n", id="behind-a-line"),
        pytest.param(b"a\nb\nc\n", [Splice(2, 3, b"x")], b"@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", id="inside-of-a-line"),
        pytest.param(b"a\nb\nc\n", [Splice(2, 4, b"")], b"@@ -1,3 +1,2 @@\n a\n-b\n c\n", id="line-goes"),
        pytest.param(b"a\nb\n", [Splice(0, 0, b"x\n")], b"@@ -1,2 +1,3 @@\n+x\n a\n b\n", id="at-the-beginning"),
        pytest.param(b"a\nb\n", [Splice(4, 4, b"x\n")], b"@@ -1,2 +1,3 @@\n a\n b\n+x\n", id="at-the-end"),
        pytest.param(b"a\nb", [Splice(3, 3, b"\nx")],
                     b"@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+x\n\\ No newline at end of file\n",
                     id="without-last-newline"),
        pytest.param(b"a\nb\nc\nd\n", [Splice(1, 2, b"\nx"), Splice(2, 4, b"")],
                     b"@@ -1,4 +1,3 @@\n a\n-b\n-c\n+xc\n d\n", id="line-goes-behind-one-that-lost-its-end"),
        pytest.param(b"a\nb\nc\n", [Splice(2, 2, b"x"), Splice(2, 2, b"y\n"), Splice(4, 4, b"z\n")],
                     b"@@ -1,3 +1,5 @@\n a\n-b\n+xy\n+b\n+z\n c\n", id="at-one-offset"),
        pytest.param(b"a\nb\n\nc", [Splice(1, 1, b"x")], b"@@ -1,4 +1,4 @@\n-a\n+ax\n b\n \n c\n\\ No newline at end of file\n", id="then-context"),
        pytest.param(b"a\r\nb\r\n", [Splice(3, 3, b"x\r\n")], b"@@ -1,2 +1,3 @@\n a\r\n+x\r\n b\r\n", id="crlf"),
        pytest.param(b"", [Splice(0, 0, b"x\n")], b"@@ -0,0 +1,1 @@\n+x\n", id="empty"),
        pytest.param(b"a\n", [Splice(0, 2, b"")], b"@@ -1,1 +0,0 @@\n-a\n", id="all-goes"),
        pytest.param(b"a\nb\n", [Splice(2, 4, b"b\n")], b"", id="noop"),
        pytest.param(b"a\nb\n", [], b"", id="nothing"),
        pytest.param(b"a\nb\nc\n", [Splice(0, 6, b"a\nx\nc\n")], b"@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", id="narrowed"),
    ],
)  # fmt: skip
def test_hunks(data, splices, expected):
    diff = diff_of(data, splices, [])
    assert diff == (b"--- a/a.yaml\n+++ b/a.yaml\n" + expected if expected else b"")


def place(line: int) -> int:
    """The offset of a line of TEXT, from 1."""
    return TEXT.index(b"line %d\n" % line)


def test_changes_that_few_lines_keep_apart_share_a_hunk():
    for second, hunks in ((11, 1), (12, 2)):
        splices = [Splice(place(5), place(5), b"x\n"), Splice(place(second), place(second), b"y\n")]
        diff = diff_of(TEXT, splices)
        assert diff.count(b"@@ v1/Pod/a\n") == hunks


SECRET = b"---\nkind: Secret\nstringData:\n  password: hunter2\n"
POD = b"---\nkind: Pod\nspec:\n  a: 1\n"


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        pytest.param(POD + SECRET, [b"---", b"kind: Secret", b"stringData:"], id="behind"),
        pytest.param(SECRET + POD, [b"kind: Pod", b"spec:", b"  a: 1"], id="before"),
        pytest.param(SECRET.replace(b"stringData:\n ", b"") + POD + SECRET, [b"---", b"kind: Secret"], id="around"),
        pytest.param(POD + SECRET.replace(b"kind: Secret\n", b"") + b"kind: Secret\n", [b"---"], id="kind-last"),
    ],
)  # fmt: skip
def test_no_value_of_a_secret_is_context(data, shown):
    start = data.index(POD)
    end = start + len(POD)
    splices = [Splice(end, end, b"  b: 2\n")]
    diff = diff_of(data, splices, [DiffObject(start, end, "Pod")])
    assert b"hunter2" not in diff
    assert b"\n+  b: 2\n" in diff
    for line in shown:
        assert b"\n " + line + b"\n" in diff


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(b"stringData:\n  conf: |\n    # hunter2\n    # hunter2\n", id="comment-in-a-block-scalar"),
        pytest.param(b"stringData:\n  conf: |\n    hunter2:\n", id="key-in-a-block-scalar"),
        pytest.param(b"stringData:\n  conf: |\n    kind: hunter2\n", id="kind-in-a-block-scalar"),
        pytest.param(b"stringData:\n  conf: |\n    - apiVersion: hunter2\n", id="version-in-a-block-scalar"),
        pytest.param(b"--- {stringData: {password: hunter2}}\n", id="on-the-separator"),
        pytest.param(b"--- |\n hunter2:\n", id="scalar-on-the-separator"),
        pytest.param(b'stringData:\n  conf: |\n    "kind": "hunter2",\n', id="json-in-a-block-scalar"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("side", ["before", "behind"])
def test_no_line_that_may_be_a_value_of_a_secret_is_context(value, side):
    pod = b"- {kind: Pod}\n"
    data = b"kind: Secret\n" + value + pod if side == "before" else pod + value + b"kind: Secret\n"
    start = data.index(pod)
    splices = [Splice(start + 2, start + 13, b"{kind: Pod, a: b}")]
    diff = diff_of(data, splices, [DiffObject(start, start + len(pod), "Pod")])
    assert b"hunter2" not in diff
    assert b"+- {kind: Pod, a: b}\n" in diff


def test_new_lines_without_context_have_an_old_line_for_git():
    pod, secret = b"- kind: Pod\n  a: 1\n", b"- {kind: Secret, data: {password: hunter2}}\n"
    diff = diff_of(pod + secret, [Splice(len(pod), len(pod), b"  b: 2\n")], [DiffObject(0, len(pod), "Pod")])
    assert diff.endswith(b"\n@@ -2,1 +2,2 @@ Pod\n-  a: 1\n+  a: 1\n+  b: 2\n")


def test_hunks_do_not_overlap_where_a_line_between_them_may_not_be_shown():
    data = b"a:\n  b: 1\nkind: Secret\n"
    splices = [Splice(0, 0, b"x: 1\n"), Splice(10, 10, b"  y: 1\n")]
    diff = diff_of(data, splices, [])
    assert diff.endswith(b"\n@@ -1,1 +1,2 @@\n+x: 1\n a:\n@@ -2,1 +3,2 @@\n-  b: 1\n+  b: 1\n+  y: 1\n")


def test_git_cannot_take_the_end_of_the_file_for_old_lines_that_it_repeats():
    pod, secret = b"- b: 2\n  a: 1\n", b"- {kind: Secret, data: {password: hunter2}}\n"
    data, end = pod + secret + b"- c: 3\n  a: 1\n", len(pod)
    splices = [Splice(end, end, b"  d: 4\n")]
    diff = diff_of(data, splices, [DiffObject(0, end, "Pod")])
    assert diff.endswith(b"\n@@ -1,2 +1,3 @@ Pod\n-- b: 2\n-  a: 1\n+- b: 2\n+  a: 1\n+  d: 4\n")


def test_noop_without_a_secret_the_context_is_whole():
    data = POD + SECRET.replace(b"Secret", b"ConfigMap")
    diff = diff_of(data, [Splice(len(POD), len(POD), b"  b: 2\n")], [DiffObject(0, len(POD), "Pod")])
    assert diff.startswith(b"--- a/a.yaml\n+++ b/a.yaml\n@@ -2,6 +2,7 @@ Pod\n")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.yaml", b"--- a/a.yaml\n+++ b/a.yaml\n"),
        ("with blank.yaml", b"--- a/with blank.yaml\t\n+++ b/with blank.yaml\t\n"),
        ('q"\\.yaml', b'--- "a/q\\"\\\\.yaml"\n+++ "b/q\\"\\\\.yaml"\n'),
        ("n\n\x1b.yaml", b'--- "a/n\\n\\033.yaml"\n+++ "b/n\\n\\033.yaml"\n'),
        ("ä.yaml", b'--- "a/\\303\\244.yaml"\n+++ "b/\\303\\244.yaml"\n'),
        ("\udcff.yaml", b'--- "a/\\377.yaml"\n+++ "b/\\377.yaml"\n'),
    ],
)
def test_names_are_quoted_as_git_quotes_them(name, shown):
    assert b"".join(unified_diff(name, b"a\n", [Splice(0, 0, b"x\n")], [])).startswith(shown)


def test_colours():
    lines = unified_diff("a", b"a\nb\x1b\r\n", [Splice(0, 1, b"x")], [])
    assert b"".join(colored_diff(lines)) == (
        b"\x1b[1m--- a/a\x1b[0m\n\x1b[1m+++ b/a\x1b[0m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n"
        b"\x1b[31m-a\x1b[0m\n\x1b[32m+x\x1b[0m\n b\\x1b\n"
    )


def test_the_diff_costs_what_changes_not_what_is_there():
    """A line is looked at a bounded number of times: twice the changes give twice the lines."""
    made = []
    for number in (500, 1000):
        data = b"".join(b"a: %d\n" % line for line in range(number * 20))
        places = [at.start() for at in re.finditer(rb"a: \d*0\n", data)][::2]
        made.append(len(unified_diff("a", data, [Splice(at, at, b"x: 1\n") for at in places], [])))
    assert abs(made[1] - 2 * made[0]) < 20
