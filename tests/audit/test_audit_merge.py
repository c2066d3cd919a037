"""Merging has no order and loses no answer; shards are stable; facts come back from JSON as they were."""

import json
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.audit.audit_clusters import written

from archfit.audit.report.json import facts_text
from archfit.base.errors import InvalidInput
from archfit.base.record_json import record_value
from archfit.facts import facts as af
from archfit.facts.facts import SCHEMA, AuditFacts, BuildFacts, ImageFacts, Shard, Snapshot
from archfit.facts.merge import merge, missing_shards, shard_of, sorted_facts
from archfit.facts.reports import from_json
from archfit.images.candidates import NewerTag

_TEXT = st.sampled_from(["", "a", "b", "\u2028</script>"])
_NUMBER = st.integers(0, 3)


def _drawn(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type; of a record with every field that it has."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if get_origin(kind) is tuple:
        first, *others = get_args(kind)
        if others == [...]:
            return st.lists(_drawn(first), max_size=2).map(tuple)
        return st.tuples(*map(_drawn, (first, *others)))
    fields = {name: _drawn(field) for name, field in get_type_hints(kind).items()}
    return st.builds(kind, **(fields | _PLATFORMS if "platforms" in fields else fields))


_PLATFORMS = {"platforms": st.sampled_from([(), ("linux/amd64", "windows/amd64")])}
_SIMPLE = {str: _TEXT, int: _NUMBER, bool: st.booleans()}
_FACTS = _drawn(AuditFacts)


@given(_FACTS, _FACTS, _FACTS)
def test_merging_is_associative_commutative_and_idempotent(one, other, third):
    assert merge([one, other]) == merge([other, one])
    assert (
        merge([one, merge([other, third])])
        == merge([merge([one, other]), third])
        == merge([third, one, other])
    )
    assert merge([one, one]) == merge([one]) == merge([merge([one])])
    assert merge([one, other, one]) == merge([one, other])
    assert merge([]) == AuditFacts()


@given(_FACTS)
def test_facts_come_back_from_json_as_they_were(facts):
    data = written(facts)
    assert from_json(data, "a.json") == sorted_facts(facts)
    assert written(from_json(data, "a.json")) == written(sorted_facts(facts))
    assert json.loads("".join(facts_text(facts))) == record_value(facts)


@pytest.mark.parametrize("answer", [one for one in get_args(af.AnswerKind) if one != "Unread"])
def test_a_shard_that_did_not_ask_hides_no_answer(answer):
    asked = AuditFacts(images=(ImageFacts("a", answer),))
    assert (
        merge([AuditFacts(images=(ImageFacts("a", "Unread", ("linux/zzz",)),)), asked]).images == asked.images
    )


_FOUND = ImageFacts("a:1", "Found", ("linux/amd64",), ("amd64",))
_TAG = NewerTag("1.1", "sha256:1", "minor", ("linux/amd64", "linux/arm64"))


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [
        pytest.param({"newer_for": "arm64", "newer_read": "complete"}, {}, id="asked-over-not-asked"),
        pytest.param({"newer": (_TAG,), "newer_for": "arm64", "newer_read": "partial"}, {"newer_for": "arm64", "newer_read": "complete"}, id="a-tag-over-none"),
        pytest.param({"newer_for": "arm64", "newer_read": "complete"}, {"newer_for": "arm64", "newer_read": "partial", "newer_why": "z"}, id="whole-over-part"),
        pytest.param({"newer_for": "arm64", "newer_read": "partial"}, {"newer_for": "arm64", "newer_read": "no", "newer_why": "z"}, id="part-over-nothing"),
        pytest.param({"newer_for": "arm64"}, {"newer_why": "not asked"}, id="tried-over-not-asked"),
    ],
)  # fmt: skip
def test_a_shard_that_did_not_ask_for_tags_hides_none(larger, smaller):
    parts = [AuditFacts(images=(_FOUND.replace(**one),)) for one in (larger, smaller)]
    assert merge(parts).images == merge(parts[::-1]).images == parts[0].images


@pytest.mark.parametrize("verdict", [one for one in get_args(af.BuildState) if one != "unread"])
def test_a_shard_that_did_not_ask_hides_no_verdict(verdict):
    build = BuildFacts("s", "n", "k", "w", "c", "i", "id", "linux", "amd64", "r", 1, verdict)
    unread = build.replace(verdict="unread", platform="z")
    assert merge([AuditFacts(builds=(unread,)), AuditFacts(builds=(build,))]).builds == (build,)


def test_two_clusters_stand_side_by_side_and_one_under_two_names_is_one():
    one, other = Snapshot("1", "live", "prod", nodes=True), Snapshot("2", "live", "prod", nodes=True)
    assert merge([AuditFacts((one,)), AuditFacts((other,))]).snapshots == (one, other)
    again = [AuditFacts((one.replace(name=name),)) for name in ("b", "a", "aa")]
    assert [snapshot.name for snapshot in merge(again).snapshots] == ["a"]


