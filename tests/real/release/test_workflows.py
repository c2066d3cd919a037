"""The workflows: GitHub's schema and linter take them, actions are pinned, rights are few, and their commands work."""

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest
import yaml

import machine
from archfit import __version__
from helm_signing import signing_key
from machine import ROOT
from real_registries import ggcr

FILES = {path.name: path for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
TEXTS = {name: path.read_text(encoding="utf-8") for name, path in FILES.items()}
# YAML 1.1 reads the key `on` as true.
WORKFLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
STEPS = [
    (name, job, step)
    for name, workflow in WORKFLOWS.items()
    for job, content in workflow["jobs"].items()
    for step in content["steps"]
]
# What each job may do beside reading the repository.
RIGHTS = {
    ("operators.yml", "propose"): {"contents": "write", "pull-requests": "write"},
    ("release.yml", "image"): {"packages": "write", "id-token": "write", "attestations": "write"},
    ("release.yml", "charts"): {"packages": "write"},
    ("release.yml", "pypi"): {"id-token": "write"},
    ("release.yml", "github"): {"contents": "write", "id-token": "write", "attestations": "write"},
}


def script(workflow: str, job: str, name: str) -> str:
    """The commands of a step, by its name."""
    (found,) = [
        step["run"] for one, other, step in STEPS if (one, other, step.get("name")) == (workflow, job, name)
    ]
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_linter_has_nothing_to_say(name):
    done = machine.run([machine.tool("actionlint"), "-no-color", FILES[name]])
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", FILES)
def test_the_schema_of_github_takes_them(name):
    words = ("--builtin-schema", "vendor.github-workflows", FILES[name])
    done = machine.run([machine.tool("check-jsonschema"), *words])
    assert done.returncode == 0, done.stdout


def test_base_images_are_pinned_by_digest():
    named = [
        job["container"]["image"]
        for flow in WORKFLOWS.values()
        for job in flow["jobs"].values()
        if "container" in job
    ]
    for path in [ROOT / "Dockerfile", *(ROOT / "transformer").rglob("Dockerfile")]:
        named += re.findall(r"^FROM (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(named) > 1
    assert [image for image in named if not re.search(r"@sha256:[0-9a-f]{64}$", image)] == []


def test_actions_are_pinned_by_commit_with_their_version_beside():
    used = re.findall(r"uses: (\S+)(?: # (\S+))?$", "\n".join(TEXTS.values()), re.MULTILINE)
    assert len(used) > 20
    assert [name for name, version in used if not re.search(r"@[0-9a-f]{40}$", name) or not version] == []
    versions = {}
    for name, version in used:
        versions.setdefault(name.partition("@")[0], set()).add((name, version))
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


def test_rights_are_few():
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == {"contents": "read"}
        for job, content in workflow["jobs"].items():
            rights = {key: value for key, value in content.get("permissions", {}).items() if value != "read"}
            assert rights == RIGHTS.get((name, job), {}), (name, job)
            # Who may publish or sign is asked first.
            asks = bool(rights) or "${{ secrets." in str(content)
            assert asks == ("environment" in content), (name, job)


def test_no_expression_is_part_of_a_script():
    assert [step["run"] for _, _, step in STEPS if "${{" in step.get("run", "")] == []


def test_the_job_that_proposes_recordings_runs_no_file_of_the_repository():
    steps = WORKFLOWS["operators.yml"]["jobs"]["propose"]["steps"]
    lines = "\n".join(step.get("run", "") for step in steps).splitlines()
    started = {line.split()[0] for line in lines if line.strip() and not line.startswith("  ")}
    assert started == {"git", "gh", "if", "fi"}


def test_no_checkout_leaves_a_token_behind():
    checkouts = [step for _, _, step in STEPS if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert {step["with"]["persist-credentials"] for step in checkouts} == {False}


def test_nothing_is_published_before_everything_is_verified():
    jobs = WORKFLOWS["release.yml"]["jobs"]
    for name in ("image", "charts", "pypi"):
        assert set(jobs[name]["needs"]) == {"packages", "binary", "sign"}
    assert set(jobs["sign"]["needs"]) == {"packages", "binary"}
    assert set(jobs["github"]["needs"]) == {"image", "charts", "pypi"}


def test_the_steps_of_both_release_jobs_are_all_steps():
    asked = re.findall(r'make release-check .*ARGS="([^"]*)"', TEXTS["release.yml"])
    program = (ROOT / "scripts" / "release" / "__main__.py").read_text(encoding="utf-8")
    known = set(re.findall(r'^    \("([a-z-]+)", ', program, re.MULTILINE))
    assert len(asked) == 2
    # The job `github` writes the manifest for krew, when the binaries of both architectures are there.
    assert {word for words in asked for word in words.split()} == known - {"krew"}


def test_only_a_job_that_builds_nothing_has_secrets():
    """It runs no file of the repository: what a build could have changed is not started beside the key."""
    assert {(name, job) for name, job, step in STEPS if "${{ secrets." in str(step)} == {
        ("release.yml", "sign")
    }
    assert all("${{ secrets." not in str({**one, "jobs": {}}) for one in WORKFLOWS.values())
    steps = [step for name, job, step in STEPS if (name, job) == ("release.yml", "sign")]
    assert [step.get("uses", "").partition("@")[0] for step in steps] == [
        "actions/download-artifact",
        "",
        "actions/upload-artifact",
    ]
    assert WORKFLOWS["release.yml"]["jobs"]["sign"]["permissions"] == {}


@pytest.fixture(scope="module")
def release_key(tmp_path_factory):
    with signing_key(tmp_path_factory.mktemp("key"), "release", "hush") as key:
        yield key


@pytest.fixture
def to_sign(tmp_path):
    """A folder with `plugin`, as the job downloads it."""
    words = ("--helm", machine.tool("helm4"), "--throw-away-key", "--into", tmp_path / "plugin")
    subprocess.run(
        [sys.executable, ROOT / "scripts" / "plugin_archive.py", *words], check=True, capture_output=True
    )
    # The path of a socket of gpg's agent has at most 107 bytes.
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        (tmp_path / "temporary").symlink_to(short)
        yield tmp_path


def sign(folder, key, passphrase="hush", name="release"):
    """The step as it is."""
    return machine.run(
        ["bash", "-e", "-o", "pipefail", "-c", script("release.yml", "sign", "Sign the plugin")],
        cwd=folder,
        env={
            "PATH": "/usr/bin:/bin", "TAG": f"v{__version__}", "TMPDIR": str((folder / "temporary").readlink()),
            "PLUGIN_KEYRING": base64.b64encode(key.secret.read_bytes()).decode(), "PASSPHRASE": passphrase,
            "KEY": name,
        }
    )  # fmt: skip


def test_helm_verifies_what_the_job_signed(release_key, to_sign):
    archive = to_sign / "plugin" / f"archfit-{__version__}.tgz"
    before, throw_away = archive.read_bytes(), to_sign / "throw-away.gpg"
    shutil.copyfile(to_sign / "plugin" / "archfit-throw-away.gpg", throw_away)
    done = sign(to_sign, release_key)
    assert done.returncode == 0, done.stderr
    assert "hush" not in done.stdout + done.stderr
    assert sorted(path.name for path in archive.parent.iterdir()) == [
        archive.name,
        f"{archive.name}.prov",
        "archfit-plugin.gpg",
    ]
    assert archive.read_bytes() == before
    assert (archive.parent / "archfit-plugin.gpg").read_bytes() == release_key.public.read_bytes()
    assert list((to_sign / "temporary").iterdir()) == []
    for keyring, status in ((archive.parent / "archfit-plugin.gpg", 0), (throw_away, 1)):
        verified = machine.run(
            [machine.tool("helm4"), "plugin", "verify", "--keyring", keyring, archive],
            env={"PATH": "/usr/bin:/bin", "HOME": str(to_sign)}
        )  # fmt: skip
        assert verified.returncode == status, verified.stderr
        assert ("Signed by: release\n" in verified.stdout) == (status == 0)


@pytest.mark.parametrize(
    ("spoiled", "words", "said"),
    [
        pytest.param("archive", {}, 'Good signature from "archfit-throw-away"', id="another-archive"),
        pytest.param("message", {}, "BAD signature", id="a-changed-message"),
        pytest.param("", {"passphrase": "wrong"}, "Bad passphrase", id="wrong-passphrase"),
        pytest.param("", {"name": "nobody"}, "No secret key", id="unknown-key"),
        pytest.param("", {"name": ""}, "Invalid user ID", id="no-key"),
    ],
)
def test_the_job_signs_nothing_else(release_key, to_sign, spoiled, words, said):
    archive = to_sign / "plugin" / f"archfit-{__version__}.tgz"
    signature = archive.with_name(f"{archive.name}.prov")
    if spoiled == "archive":
        archive.write_bytes(archive.read_bytes() + b"x")
    if spoiled == "message":
        signature.write_bytes(signature.read_bytes().replace(b"Name: archfit", b"Name: archfix"))
    before = signature.read_bytes()
    done = sign(to_sign, release_key, **words)
    assert done.returncode != 0
    assert said in done.stderr
    # The checksum comes first: the key is not touched for another archive.
    assert ("imported" in done.stderr) == (not spoiled)
    assert signature.read_bytes() == before
    assert list((to_sign / "temporary").iterdir()) == []


def test_the_files_of_the_release_have_names_and_checksums(released, tmp_path):
    """The step as it is; the binary of the other architecture is a stand-in."""
    for name in ("scripts", "pyproject.toml", "CHANGELOG.md"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, tmp_path / name)
    shutil.copytree(released.dist, tmp_path / "dist")
    shutil.rmtree(tmp_path / "dist" / "krew")
    (binary,) = (tmp_path / "dist" / "binary").iterdir()
    other = f"archfit-{__version__}-linux-{'arm64' if 'amd64' in binary.name else 'amd64'}.tar.gz"
    (binary.parent / other).write_bytes(b"other")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    done = machine.run(
        ["bash", "-e", "-c", script("release.yml", "github", "Write manifest, checksums and notes")],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    assets = tmp_path / "assets"
    manifest = (assets / "krew.yaml").read_text(encoding="utf-8")
    for name in (binary.name, other):
        assert hashlib.sha256((assets / name).read_bytes()).hexdigest() in manifest
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=assets, check=False, capture_output=True
    )
    assert (checked.returncode, len(list(assets.iterdir()))) == (0, checked.stdout.count(b": OK\n") + 1)
    notes = (tmp_path / "notes.md").read_text(encoding="utf-8").strip()
    assert notes
    assert notes in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_chart_and_plugin_are_pushed_and_can_be_installed(released, tmp_path):
    """scripts/release/push.sh against a registry on this machine, and Helm 4 as its user."""
    for name in ("helm4", "regctl"):
        machine.tool(name)
    place = tmp_path / "checkout"
    (place / "scripts" / "release").mkdir(parents=True)
    shutil.copy2(ROOT / "scripts" / "release" / "push.sh", place / "scripts" / "release")
    (place / "dist").symlink_to(released.dist)
    (place / ".tools").symlink_to(ROOT / ".tools")
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "HELM_FLAGS": "--plain-http"}
    with ggcr(tmp_path) as registry:
        subprocess.run(
            [machine.tool("regctl"), "registry", "set", "--tls", "disabled", registry.host],
            env=environ, check=True, capture_output=True,
        )  # fmt: skip
        pushed = machine.run(
            [place / "scripts" / "release" / "push.sh", f"{registry.host}/acme/archfit", __version__],
            env=environ
        )  # fmt: skip
        assert pushed.returncode == 0, pushed.stderr
        helm = machine.tool("helm4")
        chart = machine.run(
            [helm, "show", "chart", f"oci://{registry.host}/acme/archfit/charts/archfit", "--plain-http",
             "--version", __version__],
            env=environ
        )  # fmt: skip
        assert f"appVersion: {__version__}" in chart.stdout, chart.stderr
        plugin = machine.run(
            [helm, "plugin", "install", f"oci://{registry.host}/acme/archfit/helm-plugin/archfit:{__version__}",
             "--plain-http", "--keyring", released.dist / "plugin" / "archfit-throw-away.gpg"],
            env=environ
        )  # fmt: skip
        assert plugin.returncode == 0, plugin.stderr
