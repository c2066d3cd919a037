"""What `make test-all` fetches, and what it says of a program that it cannot fetch. Nothing is fetched here."""

import subprocess
import zipfile
from pathlib import Path

import pytest

import install_tools
import machine


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without programs, a user who is not root, and an empty .tools. All programs are stand-ins."""
    monkeypatch.setattr(machine, "unmarked", "")
    for module in (machine, install_tools):
        monkeypatch.setattr(module, "TOOLS", tmp_path)
    monkeypatch.setattr(machine, "ENVIRON", {"PATH": str(tmp_path / "nowhere")})
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return tmp_path


GO, NODE = "Go is not installed (https://go.dev/dl/)", "Node.js is not installed (https://nodejs.org/)"


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        pytest.param("helm4", "go install helm.sh/helm/v4/cmd/helm@v4.3.1", GO, id="a Go program without Go"),
        pytest.param(
            "docker-registry",
            "apt-get install docker-registry",
            "apt-get: No such file or directory",
            id="a package without apt",
        ),
        pytest.param(
            "skopeo",
            "apt-get install skopeo",
            "not root: sudo apt-get install skopeo",
            id="a package without root",
        ),
        pytest.param(
            "kubectl",
            "go build k8s.io/kubernetes/cmd/kubectl of v1.36.3, see tests/support/install_tools.py",
            GO,
            id="a program of Kubernetes without Go",
        ),
        pytest.param(
            "argocd",
            "go build github.com/argoproj/argo-cd/v3 ./cmd of v3.5.1, see tests/support/install_tools.py",
            GO,
            id="a module with replaces without Go",
        ),
        pytest.param(
            "renovate-config-validator",
            "npm install renovate@39.264.1",
            NODE,
            id="a package of npm without Node.js",
        ),
        pytest.param(
            "mkdocs",
            "pip install -r locks/docs.lock, and npm pack what scripts/site/package.json names",
            NODE,
            id="what builds the site without Node.js",
        ),
    ],
)
@pytest.mark.usefixtures("bare")
def test_what_cannot_be_installed_is_named(
    capsys: pytest.CaptureFixture[str], name: str, line: str, reason: str
) -> None:
    install_tools.main([name])
    assert capsys.readouterr().out.splitlines() == [
        f"tools: installing {name}: {line}",
        f"tools: {name} could not be installed: {reason}",
    ]


def test_a_module_is_built_with_the_modules_that_its_zip_lacks(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for origin, name in (("example.org/app@v1", "main.go"), ("example.org/app/engine@v2", "engine.go")):
        (bare / "cache" / origin).mkdir(parents=True)
        (bare / "cache" / origin / name).write_text("package x\n", encoding="utf-8")
    # `go mod download -json ORIGIN`, and `go build .. -o TARGET PACKAGE`, which lists what it would compile.
    program(
        bare / "go" / "go",
        f"""#!/bin/sh
if [ "$1" = mod ]; then [ -d "{bare}/cache/$4" ] && echo '{{"Dir": "{bare}/cache/'"$4"'"}}'
else find . -type f | sort > "$6"; fi
""",
    )
    monkeypatch.setenv("PATH", f"{bare / 'go'}:/usr/bin:/bin")
    tool = machine.Tool("app", "module", "example.org/app . engine=example.org/app/engine@v2", "v1", "app")
    for folder in ("bin", "versions"):
        (bare / folder).mkdir()
    install_tools.go_build_module(tool)
    assert (bare / "bin" / "app").read_text(encoding="utf-8") == "./engine/engine.go\n./main.go\n"
    missing = tool._replace(origin="example.org/app . engine=example.org/lost@v1")
    with pytest.raises(install_tools.Failed, match=r"example\.org/lost@v1 could not be downloaded"):
        install_tools.go_build_module(missing)


def test_what_fails_is_tried_again_and_the_reason_is_shown(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bare / "node" / "tap-parser" / "node_modules" / ".bin"
    once = bare / "once"
    program(
        bare / "npm-is-here" / "npm",
        f"""#!/bin/sh
