"""Node pools: what Karpenter's, Cluster API's, OpenShift's and GKE's objects say about the nodes that they may bring."""

import io
import json
from typing import Any

import pytest

from archfit.base.errors import InvalidInput
from archfit.cluster import setup as cluster_setup
from archfit.cluster.nodes import Taint, nodes
from archfit.cluster.pools import autoscaler_setup
from archfit.cluster.pools.karpenter import Requirement
from archfit.cluster.pools.object_files import objects_of
from archfit.cluster.pools.pool import Pool
from archfit.cluster.pools.read import of_this_cluster, pools
from archfit.cluster.summary import NodeSummary, UsedTaint, summarised
from archfit.options.layers import load
from machine import ROOT
from program import called

ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
TYPE = "node.kubernetes.io/instance-type"
FAMILY = "karpenter.k8s.aws/instance-family"
LABELS = "capacity.cluster-autoscaler.kubernetes.io/labels"
TAINTS = "capacity.cluster-autoscaler.kubernetes.io/taints"
MAX_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
UNKNOWN = (
    f"nothing says its architecture: give it the annotation {LABELS}: kubernetes.io/arch=arm64, or what it is"
)


def node_pool(
    *requirements: str, version: str = "v1", node_class: str = "", labels: Any = None, **spec: Any
) -> Any:
    """A NodePool; requirements as `key operator value,value`."""
    template: dict[str, Any] = {"requirements": [
        {"key": key, "operator": operator} | ({"values": values[0].split(",")} if values else {})
        for key, operator, *values in (one.split(" ") for one in requirements)
    ]}  # fmt: skip
    if node_class:
        template["nodeClassRef"] = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": node_class}
    for key in ("taints", "startupTaints"):
        if key in spec:
            template[key] = [taint(text) for text in spec.pop(key)]
    return {
        "apiVersion": f"karpenter.sh/{version}",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {"template": {"metadata": {"labels": labels or {}}, "spec": template}} | spec,
    }


def taint(text: str) -> dict[str, str]:
    """`key=value:effect` as Kubernetes writes it."""
    head, _colon, effect = text.rpartition(":")
    key, equals, value = head.partition("=")
    return {"key": key, "effect": effect} | ({"value": value} if equals else {})


def node_class(kind: str = "EC2NodeClass", name: str = "default", **parts: Any) -> Any:
    group = {"EC2NodeClass": "karpenter.k8s.aws/v1", "AKSNodeClass": "karpenter.azure.com/v1beta1"}[kind]
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}} | parts


def images(*architectures: str, key: str = "amis") -> Any:
    """The status of a node class with images of these architectures."""
    return {key: [
        {"id": f"ami-{number}", "requirements": [{"key": ARCH, "operator": "In", "values": [one]}] if one else []}
        for number, one in enumerate(architectures)
    ]}  # fmt: skip


def machines(
    kind: str = "MachineDeployment", group: str = "cluster.x-k8s.io/v1beta1", **annotations: str
) -> Any:
    """Machines in the namespace `fleet`; annotations by `labels`, `taints`, `largest`."""
    keys = {"labels": LABELS, "taints": TAINTS, "largest": MAX_SIZE}
    return {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": "md-0", "namespace": "fleet", "annotations": {keys[key]: text for key, text in annotations.items()}},
        "spec": {"replicas": 2, "template": {"spec": {}}},
    }  # fmt: skip


def compute_class(*rules: Any, **spec: Any) -> Any:
    return {
        "apiVersion": "cloud.google.com/v1",
        "kind": "ComputeClass",
        "metadata": {"name": "web"},
        "spec": {"priorities": list(rules)} | spec,
    }


def only(*values: Any) -> Pool:
    (found,) = pools(values)
    return found


