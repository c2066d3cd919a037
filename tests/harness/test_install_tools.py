"""What `make test-all` fetches, and what it says of a program that it cannot fetch. Nothing is fetched here."""

from pathlib import Path

import pytest

import install_tools
import machine


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine without programs, a user who is not root, and an empty .tools. All programs are stand-ins."""
    monkeypatch.setattr(machine, "unmarked", "")
    for module in (machine, install_tools):
        monkeypatch.setattr(module, "TOOLS", tmp_path)
    monkeypatch.setattr(machine, "ENVIRON", {"PATH": str(tmp_path / "nowhere")})
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return tmp_path


GO = "Go is not installed (https://go.dev/dl/)"


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
    ],
)
@pytest.mark.usefixtures("bare")
def test_what_cannot_be_installed_is_named(capsys, name, line, reason):
    install_tools.main([name])
    assert capsys.readouterr().out.splitlines() == [
        f"tools: installing {name}: {line}",
        f"tools: {name} could not be installed: {reason}",
    ]


def test_what_fails_is_tried_again_and_the_reason_is_shown(bare, monkeypatch, capsys):
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
def test_a_program_on_path_counts_in_the_locked_version_only(bare, monkeypatch, says, counts):
    program(bare / "path" / "helm", f"#!/bin/sh\n{says}\n")
    monkeypatch.setattr(machine, "ENVIRON", {"PATH": f"{bare / 'path'}"})
    assert machine.TABLE["helm3"].version == "v3.22.0"
    assert machine.find("helm3") == (bare / "path" / "helm" if counts else None)
    assert machine.find("helm4") is None


def test_a_program_of_an_earlier_lock_does_not_count(bare):
    program(bare / "bin" / "helm3", "#!/bin/sh\n")
    (bare / "versions").mkdir()
    (bare / "versions" / "helm3-v3.0.0").touch()
    assert machine.find("helm3") is None
    machine.stamp(machine.TABLE["helm3"]).touch()
    assert machine.find("helm3") == bare / "bin" / "helm3"
