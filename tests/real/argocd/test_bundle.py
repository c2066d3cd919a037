"""The bundle of `make bundle`: it runs where there is no Python, as user 999, with a read-only root, and quickly."""

import os
import re
import resource
import shutil
import statistics
import subprocess
from pathlib import Path

import pytest
import yaml
from registry import Registry

import machine
from archfit.integrations.argocd import setup
from argocd_sources import INTEL
from helm_runs import start
from program import PROGRAM

CONFIG_MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
# What the bundle may need of a machine: the C library, and zlib, which Argo CD's image has for git.
NEEDED = re.compile(r"(ld-linux[^/]*|lib(c|m|dl|pthread|resolv|rt|util|z))\.so\.[0-9]+").fullmatch


@pytest.fixture(scope="module")
def bundle(binary):
    """The folder that `make bundle` builds."""
    return binary


@pytest.fixture(scope="module")
def stock(bundle, tmp_path_factory):
    """A root like repo-server's: no Python, the C library and zlib, the copied bundle, and a folder to write to."""
    root = tmp_path_factory.mktemp("root")
    for name in ("archfit-tools", "tmp", "dev", "proc", "etc", "cache"):
        (root / name).mkdir()
    shutil.copytree(bundle, root / "archfit-tools" / "archfit", symlinks=True)
    for library in sorted(_libraries(bundle)):
        assert NEEDED(library.name), library
        at = root / str(library).lstrip("/")
        at.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, at)
    os.chmod(root / "cache", 0o777)
    for folder in (root, *root.parents):
        if folder != folder.parent and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    return root


def _libraries(bundle: Path) -> set[Path]:
    """The machine's libraries that the bundle loads."""
    programs = [str(bundle / "archfit"), *(str(path) for path in bundle.rglob("*.so*") if path.is_file())]
    said = machine.run(["ldd", *programs], check=True).stdout
    found = {Path(path) for path in re.findall(r"(?:=> |^\t)(/[^ ]+) \(", said, re.MULTILINE)}
    return {
        path
        for path in found
        if bundle not in path.parents and not (bundle / "_internal" / path.name).exists()
    } | {path for path in found if path.name.startswith(("libz.", "ld-linux"))}


def _inside(root: Path, *words: str, **environ: str) -> list[str]:
    """The command that runs the bundle in the root, which is read-only but for /cache, as user 999."""
    setting = [f"{name}={value}" for name, value in environ.items()]
    script = (
        'set -e; root=$1; shift; mount --bind "$root" "$root"; mount --bind "$root/cache" "$root/cache"; '
        'mount -o remount,bind,ro "$root"; exec chroot --userspec=999:999 "$root" "$@"'
    )
    clean = ["unshare", "--mount", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *setting]
    return [*clean, "sh", "-c", script, "sh", str(root), "/archfit-tools/archfit/archfit", *words]


def test_the_bundle_runs_as_user_999_with_a_read_only_root_and_without_python(stock):
    if os.geteuid() != 0:
        pytest.skip("only root can make a root of its own")
    assert not list(stock.glob("usr/bin/python*"))
    with Registry({"registry.example/intel:1": ["linux/amd64"]}) as registry:
        mirror = " ".join(registry.mirrors()[1::2])
        words = _inside(stock, ARCHFIT_CACHE="/cache/archfit/lookups.sqlite", ARCHFIT_MIRROR=mirror)
        done = subprocess.run(words, input=INTEL.encode(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        plain = subprocess.run(
            [PROGRAM],
            input=INTEL.encode(),
            env={**os.environ, "ARCHFIT_MIRROR": mirror, "ARCHFIT_NO_CACHE": "true"},
            capture_output=True,
            check=True,
        )
        assert done.stdout == plain.stdout
    assert (stock / "cache" / "archfit" / "lookups.sqlite").stat().st_uid == 999
    # The cache answers now that the registry is gone.
    again = subprocess.run(words, input=INTEL.encode(), capture_output=True, check=False)
    assert (again.returncode, again.stdout) == (0, plain.stdout)


def test_the_helm_plugin_that_the_bundle_writes_starts_the_bundle(bundle, tmp_path):
    start([str(bundle / "archfit"), "setup", "helm", "--into", str(tmp_path)], dict(os.environ)).ok()
    assert start([str(tmp_path / "archfit" / "archfit"), "--version"], {}).ok().startswith(b"archfit ")


def test_kustomize_starts_the_bundle_from_path(bundle, tmp_path):
    texts = setup.files(discover=False, sidecar_image="x", bundle_image="x")
    function = texts["build-options/archfit-function.yaml"]
    (tmp_path / "archfit-function.yaml").write_text(function, encoding="utf-8")
    (tmp_path / "app.yaml").write_text(INTEL, encoding="utf-8")
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [app.yaml]\ntransformers: [archfit-function.yaml]\n", encoding="utf-8"
    )
    config = tmp_path / "archfit.yaml"
    config.write_text(
        texts["build-options/archfit.yaml"].replace("/var/cache/archfit", str(tmp_path)), encoding="utf-8"
    )
    with Registry({"registry.example/intel:1": ["linux/amd64"]}) as registry:
        environ = {
            "PATH": str(bundle),
            "HOME": "/",
            "ARCHFIT_CONFIG": str(config),
            "ARCHFIT_MIRROR": " ".join(registry.mirrors()[1::2]),
        }
        options = yaml.safe_load(texts["build-options/argocd-cm.yaml"])["data"][
            "kustomize.buildOptions"
        ].split()
        out = start([machine.tool("kustomize"), "build", str(tmp_path), *options], environ).ok()
    assert b"key: kubernetes.io/arch" in out


def processor_seconds() -> float:
    """What the processes that ended have taken; a busy machine adds little."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_the_bundle_starts_within_twice_the_processor_time_of_the_installed_program(bundle):
    spent: dict[str, list[float]] = {str(PROGRAM): [], str(bundle / "archfit"): []}
    for _ in range(15):
        for program, times in spent.items():
            began = processor_seconds()
            subprocess.run([program], input=CONFIG_MAP, stdout=subprocess.DEVNULL, check=True)
            times.append(processor_seconds() - began)
    installed, bundled = (statistics.median(times) for times in spent.values())
    assert bundled <= 2 * installed
