"""`archfit argocd generate`: three kinds of sources, renderers that fail, files that are not the application's."""

import json
import os
from pathlib import Path

import pytest

import machine
from argocd_caller import repository
from argocd_sources import BOTH, CHART, DEPLOYMENT, INTEL
from helm_runs import start
from program import archfit as run_archfit

ARCH = [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]


def _arch(deployment: dict[str, object]) -> object:
    spec = deployment["spec"]["template"]["spec"]
    required = (
        spec.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    )
    return required and required["nodeSelectorTerms"][0]["matchExpressions"]


def _script(folder: Path, name: str, body: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_helm_sources_get_values_release_and_capabilities(plugin, tmp_path, judge):
    app = repository(tmp_path / "repo", CHART) / "app"
    parameters = [
        {"name": "values-files", "array": ["values-intel.yaml"]},
        {"name": "values", "string": "replicas: 2\n"},
        {"name": "helm-parameters", "map": {"note": "a,b"}},
    ]
    environ = {"ARGOCD_APP_PARAMETERS": json.dumps(parameters), "KUBE_API_VERSIONS": "v1,batch.example/v7"}
    out = plugin.run("generate", cwd=app, **environ).ok()
    crd, found = judge.kubectl(out)
    assert crd["kind"] == "CustomResourceDefinition"
    assert found["metadata"]["name"] == "web"
    assert found["metadata"]["namespace"] == "shop"
    assert found["metadata"]["annotations"] == {"kube": "v1.33.0", "batch": "true", "note": "a,b"}
    assert found["spec"]["replicas"] == 2
    assert _arch(found) == ARCH


def test_a_chart_that_needs_nothing_comes_out_as_helm_printed_it(plugin, tmp_path):
    app = repository(tmp_path / "repo", CHART) / "app"
    words = ["web", ".", "--namespace=shop", "--kube-version=1.33.0", "--api-versions=v1", "--include-crds"]
    printed = start([machine.tool("helm4"), "template", *words], plugin.environ, app).ok()
    got = plugin.run("generate", "--tolerate=none", cwd=app, KUBE_API_VERSIONS="v1").ok()
    assert got == printed
    assert got.count(b"---\n# Source: ") == 2


def test_plain_files_by_name_and_none_below(plugin, tmp_path, judge):
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    files = {
        "b.yml": INTEL.removesuffix("\n"),
        "a.yaml": "\ufeff---\n" + BOTH,
        "c.json": json.dumps(service),
        "README.md": "kind apiVersion",
        "values.yaml": "replicas: 1\n",
        "skip.yaml": "# +argocd:skip-file-rendering\n" + BOTH,
        ".hidden.yaml": BOTH,
        "below/d.yaml": DEPLOYMENT.format(name="below", image="arm"),
    }
    app = repository(tmp_path / "repo", files) / "app"
    ran = plugin.run("generate", cwd=app)
    assert [one["metadata"]["name"] for one in judge.kubectl(ran.ok())] == ["web", "old", "s"]
    assert "skip.yaml is not rendered: it says +argocd:skip-file-rendering" in ran.stderr
    assert "values.yaml is not rendered: it holds no Kubernetes object" in ran.stderr
    below = plugin.run(
        "generate", cwd=app, ARGOCD_ENV_DIRECTORY_RECURSE="true", ARGOCD_ENV_DIRECTORY_EXCLUDE="b.*"
    )
    assert [one["metadata"]["name"] for one in judge.kubectl(below.ok())] == ["web", "below", "s"]
    one = plugin.run("generate", cwd=app, ARGOCD_ENV_DIRECTORY_INCLUDE="a.*")
    assert [found["metadata"]["name"] for found in judge.kubectl(one.ok())] == ["web"]


def test_plain_files_that_need_nothing_keep_every_byte(plugin, tmp_path):
    app = repository(tmp_path / "repo", {"a.yaml": "# mine\n" + BOTH}) / "app"
    assert (
        plugin.run("generate", "--tolerate=none", cwd=app).ok()
        == f"---\n# Source: a.yaml\n# mine\n{BOTH}".encode()
    )


def test_every_door_gives_the_same_bytes(plugin, tmp_path, registry):
    app = repository(tmp_path / "repo", {"a.yaml": BOTH, "b.yaml": INTEL}) / "app"
    stream = f"---\n# Source: a.yaml\n{BOTH}---\n# Source: b.yaml\n{INTEL}".encode()
    assert plugin.run("generate", cwd=app).ok() == run_archfit(stream, *registry.mirrors()).ok()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(
            "echo 'kind: Half'; echo 'Error: no such chart' >&2; exit 3", "(exit status 3)", id="fails"
        ),
        pytest.param("echo 'kind: Half'; kill -9 $$", "(signal 9)", id="is-killed"),
        pytest.param("", "printed no manifests", id="prints-nothing"),
        pytest.param(
            "echo; echo '# nothing'; echo ---; echo null; echo '--- # end'", "printed no manifests", id="null"
        ),
        pytest.param("echo 'Error: no such chart'", "is not", id="prints-its-error-as-output"),
    ],
)
def test_a_renderer_that_failed_or_printed_nothing_is_an_error(plugin, tmp_path, body, said):
    app = repository(tmp_path / "repo", CHART) / "app"
    ran = plugin.run("generate", "--helm", _script(tmp_path, "fake", body), cwd=app)
    assert (ran.status, ran.stdout) == (1, b"")
    assert said in ran.stderr


