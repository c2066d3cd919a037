"""Every style of YAML in which a pod spec may be written, and the text that an edit leaves.

Each case is a diff: what stands there, and what is added. `placed` asks Kubernetes' own readers about both sides,
undoes the edit, and runs the no-op twins: a second time, and with nothing to say.
"""

# ruff: noqa: E501 - flow text that grows, grows on its line
from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archfit.options.settings import Options, Toleration, TolerationRule
from streaming import placed, sides

if TYPE_CHECKING:
    from judging import Judge

HEAD = """\
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
   template:
     spec:
"""
AFFINITY = """\
+      affinity:
+        nodeAffinity:
+          requiredDuringSchedulingIgnoredDuringExecution:
+            nodeSelectorTerms:
+            - matchExpressions:
+              - key: kubernetes.io/arch
+                operator: In
+                values:
+                - amd64
"""
TOLERATION = """\
+      tolerations:
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
"""
FLOW_TOLERATION = "{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}"
FLOW_REQUIRED = (
    "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
    "[{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}"
)

BLOCK = {
    "a compact sequence gets compact sequences": HEAD
    + """\
       containers:
       - name: web
         image: amd:1
"""
    + AFFINITY,
    "an indented sequence gets indented sequences": HEAD
    + """\
       containers:
         - name: web
           image: amd:1
+      affinity:
+        nodeAffinity:
+          requiredDuringSchedulingIgnoredDuringExecution:
+            nodeSelectorTerms:
+              - matchExpressions:
+                  - key: kubernetes.io/arch
+                    operator: In
+                    values:
+                      - amd64
""",
    "four columns stay four columns": """
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
     template:
         spec:
             containers:
             - image: both:1
+            tolerations:
+            - key: kubernetes.io/arch
+              operator: Equal
+              value: arm64
+              effect: NoSchedule
""",
    "a whole document that is indented": """
   apiVersion: apps/v1
   kind: Deployment
   metadata: {name: web}
   spec:
     template:
       spec:
         containers:
         - image: both:1
+        tolerations:
+        - key: kubernetes.io/arch
+          operator: Equal
+          value: arm64
+          effect: NoSchedule
""",
    "a lone dash": HEAD
    + """\
       containers:
       -
         image: both:1
       tolerations:
       -
         key: dedicated
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
""",
    "more blanks behind a dash": HEAD
    + """\
       containers:
       -   image: both:1
       tolerations:
         -    key: dedicated
              operator: Exists
+        - key: kubernetes.io/arch
+          operator: Equal
+          value: arm64
+          effect: NoSchedule
       hostNetwork: true
""",
    "values on the next line": """
 apiVersion: apps/v1
 kind:
   Deployment
 metadata: {name: web}
 spec:
   template:
     spec:
       containers:
       - image:
           both:1
       nodeName:
         ""
"""
    + TOLERATION,
    "keys behind the list": """
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
   template:
     spec:
       tolerations:
       - key: dedicated
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
       containers:
       - image: both:1
   replicas: 2
""",
    "a term gains an expression": HEAD
    + """\
       affinity:
         nodeAffinity:
           requiredDuringSchedulingIgnoredDuringExecution:
             nodeSelectorTerms:
             - matchExpressions:
               - key: disk
                 operator: In
                 values: [ssd]
+              - key: kubernetes.io/arch
+                operator: In
+                values:
+                - amd64
             - matchFields:
               - {key: metadata.name, operator: In, values: [n1]}
+              matchExpressions:
+              - key: kubernetes.io/arch
+                operator: In
+                values:
+                - amd64
       containers:
       - image: amd:1
""",
}

