"""`archfit doctor`: each thing that it finds, on a machine of stand-ins, and how it ends."""

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.doctor.doctor_machine import HELM_3, HELM_4, KUBECTL, KUSTOMIZE, DoctorMachine

from archfit.base.errors import UsageError
from archfit.cli.installation import installation
from archfit.doctor import command as doctor
from archfit.doctor import python_checks
from archfit.doctor.text import WIDTH
from archfit.lookup.store.sqlite import SqliteStore
from archfit.registry.http.servers import ServerState
from machine import ROOT

SECRET = "s3cret-never-shown"
AUTHS = json.dumps({"auths": {"ghcr.io": {"auth": "bWU6czNjcmV0LW5ldmVyLXNob3du"}}})
PLUGIN = """\
apiVersion: v1
type: postrenderer/v1
name: archfit
version: {}
runtime: subprocess
runtimeConfig:
  platformCommand:
  - command: archfit
    args: [helm]
"""
HANGS = "sleep 300"


@pytest.fixture
def machine(tmp_path):
    return DoctorMachine(tmp_path)


def set_to(**environ: str) -> Callable[[DoctorMachine], None]:
    def arrange(machine: DoctorMachine) -> None:
        machine.environ |= {name: text.replace("HOME/", f"{machine.home}/") for name, text in environ.items()}

    return arrange


def on_path(name: str, script: str) -> Callable[[DoctorMachine], None]:
    return lambda machine: machine.program(name, script)


def written(name: str, text: str, mode: int = 0o600) -> Callable[[DoctorMachine], None]:
    return lambda machine: machine.file(name, text, mode)


def folder(name: str) -> Callable[[DoctorMachine], None]:
    return lambda machine: (machine.home / name).mkdir(parents=True)


def all_of(*steps: Callable[[DoctorMachine], Any]) -> Callable[[DoctorMachine], None]:
    def arrange(machine: DoctorMachine) -> None:
        for step in steps:
            step(machine)

    return arrange


def nothing(machine: DoctorMachine) -> None:
    """A machine as it is: nothing but a home."""


def a_cache(machine: DoctorMachine) -> None:
    path = machine.home / ".cache" / "archfit" / "lookups.sqlite"
    path.parent.mkdir(parents=True)
    store = SqliteStore(str(path))
    store.put_many({"tag:a": "{}"})
    store.close()


def a_name_in_front(machine: DoctorMachine) -> None:
    a_cache(machine)
    store = SqliteStore(str(machine.home / ".cache" / "archfit" / "lookups.sqlite"))
    state = ServerState("https://docker.example")
    state.elsewhere = "https://ghcr.io"
    store.put_many(
        {"host:https://docker.example": state.to_json(), "host:https://quay.io": ServerState("").to_json()}
    )
    store.close()


def a_plugin(version: str) -> Callable[[DoctorMachine], None]:
    return all_of(
        on_path("helm", HELM_4),
        DoctorMachine.archfit,
        written("plugins/archfit/plugin.yaml", PLUGIN.format(version)),
        set_to(HELM_PLUGINS="HOME/plugins"),
    )


