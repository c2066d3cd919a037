"""`archfit explain`: what it reads, what it writes where, what it asks for, and how it ends."""

import io
import json
import os

import pytest
from tests.explain.explained_cases import workload

from archfit.base.errors import UsageError
from archfit.explain.command import explain as run
from archfit.lookup.store.open import default_path
from warm_cache import warm

WEB = workload(images=("nginx:1", "api:1"))
JOB = workload(kind="batch/v1 Job", metadata="name: migrate, namespace: db", images=("tool:1",))
STREAM = f"{WEB}---\n{JOB}---\napiVersion: v1\nkind: Service\nmetadata: {{name: web}}\n"
CACHED = {"nginx:1": ["linux/amd64", "linux/arm64"], "api:1": ["linux/amd64"], "tool:1": ["linux/arm64"]}


class Ran:
    """A run of the command in this process."""

    def __init__(self, stream: str, *words: str) -> None:
        stdout, stderr = io.BytesIO(), io.StringIO()
        self.status = run(["--offline", *words], io.BytesIO(stream.encode()), stdout, stderr, os.environ)
        self.out, self.err = stdout.getvalue().decode(), stderr.getvalue()


@pytest.fixture(autouse=True)
def _cache():
    warm(CACHED, default_path(os.environ))


def test_each_pod_has_a_tree_and_manifests_are_never_written():
    ran = Ran(STREAM)
    assert (ran.status, ran.err) == (0, "")
    heads = [line for line in ran.out.splitlines() if line and not line.startswith(("├", "│", "└", " "))]
    assert heads == [
        "apps/v1 Deployment shop/web    line 2    changes: restricted to amd64 (arm64 is not offered by api:1)",
        "batch/v1 Job db/migrate    line 13    changes: restricted to arm64 (amd64 is not offered by tool:1); "
        "tolerates kubernetes.io/arch=arm64:NoSchedule",
    ]
    assert "apiVersion:" not in ran.out


@pytest.mark.parametrize("words", [(), ("--format=json",)], ids=["text", "json"])
def test_input_without_pods_is_said_to_have_none(words):
    ran = Ran("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n", *words)
    assert (ran.status, ran.err) == (
        0,
        "info: the input holds no pods that archfit reads: nothing to explain\n",
    )


def test_files_are_named_and_standard_input_is_one_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(WEB, encoding="utf-8")
    ran = Ran(JOB, "web.yaml", "-")
    assert "shop/web    web.yaml:2    changes" in ran.out
    assert "db/migrate    line 2    changes" in ran.out


@pytest.mark.parametrize(
    ("only", "shown"),
    [
        pytest.param(["Deployment"], ["web"], id="a-kind"),
        pytest.param(["job"], ["migrate"], id="a-kind-in-any-case"),
        pytest.param(["*/db"], ["migrate"], id="a-namespace"),
        pytest.param(["Deployment/shop/w*"], ["web"], id="a-name"),
        pytest.param(["Deployment", "Job"], ["web", "migrate"], id="two"),
    ],
)
def test_only_shows_these_objects(only, shown):
    ran = Ran(STREAM, "--format", "json", *(word for one in only for word in ("--only", one)))
    assert [pod["name"] for pod in json.loads(ran.out)["pods"]] == shown


def test_only_asks_for_the_images_of_these_objects_alone():
    ran = Ran(STREAM.replace("tool:1", "nowhere.invalid/tool:1"), "--only", "Deployment")
    assert (ran.status, ran.err) == (0, "")
    assert Ran(STREAM.replace("tool:1", "nowhere.invalid/tool:1")).status == 1


@pytest.mark.parametrize(
    ("only", "message"),
    [
        pytest.param("StatefulSet", "it holds Deployment/shop/web, Job/db/migrate", id="what-there-is"),
        pytest.param("StatefulSet/web", "did you mean Deployment/shop/web?", id="a-name-of-another-kind"),
        pytest.param("a/b/c/d", "write it as", id="no-glob"),
    ],
)
def test_an_only_that_means_nothing_is_wrong_usage(only, message):
    with pytest.raises(UsageError, match="--only: ") as raised:
        Ran(STREAM, "--only", only)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("stream", "status"),
    [
        pytest.param(WEB, 0, id="a-change"),
        pytest.param(workload("nodeName: n", images=("nginx:1",)), 0, id="left-alone"),
        pytest.param(workload(images=("api:1", "tool:1")), 1, id="a-conflict"),
        pytest.param(workload(images=("unknown.invalid/a:1",)), 1, id="an-image-without-an-answer"),
        pytest.param(workload(images=("A@b",)), 1, id="a-malformed-image"),
        pytest.param(f"{WEB}---\na: [\n", 1, id="a-document-that-cannot-be-read"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n", 0, id="no-pod"),
    ],
)
def test_the_exit_code(stream, status):
    ran = Ran(stream)
    assert ran.status == status
    assert (workload.__name__ in ran.err) is False
    assert bool(ran.out) == ("ConfigMap" not in stream)


def test_leaving_such_pods_does_not_hide_that_they_were_left():
    assert Ran(workload(images=("api:1", "tool:1")), "--on-conflict", "leave").status == 1


def test_what_cannot_be_read_is_said_on_standard_error_and_the_rest_is_explained():
    ran = Ran(f"{WEB}---\na: [\n")
    assert "error: " in ran.err
    assert "shop/web" in ran.out


def test_hostile_names_stay_inert():
    evil = '"a\\e[31m\\u202e\\n::error::x ##[group]"'
    stream = workload(metadata=f"name: {evil}, namespace: {evil}", images=("x\\e[2J:1",))
    for words in ((), ("--format", "json")):
        ran = Ran(stream, *words)
        assert "\x1b" not in ran.out + ran.err
        assert "\u202e" not in ran.out + ran.err
        assert "##[" not in ran.out
        assert not any(line.lstrip("│├└─ ").startswith("::") for line in ran.out.splitlines())


def test_no_secret_of_the_input_is_shown():
    stream = (
        WEB.replace("containers:", "imagePullSecrets: [{name: s}]\n      containers:")
        + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\n"
        "type: kubernetes.io/dockerconfigjson\n"
        'stringData: {.dockerconfigjson: \'{"auths": {"docker.io": {"username": "u", "password": "hunter2"}}}\'}\n'
    )
    ran = Ran(stream, "--pull-secrets")
    assert "hunter2" not in ran.out + ran.err


def test_the_run_leaves_a_report(tmp_path):
    Ran(STREAM, "--only", "Job", "--report", str(tmp_path / "report.json"))
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["command"] == "archfit explain"
    assert [one["object"]["name"] for one in report["decisions"]] == ["migrate"]


def test_no_sentence_speaks_for_an_image_that_nobody_can_look_up():
    known = Ran(workload(images=("nginx:1",)), "--tolerate=none").out
    beside = Ran(workload(images=("nginx:1", "$(x)")), "--tolerate=none").out
    assert "all its images run there" in known
    assert "all images run on amd64, arm64" in known
    assert "all its images that are known run there" in beside
    assert "all images that are known run on amd64, arm64" in beside
    assert "what is known of its images needs nothing; the platforms of others cannot be looked up" in beside