BOTH, NOTHING = ("amd64", "arm64"), "nothing narrows it"
KARPENTER = [
    pytest.param([node_pool()], BOTH, NOTHING, id="no requirement: each architecture of the instance types"),
    pytest.param([node_pool(version="v1beta1")], BOTH, NOTHING, id="v1beta1"),
    pytest.param([node_pool(f"{ARCH} In arm64")], ("arm64",), "its requirements", id="In"),
    pytest.param([node_pool("beta.kubernetes.io/arch In arm64")], ("arm64",), "its requirements", id="the beta key is the same"),
    pytest.param([node_pool(f"{ARCH} In amd64,arm64")], BOTH, "its requirements", id="In, with both"),
    pytest.param([node_pool(f"{ARCH} NotIn arm64")], ("amd64",), "its requirements", id="NotIn"),
    pytest.param([node_pool(f"{ARCH} Exists")], BOTH, "its requirements", id="Exists narrows nothing"),
    pytest.param([node_pool(f"{ARCH} In s390x")], ("s390x",), "its requirements", id="an architecture of another provider"),
    pytest.param([node_pool(f"{ARCH} In amd64,arm64", f"{ARCH} NotIn amd64")], ("arm64",), "its requirements", id="two requirements are both met"),
    pytest.param([node_pool(labels={ARCH: "arm64"})], ("arm64",), "its requirements", id="a label of the template is a requirement"),
    pytest.param([node_pool("karpenter.sh/capacity-type In spot", f"{OS} In linux")], BOTH, NOTHING, id="requirements on other keys narrow nothing"),
    pytest.param([node_pool("karpenter.k8s.aws/instance-generation Gt 2", "karpenter.k8s.aws/instance-cpu Lt 33")], BOTH, NOTHING, id="Gt and Lt of other keys"),
    pytest.param([node_pool("karpenter.k8s.aws/instance-category In c,m,r")], BOTH, NOTHING, id="categories of EC2 have both"),
    pytest.param([node_pool(f"{FAMILY} In m7g,c7gn,r8gd,x2gd,im4gn,is4gen,t4g,hpc7g,g5g,i8g,a1")], ("arm64",), "its instance types", id="families of Graviton"),
    pytest.param([node_pool(f"{FAMILY} In m7i,m7a,c5,g5,g6e,gr6,p4d,inf2,trn1,t3,u7in-16tb,c7i-flex,i4i,d3en,vt1")], ("amd64",), "its instance types", id="families without Graviton"),
    pytest.param([node_pool(f"{TYPE} In p6e-gb200.36xlarge")], ("arm64",), "its instance types", id="Grace in EC2"),
    pytest.param([node_pool(f"{TYPE} In u-p6e-gb200x72")], ("arm64",), "its instance types", id="Grace in an UltraServer"),
    pytest.param([node_pool("eks.amazonaws.com/instance-family In m7g,c8g")], ("arm64",), "its instance types", id="families of EKS Auto Mode"),
    pytest.param([node_pool("eks.amazonaws.com/instance-cpu-manufacturer In intel")], ("amd64",), "its instance types", id="makers of EKS Auto Mode"),
    pytest.param([node_pool("karpenter.k8s.gcp/instance-family In c4a,n4a,a4x")], ("arm64",), "its instance types", id="families of Google Cloud with Arm"),
    pytest.param([node_pool("karpenter.k8s.gcp/instance-family In n2,e2,t2d")], ("amd64",), "its instance types", id="families of Google Cloud without"),
    pytest.param([node_pool(f"{TYPE} In c4a-standard-4,a4x-highgpu-4g")], ("arm64",), "its instance types", id="machine types of Google Cloud"),
    pytest.param([node_pool(f"{TYPE} In p6-b200.48xlarge,u-6tb1.metal")], BOTH, NOTHING, id="a family that nobody can tell"),
    pytest.param([node_pool(f"{TYPE} In p6-b200.48xlarge,m8i-flex.large")], ("amd64",), "its instance types", id="kinds of a family"),
    pytest.param([node_pool(f"{FAMILY} In m9-zz9")], BOTH, NOTHING, id="a kind of a family that nobody can tell"),
    pytest.param([node_pool(f"{FAMILY} In m7g,m7i")], BOTH, "its instance types", id="families of both"),
    pytest.param([node_pool(f"{TYPE} In m7g.large,m7g.metal")], ("arm64",), "its instance types", id="instance types of Graviton"),
    pytest.param([node_pool("beta.kubernetes.io/instance-type In m7g.large")], ("arm64",), "its instance types", id="the beta key of instance types"),
    pytest.param([node_pool(f"{TYPE} In m7g.large,odd-name")], BOTH, NOTHING, id="a name that tells nothing"),
    pytest.param([node_pool(f"{FAMILY} In mac2")], BOTH, NOTHING, id="Macs are no Kubernetes architecture"),
    pytest.param([node_pool(f"{FAMILY} In m7g,m7i", f"{FAMILY} NotIn m7i")], ("arm64",), "its instance types", id="families, less those that are excluded"),
    pytest.param([node_pool(f"{FAMILY} NotIn m7g")], BOTH, NOTHING, id="an excluded family leaves others"),
    pytest.param([node_pool("karpenter.k8s.aws/instance-cpu-manufacturer In aws")], ("arm64",), "its instance types", id="CPUs made by AWS"),
    pytest.param([node_pool("karpenter.k8s.aws/instance-cpu-manufacturer In intel,amd")], ("amd64",), "its instance types", id="CPUs made by Intel and AMD"),
    pytest.param([node_pool(f"{TYPE} In Standard_D4ps_v6,Standard_E8pds_v5,Standard_ND128isr_NDR_GB200_v6")], ("arm64",), "its instance types", id="sizes of Azure with Arm"),
    pytest.param([node_pool("karpenter.azure.com/sku-name In Standard_D4s_v5,Standard_NC24ads_A100_v4")], ("amd64",), "its instance types", id="sizes of Azure without"),
    pytest.param([node_pool("karpenter.azure.com/sku-family In D")], BOTH, NOTHING, id="a family of Azure has both"),
    pytest.param([node_pool(node_class="default"), node_class(status=images("amd64", "amd64"))], ("amd64",), "the images of its node class", id="images for amd64 alone"),
    pytest.param([node_pool(node_class="default"), node_class(status=images("amd64", "arm64"))], BOTH, "the images of its node class", id="images for both"),
    pytest.param([node_pool(node_class="default"), node_class(status=images("amd64", ""))], BOTH, NOTHING, id="an image that says nothing"),
    pytest.param([node_pool(node_class="other"), node_class(status=images("amd64"))], BOTH, NOTHING, id="another node class"),
    pytest.param([node_pool(f"{ARCH} In arm64", node_class="default"), node_class(status=images("amd64", "arm64"))], ("arm64",), "its requirements", id="what narrows is named"),
    pytest.param(
        [node_pool(node_class="default"), node_class(spec={"amiSelectorTerms": [{"alias": "windows2022@latest"}]})],
        ("windows/amd64",), "the images of its node class", id="images of Windows",
    ),
    pytest.param(
        [node_pool(node_class="default"), node_class(spec={"amiFamily": "Windows2019"})],
        ("windows/amd64",), "the images of its node class", id="the family of images",
    ),
    pytest.param([node_pool(f"{OS} In windows", f"{ARCH} In amd64")], ("windows/amd64",), "its requirements", id="a requirement of Windows"),
    pytest.param([node_pool(f"{OS} In linux,windows", f"{ARCH} In amd64")], ("amd64", "windows/amd64"), "its requirements", id="Linux and Windows"),
    pytest.param([node_pool(f"{OS} In linux,windows", f"{ARCH} In amd64", node_class="default"), node_class(spec={"amiSelectorTerms": [{"alias": "al2023@latest"}]})], ("amd64",), "its requirements", id="Linux images settle it"),
    pytest.param([node_pool(replicas=3)], BOTH, NOTHING, id="a static pool"),
    pytest.param([node_pool(limits={"nvidia.com/gpu": 0})], BOTH, NOTHING, id="no GPUs"),
    pytest.param([node_pool(limits={"cpu": "500"}, weight=10)], BOTH, NOTHING, id="limits and weight"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "architectures", "basis"), KARPENTER)
