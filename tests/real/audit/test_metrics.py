"""`archfit audit --format openmetrics` before the programs that read it: promtool, node_exporter, Pushgateway."""

import subprocess

import pytest
from tests.audit import audit_clusters
from tests.real.audit.metric_servers import node_exporter, pushgateway, samples, scraped

import machine
from archfit.audit.findings import findings
from archfit.audit.report.openmetrics import render

CLUSTER = "prod-eu"
INPUTS = {
    "a shop": audit_clusters.shop(),
    "hostile names": audit_clusters.hostile(),
    "3,000 workloads": audit_clusters.large(3000),
}


@pytest.fixture(params=INPUTS)
def text(request, real):
    return render(findings(INPUTS[request.param]))


def test_promtool_finds_nothing_wrong(text):
    done = subprocess.run(
        [machine.tool("promtool"), "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_textfile_collector_exposes_each_sample(text, tmp_path):
    (tmp_path / "archfit.prom").write_bytes(text)
    with node_exporter(tmp_path) as url:
        exposed = scraped(url)
    assert exposed["node_textfile_scrape_error", frozenset()] == 0
    expected = samples(text.decode())
    assert len(expected) > 50
    assert {key: value for key, value in exposed.items() if key[0].startswith("archfit_")} == expected


def test_a_pushgateway_takes_each_sample_and_replaces_those_of_the_run_before(text, tmp_path):
    with pushgateway(tmp_path) as url:
        # The recipe of docs/audit.md.
        for _ in range(2):
            push = ["curl", "--noproxy", "*", "--silent", "--show-error", "--fail", "--upload-file", "-"]
            group = f"{url}/metrics/job/archfit/cluster/{CLUSTER}"
            subprocess.run([*push, group], input=text, check=True)
        exposed = {key: value for key, value in scraped(url).items() if key[0].startswith("archfit_")}
    # The labels of the group win, as the Pushgateway's README says.
    added = {"job": "archfit", "instance": "", "cluster": CLUSTER}
    expected = {
        (name, frozenset((dict(labels) | added).items())): value
        for (name, labels), value in samples(text.decode()).items()
    }
    assert exposed == expected
