"""Pods that name no operating system, in a cluster with Windows nodes."""

import pytest

from archfit.options.settings import Options, Toleration
from pod_decisions import GKE, decided, one, requiring, term, terms_of, using

OS, ARCH = "kubernetes.io/os", "kubernetes.io/arch"
BOTH = ("amd64", "arm64", "windows/amd64")
ALL = (*BOTH, "windows/arm64")
ON_LINUX, ON_WINDOWS = (OS, "In", ["linux"]), (OS, "In", ["windows"])
TAINT = (("windows", Toleration("node.kubernetes.io/os", "Equal", "windows", "NoSchedule")),)
APART = ("arm64", "windows/amd64")
POOL, ZONE, NOT_ARM = ("pool", "In", ["general"]), ("zone", "In", ["a"]), (ARCH, "NotIn", ["arm64"])
VIRTUAL = {"key": "virtual-kubelet.io/provider", "operator": "Exists"}


def on(*names: str) -> tuple[str, str, list[str]]:
    return ARCH, "In", list(names)


@pytest.mark.parametrize(
    ("platforms", "cluster", "fields", "after"),
    [
        pytest.param("amd64 arm64", BOTH, {}, [term(ON_LINUX)], id="for-linux-alone"),
        pytest.param("amd64", BOTH, {}, [term(ON_LINUX, on("amd64"))], id="for-linux-of-one-architecture"),
        pytest.param("amd64 arm64 windows/amd64", BOTH, {}, None, id="for-all-pairs"),
        pytest.param("amd64 arm64", ("amd64", "arm64"), {}, None, id="no-windows-nodes"),
        pytest.param(
            "amd64 windows/amd64", BOTH, {}, [term(on("amd64"))], id="one-list-of-architectures-fits-both"
        ),
        pytest.param(
            "arm64 windows/amd64", BOTH, {},
            [term(ON_LINUX, on("arm64")), term(ON_WINDOWS)], id="a-term-for-each-system",
        ),
        pytest.param(
            "amd64 arm64 windows/amd64", ALL, {},
            [term(ON_LINUX), term(ON_WINDOWS, on("amd64"))], id="windows-nodes-that-lack-a-build",
        ),
        pytest.param("amd64 arm64", BOTH, {"nodeSelector": {OS: "linux"}}, None, id="nodeSelector-names-it"),
        pytest.param(
            "amd64", BOTH, {"nodeSelector": {ARCH: "amd64"}}, [term(ON_LINUX)], id="beside-a-pin-of-both-systems"
        ),
        pytest.param("arm64", BOTH, {"nodeSelector": {ARCH: "arm64"}}, None, id="a-pin-that-no-windows-node-meets"),
        pytest.param(
            "amd64 arm64", BOTH, {"os": {"name": "linux"}}, [term(ON_LINUX)], id="spec-os-says-nothing-to-the-scheduler"
        ),
        pytest.param(
            "amd64 arm64 windows/amd64", BOTH, {"os": {"name": "windows"}},
            [term(ON_WINDOWS)], id="spec-os-chooses-the-images",
        ),
        pytest.param(
            "amd64 arm64", BOTH, {"affinity": requiring(term(("zone", "In", ["a"])), term(ON_LINUX))},
            [term(("zone", "In", ["a"]), ON_LINUX), term(ON_LINUX)], id="each-term-by-itself",
        ),
        pytest.param(
            "amd64 arm64", BOTH, {"affinity": requiring(term((OS, "NotIn", ["windows"])))},
            [term((OS, "NotIn", ["windows"]))], id="a-term-that-shuts-windows-out",
        ),
        pytest.param(
            "amd64", BOTH, {"tolerations": [VIRTUAL]},
            [term((OS, "NotIn", ["windows"]), (ARCH, "NotIn", ["arm64"]))], id="virtual-nodes-stay-reachable",
        ),
        pytest.param(
            "amd64 arm64", BOTH, {"tolerations": [{"operator": "Exists"}]}, [term(ON_LINUX)], id="tolerates-everything"
        ),
        pytest.param(
            "amd64 arm64", APART, {"affinity": requiring(term(POOL), term(ZONE, NOT_ARM))},
            [term(POOL, ON_LINUX), term(ZONE, NOT_ARM, on("arm64"))], id="a-term-that-leads-to-windows-alone-is-closed",
        ),
        pytest.param(
            "arm64 windows/amd64", APART, {"affinity": requiring(term(POOL), term(ZONE, NOT_ARM))},
            [term(POOL), term(ZONE, NOT_ARM)], id="a-term-that-leads-to-windows-alone-where-the-images-run",
        ),
        pytest.param(
            "arm64 windows/amd64", APART, {"nodeSelector": {ARCH: "amd64"}}, None, id="a-pin-of-windows-nodes"
        ),
        pytest.param(
            "arm64 windows/amd64", (*APART, "windows/arm64"), {"affinity": requiring(term(POOL))},
            [term(POOL, ON_LINUX)], id="one-list-that-would-lose-all-of-linux",
        ),
        pytest.param(
            "arm64 windows/amd64", (*APART, "windows/arm64"), {"affinity": requiring(term(POOL), term(ON_WINDOWS))},
            [term(POOL, ON_LINUX), term(ON_WINDOWS, on("amd64"))], id="one-list-beside-a-term-of-windows",
        ),
        pytest.param(
            "amd64 windows/amd64", BOTH,
            {"os": {"name": "windows"}, "affinity": requiring(term(ON_LINUX), term(ON_WINDOWS))},
            [term(ON_LINUX, on("amd64"), on("386")), term(ON_WINDOWS)], id="a-term-that-spec-os-contradicts",
        ),
    ],
)  # fmt: skip
def test_a_pod_that_names_no_system(platforms, cluster, fields, after):
    options = Options(cluster_architectures=cluster)
    outcome = one(platforms, options, **fields)
    assert terms_of(outcome.spec) == after
    again = one(platforms, options, **{**fields, **outcome.added})
    assert (again.decision.patch, terms_of(again.spec)) == ((), after)