def test_a_node_pool_brings_what_its_object_allows(values, architectures, basis):
    found = only(*values)
    assert (found.architectures, found.basis, found.problem) == (architectures, basis, "")


PROBLEMS = [
    pytest.param([node_pool(f"{ARCH} In amd64", f"{ARCH} In arm64")], f"no node can meet its requirements on {ARCH}: In [amd64] and In [arm64]", id="two architectures at once"),
    pytest.param([node_pool(f"{ARCH} In amd64", labels={ARCH: "arm64"})], f"no node can meet its requirements on {ARCH}: In [amd64] and In [arm64]", id="a label against a requirement"),
    pytest.param([node_pool("zone In a", "zone NotIn a")], "no node can meet its requirements on zone: In [a] and NotIn [a]", id="another key"),
    pytest.param([node_pool("cpu Gt 8", "cpu Lt 9")], "no node can meet its requirements on cpu: Gt [8] and Lt [9]", id="no number between"),
    pytest.param([node_pool("cpu Gt many")], "no node can meet its requirements on cpu: Gt [many]", id="no number"),
    pytest.param([node_pool(f"{ARCH} DoesNotExist")], "it allows no architecture: its requirements allow none", id="no architecture"),
    pytest.param([node_pool(f"{ARCH} Gt 3")], "it allows no architecture: its requirements allow none", id="an architecture is no number"),
    pytest.param([node_pool(f"{ARCH} NotIn amd64,arm64")], "it allows no architecture: its requirements allow none", id="all are excluded"),
    pytest.param([node_pool(f"{ARCH} Near arm64")], f"its requirement on {ARCH} has an operator that Karpenter does not know: Near [arm64]", id="an unknown operator"),
    pytest.param([node_pool(f"{ARCH} In arm64", f"{FAMILY} In m7i")], "it allows no architecture: its requirements allow arm64; its instance types allow amd64", id="instance types of another architecture"),
    pytest.param([node_pool(f"{ARCH} In arm64", node_class="default"), node_class(status=images("amd64"))], "it allows no architecture: its requirements allow arm64; the images of its node class allow amd64", id="images of another architecture"),
    pytest.param([node_pool(f"{ARCH} In arm")], None, id="a 32-bit one is a known one"),
    pytest.param([node_pool(f"{ARCH} In x86_64")], "it brings no node that archfit knows: linux on x86_64", id="a value that no node has"),
    pytest.param([node_pool(f"{OS} In windows", node_class="default"), node_class(spec={"amiFamily": "AL2023"})], "it brings no node that archfit knows: no operating system on amd64 and arm64", id="Windows from images of Linux"),
    pytest.param([node_pool(limits={"cpu": 0})], "its limit of cpu is 0, so it brings no node", id="switched off by a limit"),
    pytest.param([node_pool(limits={"memory": "0Gi"})], "its limit of memory is 0, so it brings no node", id="switched off by memory"),
    pytest.param([node_pool(limits={"cpu": "lots"})], "its limit of cpu is 'lots', which is no quantity", id="a limit that is none"),
    pytest.param([node_pool(replicas=0)], "it has 0 replicas, so it brings no node", id="no replicas"),
    pytest.param([{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "spec": {"template": 3, "limits": [], "weight": "heavy"}}], None, id="fields of the wrong type"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "problem"), PROBLEMS)
