"""What a person's edits between two stamped runs become: `edits_between_runs` draws and judges them."""

import copy
import json

import pytest

from edits_between_runs import SHAPES, between_runs, deployment, group, plain, ray, run, zone
from stream_edits import IMAGES


@pytest.mark.parametrize("shape", SHAPES)
def test_no_edit_of_a_person_is_lost_and_nothing_is_frozen_in_silence(shape, monkeypatch):
    monkeypatch.setitem(IMAGES, "moves", IMAGES["amd:1"])
    kinds = {between_runs(shape, seed) for seed in range(60)}
    assert len(kinds) == 12


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        pytest.param("groups", True, id="one of several groups may be another one"),
        pytest.param("terms", True, id="one of several terms may be another one"),
        pytest.param("term", False, id="the only term is the one"),
    ],
)
def test_a_stamp_that_has_only_indices_counts_where_nothing_can_be_mixed_up(shape, says, monkeypatch):
    source = SHAPES[shape][0] if shape in SHAPES else deployment({"matchExpressions": [zone("a")]})
    monkeypatch.setitem(IMAGES, "moves", IMAGES["amd:1"])
    stamped, _ = run(copy.deepcopy(source))
    annotations = stamped["metadata"]["annotations"]
    entries = json.loads(annotations["archfit.dev/added"])
    assert any("items" in entry for entry in entries)
    annotations["archfit.dev/added"] = json.dumps([{**entry, "items": []} for entry in entries])
    monkeypatch.setitem(IMAGES, "moves", IMAGES["both:1"])
    output, left = run(stamped)
    assert left == says
    if not left:
        assert plain(output) == plain(run(source)[0])
    assert not run(output)[1]


def test_a_name_may_hold_what_begins_a_comment(monkeypatch):
    monkeypatch.setitem(IMAGES, "moves", IMAGES["amd:1"])
    source = ray(group("a #1", "moves"))
    stamped, _ = run(source)
    monkeypatch.setitem(IMAGES, "moves", IMAGES["both:1"])
    assert plain(run(stamped)[0]) == plain(run(source)[0])
