"""Large input: it grows in proportion, not faster.

How long something takes is counted in steps of the interpreter, which are the same on every machine; a clock only bounds
what must not hang.
"""

import json
import subprocess
import sys
import time

import pytest
import yaml

from interpreter_steps import steps
from stream_edits import Failed, edited

POD = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      containers:\n      - image: amd:1\n"
OBJECT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "spec": {"template": {"spec": {"containers": [{"image": "both:1"}]}}},
}
GENEROUS_SECONDS = 60.0


def pretty_json(count: int) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [OBJECT] * count}, indent=4)


def small_pods(count: int) -> str:
    spec = {"containers": [{"name": "a", "image": "x.io/a:1"}]}
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{n}"}, "spec": spec} for n in range(count)
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}, separators=(",", ":"))


def workflow(count: int) -> str:
    head = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n  entrypoint: t0\n  templates:\n"
    return head + "".join(f"  - name: t{n}\n    container: {{image: 'x.io/a:1'}}\n" for n in range(count))


def test_5000_documents_of_which_one_is_a_pod():
    text = "---\n".join(["apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n"] * 4999 + [POD])
    (span,) = edited(text.encode()).spans
    assert span.start == len(text)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        pytest.param(POD + "  x: |\n" + "    text text text\n" * 560_000, 1, id="a block scalar"),
        pytest.param(POD + '  x: "' + "text text " * 1_050_000 + '"\n', 1, id="a line"),
        pytest.param(json.dumps(OBJECT)[:-1] + ', "x": "' + "a" * 10_500_000 + '"}', 1, id="a line of JSON"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\ndata:\n  a: " + "b" * 10_500_000, 0, id="a ConfigMap"),
        pytest.param(POD + "# a comment\n" * 900_000, 1, id="comments"),
    ],
)
@pytest.mark.load
def test_a_document_of_10_mib(text, spans):
    assert len(text) > 10 * 2**20
    started = time.process_time()
    assert len(edited(text.encode()).spans) == spans
    assert time.process_time() - started < GENEROUS_SECONDS


_PEAK = """
import sys
from archfit.cli.main import main
code = main(["--image-platforms", "*=linux/amd64", *sys.argv[1:]])
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))  # KiB, proc(5)
sys.stderr.write(f"\\n{peak}")
sys.exit(code)
"""
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: |\n"


HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: c, image: 'x.io/a:1'}]\n"
TERMS = "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%s]}}}\n"


def listed(item: str, count: int) -> str:
    return f"{HEAD}x: [{', '.join(item.replace('{n}', str(number)) for number in range(count))}]\n"


@pytest.mark.parametrize(
    ("text", "pods", "flags"),
    [
        pytest.param((CONFIG_MAP + ("    " + "a" * 75 + "\n") * 1000 + "---\n") * 250, 0, [], id="no pod"),
        pytest.param((CONFIG_MAP + ("    " + "ä" * 38 + "\n") * 1000 + "---\n") * 250, 0, [], id="not ASCII"),
        pytest.param("---\n".join([POD] * 5000), 0, [], id="pods"),
        pytest.param(pretty_json(2000), 0, [], id="one document of JSON"),
        pytest.param(small_pods(5000), 5000, ["--immutable=full"], id="small pods in one document of JSON"),
        pytest.param(workflow(5000), 5000, [], id="templates of a Workflow"),
        pytest.param(listed("[]", 100_000), 0, [], id="empty lists"),
        pytest.param(listed("&a{n} {}", 50_000), 0, [], id="anchors"),
        pytest.param(listed("&a {}, " + "*a, " * 99 + "a", 500), 0, [], id="aliases"),
        pytest.param(listed("a{n}: {<<: {b: c}, b: d}", 10_000), 0, [], id="merges"),
        pytest.param(
            HEAD + TERMS % ("{matchExpressions: [{key: k, operator: Exists}]}, " * 10_000), 0, [], id="terms"
        ),
    ],
)
@pytest.mark.load
def test_a_run_takes_64_mib_8_times_its_input_and_24_kib_a_pod_and_1280_bytes_a_node(text, pods, flags):
    data = text.encode()
    nodes = 0 if "\n---\n" in text else sum(1 for _ in yaml.parse(text, yaml.CSafeLoader))
    run = [sys.executable, "-I", "-c", _PEAK, *flags]
    done = subprocess.run(run, input=data, capture_output=True, check=True)
    assert len(done.stdout) >= len(data)
    bound = 64 * 2**20 + 8 * len(data) + 24 * 1024 * pods + 1280 * nodes
    assert int(done.stderr.splitlines()[-1]) * 1024 <= bound


HOSTILE = [
    pytest.param("[" * 200_000, id="brackets"),
    pytest.param(POD + "  x: " + "{a: " * 200_000 + "}" * 200_000, id="braces"),
    pytest.param(POD + "  x:\n   " + "- " * 200_000 + "a\n", id="dashes"),
    pytest.param(POD + "  x:\n   " + "? " * 200_000 + "a\n", id="explicit keys"),
    pytest.param(POD + "".join(f"  x{n}: &x{n} [{','.join([f'*x{n - 1}' if n else 'a'] * 10)}]\n" for n in range(60)), id="an alias bomb"),
    pytest.param(POD + "".join(f"  x{n}: &x{n} {{<<: [{','.join([f'*x{n - 1}'] * 10 if n else [])}], a{n}: b}}\n" for n in range(60)), id="a bomb of merges"),
    pytest.param(POD + "".join(f"  x{n}: &x{n} {'[' * 200}{f'*x{n - 1}' if n else 'a'}{']' * 200}\n" for n in range(200)), id="depth by aliases"),
    pytest.param(POD + "  x: &a\n" * 1 + "    " + "&a " * 100_000, id="anchors without a node"),
    pytest.param(POD + "  " + "!" * 100_000, id="exclamation marks"),
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_an_error_in_few_steps(text):
    def run() -> None:
        with pytest.raises(Failed):
            edited(text.encode())

    assert steps(run) < 60_000