def test_a_pool_that_can_bring_nothing_says_why(values, problem):
    found = only(*values)
    assert found.problem == (problem or "")
    assert bool(found.architectures) is (problem is None)


def test_what_else_a_node_pool_says():
    """Taints, weight and limits; a startup taint is none that a pod meets."""
    value = node_pool(f"{ARCH} In arm64", taints=["arch=arm64:NoSchedule", "gpu:NoExecute"], startupTaints=["node.cilium.io/agent-not-ready:NoExecute"],
                      weight=10, limits={"cpu": "500", "memory": "1000Gi", "nodes": "20"})  # fmt: skip
    found = only(value)
    assert found.taints == (Taint("arch", "arm64", "NoSchedule"), Taint("gpu", "", "NoExecute"))
    assert found.title == "NodePool default"
    assert (
        found.text
        == "arm64 (its requirements), limit 500 CPU, limit 1000Gi memory, limit 20 nodes, weight 10"
    )
    assert not only(node_pool(replicas=1)).scales


@pytest.mark.parametrize(
    ("operator", "values", "allowed"),
    [
        ("In", ("5",), "5"),
        ("NotIn", ("5",), "4 6 x"),
        ("Exists", (), "4 5 6 x"),
        ("DoesNotExist", (), ""),
        ("Gt", ("5",), "6"),
        ("Gte", ("5",), "5 6"),
        ("Lt", ("5",), "4"),
        ("Lte", ("5",), "4 5"),
    ],
)
def test_operators_are_karpenters(operator, values, allowed):
    """Values that are no numbers are within no bounds."""
    assert (
        " ".join(one for one in ("4", "5", "6", "x") if Requirement("key", operator, values).allows(one))
        == allowed
    )


