"""Two audits beside each other: what became ready, and what regressed."""

import pytest
from tests.audit.audit_clusters import facts_of

from archfit.audit.compare import AuditComparison, compare
from archfit.audit.findings import findings
from archfit.facts.facts import AuditFacts, Snapshot, Standing
from archfit.facts.merge import merge
from archfit.images.platforms import Platform

_BOTH, _OLD = ("amd64", "arm64"), ("amd64",)


def _facts(
    images: dict[str, tuple[str, ...] | None],
    *,
    snapshot: str = "1",
    cluster: str = "prod",
    standing: Standing = "running",
) -> AuditFacts:
    """A cluster with one workload for each image, of its name. None: a registry did not answer; (): it is gone."""
    rows = [
        (name, 2, 500, {name: "Unknown" if known is None else known or "Absent"})
        for name, known in images.items()
    ]
    facts = facts_of(*rows, standing=standing)
    return facts.replace(
        snapshots=(Snapshot(snapshot, "live", cluster, nodes=False),),
        workloads=tuple(one.replace(snapshot=snapshot) for one in facts.workloads),
    )


def _compared(old: AuditFacts, new: AuditFacts) -> AuditComparison:
    return compare(old, findings(new, [Platform("linux", "arm64")]))


@pytest.mark.parametrize(
    ("before", "now", "sort"),
    [
        pytest.param(_OLD, _BOTH, "became_ready", id="it gained the architecture"),
        pytest.param(None, _BOTH, "became_ready", id="it was not known"),
        pytest.param(_BOTH, _OLD, "regressed", id="it lost the architecture"),
        pytest.param(_BOTH, (), "regressed", id="its image is gone"),
        pytest.param(_BOTH, None, "no_longer_known", id="a registry did not answer"),
        pytest.param(_OLD, None, "", id="blocked before, not known now"),
        pytest.param(_OLD, _OLD, "", id="blocked as before"),
        pytest.param(_BOTH, _BOTH, "", id="ready as before"),
        pytest.param(None, None, "", id="not known as before"),
        pytest.param((), (), "", id="gone as before"),
    ],
)
def test_a_workload_is_sorted_by_what_it_was_and_is(before, now, sort):
    found = _compared(_facts({"app": before}), _facts({"app": now}, snapshot="2"))
    (change,) = found.changes
    sorts = ("became_ready", "regressed", "no_longer_known", "arrived_blocked")
    assert {name: [one.name for one in getattr(change, name)] for name in sorts} == {
        name: ["app"] if name == sort else [] for name in sorts
    }
    assert (found.arrived, found.gone, found.stayed) == (0, 0, 1)
    assert before != now or (change.images_gained, change.images_lost) == ((), ())
    assert change.compared == (None not in (before, now) or now == _BOTH or before == _OLD)


def test_a_regression_names_its_images_and_its_weight():
    (change,) = _compared(_facts({"app": _BOTH}), _facts({"app": _OLD})).changes
    (one,) = change.regressed
    assert (one.cluster, one.before, one.after, one.images) == ("", "ready", "blocked", ("app",))
    assert (one.amount.pods, one.amount.cpu) == (2, 500)
    assert (change.images_gained, change.images_lost) == ((), ("app",))
    assert change.before.share == (500, 500)
    assert change.after.share == (0, 500)


def test_what_is_new_or_gone_regresses_nothing():
    found = _compared(_facts({"old": _BOTH}), _facts({"new": _OLD, "fine": _BOTH}))
    (change,) = found.changes
    assert [one.name for one in change.arrived_blocked] == ["new"]
    assert (found.arrived, found.gone, found.stayed, change.regressed) == (2, 1, 0, ())


def test_an_image_that_gains_the_architecture_is_named():
    (change,) = _compared(_facts({"app": _OLD, "gone": ()}), _facts({"app": _BOTH, "gone": _BOTH})).changes
    assert change.images_gained == ("app", "gone")


def test_clusters_are_compared_by_their_name_and_single_ones_whatever_it_is():
    (change,) = _compared(_facts({"app": _BOTH}, cluster="a"), _facts({"app": _OLD}, cluster="b")).changes
    assert change.regressed
    first = _facts({"app": _BOTH, "image-of-west": _OLD}, snapshot="1", cluster="west")
    second = _facts({"app": _BOTH}, snapshot="2", cluster="east")
    later = merge([first.replace(images=()), _facts({"app": _OLD}, snapshot="3", cluster="east")])
    (change,) = _compared(merge([first, second]), later).changes
    assert {(one.cluster, one.name) for one in change.regressed} == {("west", "app"), ("east", "app")}


@pytest.mark.parametrize(
    ("standing", "regressed"),
    [
        ("daemonset", 1),
        ("idle", 1),
        ("gated", 1),
        ("scheduled", 1),
        ("finished", 0),
        ("old", 0),
        ("mirror", 0),
    ],
)
def test_what_runs_or_will_run_is_compared(standing, regressed):
    old, new = _facts({"app": _BOTH}, standing=standing), _facts({"app": _OLD}, standing=standing)
    changes = compare(old, findings(new)).changes
    assert [len(change.regressed) for change in changes] == [regressed, 0]
