"""A generated policy, by the API server's own CEL without a server, puts back on an update what the webhook does."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from archfit.admission.added_record import (
    AFFINITY,
    NAME,
    NODE_AFFINITY,
    PREFERENCES,
    REQUIRED_SET,
    TERMS,
    TOLERATIONS,
)
from archfit.admission.updated_pod import put_back
from archfit.base.patch import apply
from archfit.edit.stamp.annotation import ANNOTATIONS, MISSING, at
from archfit.options.option_entries import Exclude
from archfit.options.settings import Options
from archfit.policy.cel.objects import policy_objects
from archfit.policy.cel.policy_settings import PolicySettings
from drawn_pods import any_pods, at_creation
from pod_updates import FORGED, GKE, KNOWN, OWN, PREFER, UPDATES, Update, applied, manifest, record, stored
from policy_judge import PolicyJudge, judge_binary

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCKED = {f"docker.io/library/{text}": answer for text, answer in KNOWN.items()}


@pytest.fixture(scope="module", params=["literal", "crd"])
def judge(request: pytest.FixtureRequest) -> Iterator[PolicyJudge]:
    with PolicyJudge(judge_binary()) as running:
        settings = PolicySettings(carrier=request.param)
        assert running.compile(policy_objects(LOCKED, PREFER, settings)) == []
        yield running


READ = (TOLERATIONS, AFFINITY, (*ANNOTATIONS, NAME))
"""What decides whether a door is asked about an update."""


def read(pod: dict[str, Any], *path: str) -> Any:
    found = at(pod, path)
    return None if found is MISSING else found


@pytest.mark.parametrize("door", ["policy", "webhook"])
@pytest.mark.parametrize("case", UPDATES)
def test_an_update(judge: PolicyJudge, case: Update, door: Any):
    own = manifest(case.image, case.spec)
    old = judge.normalised(stored(own, door))
    update = judge.normalised(case.change(own, old))
    made = judge.admit(update, old=old)
    assert made.error == ""
    assert made.pod == judge.normalised(case.result(update, old))
    differs = any(read(update, *path) != read(old, *path) for path in READ)
    opted_out = "true" in str(read(update, *ANNOTATIONS, "archfit.dev/skip"))
    assert made.matches == (differs and not opted_out)
    assert made.pod == judge.normalised(apply(update, put_back(update, old)))
    again = judge.admit(made.pod, old=old)
    assert (again.error, again.pod) == ("", made.pod)


@pytest.mark.parametrize("seed", range(8))
def test_any_update_of_any_pod(seed: int):
    """Pods of a random configuration, and updates that lose, move and add entries of their lists at random."""
    source = random.Random(seed)
    options = any_pods.options(source) if seed else PREFER
    changed = Counter[bool]()
    with PolicyJudge(judge_binary()) as judge:
        assert judge.compile(policy_objects(at_creation.platforms(), options, PolicySettings())) == []
        for _ in range(150):
            namespace = source.choice(any_pods.NAMESPACES)
            created = judge.admit(any_pods.pod(source, namespace), namespace).pod
            if NAME not in created["metadata"].get("annotations", {}):
                continue
            update = judge.normalised(drawn_update(source, created))
            made = judge.admit(update, namespace, old=created)
            assert made.error == "", (created, update)
            assert made.pod == judge.normalised(apply(update, put_back(update, created))), (created, update)
            assert judge.admit(made.pod, namespace, old=created).pod == made.pod
            changed[made.pod != update] += 1
    assert changed[True]
    assert changed[False]


def drawn_update(source: random.Random, pod: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = copy.deepcopy(pod)
    for path, item in (
        (TOLERATIONS, {"key": "new", "operator": "Exists"}),
        (
            PREFERENCES,
            {"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
        ),
        (TERMS, {"matchExpressions": [{"key": "b", "operator": "Exists"}]}),
        *(((*TERMS, index, "matchExpressions"), {"key": "c", "operator": "Exists"}) for index in range(3)),
    ):
        items = at(made, path)
        if not isinstance(items, list) or source.random() < 0.4:
            continue
        kept = [one for one in items if source.random() < 0.7]
        if source.random() < 0.3:
            kept.insert(source.randint(0, len(kept)), item)
        items[:] = kept
    for path in (
        AFFINITY,
        NODE_AFFINITY,
        REQUIRED_SET,
        PREFERENCES,
        TOLERATIONS,
        ANNOTATIONS,
        (*ANNOTATIONS, NAME),
    ):
        holder = at(made, path[:-1])
        if isinstance(holder, dict) and source.random() < 0.1:
            holder.pop(path[-1], None)
    return made


def test_what_the_policy_stores_it_puts_back(judge: PolicyJudge):
    own = manifest("arm:1", {"tolerations": [OWN]})
    old = judge.admit(own).pod
    assert GKE in old["spec"]["tolerations"]
    assert judge.admit(applied(own, old), old=old).pod["spec"]["tolerations"].count(GKE) == 1


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({"deletionTimestamp": "2026-01-01T00:00:00Z"}, id="it is being deleted"),
        pytest.param({"annotations": {}}, id="no record"),
        pytest.param({"annotations": {NAME: ""}}, id="an empty record"),
        pytest.param({"annotations": {NAME: '[{"path":"/spec/tolerations/-"}]'}}, id="a record of a render"),
        pytest.param({"annotations": {NAME: FORGED}}, id="a record of what the pod does not have"),
        pytest.param({"annotations": {NAME: '[{"by":"webhook"'}}, id="a record that is cut off"),
    ],
)
def test_nothing_is_put_back(judge: PolicyJudge, metadata: dict[str, Any]):
    own = manifest("arm:1", {"tolerations": [OWN]})
    old = stored(own)
    changed = {**old, "metadata": {**old["metadata"], **metadata}}
    update = judge.normalised(applied(own, changed))
    made = judge.admit(update, old=changed)
    assert (made.error, made.pod) == ("", update)
    assert judge.admit(update, old=old).pod != update


def test_options_that_have_changed_since_do_not_count():
    """A pod of another table, whose toleration no rule has any more, and which is excluded now."""
    own = manifest("arm:1", {"tolerations": [OWN]})
    old = {**stored(own), "spec": {**stored(own)["spec"], "nodeName": "n1"}}
    options = Options(tolerate=(), exclude=(Exclude("Pod", "*"),))
    with PolicyJudge(judge_binary()) as judge:
        assert judge.compile(policy_objects({}, options, PolicySettings())) == []
        assert judge.admit(applied(own, old), old=old).pod == judge.normalised(old)
        created = judge.admit(own)
    assert (created.matches, record(old).count("tolerations")) == (False, 1)


def test_an_update_costs_little(judge: PolicyJudge):
    spec = {
        "tolerations": [{"key": f"k{number}", "operator": "Exists"} for number in range(100)],
        "affinity": {"nodeAffinity": stored(manifest("arm:1", {}))["spec"]["affinity"]["nodeAffinity"]},
    }
    own = manifest("arm:1", spec)
    old = stored(own)
    made = judge.admit(applied(own, old), old=old)
    assert made.pod == judge.normalised(old)
    assert made.cost < 200_000
