"""`archfit setup fleet`: the files, what they allow and run, and what --check finds wrong."""

# ruff: noqa: E501 - a row of a table is a line
from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.audit.cluster_objects import workload

from archfit.audit.command import run as audit
from archfit.audit.fleet.setup import run
from archfit.cluster.pools.live import KINDS
from lock_runs import Said, setup_said
from warm_cache import warm

INTEL, BOTH = "quay.io/team/intel:1", "quay.io/team/both:1"
FILES = {"00-namespace.yaml", "10-access.yaml", "20-volume.yaml", "30-configuration.yaml", "run/reader.yaml"}
STEPS = {"run/1-snapshot.yaml", "run/2-shards.yaml", "run/3-merge.yaml"}
CREDENTIALS = (
    *("--cache", "rediss://cache.example:6380/1", "--cache-secret", "redis"),
    *("--registry-secret", "pull"),
)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def setup(*words: str, **environ: str) -> Said:
    return setup_said(run, words, environ)


def objects(folder: Path) -> dict[str, Any]:
    """By kind and name."""
    return {
        f"{one['kind']}/{one['metadata']['name']}": one
        for path in sorted(folder.rglob("*.yaml"))
        for one in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    }


def steps(folder: Path) -> dict[str, dict[str, Any]]:
    """The container of each step, with the pod's volumes."""
    every = objects(folder)
    found = {}
    for name in ("snapshot", "shards", "merge"):
        pod = every[f"Job/archfit-audit-{name}"]["spec"]["template"]["spec"]
        own = {"archfit": {"shards": "shard", "merge": "report"}.get(name, name)}
        for one in (*pod.get("initContainers", ()), *pod["containers"]):
            found[own.get(one["name"], one["name"])] = {**one, "volumes": pod["volumes"]}
    return found


def test_it_writes_the_manifests_and_says_what_to_run(tmp_path):
    said = setup("--engine", "job")
    folder = tmp_path / "archfit-fleet"
    assert said.status == 0
    written = {str(path.relative_to(folder)) for path in folder.rglob("*.yaml")}
    assert written == FILES | STEPS
    assert said.stderr.splitlines()[:2] == [
        "written: archfit-fleet",
        "Now run: kubectl apply --server-side -f archfit-fleet",
    ]
    assert setup("--engine", "job").stderr.startswith("up to date: archfit-fleet\n")


@pytest.mark.parametrize("engine", ["job", "cron"])
def test_pools_are_listed_only_by_choice(engine, tmp_path):
    def lists(folder: str) -> set[tuple[str, str]]:
        rules = objects(tmp_path / folder)["ClusterRole/archfit-audit"]["rules"]
        assert all(rule["verbs"] in (["list"], ["get"], ["get", "list"]) for rule in rules)
        return {(group, one) for rule in rules for group in rule["apiGroups"] for one in rule["resources"]}

    setup("--engine", engine, "--into", "without")
    setup("--engine", engine, "--into", "with", "--node-pools")
    assert lists("with") - lists("without") == {(group, resource) for group, resource, _kind in KINDS}
    groups = {"", "apps", "batch", "admissionregistration.k8s.io"}
    assert {group for group, _resource in lists("without")} == groups


def test_no_pod_gets_variables_for_services(tmp_path):
    """The kubelet would set ARCHFIT_CACHE_PORT and more for a Service archfit-cache."""
    setup("--engine", "job")
    every = objects(tmp_path / "archfit-fleet")
    specs = [one["spec"]["template"]["spec"] for name, one in every.items() if name.startswith("Job/")]
    specs += [one["spec"] for name, one in every.items() if name.startswith("Pod/")]
    assert [spec["enableServiceLinks"] for spec in specs] == [False] * 4


@pytest.mark.parametrize("named", [(), ("--cluster", "prod eu")], ids=["plain", "named"])
def test_one_step_reads_the_cluster_and_every_shard_reads_what_it_wrote(tmp_path, named):
    index = "$(JOB_COMPLETION_INDEX)"
    setup("--engine", "job", "--shards", "3", *named)
    commands = {name: " ".join(one["command"]) for name, one in steps(tmp_path / "archfit-fleet").items()}
    assert commands == {
        "snapshot": " ".join(
            ["archfit audit --live", *named, "--offline --no-cache --format json -o /audit/snapshot.json"]
        ),
        "shard": f"archfit audit /audit/snapshot.json --shard {index} --shards 3 --format json "
        f"-o /audit/shard-{index}.json",
        "merge": "archfit audit --format json -o /audit/report.json --merge /audit/shard-0.json /audit/shard-1.json "
        "/audit/shard-2.json",
        "page": "archfit audit --merge /audit/report.json --format html -o /audit/report.html",
        "report": "archfit audit --merge /audit/report.json",
    }