ARM = f"{ARCH}=arm64"
MACHINES = [
    pytest.param([machines(labels=ARM)], ("arm64",), f"by {LABELS}", "", id="the autoscaler's label"),
    pytest.param([machines(labels=f"a=b, {ARM} ,odd")], ("arm64",), f"by {LABELS}", "", id="among others"),
    pytest.param([machines(labels="beta.kubernetes.io/arch=amd64")], ("amd64",), f"by {LABELS}", "", id="the beta label"),
    pytest.param([machines(labels=f"{ARCH}=amd64,{OS}=windows")], ("windows/amd64",), f"by {LABELS}", "", id="Windows"),
    pytest.param([machines(labels=f"{ARCH}=aarch64")], ("arm64",), f"by {LABELS}", "", id="another spelling"),
    pytest.param([machines("MachinePool", labels=ARM)], ("arm64",), f"by {LABELS}", "", id="MachinePool"),
    pytest.param([machines("MachineSet", "machine.openshift.io/v1beta1", labels=ARM)], ("arm64",), f"by {LABELS}", "", id="OpenShift"),
    pytest.param(
        [machines("MachineSet", "machine.openshift.io/v1beta1") | {"spec": {"replicas": 1, "template": {"spec": {"metadata": {"labels": {ARCH: "arm64"}}}}}}],
        ("arm64",), "by the labels of its nodes", "", id="labels of OpenShift's nodes",
    ),
    pytest.param(
        [machines() | {"spec": {"template": {"spec": {"infrastructureRef": {"kind": "AWSMachineTemplate", "name": "arm"}}}}},
         {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSMachineTemplate", "metadata": {"name": "arm"},
          "status": {"nodeInfo": {"architecture": "arm64", "operatingSystem": "linux"}}}],
        ("arm64",), "by its machine template", "", id="the machine template",
    ),
    pytest.param([machines()], (), None, UNKNOWN, id="nothing says it"),
    pytest.param([machines() | {"spec": {"template": {"metadata": {"labels": {ARCH: "arm64"}}}}}], (), None, UNKNOWN, id="labels of machines are not those of nodes"),
    pytest.param([machines(labels=f"{ARCH}=wasm")], (), None, "it brings no node that archfit knows:  wasm", id="no architecture of a node"),
    pytest.param([machines(labels=ARM, largest="0")], (), None, "it has 0 nodes at most, so it brings none", id="no node at most"),
    pytest.param([machines(labels=ARM) | {"spec": {"replicas": 0}}], (), None, "it has 0 nodes at most, so it brings none", id="no node, and nothing scales it"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "architectures", "basis", "problem"), MACHINES)
def test_machines_bring_what_is_written_on_them(values, architectures, basis, problem):
    """As cluster-autoscaler reads them; without a word nothing is known."""
    found = only(*values)
    assert (found.architectures, found.problem) == (architectures, problem)
    assert basis is None or found.basis == basis


def test_what_else_machines_say():
    """The annotation's taint wins over the template's with its key and effect; the name to cluster-autoscaler."""
    value = machines(labels=ARM, taints="arch=arm64:NoSchedule,spot:NoExecute,odd", largest="5")
    value["spec"] |= {
        "replicas": 0,
        "template": {"spec": {"taints": [taint("arch=old:NoSchedule"), taint("own:NoSchedule")]}},
    }
    found = only(value)
    assert found.taints == (
        Taint("arch", "arm64", "NoSchedule"),
        Taint("own", "", "NoSchedule"),
        Taint("spot", "", "NoExecute"),
    )
    assert found.text == f"arm64 (by {LABELS}), limit 5 nodes"
    assert (found.title, found.group) == ("MachineDeployment fleet/md-0", "MachineDeployment/fleet/md-0")
    assert only(machines(labels=ARM)).group == ""


def test_a_machine_set_of_a_machine_deployment_is_no_pool_of_its_own():
    value = machines("MachineSet", labels=ARM)
    value["metadata"]["ownerReferences"] = [{"kind": "MachineDeployment", "name": "md-0", "controller": True}]
    assert pools([value]) == []


