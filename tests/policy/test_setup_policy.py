"""`archfit setup policy`: the files, what they allow, and what --check finds wrong."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from archfit.cluster.service_account import plural
from archfit.options.settings import Options
from archfit.policy.images import KINDS
from archfit.policy.installed.setup import run
from archfit.policy.objects import policy_objects
from archfit.policy.settings import PolicySettings
from case_files import rows
from lock_runs import Said, setup_said

if TYPE_CHECKING:
    from pathlib import Path

FILES = [
    "00-namespace.yaml",
    "10-access.yaml",
    "30-configuration.yaml",
    "50-cronjob.yaml",
    "60-first-job.yaml",
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def setup(*words: str, **environ: str) -> Said:
    return setup_said(run, words, environ)


def objects(folder: Path) -> dict[str, Any]:
    """By kind."""
    every = [
        one
        for path in sorted(folder.iterdir())
        for one in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]
    return {one["kind"]: one for one in every}


def container(folder: Path) -> dict[str, Any]:
    spec = objects(folder)["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return {**spec["containers"][0], "pod": spec}


def test_it_writes_the_job_and_says_what_to_run(tmp_path: Path):
    said = setup()
    folder = tmp_path / "archfit-policy"
    assert said.status == 0
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert said.stderr.splitlines()[:2] == [
        "written: archfit-policy",
        "Now run: kubectl apply --server-side -f archfit-policy",
    ]
    assert container(folder)["command"] == ["archfit", "policy", "--live", "--apply"]
    # The kubelet would set ARCHFIT_CACHE_PORT and more for a Service archfit-cache.
    assert container(folder)["pod"]["enableServiceLinks"] is False
    assert set(objects(folder)) == {
        "Namespace",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "ConfigMap",
        "CronJob",
        "Job",
    }
    assert setup().stderr.startswith("up to date: archfit-policy\n")


def test_the_first_job_is_that_of_the_cron_job_and_another_one_has_another_name(tmp_path: Path):
    """An applied Job cannot be changed (apiserver: "field is immutable")."""
    (tmp_path / "own.yaml").write_text("apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n", encoding="utf-8")

    def first(folder: str, *words: str) -> tuple[str, dict[str, Any]]:
        setup("--into", folder, *words)
        found = objects(tmp_path / folder)
        template = found["Job"]["spec"]["template"]
        assert template == found["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]
        return found["Job"]["metadata"]["name"], template

    same, changed = first("a"), [first("b", "--deny"), first("c", "--configuration", "own.yaml")]
    assert first("d") == same
    assert first("e", "--schedule", "@daily") == same  # which the first job has not
    names = [same[0], *(name for name, _ in changed)]
    assert len(set(names)) == 3
    assert all(name.startswith("archfit-policy-") and len(name) <= 63 for name in names)


def test_the_flags_of_the_policy_are_those_of_the_job(tmp_path: Path):
    setup(
        *("--into", "x", "--schedule", "*/5 * * * *", "--image", "ghcr.io/team/archfit:1", "--deny"),
        *("--name", "shop.example", "--namespace-selector", "team=shop", "--registry-secret", "pull"),
    )
    made = container(tmp_path / "x")
    assert made["image"] == "ghcr.io/team/archfit:1"
    assert made["command"][4:] == [*("--namespace-selector", "team=shop", "--name", "shop.example"), "--deny"]
    assert {"name": "ARCHFIT_AUTHFILE", "value": "/etc/archfit/registries/config.json"} in made["env"]
    assert made["pod"]["volumes"][-1]["secret"]["secretName"] == "pull"
    assert objects(tmp_path / "x")["CronJob"]["spec"]["schedule"] == "*/5 * * * *"


@pytest.mark.parametrize(
    "words",
    [(), ("--carrier", "crd"), ("--deny",), ("--name", "other.example")],
    ids=" ".join,
)
def test_the_rights_are_to_list_what_is_read_and_to_apply_these_objects(
    tmp_path: Path, words: tuple[str, ...]
):
    setup("--into", "x", *words)
    settings = PolicySettings(
        name="other.example" if "--name" in words else "archfit.dev",
        carrier="crd" if "crd" in words else "literal",
        deny="--deny" in words,
    )
    every = policy_objects({"docker.io/library/x:1": ["amd64"]}, Options(), settings)
    rules = objects(tmp_path / "x")["ClusterRole"]["rules"]
    listed = {
        (group, resource)
        for rule in rules
        if rule["verbs"] == ["list"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    applied = {
        (rule["apiGroups"][0], rule["resources"][0], *rule["resourceNames"])
        for rule in rules
        if "resourceNames" in rule
    }
    assert listed == {(kind.group, kind.resource) for kind in KINDS}
    assert applied == {
        (one["apiVersion"].rpartition("/")[0], plural(one, every), one["metadata"]["name"]) for one in every
    }
    others = [rule for rule in rules if rule["verbs"] != ["list"] and "resourceNames" not in rule]
    parameters = "platformtables" if "crd" in words else "validatingadmissionpolicybindings"
    assert [(rule["resources"], rule["verbs"]) for rule in others] == [([parameters], ["get"])]


def test_a_configuration_of_ones_own_is_checked_and_taken_over(tmp_path: Path):
    text = "# mine\napiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec:\n  clusterArchitectures: [arm64]\n"
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    setup("--configuration", "own.yaml")
    assert objects(tmp_path / "archfit-policy")["ConfigMap"]["data"]["archfit.yaml"] == text
    (tmp_path / "own.yaml").write_text(text.replace("spec", "spce"), encoding="utf-8")
    assert setup("--configuration", "own.yaml").status == 2


def test_a_file_of_somebodys_is_never_replaced(tmp_path: Path):
    setup()
    mine = tmp_path / "archfit-policy" / "30-configuration.yaml"
    mine.write_text("mine", encoding="utf-8")
    said = setup("--deny")
    assert said.status == 1
    assert "exists and differs: nothing was written" in said.stderr
    assert "--deny" not in container_text(tmp_path)
    assert setup("--deny", "--force").status == 0
    assert "--deny" in container_text(tmp_path)


def container_text(tmp_path: Path) -> str:
    return (tmp_path / "archfit-policy" / "50-cronjob.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["x"], "'x' is not expected", id="a word"),
        pytest.param(["--into="], "--into: is empty", id="no folder"),
        pytest.param(["--schedule", "hourly"], "--schedule: 'hourly' is not a schedule", id="schedule"),
        pytest.param(["--schedule", "* * * *"], "is not a schedule: write five fields", id="four fields"),
        pytest.param(["--image", "No Image"], "--image: ", id="image"),
        pytest.param(["--registry-secret", "A_B"], "--registry-secret: 'A_B' is not a name", id="secret"),
        pytest.param(["--configuration", "no.yaml"], "--configuration: cannot read 'no.yaml'", id="file"),
        pytest.param(["--check", "--image", "x"], "--image says what to write", id="check with an image"),
        pytest.param(["--context", "x"], "--context needs --check", id="context without check"),
        pytest.param(["--carrier", "x"], "--carrier: 'x' is not one of literal, crd", id="carrier"),
        pytest.param(["--namespace-selector", "a<1"], "--namespace-selector: 'a<1'", id="selector"),
    ],
)
def test_a_mistake_is_named(words: list[str], message: str, tmp_path: Path):
    said = setup(*words)
    assert said.status == 2
    assert message in said.stderr
    assert not (tmp_path / "archfit-policy").exists()


CRONJOB = {"spec": {"schedule": "17 * * * *"}, "status": {}}
_KUBECTL = """\
#!{python} -I
import json, sys
answers = json.loads({answers!r})
words = [word for word in sys.argv[1:] if not word.startswith("--context")]
if words[0] == "auth":
    print(answers["can"])
