"""Anchors, aliases and merge keys: who shares a node with an edit, and what becomes of it.

An anchor's node is edited in place. An alias of it stays if it wants the same, else its value is written out in full,
as is what arrives by `<<`; no alias is ever written.
"""

# ruff: noqa: E501 - flow text that grows, grows on its line
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archfit.options.settings import Options, Toleration, TolerationRule
from streaming import Failed, edited, placed, sides

if TYPE_CHECKING:
    from judging import Judge

SKIP = "{name: b, annotations: {archfit.dev/skip: 'true'}}"
ADDED = "{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}"
BLOCK_ADDED = """\
+          - key: kubernetes.io/arch
+            operator: Equal
+            value: arm64
+            effect: NoSchedule
"""


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
BOTH = "         containers:\n         - image: both:1\n"
PLACED = """\
+        tolerations:
+        - key: kubernetes.io/arch
+          operator: Equal
+          value: arm64
+          effect: NoSchedule
"""

CASES = {
    "a pod spec shared by two that want the same": LIST
    + deployment("a", " &spec\n" + BOTH + PLACED)
    + deployment("b", " *spec\n"),
    "a pod spec shared by two that want different things": LIST
    + deployment("a", " &spec\n" + BOTH + PLACED)
    + f"""\
 - apiVersion: apps/v1
   kind: Deployment
   metadata: {SKIP}
   spec:
     template:
-      spec: *spec
+      spec: {{containers: [{{image: "both:1"}}]}}
""",
    "the anchor's own pod wants nothing": LIST
    + deployment(SKIP, " &spec\n" + BOTH)
    + """\
 - apiVersion: apps/v1
   kind: Deployment
   metadata: {name: b}
   spec:
     template:
"""
    + f"""\
-      spec: *spec
+      spec: {{containers: [{{image: "both:1"}}], tolerations: [{ADDED}]}}
""",
    "three users, one of which wants nothing": LIST
    + deployment("a", " &spec\n" + BOTH + PLACED)
    + f"""\
 - apiVersion: apps/v1
   kind: Deployment
   metadata: {SKIP}
   spec:
     template:
-      spec: *spec  # ours
+      spec: {{containers: [{{image: "both:1"}}]}}  # ours
"""
    + deployment("c", " *spec\n"),
    "a whole template": LIST
    + deployment("a", "", "&template\n       spec:\n" + (BOTH + PLACED).rstrip("\n"))
    + deployment("b", "", "*template"),
    "a whole item": LIST
    + deployment("a", " # comment\n" + BOTH + PLACED).replace(" - api", " - &item\n   api")
    + " - *item\n",
    "an item merged into another": LIST
    + deployment("a", "\n" + BOTH + PLACED).replace(" - api", " - &item\n   api")
    + """\
-- <<: *item
+- <<: {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{image: "both:1"}]}}}}
   metadata: {name: b}
+  spec:
+    template:
+      spec:
+        containers:
+        - image: "both:1"
+        tolerations:
+        - key: kubernetes.io/arch
+          operator: Equal
+          value: arm64
+          effect: NoSchedule
""",
    "tolerations by an alias": " x: &t [{key: a}]\n"
    + LIST
    + deployment("a", "\n" + BOTH)
    + f"-        tolerations: *t\n+        tolerations: [{{key: a}}, {ADDED}]\n",
    "tolerations by an alias in JSON": """\
 {"x": &t [{"key": "a"}], "apiVersion": "apps/v1", "kind": "Deployment",
- "spec": {"template": {"spec": {"containers": [{"image": "both:1"}], "tolerations": *t}}}}
+ "spec": {"template": {"spec": {"containers": [{"image": "both:1"}], "tolerations": [{"key": "a"}, {"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]}}}}
""",
    "tolerations with an anchor that another pod uses": LIST
    + deployment("a", "\n" + BOTH)
    + """\
         tolerations: &t
         - key: a
+        - key: kubernetes.io/arch
+          operator: Equal
+          value: arm64
+          effect: NoSchedule
"""
    + deployment("b", "\n" + BOTH + "         tolerations: *t\n"),
    "tolerations with an anchor that a pod uses which wants less": LIST
    + deployment("a", "\n" + BOTH)
    + """\
         tolerations: &t
           - key: a
"""
    + BLOCK_ADDED
    + deployment(
        "b",
        "\n         containers:\n         - image: amd:1\n         nodeSelector: {kubernetes.io/arch: amd64}\n",
    )
    + "-        tolerations: *t\n+        tolerations: [{key: a}]\n",
    "a toleration by an alias": LIST
    + deployment("a", "\n" + BOTH)
    + """\
         tolerations:
         - &one {key: a}
         - *one
+        - key: kubernetes.io/arch
+          operator: Equal
+          value: arm64
+          effect: NoSchedule
""",
    "affinity by an alias, the nested one edited": """\
 x: &a
   podAffinity: {}
   nodeAffinity: &n {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}
 apiVersion: apps/v1
 kind: Deployment
 spec:
   template:
     spec:
       containers: [{image: amd:1}]
-      affinity: *a
+      affinity: {podAffinity: {}, nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}, {key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}}
""",
    "an alias inside a shared spec, wanted by both": " x: &t [{key: a}]\n"
    + LIST
    + deployment("a", " &spec\n" + BOTH)
    + f"-        tolerations: *t\n+        tolerations: [{{key: a}}, {ADDED}]\n"
    + deployment("b", " *spec\n"),
    "an alias inside a shared spec, wanted by one": " x: &t [{key: a}]\n"
    + LIST
    + deployment("a", " &spec\n" + BOTH)
    + f"-        tolerations: *t\n+        tolerations: [{{key: a}}, {ADDED}]\n"
    + f"""\
 - apiVersion: apps/v1
   kind: Deployment
   metadata: {SKIP}
   spec:
     template:
-      spec: *spec
+      spec: {{containers: [{{image: "both:1"}}], tolerations: [{{key: a}}]}}
""",
    "an anchor that is used again for something else": " x: &t [{key: a}]\n"
    + LIST
    + deployment("a", "\n" + BOTH)
    + "         tolerations: &t\n         - key: q\n"
    + BLOCK_ADDED.replace("+  ", "+")
    + deployment("b", "\n" + BOTH + "         tolerations: *t\n"),
    "an anchor that is used again inside of its own node": """\
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
   template:
     spec:
       initContainers: &x
       - &x {image: both:1}
       containers:
       - *x
+      tolerations:
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
""",
    "<< that supplies nothing of ours": " x: &x {nodeSelector: {disk: ssd}}\n"
    + LIST
    + deployment("a", "\n         <<: *x\n" + BOTH + PLACED),
    "<< as the last member": " x: &x {nodeSelector: {disk: ssd}}\n"
    + LIST
    + deployment("a", "\n" + BOTH + "         <<: *x\n" + PLACED),
    "<< that supplies the tolerations": " x: &x {tolerations: [{key: a}]}\n"
    + LIST
    + deployment("a", "\n         <<: *x\n" + BOTH)
    + """\
+        tolerations:
+        - key: a
+        - key: kubernetes.io/arch
+          operator: Equal
+          value: arm64
+          effect: NoSchedule
""",
    "<< of a list": " x: &x {tolerations: [{key: a}]}\n y: &y {tolerations: [{key: b}], nodeSelector: {a: b}}\n"
    + LIST
    + deployment("a", "\n         <<: [*x, *y]\n" + BOTH)
    + """\
+        tolerations:
+        - key: a
+        - key: kubernetes.io/arch
+          operator: Equal
+          value: arm64
+          effect: NoSchedule
""",
    "<< of an anchored block mapping": """\
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
   template:
     spec:
       containers:
       - image: both:1
       <<: &m
         tolerations:
         - key: a
+      tolerations:
+      - key: a
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
   x: *m
""",
    "<< in flow": """\
 x: &x {tolerations: [{key: a}]}
 apiVersion: apps/v1
 kind: Deployment
-spec: {template: {spec: {<<: *x, containers: [{image: both:1}]}}}
+spec: {template: {spec: {<<: *x, containers: [{image: both:1}], tolerations: [{key: a}, {key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}]}}}
""",
    "a pod spec merged into one that wants the same": LIST
    + deployment("a", " &spec\n" + BOTH + PLACED)
    + deployment(
        "b",
        '\n-        <<: *spec\n+        <<: {containers: [{image: "both:1"}]}\n         hostNetwork: true\n'
        + PLACED,
    ),
    "a pod spec merged into one that wants less": LIST
    + deployment("a", " &spec\n" + BOTH + PLACED)
    + deployment(
        "b",
        '\n-        <<: *spec\n+        <<: {containers: [{image: "both:1"}]}\n         nodeSelector: {kubernetes.io/arch: amd64}\n',
    ),
    "a template that << supplies": """\
 x: &x {spec: {containers: [{image: both:1}]}}
 apiVersion: apps/v1
 kind: Deployment
 spec:
   template:
     <<: *x
     metadata: {}
+    spec:
+      containers:
+      - image: "both:1"
+      tolerations:
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
""",
    "a value with a tag of its own": """\
 x: &x {tolerations: [{key: !local a, value: !!binary aGk=, operator: !!str Equal, tolerationSeconds: !!int "5"}]}
 apiVersion: apps/v1
 kind: Deployment
 spec:
   template:
     spec:
       !!merge <<: *x
       containers: [{image: both:1}]
+      tolerations:
+      - key: a
+        value: hi
+        operator: Equal
+        tolerationSeconds: 5
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
""",
    "a value written out keeps its types": """\
 x: &x {containers: [{image: both:1, env: [{name: a, value: "on"}, {name: b, value: "1"}], ports: [{containerPort: 0x1F}], tty: yes, args: [1e3, "~", null, é]}], on: y, y: 1, "n": 2}
 apiVersion: apps/v1
 kind: Deployment
 spec:
   template:
-    spec: *x
+    spec: {containers: [{image: "both:1", env: [{name: a, value: "on"}, {name: b, value: "1"}], ports: [{containerPort: 0x1F}], tty: true, args: [1e3, "~", null, "é"]}], on: true, y: 1, "n": 2, tolerations: [{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}]}
""",
}