@pytest.mark.parametrize(
    ("clusters", "problem"),
    [
        pytest.param(["prod"], "", id="its nodes"),
        pytest.param(["test"], "it is of the cluster prod, and the nodes are of test", id="nodes of another cluster"),
        pytest.param([""], "it is of the cluster prod, and no node says that it belongs to it", id="nodes of no cluster"),
    ],
)  # fmt: skip
def test_machines_of_another_cluster_do_not_count(clusters, problem):
    """A management cluster holds those of many."""
    value = machines(labels=ARM)
    value["spec"]["clusterName"] = "prod"
    (found,) = of_this_cluster(pools([value]), {name for name in clusters if name})
    assert (found.problem, found.architectures) == (problem, () if problem else ("arm64",))


ARM_TAINT = Taint(ARCH, "arm64", "NoSchedule")
CLASSES = [
    pytest.param(compute_class({"machineFamily": "c4a"}), [(("arm64",), "machine family c4a", (ARM_TAINT,))], id="Axion"),
    pytest.param(
        compute_class({"machineFamily": "N4A"}, {"machineType": "t2a-standard-4"}, {"machineFamily": "n4"}, {"machineType": "n2-standard-32"}),
        [(("amd64",), "machine family n4, n2", ()), (("arm64",), "machine family n4a, t2a", (ARM_TAINT,))],
        id="both: a pool for each",
    ),
    pytest.param(
        compute_class({"spot": True}, priorityDefaults={"machineFamily": "c4a"}),
        [(("arm64",), "machine family c4a", (ARM_TAINT,))],
        id="a family by default",
    ),
    pytest.param(
        compute_class({"machineFamily": "c4a"}, nodePoolConfig={"taintConfig": {"architectureTaintBehavior": "NONE"}, "taints": [taint("team=a:NoSchedule")]}),
        [(("arm64",), "machine family c4a", (Taint("team", "a", "NoSchedule"),))],
        id="without GKE's taint",
    ),
    pytest.param(
        compute_class({"machineFamily": "c4a"}, {"machineFamily": "q9"}),
        [((), "archfit does not know the architecture of machine family q9", ()), (("arm64",), "machine family c4a", (ARM_TAINT,))],
        id="a family that archfit does not know",
    ),
    pytest.param(
        compute_class({"nodepools": ["arm"]}, {"gpu": {"type": "nvidia-l4"}}, priorityDefaults={"machineFamily": "c4a"}),
        [((), "it names no machine family, so nothing says its architecture", ())],
        id="node pools and GPUs by name take no default",
    ),
    pytest.param(compute_class(), [((), "it names no machine family, so nothing says its architecture", ())], id="no rule"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), CLASSES)
def test_a_compute_class_brings_the_architectures_of_its_families(value, expected):
    """With the taint that GKE puts on Arm nodes."""
    assert [(one.architectures, one.basis or one.problem, one.taints) for one in pools([value])] == expected


@pytest.mark.parametrize(
    "value",
    [
        {"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "NodePool", "spec": {"arch": "arm64"}},
        {"apiVersion": "container.cnrm.cloud.google.com/v1beta1", "kind": "ContainerNodePool"},
        {"apiVersion": "v1", "kind": "Node"},
        {"kind": "NodePool"},
        {},
    ],
    ids=["HyperShift", "Config Connector", "a node", "no group", "nothing"],
)
def test_other_objects_are_no_pools(value):
    assert pools([value]) == []


def a_node(name: str, arch: str, *taints: str) -> Any:
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {ARCH: arch}},
        "spec": {"taints": [taint(one) for one in taints]},
    }


def summary(*values: Any, keys: tuple[str, ...] = ()) -> NodeSummary:
    return summarised(nodes(values), keys, pools(values))