def test_missing_shards_are_named():
    assert missing_shards(AuditFacts()) == ()
    assert missing_shards(AuditFacts(shards=(Shard("a", 0, 2), Shard("a", 1, 2)))) == ()
    assert missing_shards(AuditFacts(shards=(Shard("a", 1, 3),))) == (Shard("a", 0, 3), Shard("a", 2, 3))


def test_the_shard_of_another_snapshot_is_no_substitute():
    facts = AuditFacts(shards=(Shard("a", 0, 2), Shard("b", 1, 2)))
    assert missing_shards(facts) == (Shard("a", 1, 2), Shard("b", 0, 2))


@pytest.mark.parametrize(
    ("reference", "shard"),
    [
        ("docker.io/library/nginx:1", 33),
        ("nginx@sha256:" + "a" * 64, 33),
        ("nginx", 33),
        ("ghcr.io/a/b:1", 46),
        ("$(no.reference)", 47),
        ("", 20),
    ],
)
def test_a_repository_is_in_the_same_shard_on_every_machine(reference, shard):
    assert shard_of(reference, 64) == shard
    assert shard_of(reference, 1) == 0


def test_shards_are_about_equal():
    found = [shard_of(f"registry.example.com/team/app-{number}:1", 8) for number in range(4000)]
    assert all(400 < found.count(shard) < 600 for shard in range(8))


def _document() -> dict[str, Any]:
    facts = AuditFacts(
        (Snapshot("1", "live", "prod", nodes=True),),
        workloads=(
            af.WorkloadFacts(
                "1",
                "n",
                "k",
                "w",
                "running",
                (af.ContainerImage("c", "init", "i", "r"),),
                runs_on=(("a", 1),),
            ),
        ),
        images=(ImageFacts("r", "Found", ("linux/arm64",)),),
        shards=(Shard("a", 0, 2),),
    )
    document: dict[str, Any] = json.loads(written(facts))
    return document


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("schema",), "archfit.dev/audit/v9", "old.json has the schema archfit.dev/audit/v9, which another version of archfit wrote; this one reads " + SCHEMA),
        (("schema",), "archfit.dev/audit/v1alpha1", "make it again with archfit audit --format json"),
        (("schema",), "something", "old.json is not a report of archfit audit"),
        (("schema",), None, "old.json is not a report of archfit audit"),
        (("facts",), None, "old.json: facts is missing or is no object"),
        (("facts", "nodes"), None, "old.json: facts.nodes is not a list"),
        (("facts", "colours"), [], "old.json: facts has the unknown field 'colours'"),
        (("facts", "workloads", 0, "pods"), "3", "old.json: facts.workloads[0].pods is not a whole number"),
        (("facts", "workloads", 0, "pods"), True, "facts.workloads[0].pods is not a whole number"),
        (("facts", "workloads", 0, "pods"), -1, "facts.workloads[0].pods is not a whole number"),
        (("facts", "workloads", 0, "name"), 3, "facts.workloads[0].name is not a text"),
        (("facts", "workloads", 0, "standing"), "sitting", "facts.workloads[0].standing is none of 'running', 'pending'"),
        (("facts", "workloads", 0, "standing"), [], "facts.workloads[0].standing is none of"),
        (("facts", "workloads", 0, "images", 0, "role"), "x", "facts.workloads[0].images[0].role is none of"),
        (("facts", "workloads", 0, "runsOn", 0), ["a"], "facts.workloads[0].runsOn[0] is not a list of 2"),
        (("facts", "snapshots", 0, "nodes"), 1, "facts.snapshots[0].nodes is not true or false"),
        (("facts", "snapshots", 0), "x", "facts.snapshots[0] is missing or is no object"),
        (("facts", "images", 0, "platforms"), ["linux/"], "old.json: 'linux/' is not a platform"),
        (("facts", "shards", 0, "index"), 1.5, "facts.shards[0].index is not a whole number"),
    ],
)  # fmt: skip
def test_a_report_that_is_wrong_is_named_with_the_place(path, value, message):
    document = _document()
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    with pytest.raises(InvalidInput) as caught:
        from_json(json.dumps(document).encode(), "old.json")
    assert message in str(caught.value)


def test_a_field_that_is_missing_is_named():
    document = _document()
    del document["facts"]["workloads"][0]["standing"]
    with pytest.raises(InvalidInput, match=r"old.json: facts.workloads\[0\] lacks the field 'standing'"):
        from_json(json.dumps(document).encode(), "old.json")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b'{"schema": "archfit.dev/audit/v1alpha2", "facts": {', "is not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", "not a report"),
        (b"[" * 100_000, "old.json"),
        (b"1", "not a report"),
    ],
)
def test_what_is_no_report_is_one_message(data, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        from_json(data, "old.json")
    assert "old.json" in str(caught.value)


def test_what_follows_from_the_facts_is_not_read():
    document = _document()
    document |= {"archfit": "9", "findings": {"anything": [1, 2]}}
    assert from_json(json.dumps(document).encode(), "x") == from_json(json.dumps(_document()).encode(), "x")
