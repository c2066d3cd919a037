"""What Helm 4's plugin sets by default, and that flags, variables and the configuration file all win over it."""

import os
import subprocess

import pytest
import yaml

import machine
from helm_runs import set_up
from program import PROGRAM

HOOK = b"""\
apiVersion: batch/v1
kind: Job
metadata:
  name: hook
  annotations:
    helm.sh/hook: pre-install
    archfit.dev/image-platforms: linux/amd64,linux/arm64
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: a
        image: registry.invalid/a:1
"""
CONFIGURATION = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n{}\n"
BLANK = b"\n"


@pytest.fixture(params=["set-up", "repository"])
def plugin(request, tmp_path):
    """Runs what Helm runs for a plugin: the one of `archfit setup helm`, and the one in helm-plugin/."""
    folder = machine.ROOT / "helm-plugin"
    if request.param == "set-up":
        set_up(tmp_path / "plugins")
        folder = tmp_path / "plugins" / "archfit"
    file = yaml.safe_load((folder / "plugin.yaml").read_bytes())
    (started,) = file["runtimeConfig"]["platformCommand"]
    program = started["command"].replace("${HELM_PLUGIN_DIR}", str(folder))
    command = [str(PROGRAM) if program == "archfit" else program, *started["args"]]

    def run(
        stream: bytes, *words: str, configuration: str = "", **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        if configuration:
            config = tmp_path / "archfit.yaml"
            config.write_text(CONFIGURATION.format(configuration), encoding="utf-8")
            environ["ARCHFIT_CONFIG"] = str(config)
        environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path), **environ}
        return subprocess.run([*command, *words], input=stream, env=environ, capture_output=True, check=False)

    return run


def test_a_blank_stream_gets_a_comment_and_hooks_count_as_recreated(plugin):
    assert plugin(BLANK).stdout == b"# archfit: no manifests\n"
    assert b"tolerations:" in plugin(HOOK).stdout


@pytest.mark.parametrize(
    ("words", "given"),
    [
        pytest.param(("--on-blank=fail", "--hooks=immutable"), {}, id="flags"),
        pytest.param((), {"ARCHFIT_ON_BLANK": "fail", "ARCHFIT_HOOKS": "immutable"}, id="variables"),
        pytest.param((), {"configuration": "spec: {onBlank: fail, hooks: immutable}"}, id="file"),
        pytest.param((), {"configuration": "spec: {onBlank: fail, hooks: immutable}\noperator: {enforced: [onBlank, hooks]}"}, id="enforced"),
    ],
)  # fmt: skip
def test_the_users_word_wins(plugin, words, given):
    failed = plugin(BLANK, *words, **given)
    assert (failed.returncode, failed.stdout) == (1, b""), failed.stderr
    assert plugin(HOOK, *words, **given).stdout == HOOK


def test_the_help_and_the_version_are_archfits(plugin):
    assert plugin(b"", "--version").stdout.startswith(b"archfit ")
    assert b"--on-blank is comment" in plugin(b"", "--help").stdout
