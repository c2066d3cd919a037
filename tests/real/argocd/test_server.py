"""The real argocd-cmp-server (v3.5.1) with the plugin.yaml that `archfit setup argocd` writes.

Both ends of its socket are Argo CD's own code; see tests/judges/cmpserver. What it does with the result is done as
repo-server does: an error fails the application, no manifests would empty it.
"""

import os
import select
import shutil
import tempfile
from pathlib import Path

import pytest

from archfit.cli.setup.yaml_files import shipped
from archfit.integrations.argocd.source_parameters import ROWS
from archfit.options.table import SPEC
from argocd_caller import Sidecar, finish, repository, sidecar_environ
from argocd_sources import BOTH, CHART, INTEL
from fake_registry import FakeRegistry

TERM = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}


def _terms(found: dict) -> list:
    spec = found["spec"]["template"]["spec"]
    affinity = spec.get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": []})
    return required["nodeSelectorTerms"]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({**CHART, "values.yaml": "image: intel\nreplicas: 1\n"}, id="helm"),
        pytest.param({"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": INTEL}, id="kustomize"),
        pytest.param({"a.yaml": INTEL}, id="plain-files"),
    ],
)
def test_the_server_renders_every_kind_of_source(sidecar, tmp_path, files):
    objects = sidecar.ask("generate", repository(tmp_path, files)).objects()
    [deployment] = [found for found in objects if found["kind"] == "Deployment"]
    assert _terms(deployment) == [{"matchExpressions": [TERM]}]


def test_an_outage_keeps_what_is_deployed(tools, tmp_path):
    """The shipped configuration; the registry is down, and the restart of a pod lost the cache on its emptyDir."""
    source = repository(tmp_path / "repo", {"a.yaml": INTEL.replace("registry.example/", "x.example/")})
    with tempfile.TemporaryDirectory(prefix="cmp-", dir="/tmp") as name, FakeRegistry() as fake:
        folder = Path(name)
        fake.index("intel", "1", ["linux/amd64"])
        config = folder / "archfit.yaml"
        text = shipped("archfit.integrations.argocd", "archfit.yaml")
        config.write_text(text.replace("/var/cache/archfit", str(folder / "cache")), encoding="utf-8")
        environ = {**sidecar_environ(tools, folder, f"*={fake.url}"), "ARCHFIT_CONFIG": str(config)}
        with Sidecar(folder, environ) as running:
            [found] = running.ask("generate", source).objects()
            assert _terms(found) == [{"matchExpressions": [TERM]}]
            fake.close()
            assert running.ask("generate", source).objects() == [found]
            shutil.rmtree(folder / "cache")
            answer = running.ask("generate", source)
    assert answer.manifests == []
    assert "x.example/intel:1: its platforms are not known" in answer.error


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"plugin_block": False}, id="no-plugin-block"),
        pytest.param({}, id="no-parameters"),
        pytest.param({"parameters": []}, id="no-parameter"),
        pytest.param({"env": {"FOO": "bar"}}, id="other-variables"),
    ],
)
def test_the_server_sends_parameters_in_every_form(sidecar, tmp_path, more):
    [found] = sidecar.ask("generate", repository(tmp_path, {"a.yaml": INTEL}), **more).objects()
    assert _terms(found) == [{"matchExpressions": [TERM]}]


def test_full_parameters_and_substituted_variables(sidecar, tmp_path):
    answer = sidecar.ask(
        "generate",
        repository(tmp_path, CHART),
        parameters=[
            {"name": "values-files", "array": ["values-intel.yaml"]},
            {"name": "helm-parameters", "map": {"note": "a,b"}},
            {"name": "affinity", "string": "never"},
        ],
        env={"RELEASE_NAME": "rev-$ARGOCD_APP_NAME"},
    )
    [found] = [found for found in answer.objects() if found["kind"] == "Deployment"]
    assert found["metadata"]["name"] == "rev-web"
    assert found["metadata"]["annotations"]["note"] == "a,b"
    assert _terms(found) == []


@pytest.mark.parametrize(
    ("files", "more", "said"),
    [
        pytest.param(
            {**CHART, "templates/app.yaml": '{{ fail "out of cheese" }}'},
            {},
            "out of cheese",
            id="the-renderer-fails",
        ),
        pytest.param(
            {**CHART, "templates/app.yaml": "", "crds/crd.yaml": ""}, {}, "printed no manifests", id="nothing"
        ),
        pytest.param(
            {"a.yaml": BOTH},
            {"parameters": [{"name": "mirror", "map": {"*": "http://evil.example"}}]},
            "only the operator may set",
            id="a-mirror-of-the-application's",
        ),
        pytest.param(
            {"a.yaml": BOTH},
            {"env": {"ARCHFIT_AUTHFILE": "/app/config.json"}},
            "only the operator may set",
            id="credentials",
        ),
    ],
)
def test_the_server_reports_an_error_and_no_manifests(sidecar, tmp_path, files, more, said):
    answer = sidecar.ask("generate", repository(tmp_path, files), **more)
    assert answer.manifests == []
    assert "`archfit argocd generate` failed exit status" in answer.error
    assert said in answer.error


def test_the_server_announces_the_parameters(sidecar, tmp_path):
    announced = sidecar.ask("parameters", repository(tmp_path, {"a.yaml": BOTH})).parameters
    by_name = {entry["name"]: entry for entry in announced}
    assert list(by_name) == [row.name for row in ROWS] + [option.key for option in SPEC]
    assert by_name["clusterArchitectures"]["array"] == ["amd64", "arm64"]
    assert by_name["onBlank"]["collectionType"] == "string"


@pytest.mark.parametrize(
    ("files", "supported"),
    [
        pytest.param({"Chart.yaml": ""}, True, id="helm"),
        pytest.param({"kustomization.yml": ""}, True, id="kustomize"),
        pytest.param({"a.json": ""}, True, id="plain-files"),
        pytest.param({"README.md": ""}, False, id="nothing"),
    ],
)
def test_the_server_discovers(sidecar, tmp_path, files, supported):
    answer = sidecar.ask("match", repository(tmp_path, files))
    assert (answer.supported, answer.error) == (supported, "")


def test_a_request_that_is_given_up_ends_the_renderer(sidecar, tmp_path):
    told, held = tmp_path / "told", tmp_path / "held"
    os.mkfifo(told)
    os.mkfifo(held)
    waiting = sidecar.folder / "waiting"
    waiting.write_text(f"#!/bin/sh\necho $$ > {told}\nread never < {held}\n", encoding="utf-8")
    waiting.chmod(0o755)
    folder = sidecar.folder / "waits"
    with Sidecar(folder, {**sidecar.environ, "PATH": f"{folder}:{sidecar.environ['PATH']}"}) as other:
        (folder / "helm").symlink_to(waiting)
        asking = other.start("generate", repository(tmp_path / "repo", CHART))
        process = os.pidfd_open(int(told.read_text()))
        assert asking.stdin
        asking.stdin.write(b"cancel\n")
        asking.stdin.flush()
        answer = finish(asking)
        gone = select.select([process], [], [], 6)[0]
        os.close(process)
    assert gone
    assert answer.manifests == []
    assert "cancel" in answer.error
