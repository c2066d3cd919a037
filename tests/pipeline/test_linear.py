"""Nothing grows with the square of its input: twice as much of anything is twice as much work.

Work is counted, not timed: the lines of archfit that run, and the bytes that searches read. Fields that a stranger can
repeat are in test_doubled_fields.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import archfit
from archfit.options.settings import Options
from interpreter_steps import steps
from stream_edits import Failed, edited

PACKAGE = archfit.__path__[0]

HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
SPEC = "spec:\n  containers: [{name: c, image: amd:1}]\n"
LIST = "apiVersion: v1\nkind: List\nitems:\n"
POD = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"image": "amd:1"}]}}
DEFINITION = (
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.g{n}.example.com}\nspec:\n  versions:\n"
    "  - schema:\n      openAPIV3Schema:\n" + "        containers:\n          description: image of\n" * 50
)
TERMS = "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%s]}}}\n"


def pod(lines: str) -> str:
    return HEAD + SPEC + lines


def many(line: str, count: int) -> str:
    """The line for each number; `{n}` is the number."""
    return "".join(line.replace("{n}", str(number)) for number in range(count))


def flow(item: str, count: int) -> str:
    return "[" + many(item + ", ", count) + "]"


STREAMS: dict[str, Callable[[int], str]] = {
    "aliases-in-a-list": lambda n: pod(f"a: &a {{k: v}}\nx: {flow('*a', n)}\n"),
    "aliases-of-a-scalar": lambda n: pod(f"a: &a v\nx: {flow('*a', n)}\n"),
    "a-list-of-merges": lambda n: pod(f"a: &a {{k: v, l: w}}\nx: {{<<: {flow('*a', n)}}}\n"),
    "a-list-of-merges-that-is-shared": lambda n: pod(
        f"a: &a {{k: v}}\nl: &l {flow('*a', n)}\nx:\n{many('  <<: *l' + chr(10), 5)}"
    ),
    "merges-repeated": lambda n: pod(f"a: &a {{k: v}}\nx:\n{many('  <<: *a' + chr(10), n)}"),
    "merges-of-different-mappings": lambda n: pod(
        many("a{n}: &a{n} {k{n}: v}\n", n) + f"x:\n{many('  <<: *a{n}' + chr(10), n)}"
    ),
    "an-alias-for-each-value": lambda n: pod("a: &a {k: v}\nx:\n" + many("  k{n}: *a\n", n)),
    "an-alias-for-each-key": lambda n: pod(many("a{n}: &a{n} k{n}\n", n) + "x:\n" + many("  *a{n} : v\n", n)),
    "anchors-with-aliases": lambda n: pod("x:\n" + many("  a{n}: &a{n} [v]\n  b{n}: *a{n}\n", n)),
    "anchors-in-anchors": lambda n: pod("x: &a0 [v]\n" + many("y{n}: &b{n} {c: &c{n} [*a0], d: *c{n}}\n", n)),
    "anchors-in-one-anchor": lambda n: pod("x: &x " + flow("&a{n} [v, *a{n}]".replace(", *a{n}", ""), n) + "\ny: *x\n"),
    "keys-that-stand-twice": lambda n: pod("x:\n" + many("  k{n}: a\n  k{n}: b\n", n)),
    "a-key-that-stands-often": lambda n: pod("x:\n" + many("  k: a\n", n)),
    "keys-that-stand-twice-in-items": lambda n: (
        LIST + many(f"- {{apiVersion: v1, kind: Pod, x: {{a: 1, a: 2}}, {SPEC[:4]}: {{containers: [{{image: amd:1}}]}}}}\n", n)
    ),
    "items-in-block-style": lambda n: LIST + many("- " + (HEAD + SPEC).replace("\n", "\n  ")[:-2], n),
    "items-in-flow-style": lambda n: LIST.replace("items:\n", "items: ") + flow(json.dumps(POD), n) + "\n",
    "items-of-json": lambda n: json.dumps({"apiVersion": "v1", "kind": "List", "items": [POD] * n}),
    "items-that-share-a-pod-spec": lambda n: (
        LIST + f"- {{apiVersion: v1, kind: Pod, spec: &s {json.dumps(POD['spec'])}}}\n" + many("- {apiVersion: v1, kind: Pod, spec: *s}\n", n)
    ),
    "items-that-are-one-object": lambda n: LIST + f"- &p {json.dumps(POD)}\n" + many("- *p\n", n),
    "items-that-merge-a-pod-spec": lambda n: (
        LIST + f"- {{apiVersion: v1, kind: Pod, spec: &s {json.dumps(POD['spec'])}}}\n"
        + many("- {apiVersion: v1, kind: Pod, spec: {<<: *s, hostname: h{n}}}\n", n)
    ),
    "items-without-pods": lambda n: LIST + many("- {a: [b]}\n", n),
    "aliases-in-items": lambda n: LIST.replace("items", "x: &a [{key: a}]\nitems") + many(f"- {{apiVersion: v1, kind: Pod, spec: {{tolerations: *a, {json.dumps(POD['spec'])[1:-1]}}}}}\n", n),
    "json-on-many-lines": lambda n: json.dumps({"apiVersion": "v1", "kind": "List", "items": [POD] * n}, indent=4),
    "comments": lambda n: HEAD + SPEC + "# a comment\n" * n * 20,
    "config-maps": lambda n: HEAD + SPEC + "---\napiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    ---\n    ...\n" * n,
    "documents": lambda n: many("---\n" + HEAD + SPEC, n),
    "containers": lambda n: HEAD + "spec:\n  containers:\n" + many("  - {name: c{n}, image: amd:1}\n", n),
    "tolerations": lambda n: pod("  tolerations:\n" + many("  - {key: k{n}}\n", n)),
    "terms": lambda n: pod(TERMS % many("{matchExpressions: [{key: k{n}, operator: Exists}]}, ", n)),
    "aliases-of-terms": lambda n: pod(f"  x: &t {{matchExpressions: []}}\n{TERMS % many('*t, ', n)}"),
    "templates-of-a-workflow": lambda n: (
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  templates:\n"
        + many("  - {name: t{n}, container: {image: amd:1}}\n", n)
    ),
    "fields-beside-templates": lambda n: (
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\n" + many("f{n}: a\n", n)
        + "spec:\n  templates:\n" + many("  - {name: t{n}, container: {image: amd:1}}\n", n)
    ),
    "question-marks": lambda n: pod("x:\n" + many("  ? k{n}\n  : a\n", n)),
    "definitions": lambda n: HEAD + SPEC + many("---\n" + DEFINITION, n),
    "lists-in-a-list": lambda n: f"{LIST}- apiVersion: v1\n  kind: List\n  items:\n" + many("  - " + (HEAD + SPEC).replace("\n", "\n    ")[:-4], n),
    "blank-lines-with-tabs": lambda n: HEAD + "spec:\n  containers: [{name: c, image: amd:1}]\n  hostname: h\n" + "    \t\n" * n,
}  # fmt: skip


def work(run: Callable[[], object]) -> int:
    """The steps in archfit, also of a run that fails."""

    def tried() -> None:
        with suppress(Failed):
            run()

    return steps(tried, within=PACKAGE)


def doubled(of: Callable[[int], Callable[[], object]], count: int) -> None:
    work(of(250))  # a record that is made as often gets its own constructor, once
    first, second, third = (work(of(count * times)) for times in (1, 2, 3))
    # What does not depend on the size at all stands in every one of them.
    assert third - second <= 1.2 * (second - first)


@pytest.mark.parametrize("stamp", [pytest.param(False, id="plain"), pytest.param(True, id="stamp")])
@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.load
def test_twice_the_input_is_twice_the_work(name, stamp):
    options = Options(stamp=stamp)
    make = STREAMS[name]
    work(lambda: edited(make(1).encode(), options))

    def of(count: int) -> Callable[[], object]:
        data = make(count).encode()
        return lambda: edited(data, options)

    doubled(of, 60)


@pytest.mark.parametrize(
    "name", [name for name in STREAMS if name.startswith(("items-", "documents", "templates"))]
)
@pytest.mark.load
def test_twice_the_input_is_twice_the_work_of_a_run_that_takes_all_back(name):
    make = STREAMS[name]

    def of(count: int) -> Callable[[], object]:
        data = edited(make(count).encode(), Options(stamp=True)).data
        return lambda: edited(data, Options(stamp=True, affinity="never", tolerate=()))

    doubled(of, 30)


class Searched(bytes):
    """A stream that counts how much of it `find` reads."""

    total = 0

    def find(self, what: Any, start: int = 0, end: int | None = None) -> int:
        found = super().find(what, start, end)
        stop = min(len(self), len(self) if end is None else end)
        Searched.total += max(0, (stop if found < 0 else found + len(what)) - start)
        return found


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.load
def test_searches_read_twice_as_much_of_twice_the_input(name):
    def of(count: int) -> int:
        Searched.total = 0
        with suppress(Failed):
            edited(Searched(STREAMS[name](count).encode()))
        return Searched.total

    of(1)
    first, second, third = (of(60 * times) for times in (1, 2, 3))
    assert third - second <= 1.2 * (second - first)
