"""Rows from the schemas that operators publish, beside archfit's own rows.

OWN says where they differ, and why. What no entry explains is an error, and so is an entry that explains nothing.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import published_crds
from archfit.base.patch import Path, pattern_text
from archfit.cluster.crds.definitions import definitions
from archfit.cluster.crds.derive import Derived, derived
from archfit.cluster.rows_file import rows_file
from archfit.options.config_file import from_file
from archfit.workloads.custom_rows import all_custom_rows
from archfit.yaml.compose import parse
from archfit.yaml.stream import split

Kind = tuple[str, str]

_ARGO = "(Workflow|WorkflowTemplate|ClusterWorkflowTemplate|CronWorkflow)"
_NEWER = "newer than the release that is pinned here"
_OPEN = "the schema of the release leaves it open"
# (side, pattern of "kind path", why). "own": only the table has it; "derived": only the schema's rows have it.
OWN = (
    ("own", rf"argoproj.io/{_ARGO} .*\.inline", "a template inside of a step, which the schema leaves open"),
    (
        "derived",
        rf"argoproj.io/{_ARGO} .*\.templateDefaults",
        "no pod: defaults of the templates, which `shadows` says",
    ),
    ("own", r"serving.kserve.io/InferenceService spec\.canary.*", _NEWER),
    (
        "own",
        r"tekton.dev/(TaskRun|PipelineRun) .*[pP]odTemplate",
        "placement; the images are in an open taskSpec",
    ),
    ("own", r"apps.kruise.io/UnitedDeployment .*", _OPEN),
    (
        "own",
        r"kubeflow.org/(PyTorchJob|MPIJob) .*\.(Worker|Launcher)\..*",
        "a replica that gets a container of the operator's",
    ),
    ("derived", r"trainer.kubeflow.org/TrainJob .*", "overrides for the pods of a TrainingRuntime"),
    (
        "own",
        r"trainer.kubeflow.org/TrainJob spec\.(podTemplateOverrides|runtimePatches)\[\*\]\..*",
        "lists that replace the runtime's",
    ),
    (
        "derived",
        r"operators.coreos.com/Subscription .*",
        "placement of an operator whose image the catalogue names",
    ),
    (
        "derived",
        r"monitoring.coreos.com/(Prometheus|Alertmanager) .*\.baseImage",
        "deprecated, no image without a tag",
    ),
    ("derived", r"pkg.crossplane.io/ControllerConfig spec\.volumes\[\*\]\.image\.reference", "image volumes"),
)


@pytest.fixture(scope="module")
def published():
    """What was derived of every published kind."""
    found: dict[Kind, Derived] = {}
    for path in published_crds.files():
        data = path.read_bytes()
        for piece in split(data):
            for one in definitions(parse(data[piece.start : piece.end].decode()).value):
                if (one.group, one.kind) not in found:
                    found[one.group, one.kind] = derived(one)
    return found


def covers(pattern: Path, path: Path) -> bool:
    return len(pattern) == len(path) and all(
        "*" in {a, b} or a == b for a, b in zip(pattern, path, strict=True)
    )


def beside_own(kind: str, one: Derived, rows: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """What either side has and the other has not: places, and images that no row of the table reads."""
    rows = list(rows)
    places = {
        pattern_text(row.pod_spec) for row in rows if row.pod_spec and not row.reason and not row.unplaced
    }
    ours = {pattern_text(row.pod_spec) for row in one.rows}
    likely = {note.partition(":")[0] for note in one.notes if "leaves it open; if it is" in note}
    yield from (("own", f"{kind} {path}") for path in places - ours - likely)
    yield from (("derived", f"{kind} {path}") for path in ours - places)
    read = [path for row in rows for path in (*(path for entry in row.images for path in entry), *row.also)]
    never = [path for row in rows for path, _ in row.never_run]
    for image in {path for row in one.rows for entry in row.images for path in entry}:
        in_spec = any(
            image[:-1][: len(row.pod_spec)] == row.pod_spec and "containers" in image for row in rows
        )
        if not (in_spec or any(covers(path, image) for path in read)) and not any(
            covers(path, image[: len(path)]) for path in never
        ):
            yield "derived", f"{kind} {pattern_text(image)}"


def test_rows_from_schemas_are_those_of_the_table(published):
    """Each difference has an entry; each entry that is about one of the kinds explains one."""
    kinds = {key: rows for key, rows in all_custom_rows().items() if key in published}
    kinds = {key: rows for key, rows in kinds.items() if any(row.pod_spec for row in rows)}
    assert len(kinds) >= 40
    found = {one for key, rows in kinds.items() for one in beside_own("/".join(key), published[key], rows)}
    explained = {
        (side, pattern): {one for one in found if one[0] == side and re.fullmatch(pattern, one[1])}
        for side, pattern, _ in OWN
    }
    assert found - set().union(*explained.values()) == set()
    about = {pattern: pattern.partition(" ")[0] for _, pattern in explained}
    there = {
        pattern for pattern in about if any(re.fullmatch(about[pattern], "/".join(key)) for key in kinds)
    }
    assert [pattern for (_, pattern), some in explained.items() if pattern in there and not some] == []


def test_one_file_for_all_of_them_loads(published):
    """All rows of all kinds in one configuration: no two of a kind for one place."""
    made = rows_file([one for _, one in sorted(published.items(), key=lambda both: both[0][1])], {})
    rows = from_file(made.encode(), "archfit.yaml").given["workloads"].value
    assert isinstance(rows, tuple)
    assert len(rows) == sum(len(one.rows) for one in published.values()) >= 50
