"""Streams that hold one thing very often: what takes time with the square of their length is slow on them."""

from __future__ import annotations

import random

from fuzz.material import IMAGES

_HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nx: &x nginx\ny: &y {a: b}\n"
_SHAPES = {
    "aliases in a list": "  args: [{}]\n",
    "merge lists": "  zz: {{<<: [{}]}}\n",
    "aliases as values": "  zz: {{{}}}\n",
    "anchors with aliases": "  zz: [{}]\n",
    "values of an architecture": (
        "  affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: "
        "[{{matchExpressions: [{{key: kubernetes.io/arch, operator: In, values: [{}]}}]}}]}}}}}}\n"
    ),
    "tolerations": "  tolerations: [{}]\n",
    "terms": (
        "  affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: "
        "{{nodeSelectorTerms: [{}]}}}}}}\n"
    ),
    "keys": "  zz: {{{}}}\n",
}
_MANY = {
    "aliases in a list": "*x",
    "merge lists": "*y",
    "aliases as values": "k{n}: *x",
    "anchors with aliases": "&a{n} [*x]",
    "values of an architecture": "a{n}",
    "tolerations": "{{key: k{n}}}",
    "terms": "{{matchFields: [{{key: metadata.name, operator: In, values: [n{n}]}}]}}",
    "keys": "k{n}: 1",
}


def dense(chance: random.Random) -> str:
    """A Pod of 20 to 40 KB, or a List of small ones."""
    shape = chance.choice((*_SHAPES, "items", "merges", "documents"))
    image, size = chance.choice(IMAGES), chance.randint(20_000, 40_000)
    if shape == "items":
        item = f"- {{apiVersion: v1, kind: Pod, spec: &s {{containers: [{{image: {image}}}]}}}}\n"
        return "apiVersion: v1\nkind: List\nitems:\n" + item * (size // len(item))
    if shape == "documents":
        return "---\n".join(
            [f"apiVersion: v1\nkind: Pod\nspec: {{containers: [{{image: {image}}}]}}\n"] * (size // 60)
        )
    spec = f"  containers:\n  - image: {image}\n"
    if shape == "merges":
        return f"{_HEAD}zz:\n" + "  <<: *y\n" * (size // 9) + "spec:\n" + spec
    one = _MANY[shape]
    count = size // (len(one) + 3)
    many = ", ".join(one.format(n=n) for n in range(count))
    body = _SHAPES[shape].format(many)
    return f"{_HEAD}spec:\n" + (spec + body if chance.random() < 0.5 else body + spec)
