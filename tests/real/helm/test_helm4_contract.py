"""What Helm 4 may rely on, with the real programs."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import archfit as package
import machine
import program
from archfit.integrations.helm.setup_files import plugin as plugin_yaml
from helm_runs import SYSTEM_PATH, Helm, set_up, start
from program import Ran

Archfit = Callable[..., Ran]

REPOSITORY_PLUGIN = machine.ROOT / "helm-plugin" / "plugin.yaml"
FILENAME = "postrenderer.helm.sh/postrender-filename"
ARM_TAINT = [{"key": "kubernetes.io/arch", "operator": "Equal", "value": "arm64", "effect": "NoSchedule"}]


def by_name(documents: list[Any]) -> dict[str, Any]:
    return {document["metadata"]["name"]: document for document in documents if document}


def pod_spec(document: Any) -> Any:
    return document["spec"] if document["kind"] == "Pod" else document["spec"]["template"]["spec"]


def given(documents: list[Any], *, hooks: bool) -> bytes:
    """The stream of those documents that are hooks, or that are none."""
    chosen = [
        document
        for document in documents
        if ("helm.sh/hook" in document["metadata"].get("annotations", {})) is hooks
    ]
    return b"---\n".join(json.dumps(document).encode() + b"\n" for document in chosen)


@pytest.mark.parametrize("which", ["repository", "set-up"])
def test_plugin_yaml_satisfies_the_strict_schema(which, tmp_path, helm4):
    set_up(tmp_path)
    file = REPOSITORY_PLUGIN if which == "repository" else tmp_path / "archfit" / "plugin.yaml"
    text = file.read_text(encoding="utf-8")
    (command,) = yaml.safe_load(text)["runtimeConfig"]["platformCommand"]
    assert command["args"] == ["helm"]
    shown = tmp_path / "shown" / "archfit"
    shown.mkdir(parents=True)
    (shown / "plugin.yaml").write_text(text, encoding="utf-8")
    listed = helm4.run("plugin", "list", HELM_PLUGINS=str(shown.parent))
    assert listed.ok().decode().split()[6:9] == ["archfit", package.__version__, "postrenderer/v1"]
    assert listed.stderr == ""


def test_the_version_is_the_packages():
    assert REPOSITORY_PLUGIN.read_text(encoding="utf-8") == plugin_yaml("archfit")
    assert yaml.safe_load(REPOSITORY_PLUGIN.read_bytes())["version"] == package.__version__


@pytest.mark.parametrize("chart", ["shop", "hooks", "quiet"])
def test_every_document_keeps_its_file_name(helm4, judge, chart):
    seen = helm4.recorded(chart)
    seen.helm.ok()

    def names(stream: bytes) -> list[Any]:
        return [document["metadata"]["annotations"][FILENAME] for document in judge.helm4(stream) if document]

    assert names(seen.written) == names(seen.given)
    assert len(names(seen.written)) >= 5
    as_written = re.compile(FILENAME.encode() + rb": '[^']+'").findall
    assert as_written(seen.written) == as_written(seen.given)
    assert FILENAME.encode() not in seen.helm.stdout  # Helm's own, and gone once it has read it
    assert b"generated-by-postrender" not in seen.helm.stdout


def test_documents_in_flow_style(helm4, judge):
    seen = helm4.recorded("shop")
    line = next(line for line in seen.given.splitlines() if b'"demo-dashboards"' in line)
    assert line.startswith(b"{")
    with pytest.raises(json.JSONDecodeError):
        json.loads(line)
    before, after = by_name(judge.helm4(seen.given)), by_name(judge.helm4(seen.written))
    assert pod_spec(after["demo-dashboards"]).pop("tolerations") == ARM_TAINT
    assert after["demo-dashboards"] == before["demo-dashboards"]


def test_a_chart_that_renders_nothing_does_not_fail(helm4):
    seen = helm4.recorded("blank")
    assert (seen.given.strip(), seen.written) == (b"", b"# archfit: no manifests\n")
    assert seen.helm.status == 0
    assert seen.helm.stdout.strip() == b""
    assert helm4.template("blank", "--set", "enabled=true").ok().count(b"nginx:1.29.3") == 1


def test_and_is_switchable(helm4):
    failed = helm4.template("blank", "--post-renderer-args=--on-blank=fail")
    assert failed.status == 1
    assert 'plugin "archfit" exited with error' in failed.stderr
    passed = helm4.template("blank", "--post-renderer-args=--on-blank=pass")
    assert 'post-renderer "archfit" produced empty output' in passed.stderr


@pytest.mark.parametrize("chart", ["shop", "hooks", "quiet", "small"])
def test_for_what_we_add_the_output_reads_as_helm_4_reads(helm4, judge, chart):
    seen = helm4.recorded(chart)
    before, after = judge.helm4(seen.given), judge.helm4(seen.written)
    assert len(after) == len(before)
    for line in seen.written.splitlines():
        assert not line.startswith(b"---") or re.fullmatch(rb"---[ \t]*(#.*)?", line)
    anchors = re.compile(rb"(?<=[ :])[&*][A-Za-z]+")
    assert anchors.findall(seen.written) == anchors.findall(seen.given)


def test_the_failure_leaves_a_report(helm4, tmp_path):
    named, state = tmp_path / "report.json", tmp_path / "state"
    more = {"XDG_STATE_HOME": str(state)}
    words = ("--set", "image=registry.k8s.io/gone:1")
    failed = helm4.template("hooks", *words, f"--post-renderer-args=--report={named}", **more)
    assert failed.status == 1
    assert "gone" not in failed.stderr  # Helm 4 throws the plugin's standard error away
    report = json.loads(named.read_text(encoding="utf-8"))
    assert report["exit"] == 1
    errors = [result for result in report["results"] if result["severity"] == "error"]
    assert [(error["object"]["kind"], error["field"]) for error in errors] == [
        ("Deployment", "spec.template.spec.containers[0].image"),
        ("Job", "spec.template.spec.containers[0].image"),
    ]
    assert json.loads((state / "archfit" / "last.json").read_bytes()) == report
    last = start([str(program.PROGRAM), "last"], {**os.environ, **more}).ok().decode()
    assert (
        "error: apps/v1/Deployment/demo spec.template.spec.containers[0].image: registry.k8s.io/gone:1"
        in last
    )


def test_called_for_hooks_and_for_the_rest(helm4, judge, archfit, mirrors):
    seen = helm4.recorded("hooks")
    documents = judge.helm4(seen.given)
    together = by_name(judge.helm4(seen.written))
    apart: dict[str, Any] = {}
    for hooks in (True, False):
        stream = given(documents, hooks=hooks)
        words = ("--on-blank", "comment", "--hooks", "recreated")
        written = archfit(stream, *words, ARCHFIT_MIRROR=mirrors).ok()
        apart |= by_name(judge.helm4(written))
    assert apart == together


@pytest.mark.parametrize("again", ["helm3", "helm4"])
def test_called_on_its_own_output(helms, archfit, mirrors, again):
    written = helms(again).recorded("shop").written
    assert archfit(written, ARCHFIT_MIRROR=mirrors).ok() == written


@pytest.mark.parametrize("chart", ["shop", "hooks", "quiet", "small"])
def test_pipe_and_plugin_write_the_same_bytes(helm, helm4, archfit, mirrors, chart):
    seen = helm.recorded(chart)
    launcher = str(helm4.folder / "plugins" / "archfit" / "archfit")
    words = ("--hooks", "recreated") if helm.name == "helm4" else ()
    assert archfit(seen.given, *words, ARCHFIT_MIRROR=mirrors).ok() == seen.written
    done = subprocess.run(
        [launcher, "helm"], input=seen.given, env=helm4.environ, capture_output=True, check=True
    )
    assert done.stdout == seen.written


def _installed(helm4: Helm, tmp_path: Path, *words: str) -> bytes:
    """What the shop renders to through a plugin that `helm plugin install` put into an empty home."""
    home = {name: str(tmp_path / name.lower()) for name in ("HELM_DATA_HOME", "HELM_CACHE_HOME")}
    environ = {name: value for name, value in helm4.environ.items() if name != "HELM_PLUGINS"}
    (tmp_path / "helm_data_home" / "plugins").mkdir(parents=True)
    environ |= {**home, "PATH": f"{program.PROGRAM.parent}:{SYSTEM_PATH}"}
    start([helm4.program, "plugin", "install", *words], environ).ok()
    chart = str(machine.ROOT / "fixtures" / "charts" / "shop")
    return start([helm4.program, "template", "demo", chart, "--post-renderer", "archfit"], environ).ok()


def test_install_from_a_directory(helm4, tmp_path):
    assert _installed(helm4, tmp_path, str(REPOSITORY_PLUGIN.parent)) == helm4.template("shop").ok()


def test_no_virtualenv_is_active_and_its_path_has_a_blank(helm4, tmp_path):
    plugins = tmp_path / "my plugins"
    environ = {"PATH": "/nowhere", "HOME": str(tmp_path)}
    run = "from archfit.cli.main import run; run()"
    link = tmp_path / "an environment"
    link.symlink_to(sys.prefix, target_is_directory=True)
    python = link / "bin" / os.path.basename(sys.executable)
    start([str(python), "-c", run, "setup", "helm", "--into", str(plugins)], environ).ok()
    launcher = (plugins / "archfit" / "archfit").read_text(encoding="utf-8")
    assert "an environment/bin" in launcher
    ran = helm4.template("shop", HELM_PLUGINS=str(plugins), PATH="/usr/bin:/bin", VIRTUAL_ENV="")
    assert ran.ok() == helm4.template("shop").ok()


def test_modules_beside_the_chart_are_not_loaded(helm4, tmp_path):
    for name in ("archfit", "json", "yaml", "gc"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    chart = shutil.copytree(machine.ROOT / "fixtures" / "charts" / "small", tmp_path / "small")
    words = ("template", "demo", str(chart), "--post-renderer", "archfit")
    assert helm4.run(*words, cwd=tmp_path).ok() == helm4.template("small").ok()


def test_a_directory_shared_with_helm_3_is_found(helm3, helm4):
    plugins = helm4.environ["HELM_PLUGINS"]
    listed = helm3.run("plugin", "list", HELM_PLUGINS=plugins)
    assert 'unknown field "apiVersion"' in listed.stderr  # why it must not happen
    words = ("setup", "helm", "--check", "--helm", helm3.program)
    checked = start([str(program.PROGRAM), *words], {**helm3.environ, "HELM_PLUGINS": plugins})
    assert checked.status == 3
    assert f"reads the plugin in {plugins}, which is for Helm 4" in checked.stdout.decode()