if [ -e {once} ]; then mkdir -p {folder} && : > {folder}/uv; exit; fi
: > {once}
echo 'npm error code E503' >&2
echo 'npm error' >&2
echo 'npm error 503 Service Unavailable' >&2
echo 'npm error A complete log of this run can be found in: /x-debug-0.log' >&2
exit 1
""",
    )
    monkeypatch.setenv("PATH", f"{bare / 'npm-is-here'}:/usr/bin:/bin")
    monkeypatch.setattr(install_tools, "PAUSE_SECONDS", 0)
    monkeypatch.setitem(machine.TABLE, "tap-parser", machine.Tool("tap-parser", "npm", "tap", "1.0.0", "uv"))
    install_tools.main(["tap-parser"])
    assert capsys.readouterr().out.splitlines() == [
        "tools: installing tap-parser: npm install tap@1.0.0",
        "tools: tap-parser failed and is tried again: npm error code E503",
        "    npm error 503 Service Unavailable",
    ]
    assert (bare / "bin" / "tap-parser").exists()


@pytest.mark.parametrize(
    ("says", "counts"),
    [
        pytest.param('echo "v3.22.0+g1234"', True, id="the locked version"),
        pytest.param('[ "$1" = version ] && echo 3.22.0', True, id="by a command"),
        pytest.param('echo "v3.22.0-rc.1"', False, id="before it"),
        pytest.param('echo "v13.22.0, v3.22.0.1"', False, id="another version"),
        pytest.param("exit 1", False, id="it does not say"),
    ],
)
def test_a_program_on_path_counts_in_the_locked_version_only(
    bare: Path, monkeypatch: pytest.MonkeyPatch, says: str, counts: bool
) -> None:
    program(bare / "path" / "helm", f"#!/bin/sh\n{says}\n")
    monkeypatch.setattr(machine, "ENVIRON", {"PATH": f"{bare / 'path'}"})
    assert machine.TABLE["helm3"].version == "v3.22.0"
    assert machine.find("helm3") == (bare / "path" / "helm" if counts else None)
    assert machine.find("helm4") is None


def test_a_program_of_an_earlier_lock_does_not_count(bare: Path) -> None:
    program(bare / "bin" / "helm3", "#!/bin/sh\n")
    (bare / "versions").mkdir()
    (bare / "versions" / "helm3-v3.0.0").touch()
    assert machine.find("helm3") is None
    machine.stamp(machine.TABLE["helm3"]).touch()
    assert machine.find("helm3") == bare / "bin" / "helm3"


def test_what_the_distribution_decides_counts_in_any_version(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bare / "path" / "skopeo", "#!/bin/sh\n")
    monkeypatch.setattr(machine, "ENVIRON", {"PATH": f"{bare / 'path'}"})
    assert machine.find("skopeo") == bare / "path" / "skopeo"


def test_a_go_program_is_built_once_for_each_version(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = bare / "log"
    program(
        bare / "go" / "go", f'#!/bin/sh\necho "$@" >> {log}\n: > "$GOBIN/helm"\n/bin/chmod +x "$GOBIN/helm"\n'
    )
    monkeypatch.setenv("PATH", f"{bare / 'go'}")
    tool = machine.TABLE["helm3"]
    for _ in range(2):
        install_tools.main(["helm3"])
    monkeypatch.setitem(machine.TABLE, "helm3", tool._replace(version="v3.99.0"))
    install_tools.main(["helm3"])
    assert log.read_text(encoding="utf-8").splitlines() == [
        "install helm.sh/helm/v3/cmd/helm@v3.22.0",
        "install helm.sh/helm/v3/cmd/helm@v3.99.0",
    ]
    assert (bare / "bin" / "helm3").exists()


def test_a_package_of_pip_runs_from_a_folder_that_was_moved_and_through_a_link(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: object, **_: object) -> str:
        folder = bare / "tools" / "python" / "twine" / "bin"
        program(folder / "python", '#!/bin/sh\nscript=$1\nshift\n. "$script"\n')
        program(folder / "twine", f'#!{folder / "python"}\necho "twine $*"\n')
        return ""

    (bare / "tools").mkdir()
    for module in (machine, install_tools):
        monkeypatch.setattr(module, "TOOLS", bare / "tools")
    monkeypatch.setattr(install_tools, "run", run)
    install_tools.main(["twine"])
    (bare / "tools").rename(bare / "moved")
    (bare / "link").symlink_to(bare / "moved" / "bin" / "twine")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for path in (bare / "moved" / "bin" / "twine", bare / "link"):
        done = subprocess.run([path, "check", "a b"], capture_output=True, text=True, check=True)
        assert done.stdout == "twine check a b\n"


def test_of_a_wheel_one_folder_is_unpacked(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = machine.TABLE["kubernetes-core"]

    def run(*words: object, **_: object) -> str:
        folder = Path(str(words[words.index("--dest") + 1]))
        with zipfile.ZipFile(folder / "ansible.whl", "w") as wheel:
            for name in (f"{tool.installs}/MANIFEST.json", f"{tool.installs}x/a", "other"):
                wheel.writestr(name, name)
        return ""

    (bare / "tools").mkdir()
    for module in (machine, install_tools):
        monkeypatch.setattr(module, "TOOLS", bare / "tools")
    monkeypatch.setattr(install_tools, "run", run)
    install_tools.main(["kubernetes-core"])
    assert (bare / "tools" / "bin" / "kubernetes-core" / "MANIFEST.json").is_file()
    unpacked = [path for path in (bare / "tools" / "parts").rglob("*") if path.is_file()]
    assert [path.name for path in unpacked] == ["MANIFEST.json"]
