"""Who may say what: precedence, `enforced:`, the operator's paths, and hosts that an application's images name."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from archfit.options.hosts import CACHE
from archfit.options.option_types import PATH
from archfit.options.table import OPERATOR
from argocd_caller import Plugin, repository
from argocd_sources import POD
from program import PROGRAM

ENFORCING = """\
apiVersion: archfit.dev/v1alpha1
kind: ArchFit
spec: {affinity: always}
operator: {enforced: [affinity, tolerate]}
"""


def _app(tmp_path: Path, image: str = "registry.example/both:1") -> Path:
    return repository(tmp_path / "repo", {"a.yaml": POD.format(image=image)}) / "app"


def _parameters(**given: str) -> dict[str, str]:
    return {
        "ARGOCD_APP_PARAMETERS": json.dumps([{"name": key, "string": text} for key, text in given.items()])
    }


def _values(out: bytes) -> list[str]:
    return [line.strip(" -") for line in out.decode().splitlines() if line.strip(" -") in {"amd64", "arm64"}]


@pytest.fixture
def placed(plugin, tmp_path):
    """The architectures that one pod is required to run on, from sources of configuration."""
    app = _app(tmp_path)

    def run(*flags: str, **environ: str) -> list[str]:
        return _values(plugin.run("generate", "--immutable=full", *flags, cwd=app, **environ).ok())

    return run


def test_precedence_flag_application_environment_file(placed, tmp_path):
    config = tmp_path / "archfit.yaml"
    config.write_text(
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {affinity: always}\n", encoding="utf-8"
    )
    both, none, named = ["amd64", "arm64"], [], {"ARCHFIT_CONFIG": str(config)}
    assert placed() == none
    assert placed(**named) == both
    assert placed(**named, ARCHFIT_AFFINITY="never") == none
    assert placed(**named, ARCHFIT_AFFINITY="never", ARGOCD_ENV_ARCHFIT_AFFINITY="always") == both
    assert placed(ARGOCD_ENV_ARCHFIT_AFFINITY="never", **_parameters(affinity="always")) == both
    assert placed("--affinity=never", **_parameters(affinity="always")) == none


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        pytest.param({"ARCHFIT_CONFIG": "archfit.yaml"}, "ARCHFIT_CONFIG", id="configuration"),
        *(
            pytest.param({option.variable: "archfit.yaml"}, option.key, id=f"45-{option.key}")
            for option in OPERATOR
            if option.type is PATH or option.type is CACHE
        ),
        pytest.param({"SSL_CERT_FILE": "ca.pem"}, "SSL_CERT_FILE", id="CA"),
        pytest.param({"DOCKER_CONFIG": "."}, "DOCKER_CONFIG", id="usual-credentials"),
    ],
)
def test_no_path_of_the_operator_leads_into_the_repository(plugin, tmp_path, environ, name):
    app = _app(tmp_path)
    (app / "archfit.yaml").write_text(ENFORCING, encoding="utf-8")
    before = sorted(os.listdir(app))
    ran = plugin.run("generate", cwd=app, **environ)
    assert (ran.status, ran.stdout) == (2, b"")
    assert name in ran.stderr
    assert "absolute path" in ran.stderr
    assert sorted(os.listdir(app)) == before


def test_a_relative_config_flag_is_refused(plugin, tmp_path):
    ran = plugin.run("generate", "--config=archfit.yaml", cwd=_app(tmp_path))
    assert ran.status == 2
    assert "--config: 'archfit.yaml' would be read from the application's repository" in ran.stderr


def _locked_app(plugin: Plugin, tmp_path: Path) -> Path:
    app = _app(tmp_path)
    stream = (app / "a.yaml").read_bytes()
    environ = plugin.environ
    subprocess.run(
        [PROGRAM, "lock", "--lock-file", str(app / "archfit.lock")], input=stream, env=environ, check=True
    )
    return app


def test_an_application_may_bring_a_lock_file(plugin, tmp_path):
    app = _locked_app(plugin, tmp_path)
    said = _parameters(lockFile="archfit.lock", locked="true")
    plugin.run(
        "generate", cwd=app, ARCHFIT_MIRROR="*=http://127.0.0.1:9", ARCHFIT_NO_CACHE="true", **said
    ).ok()


@pytest.mark.parametrize(
    "path", [pytest.param("../../archfit.lock", id="upwards"), pytest.param("/etc/passwd", id="absolute")]
)
def test_a_lock_file_of_the_application_is_inside_its_repository(plugin, tmp_path, path):
    ran = plugin.run("generate", cwd=_app(tmp_path), **_parameters(lockFile=path))
    assert ran.status == 2
    assert "leads out of the application's repository" in ran.stderr


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(_parameters(locked="false"), id="asking-again"),
        pytest.param(_parameters(lockFile="other.lock"), id="another-file"),
    ],
)
def test_an_application_does_not_leave_the_operators_lock(plugin, tmp_path, said):
    app = _locked_app(plugin, tmp_path)
    locked = {"ARCHFIT_LOCK_FILE": "archfit.lock", "ARCHFIT_LOCKED": "true"}
    plugin.run("generate", cwd=app, **locked).ok()
    ran = plugin.run("generate", cwd=app, **locked, **said)
    assert (ran.status, ran.stdout) == (2, b"")
    assert "the operator" in ran.stderr
