"""`archfit setup kustomize|kpt|flux`: what it writes works, what is there stays, and --check finds what is wrong."""

import shutil
import subprocess

import pytest
import yaml
from registry import Registry

import machine
from kustomize_site import Site
from program import PROGRAM

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: h.example/web:2
"""
KPTFILE = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web # ours\n"


@pytest.fixture(scope="module")
def mirrors():
    with Registry({"h.example/web:2": ["linux/amd64"]}) as served:
        yield served.mirrors()


@pytest.fixture
def site(tmp_path, mirrors):
    made = Site(tmp_path, mirrors)
    made.write("all/web.yaml", WEB)
    made.write("all/kustomization.yaml", "resources:\n  - web.yaml # kept\n# end\n")
    return made


@pytest.fixture
def setup(site):
    """Runs `archfit setup WORDS` in the site; what it wrote on standard output and error, and its status."""

    def setup(*words, given=b"", path=None):
        environ = {**site.environ, **({"PATH": path} if path else {})}
        done = subprocess.run(
            [PROGRAM, "setup", *words],
            input=given,
            cwd=site.folder,
            env=environ,
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return setup


def files(site, name="all"):
    return {path.name: path.read_bytes() for path in sorted((site.folder / name).iterdir())}


@pytest.mark.real
def test_kustomize_runs_what_is_written(site, setup):
    status, out, said = setup("kustomize", "--into", "all")
    assert (status, out) == (0, "")
    assert "written: all/archfit.yaml" in said
    assert files(site)["kustomization.yaml"] == (
        b"resources:\n  - web.yaml # kept\ntransformers:\n  - archfit.yaml\n# end\n"
    )
    assert b"nodeAffinity" in site.build("all").ok()


def test_noop_a_second_time(site, setup):
    setup("kustomize", "--into", "all")
    once = files(site)
    status, _, said = setup("kustomize", "--into", "all")
    assert (status, said.count("there already")) == (0, 2)
    assert files(site) == once


@pytest.mark.real
def test_with_a_container_kubectl_runs_it(site, setup):
    assert setup("kustomize", "--into", "all", "--container", "registry.example/archfit:1")[0] == 0
    mirror = f"ARCHFIT_MIRROR={site.environ['ARCHFIT_MIRROR']}"
    assert b"nodeAffinity" in site.kubectl("all", "--network", "-e", mirror).ok()
    assert site.docker[0][-1] == "registry.example/archfit:1"


@pytest.mark.parametrize(
    ("words", "given", "status", "message"),
    [
        pytest.param(["kustomize", "--into", "none"], {}, 2, "'none' is not a directory", id="no-directory"),
        pytest.param(["kustomize", "--into", "bare"], {"bare/a": ""}, 2, "holds no kust", id="no-kustomization"),
        pytest.param(["kpt", "--into", "all"], {}, 2, "all holds no Kptfile", id="no-kptfile"),
        pytest.param(["kustomize", "--into", "all", "x"], {}, 2, "'x' is not expected", id="a-word"),
        pytest.param(["kpt", "--container", "x", "--into", "all"], {}, 2, "no flag --container", id="another-s-flag"),
        pytest.param(
            ["kustomize", "--into", "all"],
            {"all/archfit.yaml": "kind: ArchFit\napiVersion: archfit.dev/v1alpha1\n"},
            1,
            "all/archfit.yaml is there and is not the function's configuration: nothing was written",
            id="the-users-file",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_set_up_changes_nothing(words, given, status, message, site, setup):
    for name, text in given.items():
        site.write(name, text)
    before = files(site)
    code, _, said = setup(*words)
    assert (code, message in said) == (status, True), said
    assert files(site) == before


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"? resources\n: [web.yaml]\n", id="explicit-keys"),
        pytest.param(b"# caf\xe9\nresources: [web.yaml]\n", id="no-utf-8"),
    ],
)
def test_a_kustomization_that_takes_no_entry_is_left_and_the_line_is_shown(text, site, setup):
    (site.folder / "all" / "kustomization.yaml").write_bytes(text)
    status, _, said = setup("kustomize", "--into", "all")
    assert status == 0
    assert "Add this below transformers yourself: - archfit.yaml" in said
    assert files(site)["kustomization.yaml"] == text


def test_a_kustomization_that_is_no_utf_8_is_left_when_all_is_taken_away(site, setup):
    assert setup("kustomize", "--into", "all")[0] == 0
    text = b"# caf\xe9\nresources: [web.yaml]\ntransformers:\n- archfit.yaml\n"
    (site.folder / "all" / "kustomization.yaml").write_bytes(text)
    status, _, said = setup("kustomize", "--into", "all", "--remove")
    assert status == 0
    assert "take the entry of archfit below transformers out yourself" in said
    assert files(site)["kustomization.yaml"] == text


@pytest.mark.parametrize(
    ("kptfile", "after"),
    [
        pytest.param(KPTFILE, KPTFILE + "pipeline:\n  mutators:\n  - exec: archfit\n    configPath: archfit.yaml\n", id="no-pipeline"),
        pytest.param(
            KPTFILE + "pipeline:\n  mutators:\n    - image: x # theirs\ninfo: {}\n",
            KPTFILE + "pipeline:\n  mutators:\n    - image: x # theirs\n    - exec: archfit\n      configPath: archfit.yaml\n" + "info: {}\n",
            id="mutators",
        ),
        pytest.param(KPTFILE + "pipeline: {validators: []}\n", KPTFILE + "pipeline: {validators: [], mutators: [{exec: archfit, configPath: archfit.yaml}]}\n", id="flow"),
        pytest.param(KPTFILE + "pipeline:\n  mutators:\n  - {exec: /opt/archfit --strict}\n", KPTFILE + "pipeline:\n  mutators:\n  - {exec: /opt/archfit --strict}\n", id="noop-there-already"),
    ],
)  # fmt: skip
def test_a_kptfile_gets_one_entry(kptfile, after, site, setup):
    site.write("all/Kptfile", kptfile)
    status, _, said = setup("kpt", "--into", "all")
    assert (status, files(site)["Kptfile"].decode()) == (0, after), said
    config = yaml.safe_load(files(site)["archfit.yaml"])
    assert config["spec"]["stamp"] is True
    assert config["metadata"]["annotations"] == {"config.kubernetes.io/local-config": "true"}


def test_flux_writes_patches_and_says_when_they_are_old(site, setup):
    stream = WEB.encode()
    status, _, said = setup("flux", "--check", given=stream)
    assert (status, "archfit-flux.yaml is missing" in said) == (3, True)
    assert setup("flux", given=stream)[0] == 0
    made = yaml.safe_load((site.folder / "archfit-flux.yaml").read_bytes())
    assert any("/spec/template/spec/affinity" in entry["patch"] for entry in made["spec"]["patches"])
    assert setup("flux", "--check", given=stream)[0] == 0
    assert setup("flux", given=stream)[2].endswith("up to date: ./archfit-flux.yaml\n")
    status, _, said = setup("flux", "--check", given=stream.replace(b"name: web", b"name: new", 1))
    assert (status, "belongs to other manifests or images" in said) == (3, True)


def test_flux_writes_a_helm_releases_patches(site, setup):
    assert setup("flux", "--helmrelease", given=WEB.encode())[0] == 0
    made = yaml.safe_load((site.folder / "archfit-flux.yaml").read_bytes())
    assert made["spec"]["postRenderers"][0]["kustomize"]["patches"]


def test_flux_makes_the_directory_that_into_names(site, setup):
    status, _, said = setup("flux", "--into", "release/flux", given=WEB.encode())
    assert (status, "written: release/flux/archfit-flux.yaml" in said) == (0, True), said
    assert (site.folder / "release" / "flux" / "archfit-flux.yaml").exists()


def test_flux_writes_nothing_over_a_file_of_the_users(site, setup):
    site.write("archfit-flux.yaml", "mine: true\n")
    status, _, said = setup("flux", given=WEB.encode())
    assert (status, "was not written by archfit" in said) == (1, True)


@pytest.fixture
def kustomize(site, real):
    """The site, with kustomize on PATH."""
    shutil.copy(real.tool("kustomize"), site.folder.parent / "bin" / "kustomize")
    return site


@pytest.mark.usefixtures("kustomize")
def test_check_an_installation_that_works(setup):
    setup("kustomize", "--into", "all")
    status, out, _ = setup("kustomize", "--check", "--into", "all")
    assert status == 0
    assert [line[:4] for line in out.splitlines()] == ["ok: "] * 2


@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param(["kustomize", "build", "--enable-alpha-plugins", "all"], "left archfit out without a warning: add --enable-exec", id="enable-exec"),
        pytest.param(["kustomize", "build", "all"], "add --enable-alpha-plugins", id="alpha-plugins"),
        pytest.param(["kubectl", "kustomize", "--enable-alpha-plugins", "all"], "left archfit out without a warning: --enable-exec is missing, which kubectl kustomize does not have", id="kubectl"),
        pytest.param(["nonesuch", "build"], "nonesuch is not on PATH", id="missing-tool"),
        pytest.param(["kustomize", "build", "--enable-alpha-plugins", "none"], "failed: ", id="failure"),
    ],
)  # fmt: skip
def test_check_the_users_own_command(command, message, kustomize, setup):
    machine.tool("kubectl")
    setup("kustomize", "--into", "all")
    path = f"{kustomize.environ['PATH']}:{machine.Path(machine.tool('kubectl')).parent}"
    status, out, _ = setup("kustomize", "--check", "--into", "all", "--", *command, path=path)
    assert (status, out.count("\n"), message in out) == (3, 1, True), out


@pytest.mark.usefixtures("kustomize")
def test_check_a_function_that_is_not_declared(setup):
    status, out, _ = setup("kustomize", "--check", "--into", "all")
    assert (status, "names archfit: run archfit setup kustomize --into all" in out) == (3, True)


@pytest.mark.parametrize(
    ("name", "written", "message"),
    [
        pytest.param("over/kustomization.yaml", "resources: [../all]\nimages: [{name: h.example/web, newTag: '3'}]\n",
                     "archfit is declared in all, which runs before the images: of over", id="in-a-base"),
        pytest.param("all/web.yaml", WEB.replace("web:2", "gone:1"), "there is no such image", id="it-fails"),
    ],
)  # fmt: skip
def test_check_a_function_that_does_not_do_its_work(name, written, message, kustomize, setup):
    setup("kustomize", "--into", "all")
    kustomize.write(name, written)
    status, out, _ = setup("kustomize", "--check", "--into", name.partition("/")[0])
    assert (status, message in out) == (3, True)


def test_check_a_function_in_a_base_and_outermost(kustomize, setup):
    setup("kustomize", "--into", "all")
    kustomize.write("over/kustomization.yaml", "resources: [../all]\n")
    setup("kustomize", "--into", "over")
    status, out, _ = setup("kustomize", "--check", "--into", "over")
    assert (status, "declared in all too" in out) == (3, True)


def test_check_another_archfit_on_path(kustomize, setup):
    setup("kustomize", "--into", "all")
    other = kustomize.write(
        "other/archfit", f'#!/bin/sh\n[ "$1" = --version ] && echo archfit 0.0.1 || exec {PROGRAM} "$@"\n'
    )
    other.chmod(0o755)
    status, out, _ = setup(
        "kustomize", "--check", "--into", "all", path=f"{other.parent}:{kustomize.environ['PATH']}"
    )
    assert (status, "not this archfit" in out) == (3, True)


def test_check_a_package_without_archfit_or_kpt(site, setup):
    site.write("all/Kptfile", KPTFILE)
    status, out, _ = setup("kpt", "--check", "--into", "all")
    assert (status, "is archfit: run archfit setup kpt" in out) == (3, True)
    setup("kpt", "--into", "all")
    status, out, _ = setup("kpt", "--check", "--into", "all", path=str(PROGRAM.parent))
    assert (status, out.splitlines()[-1]) == (3, "wrong: kpt is not on PATH: install it")
    (site.folder / "all" / "archfit.yaml").unlink()
    status, out, _ = setup("kpt", "--check", "--into", "all")
    assert (status, "names archfit.yaml, which is not there" in out) == (3, True)
