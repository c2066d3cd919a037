"""A policy, by the API server's own CEL without a server, decides pod by pod as archfit does, or leaves the pod alone."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from admission_reviews import NOT_REQUESTED, REQUESTED, applied
from archfit.base.errors import InvalidReference
from archfit.images.platforms import Found
from archfit.images.reference import parse
from archfit.options.settings import Options, Toleration, TolerationRule
from archfit.policy.objects import left_alone, policy_objects
from archfit.policy.settings import PolicySettings
from archfit.policy.table import platform_table
from archfit.webhook.added_record import NAME, entry, record_text
from drawn_pods import any_pods, at_creation
from drawn_pods.drawing import ARCH
from pod_decisions import GKE, PREFERRED, found, requiring, term, using
from policy_judge import PolicyJudge, judge_binary, outcome
from policy_pods import judged

LOCKED = at_creation.platforms()
LITERAL, CRD = PolicySettings(), PolicySettings(carrier="crd")


def objects(locked: Mapping[str, Found], options: Options, settings: PolicySettings) -> list[dict[str, Any]]:
    return policy_objects(platform_table(locked, options)[0], options, settings)


@pytest.fixture(scope="module")
def by_default():
    """A judge with the policy of default options."""
    with PolicyJudge(judge_binary()) as running:
        running.compile(objects(LOCKED, Options(), LITERAL))
        yield running


def a_pod(spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", **metadata}, "spec": spec}


@pytest.mark.parametrize("seed", range(12))
def test_the_policy_does_to_a_pod_what_archfit_does_and_its_companion_says_so_or_leaves_it_alone(judge, seed):
    outcomes, wrong = judged(judge, f"test/{seed}", 150)
    assert wrong == []
    assert sum(number for name, number in outcomes.items() if name.startswith("left alone")) < 90


@pytest.mark.parametrize("text", any_pods.REFERENCES, ids=lambda text: ascii(text)[:50])
@pytest.mark.parametrize("field", ["container", "volume"])
def test_a_reference_is_read_as_archfit_reads_it_or_is_none(by_default, text, field):
    spec = using("both:1")
    if field == "container":
        spec["containers"].append({"name": "other", "image": text})
    else:
        spec["volumes"] = [{"name": "data", "image": {"reference": text}}]
    shown = by_default.admit(a_pod(spec), "shop", "images").shown["images"]
    try:
        known = {parse(text).normalised}
    except InvalidReference:
        known = {"?", ""}
    unread = len(text) > 255 or re.search(r"sha512:|\[|--|^library/a{64}$", text)
    assert shown[0] == "docker.io/library/both:1"
    assert shown[1] in ({"?"} if unread else known) or text == "auto"
    outcome(by_default, a_pod(spec), LOCKED, Options())


POOL = term(("pool", "Exists"))
SHAPES = [
    pytest.param("too large", using(*["amd:1"] * 101), {}, id="images"),
    pytest.param("too large", {**using("amd:1"), "affinity": requiring(*[term(("pool", "Exists"))] * 101)}, {}, id="terms"),
    pytest.param("too large", {**using("amd:1"), "affinity": requiring(term(("pool", "In", [f"a{n}" for n in range(401)])))}, {}, id="values"),
    pytest.param("too large", {**using("amd:1"), "tolerations": [{"key": f"k{n}", "operator": "Exists"} for n in range(501)]}, {}, id="tolerations"),
    pytest.param("archfit.dev/only that names others than the cluster's", using("amd:1"), {"archfit.dev/only": "amd64, s390x"}, id="another architecture"),
    pytest.param("archfit.dev/only that names others than the cluster's", using("amd:1"), {"archfit.dev/only": " , "}, id="none"),
    pytest.param("another archfit annotation", using("amd:1"), {"archfit.dev/tolerate": "false"}, id="tolerate"),
    pytest.param("another archfit annotation", using("amd:1"), {"archfit.dev/onyl": "amd64"}, id="a typo"),
    pytest.param("an image that is no reference", using("amd:1", "nginx@sha256:abc"), {}, id="no digest"),
    pytest.param("another system than linux", {**using("amd:1"), "nodeSelector": {"kubernetes.io/os": "windows"}}, {}, id="nodeSelector"),
    pytest.param("another system than linux", {**using("amd:1"), "os": {"name": "windows"}}, {}, id="spec.os"),
    pytest.param("another system than linux", {**using("amd:1"), "affinity": requiring(term(("beta.kubernetes.io/os", "NotIn", ["windows"])))}, {}, id="another operator"),
    pytest.param("another system than linux", {**using("amd:1"), "affinity": requiring(POOL, term(("pool", "Exists"), ("kubernetes.io/os", "NotIn", ["linux"])))}, {}, id="NotIn linux"),
    pytest.param("other architectures, or not by In or NotIn", {**using("amd:1"), "affinity": requiring(term((ARCH, "Exists")))}, {}, id="Exists"),
    pytest.param("other architectures, or not by In or NotIn", {**using("amd:1"), "affinity": requiring(POOL, term(("pool", "Exists"), (ARCH, "In", ["amd64", "s390x"])))}, {}, id="outside the cluster"),
    pytest.param("other architectures, or not by In or NotIn", {**using("amd:1"), "nodeSelector": {"beta.kubernetes.io/arch": "amd64"}}, {}, id="the beta label"),
    pytest.param("virtual nodes or WebAssembly", {**using("amd:1"), "tolerations": [GKE, {"key": "virtual-kubelet.io/provider", "operator": "Exists"}]}, {}, id="virtual nodes"),
    pytest.param("virtual nodes or WebAssembly", {**using("amd:1"), "runtimeClassName": "wasmtime-spin"}, {}, id="WebAssembly"),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "spec", "annotations"), SHAPES)
def test_what_the_policy_leaves_alone(by_default, reason, spec, annotations):
    pod = a_pod(spec, annotations=annotations)
    admitted = by_default.admit(pod, "shop", "leftAlone")
    assert (admitted.shown["leftAlone"], admitted.error) == (reason, "")
    assert admitted.pod == by_default.normalised(pod)


@pytest.mark.parametrize("image", ["both:1", "new:1"])
@pytest.mark.parametrize("requested", [True, False])
@pytest.mark.parametrize("writer", ["policy", "webhook"])
def test_a_record_takes_back_only_what_the_policy_added_in_the_same_request(
    by_default, writer, requested, image
):
    notes = {NAME: record_text(writer, 1, [entry(("spec", "tolerations", "-"), GKE)])}
    fields = [REQUESTED if requested else NOT_REQUESTED]
    pod = a_pod({**using(image), "tolerations": [GKE]}, annotations=notes, managedFields=fields)
    made = by_default.admit(pod).pod
    taken = writer == "policy" and not requested and image == "new:1"
    assert ("tolerations" in made["spec"]) is not taken
    assert (NAME in made["metadata"].get("annotations", {})) is not taken
    outcome(by_default, pod, LOCKED, Options())


@pytest.mark.parametrize("stated", [False, True])
def test_nodes_of_several_architectures_are_tolerated_where_the_others_are_shut_out(judge, stated):
    options = Options(tolerate=(TolerationRule(("amd64", "arm64"), Toleration("spot", "Exists")),))
    judge.compile(objects(LOCKED, options, LITERAL))
    pod = a_pod({**using("amd:1", "both:1"), "affinity": requiring(term(("pool", "Exists")))})
    pod = applied(pod, "kubectl apply") if stated else pod
    assert ("tolerations" in judge.admit(pod).pod["spec"]) is not stated
    outcome(judge, pod, LOCKED, options)


def test_a_pod_that_prefers_an_architecture_among_other_words_keeps_its_choice(judge):
    options = Options(prefer=(("arm64", 1),))
    judge.compile(objects(LOCKED, options, LITERAL))
    preferred = [{"weight": 1, "preference": term(("pool", "Exists"), (ARCH, "In", ["amd64"]))}]
    pod = a_pod({**using("both:1"), "affinity": {"nodeAffinity": {PREFERRED: preferred}}})
    assert judge.admit(pod).pod["spec"]["affinity"] == pod["spec"]["affinity"]
    outcome(judge, pod, LOCKED, options)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"affinity": requiring(term(("kubernetes.io/os", "In", ["linux"])))}, id="a term for linux"),
        pytest.param({"nodeSelector": {"beta.kubernetes.io/os": "linux"}}, id="the beta label of the system"),
        pytest.param({"affinity": requiring(term((ARCH, "NotIn", ["amd64"])))}, id="NotIn"),
        pytest.param({"runtimeClassName": "nvidia"}, id="another runtime class"),
        pytest.param({"containers": using(*["amd:1"] * 100)["containers"]}, id="100 images"),
        pytest.param({"affinity": requiring(*[term(("pool", "Exists"))] * 100)}, id="100 terms"),
        pytest.param({"affinity": requiring(term(("pool", "In", [f"a{n}" for n in range(397)])))}, id="400 values with the policy's"),
        pytest.param({"tolerations": [{"key": f"k{n}", "operator": "Exists"} for n in range(500)]}, id="500 tolerations"),
    ],
)  # fmt: skip
def test_what_the_policy_does_not_leave_alone(by_default, more):
    pod = a_pod({**using("amd:1"), **more})
    assert by_default.admit(pod, "shop", "leftAlone").shown["leftAlone"] == ""
    outcome(by_default, pod, LOCKED, Options())


def test_each_reason_to_leave_a_pod_alone_has_a_pod():
    assert {row.values[0] for row in SHAPES} == set(left_alone())


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(using(*[f"r.example/{'a' * 200}/{n}:1" for n in range(100)]), id="images"),
        pytest.param({**using("amd:1"), "affinity": requiring(*[term((ARCH, "In", ["amd64"]), ("pool", "Exists"))] * 100)}, id="terms"),
        pytest.param({**using("amd:1"), "tolerations": [{"key": f"k{n}", "operator": "Exists"} for n in range(500)]}, id="tolerations"),
        pytest.param(using("x" * 1_000_000), id="a name of a million letters"),
        pytest.param({**using("amd:1"), "affinity": requiring(term(*[("pool", "Exists")] * 20_000))}, id="expressions"),
        pytest.param({**using("amd:1"), "affinity": requiring(*[term()] * 20_000)}, id="many terms"),
    ],
)  # fmt: skip
def test_no_pod_costs_more_than_an_api_server_allows(judge, spec):
    options = Options(
        cluster_architectures=("386", "amd64", "arm", "arm64", "ppc64le", "riscv64", "s390x"),
        tolerate=tuple(TolerationRule(("arm64",), Toleration(f"t{n}", "Equal", "x")) for n in range(20)),
        prefer=(("arm64", 1),),
    )
    assert judge.compile(objects(LOCKED, options, LITERAL)) == []
    assert judge.admit(a_pod(spec)).error == ""


@pytest.mark.parametrize("version", ["1.33", "1.34", "1.35", "1.36"])
@pytest.mark.parametrize("settings", [LITERAL, CRD], ids=["literal", "crd"])
@pytest.mark.parametrize("prefer", [(), (("arm64", 1),)], ids=["", "prefer"])
def test_a_policy_compiles_in_every_supported_version(judge, version, settings, prefer):
    assert judge.compile(objects(LOCKED, Options(prefer=prefer), settings), version) == []


@pytest.mark.parametrize("settings", [LITERAL, CRD], ids=["literal", "crd"])
def test_every_expression_is_below_the_limit_of_the_parser(judge, settings):
    images = {
        f"registry.example.com/team/service-{n:06}/application:1.2.3": found("amd64") for n in range(5000)
    }
    made = objects(images, Options(), settings)
    policy = next(one for one in made if one["kind"] == "MutatingAdmissionPolicy")
    sizes = [len(one["expression"]) for one in policy["spec"]["variables"]]
    assert max(sizes) < 100_000  # code points of an expression (cel-go, parser)
    assert judge.compile(made) == []
    last = a_pod(using("registry.example.com/team/service-004999/application:1.2.3"))
    assert outcome(judge, last, images, Options()) == "Change"
