"""What the API server accepts before archfit it accepts after: by the schemas that operators publish, strictly.

kinds with a published definition    an object for each row, and every sample of the corpus and of the cases: no
                                     error of the schema, and no unknown field, that was not there before
other kinds                          every path that archfit writes is one that crds/fields.json has
kinds of Kubernetes                  decoded into their Go types, strictly
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from tests.real.custom_resources.crd_fields import catalogue
from tests.real.custom_resources.custom_samples import MEMBER, samples

import machine
from archfit.base.errors import InvalidInput
from archfit.options.settings import Options, Workload
from archfit.workloads.builtin import ROWS, is_for, rows_of
from archfit.workloads.custom_rows import all_custom_rows
from schema_judge import SchemaJudge
from stream_edits import Failed, edited
from yaml_judge import Judge, Refused, typed

Written = tuple[str, str]
_AFFINITIES = ("nodeAffinity", "podAffinity", "podAntiAffinity")
# Written paths that crds/fields.json lacks, by the Go type that has them.
GO_TYPES = {
    ("apps.openshift.io/DeploymentConfig", "spec.template.spec"): (
        "no definition exists; openshift/api apps/v1/types.go:90: spec.template is a PodTemplateSpec"
    ),
    **{
        (f"operator.victoriametrics.com/{kind}", "spec.requestsLoadBalancer.spec"): (
            "the schema is open there; VMAuthLoadBalancerSpec embeds CommonAppsParams, as vmselect does"
        )
        for kind in ("VMCluster", "VLCluster", "VTCluster")
    },
    **{
        (f"argoproj.io/{kind}", f"{spec}.templates.*.steps.*.*.inline"): (
            "the schema says nothing of steps; WorkflowStep has `Inline *Template`"
        )
        for kind, spec in (
            ("Workflow", "spec"),
            ("WorkflowTemplate", "spec"),
            ("ClusterWorkflowTemplate", "spec"),
            ("CronWorkflow", "spec.workflowSpec"),
        )
    },
}
# Versions whose schema drops what it does not name, although the operator documents it.
DROPS = {
    (
        "elasticsearch.k8s.elastic.co",
        "Elasticsearch",
        "v1beta1",
    ): "podTemplate is an object without members there"
}
# Argo's full definitions of 3.5 drop inline templates, with all that is in them; later ones preserve them.
INLINE = re.compile(r"spec\S*\.inline\.(affinity|tolerations): unknown field")
OPTIONS = Options(on_conflict="leave", prefer=(("arm64", 10),))


@pytest.fixture(scope="module")
def published():
    """crds/fields.json."""
    return catalogue()


def after_edits(value: dict[str, Any]) -> dict[str, Any] | None:
    """The object as archfit writes it, None where it refuses."""
    try:
        data = edited(yaml.safe_dump(value, sort_keys=False).encode(), OPTIONS).data
    except (Failed, InvalidInput):
        return None
    made: dict[str, Any] = yaml.safe_load(data)
    return made


def additions(before: Any, after: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """(path, value) of what `after` has and `before` lacks; a list that grew counts as new."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, member in after.items():
            if key in before:
                yield from additions(before[key], member, (*path, key))
            else:
                yield (*path, key), member
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            yield from additions(old, new, (*path, "*"))
    elif before != after:
        yield path, after


def written(before: Any, after: Any) -> set[Written]:
    """("affinity", what holds nodeAffinity), ("tolerations", their path) and ("nodeSelector", its path), as texts, of
    everything that was added.
    """
    found = set()
    for path, value in additions(before, after):
        stack = [(path, value)]
        while stack:
            at, part = stack.pop()
            kind = next((name for name in _AFFINITIES if name in at), "")
            if kind:
                found.add(("affinity", ".".join(at[: at.index(kind)])))
            elif "tolerations" in at:
                found.add(("tolerations", ".".join(at[: at.index("tolerations") + 1])))
            elif "nodeSelector" in at:
                found.add(("nodeSelector", ".".join(at[: at.index("nodeSelector") + 1])))
            elif isinstance(part, dict) and part:
                stack += [((*at, key), member) for key, member in part.items()]
            else:
                found.add(("", ".".join(at)))
    return found


def has_place(entry: dict[str, Any], field: str, path: str) -> bool:
    """Whether crds/fields.json has the path in any version: in a pod spec, as a placement, or in an open schema."""
    return any(
        _has_place(facts, field, _one_star(path))
        for facts in entry["versions"].values()
        if isinstance(facts, dict)
    )


def _has_place(facts: dict[str, Any], field: str, path: str) -> bool:
    placed = {_one_star(one.partition("|")[0]) for one in facts.get("placement", {}).get(field, ())}
    holder, _, last = path.rpartition(".")
    specs = [one.partition("|") for one in facts.get("podspecs", ())]
    in_spec = any(
        _one_star(at) == holder and f"-{field}" not in missing.split(",") and last == field
        for at, _, missing in specs
    )
    is_open = any(f"{path}.".startswith(f"{_one_star(one).rstrip('!')}.") for one in facts.get("untyped", ()))
    return path in placed or in_spec or is_open


def _one_star(path: str) -> str:
    return ".".join("*" if step == MEMBER else step for step in path.replace("[*]", ".*").split("."))


