"""The cases of edits (`fixtures/edits`) with other line endings, without a last one, behind a byte order mark.

What is only a few lines stands here as a diff: what is there, and what is added. `placed` asks Kubernetes' own readers
about both sides, undoes the edit, and runs the no-op twins: a second time, and with nothing to add.
"""

import pytest
from tests.edit.edit_cases import edit_cases, names

from archfit.options.settings import Options, Toleration, TolerationRule
from stream_edits import placed, sides

WITH_LINES = edit_cases("block-style", "comments", "empty", "block-scalar", "scalar")
WITH_AN_END = edit_cases("block-style", "flow-style", "empty", "scalar")
WITH_A_START = edit_cases("block-style", "flow-style", "scalar")

HEAD = """\
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
   template:
     spec:
"""
TOLERATION = """\
+      tolerations:
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
"""


@pytest.mark.parametrize("case", WITH_LINES, ids=names(WITH_LINES))
def test_crlf_stays_crlf(judge, case):
    before, after = (side.replace(b"\n", b"\r\n") for side in (case.before, case.after))
    assert placed(judge, before) == after


@pytest.mark.parametrize("case", WITH_AN_END, ids=names(WITH_AN_END))
def test_no_final_newline_stays_none(judge, case):
    assert placed(judge, case.before.rstrip(b"\n")) == case.after.rstrip(b"\n")


@pytest.mark.parametrize("case", WITH_A_START, ids=names(WITH_A_START))
def test_a_byte_order_mark_moves_nothing(judge, case):
    mark = b"\xef\xbb\xbf"
    assert placed(judge, mark + case.before) == mark + case.after
    first = b"a: b\nkind: c\n---\n" + mark
    assert placed(judge, first + case.before) == first + case.after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"\r\n", b"\n", id="CRLF before the edit, LF after it"),
        pytest.param(b"\n", b"\r\n", id="LF before the edit, CRLF after it"),
    ],
)
def test_mixed_endings_take_the_ending_of_the_line_before(judge, before, after):
    head, tail = sides(HEAD + "       containers:\n       - image: both:1\n")[0], b"  replicas: 1\n"
    added = sides(TOLERATION)[1]
    text = head.replace(b"\n", before) + tail.replace(b"\n", after)
    assert placed(judge, text) == (head + added).replace(b"\n", before) + tail.replace(b"\n", after)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param("true", '"true"', id="true"),
        pytest.param("on", '"on"', id="on"),
        pytest.param("N", '"N"', id="N"),
        pytest.param("012", '"012"', id="012"),
        pytest.param("1e3", '"1e3"', id="1e3"),
        pytest.param("22:22", '"22:22"', id="22:22"),
        pytest.param("null", '"null"', id="null"),
        pytest.param("~", '"~"', id="tilde"),
        pytest.param("=", '"="', id="equals"),
        pytest.param("arm64", "arm64", id="a plain word"),
        pytest.param("a_b", '"a_b"', id="an underscore"),
        pytest.param("2001-01-01", '"2001-01-01"', id="a date"),
    ],
)
def test_taint_values_stay_strings(judge, value, written):
    rule = TolerationRule(("amd64", "arm64"), Toleration("arch", "Equal", value, "NoSchedule"))
    options = Options(tolerate=(rule,))
    block, added = sides(
        HEAD
        + f"""\
       containers:
       - image: both:1
+      tolerations:
+      - key: arch
+        operator: Equal
+        value: {written}
+        effect: NoSchedule
"""
    )
    assert placed(judge, block, options) == added
    flow = b"{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{image: both:1}]}}}}\n"
    assert f"value: {written}, effect".encode() in placed(judge, flow, options)


ONE_READER = [
    pytest.param(
        HEAD
        + """\
       containers:
       - image: both:1
       1: a
       true: b
       1.5: c
"""
        + TOLERATION,
        "kustomize",
        id="keys that are no strings",
    ),
    pytest.param(
        """
 {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"annotations": {"a": "\\ud83d\\ude00 \\\\ud83d"}},
-  "spec": {"template": {"spec": {"containers": [{"image": "both:1"}]}}}}
+  "spec": {"template": {"spec": {"containers": [{"image": "both:1"}], "tolerations": [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]}}}}
""",
        "kustomize",
        id="surrogate pairs in JSON",
    ),
    pytest.param(
        """
 {"apiVersion": "apps\\/v1", "kind": "Deployment",
-  "spec": {"template": {"spec": {"containers": [{"image": "both:1"}]}}}}
+  "spec": {"template": {"spec": {"containers": [{"image": "both:1"}], "tolerations": [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]}}}}
""",
        "kustomize",
        id="an escaped slash in JSON",
    ),
    pytest.param(
        " metadata: {labels: {a: b, a: c}}\n"
        + HEAD.replace(" metadata: {name: web}\n", "")
        + "       containers:\n       - image: both:1\n"
        + TOLERATION,
        "kustomize",
        id="a label twice, which nobody reads",
    ),
    pytest.param(
        " ---# first\n" + HEAD + "       containers:\n       - image: both:1\n" + TOLERATION,
        "kubectl kustomize",
        id="---# as the first line",
    ),
    pytest.param(
        HEAD.replace("{name: web}", '{name: web, annotations: {a: "\n ---foo\n "}}')
        + "       containers:\n       - image: both:1\n"
        + TOLERATION,
        "kubectl kustomize",
        id="---foo is content in a quoted scalar",
    ),
]


@pytest.mark.parametrize(("diff", "refused"), ONE_READER)
def test_what_only_some_readers_take(judge, diff, refused):
    before, after = sides(diff)
    assert placed(judge, before, refused=refused.split()) == after