def test_the_indexed_job_has_one_index_for_each_shard(tmp_path):
    setup("--engine", "job", "--shards", "40", "--parallelism", "5")
    spec = objects(tmp_path / "archfit-fleet")["Job/archfit-audit-shards"]["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 40, 5)
    assert spec["backoffLimitPerIndex"] == 3
    wrong_usage, disrupted = spec["podFailurePolicy"]["rules"]
    assert (wrong_usage["action"], wrong_usage["onExitCodes"]["values"]) == ("FailJob", [2])
    assert disrupted["action"] == "Ignore"
    assert disrupted["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]
    setup("--engine", "job", "--shards", "2", "--into", "few")
    assert objects(tmp_path / "few")["Job/archfit-audit-shards"]["spec"]["parallelism"] == 2


def test_the_rights_are_to_get_and_list_what_is_read_and_only_one_step_has_them(tmp_path):
    setup("--engine", "job")
    every = objects(tmp_path / "archfit-fleet")
    rights = {
        (group, resource, verb)
        for rule in every["ClusterRole/archfit-audit"]["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    read = {
        "": ("pods", "nodes", "services"),
        "batch": ("jobs", "cronjobs"),
        "apps": ("deployments", "statefulsets", "daemonsets", "replicasets"),
        "admissionregistration.k8s.io": ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
    }
    listed = {(group, one, verb) for group in read for one in read[group] for verb in ("get", "list")}
    assert rights == listed | {("", "namespaces", "get")}
    (named,) = (
        one for one in every["ClusterRole/archfit-audit"]["rules"] if "namespaces" in one["resources"]
    )
    assert named["resourceNames"] == ["kube-system"]
    jobs = {name: one["spec"]["template"]["spec"] for name, one in every.items() if name.startswith("Job/")}
    assert {name: pod["automountServiceAccountToken"] for name, pod in jobs.items()} == {
        "Job/archfit-audit-snapshot": True,
        "Job/archfit-audit-shards": False,
        "Job/archfit-audit-merge": False,
    }


def test_secrets_are_named_and_only_shards_mount_them(tmp_path):
    setup("--engine", "job", *CREDENTIALS)
    for name, step in steps(tmp_path / "archfit-fleet").items():
        settings = {one["name"]: one["value"] for one in step["env"]}
        mounts = {one["name"] for one in step["volumeMounts"]}
        if name != "shard":
            assert not {one for one in settings if one not in {"ARCHFIT_CONFIG", "HOME"}}, name
            assert mounts == {"configuration", "audit", "tmp"}
            continue
        assert settings["ARCHFIT_CACHE"] == "rediss://cache.example:6380/1"
        assert settings["ARCHFIT_CACHE_PASSWORD_FILE"] == "/etc/archfit/cache/password"
        assert settings["ARCHFIT_AUTHFILE"] == "/etc/archfit/registries/config.json"
        secrets = {one["name"]: one["secret"] for one in step["volumes"] if "secret" in one}
        assert secrets["cache"]["secretName"] == "redis"
        assert secrets["registries"]["secretName"] == "pull"
        assert mounts > {"cache", "registries"}


def test_a_namespace_and_a_volume_of_ones_own_are_used_and_not_written(tmp_path):
    setup("--engine", "job", "--namespace", "reports", "--claim", "shared")
    every = objects(tmp_path / "archfit-fleet")
    assert not [name for name in every if name.startswith(("Namespace/", "PersistentVolumeClaim/"))]
    assert {one["metadata"].get("namespace", "reports") for one in every.values()} == {"reports"}
    binding = every["ClusterRoleBinding/archfit-audit-reports"]
    assert binding["roleRef"]["name"] == "archfit-audit-reports"
    assert [one["namespace"] for one in binding["subjects"]] == ["reports"]
    for step in steps(tmp_path / "archfit-fleet").values():
        (volume,) = (one for one in step["volumes"] if one["name"] == "audit")
        assert volume["persistentVolumeClaim"] == {"claimName": "shared"}


def test_a_configuration_of_ones_own_is_checked_and_taken_over(tmp_path):
    text = "# mine\napiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec:\n  clusterArchitectures: [arm64]\n"
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    setup("--engine", "job", "--configuration", "own.yaml")
    assert objects(tmp_path / "archfit-fleet")["ConfigMap/archfit-audit"]["data"]["archfit.yaml"] == text
    (tmp_path / "own.yaml").write_text(text.replace("spec", "spce"), encoding="utf-8")
    assert setup("--engine", "job", "--configuration", "own.yaml").status == 2


def test_a_file_of_somebodys_is_never_replaced(tmp_path):
    setup("--engine", "job")
    mine = tmp_path / "archfit-fleet" / "run" / "2-shards.yaml"
    mine.write_text("mine", encoding="utf-8")
    said = setup("--engine", "job", "--image", "ghcr.io/team/archfit:1")
    assert said.status == 1
    assert "exists and differs: nothing was written" in said.stderr
    assert mine.read_text(encoding="utf-8") == "mine"
    assert "ghcr.io" not in (tmp_path / "archfit-fleet" / "run" / "1-snapshot.yaml").read_text(
        encoding="utf-8"
    )
    assert setup("--engine", "job", "--force").status == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param([], "--engine: is missing: write job", id="no engine"),
        pytest.param(["--engine", "ray"], "--engine: 'ray' is not one of job, cron", id="engine"),
        pytest.param(["--engine", "job", "x"], "'x' is not expected", id="a word"),
        pytest.param(["--engine", "job", "--into="], "--into: is empty", id="no folder"),
        pytest.param(["--engine", "job", "--cluster", " "], "--cluster: ' ' is no name", id="blank name"),
        pytest.param(["--engine", "job", "--cluster", "$(POD)"], "'$(POD)' holds a variable", id="a name with a variable"),
        pytest.param(["--engine", "job", "--shards", "0"], "--shards: '0' cannot be used", id="no shard"),
        pytest.param(["--engine", "job", "--shards", "501"], "from 1 to 500", id="too many shards"),
        pytest.param(["--engine", "job", "--parallelism", "x"], "--parallelism: 'x'", id="parallelism"),
        pytest.param(["--engine", "job", "--namespace", "A"], "--namespace: 'A' is not a name", id="namespace"),
        pytest.param(["--engine", "job", "--image", "No Image"], "--image: ", id="image"),
        pytest.param(["--engine", "job", "--cache", "/var/cache"], "shards can share only a server", id="a file as cache"),
        pytest.param(["--engine", "job", "--cache", "redis://u:secret@c"], "has a password in it", id="a password"),
        pytest.param(["--engine", "job", "--cache-secret", "a"], "name the server with --cache", id="no cache"),
        pytest.param(["--engine", "job", "--claim", "a", "--storage-class", "b"], "leave one out", id="two volumes"),
        pytest.param(["--engine", "job", "--configuration", "no.yaml"], "cannot read 'no.yaml'", id="file"),
        pytest.param(["--engine", "job", "--check", "--image", "x"], "--image says what", id="check"),
        pytest.param(["--engine", "job", "--context", "x"], "--context needs --check", id="context"),
        pytest.param(["--engine", "job", "--schedule", "0 0 * * *"], "only the engine cron has one", id="no cron job"),
        pytest.param(["--engine", "cron", "--shards", "8"], "--shards: the engine cron runs one pod", id="no shards"),
        pytest.param(["--engine", "cron", "--parallelism", "8"], "--parallelism: the engine cron", id="not parallel"),
        pytest.param(["--engine", "cron", "--schedule", "daily"], "'daily' is no schedule", id="schedule"),
        pytest.param(["--engine", "cron", "--schedule", "TZ=UTC 0 0 * * *"], "is no schedule", id="time zone"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(words, message, tmp_path):
    said = setup(*words)
    assert said.status == 2
    assert message in said.stderr
    assert "secret@" not in said.stderr
    assert not (tmp_path / "archfit-fleet").exists()


def _nightly_volume(text: str, name: str) -> str:
    """A volume of its own: the access modes of a claim that is there never change."""
    text = text.replace("claimName: archfit-audit", "claimName: archfit-audit-nightly")
    if name == "20-volume.yaml":
        text = text.replace("name: archfit-audit\n", "name: archfit-audit-nightly\n")
    return text.replace("[ReadWriteMany]", "[ReadWriteOnce]")


def nightly(*words: str) -> dict[str, Any]:
    """The objects of the engine cron, in a folder of their own."""
    assert setup("--engine", "cron", "--into", "nightly", *words).status == 0
    return objects(Path("nightly"))


def night_pod(*words: str) -> dict[str, Any]:
    """The pod of its CronJob."""
    pod: dict[str, Any] = nightly(*words)["CronJob/archfit-audit"]["spec"]["jobTemplate"]["spec"]["template"]
    return pod["spec"]


@pytest.mark.parametrize(
    "words", [(), ("--namespace", "reports", "--image", "a/b:1", "--node-pools")], ids=["plain", "chosen"]
)
def test_the_cron_job_is_one_pod_and_shares_all_else_with_the_jobs(words, tmp_path):
    said = setup("--engine", "cron", "--into", "cron", *words)
    setup("--engine", "job", "--into", "job", *words)
    shared = [name for name in FILES if (tmp_path / "job" / name).exists()]
    assert len(shared) == (4 if words else 5)
    for name in shared:
        job, cron = ((tmp_path / engine / name).read_text() for engine in ("job", "cron"))
        assert cron == _nightly_volume(job, name), name
    every = objects(tmp_path / "cron")
    assert [name for name in every if name.startswith(("Job/", "CronJob/"))] == ["CronJob/archfit-audit"]
    where = "reports" if words else "archfit"
    assert f"kubectl create job -n {where} --from=cronjob/archfit-audit first" in said.stderr


@pytest.mark.parametrize("cluster", ["", "prod eu"])
def test_the_cron_job_reads_once_and_makes_all_else_of_what_it_read(cluster):
    every = nightly("--schedule", "0 4 * * 1-5", *(["--cluster", cluster] if cluster else []))
    spec = every["CronJob/archfit-audit"]["spec"]
    assert (spec["schedule"], spec["concurrencyPolicy"]) == ("0 4 * * 1-5", "Forbid")
    pod = spec["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["enableServiceLinks"] is False
    merge = ["archfit", "audit", "--merge", "/audit/report.json"]
    named = ["--cluster", cluster] if cluster else []
    assert {one["name"]: one["command"] for one in (*pod["initContainers"], *pod["containers"])} == {
        "audit": ["archfit", "audit", "--live", *named, "--format", "json", "-o", "/audit/report.json"],
        "page": [*merge, "--format", "html", "-o", "/audit/report.html"],
        "metrics": [*merge, "--format", "openmetrics", "-o", "/audit/archfit.prom"],
        "archfit": merge,
    }
    assert [one["name"] for one in pod["initContainers"]] == ["audit", "metrics", "page"]


def test_only_the_step_that_asks_registries_has_their_credentials():
    pod = night_pod(*CREDENTIALS)
    with_them = {
        one["name"]
        for one in (*pod["initContainers"], *pod["containers"])
        if {mount["name"] for mount in one["volumeMounts"]} & {"cache", "registries"}
        or {entry["name"] for entry in one["env"]} & {"ARCHFIT_AUTHFILE", "ARCHFIT_CACHE"}
    }
    assert with_them == {"audit"}
    bare = night_pod("--force")
    assert {one["name"] for one in bare["volumes"]} == {"configuration", "audit", "tmp"}


def test_the_cron_job_writes_the_last_night_over_the_one_before(tmp_path):
    """Its own commands, in the order in which the kubelet runs them; the lists come from a file."""
    pod = night_pod("--cluster", "prod")
    warm({INTEL: ["linux/amd64"], BOTH: ["linux/amd64", "linux/arm64"]}, str(tmp_path / "cache"))
    for night, image in enumerate((INTEL, BOTH)):
        lists = json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": [workload("Deployment", "web", image=image)]}
        )
        (tmp_path / "lists.json").write_text(lists)
        environ = {
            "HOME": str(tmp_path),
            "PATH": "/bin",
            "SOURCE_DATE_EPOCH": f"{1_790_000_000 + 86_400 * night}",
        }
        for step in (*pod["initContainers"], *pod["containers"]):
            words = [word.replace("/audit/", f"{tmp_path}/") for word in step["command"][2:]]
            words = ["lists.json" if word == "--live" else word for word in words]
            stdout, stderr = io.BytesIO(), io.StringIO()
            cached = ("--offline", "--cache", str(tmp_path / "cache"))
            assert audit((*words, *cached), io.BytesIO(), stdout, stderr, environ) == 0, stderr.getvalue()
    assert "100 % ready" in stdout.getvalue().decode()
    assert "100 %" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "archfit.prom").read_text().endswith("# EOF\n")


_KUBECTL = """\
#!{python} -I
import json, sys
answers = json.loads({answers!r})
words = [word for word in sys.argv[1:] if not word.startswith("--context")]
if words[0] == "auth":
    print(answers["can"])
elif words[:2] == ["get", "--raw"]:
    answer = answers.get(words[2])
    if answer is None:
        sys.exit("Error from server (NotFound): the server could not find the requested resource")
    print(json.dumps(answer))
"""
_CLAIM = "/api/v1/namespaces/archfit/persistentvolumeclaims/archfit-audit"
_SHARDS = "/apis/batch/v1/namespaces/archfit/jobs/archfit-audit-shards"
_CRON = "/apis/batch/v1/namespaces/archfit/cronjobs/archfit-audit"


def _finished(kind: str, **status: Any) -> dict[str, Any]:
    condition = {"type": kind, "status": "True", "reason": "FailedIndexes" if kind == "Failed" else ""}
    return {"spec": {"completions": 4}, "status": {"conditions": [condition], **status}}


@pytest.mark.parametrize(
    ("engine", "answers", "last"),
    [
        pytest.param("job", {}, "ok: Job archfit/archfit-audit-merge has not been started yet", id="well"),
        pytest.param("job", {"can": "no"}, "may not list pods, nodes, deployments.apps, statefulsets.apps, daemonsets.apps", id="rights"),
        pytest.param("job", {_CLAIM: None}, "there is no PersistentVolumeClaim archfit/archfit-audit", id="claim"),
        pytest.param("job", {_CLAIM: {"status": {"phase": "Lost"}}}, "has lost its volume", id="lost"),
        pytest.param(
            "job",
            {_SHARDS: _finished("Failed", failedIndexes="1,3")},
            "failed (FailedIndexes; failed indexes: 1,3); its log says why: kubectl logs",
            id="shards failed",
        ),
        pytest.param("cron", {}, "ok: CronJob archfit/archfit-audit is there, and has not run on its schedule yet", id="well for cron"),
        pytest.param("cron", {_CRON: None}, "there is no CronJob archfit/archfit-audit: write 50-cron-job.yaml", id="no cron job"),
        pytest.param("cron", {_CRON: {"spec": {"suspend": True}}}, "CronJob archfit/archfit-audit is suspended: kubectl patch", id="suspended"),
        pytest.param("cron", {_CRON: {"status": {"lastScheduleTime": "A"}}}, "ok: CronJob archfit/archfit-audit started at A, and has not succeeded yet", id="no success"),
        pytest.param(
            "cron",
            {_CRON: {"status": {"lastScheduleTime": "A", "lastSuccessfulTime": "B"}}},
            "ok: CronJob archfit/archfit-audit started at A, and last succeeded at B",
            id="success",
        ),
    ],
)  # fmt: skip
def test_the_check_says_what_is_wrong(engine, answers, last, tmp_path):
    every = {
        "/version": {"gitVersion": "v1.36.3"},
        "can": "yes",
        f"{_CLAIM}-nightly": {"spec": {"accessModes": ["ReadWriteOnce"]}},
        _CLAIM: {"spec": {"accessModes": ["ReadWriteOnce"]}, "status": {"phase": "Bound"}},
        _SHARDS: _finished("Complete", succeeded=4),
        _CRON: {"spec": {}},
        **answers,
    }
    program = tmp_path / "kubectl"
    program.write_text(_KUBECTL.format(python=sys.executable, answers=json.dumps(every)), encoding="utf-8")
    program.chmod(0o755)
    said = setup("--engine", engine, "--check", "--context", "dev", PATH=str(tmp_path))
    lines = said.stdout.splitlines()
    assert last in lines[-1]
    assert said.status == (not last.startswith("ok: "))
    if not answers and engine == "job":
        assert "ok: Job archfit/archfit-audit-shards is complete (4 of 4)" in lines
    one_node = any("not ReadWriteMany, so all pods have to fit on one node" in line for line in lines)
    assert one_node == (engine != "cron" and _CLAIM not in answers and "can" not in answers)
    assert not (tmp_path / "archfit-fleet").exists()
