"""`archfit setup cluster`: which taints may become tolerations, and what the written file says."""

import io
import json
from typing import Any

import pytest
import yaml

import machine
from archfit.base.errors import ArchfitError, InvalidInput, UsageError
from archfit.cluster.nodes import Taint, nodes
from archfit.cluster.setup import set_up_cluster as run
from archfit.cluster.summary import NodeSummary, UsedTaint, summarised
from archfit.options.layers import load
from archfit.options.settings import GKE, Options, Settings, Toleration, TolerationRule
from program import called

OTHER = "not a taint of architectures; if it is one, pass --arch-taint with its key"


class Terminal(io.BytesIO):
    """Standard input that nobody piped anything into."""

    def isatty(self) -> bool:
        return True


def node(
    name: str, arch: str = "amd64", *taints: str, os: str = "linux", labels: dict[str, str] | None = None
) -> Any:
    """A node as kubectl prints it; taints as key=value:effect."""
    label = {"kubernetes.io/arch": arch, "kubernetes.io/os": os} if labels is None else labels
    parts = [taint.rpartition(":") for taint in taints]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": label},
        "spec": {
            "taints": [
                {"key": key.partition("=")[0], "effect": effect}
                | ({"value": key.partition("=")[2]} if "=" in key else {})
                for key, _colon, effect in parts
            ]
        },
    }


def listed(*items: object, kind: str = "List") -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": kind, "items": items}).encode()


def ran(content: bytes, *argv: str) -> tuple[str, str]:
    """Standard output and standard error of a run that succeeds."""
    ended = called(run, argv, content)
    return ended.ok().decode(), ended.stderr


WINDOWS = "node.kubernetes.io/os=windows:NoSchedule"


@pytest.mark.parametrize(
    ("items", "taint"),
    [
        pytest.param([node("w", "amd64", WINDOWS, os="windows")], WINDOWS, id="every Windows node has it"),
        pytest.param(
            [
                node("w", "amd64", "a:NoSchedule", WINDOWS, os="windows"),
                node("v", "amd64", WINDOWS, os="windows"),
            ],
            WINDOWS,
            id="the one that all share",
        ),
        pytest.param(
            [node("w", "amd64", WINDOWS, os="windows"), node("v", os="windows")], "", id="one node is without"
        ),
        pytest.param(
            [node("w", "amd64", "os=windows:PreferNoSchedule", os="windows")], "", id="it keeps nobody off"
        ),
        pytest.param(
            [node("w", "amd64", "kubernetes.io/arch=amd64:NoSchedule", os="windows")],
            "",
            id="one of architectures",
        ),
        pytest.param([node("b", "amd64", WINDOWS)], "", id="no Windows node"),
    ],
)
def test_a_taint_of_all_windows_nodes_is_named(items, taint):
    text, messages = ran(listed(node("a"), *items))
    closed = Toleration("node.kubernetes.io/os", "Equal", "windows", "NoSchedule")
    assert loaded(text).options.system_taints == ((("windows", closed),) if taint else ())
    assert not taint or taint not in messages


def loaded(text: str) -> Settings:
    return load(["--config", "archfit.yaml"], {}, lambda _path: text.encode())


def of(*items: object, keys: tuple[str, ...] = ()) -> NodeSummary:
    return summarised(nodes(items), keys)