def test_the_reason_names_the_systems():
    options = Options(cluster_architectures=BOTH)
    assert one("amd64 arm64", options).decision.reason.startswith(
        "restricted to linux (windows/amd64 is not offered by app:1)"
    )
    assert one("amd64", options).decision.reason == (
        "restricted to linux/amd64 (arm64 is not offered by app:1; windows/amd64 is not offered by app:1)"
    )


def test_images_for_windows_alone_need_a_pod_that_says_so():
    options = Options(cluster_architectures=BOTH)
    outcome = one("windows/amd64", options)
    assert outcome.name == "Conflict"
    assert "offers nothing for linux, only windows/amd64" in outcome.messages[0]


@pytest.mark.parametrize(
    ("platforms", "cluster", "fields", "says"),
    [
        pytest.param(
            "amd64 arm64", APART, {"affinity": requiring(term(NOT_ARM))},
            "pinned to windows/amd64 by its required node affinity, but app:1 offers nothing for windows, only linux",
            id="a-term-that-windows-nodes-alone-meet",
        ),
        pytest.param(
            "amd64 arm64", APART, {"nodeSelector": {ARCH: "amd64"}},
            "pinned to amd64 by its nodeSelector, but app:1 offers nothing for windows", id="a-pin-of-windows-nodes",
        ),
        pytest.param(
            "amd64 windows/amd64", ("amd64",), {"os": {"name": "windows"}, "nodeSelector": {OS: "linux"}},
            "spec.os is windows, and its nodeSelector and required node affinity ask for other nodes",
            id="spec-os-that-the-nodeSelector-contradicts",
        ),
    ],
)  # fmt: skip
def test_a_pod_that_no_node_can_run(platforms, cluster, fields, says):
    outcome = one(platforms, Options(cluster_architectures=cluster), **fields)
    assert (outcome.name, outcome.messages[0][: len(says) + 7]) == ("Conflict", f"error: {says}")


