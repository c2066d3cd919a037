"""kubectl as a program: bounded in time and output, its complaint shown, the reason known."""

import json
import sys
from pathlib import Path
from time import monotonic

import pytest

import machine
from archfit.cluster import kubectl as module
from archfit.cluster.cluster_connection import connect
from archfit.cluster.cluster_error import ClusterError
from archfit.cluster.kubectl import Kubectl


@pytest.fixture
def fake(tmp_path):
    """Makes `kubectl` of Python code; the environment that finds it. Its words are written to the file `words`."""

    def made(code: str) -> dict[str, str]:
        program = tmp_path / "kubectl"
        program.write_text(
            f"#!{sys.executable} -I\nimport json, sys, time\n"
            f"open({str(tmp_path / 'words')!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n{code}\n",
            encoding="utf-8",
        )
        program.chmod(0o755)
        return {"PATH": str(tmp_path)}

    return made


def words(tmp_path: Path) -> list[list[str]]:
    return [json.loads(line) for line in (tmp_path / "words").read_text().splitlines()]


def test_an_answer_is_decoded_and_the_flags_are_passed_on(fake, tmp_path):
    kubectl = Kubectl(fake("print('{\"items\": []}')"), context="dev", kubeconfig="/k", seconds=20)
    assert kubectl.get("/api/v1/pods") == {"items": []}
    assert words(tmp_path) == [["--context=dev", "--kubeconfig=/k", "get", "--raw", "/api/v1/pods"]]


@pytest.mark.parametrize(
    ("complaint", "reason", "remedy"),
    [
        pytest.param('Error from server (Forbidden): pods is forbidden: User "x" cannot list', "forbidden", "give this user", id="forbidden"),
        pytest.param("Error from server (NotFound): x", "not-found", "", id="not found"),
        pytest.param("error: You must be logged in to the server (Unauthorized)", "unauthorized", "log in to the cluster again", id="not logged in"),
        pytest.param(
            "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
            "unreachable",
            "name a cluster that answers with --context",
            id="nobody listens",
        ),
        pytest.param("Unable to connect to the server: dial tcp: lookup x: no such host", "unreachable", "", id="no host"),
        pytest.param("Unable to connect to the server: net/http: TLS handshake timeout i/o timeout", "timeout", "try again", id="slow"),
        pytest.param("Error from server (Expired): too old", "expired", "", id="an old token"),
        pytest.param("error: what?", "other", "", id="anything else"),
    ],
)  # fmt: skip
def test_its_complaint_is_shown_with_the_remedy(fake, complaint, reason, remedy):
    kubectl = Kubectl(fake(f"sys.exit({complaint!r})"), seconds=20)
    with pytest.raises(ClusterError) as raised:
        kubectl.get("/api/v1/pods")
    assert raised.value.reason == reason
    assert str(raised.value).startswith(f"kubectl get failed ({complaint}){remedy and f'; {remedy}'}")


def test_it_is_stopped_at_the_deadline(fake):
    kubectl = Kubectl(fake("time.sleep(60)"), seconds=0.3)
    with pytest.raises(ClusterError, match=r"kubectl get did not end within 0\.3 s") as raised:
        kubectl.get("/api/v1/pods")
    assert raised.value.reason == "timeout"
    with pytest.raises(ClusterError, match="did not end"):
        kubectl.get("/api/v1/nodes")


def test_it_is_stopped_where_it_writes_too_much(fake, monkeypatch):
    monkeypatch.setattr(module, "MAX_OUTPUT", 1 << 20)
    kubectl = Kubectl(fake("while True: sys.stdout.write('x' * 65536)"), seconds=20)
    with pytest.raises(ClusterError, match="kubectl get wrote more than 1,048,576 bytes"):
        kubectl.get("/api/v1/pods")


HELPER = "import os\nif os.fork() == 0: time.sleep(30); os._exit(0)\n"


def test_a_helper_that_holds_the_pipe_is_not_waited_for(fake):
    kubectl = Kubectl(fake(f"{HELPER}print('{{\"items\": []}}')"), seconds=20)
    begun = monotonic()
    assert kubectl.get("/api/v1/pods") == {"items": []}
    assert monotonic() - begun < 15


def test_a_helper_that_holds_the_pipe_does_not_move_the_deadline(fake):
    kubectl = Kubectl(fake(f"{HELPER}time.sleep(30)"), seconds=0.5)
    begun = monotonic()
    with pytest.raises(ClusterError, match=r"kubectl get did not end within 0\.5 s"):
        kubectl.get("/api/v1/pods")
    assert monotonic() - begun < 15


_AT_A_TERMINAL = """
import os, pty, sys
pid, terminal = pty.fork()
if not pid:
    from archfit.cluster.kubectl import Kubectl
    print(Kubectl({"PATH": sys.argv[1]}, seconds=20).get("/api/v1/pods"), flush=True)
    os._exit(0)
shown = b""
try:
    while more := os.read(terminal, 4096):
        shown += more
        if more.endswith(b"MFA code: "):
            os.write(terminal, b"123456\\n")
except OSError:
    pass
print(shown.decode())
"""


def test_a_login_may_ask_at_the_terminal(fake, tmp_path):
    fake("import getpass; print(json.dumps({'code': getpass.getpass('MFA code: ')}))")
    words = [sys.executable, "-c", _AT_A_TERMINAL, str(tmp_path)]
    shown = machine.run(words, timeout=60, check=True).stdout
    assert "{'code': '123456'}" in shown


def test_an_answer_that_is_longer_than_the_pipe_is_read_whole(fake):
    answer = Kubectl(fake("print('\"' + 'x' * 3_000_000 + '\"')"), seconds=20).get("/api/v1/pods")
    assert len(answer) == 3_000_000


@pytest.mark.parametrize("text", ["'[' * 200_000", "'[' * 100_000 + ']' * 100_000"], ids=["open", "closed"])
def test_an_answer_that_is_nested_too_deeply_is_one_error(fake, text):
    with pytest.raises(ClusterError, match="gave JSON that is nested too deeply"):
        Kubectl(fake(f"print({text})"), seconds=20).get("/api/v1/pods")


def test_an_answer_that_is_no_json_is_refused(fake):
    with pytest.raises(ClusterError, match="gave no JSON"):
        Kubectl(fake("print('<html>')"), seconds=20).get("/api/v1/pods")


def test_without_kubectl_the_remedy_is_to_install_it(tmp_path):
    with pytest.raises(ClusterError, match="there is no kubectl on PATH: install it"):
        connect({"PATH": str(tmp_path)})


def test_definitions_are_applied_first_and_waited_for(fake, tmp_path):
    fine = fake("sys.stdin.read(); print('applied')")
    definition = {"kind": "CustomResourceDefinition", "metadata": {"name": "x.archfit.dev"}}
    assert Kubectl(fine, seconds=20).apply([definition, {"kind": "X", "metadata": {}}]) == ["applied"] * 2
    assert [call[0] for call in words(tmp_path)] == ["apply", "wait", "apply"]
    assert words(tmp_path)[1][-1] == "crd/x.archfit.dev"
