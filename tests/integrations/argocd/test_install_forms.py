"""`archfit setup argocd --form helm-values|operator [--merge FILE]`, and --merge for the Kustomize components.

The places are facts of argo-helm (charts/argo-cd 10.1.1) and of argocd-operator (api/v1beta1, 0.18).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

import machine
from archfit.integrations.argocd import setup_files
from archfit.integrations.argocd.install_forms import FORMS, WAYS
from archfit.integrations.argocd.install_merge import with_flags
from helm_runs import start
from program import PROGRAM, Ran

BOTH_FLAGS = "--enable-alpha-plugins --enable-exec"
VALUES = """\
# Ours.
global:
    domain: argocd.example.com   # the domain
configs:
    cm:
        # helm in kustomize
        kustomize.buildOptions: "--enable-helm"
    cmp:
        create: false
        plugins: {}
repoServer:
    replicas: 2   # two
    # tools
    extraContainers:
      - name: other
        image: busybox
        command: [/var/run/argocd/argocd-cmp-server]
    volumes: []
    env:
      - name: PATH
        value: /tools:/usr/bin
server:
    extraArgs: [--insecure]   # behind a proxy
"""
ARGOCD = """\
apiVersion: argoproj.io/v1beta1
kind: ArgoCD
metadata:
  name: gitops
  namespace: gitops
  uid: 6b1e0c1a
  resourceVersion: "17"
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: "{}"
spec:
  kustomizeBuildOptions: --enable-helm
  repo:
    replicas: 2
status:
  phase: Available
"""
LIVE = """\
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: argocd-cm, namespace: argocd}
    data:
      kustomize.buildOptions: --enable-helm
      kustomize.buildOptions.v4.4.0: --output /tmp
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: argocd-repo-server, namespace: argocd}
    spec:
      template:
        spec:
          containers:
            - name: argocd-repo-server
              env: [{name: PATH, value: "/tools:/usr/bin"}]