@pytest.mark.parametrize("diff", [pytest.param(diff, id=name) for name, diff in CASES.items()])
def test_shared_nodes(judge: Judge, diff: str) -> None:
    before, after = sides(diff)
    # `yes` is text to kustomize, which would read what kubectl has resolved.
    assert placed(judge, before, kubectl_only="tty: yes" in diff) == after


@pytest.mark.parametrize("depth", [pytest.param(depth, id=str(depth)) for depth in (50, 240)])
def test_a_deep_value_is_written_out(judge: Judge, depth: int) -> None:
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


def test_two_pods_that_want_different_tolerations_of_one_list(judge: Judge) -> None:
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
        "spec.template.spec.tolerations cannot be edited: an alias stands there in place of a key. Write it yourself: "
        f"[{{key: a}}, {ADDED}]",
        7,
        id="a key that is an alias",
    ),
    pytest.param(
        "",
        "      tolerations: &t\n",
        "spec.template.spec.tolerations cannot be edited: an anchor stands where the value is missing. "
        f"Write it yourself: [{ADDED}]",
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
        "spec.template.spec.tolerations cannot be edited: a blank line with a tab below it has to go first. "
        f"Write it yourself: [{ADDED}]",
        8,
        id="a null above a blank line with a tab",
    ),
    pytest.param(
        "x: &x {terminationGracePeriodSeconds: !!float 1, nodeSelector: {}, tolerations: [{key: a, zz: !!float 1}]}\n",
        "      <<: *x\n",
        "spec.template.spec.tolerations cannot be edited: a value there has a tag, which would get lost. Write it "
        f"yourself: [{{key: a, zz: 1}}, {ADDED}]",
        7,
        id="a number with a tag that would be written out",
    ),
    pytest.param(
        "",
        "      ? hostNetwork\n      : true\n",
        "spec.template.spec.tolerations cannot be edited: an explicit key ('? key') stands there. "
        f"Write it yourself: [{ADDED}]",
        6,
        id="explicit keys",
    ),
    pytest.param(
        "",
        "      <<:\n        tolerations: []\n        hostname: |\n          a",
        "the text ends inside a block scalar, behind which something has to be added: that would change its value. "
        "End the text with a line break",
        6,
        id="a merge that ends in a block scalar without a line break",
    ),
    pytest.param(
        "",
        "      tolerations:\n      - key: |\n          a",
        "the text ends inside a block scalar, behind which something has to be added: that would change its value. "
        "End the text with a line break",
        9,
        id="a list that ends in a block scalar without a line break",
    ),
]


@pytest.mark.parametrize(("head", "tail", "message", "line"), REFUSED)
def test_an_edit_without_a_place_says_what_to_write(head: str, tail: str, message: str, line: int) -> None:
    text = f"{head}apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - image: both:1\n{tail}"
    with pytest.raises(Failed) as failed:
        edited(text.encode())
    (result,) = failed.value.results
    assert result.message == message
    assert result.location is not None
    assert (result.location.document, result.location.line) == (1, line)
    # The same document is left alone where nothing has to be said.
    assert edited(text.replace("both:1", "amd:1").encode(), Options(affinity="never")).spans == []
