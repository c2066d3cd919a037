"""Recordings of operators: the pods that an operator made of what archfit writes are placed where their images run
(lab/operators/recordings.py). tests/workloads/custom_resources/test_recordings.py judges what archfit writes.
"""

import pytest

from archfit.workloads import custom_rows
from machine import ROOT
from operators import recordings, rows

CASES = sorted(path.parent for path in (ROOT / "fixtures" / "operators").glob("*/*/object.yaml"))
# The operator's folder and the case.
IDS = [f"{case.parent.name}-{case.name}" for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_made_pods_run_where_their_images_do(case, oracle):
    assert list(recordings.faults(case, oracle, recordings.ALL)) == []


def test_the_default_writes_what_was_seen():
    texts = {case: (case / "object.yaml").read_bytes() for case in CASES}
    seen = [case for case in CASES if rows.all_seen(texts[case])]
    assert len(seen) > len(CASES) / 2
    for case in seen:
        assert recordings.placed(texts[case]).text == recordings.placed(texts[case], recordings.ALL).text, (
            case
        )


def test_the_table_of_rows_is_that_of_the_recordings(monkeypatch):
    monkeypatch.setattr(custom_rows, "_ROWS", {})
    rows.forget()
    assert [path.name for path, text in rows.files() if text != path.read_text(encoding="utf-8")] == []
