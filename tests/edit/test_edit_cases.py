"""Every folder of `fixtures/edits`: the bytes that archfit writes, and that a second run leaves them alone."""

import pytest
from tests.edit.edit_cases import edit_cases, names

from stream_edits import NOTHING_WANTED, edited, placed

CASES = edit_cases()


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_the_edit_is_as_expected_byte_by_byte(case):
    assert edited(case.before, case.options).data == case.after


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_a_second_run_and_one_with_nothing_to_add_change_nothing(case):
    assert edited(case.after, case.options).data == case.after
    assert edited(case.before, NOTHING_WANTED).data == case.before


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_kubernetes_reads_the_edit_as_the_patch(judge, case):
    # `yes` is text to kustomize, which would read what kubectl has resolved.
    written = placed(judge, case.before, case.options, kubectl_only=b"tty: yes" in case.before)
    assert written == case.after


def test_every_case_is_one_that_changes_something():
    assert [case.name for case in CASES if case.before == case.after] == []