FLOW = {
    "a pod in one line of flow, unquoted": """
-{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: a, image: both:1}]}}}}
+{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: a, image: both:1}], tolerations: [{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}]}}}}
""",
    "one line of JSON": """
-{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[{"image":"both:1"}]}}}}
+{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[{"image":"both:1"}], "tolerations": [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]}}}}
""",
    "pretty JSON": """
 {
   "apiVersion": "apps/v1",
   "kind": "Deployment",
   "spec": {
     "template": {
       "spec": {
         "containers": [
           {
             "image": "both:1"
           }
-        ]
+        ], "tolerations": [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]
       }
     }
   }
 }
""",
    "JSON with an empty list": """
 {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": {
   "containers": [{"image": "both:1"}],
-  "tolerations": []
+  "tolerations": [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]
 }}}}
""",
    "JSON with null": """
 {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": {
-  "tolerations": null,
+  "tolerations": [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}],
   "containers": [{"image": "both:1"}]
 }}}}
""",
    "what Helm 4 makes of a JSON template": """
 {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", annotations: {postrenderer.helm.sh/postrender-filename: 'c/t/x.json'}},
-  "spec": {"template": {"spec": {"containers": [{"image": "both:1"}]}}}}
+  "spec": {"template": {"spec": {"containers": [{"image": "both:1"}], "tolerations": [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]}}}}
""",
    "unquoted keys behind a quoted one": """
 {"apiVersion": apps/v1, kind: Deployment, spec: {template: {
-  spec: {containers: [{image: both:1}], 'affinity': {}, tolerations: [{key: x}]}
+  spec: {containers: [{image: both:1}], 'affinity': {}, tolerations: [{key: x}, {key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}]}
 }}}
""",
    "a multi-line flow list with a trailing comma": HEAD
    + f"""\
       containers: [
         {{image: both:1}},
       ]
       tolerations: [
-        {{key: dedicated}},   # ours
+        {{key: dedicated}}, {FLOW_TOLERATION},   # ours
       ]
""",
    "a multi-line flow mapping in which comments stand": HEAD
    + f"""\
       containers: [{{image: amd:1}}]
       affinity: {{
         # nothing for now
-        podAffinity: {{}}  # later
+        podAffinity: {{}}, nodeAffinity: {FLOW_REQUIRED}  # later
         ,
       }}
""",
    "a flow mapping whose last value is missing": HEAD
    + f"""\
       containers: [{{image: amd:1}}]
-      affinity: {{podAffinity: }}
+      affinity: {{podAffinity: , nodeAffinity: {FLOW_REQUIRED}}}
""",
    "a flow mapping whose own value is missing": HEAD
    + f"""\
       containers: [{{image: amd:1}}]
-      affinity: {{podAffinity: {{}}, nodeAffinity: }}
+      affinity: {{podAffinity: {{}}, nodeAffinity: {FLOW_REQUIRED}}}
""",
    "a key without a value or colon": HEAD
    + f"""\
       containers: [{{image: amd:1}}]
-      affinity: {{podAffinity}}
+      affinity: {{podAffinity, nodeAffinity: {FLOW_REQUIRED}}}
""",
    "empty mappings on the way": HEAD
    + f"""\
       containers: [{{image: amd:1}}]
-      affinity: {{nodeAffinity: {{ }}}}
+      affinity: {{nodeAffinity: {{{FLOW_REQUIRED[1:-1]} }}}}
""",
    "a single pair in a flow sequence whose list can grow": HEAD
    + """\
       containers: [{image: amd:1}]
       affinity:
         nodeAffinity:
           requiredDuringSchedulingIgnoredDuringExecution:
-            nodeSelectorTerms: [matchExpressions: [{key: a, operator: Exists}]]
+            nodeSelectorTerms: [matchExpressions: [{key: a, operator: Exists}, {key: kubernetes.io/arch, operator: In, values: [amd64]}]]
""",
}

COMMENTS = {
    "before, after and inside": """
 # first
 ---
 # Source: c/t/x.yaml
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web}
 spec:
   template:
     spec:
       # what runs
       containers:  # all of it
       # the one
       - image: both:1  # tag
+      tolerations:
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
       # nothing more
   # of the template
   replicas: 2
 # the end
""",
    "after the last line": HEAD
    + """\
       containers:
       - image: both:1
"""
    + TOLERATION
    + """\

       # deep
 # shallow

""",
    "deeper-indented after an empty value": HEAD
    + """\
       containers:
       - image: both:1
       tolerations:
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
         # - key: dedicated
         #   operator: Exists
       hostNetwork: true
""",
    "behind an empty value": HEAD
    + """\
       containers:
       - image: both:1
       tolerations:   # none
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
       hostNetwork: true
""",
    "behind an empty flow list": HEAD
    + f"""\
       containers:
       - image: both:1
-      tolerations: []   # none
+      tolerations: [{FLOW_TOLERATION}]   # none
""",
    "inside an empty flow list": HEAD
    + f"""\
       containers:
       - image: both:1
-      tolerations: [ # none
+      tolerations: [{FLOW_TOLERATION} # none
       ]
""",
    "as the first child of a mapping": HEAD
    + """\
       affinity:
         # of the pods
         podAffinity: {}
+        nodeAffinity:
+          requiredDuringSchedulingIgnoredDuringExecution:
+            nodeSelectorTerms:
+            - matchExpressions:
+              - key: kubernetes.io/arch
+                operator: In
+                values:
+                - amd64
       containers:
       # comment
       - image: amd:1
""",
}

