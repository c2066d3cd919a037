"""docs/serve.md names the metrics, the outcomes and the limits of the code."""

import re
from typing import get_args

import pytest

from archfit.options.settings import Operator
from archfit.webhook import connection, memory_budget, review, server_process, webhook
from archfit.webhook.admission_decision import LONGEST, LONGEST_TOGETHER, Outcome
from archfit.webhook.lookups import lookup_worker, shared_answers
from archfit.webhook.server_metrics import MOST_HOSTS, ServerMetrics
from machine import ROOT

PAGE = " ".join((ROOT / "docs" / "serve.md").read_text(encoding="utf-8").split())
ROWS = re.findall(r"\| `(archfit_[a-z_]+)` \| ([^|]*)\|", PAGE)


def test_the_table_of_metrics_has_those_of_the_code():
    metrics = ServerMetrics(expiry=lambda: 0)
    metrics.looked_up(shared_answers.Unknown("x"))
    metrics.replied({("quay.io", 200): 1})
    found = {}
    for family in metrics.registry.collect():
        if family.name.startswith("archfit_"):
            name = family.name + ("_total" if family.type == "counter" else "")
            labels = {label for sample in family.samples for label in sample.labels}
            found[name] = labels - {"le"}
    rows = {name: set(re.findall("`([a-z]+)`", labels)) for name, labels in ROWS}
    assert rows == found


def test_the_page_names_every_outcome():
    (row,) = re.findall(r"\| `archfit_admission_requests_total` \| `outcome` \| requests: ([^|]*) \|", PAGE)
    assert tuple(re.findall("`([a-z_]+)`", row)) == get_args(Outcome)


@pytest.mark.parametrize(
    "text",
    [
        f"lookups at once | {lookup_worker.THREADS} in each of two processes",
        f"{shared_answers.OF_NAMESPACE} of a namespace",
        f"{shared_answers.OF_REGISTRY} of one registry, over both",
        f"a quarter of `--timeout`, which is {Operator().timeout_seconds / 4} s",
        f"images that wait | {shared_answers.MOST_WAITING:,}",
        f"asked for again after {shared_answers.PAUSE_SECONDS:.0f} seconds",
        f"has a body of {webhook.MOST_BYTES >> 20} MiB at most, {review.MOST_VALUES:,} values that archfit reads",
        f"images of {shared_answers.LONGEST_IMAGE:,} characters",
        f"does not start with less than {memory_budget.SMALLEST_LIMIT >> 20} MiB",
        f"else {memory_budget.USUAL_LIMIT >> 20} MiB",
        f"{memory_budget.PROGRAM >> 20} MiB are for the programs",
        f"of {(memory_budget.USUAL_LIMIT // 2 - memory_budget.PROGRAM) >> 20} MiB (limit "
        f"{memory_budget.USUAL_LIMIT >> 20} MiB)",
        *(f"| `{share}` | {hundredths} % |" for share, hundredths in memory_budget.SHARES.items()),
        f"connections, {connection.CONNECTION_BYTES >> 10} KiB each",
        f"kept below {lookup_worker.CACHE_BYTES >> 20} MiB: every {lookup_worker.PRUNE_SECONDS:.0f} seconds",
        f"arrives within {webhook.BODY_SECONDS:.0f} seconds above 16 KiB",
        f"larger than {connection.MOST_HEADER_BYTES >> 10} KiB",
        f"{LONGEST} characters at most, and all together have at most {LONGEST_TOGETHER:,}",
        f"closed after {webhook.MOST_REQUESTS:,} requests",
        f"within {connection.DRAIN_SECONDS} seconds",
        f"after {MOST_HOSTS} hosts",
        f"archfit takes {webhook.DEFAULT_SECONDS:.0f} s",
        f"Every {server_process.WATCH_SECONDS:.0f} seconds archfit looks",
        f"`POST {webhook.PATH}`",
    ],
)
def test_the_page_has_the_limits_of_the_code(text):
    assert text in PAGE