def test_a_blank_application_is_possible_where_it_is_meant(plugin, tmp_path):
    app = repository(tmp_path / "repo", CHART) / "app"
    parameters = json.dumps([{"name": "onBlank", "string": "pass"}])
    helm = _script(tmp_path, "fake", "echo '# nothing'")
    ran = plugin.run("generate", "--helm", helm, cwd=app, ARGOCD_APP_PARAMETERS=parameters)
    assert ran.ok() == b"# nothing\n"


def test_an_empty_folder_is_an_error(plugin, tmp_path):
    app = repository(tmp_path / "repo", {"below/a.yaml": BOTH}) / "app"
    ran = plugin.run("generate", cwd=app)
    assert (ran.status, ran.stdout) == (1, b"")
    assert "there is nothing to render here" in ran.stderr


def test_a_renderer_that_is_missing_is_named(plugin, tmp_path):
    app = repository(tmp_path / "repo", CHART) / "app"
    ran = plugin.run("generate", "--helm", "/nowhere/helm", cwd=app)
    assert (ran.status, ran.stdout) == (1, b"")
    assert "'/nowhere/helm' cannot be started" in ran.stderr


def test_a_renderer_that_writes_much_on_both_pipes_is_read_whole(plugin, tmp_path):
    app = repository(tmp_path / "repo", CHART) / "app"
    big = tmp_path / "big.yaml"
    big.write_text(
        "---\n".join([BOTH, *(f"# {number} {'x' * 90}\n" for number in range(9000))]), encoding="utf-8"
    )
    helm = _script(tmp_path, "fake", f"cat {big} >&2; cat {big}")
    assert plugin.run("generate", "--tolerate=none", "--helm", helm, cwd=app).ok() == big.read_bytes()