USED = [
    pytest.param(
        [node("a"), node("b", "arm64", "kubernetes.io/arch=arm64:NoSchedule")],
        (),
        [UsedTaint(Taint("kubernetes.io/arch", "arm64", "NoSchedule"), ("arm64",), 1)],
        id="GKE's own",
    ),
    pytest.param(
        [node("a", "arm64", "beta.kubernetes.io/arch=arm64:NoExecute")],
        (),
        [UsedTaint(Taint("beta.kubernetes.io/arch", "arm64", "NoExecute"), ("arm64",), 1)],
        id="the beta key",
    ),
    pytest.param(
        [node("a", "arm64", "kubernetes.io/arch:NoSchedule"), node("b", "s390x", "kubernetes.io/arch:NoSchedule")],
        (),
        [UsedTaint(Taint("kubernetes.io/arch", "", "NoSchedule"), ("arm64", "s390x"), 2)],
        id="a taint without a value is for the architectures of all its nodes",
    ),
    pytest.param(
        [node("a", "arm64", "pool=arm:NoSchedule"), node("b")],
        ("pool",),
        [UsedTaint(Taint("pool", "arm", "NoSchedule"), ("arm64",), 1)],
        id="a key that --arch-taint names",
    ),
    pytest.param(
        [node("a", "amd64", "k=arm64Supported:NoSchedule"), node("b", "arm64", "k=arm64Supported:NoSchedule")],
        ("k",),
        [UsedTaint(Taint("k", "arm64Supported", "NoSchedule"), ("amd64", "arm64"), 2)],
        id="one taint on nodes of two architectures needs both",
    ),
    pytest.param(
        [node("a", "arm64", "arch=arm64:NoSchedule", "arch=arm64:NoExecute", "arch=arm64:NoSchedule"), node("b")],
        ("arch",),
        [
            UsedTaint(Taint("arch", "arm64", "NoExecute"), ("arm64",), 1),
            UsedTaint(Taint("arch", "arm64", "NoSchedule"), ("arm64",), 1),
        ],
        id="two effects are two taints, doubles one",
    ),
    *(
        pytest.param(
            [node("a", arch, f"{taint}:NoSchedule"), node("b"), node("c", "arm64")],
            (),
            [UsedTaint(Taint(*taint.split("="), "NoSchedule"), (arch,), 1)],
            id=taint,
        )
        for taint, arch in {
            "arch=arm64": "arm64", "arch=aarch64": "arm64", "arch=x86_64": "amd64", "dedicated=amd64": "amd64",
            "example.com/arch=ARM64": "arm64",
        }.items()
    ),
    pytest.param(
        [node("w", "arm64", "kubernetes.io/arch=arm64:NoSchedule", os="windows"),
         node("a", "arm64", "kubernetes.io/arch=arm64:NoSchedule")],
        (),
        [UsedTaint(Taint("kubernetes.io/arch", "arm64", "NoSchedule"), ("arm64",), 2)],
        id="a Windows node of that architecture is no obstacle",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("items", "keys", "rules"), USED)
def test_a_taint_becomes_a_rule(items, keys, rules):
    """Its key is about architectures, and every node with exactly this taint has one of the rule's."""
    assert list(of(*items, keys=keys).rules) == rules


UNUSED = [
    *(
        pytest.param([node("a", "arm64", taint)], (), (f"taint {taint}", f"{OTHER} (on node a)"), id=name)
        for name, taint in {
            "spot": "cloud.google.com/gke-spot=true:NoSchedule",
            "spot on Azure": "kubernetes.azure.com/scalesetpriority=spot:NoSchedule",
            "GPU": "nvidia.com/gpu=present:NoSchedule",
            "control plane": "node-role.kubernetes.io/control-plane:NoSchedule",
            "autoscaler": "ToBeDeletedByClusterAutoscaler=1600000000:NoSchedule",
            "an architecture's value under a key of Kubernetes": "node-role.kubernetes.io/worker=arm64:NoSchedule",
            "a word that may mean two architectures": "arch=arm:NoSchedule",
        }.items()
    ),
    pytest.param(
        [node("a", "amd64", "kubernetes.io/arch=arm64:NoSchedule"), node("b", "arm64")],
        (),
        ("taint kubernetes.io/arch=arm64:NoSchedule", "a node that carries it is amd64 (on node a)"),
        id="a node of another architecture carries it",
    ),
    pytest.param(
        [node("a", "amd64", "arch=arm64:NoSchedule"), node("b", "arm64", "arch=arm64:NoSchedule")],
        (),
        ("taint arch=arm64:NoSchedule", "a node that carries it is amd64 (on 2 nodes, as a)"),
        id="not every node with it has the architecture of its value",
    ),
    pytest.param(
        [node("a", "arm64", "k=x:NoSchedule"), node("b", labels={}) | {"spec": {"taints": [
            {"key": "k", "value": "x", "effect": "NoSchedule"}]}}],
        ("k",),
        ("taint k=x:NoSchedule", "a node that carries it has no architecture (on 2 nodes, as a)"),
        id="a node without a label carries it",
    ),
    pytest.param(
        [node("a"), node("w", "arm64", "kubernetes.io/arch=arm64:NoSchedule", os="windows")],
        (),
        ("taint kubernetes.io/arch=arm64:NoSchedule", "no Linux node has this architecture (on node w)"),
        id="only Windows nodes carry it",
    ),
    pytest.param(
        [node("a", "arm64", "kubernetes.io/arch=arm64:Later")],
        (),
        (
            "taint kubernetes.io/arch=arm64:Later",
            (
                "no toleration can be written for it: 'Later' is not a taint effect: known are NoSchedule, "
                "PreferNoSchedule, NoExecute (on node a)"
            ),
        ),
        id="an effect that Kubernetes does not have",
    ),
    pytest.param([node("a")], ("pool",), ("--arch-taint pool", "no node carries such a taint"), id="a key nobody has"),
    pytest.param(
        [node("a"), node("f1", os="freebsd"), node("f2", os="freebsd")],
        (),
        ("2 nodes, as f1", "its operating system is freebsd"),
        id="nodes of another OS",
    ),
    pytest.param(
        [node("a"), node("w", "s390x", os="windows")],
        (),
        ("node w", "its architecture s390x is not one that Kubernetes runs on"),
        id="an architecture that Windows does not have",
    ),
    pytest.param(
        [node("a"), node("v", labels={"type": "virtual-kubelet"})],
        (),
        ("node v", "it has no label kubernetes.io/arch, so no pod that needs an architecture can go there"),
        id="a virtual node",
    ),
    pytest.param(
        [node("a"), node("k", "wasm32-wasi")],
        (),
        ("node k", "its architecture wasm32-wasi is not one that Kubernetes runs on"),
        id="Krustlet",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("items", "keys", "unused"), UNUSED)
def test_what_is_not_used_is_listed(items, keys, unused):
    """Nothing else is ever tolerated; the reason is said, on standard error and in the file, which loads."""
    found = of(*items, keys=keys)
    assert unused in found.unused
    assert found.rules == ()
    out, err = ran(listed(*items), *(word for key in keys for word in ("--arch-taint", key)))
    assert err == "".join(f"not used: {subject}: {reason}\n" for subject, reason in found.unused)
    assert f"  #   {unused[0]}: {unused[1]}\n" in out
    assert loaded(out).options.tolerate == ()


@pytest.mark.parametrize(
    ("items", "architectures"),
    [
        pytest.param([node("a"), node("b", "arm64"), node("c")], (("amd64", 2), ("arm64", 1)), id="mixed"),
        pytest.param([node("a", "386")], (("386", 1),), id="an architecture of digits"),
        pytest.param(
            [node("a", labels={"beta.kubernetes.io/arch": "arm64", "beta.kubernetes.io/os": "linux"})],
            (("arm64", 1),),
            id="beta labels alone",
        ),
        pytest.param([node("a", labels={"kubernetes.io/arch": "arm64"})], (("arm64", 1),), id="no word of the OS"),
        pytest.param(
            [node("w", "arm64", os="windows"), node("a"), node("x", "arm64", os="windows")],
            (("amd64", 1), ("windows/arm64", 2)),
            id="Windows nodes have entries of their own",
        ),
        pytest.param(
            [
                node("w", labels={"kubernetes.io/arch": "arm64"})
                | {"status": {"nodeInfo": {"operatingSystem": "windows"}}},
                node("a"),
            ],
            (("amd64", 1), ("windows/arm64", 1)),
            id="the OS from the node's own report",
        ),
    ],
)  # fmt: skip
def test_architectures_are_those_of_the_nodes(items, architectures):
    """By their label, with the number of nodes."""
    found = of(*items)
    assert found.architectures == architectures
    names = tuple(name for name, _count in found.architectures)
    assert loaded(ran(listed(*items))[0]).options == Options(cluster_architectures=names, tolerate=())


def test_the_file_says_where_each_value_comes_from():
    """Byte for byte, whatever the order of the nodes."""
    items = [
        node("b", "arm64", "kubernetes.io/arch=arm64:NoSchedule", "spot=true:NoSchedule"),
        node("a"),
        node("c", "arm64", "arm-only:NoExecute"),
        node("d", "s390x"),
        node("w", os="windows"),
    ]
    out, err = ran(listed(*items), "--arch-taint", "arm-only")
    assert out == (
        "# Written by `archfit setup cluster` from the nodes of a cluster. Use it with --config or ARCHFIT_CONFIG.\n"
        "apiVersion: archfit.dev/v1alpha1\n"
        "kind: ArchFit\n"
        "spec:\n"
        "  # The architectures of the cluster's Linux nodes, and of its Windows nodes as windows/amd64.\n"
        "  # Add those of node pools that have no node at the moment.\n"
        "  clusterArchitectures:\n"
        "    - amd64            # 1 Linux node\n"
        "    - arm64            # 2 Linux nodes\n"
        "    - s390x            # 1 Linux node\n"
        "    - windows/amd64    # 1 Windows node\n"
        "  # Tolerated where the images run on every architecture after the @.\n"
        "  # Not used:\n"
        f"  #   taint spot=true:NoSchedule: {OTHER} (on node b)\n"
        "  tolerate:\n"
        "    - arm-only=:NoExecute@arm64                    # on 1 node\n"
        "    - kubernetes.io/arch=arm64:NoSchedule@arm64    # on 1 node\n"
    )
    assert err == f"not used: taint spot=true:NoSchedule: {OTHER} (on node b)\n"
    assert ran(listed(*reversed(items)), "--arch-taint", "arm-only") == (out, err)
    assert loaded(out).options == Options(
        cluster_architectures=("amd64", "arm64", "s390x", "windows/amd64"),
        tolerate=(TolerationRule(("arm64",), Toleration("arm-only", "Equal", "", "NoExecute")), GKE),
    )


@pytest.mark.parametrize(
    ("words", "stated"),
    [
        pytest.param(["--config", "archfit.yaml"], True, id="the file of setup cluster"),
        pytest.param(["--tolerate", "gke"], True, id="a flag"),
        pytest.param(["--cluster-architectures", "amd64"], False, id="another option"),
        pytest.param([], False, id="nothing"),
    ],
)
def test_a_run_knows_whether_somebody_has_stated_the_taints(words, stated):
    """The summary counts what changes for the default toleration alone where nobody has."""
    text = ran(listed(node("a")))[0]
    assert ("tolerate" in dict(load(words, {}, lambda _path: text.encode()).given)) is stated


def test_a_cluster_without_such_taints_tolerates_none():
    """Not even the default, as no node has it."""
    assert ran(listed(node("a")))[0].endswith(
        "  # No node of the list has a taint. Add those of node pools that have no node at the moment.\n"
        "  tolerate: none\n"
    )
    assert (
        "  # None of the nodes' taints is used.\n  # Not used:\n"
        in ran(listed(node("a", "amd64", "gpu:NoExecute")))[0]
    )


@pytest.mark.parametrize("form", ["list", "NodeList", "one node", "yaml", "with pods", "BOM"])
def test_every_form_that_kubectl_prints_is_read(form):
    """JSON or YAML, one node or many, other kinds beside them, kinds left out by the API itself."""
    item = node("a", "arm64")
    bare = {key: value for key, value in item.items() if key not in {"kind", "apiVersion"}}
    content = {
        "list": listed(item),
        "NodeList": listed(bare, kind="NodeList"),
        "one node": json.dumps(item).encode(),
        "yaml": yaml.safe_dump({"kind": "List", "apiVersion": "v1", "items": [item]}).encode(),
        "with pods": listed({"kind": "Pod", "metadata": {"name": "p"}}, item),
        "BOM": b"\xef\xbb\xbf" + listed(item),
    }[form]
    assert loaded(ran(content)[0]).options.cluster_architectures == ("arm64",)


ASK = "pass the output of `kubectl get nodes -o json`"
BAD = [
    pytest.param(b"", "the input holds no object: check what `kubectl get nodes -o json` prints", id="empty"),
    pytest.param(b" \n", "the input holds no object: check what `kubectl get nodes -o json` prints", id="blank"),
    pytest.param(b"\xff", "standard input: document 1, line 1: the byte 0xff is not UTF-8, which Kubernetes requires. Save the file as UTF-8", id="bytes"),
    pytest.param(listed(), "the input holds no object: check what `kubectl get nodes -o json` prints", id="no items"),
    pytest.param(listed({"kind": "Pod"}, {"kind": "Pod"}, 3), f"the list holds no node, but 2 Pod, 1 object without a kind: {ASK}", id="pods"),
    pytest.param(b'{"kind": "Deployment"}', f"the list holds no node, but 1 Deployment: {ASK}", id="another kind"),
    pytest.param(b'{"kind": "List"}', f"the list holds no node, but 1 List: {ASK}", id="a list without items"),
    pytest.param(b"[]", "the input holds no object: check what `kubectl get nodes -o json` prints", id="an empty array"),
    pytest.param(b"error: You must be logged in to the server (Unauthorized)", f"the list holds no node, but 1 object without a kind: {ASK}", id="kubectl's own error"),
    pytest.param(b"NAME   STATUS   ROLES\na      Ready    <none>\n", f"the list holds no node, but 1 object without a kind: {ASK}", id="kubectl's table"),
    pytest.param(
        b"a: [\n",
        "standard input: line 2: this is not YAML: while parsing a flow node did not find expected node content",
        id="neither JSON nor YAML",
    ),
    pytest.param(b"[" * 200_000, "standard input is not JSON at character 2: this is nested too deeply", id="deep JSON"),
    pytest.param(
        b"a: " + b"[" * 200_000,
        "standard input: line 1: collections are nested more than 250 deep",
        id="deep YAML",
    ),
    pytest.param(
        listed(node("w", os="windows"), node("v", labels={})),
        "none of the 2 nodes is a Linux node with a label kubernetes.io/arch: look at `kubectl get nodes -L kubernetes.io/os,kubernetes.io/arch`",
        id="no Linux node",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD)
def test_anything_else_is_one_sentence(content, message):
    """Exit 1, nothing written."""
    out = io.BytesIO()
    with pytest.raises(InvalidInput) as caught:
        run([], io.BytesIO(content), out, io.StringIO(), {})
    assert str(caught.value) == message
    assert out.getvalue() == b""


def test_a_list_that_was_cut_is_one_sentence():
    """JSON is not tried as YAML, whose complaint would mislead."""
    with pytest.raises(InvalidInput, match=r"^standard input ends in the middle of its JSON"):
        run([], io.BytesIO(listed(node("a"))[:-20]), io.BytesIO(), io.StringIO(), {})


@pytest.mark.parametrize(
    "item",
    [
        {"kind": "Node", "metadata": None, "spec": 3, "status": []},
        {"kind": "Node", "metadata": {"name": 3, "labels": ["a"]}, "spec": {"taints": {"a": 1}}},
        {"kind": "Node", "spec": {"taints": [None, 3, {}]}, "status": {"nodeInfo": "x"}},
    ],
)
def test_an_odd_node_does_not_stop_the_others(item):
    """Fields of the wrong type count as missing."""
    assert of(item, node("a")).architectures == (("amd64", 1),)


def test_text_of_the_cluster_cannot_break_out_of_a_comment():
    """Line breaks and escapes become question marks, in the file and on the terminal."""
    item = node("a\nspec: {}\x1b[31m", "amd64", "x\ny=\x1b:NoSchedule")
    out, err = ran(listed(item))
    assert "\x1b" not in out + err
    assert len(err.splitlines()) == 1
    assert loaded(out).options == Options(cluster_architectures=("amd64",), tolerate=())


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["-", "-"], "- is standard input, which can be read only once: name it once"),
        (["/no/such"], "cannot read '/no/such' (No such file or directory): name a readable file"),
        (["--arch-taints", "a"], "there is no flag '--arch-taints': write --arch-taint"),
        (["--arch-taint"], "--arch-taint: has no value: write --arch-taint=KEY"),
        (["-o"], "--output: has no value: write --output=FILE"),
        (
            ["-o", "/no/such/file"],
            "--output: cannot write '/no/such/file' (No such file or directory): name another file",
        ),
        (
            ["--arch-taint", "a=b"],
            (
                "--arch-taint: 'a=b' is not a key of a label or taint: write letters, digits, '-', '_' and '.', "
                "with a DNS name and '/' in front if it has one, as 'example.com/arch'"
            ),
        ),
    ],
    ids=["standard input twice", "no such file", "unknown flag", "no value", "no output", "no folder", "not a key"],
)  # fmt: skip
def test_wrong_usage_is_one_sentence(argv, message):
    """Exit 2."""
    with pytest.raises(UsageError) as caught:
        run(argv, io.BytesIO(listed(node("a"))), io.BytesIO(), io.StringIO(), {})
    assert str(caught.value) == message