elif words[:2] == ["get", "--raw"]:
    answer = answers.get(words[2], answers.get("*"))
    if answer is None:
        sys.exit("Error from server (NotFound): the server could not find the requested resource")
    print(json.dumps(answer))
"""
_CRONJOB_PATH = "/apis/batch/v1/namespaces/archfit/cronjobs/archfit-policy"
_BASE = "/apis/admissionregistration.k8s.io/v1"


@pytest.mark.parametrize(("answers", "wrong"), rows("policy/check_answers.yaml", "answers", "wrong"))
def test_the_check_says_what_is_wrong(tmp_path: Path, answers: dict[str, Any], wrong: str):
    every = {
        "/version": {"gitVersion": "v1.36.3"},
        _CRONJOB_PATH: CRONJOB,
        "can": "yes",
        _BASE: {"resources": [{"name": "mutatingadmissionpolicies"}]},
        f"{_BASE}/validatingadmissionpolicies/archfit.dev": {},
        f"{_BASE}/validatingadmissionpolicybindings/archfit.dev": {},
        f"{_BASE}/mutatingadmissionpolicies/archfit.dev": {"metadata": {"name": "archfit.dev"}, "spec": {}},
        f"{_BASE}/mutatingadmissionpolicybindings/archfit.dev": {},
        **answers,
    }
    program = tmp_path / "kubectl"
    program.write_text(_KUBECTL.format(python=sys.executable, answers=json.dumps(every)), encoding="utf-8")
    program.chmod(0o755)
    said = setup("--check", "--context", "dev", PATH=str(tmp_path))
    lines = said.stdout.splitlines()
    assert said.status == bool(wrong)
    assert [line for line in lines if line.startswith("wrong: ")] == [
        line for line in lines if "wrong" in line
    ]
    assert wrong in lines[-1]
    assert not (tmp_path / "archfit-policy").exists()
