"""The laws of placement, for random pods, images and options, judged by a model of the scheduler.

    safety        where the pod can run afterwards, every image runs
    liveness      where every image runs and the pod could run but for arch taints, it can run afterwards
    no widening   where it can run afterwards, it could run before, but for arch taints
    narrowness    only additions: all of the user's values stay, in place
    idempotence   a second run changes nothing
    one patch     python-jsonpatch makes of it what `archfit.base.patch.apply` makes

    no opening    where a new toleration lets it in, every image runs, in C or not
    virtual       a virtual node that it could reach stays reachable

A node counts if it is Linux and its architecture is in C, or if the pod asks for its OS, alone or beside others for
which the images have builds, and it is an entry of that OS; without entries, if the images run there. A term of several
systems has one list of architectures: liveness ends where that would let the pod onto a node of another of its systems
on which an image does not run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jsonpatch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.placement.scheduler_model import (
    ARCH,
    BETA,
    BETA_OS,
    NODES,
    OS,
    REQUIRED,
    VIRTUAL_TAINT,
    Node,
    asks_for_os,
    can_run,
    matching_terms,
    other_systems,
    supports,
)

from archfit.base import patch
from archfit.options.settings import GKE, Options, Toleration, TolerationRule
from archfit.yaml.values import Typed
from pod_decisions import Outcome, decided

many = settings(max_examples=40, deadline=None, derandomize=True)
ARCHITECTURES = ("amd64", "arm64", "s390x")
POOL = TolerationRule(("arm64", "s390x"), Toleration("arch", "Equal", "", "NoSchedule"))
_NOWHERE = Node("plan9", "none", (), {}, "")  # where only images run that restrict nothing
_SOME = list({(node.os, node.arch): node for node in NODES}.values())


class Case(NamedTuple):
    spec: dict[str, Any]
    images: dict[str, list[str]]
    options: Options
    kind: str

    def outcome(self, spec: dict[str, Any] | None = None) -> Outcome:
        images: Any = {text: " ".join(platforms) for text, platforms in self.images.items()}
        return decided(spec or self.spec, images, self.options, self.kind)

    def counts(self, node: Node, spec: dict[str, Any]) -> bool:
        if node.os == "linux":
            return node.arch in self.options.cluster_architectures
        if not asks_for_os(spec, node):
            return False
        if not self.has_builds(node.os) and any(map(self.has_builds, other_systems(spec, node))):
            return False
        entries = [one for one in self.options.cluster_architectures if one.startswith(f"{node.os}/")]
        if entries:
            return f"{node.os}/{node.arch}" in entries
        if self.runs_on(_NOWHERE) or not self.has_builds(node.os):
            return node.arch in self.options.cluster_architectures
        return self.runs_on(node)

    def has_builds(self, os: str) -> bool:
        return any(self.runs_on(node) for node in _SOME if node.os == os)

    def nodes(self) -> list[Node]:
        """Those whose taints, if they have some of architectures, a rule is about."""
        keys = {rule.toleration.key for rule in self.options.tolerate}
        return [node for node in NODES if all(one[0] in keys or one == VIRTUAL_TAINT for one in node.taints)]

    def sacrificed(self, node: Node) -> bool:
        """Whether every term that leads to the node leads to one of another OS too, where an image does not run."""
        others = [
            other
            for other in NODES
            if other.os != node.os
            and other.arch == node.arch
            and self.has_builds(other.os)
            and self.counts(other, self.spec)
            and not self.runs_on(other)
        ]
        return all(
            any(term in matching_terms(self.spec, other) for other in others)
            for term in matching_terms(self.spec, node)
        )

    def fitting(self) -> list[Node]:
        """The nodes where every image runs and the pod can run as it is, but for arch taints."""
        return [
            node
            for node in self.nodes()
            if self.counts(node, self.spec)
            and self.runs_on(node)
            and can_run(self.spec, node, but_for_arch_taints=True)
            and not self.sacrificed(node)
        ]

    def runs_on(self, node: Node) -> bool:
        named = bool(self.spec.get("runtimeClassName"))
        return all(supports(platforms, node, runtime_class=named) for platforms in self.images.values())


def _platforms() -> st.SearchStrategy[list[str]]:
    linux = st.sampled_from(["linux/amd64", "linux/arm64", "linux/s390x", "linux/386", "linux/arm/v7"])
    other = st.sampled_from(
        ["windows/amd64", "windows/arm64", "wasi/wasm", "linux/amd64/v3", "linux/arm64/v8", "linux/arm64/v9"]
    )
    several = st.lists(linux, min_size=1, max_size=4, unique=True)
    return st.one_of(
        st.just(["linux/amd64", "linux/arm64"]),
        several,
        st.lists(st.one_of(linux, other), min_size=1, max_size=5, unique=True),
    )


def _expressions() -> st.SearchStrategy[dict[str, Any]]:
    arch_values = st.lists(st.sampled_from(ARCHITECTURES), min_size=1, max_size=3, unique=True)
    valued = st.builds(
        lambda key, operator, values: {"key": key, "operator": operator, "values": values},
        st.sampled_from([ARCH, BETA]),
        st.sampled_from(["In", "In", "NotIn"]),
        arch_values,
    )
    bare = st.builds(
        lambda key, operator: {"key": key, "operator": operator},
        st.sampled_from([ARCH, BETA, "foo", "zone"]),
        st.sampled_from(["Exists", "Exists", "DoesNotExist"]),
    )
    others = st.sampled_from(
        [
            {"key": "foo", "operator": "In", "values": ["bar"]},
            {"key": "foo", "operator": "NotIn", "values": ["bar"]},
            {"key": "foo", "operator": "Gt", "values": ["5"]},
            {"key": ARCH, "operator": "Lt", "values": ["5"]},
            {"key": "zone", "operator": "In", "values": ["z"]},
            {"key": OS, "operator": "In", "values": ["linux"]},
            {"key": OS, "operator": "In", "values": ["windows"]},
            {"key": OS, "operator": "In", "values": ["linux", "windows"]},
            {"key": OS, "operator": "Exists"},
            {"key": OS, "operator": "NotIn", "values": ["windows"]},
            {"key": BETA_OS, "operator": "In", "values": ["windows"]},
        ]
    )
    return st.one_of(valued, bare, others)


def _terms() -> st.SearchStrategy[Any]:
    fields = st.just([{"key": "metadata.name", "operator": "In", "values": ["n1"]}])
    full = st.fixed_dictionaries(
        {"matchExpressions": st.lists(_expressions(), min_size=1, max_size=3)},
        optional={"matchFields": fields},
    )
    by_name = st.fixed_dictionaries(
        {"matchFields": fields}, optional={"matchExpressions": st.sampled_from([None, []])}
    )
    return st.one_of(full, full, full, by_name, st.sampled_from([{}, None]))


def _affinities() -> st.SearchStrategy[Any]:
    preferred = st.sampled_from(
        [
            None,
            [],
            [
                {
                    "weight": Typed("int", "1"),
                    "preference": {"matchExpressions": [{"key": "foo", "operator": "Exists"}]},
                }
            ],
            [
                {
                    "weight": Typed("int", "9"),
                    "preference": {"matchExpressions": [{"key": ARCH, "operator": "Exists"}]},
                }
            ],
        ]
    )
    required = st.one_of(
        st.none(), st.fixed_dictionaries({"nodeSelectorTerms": st.lists(_terms(), min_size=1, max_size=3)})
    )
    node = st.fixed_dictionaries(
        {}, optional={REQUIRED: required, "preferredDuringSchedulingIgnoredDuringExecution": preferred}
    )
    wide = st.fixed_dictionaries({"nodeAffinity": node}, optional={"podAntiAffinity": st.just({})})
    return st.one_of(wide, wide, st.sampled_from([None, {}, {"nodeAffinity": None}]))


def _selectors() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.none(),
        st.dictionaries(st.just("foo"), st.just("bar"), max_size=1),
        st.fixed_dictionaries(
            {},
            optional={
                ARCH: st.sampled_from(ARCHITECTURES),
                BETA: st.sampled_from(ARCHITECTURES),
                "zone": st.just("z"),
                OS: st.sampled_from(["linux", "windows"]),
            },
        ),
    )


TOLERATIONS = st.one_of(
    st.none(),
    st.lists(
        st.sampled_from(
            [
                {"operator": "Exists"},
                {"key": ARCH, "operator": "Exists"},
                {"key": ARCH, "value": "arm64", "effect": "NoSchedule"},
                {"key": ARCH, "operator": "Equal", "value": "amd64", "effect": "NoSchedule"},
                {"key": ARCH, "operator": "Gt", "value": "arm64"},
                {"key": "foo", "operator": "Exists", "effect": "NoExecute"},
                {"operator": "Exists", "effect": "NoExecute"},
                {"key": "virtual-kubelet.io/provider", "operator": "Exists"},
                {"key": "virtual-kubelet.io/provider", "value": "azure", "effect": "NoSchedule"},
                {"key": "arch", "operator": "Exists"},
                None,
            ]
        ),
        max_size=3,
    ),
)


@st.composite
def cases(
    draw: st.DrawFn, kinds: tuple[str, ...] = ("Deployment", "DaemonSet", "CronJob"), **fixed: Any
) -> Case:
    spec: dict[str, Any] = {"containers": []}
    images = {}
    for index in range(draw(st.integers(1, 3))):
        images[f"image{index}"] = draw(_platforms())
        spec["containers"].append({"name": f"c{index}", "image": f"image{index}"})
    optional = {
        "affinity": _affinities(),
        "nodeSelector": _selectors(),
        "tolerations": TOLERATIONS,
        "os": st.sampled_from([None, {"name": "linux"}, {"name": "windows"}]),
        "runtimeClassName": st.sampled_from(["wasm", None]),
    }
    spec |= draw(st.fixed_dictionaries({}, optional=optional))
    options = Options(
        cluster_architectures=draw(
            st.sampled_from(
                [
                    ("amd64", "arm64"),
                    ("amd64", "arm64"),
                    ("amd64", "arm64", "s390x"),
                    ("arm64",),
                    ("amd64", "arm64", "windows/amd64"),
                    ("amd64", "arm64", "windows/amd64", "windows/arm64"),
                ]
            )
        ),
        affinity=draw(st.sampled_from(["needed", "needed", "always"])),
        prefer=draw(st.sampled_from([(), (("arm64", 1),), (("amd64", 2), ("arm64", 1))])),
        **fixed,
    )
    return Case(spec, images, options, draw(st.sampled_from(kinds)))


EVERYTHING = cases(("Deployment", "DaemonSet", "Job", "Pod"))


@many
@given(EVERYTHING)
def test_safety(case: Case) -> None:
    outcome = case.outcome()
    if outcome.name in ("Conflict", "Unresolved"):
        return
    for node in NODES:
        if case.counts(node, outcome.spec) and can_run(outcome.spec, node):
            assert case.runs_on(node), node


@many
@given(cases())
def test_liveness(case: Case) -> None:
    outcome = case.outcome()
    for node in case.fitting():
        assert outcome.name != "Conflict"
        assert can_run(outcome.spec, node), node


@many
@given(cases(("Job", "Pod")))
def test_what_is_immutable_gets_only_what_it_cannot_run_without(case: Case) -> None:
    outcome = case.outcome()
    fits = case.fitting()
    if not fits:
        return
    assert any(can_run(outcome.spec, node) for node in fits)
    assert all(can_run(outcome.spec, node, but_for_arch_taints=True) for node in fits)
    # One tainted node stands for all of its architecture: arm64 counts as out of reach without a toleration.
    tainted = {node.arch for node in case.nodes() if node.taints}
    plain = [node for node in fits if node.arch not in tainted]
    if outcome.spec.get("tolerations") != case.spec.get("tolerations"):
        assert not plain


@many
@given(EVERYTHING)
def test_no_widening(case: Case) -> None:
    outcome = case.outcome()
    for node in NODES:
        if can_run(outcome.spec, node):
            assert can_run(case.spec, node, but_for_arch_taints=True), node


@many
@given(cases(tolerate=(GKE, POOL)))
def test_no_opening(case: Case) -> None:
    """A taint that stands for several architectures: tolerated where that is safe, and only there."""
    outcome = case.outcome()
    for node in NODES:
        if can_run(outcome.spec, node) and not can_run(case.spec, node):
            assert case.runs_on(node), node
    if outcome.name == "Conflict":
        return
    pool = [node for node in NODES if node.arch in POOL.architectures and asks_for_os(case.spec, node)]
    open_to = [node for node in pool if can_run(outcome.spec, node, but_for_arch_taints=True)]
    if all(case.runs_on(node) for node in open_to):
        for node in case.fitting():
            assert can_run(outcome.spec, node), node


@many
@given(EVERYTHING)
def test_virtual_nodes_stay_reachable(case: Case) -> None:
    outcome = case.outcome()
    named = [one or {} for one in case.spec.get("tolerations") or []]
    if any(one.get("key") == VIRTUAL_TAINT[0] for one in named):
        for node in NODES:
            if VIRTUAL_TAINT in node.taints:
                assert can_run(outcome.spec, node) == can_run(case.spec, node), node


def _kept(before: Any, after: Any) -> bool:
    """Whether all of `before` is in `after`, in place; null may have been filled."""
    if isinstance(before, dict) and isinstance(after, dict):
        return list(after)[: len(before)] == list(before) and all(
            _kept(before[key], after[key]) for key in before
        )
    if isinstance(before, list) and isinstance(after, list):
        return len(after) >= len(before) and all(map(_kept, before, after))
    return before is None or before == after


@many
@given(EVERYTHING)
def test_narrowness(case: Case) -> None:
    outcome = case.outcome()
    assert _kept(case.spec, outcome.spec)
    for step in outcome.decision.patch:
        if isinstance(step, patch.Add) and step.path[-1] != "-":
            (guard,) = [
                one for one in outcome.decision.patch if isinstance(one, patch.Test) and one.path == step.path
            ]
            assert guard.value is None
    if outcome.name != "Change":
        assert outcome.spec == case.spec


@many
@given(EVERYTHING)
def test_idempotence(case: Case) -> None:
    first = case.outcome()
    second = case.outcome(first.spec)
    assert second.decision.patch == ()
    if first.name == "Change":
        assert second.name in ("AlreadySet", "NotNeeded")
    else:
        assert second == first


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value.text) if isinstance(value, Typed) else value


@many
@given(EVERYTHING)
def test_one_patch(case: Case) -> None:
    outcome = case.outcome()
    before = case.outcome(case.spec).pod
    # python-jsonpatch reads `test null` of a missing member as a failure, kustomize and the API server do not.
    steps = [
        step for step in outcome.decision.patch if not (isinstance(step, patch.Test) and step.value is None)
    ]
    document: dict[str, Any] = {}
    holder = document
    for token in before.path[:-1]:
        holder = holder.setdefault(str(token), {})
    holder[str(before.path[-1])] = _plain(case.spec)
    made = jsonpatch.apply_patch(document, _plain(patch.to_json(steps)))
    for token in before.path:
        made = made[token]
    assert made == _plain(outcome.spec)


@many
@given(st.lists(_platforms(), min_size=1, max_size=3), st.booleans())
def test_s390x_is_reached_exactly_where_nothing_is_taken_from_the_cluster(
    images: list[list[str]],
    in_cluster: bool,  # hypothesis passes by position
) -> None:
    cluster = ("amd64", "arm64", "s390x") if in_cluster else ("amd64", "arm64")
    named = {f"image{index}": platforms for index, platforms in enumerate(images)}
    spec = {"containers": [{"image": text} for text in named]}
    case = Case(spec, named, Options(cluster_architectures=cluster), "Deployment")
    outcome = case.outcome()
    if outcome.name in ("Conflict", "Unresolved"):
        return
    everywhere = all(
        case.runs_on(node) for node in NODES if node.os == "linux" and node.arch in ("amd64", "arm64")
    )
    for node in NODES:
        if (node.os, node.arch, node.taints) == ("linux", "s390x", ()):
            assert can_run(outcome.spec, node) == (case.runs_on(node) if in_cluster else everywhere)