def writes(row: Workload) -> bool:
    """Whether archfit may write into a pod of the row."""
    return bool(row.pod_spec) and not row.reason and not row.unplaced and not row.objects


ROW_IDS = [pytest.param(key, id="/".join(key)) for key in all_custom_rows()]


@pytest.mark.parametrize("key", ROW_IDS)
def test_what_is_written_into_a_kind_of_the_table_is_accepted(schema_judge, published, key):
    for row in filter(writes, all_custom_rows()[key]):
        if key not in schema_judge.kinds or not by_schema(schema_judge, row):
            by_fields(published, row)


def by_schema(judge: SchemaJudge, row: Workload) -> bool:
    """Whether samples of the row fit the schema; what is written into them is accepted."""
    versions = [version for version in judge.kinds[row.group, row.kind] if is_for(row, version)]
    versions = [version for version in versions if (row.group, row.kind, version) not in DROPS]
    fitting = changed = 0
    for image in ("amd:1", "both:1"):
        for made in (False, True):
            for value in _best(judge, row, versions, image, made=made):
                fitting += 1
                after = after_edits(value)
                if after is not None and after != value:
                    changed += 1
                    new = set(judge.errors(after)) - set(judge.errors(value))
                    assert new == set(), json.dumps(value)
    assert changed or not fitting or is_idle(row), (
        f"no sample of {row.group}/{row.kind} {row.pod_spec} is changed"
    )
    return bool(fitting)


def is_idle(row: Workload) -> bool:
    """Whether nothing in a sample restricts its pod: another object replaces its image, or lends all of its images."""
    return row.operator in ("kserve", "trainer") and not row.images


def _best(
    judge: SchemaJudge, row: Workload, versions: list[str], image: str, *, made: bool
) -> list[dict[str, Any]]:
    """For each version the sample whose stars are what the schema has; none if the schema lacks a path of the row."""
    found = []
    for version in versions:
        several = [one.value for one in samples(row, [version], image) if one.made == made]
        judged = [(judge.errors(value), value) for value in several]
        fitting = [value for errors, value in judged if not any(map(_is_shape, errors))]
        found += fitting[:1]
    return found


def _is_shape(error: str) -> bool:
    return error.endswith("unknown field") or "must be of type" in error


def by_fields(published: dict[str, Any], row: Workload) -> None:
    """Every path that archfit writes for the row is one of crds/fields.json, or of GO_TYPES."""
    name = f"{row.group}/{row.kind}"
    entry = published.get(name, {"versions": {"v1": {}}})
    listed = [entry.get("storage"), *entry["versions"], *row.versions]
    version = next(one for one in listed if one and is_for(row, one))
    found: set[Written] = set()
    for image in ("amd:1", "both:1"):
        for sample in samples(row, [version], image):
            after = after_edits(sample.value)
            found |= written(sample.value, after) if after else set()
    assert found or is_idle(row), f"no sample of {name} {row.pod_spec} is changed"
    missing = {
        one
        for one in found
        if not has_place(entry, *one) and (name, one[1].rpartition(".")[0]) not in GO_TYPES
    }
    assert missing == set()


def of_the_corpus(judge: Judge) -> Iterator[Any]:
    """The objects of the corpus and of the cases, with those in lists."""
    for folder in (machine.shared("corpus"), machine.shared("cases")):
        for path in sorted(path for path in folder.rglob("*.yaml") if path.is_file()):
            try:
                documents = judge.kubectl(path.read_bytes())
            except Refused:
                continue
            for document in documents:
                listed = document.get("items") if isinstance(document, dict) else None
                yield from listed if isinstance(listed, list) else [document]


def may_change(value: dict[str, Any]) -> bool:
    """Whether there is a row for the object's kind, ours or Kubernetes' own."""
    return bool(rows_of(str(value.get("apiVersion")), str(value.get("kind")), {}))


@pytest.mark.parametrize(
    ("by", "accepted", "changed"),
    [
        pytest.param("schema", 20, 15, id="custom resources"),
        pytest.param("types", 100, 60, id="Kubernetes' own kinds"),
    ],
)
def test_samples_stay_accepted(judge, schema_judge, by, accepted, changed):
    """What is wrong with a sample was wrong before. accepted, changed: how many there are at the least."""
    good = edits = 0
    distinct = {
        typed(value): value for value in of_the_corpus(judge) if isinstance(value, dict) and may_change(value)
    }
    for value in distinct.values():
        if schema_judge.knows(value) != by:
            continue
        before = schema_judge.errors(value)
        after = after_edits(value)
        good += not before
        if after is not None and after != value:
            edits += 1
            new = {error for error in schema_judge.errors(after) if not INLINE.match(error)}
            assert new - set(before) == set(), json.dumps(value)
    assert good >= accepted
    assert edits >= changed


@pytest.mark.parametrize("row", [row for row in ROWS if row.group != "extensions"], ids=lambda row: row.kind)
def test_what_is_written_into_kubernetes_own_kinds_is_of_their_types(schema_judge, row):
    for image in ("amd:1", "both:1"):
        (sample,) = samples(row, ["v1"], image)
        value = {**sample.value, "apiVersion": sample.value["apiVersion"].removeprefix("/")}
        after = after_edits(value)
        assert schema_judge.knows(value) == "types"
        assert (after != value) == (image == "amd:1" or not row.immutable)
        assert schema_judge.errors(after) == schema_judge.errors(value) == []
