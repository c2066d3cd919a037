"""`archfit setup autoscaler`: weights of NodePools, and priorities of cluster-autoscaler's node groups."""

import io
import json
from typing import Any

import pytest
import yaml

from archfit.base.errors import ArchfitError, InvalidInput, UsageError
from archfit.cluster.pools.autoscaler import node_groups, priorities, weights
from archfit.cluster.pools.autoscaler_setup import set_up_autoscaler as run
from archfit.cluster.pools.pool import Pool

AMD64, ARM64, BOTH = ("amd64",), ("arm64",), ("amd64", "arm64")


def pool(name: str, architectures: tuple[str, ...], weight: int = 0, **more: Any) -> Pool:
    return Pool("NodePool", name, architectures, weight=weight, **more)


SEVERAL = (
    "NodePool b may bring amd64 and arm64: no weight chooses between them. Narrow it by a requirement on "
    "kubernetes.io/arch, or state `prefer`"
)
WEIGHTS = [
    pytest.param([pool("x", AMD64), pool("a", ARM64)], {"a": 10}, [], id="no weights yet"),
    pytest.param([pool("x", AMD64, 50), pool("a", ARM64)], {"a": 60}, [], id="heavier than the heaviest"),
    pytest.param([pool("x", AMD64, 50), pool("a", ARM64, 20), pool("c", ARM64, 30)], {"a": 60, "c": 70}, [], id="their order stays"),
    pytest.param([pool("x", AMD64, 95), pool("a", ARM64)], {"a": 100}, [], id="up to 100"),
    pytest.param([pool("x", AMD64, 95), pool("a", ARM64), pool("c", ARM64, 3)], {"a": 97, "c": 100}, [], id="up to 100, in order"),
    pytest.param([pool("x", AMD64, 100), pool("a", ARM64)], {}, ["weights end at 100, and NodePool x has 100: lower it first"], id="no weight is heavier"),
    pytest.param([pool("x", AMD64, 5), pool("a", ARM64, 6)], {}, [], id="it is so already"),
    pytest.param([pool("x", AMD64, 5), pool("a", ARM64, 5)], {"a": 15}, [], id="equal weights decide nothing"),
    pytest.param([pool("b", BOTH, 30), pool("a", ARM64)], {"a": 40}, [SEVERAL], id="a pool of both is one of the others"),
    pytest.param([pool("b", BOTH)], {}, [SEVERAL, "no NodePool brings arm64 alone, so no weight decides: add one with the requirement kubernetes.io/arch In [arm64]"], id="only a pool of both"),
    pytest.param([pool("x", AMD64)], {}, ["no NodePool brings arm64 alone, so no weight decides: add one with the requirement kubernetes.io/arch In [arm64]"], id="no pool of it"),
    pytest.param([pool("a", ARM64)], {}, [], id="no other pool"),
    pytest.param([pool("x", AMD64), pool("a", ARM64), pool("s", ARM64, scales=False)], {"a": 10}, [], id="a static pool has no weight"),
    pytest.param([pool("x", AMD64), pool("a", ARM64), pool("p", ARM64, problem="..")], {"a": 10}, [], id="a pool that brings nothing"),
    pytest.param([], {}, [], id="no pool"),
]  # fmt: skip


@pytest.mark.parametrize(("pools", "heavier", "messages"), WEIGHTS)
def test_pools_of_the_architecture_get_heavier_than_all_others(pools, heavier, messages):
    """As little as that takes; what was written is enough a second time."""
    assert weights(pools, "arm64") == (heavier, messages)
    written = [one.replace(weight=heavier.get(one.name, one.weight)) for one in pools]
    assert weights(written, "arm64") == ({}, messages)


def node(name: str, arch: str, **labels: str) -> Any:
    keys = {
        "eks": "eks.amazonaws.com/nodegroup",
        "aks": "kubernetes.azure.com/agentpool",
        "gke": "cloud.google.com/gke-nodepool",
    }
    return {
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/arch": arch} | {keys[key]: text for key, text in labels.items()},
        },
    }