EMPTY = {
    **{
        f"tolerations: {written}": HEAD
        + f"""\
       containers:
       - image: both:1
-      tolerations: {written}
+      tolerations: [{FLOW_TOLERATION}]
       hostNetwork: true
"""
        for written in ("[]", "null", "~", "Null", "NULL")
    },
    "tolerations: [ ]": HEAD
    + f"""\
       containers:
       - image: both:1
-      tolerations: [ ]
+      tolerations: [{FLOW_TOLERATION} ]
""",
    "tolerations: on the next line": HEAD
    + f"""\
       containers:
       - image: both:1
       tolerations:
-        []
+        [{FLOW_TOLERATION}]
""",
    "tolerations: nothing, with a trailing blank": HEAD
    + """\
       containers:
       - image: both:1
       tolerations:\x20
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
""",
    "affinity: {}": HEAD
    + f"""\
       containers:
       - image: amd:1
-      affinity: {{}}
+      affinity: {{nodeAffinity: {FLOW_REQUIRED}}}
""",
    "affinity: nothing": HEAD
    + """\
       containers:
       - image: amd:1
       affinity:
+        nodeAffinity:
+          requiredDuringSchedulingIgnoredDuringExecution:
+            nodeSelectorTerms:
+            - matchExpressions:
+              - key: kubernetes.io/arch
+                operator: In
+                values:
+                - amd64
""",
    "nodeAffinity: nothing": HEAD
    + """\
       containers:
         - image: amd:1
       affinity:
         podAffinity: {}
         nodeAffinity:
+          requiredDuringSchedulingIgnoredDuringExecution:
+            nodeSelectorTerms:
+              - matchExpressions:
+                  - key: kubernetes.io/arch
+                    operator: In
+                    values:
+                      - amd64
""",
    "nodeAffinity: ~": HEAD
    + f"""\
       containers:
       - image: amd:1
       affinity:
-        nodeAffinity: ~
+        nodeAffinity: {FLOW_REQUIRED}
""",
    "a null required set": HEAD
    + f"""\
       containers:
       - image: amd:1
       affinity:
         nodeAffinity:
-          requiredDuringSchedulingIgnoredDuringExecution: null
+          requiredDuringSchedulingIgnoredDuringExecution: {FLOW_REQUIRED.partition(": ")[2][:-1]}
""",
    "null expressions": HEAD
    + """\
       containers:
       - image: amd:1
       affinity:
         nodeAffinity:
           requiredDuringSchedulingIgnoredDuringExecution:
             nodeSelectorTerms:
             - matchExpressions:
+              - key: kubernetes.io/arch
+                operator: In
+                values:
+                - amd64
               matchFields:
               - {key: metadata.name, operator: In, values: [n1]}
""",
}

BLOCK_SCALARS = {
    f"{header} as the last value": HEAD
    + f"""\
       containers:
       - image: both:1
         args:
         - {header}
{body}\
"""
    + TOLERATION
    + "   replicas: 1\n"
    for header, body in {
        "|": "           echo\n             more\n",
        "|-": "           echo\n",
        "|+": "           echo\n \n \n",
        ">": "           folded\n           text\n \n           more\n",
        ">-": "           folded\n           text\n",
        "|2": "            one column more\n",
        "|2-": "           echo\n",
        "|1+": "           echo\n \n",
        "| # comment": "           # not one\n",
    }.items()
}
BLOCK_SCALARS |= {
    "a block scalar followed by blank lines and comments": HEAD
    + """\
       containers:
       - image: both:1
         args:
         - |
           echo

"""
    + TOLERATION
    + "       # comment\n \n   replicas: 1\n",
    "a block scalar that ends the stream": HEAD
    + """\
       containers:
       - image: both:1
         args: [sh, -c]
         command:
         - |
           echo
"""
    + TOLERATION,
    "an empty block scalar": HEAD
    + """\
       containers:
       - image: both:1
       subdomain: |
"""
    + TOLERATION
    + "   replicas: 1\n",
}