def test_dependencies_are_built_where_the_operator_says_so(plugin, tmp_path):
    files = {
        **CHART,
        "Chart.yaml": CHART["Chart.yaml"]
        + "dependencies: [{name: sub, version: 0.1.0, repository: 'file://../sub'}]\n",
    }
    repo = repository(tmp_path / "repo", files)
    repository(repo, {**CHART, "Chart.yaml": "apiVersion: v2\nname: sub\nversion: 0.1.0\n"}, "sub")
    without = plugin.run("generate", cwd=repo / "app")
    assert without.status == 1
    assert "missing in charts/" in without.stderr
    assert (
        b"demo/charts/sub/templates/app.yaml"
        in plugin.run("generate", "--helm-dependencies", cwd=repo / "app").ok()
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("/etc/hostname", "leads out of the application's repository", id="absolute"),
        pytest.param("../../secret.yaml", "leads out of the application's repository", id="upwards"),
        pytest.param("link.yaml", "leads out of the application's repository", id="by-a-link"),
        pytest.param("https://evil.example/values.yaml", "cannot be a values file", id="by-URL"),
        pytest.param("-", "cannot be a values file", id="standard-input"),
        pytest.param("values.yaml,/etc/hostname", "cannot be a values file", id="two-in-one"),
    ],
)
def test_values_files_stay_inside_the_repository(plugin, tmp_path, name, said):
    app = repository(tmp_path / "repo", CHART) / "app"
    (tmp_path / "secret.yaml").write_text("note: hunter2\n", encoding="utf-8")
    (app / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    parameters = json.dumps([{"name": "values-files", "array": [name]}])
    ran = plugin.run("generate", cwd=app, ARGOCD_APP_PARAMETERS=parameters)
    assert (ran.status, ran.stdout) == (2, b"")
    assert said in ran.stderr
    assert "hunter2" not in ran.stderr


def test_values_files_beside_the_application_are_inside_the_repository(plugin, tmp_path):
    repo = repository(tmp_path / "repo", CHART)
    (repo / "shared.yaml").write_text("note: shared\n", encoding="utf-8")
    parameters = json.dumps([{"name": "values-files", "array": ["../shared.yaml"]}])
    assert (
        b'note: "shared"' in plugin.run("generate", cwd=repo / "app", ARGOCD_APP_PARAMETERS=parameters).ok()
    )


def test_plain_files_are_not_read_through_a_link_that_leads_out(plugin, tmp_path):
    app = repository(tmp_path / "repo", {"a.yaml": BOTH}) / "app"
    (tmp_path / "secret.yaml").write_text(BOTH, encoding="utf-8")
    (app / "b.yaml").symlink_to(tmp_path / "secret.yaml")
    ran = plugin.run("generate", cwd=app)
    assert (ran.status, ran.stdout) == (2, b"")
    assert "leads out of the application's repository" in ran.stderr


@pytest.mark.parametrize("linked", [False, True], ids=["pipe", "link-to-one"])
def test_a_pipe_beside_plain_files_is_left_out(plugin, tmp_path, linked):
    app = repository(tmp_path / "repo", {"a.yaml": BOTH}) / "app"
    before = plugin.run("generate", cwd=app).ok()
    if linked:
        os.mkfifo(tmp_path / "repo" / "pipe")
        (app / "b.yaml").symlink_to("../pipe")
    else:
        os.mkfifo(app / "b.yaml")
    ran = plugin.run("generate", cwd=app)
    assert ran.ok() == before
    assert "b.yaml is not rendered: it is not a regular file\n" in ran.stderr


@pytest.mark.parametrize(
    ("files", "name", "parameters"),
    [
        pytest.param(CHART, "templates/pipe.yaml", [], id="chart"),
        pytest.param(CHART, "values-pipe.yaml", [], id="beside-the-chart"),
        pytest.param(CHART, "../values.yaml", ["../values.yaml"], id="values-file"),
        pytest.param({"kustomization.yaml": "resources: [pipe.yaml]\n"}, "pipe.yaml", [], id="kustomization"),
    ],
)
@pytest.mark.parametrize("linked", [False, True], ids=["pipe", "link-to-one"])
def test_no_renderer_starts_where_it_could_read_a_pipe(plugin, tmp_path, files, name, parameters, linked):
    app = repository(tmp_path / "repo", files) / "app"
    at = tmp_path / "repo" / "pipe" if linked else app / name
    os.mkfifo(at)
    if linked:
        (app / name).symlink_to(at)
    program = _script(tmp_path, "renderer", f"touch {tmp_path}/started; exit 1")
    ran = plugin.run(
        *("generate", f"--helm={program}", f"--kustomize={program}"),
        cwd=app,
        ARGOCD_APP_PARAMETERS=json.dumps([{"name": "values-files", "array": parameters}]),
    )
    assert (ran.status, ran.stdout) == (2, b"")
    assert ran.stderr == (
        f"archfit: error: '{name}' is not a regular file, so nothing was rendered: "
        "replace it by a file with the content\n"
    )
    assert not (tmp_path / "started").exists()


JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, annotations: {{{annotation}}}}}
spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: x.example/app:1}}]}}}}}}
"""
JOBS = {
    "argo": "argocd.argoproj.io/hook: PreSync",
    "helm": "helm.sh/hook: pre-upgrade",
    "replaced": "argocd.argoproj.io/sync-options: 'Force=true,Replace=true'",
    "replaced-but-not-forced": "argocd.argoproj.io/sync-options: Replace=true",
    "plain": "",
}


@pytest.mark.parametrize(
    ("by", "tolerating"),
    [
        pytest.param({}, ["argo", "helm", "replaced"], id="the-door-knows-hooks"),
        pytest.param({"hooks": "immutable"}, [], id="the-application-says-otherwise"),
        pytest.param({"ARCHFIT_HOOKS": "immutable"}, [], id="the-operator-says-otherwise"),
        pytest.param({"immutable": "full"}, list(JOBS), id="all-are-replaced"),
    ],
)
def test_argo_cd_makes_hooks_anew(plugin, tmp_path, judge, by, tolerating):
    files = {f"{name}.yaml": JOB.format(name=name, annotation=text) for name, text in JOBS.items()}
    app = repository(tmp_path / "repo", files) / "app"
    environ = {name: value for name, value in by.items() if name.isupper()}
    parameters = [{"name": name, "string": value} for name, value in by.items() if not name.isupper()]
    environ["ARCHFIT_IMAGE_PLATFORMS"] = "x.example/app=linux/amd64,linux/arm64"
    ran = plugin.run("generate", cwd=app, ARGOCD_APP_PARAMETERS=json.dumps(parameters), **environ)
    found = {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in judge.kubectl(ran.ok())}
    assert sorted(name for name, spec in found.items() if "tolerations" in spec) == sorted(tolerating)


@pytest.mark.parametrize("given", ["", "spec: {hooks: immutable}\n"], ids=["the-default", "a-value"])
def test_what_the_operator_enforces_is_no_contradiction_to_the_door(plugin, tmp_path, given):
    app = repository(tmp_path / "repo", {"a.yaml": JOB.format(name="a", annotation=JOBS["argo"])}) / "app"
    config = tmp_path / "archfit.yaml"
    config.write_text(
        f"apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\n{given}operator: {{enforced: [hooks, onBlank]}}\n",
        encoding="utf-8",
    )
    environ = {
        "ARCHFIT_CONFIG": str(config),
        "ARCHFIT_IMAGE_PLATFORMS": "x.example/app=linux/amd64,linux/arm64",
    }
    ran = plugin.run("generate", cwd=app, **environ)
    assert (b"tolerations" in ran.ok()) is not bool(given)
    other = json.dumps([{"name": "hooks", "string": "recreated" if given else "immutable"}])
    refused = plugin.run("generate", cwd=app, ARGOCD_APP_PARAMETERS=other, **environ)
    assert (refused.status, refused.stdout) == (2, b"")
    assert "hooks is enforced by" in refused.stderr
