"""Output that the pages show is what archfit writes."""

import re

from archfit.base.results import ObjectRef
from archfit.reports.immutable_objects import immutable_advice
from archfit.workloads.custom_rows import all_custom_rows
from archfit.workloads.unsupported.unknown_kinds import reason_of
from machine import ROOT


def page(name):
    """The text of a page, with a blank for each line break."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def test_the_message_about_a_job_is_shown_as_it_is():
    assert immutable_advice([ObjectRef("batch/v1", "Job", "shop", "migrate")]) in page("docs/helm.md")


def test_the_message_about_a_kind_without_a_row_is_shown_as_it_is():
    shown = page("docs/custom-resources.md")
    group, kind = re.search(r"info: ([\w.]+)/\w+/(\w+)/\w+: not transformed", shown).groups()
    assert (group, kind) not in all_custom_rows()
    assert reason_of(group, kind, {}) in shown