DOCKER = ".docker/config.json"
ROWS = [
    ("archfit-missing", nothing, "archfit", "missing", "is not on PATH", 'export PATH="'),
    ("archfit-here", DoctorMachine.archfit, "archfit", "ok", "which other programs start", ""),
    ("archfit-older", lambda m: m.archfit("0.0.1"), "archfit", "wrong", "is 0.0.1, and this is", "first on PATH"),
    ("archfit-broken", on_path("archfit", "echo 'no module' >&2; exit 1"), "archfit", "wrong", "does not start: no module", "install archfit again"),
    ("no-configuration", nothing, "configuration", "ok", "every option has its default", ""),
    ("variable", set_to(ARCHFIT_STRICT="true"), "configuration", "ok", "environment (ARCHFIT_STRICT)", ""),
    ("misspelt-variable", set_to(ARCHFIT_MIROR="x"), "configuration", "wrong", "ARCHFIT_MIROR: there is no such variable", "correct it"),
    ("wrong-value", set_to(ARCHFIT_ON_UNKNOWN="maybe"), "configuration", "wrong", "ARCHFIT_ON_UNKNOWN", "correct it"),
    ("service-link", set_to(ARCHFIT_CACHE_PORT="tcp://10.96.0.7:6379"), "configuration", "ok", "every option has its default", ""),
    ("unknown-variable", set_to(ARCHFIT_X="1"), "configuration", "note", "ARCHFIT_X is not a variable of archfit", "unset ARCHFIT_X"),
    ("no-configuration-file", set_to(ARCHFIT_CONFIG="/gone.yaml"), "configuration", "wrong", "ARCHFIT_CONFIG: cannot read", "correct it"),
    ("broken-configuration-file", all_of(written("a.yaml", "kind: [\n"), set_to(ARCHFIT_CONFIG="HOME/a.yaml")), "configuration", "wrong", "a.yaml", "correct it"),
    ("named-file-gone", set_to(ARCHFIT_CA_FILE="/gone.pem"), "configuration", "wrong", "--ca-file: cannot read '/gone.pem'", ""),
    ("lock-file-gone", set_to(ARCHFIT_LOCK_FILE="/gone.lock"), "configuration", "wrong", "--lock-file: there is no '/gone.lock'", "archfit lock"),
    ("lock-file-broken", all_of(written("a.lock", "{"), set_to(ARCHFIT_LOCK_FILE="HOME/a.lock")), "configuration", "wrong", "a.lock", "archfit lock"),
    ("lock-file", all_of(written("a.lock", '{"version": 1, "images": {\n}}\n'), set_to(ARCHFIT_LOCK_FILE="HOME/a.lock")), "configuration", "ok", "has 0 images", ""),
    ("no-cache-yet", nothing, "cache", "ok", "is not written yet", ""),
    ("cache", a_cache, "cache", "ok", "1 entry", ""),
    ("cache-names-in-front", a_name_in_front, "cache", "note", "https://docker.example leads to https://ghcr.io, which gives tokens to anybody: containerd asks for one, CRI-O does not", "on nodes with CRI-O, write ghcr.io into the manifest"),
    ("cache-of-another-program", written(".cache/archfit/lookups.sqlite", "x" * 200), "cache", "wrong", "lookups.sqlite", "archfit cache path"),
    ("cache-is-a-folder", folder(".cache/archfit/lookups.sqlite"), "cache", "wrong", "it is not a file", "ls -ld"),
    ("cache-below-a-file", written(".cache", "x"), "cache", "wrong", "is not a directory", "ls -ld"),
    ("cache-off", set_to(ARCHFIT_NO_CACHE="true"), "cache", "note", "is off (--no-cache)", ""),
    ("cache-server-gone", set_to(ARCHFIT_CACHE="redis://127.0.0.1:1/0"), "cache", "wrong", "redis://127.0.0.1:1/0", "--no-cache"),
    ("cache-server-offline", set_to(ARCHFIT_CACHE="redis://127.0.0.1:1/0", ARCHFIT_OFFLINE="1"), "cache", "note", "was not asked", ""),
    ("report-place", nothing, "last report", "ok", "is not written yet", ""),
    ("report-place-is-a-folder", folder(".local/state/archfit/last.json"), "last report", "wrong", "it is not a file", "ls -ld"),
    ("no-credentials", nothing, "credentials", "missing", "there are none", "docker login"),
    ("credentials", written(DOCKER, AUTHS), "credentials", "ok", "1 registry", ""),
    ("credentials-readable-by-all", written(DOCKER, AUTHS, 0o644), "credentials", "note", "can be read by other users", "chmod 600"),
    ("credentials-broken", written(DOCKER, "{"), "credentials", "wrong", "is not a JSON object", "docker login"),
    ("credentials-in-a-variable", set_to(DOCKER_AUTH_CONFIG=AUTHS), "credentials", "ok", "$DOCKER_AUTH_CONFIG: 1 registry", ""),
    ("credentials-in-a-broken-variable", set_to(DOCKER_AUTH_CONFIG="{"), "credentials", "wrong", "is not a JSON object", "unset DOCKER_AUTH_CONFIG"),
    ("credentials-file-gone", set_to(REGISTRY_AUTH_FILE="/gone.json"), "credentials", "wrong", "/gone.json cannot be read", "docker login"),
    ("credentials-relative", set_to(DOCKER_CONFIG="here"), "credentials", "wrong", "DOCKER_CONFIG is 'here'", "unset DOCKER_CONFIG"),
    (
        "helper-missing",
        written(DOCKER, '{"credHelpers": {"1.dkr.ecr": "ecr-login"}}'),
        "credentials",
        "wrong",
        "docker-credential-ecr-login, for 1.dkr.ecr, is not on PATH",
        "install it",
    ),
    ("store-missing", written(DOCKER, '{"credsStore": "desktop"}'), "credentials", "wrong", "docker-credential-desktop, for every other registry", "install it"),
    ("no-mirrors", nothing, "network", "ok", "no mirrors, and no patterns of hosts", ""),
    ("mirrors", set_to(ARCHFIT_MIRROR="docker.io=https://hub.example"), "network", "ok", "configured: 1 mirror", ""),
    ("proxy-with-a-password-unescaped", set_to(HTTPS_PROXY=f"http://{SECRET}:12/3@proxy.example:3128"), "network", "wrong", "HTTPS_PROXY is not an http:// or https:// URL", "export HTTPS_PROXY="),
    ("proxy", set_to(HTTPS_PROXY=f"http://me:{SECRET}@proxy.example:3128"), "network", "ok", "HTTPS_PROXY is http://proxy.example:3128", ""),
    (
        "proxy-of-another-kind",
        set_to(HTTPS_PROXY=f"socks5://me:{SECRET}@proxy.example"),
        "network",
        "wrong",
        "HTTPS_PROXY is not an http:// or https:// URL",
        "export HTTPS_PROXY=",
    ),
    (
        "two-proxies",
        set_to(https_proxy="http://a.example", HTTPS_PROXY="http://b.example"),
        "network",
        "note",
        "differ, and https_proxy counts",
        "unset HTTPS_PROXY",
    ),
    ("broken-registries-conf", all_of(written("r.conf", "["), set_to(ARCHFIT_REGISTRIES_CONF="HOME/r.conf")), "network", "wrong", "r.conf", ""),
    ("certificates", nothing, "certificates", "ok", "CA certificates of /", ""),
    ("certificates-gone", set_to(SSL_CERT_FILE="/gone.pem"), "certificates", "wrong", "SSL_CERT_FILE names '/gone.pem'", "unset SSL_CERT_FILE"),
    (
        "certificates-broken",
        all_of(written("a.pem", "x"), set_to(SSL_CERT_FILE="HOME/a.pem")),
        "certificates",
        "wrong",
        "a.pem cannot be read",
        "unset SSL_CERT_FILE",
    ),
    ("ca-file-broken", all_of(written("a.pem", "x"), set_to(ARCHFIT_CA_FILE="HOME/a.pem")), "certificates", "wrong", "a.pem cannot be read", "correct --ca-file"),
    ("no-helm", nothing, "helm 4", "missing", "is not on PATH", "https://helm.sh"),
    ("helm-3", on_path("helm", HELM_3), "helm 3", "ok", "v3.22.0 at", ""),
    ("helm-2", on_path("helm", "echo v2.17.0"), "helm", "note", "neither Helm 3 nor Helm 4", ""),
    ("helm-is-no-helm", on_path("helm", "echo 'No version is set'; exit 126"), "helm", "wrong", "does not answer as Helm does", "helm version"),
    ("no-plugin", on_path("helm", HELM_4), "helm plugin", "missing", "is not installed", "archfit setup helm"),
    (
        "plugin-not-named",
        all_of(on_path("helm", HELM_4), written(".local/share/archfit/helm-plugins/archfit/plugin.yaml", PLUGIN.format("0"))),
        "helm plugin",
        "missing",
        "HELM_PLUGINS of this shell does not name it",
        "archfit setup helm",
    ),
    ("plugin-of-another-version", a_plugin("0.0.1"), "helm plugin", "wrong", "is of archfit 0.0.1", "archfit setup helm --check"),
    ("plugin-in-helm-3", all_of(a_plugin("0.0.1"), on_path("helm3", HELM_3)), "helm plugin", "wrong", "loads none of its own plugins", "archfit setup helm"),
    ("no-kustomize", nothing, "kustomize", "missing", "is not on PATH", "https://kustomize.io"),
    ("kustomize-too-old", on_path("kustomize", "echo v3.10.0"), "kustomize", "wrong", "archfit needs kustomize 4 or later", "https://kustomize.io"),
    ("kustomize-broken", on_path("kustomize", "echo oops >&2; exit 3"), "kustomize", "wrong", "printed no version: oops", "kustomize version"),
    ("kustomize", on_path("kustomize", KUSTOMIZE), "kustomize", "ok", "v5.8.1 at", ""),
    ("no-kpt", nothing, "kpt", "missing", "is not on PATH", "https://kpt.dev"),
    ("kpt", on_path("kpt", "echo 1.0.0-beta.56"), "kpt", "ok", "1.0.0-beta.56 at", ""),
    ("no-container-program", nothing, "containers", "missing", "none of docker, podman, nerdctl", "https://"),
    ("podman-alone", on_path("podman", ""), "containers", "note", "kustomize starts docker alone", ""),
    ("docker", on_path("docker", "exit 1"), "containers", "ok", "no daemon was asked", ""),
    ("no-kubectl", nothing, "kubectl", "missing", "is not on PATH", "https://kubernetes.io"),
    ("kubectl-broken", on_path("kubectl", "exit 1"), "kubectl", "wrong", "printed no version", "kubectl version --client"),
    ("kubectl", on_path("kubectl", KUBECTL), "kubectl", "ok", "v1.36.3 at", ""),
    ("context", on_path("kubectl", KUBECTL), "context", "ok", "kind-test; the cluster was not asked", ""),
    (
        "no-context",
        on_path("kubectl", KUBECTL.replace("echo kind-test", "echo 'error: current-context is not set' >&2; exit 1")),
        "context",
        "missing",
        "no current context",
        "kubectl config use-context",
    ),
    ("kubeconfig-gone", all_of(on_path("kubectl", KUBECTL), set_to(KUBECONFIG="/gone")), "context", "wrong", "KUBECONFIG names /gone", "unset KUBECONFIG"),
    (
        "kubeconfig-broken",
        on_path("kubectl", KUBECTL.replace("echo kind-test", "echo 'error: yaml: line 2' >&2; exit 1")),
        "context",
        "wrong",
        "error: yaml: line 2",
        "kubectl config view",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arrange", "subject", "state", "text", "remedy"), [pytest.param(*row[1:], id=row[0]) for row in ROWS]
)
def test_each_finding(machine, arrange, subject, state, text, remedy):
    arrange(machine)
    findings = machine.look()
    found = [one for one in findings[subject] if one.state == state and text in one.text]
    assert found, findings[subject]
    assert any(remedy in one.remedy if remedy else True for one in found), found
    assert machine.code == (
        3 if any(one.state == "wrong" for some in findings.values() for one in some) else 0
    )
    shown = machine.text()
    assert SECRET not in shown
    assert "bWU6" not in shown
    assert max(len(line) for line in shown.splitlines() if "/" not in line) <= WIDTH


def test_a_bare_machine_is_not_wrong(machine):
    findings = machine.look()
    assert machine.code == 0
    assert not [one for some in findings.values() for one in some if one.state == "wrong"]
    assert machine.entry_points()["files, pipes"] == "yes"
    assert {machine.entry_points()[name] for name in ("Helm 3", "Helm 4", "kustomize", "kpt")} == {"no"}
    assert machine.entry_points()["Argo CD"] == "-"
    last = machine.text().splitlines()[-1]
    assert re.fullmatch(
        r"nothing is wrong; \d+ optional parts are not here; no registry was asked \(archfit login-check does\)",
        last,
    )


def test_a_door_is_open_where_all_that_it_needs_is_here(machine):
    machine.program("helm", HELM_3)
    machine.look()
    assert machine.entry_points()["Helm 3"] == "no"
    machine.archfit()
    machine.look()
    assert machine.entry_points()["Helm 3"] == "yes"
    assert machine.entry_points()["kpt"] == "no"


def test_an_entry_point_says_what_to_do_about_its_worst_need(machine):
    machine.program("helm", HELM_3)
    machine.archfit("0.0.1")
    machine.look()
    (found,) = [one for one in machine.value["entryPoints"] if one["entryPoint"] == "Helm 3"]
    assert found["here"] == "wrong"
    assert "first on PATH" in found["remedy"]


def test_a_helper_is_not_started(machine):
    trace = machine.home / "started"
    machine.program("docker-credential-x", f"echo yes > {trace}")
    machine.file(DOCKER, '{"credHelpers": {"a.example": "x"}}')
    findings = machine.look()
    assert [one.state for one in findings["credentials"]] == ["ok", "ok"]
    assert not trace.exists()


def test_nothing_is_written(machine):
    machine.archfit()
    machine.program("kustomize", KUSTOMIZE)
    machine.look()
    assert sorted(machine.home.rglob("*")) == []


def test_programs_that_hang_are_given_up_together(machine):
    for name in ("helm", "kustomize", "kpt", "kubectl", "archfit"):
        machine.program(name, HANGS)
    before = time.monotonic()
    findings = machine.look("--timeout", "1s")
    assert time.monotonic() - before < 50  # five programs; a program may take 60 s, and these 300
    for subject in ("helm", "kustomize", "kpt", "kubectl", "archfit"):
        assert "wrong" in [one.state for one in findings[subject]], subject
    assert machine.code == 3


def test_a_check_with_a_bug_does_not_hide_the_others(machine, monkeypatch):
    def broken(*_: object) -> list[object]:
        raise KeyError("x")

    monkeypatch.setattr(doctor.network_checks, "trust", broken)
    findings = machine.look()
    (found,) = findings["certificates"]
    assert (found.state, found.text) == ("wrong", "could not be checked: KeyError: 'x'")
    assert findings["python"][0].state == "ok"


@pytest.mark.parametrize(
    ("facts", "state", "text"),
    [
        pytest.param({"cParser": False}, "note", "ten times slower", id="no-c-parser"),
        pytest.param({"dependencies": {"h11": None}}, "wrong", "lacks h11", id="dependency"),
        pytest.param({}, "ok", "C parser", id="whole"),
    ],
)
def test_python(facts, state, text):
    (found,) = python_checks.python({**installation(), **facts})
    assert found.state == state
    assert text in found.text
    assert state == "ok" or " -m pip install " in found.remedy


@pytest.mark.parametrize(
    ("packages", "state"),
    [
        pytest.param({"uvicorn": None, "uvloop": None}, "missing", id="none"),
        pytest.param({"uvicorn": "1", "uvloop": None}, "missing", id="some"),
        pytest.param({"uvicorn": "1", "uvloop": "2"}, "ok", id="all"),
    ],
)
def test_extras(packages, state):
    extra = {"installed": None not in packages.values(), "packages": packages}
    (found,) = python_checks.extras({**installation(), "extras": {"serve": extra}})
    assert (found.subject, found.state) == ("extra serve", state)
    assert state == "ok" or found.remedy.endswith(
        " -m pip install " + " ".join(n for n, v in packages.items() if not v)
    )


def test_no_cluster_is_asked(machine):
    asked = machine.home / "asked"
    machine.program("kubectl", f"echo $* >> {asked}\n{KUBECTL}")
    machine.look()
    assert all("--client" in line or "config" in line for line in asked.read_text("utf-8").splitlines())


@pytest.mark.parametrize(
    "words", [("now",), ("--bogus",), ("--timeout", "never")], ids=["word", "flag", "value"]
)
def test_wrong_usage(machine, words):
    with pytest.raises(UsageError):
        machine.text(*words)


def test_colours_are_those_that_are_asked_for(machine):
    assert "\x1b" not in machine.text()
    colored = machine.text("--color", "always")
    assert re.search(r"\x1b\[32mok\x1b\[0m +python ", colored)
    assert re.sub(r"\x1b\[\d+m", "", colored).splitlines()[-1] == machine.text().splitlines()[-1]


def test_hostile_names_are_shown_as_escapes(machine):
    machine.environ["ARCHFIT_X\x1b[2J"] = "1"
    assert "\x1b" not in machine.text()


def test_the_page_has_every_subject_state_and_entry_point(machine):
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    for name, script in (("helm", HELM_4), ("kustomize", KUSTOMIZE), ("kubectl", KUBECTL)):
        machine.program(name, script)
    subjects = {re.sub(r"^extra .*", "extra ..", subject) for subject in machine.look()}
    table = page.partition("\nIt looks at ")[2].partition("\n## ")[0]
    cells = "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`([^`]+)`", cells)) == subjects
    assert re.findall(r"^\| `(\w+)` \| .* \| \d \|$", page, re.MULTILINE) == [
        "ok",
        "note",
        "missing",
        "wrong",
    ]
    assert page.partition("\nENTRY POINT ")[2].splitlines()[0].split() == [
        "NEEDS",
        "HERE",
        "WHAT",
        "TO",
        "DO",
    ]
