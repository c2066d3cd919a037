"""Anchors, aliases and merge keys: who shares a node with an edit, and what becomes of it.

An anchor's node is edited in place. An alias of it stays if it wants the same, else its value is written out in full,
as is what arrives by `<<`; no alias is ever written. The cases are `fixtures/edits/shared-*`.
"""

import pytest

from archfit.options.settings import Options, Toleration, TolerationRule
from stream_edits import Failed, edited, placed, sides

ADDED = "{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}"


def deployment(name: str, spec: str, template: str = "") -> str:
    """An item of a list; spec: the lines of the pod spec, or an alias behind `spec:`."""
    metadata = name if name.startswith("{") else f"{{name: {name}}}"
    head = f"""\
 - apiVersion: apps/v1
   kind: Deployment
   metadata: {metadata}
   spec:
"""
    return head + (f"     template: {template}\n" if template else f"     template:\n       spec:{spec}")


LIST = " apiVersion: v1\n kind: List\n items:\n"


@pytest.mark.parametrize("depth", [pytest.param(depth, id=str(depth)) for depth in (50, 240)])
def test_a_deep_value_is_written_out(judge, depth):
    deep = "[" * depth + "x" + "]" * depth
    before, after = sides(f"""\
 x: &x {{containers: [{{image: both:1}}], y: {deep}}}
 apiVersion: apps/v1
 kind: Deployment
 spec:
   template:
-    spec: *x
+    spec: {{containers: [{{image: "both:1"}}], y: {deep}, tolerations: [{ADDED}]}}
""")
    assert placed(judge, before) == after


def test_two_pods_that_want_different_tolerations_of_one_list(judge):
    rules = tuple(
        TolerationRule((name,), Toleration("arch", "Equal", name, "NoSchedule"))
        for name in ("amd64", "arm64")
    )
    before, after = sides(
        LIST
        + deployment(
            "a",
            "\n         containers: [{image: amd:1}]\n         nodeSelector: {kubernetes.io/arch: amd64}\n",
        )
        + """\
         tolerations: &t
         - key: a
+        - key: arch
+          operator: Equal
+          value: amd64
+          effect: NoSchedule
"""
        + deployment(
            "b",
            "\n         containers: [{image: arm:1}]\n         nodeSelector: {kubernetes.io/arch: arm64}\n",
        )
        + """\
-        tolerations: *t
+        tolerations: [{key: a}, {key: arch, operator: Equal, value: arm64, effect: NoSchedule}]
"""
    )
    assert placed(judge, before, Options(tolerate=rules)) == after


REFUSED = [
    pytest.param(
        "x: &k tolerations\n",
        "      *k : [{key: a}]\n",
        f"spec.template.spec.tolerations cannot be edited: an alias stands there in place of a key. Write it yourself: [{{key: a}}, {ADDED}]",
        7,
        id="a key that is an alias",
    ),
    pytest.param(
        "",
        "      tolerations: &t\n",
        f"spec.template.spec.tolerations cannot be edited: an anchor stands where the value is missing. Write it yourself: [{ADDED}]",
        8,
        id="an anchor without a value",
    ),
    pytest.param(
        "",
        "      tolerations: !!null\n",
        "spec.template.spec.tolerations cannot be edited: the value there is neither a mapping nor a list, or a tag "
        f"stands in its place. Write it yourself: [{ADDED}]",
        8,
        id="a tag without a value",
    ),
    pytest.param(
        "",
        "      tolerations: ~\n         \t\n",
        f"spec.template.spec.tolerations cannot be edited: a blank line below it holds a tab; remove that line first. Write it yourself: [{ADDED}]",
        8,
        id="a null above a blank line with a tab",
    ),
    pytest.param(
        "x: &x {terminationGracePeriodSeconds: !!float 1, nodeSelector: {}, tolerations: [{key: a, zz: !!float 1}]}\n",
        "      <<: *x\n",
        f"spec.template.spec.tolerations cannot be edited: a value there has a tag, which would get lost. Write it yourself: [{{key: a, zz: 1}}, {ADDED}]",
        7,
        id="a number with a tag that would be written out",
    ),
    pytest.param(
        "",
        "      ? hostNetwork\n      : true\n",
        f"spec.template.spec.tolerations cannot be edited: an explicit key ('? key') stands there. Write it yourself: [{ADDED}]",
        6,
        id="explicit keys",
    ),
    pytest.param(
        "",
        "      <<:\n        tolerations: []\n        hostname: |\n          a",
        "the text ends inside a block scalar, behind which something has to be added: that would change its value. End the text with a line break",
        6,
        id="a merge that ends in a block scalar without a line break",
    ),
    pytest.param(
        "",
        "      tolerations:\n      - key: |\n          a",
        "the text ends inside a block scalar, behind which something has to be added: that would change its value. End the text with a line break",
        9,
        id="a list that ends in a block scalar without a line break",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("head", "tail", "message", "line"), REFUSED)
def test_an_edit_without_a_place_says_what_to_write(head, tail, message, line):
    text = f"{head}apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - image: both:1\n{tail}"
    with pytest.raises(Failed) as failed:
        edited(text.encode())
    (result,) = failed.value.messages
    assert result.text == message
    assert result.location is not None
    assert (result.location.document, result.location.line) == (1, line)
    # The same document is left alone where nothing has to be said.
    assert edited(text.replace("both:1", "amd:1").encode(), Options(affinity="never")).spans == []