def test_a_terminal_is_not_waited_for():
    """Whoever types the bare command is told what to pipe in."""
    with pytest.raises(UsageError, match=r"^standard input is a terminal: pipe "):
        run([], Terminal(), io.BytesIO(), io.StringIO(), {})


def test_files_are_read_and_written(tmp_path):
    """From FILE to --output; standard output stays empty."""
    source, target = tmp_path / "nodes.json", tmp_path / "archfit.yaml"
    source.write_bytes(listed(node("a")))
    assert ran(b"", str(source), "-o", str(target)) == (
        "",
        f"written: {target}; use it with --config or ARCHFIT_CONFIG\n",
    )
    assert target.read_text(encoding="utf-8") == ran(listed(node("a")), "-")[0]


def test_an_existing_file_is_never_overwritten(tmp_path):
    """It may hold the user's changes."""
    target = tmp_path / "archfit.yaml"
    target.write_text("mine")
    with pytest.raises(ArchfitError) as caught:
        run(["--output", str(target)], io.BytesIO(listed(node("a"))), io.BytesIO(), io.StringIO(), {})
    assert (
        str(caught.value)
        == f"--output: '{target}' exists and may hold your changes: name another, or move it"
    )
    assert target.read_text() == "mine"


@pytest.mark.real
def test_the_corpus_cluster_gives_gkes_rule():
    """Real nodes of GKE, three amd64 and three arm64 with GKE's taint."""
    out, err = ran((machine.shared("corpus") / "kubectl" / "nodes.json").read_bytes())
    assert err == ""
    assert loaded(out).options == Options()
    assert "    - arm64    # 3 Linux nodes\n" in out
    assert "    - kubernetes.io/arch=arm64:NoSchedule@arm64    # on 3 nodes\n" in out