SCALARS = {
    "a multi-line plain scalar": HEAD
    + """\
       containers:
       - image: both:1
         name: web
           and more

           of it
"""
    + TOLERATION,
    "a multi-line quoted scalar": HEAD
    + """\
       containers:
       - image: both:1
         args: ["one
           two",
           'three
           four']
"""
    + TOLERATION,
    "quoted text at column 0": HEAD
    + """\
       containers:
       - image: both:1
         args:
         - "first
 kind: Service
 apiVersion: v1
 - kind: Pod
 # no comment
 containers:"
"""
    + TOLERATION,
    "a quoted kind and quoted text that looks like another": """
 "apiVersion": "apps/v1"
 "kind": "Deployment"
 metadata:
   annotations:
     text: "
 kind: ConfigMap
 apiVersion: v1
 "
 spec:
   template:
     spec:
       containers:
       - image: both:1
"""
    + TOLERATION,
    "quoted keys": """
 'apiVersion': apps/v1
 "kind": 'Deployment'
 "spec":
   "template":
     "spec":
       "containers":
       - "image": both:1
"""
    + TOLERATION,
    "an escape in a key": """
 apiVersion: apps/v1
 kind: Deployment
 spec:
   template:
     "sp\\u0065c":
       "cont\\x61iners":
       - image: "both\\x3a1"
"""
    + TOLERATION,
    "wide characters before the edit": """
 apiVersion: apps/v1
 kind: Deployment
 metadata: {name: web, annotations: {grüße: "\U0001f600 é"}}
 spec:
   template:
     spec:
       containers:
       - image: both:1  # ä
"""
    + TOLERATION
    + "   # ö\n",
    "tags": HEAD.replace("     spec:\n", "     spec: !!map\n")
    + """\
       containers: !!seq
       - image: !!str both:1
         name: !local web
       tolerations: !!seq
       - key: !!str 1
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
""",
    "tabs between tokens": HEAD
    + """\
       containers:\t# tab
       - image:\tboth:1\t
"""
    + TOLERATION,
    "an explicit key above the edit": """
 apiVersion: apps/v1
 kind: Deployment
 spec:
   template:
     ? spec
     : containers:
       - image: both:1
"""
    + TOLERATION,
    "an explicit key whose list can grow": HEAD
    + """\
       containers:
       - image: both:1
       ? tolerations
       : - key: dedicated
+        - key: kubernetes.io/arch
+          operator: Equal
+          value: arm64
+          effect: NoSchedule
""",
    "words that only YAML 1.1 or a number reads": HEAD
    + """\
       containers:
       - image: both:1
         env:
         - {name: a, value: on}
         - {name: b, value: 1e3}
         - {name: c, value: 0o777}
         - {name: d, value: 22:22}
         - {name: e, value: =}
         - {name: f, value: 012}
"""
    + TOLERATION,
}

SEPARATORS = {
    "a document that ends with ...": HEAD
    + "       containers:\n       - image: both:1\n"
    + TOLERATION
    + " ...\n # end\n",
    "... before ---": HEAD
    + "       containers:\n       - image: both:1\n"
    + TOLERATION
    + " ...\n ---\n a: b\n kind: c\n",
    "---# c and --- # c": " a: b\n kind: c\n ---# comment\n"
    + HEAD
    + "       containers:\n       - image: both:1\n"
    + TOLERATION
    + " --- # another\n"
    + HEAD
    + "       containers:\n       - image: both:1\n"
    + TOLERATION
    + " ---\t\n ---\n",
    "directives behind ...": " a: b\n kind: c\n ...\n %YAML 1.1\n ---\n"
    + HEAD
    + "       containers:\n       - image: both:1\n"
    + TOLERATION,
    "dashes inside an indented block scalar": " a: |\n  ---\n  x\n kind: c\n ---\n"
    + HEAD
    + "       containers:\n       - image: both:1\n         args:\n         - |\n           ---\n           ...\n"
    + TOLERATION,
    "empty and comment-only documents": " ---\n # comment\n ---\n \n ---\n"
    + HEAD
    + "       containers:\n       - image: both:1\n"
    + TOLERATION
    + " ---\n ---\n # HIDDEN: The Secret output has been suppressed\n",
}


def _cases(table: dict[str, str]) -> list[object]:
    return [pytest.param(diff, id=name) for name, diff in table.items()]


@pytest.mark.parametrize("diff", _cases(BLOCK))
def test_block_style(judge: Judge, diff: str) -> None:
    before, after = sides(diff)
    assert placed(judge, before) == after


@pytest.mark.parametrize("diff", _cases(FLOW))
def test_flow_style_and_json(judge: Judge, diff: str) -> None:
    before, after = sides(diff)
    assert placed(judge, before) == after


@pytest.mark.parametrize("diff", _cases(COMMENTS))
def test_comments_stay_where_they_are(judge: Judge, diff: str) -> None:
    before, after = sides(diff)
    assert placed(judge, before) == after


@pytest.mark.parametrize("diff", _cases(EMPTY))
def test_empty_values_are_filled(judge: Judge, diff: str) -> None:
    before, after = sides(diff)
    assert placed(judge, before) == after