"""


def _setup(*words: str, cwd: Path, stdin: str = "") -> Ran:
    done = subprocess.run(
        [PROGRAM, "setup", "argocd", *words], cwd=cwd, input=stdin.encode(), capture_output=True, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _named(items: list[dict[str, Any]]) -> list[str]:
    return [item["name"] for item in items]


def _at(data: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        data = data[key]
    return data


@pytest.mark.parametrize("form", FORMS)
def test_the_folder_of_the_repository_holds_what_setup_writes(tmp_path: Path, form: str) -> None:
    _setup("--form", form, "--into", "made", cwd=tmp_path).ok()
    made, shipped = tmp_path / "made", machine.ROOT / "argocd-plugin" / form
    paths = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    assert paths == sorted(path.relative_to(shipped) for path in shipped.rglob("*") if path.is_file())
    for path in paths:
        assert (made / path).read_text(encoding="utf-8") == (shipped / path).read_text(encoding="utf-8"), path


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_sidecar_has_what_it_mounts(tmp_path: Path, form: Any) -> None:
    _setup("--form", form.name, cwd=tmp_path).ok()
    data = _read(tmp_path / "argocd-archfit" / "sidecar" / form.file)
    [container] = _at(data, form.places.containers)
    volumes = _named(_at(data, form.places.volumes))
    # The installation has these two itself.
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted - {"var-files", "plugins"} == set(volumes)
    assert container["resources"]["requests"]
    assert container["resources"]["limits"].keys() == {"memory"}, "a CPU limit slows renders down"
    assert container["securityContext"].get("runAsUser") == (None if form.kind else 999)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_function_has_path_flags_and_volumes(tmp_path: Path, form: Any) -> None:
    _setup("--form", form.name, cwd=tmp_path).ok()
    data = _read(tmp_path / "argocd-archfit" / "build-options" / form.file)
    environ = {one["name"]: one["value"] for one in _at(data, form.places.env)}
    assert environ["PATH"].split(":")[:2] == ["/archfit-tools/archfit", "/usr/local/sbin"]
    options = _at(data, form.places.option_field or (*form.places.options, "kustomize.buildOptions"))
    assert options == BOTH_FLAGS
    mounts = {mount["name"] for mount in _at(data, form.places.mounts)}
    assert mounts == set(_named(_at(data, form.places.volumes)))


def test_the_charts_plugin_is_the_one_of_the_other_forms(tmp_path: Path) -> None:
    _setup("--form", "helm-values", "--discover", cwd=tmp_path).ok()
    data = _read(tmp_path / "argocd-archfit" / "sidecar" / "values.yaml")
    assert data["configs"]["cmp"]["create"] is True
    plugin = yaml.safe_load(setup_files.plugin(discover=True))["spec"]
    assert data["configs"]["cmp"]["plugins"] == {"archfit": plugin}
    [volume] = [one for one in data["repoServer"]["volumes"] if one["name"] == "archfit-plugin"]
    # templates/argocd-configs/argocd-cmp-cm.yaml: one key for each plugin, NAME.yaml.
    assert volume["configMap"] == {
        "name": "argocd-cmp-cm",
        "items": [{"key": "archfit.yaml", "path": "plugin.yaml"}],
    }
    assert not any("{{" in str(one) for one in (data["extraObjects"], data["repoServer"])), (
        "the chart runs tpl"
    )


def test_values_are_merged_and_every_other_line_stays(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(VALUES, encoding="utf-8")
    ran = _setup("--form", "helm-values", "--merge", "values.yaml", cwd=tmp_path)
    assert ran.status == 0, ran.stderr
    folder = tmp_path / "argocd-archfit"
    sidecar = _read(folder / "sidecar" / "values.yaml")
    assert _named(sidecar["repoServer"]["extraContainers"]) == ["other", "archfit"]
    assert sidecar["configs"]["cm"] == {"kustomize.buildOptions": "--enable-helm"}
    assert "configs.cmp.create was false and is true now" in ran.stderr
    function = _read(folder / "build-options" / "values.yaml")
    assert function["configs"]["cm"] == {"kustomize.buildOptions": f"--enable-helm {BOTH_FLAGS}"}
    assert {"name": "PATH", "value": "/archfit-tools/archfit:/tools:/usr/bin"} in function["repoServer"][
        "env"
    ]
    assert _named(function["repoServer"]["extraContainers"]) == ["other"]
    replaced = {
        "sidecar": {"        create: false", "        plugins: {}", "    volumes: []"},
        "build-options": {
            '        kustomize.buildOptions: "--enable-helm"',
            "        value: /tools:/usr/bin",
            "    volumes: []",
        },
    }
    for way in WAYS:
        lines = (folder / way / "values.yaml").read_text(encoding="utf-8").splitlines()
        assert set(VALUES.splitlines()) - set(lines) == replaced[way], way


@pytest.mark.parametrize("way", WAYS)
def test_a_merged_file_merged_again_is_the_same(tmp_path: Path, way: str) -> None:
    (tmp_path / "values.yaml").write_text(VALUES, encoding="utf-8")
    _setup("--form", "helm-values", "--merge", "values.yaml", cwd=tmp_path).ok()
    once = f"argocd-archfit/{way}/values.yaml"
    _setup("--form", "helm-values", "--merge", once, "--into", "again", cwd=tmp_path).ok()
    assert (tmp_path / "again" / way / "values.yaml").read_text() == (tmp_path / once).read_text()


def test_an_argocd_resource_is_merged_without_what_the_server_wrote(tmp_path: Path) -> None:
    _setup("--form", "operator", "--merge", "-", cwd=tmp_path, stdin=ARGOCD).ok()
    folder = tmp_path / "argocd-archfit"
    sidecar = _read(folder / "sidecar" / "argocd.yaml")
    assert sidecar["metadata"] == {"name": "gitops", "namespace": "gitops"}
    assert "status" not in sidecar
    assert sidecar["spec"]["repo"]["replicas"] == 2
    assert _named(sidecar["spec"]["repo"]["sidecarContainers"]) == ["archfit"]
    function = _read(folder / "build-options" / "argocd.yaml")
    assert function["spec"]["kustomizeBuildOptions"] == f"--enable-helm {BOTH_FLAGS}"


def test_extra_config_wins_over_the_field_in_the_operator(tmp_path: Path) -> None:
    """controllers/argocd/configmap.go: extraConfig is written over what the fields of spec gave."""
    text = ARGOCD.replace("spec:\n", "spec:\n  extraConfig: {kustomize.buildOptions: --enable-exec}\n", 1)
    _setup("--form", "operator", "--merge", "-", cwd=tmp_path, stdin=text).ok()
    spec = _read(tmp_path / "argocd-archfit" / "build-options" / "argocd.yaml")["spec"]
    assert spec["extraConfig"] == {"kustomize.buildOptions": "--enable-exec --enable-alpha-plugins"}
    assert spec["kustomizeBuildOptions"] == "--enable-helm"


def test_the_components_keep_options_and_path_of_the_installation(tmp_path: Path) -> None:
    ran = _setup("--merge", "-", cwd=tmp_path, stdin=LIVE)
    assert ran.status == 0, ran.stderr
    folder = tmp_path / "argocd-archfit" / "build-options"
    assert _read(folder / "argocd-cm.yaml")["data"] == {
        "kustomize.buildOptions": f"--enable-helm {BOTH_FLAGS}"
    }
    [server] = _read(folder / "repo-server.yaml")["spec"]["template"]["spec"]["containers"]
    assert server["env"][0] == {"name": "PATH", "value": "/archfit-tools/archfit:/tools:/usr/bin"}
    assert "note: argocd-cm has kustomize.buildOptions.v4.4.0, too" in ran.stderr


@pytest.mark.parametrize(
    ("before", "after", "off"),
    [
        pytest.param("", BOTH_FLAGS, [], id="none"),
        pytest.param("--enable-helm", f"--enable-helm {BOTH_FLAGS}", [], id="another"),
        pytest.param("--enable-exec", "--enable-exec --enable-alpha-plugins", [], id="one"),
        pytest.param(f"{BOTH_FLAGS} --enable-helm", f"{BOTH_FLAGS} --enable-helm", [], id="both"),
        pytest.param("--enable-exec=true  --enable-alpha-plugins=1", None, [], id="with-values"),
        pytest.param(
            "--enable-exec=false",
            "--enable-exec=false --enable-alpha-plugins",
            ["--enable-exec=false"],
            id="off",
        ),
        pytest.param(f"--enable-exec=false {BOTH_FLAGS}", None, [], id="the-last-one-wins"),
    ],
)
def test_build_options_keep_what_is_there(before: str, after: str | None, off: list[str]) -> None:
    assert with_flags(before) == (before if after is None else after, off)


@pytest.mark.parametrize(
    ("change", "way", "said"),
    [
        pytest.param(
            ('"--enable-helm"', "--enable-exec=false"),
            "build-options",
            "says --enable-exec=false, and archfit needs --enable-exec",
            id="an-option-switched-off",
        ),
        pytest.param(
            ("        value: /tools:/usr/bin", "        valueFrom: {fieldRef: {fieldPath: metadata.name}}"),
            "build-options",
            "repoServer.env[PATH] has no value in this file",
            id="path-from-elsewhere",
        ),
        pytest.param(
            ("volumes: []", "volumes:\n      - name: archfit-cache\n        hostPath: {path: /var/cache}"),
            "sidecar",
            None,
            id="a-volume-of-that-name-that-has-more",
        ),
        pytest.param(
            (
                "volumes: []",
                "volumes: []\n    volumeMounts:\n      - {name: tools, mountPath: /archfit-tools}",
            ),
            "build-options",
            "repoServer.volumeMounts[/archfit-tools].name is 'tools', and archfit needs 'archfit'",
            id="a-mount-at-that-path",
        ),
        pytest.param(
            ("- name: other\n        image: busybox", "- name: archfit\n        image: mine:1"),
            "sidecar",
            None,
            id="our-container-with-their-image",
        ),
        pytest.param(
            ("command: [/var/run/argocd/argocd-cmp-server]", "command: [sleep]"),
            "sidecar",
            None,
            id="another-container-may-run-anything",
        ),
        pytest.param(
            ("cm:\n", "cm:\n        create: false\n"),
            "build-options",
            "configs.cm.create is false",
            id="a-config-map-that-the-chart-does-not-write",
        ),
    ],
)
def test_conflicts_are_said_and_the_way_with_one_is_not_written(
    tmp_path: Path, change: tuple[str, str], way: str, said: str | None
) -> None:
    assert change[0] in VALUES
    (tmp_path / "values.yaml").write_text(VALUES.replace(*change, 1), encoding="utf-8")
    ran = _setup("--form", "helm-values", "--merge", "values.yaml", cwd=tmp_path)
    written = {one: (tmp_path / "argocd-archfit" / one / "values.yaml").exists() for one in WAYS}
    other = next(one for one in WAYS if one != way)
    if said is None:
        assert (ran.status, written) == (0, {way: True, other: True}), ran.stderr
    else:
        assert said in ran.stderr
        assert (ran.status, written) == (1, {way: False, other: True})


def test_an_image_and_resources_stay_unless_a_new_image_is_given(tmp_path: Path) -> None:
    _setup("--form", "helm-values", "--image", "reg.example/a:1", cwd=tmp_path).ok()
    path = tmp_path / "mine.yaml"
    made = (tmp_path / "argocd-archfit" / "sidecar" / "values.yaml").read_text(encoding="utf-8")
    path.write_text(made.replace("memory: 1Gi", "memory: 2Gi"), encoding="utf-8")
    words = ("--form", "helm-values", "--merge", "mine.yaml", "--into")
    ran = _setup(*words, "kept", cwd=tmp_path)
    assert "[archfit].image is not what archfit writes, and stays as it is" in ran.stderr
    assert (tmp_path / "kept" / "sidecar" / "values.yaml").read_text(encoding="utf-8") == path.read_text()
    _setup(*words, "new", "--image", "reg.example/a:2", cwd=tmp_path).ok()
    [container] = _read(tmp_path / "new" / "sidecar" / "values.yaml")["repoServer"]["extraContainers"]
    assert container["image"] == "reg.example/a:2"
    assert container["resources"]["limits"] == {"memory": "2Gi"}


def test_an_anchor_of_the_users_is_changed_in_one_place_only(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(
        "server:\n  volumes: &shared\n    - name: a\n      emptyDir: {}\nrepoServer:\n  volumes: *shared\n",
        encoding="utf-8",
    )
    _setup("--form", "helm-values", "--merge", "values.yaml", cwd=tmp_path).ok()
    data = _read(tmp_path / "argocd-archfit" / "sidecar" / "values.yaml")
    assert _named(data["server"]["volumes"]) == ["a"]
    assert _named(data["repoServer"]["volumes"])[:2] == ["a", "archfit-plugin"]


@pytest.mark.parametrize(
    ("words", "stdin", "status", "said"),
    [
        pytest.param(
            ("--form", "helm-values", "--merge", "none.yaml"), "", 2, "there is no file none.yaml", id="file"
        ),
        pytest.param(
            ("--form", "helm-values", "--merge", "-"), "a: [", 1, "line 1 cannot be read", id="no-yaml"
        ),
        pytest.param(("--form", "helm-values", "--merge", "-"), "- a\n", 1, "not a mapping", id="a-list"),
        pytest.param(
            ("--form", "helm-values", "--merge", "-"),
            "repoServer: {volumes: a}\n",
            1,
            "repoServer.volumes is not a list",
            id="another-shape",
        ),
        pytest.param(
            ("--form", "operator", "--merge", "-"), "kind: Pod\n", 1, "holds 0 resources", id="kind"
        ),
        pytest.param(
            ("--merge", "-"), "kind: Pod\n", 1, "holds neither the ConfigMap argocd-cm", id="manifests"
        ),
        pytest.param(("--form", "helm"), "", 2, "--form", id="form"),
    ],
)
def test_wrong_input_is_said(
    tmp_path: Path, words: tuple[str, ...], stdin: str, status: int, said: str
) -> None:
    ran = _setup(*words, cwd=tmp_path, stdin=stdin)
    assert (ran.status, said in ran.stderr) == (status, True), ran.stderr
    assert not (tmp_path / "argocd-archfit").exists()


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("way", WAYS)
def test_check_is_content_with_what_setup_wrote_and_names_what_was_taken_away(
    tmp_path: Path, form: Any, way: str
) -> None:
    images = ("--image", "reg.example/a:1", "--bundle-image", "reg.example/b:1")
    _setup("--form", form.name, *images, cwd=tmp_path).ok()
    check = ("--check", "--form", form.name)
    ran = _setup(*check, cwd=tmp_path)
    assert (ran.status, ran.stdout.count(b"ok: ")) == (0, 2), ran.stdout.decode()
    path = tmp_path / "argocd-archfit" / way / form.file
    text = path.read_text(encoding="utf-8")
    gone = (
        "/archfit-tools/archfit:"
        if way == "build-options"
        else "- {name: ARCHFIT_CONFIG, value: /etc/archfit/archfit.yaml}"
    )
    assert gone in text
    path.write_text(text.replace(gone, "- {name: A, value: b}" if way == "sidecar" else ""), encoding="utf-8")
    ran = _setup(*check, "--merge", str(path), cwd=tmp_path)
    assert ran.status == 1
    assert f"wrong: {path} lacks".encode() in ran.stdout.replace(b"--merge lacks", f"{path} lacks".encode())


def test_check_names_an_example_image_and_an_empty_folder(tmp_path: Path) -> None:
    check = ("--check", "--form", "helm-values")
    ran = _setup(*check, cwd=tmp_path)
    assert (ran.status, b"has no values.yaml" in ran.stdout) == (1, True)
    _setup("--form", "helm-values", cwd=tmp_path).ok()
    ran = _setup(*check, cwd=tmp_path)
    assert (ran.status, ran.stdout.count(b"wrong: "), b"build one, and name it" in ran.stdout) == (1, 2, True)
    assert b"ok: " not in ran.stdout


def test_nothing_of_somebodys_is_written_over(tmp_path: Path) -> None:
    _setup("--form", "operator", cwd=tmp_path).ok()
    mine = tmp_path / "argocd-archfit" / "sidecar" / "argocd.yaml"
    mine.write_text("mine", encoding="utf-8")
    ran = _setup("--form", "operator", cwd=tmp_path)
    assert (ran.status, mine.read_text(encoding="utf-8")) == (1, "mine")
    environ = dict(os.environ)
    start(
        [str(PROGRAM), "setup", "argocd", "--form", "operator", "--force", "--into", str(mine.parents[1])],
        environ,
    ).ok()
    assert mine.read_text(encoding="utf-8") != "mine"
