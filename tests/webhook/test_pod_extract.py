"""The extract of a Pod decides as the whole Pod does."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admission_reviews import APPLYING, REQUESTED, applied, pod
from archfit.admission.added_record import NAME
from archfit.admission.admitted_pod import admitted_pod, at_admission
from archfit.admission.request_fields import LISTS, is_requested, stated_lists
from archfit.base.results import Decision
from archfit.options.option_entries import Match, Rule
from archfit.options.settings import Options
from archfit.webhook.server.review import pod_extract
from pod_decisions import PREFERRED, REQUIRED, answers

RULES = (Rule(Match(namespace="shop", kind="pod", labels=(("team", "a"),)), only=("amd64",)),)
OPTIONS = at_admission(
    Options(
        on_unknown="leave", on_conflict="leave", rules=RULES, prefer=(("arm64", 1),), unlabelled_nodes=("v",)
    )
)
KNOWN = answers({"app:1": "amd64", "both:1": "amd64 arm64", "arm:1": "arm64", "win:1": "windows/amd64"})

_EXPRESSION = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["kubernetes.io/arch", "kubernetes.io/os", "zone"]),
        "operator": st.sampled_from(["In", "NotIn", "Exists"]),
        "values": st.lists(st.sampled_from(["amd64", "arm64", "linux", "windows"]), max_size=2),
    }
)
_TERM = st.fixed_dictionaries({}, optional={"matchExpressions": st.lists(_EXPRESSION, max_size=2)})
_SPEC = st.fixed_dictionaries(
    {},
    optional={
        "nodeSelector": st.dictionaries(
            st.sampled_from(["kubernetes.io/arch", "kubernetes.io/os", "type"]),
            st.sampled_from(["amd64", "arm64", "linux", "windows", "virtual-kubelet"]),
            max_size=2,
        ),
        "affinity": st.fixed_dictionaries(
            {
                "nodeAffinity": st.fixed_dictionaries(
                    {
                        "requiredDuringSchedulingIgnoredDuringExecution": st.fixed_dictionaries(
                            {"nodeSelectorTerms": st.lists(_TERM, max_size=2)}
                        )
                    }
                )
            }
        ),
        "tolerations": st.lists(
            st.fixed_dictionaries(
                {"key": st.sampled_from(["kubernetes.io/arch", "v", "virtual-kubelet.io/provider"])},
                optional={
                    "operator": st.just("Exists"),
                    "effect": st.just("NoSchedule"),
                    "value": st.just("arm64"),
                },
            ),
            max_size=2,
        ),
        "os": st.fixed_dictionaries({"name": st.sampled_from(["linux", "windows"])}),
        "nodeName": st.sampled_from(["", "n1"]),
        "runtimeClassName": st.just("wasm"),
        "topologySpreadConstraints": st.just([{"nodeAffinityPolicy": "Ignore", "topologyKey": "zone"}]),
        "initContainers": st.lists(
            st.fixed_dictionaries({"name": st.just("i"), "image": st.sampled_from(sorted(KNOWN))}), max_size=2
        ),
        "volumes": st.just(
            [
                {"name": "cfg", "configMap": {"name": "x", "defaultMode": 420}},
                {"name": "data", "image": {"reference": "both:1", "pullPolicy": "IfNotPresent"}},
            ]
        ),
        "ephemeralContainers": st.just([{"name": "debug", "image": "arm:1"}]),
    },
)
_METADATA = st.fixed_dictionaries(
    {"generateName": st.just("web-")},
    optional={
        "labels": st.just({"team": "a"}),
        "annotations": st.dictionaries(
            st.sampled_from(["archfit.dev/skip", "archfit.dev/only", "archfit.dev/image-platforms", "x"]),
            st.sampled_from(["true", "amd64", "linux/amd64"]),
            max_size=2,
        ),
        "ownerReferences": st.lists(
            st.fixed_dictionaries(
                {
                    "kind": st.sampled_from(["ReplicaSet", "DaemonSet"]),
                    "name": st.just("o"),
                    "controller": st.booleans(),
                }
            ),
            max_size=1,
        ),
    },
)


def decision(value: dict[str, Any]) -> Decision:
    admitted = admitted_pod(value, "shop", OPTIONS)
    return admitted.decide({text: KNOWN[text] for text in admitted.questions}, OPTIONS)


@given(
    images=st.lists(st.sampled_from(sorted(KNOWN)), min_size=1, max_size=3),
    spec=_SPEC,
    metadata=_METADATA,
    way=st.sampled_from([None, *APPLYING]),
)
def test_an_extract_decides_as_the_whole_pod(
    images: list[str], spec: dict[str, Any], metadata: dict[str, Any], way: str | None
):
    value = pod(*images, spec=spec, **metadata)
    if way:
        value = applied(value, way)
    before = copy.deepcopy(value)
    assert decision(pod_extract(value)) == decision(value)
    assert value == before


@pytest.mark.parametrize("entries", [[], [{"manager": "kubectl"}], [{"manager": "kubectl"}, REQUESTED]])
def test_an_extract_says_whether_the_record_came_with_the_request(entries: list[Any]):
    value = {**pod(), "metadata": {"name": "web", "annotations": {NAME: "[]"}, "managedFields": entries}}
    assert is_requested(pod_extract(value)) == is_requested(value) == (REQUESTED in entries or not entries)


@pytest.mark.parametrize("way", APPLYING)
def test_an_extract_says_which_lists_an_applied_pod_states(way: str):
    expression = {"key": "pool", "operator": "Exists"}
    term = {"matchExpressions": [expression]}
    affinity = {REQUIRED: {"nodeSelectorTerms": [term]}, PREFERRED: [{"weight": 1, "preference": term}]}
    spec = {"tolerations": [{"operator": "Exists"}], "affinity": {"nodeAffinity": affinity}}
    value = applied(pod(spec=spec), way)
    assert stated_lists(pod_extract(value)) == stated_lists(value) == set(LISTS)


def test_the_extracts_of_replicas_are_the_same():
    owner = {"kind": "ReplicaSet", "name": "web", "controller": True}
    one, other = (
        pod_extract({**pod(), "metadata": {"ownerReferences": [owner], "managedFields": [{"time": time}]}})
        for time in ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z")
    )
    assert one == other


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(
            {**pod(), "spec": {"containers": {}, "volumes": "x", "initContainers": [None, "y"]}}, id="types"
        ),
        pytest.param({**pod(), "metadata": None}, id="no metadata"),
        pytest.param({**pod(), "spec": {"volumes": [None, {"image": None}]}}, id="volumes"),
    ],
)
def test_odd_values_are_taken_as_they_are(value: dict[str, Any]):
    assert pod_extract(value).keys() <= value.keys()