@pytest.mark.parametrize(
    ("platforms", "fields", "tolerated", "preferred"),
    [
        pytest.param("amd64 arm64", {}, True, True, id="linux"),
        pytest.param("windows/amd64 windows/arm64", {"nodeSelector": {OS: "windows"}}, False, False, id="windows"),
        pytest.param("arm64 windows/amd64", {}, True, False, id="one-architecture-of-each"),
    ],
)  # fmt: skip
def test_a_bare_architecture_of_tolerate_and_prefer_means_linux(platforms, fields, tolerated, preferred):
    outcome = one(platforms, Options(cluster_architectures=ALL, prefer=(("arm64", 1),)), **fields)
    assert ("tolerations" in outcome.added) is tolerated
    affinity = outcome.spec.get("affinity", {}).get("nodeAffinity", {})
    assert ("preferredDuringSchedulingIgnoredDuringExecution" in affinity) is preferred


@pytest.mark.parametrize(
    ("platforms", "tolerated"),
    [
        pytest.param("arm64", True, id="linux-alone"),
        pytest.param("arm64 windows/amd64", False, id="windows-too"),
    ],
)
@pytest.mark.parametrize("needed", [False, True], ids=["immutable", "when-needed"])
def test_a_toleration_that_not_every_node_needs(platforms, tolerated, needed):
    options = Options(cluster_architectures=BOTH)
    if needed:
        options = options.replace(tolerate=tuple(rule.replace(needed=True) for rule in options.tolerate))
    assert ("tolerations" in one(platforms, options, "Deployment" if needed else "Job").added) is tolerated


def test_two_images_share_no_more_than_one_system():
    spec = {**using("a:1", "b:1")}
    outcome = decided(
        spec,
        {"a:1": "amd64 windows/amd64", "b:1": "amd64"},
        Options(cluster_architectures=("amd64", "windows/amd64")),
    )
    assert terms_of(outcome.spec) == [term(ON_LINUX)]


@pytest.mark.parametrize(
    ("fields", "after"),
    [
        pytest.param({}, None, id="kept-off-by-the-taint"),
        pytest.param({"tolerations": [{"operator": "Exists"}]}, [term(ON_LINUX)], id="tolerates-it"),
        pytest.param(
            {"tolerations": [{"key": "node.kubernetes.io/os", "value": "windows"}]},
            [term(ON_LINUX)],
            id="by-its-value",
        ),
        pytest.param(
            {"tolerations": [{"key": "other", "operator": "Exists"}]}, None, id="tolerates-another-one"
        ),
    ],
)
def test_windows_nodes_that_are_all_tainted(fields, after):
    options = Options(cluster_architectures=BOTH, system_taints=TAINT, tolerate=())
    assert terms_of(one("amd64 arm64", options, **fields).spec) == after


def test_a_bare_architecture_of_only_means_linux():
    options = Options(cluster_architectures=BOTH)
    outcome = decided(
        using("app:1"),
        {"app:1": "amd64 arm64 windows/amd64"},
        options,
        metadata={"annotations": {"archfit.dev/only": "amd64"}},
    )
    assert terms_of(outcome.spec) == [term(ON_LINUX, on("amd64"))]


def test_a_bare_architecture_of_only_narrows_a_pod_for_windows_too():
    outcome = decided(
        {**using("app:1"), "os": {"name": "windows"}},
        {"app:1": "amd64 windows/amd64 windows/arm64"},
        Options(cluster_architectures=ALL),
        metadata={"annotations": {"archfit.dev/only": "amd64"}},
    )
    assert terms_of(outcome.spec) == [term(ON_WINDOWS, on("amd64"))]


def test_never_writes_no_system_either():
    outcome = one("amd64 arm64", Options(cluster_architectures=BOTH, affinity="never", tolerate=()))
    assert (outcome.name, outcome.added) == ("OptedOut", {})
    assert "unsafe" in outcome.messages[0]


def test_a_daemon_set_is_not_warned_of_nodes_of_another_system():
    outcome = one("amd64 arm64", Options(cluster_architectures=BOTH), "DaemonSet", tolerations=[GKE])
    assert (terms_of(outcome.spec), outcome.messages) == ([term(ON_LINUX)], [])