GROUPS = [
    pytest.param([node("ip-10-0-0-1", "arm64", eks="arm.a")], {r"^eks-arm\.a-[0-9a-f-]+$": {*ARM64}}, id="EKS"),
    pytest.param([node("aks-arm-12345678-vmss000000", "arm64", aks="arm"), node("aks-arm-12345678-vmss00000a", "arm64", aks="arm")], {"^aks-arm-12345678-vmss$": {*ARM64}}, id="AKS"),
    pytest.param([node("a", "amd64", eks="g"), node("b", "arm64", eks="g")], {"^eks-g-[0-9a-f-]+$": {*BOTH}}, id="a group of two architectures"),
    pytest.param([node("gke-c-arm-1-x", "arm64", gke="arm")], {}, id="GKE sets its expander itself"),
    pytest.param([node("a", "arm64"), node("b", "", eks="g"), {"kind": "Node"}], {}, id="nodes that say too little"),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "groups"), GROUPS)
def test_node_groups_are_known_by_their_nodes(nodes, groups):
    assert node_groups([], nodes) == groups


def test_node_groups_of_machines_are_named_as_cluster_autoscaler_does():
    """Kind, namespace, name; a dot is a dot."""
    one = Pool("MachineDeployment", "fleet/a.b", ARM64, group="MachineDeployment/fleet/a.b")
    assert node_groups([one, one.replace(group=""), one.replace(problem="..")], []) == {
        r"^MachineDeployment/fleet/a\.b$": {*ARM64}
    }


X, A = {"^x$": {*AMD64}}, {"^a$": {*ARM64}}
OLD = "10:\n  - .*\n50:\n  - ^x$"
PRIORITIES = [
    pytest.param(X | A, "", "10:\n  - '.*'\n20:\n  - '^a$'\n", [], id="none yet"),
    pytest.param(X | A, OLD, f"{OLD}\n60:\n  - '^a$'\n", [], id="above what is there, which stays"),
    pytest.param(X | A, "10:\n  - .*\n20:\n  - ^a$\n  - own\n", None, [], id="it is so already"),
    pytest.param(X, "", None, [], id="no group of it"),
    pytest.param(A, "", None, [], id="no other group"),
    pytest.param(A | {"^b$": {*BOTH}}, "", "10:\n  - '.*'\n20:\n  - '^a$'\n", [], id="a group of both is one of the others"),
    pytest.param(X | A, "{10: [.*]}", None, ["cluster-autoscaler-priority-expander: data.priorities is no block of numbers with lists below them: correct it first"], id="flow style"),
    pytest.param(X | A, "high:\n  - .*\n", None, ["cluster-autoscaler-priority-expander: data.priorities is no block of numbers with lists below them: correct it first"], id="a priority that is no number"),
    pytest.param(X | A, "10: [\n", None, ["cluster-autoscaler-priority-expander: data.priorities is not YAML (did not find expected node content): fix it"], id="no YAML"),
    pytest.param(X | A, "\ud800", None, ["cluster-autoscaler-priority-expander: data.priorities is not YAML (surrogates not allowed): fix it"], id="half of a character"),
]  # fmt: skip


@pytest.mark.parametrize(("groups", "before", "after", "messages"), PRIORITIES)
def test_groups_of_the_architecture_get_the_highest_priority(groups, before, after, messages):
    text, said = priorities(groups, "arm64", before)
    assert (text, said) == (before if after is None else after, messages)
    assert priorities(groups, "arm64", text) == (text, messages)
    if not messages and text:
        assert all(isinstance(key, int) for key in yaml.safe_load(text))


def node_pool(name: str, arch: str, **spec: Any) -> Any:
    requirements = [{"key": "kubernetes.io/arch", "operator": "In", "values": [arch]}]
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name, "uid": "1"},
            "spec": spec | {"template": {"spec": {"requirements": requirements}}}}  # fmt: skip


def content(*items: Any) -> bytes:
    return json.dumps({"kind": "List", "items": items}).encode()


def ran(data: bytes, *argv: str) -> tuple[str, str]:
    out, err = io.BytesIO(), io.StringIO()
    assert run(argv, io.BytesIO(data), out, err) == 0
    return out.getvalue().decode(), err.getvalue()


CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "cluster-autoscaler-priority-expander", "namespace": "scaling"},
    "data": {"priorities": "10:\n  - .*\n"},
}
NODES = [node("a", "amd64", eks="x86"), node("b", "arm64", eks="arm")]