SUMMARIES = [
    pytest.param(
        [a_node("a", "amd64"), node_pool(f"{ARCH} In arm64", taints=["arch=arm64:NoSchedule"])],
        (("amd64", 1), ("arm64", 0)),
        (UsedTaint(Taint("arch", "arm64", "NoSchedule"), ("arm64",), 0, ("NodePool default",)),),
        (),
        id="a pool without a node counts, with its taint",
    ),
    pytest.param(
        [a_node("a", "arm64", "arch=arm64:NoSchedule"), node_pool(taints=["arch=arm64:NoSchedule"])],
        (("amd64", 0), ("arm64", 1)),
        (),
        (("taint arch=arm64:NoSchedule", "a pool that carries it may bring amd64 (on node a and NodePool default)"),),
        id="a pool that may bring another architecture with the taint",
    ),
    pytest.param(
        [a_node("a", "amd64"), compute_class({"machineFamily": "c4a"}, {"machineFamily": "n4"})],
        (("amd64", 1), ("arm64", 0)),
        (UsedTaint(ARM_TAINT, ("arm64",), 0, ("ComputeClass web",)),),
        (),
        id="GKE's taint on a class",
    ),
    pytest.param(
        [a_node("a", "amd64"), node_pool(taints=["spot=true:NoSchedule"])],
        (("amd64", 1), ("arm64", 0)),
        (),
        (("taint spot=true:NoSchedule", "not a taint of architectures; if it is one, pass --arch-taint with its key (on NodePool default)"),),
        id="another taint of a pool",
    ),
    pytest.param(
        [a_node("a", "amd64"), node_pool(f"{ARCH} In arm64", startupTaints=["arch=arm64:NoSchedule"])],
        (("amd64", 1), ("arm64", 0)),
        (),
        (),
        id="a startup taint is never tolerated",
    ),
    pytest.param([a_node("a", "amd64"), machines()], (("amd64", 1),), (), (("MachineDeployment fleet/md-0", UNKNOWN),), id="a pool of which nothing is known"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "architectures", "rules", "unused"), SUMMARIES)
def test_pools_count_by_the_rules_of_nodes(values, architectures, rules, unused):
    """What a pool may bring is the cluster's, and its taints become rules where they would on nodes."""
    found = summary(*values)
    assert (found.architectures, found.rules, found.unused) == (architectures, rules, unused)


def test_a_key_that_only_a_pool_has():
    """--arch-taint counts for pools too; a key that nobody has is said."""
    pool = node_pool(f"{ARCH} In arm64", taints=["graviton=yes:NoSchedule"])
    found = summary(a_node("a", "amd64"), pool, keys=("graviton", "nobody"))
    assert found.rules == (
        UsedTaint(Taint("graviton", "yes", "NoSchedule"), ("arm64",), 0, ("NodePool default",)),
    )
    assert found.unused == (("--arch-taint nobody", "no node and no pool carries such a taint"),)


CLUSTERS = {
    "karpenter": (
        (("amd64", 1), ("arm64", 0)),
        (("arch=arm64:NoSchedule@arm64", ("NodePool graviton",)),),
        {
            "NodePool default": "amd64 and arm64 (the images of its node class), limit 500 CPU, weight 10",
            "NodePool graviton": "arm64 (its instance types), limit 100 CPU",
        },
        ("NodePool old", "taint CriticalAddonsOnly=true:NoSchedule"),
    ),
    "cluster-api": (
        (("amd64", 1), ("arm64", 0)),
        (("kubernetes.io/arch=arm64:NoSchedule@arm64", ("MachineDeployment fleet/prod-arm",)),),
        {
            "MachineDeployment fleet/prod-arm": f"arm64 (by {LABELS}), limit 5 nodes",
            "MachineDeployment fleet/prod-x86": f"amd64 (by {LABELS}), limit 10 nodes",
        },
        ("MachineDeployment fleet/test-s390x", "taint node-role.kubernetes.io/control-plane:NoSchedule"),
    ),
    "openshift": (
        (("amd64", 1), ("arm64", 0)),
        (("arch=arm64:NoSchedule@arm64", ("MachineSet openshift-machine-api/shop-worker-arm-us-east-1a",)),),
        {
            "MachineSet openshift-machine-api/shop-worker-arm-us-east-1a": f"arm64 (by {LABELS}), limit 4 nodes",
            "MachineSet openshift-machine-api/shop-worker-us-east-1a": f"amd64 (by {LABELS})",
        },
        (),
    ),
    "gke": (
        (("amd64", 1), ("arm64", 0)),
        (("kubernetes.io/arch=arm64:NoSchedule@arm64", ("ComputeClass web",)),),
        {"ComputeClass web": "arm64 (machine family n4a, c4a)"},
        (),
    ),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_whole_clusters(name):
    """Objects in the shape in which such clusters store them."""
    architectures, rules, texts, unused = CLUSTERS[name]
    file = ROOT / "fixtures" / "pools" / f"{name}.yaml"
    values = objects_of([str(file)], io.BytesIO(), "kubectl get nodes")
    those = nodes(values)
    found = summarised(those, (), of_this_cluster(pools(values), {node.cluster for node in those}))
    assert found.architectures == architectures
    assert tuple((rule.text, rule.pools) for rule in found.rules) == rules
    assert {pool.title: pool.text for pool in found.pools} == texts
    assert tuple(subject for subject, _reason in found.unused) == unused


def test_the_file_names_the_pools_behind_each_value(tmp_path):
    """Whatever the order of files and objects; standard input is one of them. The page has the whole file."""
    values = [
        a_node("a", "amd64"),
        node_pool(f"{ARCH} In arm64", taints=["arch=arm64:NoSchedule"], limits={"cpu": 500}, weight=10),
    ]
    files = []
    for value in values:
        files.append(tmp_path / f"{value['kind']}.json")
        files[-1].write_text(json.dumps(value))
    ran = called(cluster_setup.set_up_cluster, [str(files[0]), str(files[1])])
    written = ran.ok()
    assert b"  #   NodePool default: arm64 (its requirements), limit 500 CPU, weight 10\n" in written
    assert b"    - arm64    # NodePool default\n" in written
    assert b"    - arch=arm64:NoSchedule@arm64    # on NodePool default\n" in written
    assert ran.stderr == ""
    again = called(cluster_setup.set_up_cluster, [str(files[1]), "-"], files[0].read_bytes())
    assert again.ok() == written


def test_an_object_of_several_files_counts_once():
    """As `get nodes,nodepools` beside `get nodes` gives it."""
    file = str(ROOT / "fixtures" / "pools" / "karpenter.yaml")
    assert objects_of([file, file], io.BytesIO(), "") == objects_of([file], io.BytesIO(), "")


@pytest.mark.parametrize("kind", [{}, [], 1, None], ids=str)
def test_an_object_whose_kind_is_no_text_is_none_of_these(kind):
    odd = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}}
    content = json.dumps({"apiVersion": "v1", "kind": "List", "items": [a_node("a", "amd64"), odd]}).encode()
    assert b"- amd64    # 1 Linux node" in called(cluster_setup.set_up_cluster, [], content).ok()


