"""The summary of a run links the one page that explains how it ended, and each page that is linked exists."""

import ast

import pytest
from tests.explain.explained_cases import CASES, workload

from archfit.base import documentation
from archfit.cli.page_text import anchor, headings
from archfit.images.platforms import Absent, Unknown
from archfit.options.settings import Options
from archfit.pipeline import decide, scan
from archfit.registry.refusals import _denied
from archfit.registry.routing.endpoints import Endpoint
from archfit.reports import outcome_page
from archfit.reports.outcome_page import PAGES, after_failure, see
from archfit.reports.summary import summary
from archfit.yaml.stream import split
from machine import ROOT
from pod_decisions import answers

LEAVE = Options(on_conflict="leave", on_unknown="leave", on_absent="leave")
WIDGET = workload(kind="example.com/v1 Widget")
JOB = workload(kind="batch/v1 Job")
PINNED = CASES["a-conflict-by-a-pin"].stream


def ended(stream: str, answer: object, options: Options = Options()) -> str:  # noqa: B008 - a frozen value
    """The last line of the summary, or of the messages of a run that failed."""
    data = stream.encode()
    found = scan(data, split(data), options)
    made = decide(found, answers({"app:1": answer}), options)
    if made.failed():
        return after_failure(made.messages, made.decisions, made.answers)
    passed_over = any(not one.known for one in found.untouched)
    last = summary(made.decisions, made.answers, 0, passed_over=passed_over).rpartition("\n")[2]
    return last if "see" in last else ""


def refused() -> Unknown:
    """The answer of a registry that gives no anonymous access."""
    endpoint = Endpoint("https://ghcr.io", "ghcr.io", "team/app", configured=False)
    return Unknown(f"https://ghcr.io {_denied(None, endpoint)} app:1")


@pytest.mark.parametrize(
    ("stream", "answer", "options", "where"),
    [
        pytest.param(PINNED, "amd64", Options(), outcome_page.CONFLICTS, id="a-conflict"),
        pytest.param(PINNED, "amd64", LEAVE, outcome_page.CONFLICTS, id="a-conflict-that-is-left"),
        pytest.param(
            CASES["a-kind-without-a-field-for-affinity"].stream,
            "amd64",
            CASES["a-kind-without-a-field-for-affinity"].options,
            outcome_page.OPERATORS,
            id="a-custom-resource-without-a-field",
        ),
        pytest.param(workload(), refused(), Options(), outcome_page.CREDENTIALS, id="no-access"),
        pytest.param(workload(), refused(), LEAVE, outcome_page.CREDENTIALS, id="no-access-and-left"),
        pytest.param(workload(), Unknown("500"), Options(), outcome_page.IMAGES, id="another-answer"),
        pytest.param(workload(), Absent("gone"), Options(), outcome_page.IMAGES, id="absent"),
        pytest.param(workload(), Absent("gone"), LEAVE, outcome_page.IMAGES, id="absent-and-left"),
        pytest.param(workload(), Unknown("not locked", final=True), Options(), outcome_page.LOCKED, id="not-locked"),
        pytest.param(CASES["a-misspelt-annotation"].stream, "amd64", Options(), outcome_page.ANNOTATIONS, id="an-annotation"),
        pytest.param(workload(kind="apps/v1 DaemonSet"), "amd64", Options(daemon_sets="fail"), outcome_page.DAEMON_SETS, id="a-daemon-set-that-fails"),
        pytest.param(JOB, "amd64", Options(), outcome_page.JOBS, id="a-job-that-changes"),
        pytest.param(WIDGET, "amd64", Options(), outcome_page.KINDS, id="a-kind-without-a-row"),
        pytest.param(f"{WIDGET}---\n{workload()}", "amd64", Options(), outcome_page.KINDS, id="beside-a-pod"),
        pytest.param(f"{WIDGET}---\n{JOB}", "amd64", Options(), outcome_page.JOBS, id="one-page-at-most"),
    ],
)  # fmt: skip
def test_the_page_of_an_outcome(stream, answer, options, where):
    assert ended(stream, answer, options) == see(where)


@pytest.mark.parametrize(
    ("stream", "answer", "options"),
    [
        pytest.param(workload(), "amd64", Options(), id="a-change"),
        pytest.param(workload(), "amd64 arm64", Options(tolerate=()), id="nothing-needed"),
        pytest.param(JOB, "amd64 arm64", Options(), id="a-job-that-stays"),
        pytest.param(workload(kind="apps/v1 DaemonSet"), "amd64", Options(), id="a-warning-alone"),
        pytest.param(CASES["images-that-run-elsewhere"].stream, "amd64", Options(), id="a-row-that-says-why"),
        pytest.param(CASES["skip"].stream, "amd64", Options(), id="left-alone-on-purpose"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n", "amd64", Options(), id="no-pod"),
        pytest.param("a: [\n", "amd64", Options(), id="an-error-that-says-it-all"),
    ],
)
def test_a_run_that_a_page_would_not_explain_links_none(stream, answer, options):
    assert ended(stream, answer, options) == ""


def test_every_page_of_the_program_has_the_heading():
    calls = [
        [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        for path in (ROOT / "transformer").rglob("*.py")
        if "base.documentation import" in (source := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("page", "place")
    ]
    linked = {(*call, "")[:2] for call in calls if call} | set(PAGES)
    assert len(linked) > 12
    assert [name for name, _ in sorted(linked) if not (ROOT / "docs" / f"{name}.md").exists()] == []
    texts = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name, _ in linked}
    known = {name: {anchor(heading) for _, _, heading in headings(text)} for name, text in texts.items()}
    assert [one for one in sorted(linked) if one[1] and one[1] not in known[one[0]]] == []


def test_a_page_that_is_not_here_says_where_it_is(monkeypatch, tmp_path):
    assert see(outcome_page.JOBS) == "archfit: see docs/helm.md#jobs"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        documentation, "__file__", str(tmp_path / "site-packages/archfit/base/documentation.py")
    )
    assert see(outcome_page.JOBS) == "archfit: see `archfit help helm.md#jobs`"


def test_the_site_is_linked_once_it_is_published(monkeypatch):
    monkeypatch.setattr(documentation, "SITE", "https://archfit.dev")
    assert see(outcome_page.JOBS) == "archfit: see https://archfit.dev/helm.html#jobs"