@pytest.mark.parametrize("diff", _cases(BLOCK_SCALARS))
def test_block_scalars_keep_their_value(judge: Judge, diff: str) -> None:
    before, after = sides(diff)
    assert placed(judge, before) == after


@pytest.mark.parametrize("diff", _cases(SCALARS))
def test_scalars_and_keys(judge: Judge, diff: str) -> None:
    before, after = sides(diff)
    assert placed(judge, before) == after


@pytest.mark.parametrize("diff", _cases(SEPARATORS))
def test_separators(judge: Judge, diff: str) -> None:
    before, after = sides(diff)
    assert placed(judge, before) == after


@pytest.mark.parametrize("diff", _cases(BLOCK | COMMENTS | EMPTY | BLOCK_SCALARS | SCALARS))
def test_crlf_stays_crlf(judge: Judge, diff: str) -> None:
    before, after = (side.replace(b"\n", b"\r\n") for side in sides(diff))
    assert placed(judge, before) == after


@pytest.mark.parametrize("diff", _cases(BLOCK | FLOW | EMPTY | SCALARS))
def test_no_final_newline_stays_none(judge: Judge, diff: str) -> None:
    before, after = sides(diff)
    assert placed(judge, before.rstrip(b"\n")) == after.rstrip(b"\n")


@pytest.mark.parametrize("diff", _cases(BLOCK | FLOW | SCALARS))
def test_a_byte_order_mark_moves_nothing(judge: Judge, diff: str) -> None:
    mark = b"\xef\xbb\xbf"
    before, after = sides(diff)
    assert placed(judge, mark + before) == mark + after
    first = b"a: b\nkind: c\n---\n" + mark
    assert placed(judge, first + before) == first + after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"\r\n", b"\n", id="CRLF before the edit, LF after it"),
        pytest.param(b"\n", b"\r\n", id="LF before the edit, CRLF after it"),
    ],
)
def test_mixed_endings_take_the_ending_of_the_line_before(judge: Judge, before: bytes, after: bytes) -> None:
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
def test_taint_values_stay_strings(judge: Judge, value: str, written: str) -> None:
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
        " %YAML 1.1\n --- # é\n" + HEAD + "       containers:\n       - image: both:1\n" + TOLERATION,
        "kubectl kustomize",
        id="%YAML before ---",
    ),
    pytest.param(
        " %YAML 1.2\n ---# é\n" + HEAD + "       containers:\n       - image: both:1\n" + TOLERATION,
        "kubectl kustomize",
        id="%YAML 1.2 before ---#",
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
def test_what_only_some_readers_take(judge: Judge, diff: str, refused: str) -> None:
    before, after = sides(diff)
    assert placed(judge, before, refused=refused.split()) == after


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERMS = (
    "{weight: 1, preference: {matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}}, "
    "{weight: 5, preference: {matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}}"
)
SEVERAL = [
    pytest.param(
        HEAD
        + """\
       containers:
       - image: all:1
       tolerations:
+      - key: kubernetes.io/arch
+        operator: Equal
+        value: arm64
+        effect: NoSchedule
+      affinity:
+        nodeAffinity:
+          requiredDuringSchedulingIgnoredDuringExecution:
+            nodeSelectorTerms:
+            - matchExpressions:
+              - key: kubernetes.io/arch
+                operator: In
+                values:
+                - amd64
+                - arm64
+                - s390x
""",
        Options(affinity="always", cluster_architectures=("amd64", "arm64", "s390x")),
        id="an empty value is filled before a member is added behind it",
    ),
    pytest.param(
        HEAD
        + f"""\
       containers: [{{image: all:1}}]
       affinity:
         nodeAffinity:
-          {PREFERRED}: []
+          {PREFERRED}: [{TERMS}]
"""
        + TOLERATION,
        Options(prefer=(("amd64", 1), ("arm64", 5))),
        id="two items in an empty flow list",
    ),
    pytest.param(
        HEAD
        + f"""\
       containers: [{{image: both:1}}]
-      affinity: {{nodeAffinity: {{}}}}
+      affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{{key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}}]}}]}}, {PREFERRED}: [{TERMS}]}}}}
"""
        + TOLERATION,
        Options(prefer=(("amd64", 1), ("arm64", 5)), affinity="always"),
        id="two members in an empty flow mapping",
    ),
]


@pytest.mark.parametrize(("diff", "options"), SEVERAL)
def test_several_edits_at_one_place(judge: Judge, diff: str, options: Options) -> None:
    before, after = sides(diff)
    assert placed(judge, before, options) == after