@pytest.mark.parametrize(
    ("command", "more"),
    [(cluster_setup.set_up_cluster, ({},)), (autoscaler_setup.set_up_autoscaler, ())],
    ids=["cluster", "autoscaler"],
)
def test_the_page_shows_what_is_written(command, more):
    out = io.BytesIO()
    assert (
        command(
            [str(ROOT / "fixtures" / "pools" / "karpenter.yaml")], io.BytesIO(), out, io.StringIO(), *more
        )
        == 0
    )
    assert out.getvalue().decode() in (ROOT / "docs" / "clouds.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.yaml", "kind: Node\n---\na: [\n", ": line 4: this is not YAML"),
        ("x.json", "[{", " ends in the middle of its JSON"),
    ],
)
def test_a_mistake_in_one_of_several_files_names_it(tmp_path, name, content, message):
    good, bad = tmp_path / "nodes.json", tmp_path / name
    good.write_text(json.dumps(a_node("a", "amd64")))
    bad.write_text(content)
    with pytest.raises(InvalidInput) as caught:
        cluster_setup.set_up_cluster([str(good), str(bad)], io.BytesIO(), io.BytesIO(), io.StringIO(), {})
    assert str(caught.value).startswith(f"{bad}{message}")


def test_text_of_a_pool_cannot_break_out_of_a_comment():
    """Line breaks and escapes become question marks, in the file and on the terminal."""
    value = node_pool(f"{ARCH} In arm64", f"{OS}\n\x1b In a\nspec:", limits={"cpu": "5\n\x1b"})
    value["metadata"]["name"] = "x\nspec: {}\x1b"
    for one in (
        value,
        node_pool(f"{ARCH} In arm64", limits={"cpu": "5\n\x1b"}),
        node_pool(f"{ARCH} In x\n\x1b"),
    ):
        content = json.dumps({"kind": "List", "items": [a_node("a", "amd64"), one]}).encode()
        ran = called(cluster_setup.set_up_cluster, [], content)
        assert "\x1b" not in ran.ok().decode() + ran.stderr
        assert load(["--config", "archfit.yaml"], {}, lambda _path, ran=ran: ran.stdout)
