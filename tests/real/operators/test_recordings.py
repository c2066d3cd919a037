"""Recordings of operators, played again: archfit still writes the same, and the pods that an operator made of it are
placed where their images run (lab/operators/recordings.py).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from archfit.workloads import custom_rows
from corpus_streams import Oracle
from machine import ROOT
from operators import recordings, rows

CASES = sorted(path.parent for path in (ROOT / "fixtures" / "operators").glob("*/*/object.yaml"))
# The operator's folder and the case.
IDS = [f"{case.parent.name}-{case.name}" for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_made_pods_run_where_their_images_do(case: Path, oracle: Oracle) -> None:
    assert list(recordings.faults(case, oracle, recordings.ALL)) == []


def test_the_default_writes_what_was_seen() -> None:
    texts = {case: (case / "object.yaml").read_bytes() for case in CASES}
    seen = [case for case in CASES if rows.all_seen(texts[case])]
    assert len(seen) > len(CASES) / 2
    for case in seen:
        assert recordings.placed(texts[case]).text == recordings.placed(texts[case], recordings.ALL).text, (
            case
        )


def test_the_table_of_rows_is_that_of_the_recordings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom_rows, "_ROWS", {})
    rows.forget()
    assert [path.name for path, text in rows.files() if text != path.read_text(encoding="utf-8")] == []


def _copy(tmp_path: Path) -> Path:
    """A recording that can be spoiled: its second turn narrows two Jobs."""
    case = tmp_path / "whole"
    shutil.copytree(ROOT / "fixtures" / "operators" / "jobset-0.8.0" / "whole", case)
    return case


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def _resigned(case: Path) -> None:
    """Digests as the recorder would write them, so that the judges have to find what is wrong."""
    outcome = json.loads((case / "outcome.json").read_text(encoding="utf-8"))
    outcome["digests"] = recordings.digests(case)
    for number, turn in outcome["turns"].items():
        turn["digests"] = recordings.digests(case / f"turn-{number}")
    (case / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")


def test_a_recording_edited_by_hand_is_named(tmp_path: Path, oracle: Oracle) -> None:
    case = _copy(tmp_path)
    _edit(case / "turn-2" / "made-placed.yaml", "operator: In", "operator: Exists")
    assert next(
        fault.removeprefix(str(tmp_path)) for fault in recordings.faults(case, oracle, recordings.ALL)
    ) == ("/whole/turn-2/made-placed.yaml: Job/whole-workers-0 was changed by hand: record it again")


def test_another_line_of_archfit_is_named(tmp_path: Path, oracle: Oracle) -> None:
    case = _copy(tmp_path)
    _edit(case / "turn-2" / "placed.yaml", "- amd64", "- arm64")
    (fault,) = recordings.faults(case, oracle, recordings.ALL)
    assert "turn-2/placed.yaml: line " in fault
    assert fault.endswith("archfit writes another line: - amd64")


def test_a_pod_that_the_operator_left_unplaced_is_unsafe(tmp_path: Path, oracle: Oracle) -> None:
    case = _copy(tmp_path)
    path = case / "turn-2" / "made-placed.yaml"
    objects = recordings.read(path)
    for one in objects:
        (one["spec"]["template"]["spec"] if one["kind"] == "Job" else one["spec"]).pop("affinity", None)
    path.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    _resigned(case)
    faults = list(recordings.faults(case, oracle, recordings.ALL))
    assert any("SAFETY" in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tolerations", [{"key": "batch", "operator": "Exists"}]),
        ("nodeSelector", {"pool": "batch"}),
        (
            "topologySpreadConstraints",
            [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
        ),
        (
            "affinity",
            {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "h"}]}},
        ),
    ],
    ids=["tolerations", "nodeSelector", "spread", "anti-affinity"],
)
def test_what_the_pods_had_without_archfit_is_missed(
    tmp_path: Path, oracle: Oracle, field: str, value: object
) -> None:
    case = _copy(tmp_path)
    path = case / "made.yaml"
    objects = recordings.read(path)
    for one in objects:
        if one["kind"] == "Pod":
            one["spec"][field] = value
    (case / "made-placed.yaml").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    path.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    _resigned(case)
    faults = list(recordings.faults(case, oracle, recordings.ALL))
    assert any(f"{field}" in fault and "is there without archfit" in fault for fault in faults), faults


def test_an_image_of_the_operator_forbids_a_toleration(tmp_path: Path, oracle: Oracle) -> None:
    case = _copy(tmp_path)
    objects = recordings.read(case / "made.yaml")
    for one in objects:
        spec = one["spec"]["template"]["spec"] if one["kind"] == "Job" else one["spec"]
        spec["containers"].append({"name": "helper", "image": "operator.example/helper:1"})
    (case / "made.yaml").write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    for one in objects:
        spec = one["spec"]["template"]["spec"] if one["kind"] == "Job" else one["spec"]
        spec["tolerations"] = [
            {"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}
        ]
    (case / "made-placed.yaml").write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    _resigned(case)
    faults = list(recordings.faults(case, oracle, recordings.ALL))
    assert any("nobody knows operator.example/helper:1" in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("name", "missing"), [("multi", True), ("amd", False)], ids=["runs-there", "does-not-run-there"]
)
def test_a_pod_pinned_to_a_node_may_be_missing_where_its_image_does_not_run(
    tmp_path: Path, oracle: Oracle, name: str, missing: bool
) -> None:
    case = _copy(tmp_path)
    objects = recordings.read(case / "made.yaml")
    (case / "made-placed.yaml").write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["arm64-1"]}]}
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pinned"},
        "spec": {"affinity": affinity, "containers": [{"name": "a", "image": f"img.test/{name}/a:1"}]},
    }
    (case / "made.yaml").write_text(yaml.safe_dump_all([*objects, pod]), encoding="utf-8")
    _resigned(case)
    faults = list(recordings.faults(case, oracle))
    assert any("Pod/pinned on arm64-1" in fault for fault in faults) is missing, faults
