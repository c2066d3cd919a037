"""`archfit audit --programs`: what images start, from the containers of pods and templates."""

import csv
import io
import json

import pytest
from tests.audit.cluster_objects import as_json as listed
from tests.audit.cluster_objects import bare_pod as pod
from tests.audit.cluster_objects import workload

from archfit.audit.command import audit as run
from archfit.audit.running.collect import Collector
from archfit.base.errors import UsageError
from fake_registry import FakeRegistry, digest_of
from program_images import elf, index, layer

APP = "quay.io/team/app:1"


@pytest.fixture
def served():
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def audit(tmp_path, served):
    blobs = [layer({"app": elf("amd64"), "arm": elf("arm64")})]
    index(served, "team/app", "1", {"linux/amd64": blobs, "linux/arm64": blobs}, Entrypoint=["/app"])
    environ = {"HOME": str(tmp_path), "ARCHFIT_MIRROR": f"quay.io={served.url}"}

    def ran(text, *words, code=0):
        out, err = io.BytesIO(), io.StringIO()
        assert run(words, io.BytesIO(text), out, err, environ) == code, err.getvalue()
        return out.getvalue().decode()

    return ran


def test_an_image_that_starts_a_program_of_another_machine_is_not_ready_there(audit):
    cluster = listed(pod("a", APP))
    assert "arm64   100 % ready" in audit(cluster)
    text = audit(cluster, "--programs")
    assert "arm64     0 % ready" in text
    said = " ".join(text.split())
    assert (
        f"{APP} is not ready for arm64: its entry for linux/arm64 starts /app, an x86-64 program; repair its build."
        in said
    )
    assert "repair its build; shop/Pod/a" in said
    audit(cluster, "--programs", "--require", "arm64", code=3)


def test_a_layer_that_images_and_architectures_share_is_read_once(audit, served):
    shared, pods = layer({"lib.jar": b"class", "etc/gone": b""}), []
    for name in "abc":
        builds = {f"linux/{arch}": [layer({"java": elf(arch)}), shared] for arch in ("amd64", "arm64")}
        index(served, f"team/{name}", "1", builds, Entrypoint=["/java"])
        pods.append(pod(name, f"quay.io/team/{name}:1"))
    assert "arm64   100 % ready" in audit(listed(*pods), "--programs")
    assert [asked.reference for asked in served.asked].count(digest_of(shared)) == 1


def test_of_a_layer_that_was_left_early_nothing_is_taken_for_another_image(audit, served):
    shared = layer({"first": elf("arm64"), "last": elf("amd64")})
    for name in ("first", "last"):
        index(served, f"team/{name}", "1", {"linux/arm64": [shared]}, Entrypoint=[f"/{name}"])
    text = audit(listed(pod("a", "quay.io/team/first:1"), pod("b", "quay.io/team/last:1")), "--programs")
    assert "arm64   50 % ready" in text
    assert "starts /last, an x86-64 program" in " ".join(text.split())


def _container(**more):
    made = pod("a", APP)
    made["spec"]["containers"][0] |= more
    return made


@pytest.mark.parametrize(
    ("object_", "state", "words"),
    [
        pytest.param(_container(command=["/arm"]), "right", "/arm, an arm64 program", id="the-pod's-command"),
        pytest.param(
            _container(command=["/lost"]), "unread", "its layers have no program /lost", id="not-read"
        ),
        pytest.param(
            _container(volumeMounts=[{"mountPath": "/app"}]),
            "unread",
            "a volume is mounted over /app",
            id="mounted",
        ),
        pytest.param(_container(args=["--token=hush"]), "wrong", "/app, an x86-64 program", id="arguments"),
        pytest.param(
            workload("CronJob", "tick", image=APP), "wrong", "/app, an x86-64 program", id="a-template"
        ),
    ],
)
def test_the_container_decides_what_is_started(audit, object_, state, words):
    text = audit(listed(object_), "--programs", "--format", "json")
    assert "hush" not in text
    (image,) = json.loads(text)["facts"]["images"]
    assert ["arm64", state, words] in image["programs"]
    (row,) = csv.DictReader(io.StringIO(audit(listed(object_), "--programs", "--format", "csv")))
    assert f"arm64={state}" in row["programs"]


def test_a_report_says_what_containers_start_only_where_it_was_asked(audit):
    cluster = listed(_container(command=["/arm"]))
    why = "the input does not say what its containers start: make the report with --programs"
    assert why in " ".join(audit(audit(cluster, "--format", "json").encode(), "--programs").split())
    report = audit(cluster, "--programs", "--format", "json")
    assert "does not say" not in audit(report.encode(), "--programs")


def test_programs_are_asked_before_reports_are_merged(audit):
    with pytest.raises(UsageError, match="--programs: --merge asks nothing"):
        audit(b"", "--merge", "report.json", "--programs")


def test_the_ways_to_start_an_image_are_bounded():
    collector = Collector("lists", "", programs=True)
    for number in range(200):
        collector.add(
            pod(f"p{number}", APP) | {"spec": {"containers": [{"image": APP, "command": [f"/{number}"]}]}}
        )
    (image,) = collector.facts().images
    assert len(image.starts) == 65