def test_the_diff_names_objects_and_shows_what_changes():
    items = [node_pool("x86", "amd64", weight=20), node_pool("arm", "arm64", weight=5), *NODES, CONFIG_MAP]
    assert ran(content(*items)) == (
        "--- a/NodePool/arm\n"
        "+++ b/NodePool/arm\n"
        "@@ -3,4 +3,4 @@\n"
        " metadata:\n"
        "   name: arm\n"
        " spec:\n"
        "-  weight: 5\n"
        "+  weight: 30\n"
        "--- a/ConfigMap/scaling/cluster-autoscaler-priority-expander\n"
        "+++ b/ConfigMap/scaling/cluster-autoscaler-priority-expander\n"
        "@@ -7,3 +7,5 @@\n"
        "   priorities: |\n"
        "     10:\n"
        "       - .*\n"
        "+    20:\n"
        "+      - '^eks-arm-[0-9a-f-]+$'\n",
        "2 objects would change\n",
    )


def test_the_manifests_hold_the_fields_that_change_alone(tmp_path):
    """So that a server-side apply takes no other field; a ConfigMap that is not there is written whole."""
    target = tmp_path / "first.yaml"
    out, err = ran(content(node_pool("x86", "amd64"), node_pool("arm", "arm64"), *NODES), "-o", str(target))
    assert out == ""
    assert err == f"written: {target}; look at it, then kubectl apply --server-side -f {target}\n"
    assert list(yaml.safe_load_all(target.read_text())) == [
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "arm"},
            "spec": {"weight": 10},
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"},
            "data": {"priorities": "10:\n  - '.*'\n20:\n  - '^eks-arm-[0-9a-f-]+$'\n"},
        },
    ]
    with pytest.raises(ArchfitError, match="exists and may hold your changes"):
        ran(content(node_pool("x86", "amd64"), node_pool("arm", "arm64")), "-o", str(target))


def test_other_architectures_and_namespaces():
    """aarch64 is arm64; the pools of amd64 may come first, too."""
    items = [node_pool("x86", "amd64"), node_pool("arm", "arm64"), *NODES]
    out = ran(content(*items), "--architecture", "amd64", "--namespace", "scaling")[0]
    assert "+++ b/NodePool/x86\n" in out
    assert "+++ b/ConfigMap/scaling/cluster-autoscaler-priority-expander\n" in out
    assert ran(content(*items), "--architecture", "aarch64") == ran(content(*items))


def test_what_is_so_already_writes_nothing(tmp_path):
    items = content(node_pool("x86", "amd64"), node_pool("arm", "arm64", weight=1))
    assert ran(items) == ("", "nothing to change\n")
    assert ran(items, "-o", str(tmp_path / "first.yaml")) == ("", "nothing to change\n")
    assert not list(tmp_path.iterdir())


def test_a_pool_that_brings_nothing_is_named():
    odd = node_pool("odd", "arm64", limits={"cpu": 0})
    assert ran(content(node_pool("x86", "amd64"), odd))[1] == (
        "no NodePool brings arm64 alone, so no weight decides: add one with the requirement kubernetes.io/arch In [arm64]\n"
        "not used: NodePool odd: its limit of cpu is 0, so it brings no node\n"
        "nothing to change\n"
    )


@pytest.mark.parametrize(
    ("data", "argv", "error", "message"),
    [
        (content({"kind": "Pod"}), (), InvalidInput, "there is no pool in the input, but Pod: pass NodePools, MachineDeployments or nodes of EKS or AKS, as `kubectl get` prints them"),
        (content(*NODES), ("--architecture", "arm65"), UsageError, "--architecture: 'arm65' is not known: write one of 386, amd64, arm, arm64, loong64, mips, mips64, mips64le, mipsle, ppc64, ppc64le, riscv64, s390x"),
        (content(*NODES), ("--namespace", "No"), UsageError, "--namespace: 'No' is not a name in Kubernetes: write lower-case letters, digits and -"),
    ],
    ids=["pods", "no architecture", "no namespace"],
)  # fmt: skip
def test_wrong_input_is_one_sentence(data, argv, error, message):
    out = io.BytesIO()
    with pytest.raises(error) as caught:
        run(argv, io.BytesIO(data), out, io.StringIO())
    assert str(caught.value) == message
    assert out.getvalue() == b""
