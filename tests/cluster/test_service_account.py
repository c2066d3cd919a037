"""A pod's service account: what is missing in the pod is named, and nothing of the token is shown."""

import contextlib
import json
import threading
from pathlib import Path

import certifi
import pytest

from archfit.cluster import cluster_connection
from archfit.cluster.cluster_connection import connect
from archfit.cluster.cluster_error import ClusterError
from archfit.cluster.kubectl import Kubectl
from archfit.cluster.service_account import ServiceAccount, resource_path
from fake_registry import Answer, FakeRegistry, as_json
from tls_files import tls_files

ENVIRON = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1", "PATH": ""}


def test_without_its_certificates_it_says_which_file(tmp_path):
    with pytest.raises(ClusterError, match=r"ca\.crt cannot be used"):
        ServiceAccount(ENVIRON, seconds=5, folder=str(tmp_path))
    (tmp_path / "ca.crt").write_text("nothing", encoding="ascii")
    with pytest.raises(ClusterError, match=r"ca\.crt cannot be used"):
        ServiceAccount(ENVIRON, seconds=5, folder=str(tmp_path))


@pytest.mark.parametrize(
    ("environ", "words", "kind"),
    [
        pytest.param(ENVIRON, {}, ServiceAccount, id="in a pod"),
        pytest.param(ENVIRON, {"context": "dev"}, Kubectl, id="a named context"),
        pytest.param(ENVIRON, {"kubeconfig": "/k"}, Kubectl, id="a named configuration"),
        pytest.param({**ENVIRON, "KUBECONFIG": "/k"}, {}, Kubectl, id="KUBECONFIG"),
        pytest.param({"PATH": ""}, {}, Kubectl, id="elsewhere"),
    ],
)
def test_the_connection_is_that_of_the_place(environ, words, kind, tmp_path, monkeypatch):
    made: list[type] = []
    for one in (ServiceAccount, Kubectl):
        monkeypatch.setattr(
            cluster_connection, one.__name__, lambda *_args, one=one, **_words: made.append(one)
        )
    (tmp_path / "token").write_text("secret", encoding="ascii")
    monkeypatch.setattr(cluster_connection, "FOLDER", str(tmp_path))
    connect(environ, **words)
    assert made == [kind]


def test_a_pod_without_a_token_takes_kubectl(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_connection, "FOLDER", str(tmp_path))
    with pytest.raises(ClusterError, match="there is no kubectl on PATH"):
        connect({**ENVIRON, "PATH": str(tmp_path)})


@pytest.fixture
def server(real):
    with FakeRegistry(tls_files().context()) as running:
        yield running


@pytest.fixture
def account(server, tmp_path):
    """In a pod with a proxy, and a usual CA that is not the cluster's."""
    (tmp_path / "token").write_text("hush\n", encoding="ascii")
    (tmp_path / "ca.crt").write_bytes(tls_files().ca.read_bytes())
    environ = {**ENVIRON, "KUBERNETES_SERVICE_PORT": str(server.port), "HTTPS_PROXY": "http://127.0.0.1:1"}
    made = ServiceAccount(environ, seconds=30, folder=str(tmp_path))
    yield made
    made.close()


def test_an_object_is_read_with_the_pods_token(server, account):
    server.always(Answer(body=b'{"kind": "PodList", "items": []}'))
    for _ in range(2):
        assert account.get("/api/v1/pods?limit=500") == {"kind": "PodList", "items": []}
    assert [(one.method, one.path) for one in server.asked] == [("GET", "/api/v1/pods?limit=500")] * 2
    assert {one.headers["authorization"] for one in server.asked} == {"Bearer hush"}
    assert server.connections == 1


def test_an_object_is_applied(server, account):
    server.always(Answer(body=b"{}"))
    value = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "a"},
    }
    assert account.apply([value]) == ["MutatingAdmissionPolicy/a applied"]
    (asked,) = server.asked
    assert asked.method == "PATCH"
    assert asked.path == f"{resource_path(value, [value])}?fieldManager=kubectl&force=true"
    assert asked.headers["content-type"] == "application/apply-patch+yaml"
    assert json.loads(asked.body) == value


@pytest.mark.parametrize(
    ("answer", "words", "reason"),
    [
        pytest.param(
            Answer(403, as_json({"kind": "Status", "message": "pods is forbidden"})), "GET /api/v1/pods answered 403 (pods is forbidden); give this user", "forbidden", id="a-status"
        ),
        pytest.param(Answer(404, b"not here"), "GET /api/v1/pods answered 404 (not here)", "not-found", id="other-text"),
        pytest.param(Answer(302, headers={"Location": "https://127.0.0.1:1/"}), "GET /api/v1/pods answered 302", "other", id="no-redirect-is-followed"),
    ],
)  # fmt: skip
def test_a_refusal_is_said(server, account, answer, words, reason):
    server.always(answer)
    with pytest.raises(ClusterError) as raised:
        account.get("/api/v1/pods")
    assert str(raised.value).startswith(words)
    assert raised.value.reason == reason


def test_an_answer_without_end_is_cut_off(server, account, monkeypatch):
    monkeypatch.setattr("archfit.cluster.service_account.MAX_OUTPUT", 2 << 20)
    server.always(Answer(chunks=iter(lambda: b" " * 65536, b"")))
    with pytest.raises(ClusterError, match="GET /api/v1/pods gave more than 2 MiB"):
        account.get("/api/v1/pods")


def test_a_server_that_is_silent_is_waited_for_until_the_end_of_the_time(server, tmp_path, account):
    server.always(Answer(hold=threading.Event()))
    environ = {**ENVIRON, "KUBERNETES_SERVICE_PORT": str(server.port)}
    with contextlib.closing(ServiceAccount(environ, seconds=2, folder=str(tmp_path))) as hasty:
        with pytest.raises(ClusterError, match="GET /api/v1/pods: no answer within 2 s") as raised:
            hasty.get("/api/v1/pods")
        assert raised.value.reason == "timeout"


def test_no_other_certificate_counts(server, tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(tls_files().ca))
    (tmp_path / "token").write_text("hush", encoding="ascii")
    (tmp_path / "ca.crt").write_bytes(Path(certifi.where()).read_bytes())
    environ = {**ENVIRON, "KUBERNETES_SERVICE_PORT": str(server.port), "SSL_CERT_FILE": str(tls_files().ca)}
    account = ServiceAccount(environ, seconds=30, folder=str(tmp_path))
    with contextlib.closing(account), pytest.raises(ClusterError) as raised:
        account.get("/api/v1/pods")
    assert "is not trusted" in str(raised.value)
    assert raised.value.reason == "unreachable"
    assert server.asked == []


DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {"names": {"kind": "Thing", "plural": "things"}},
}
THING = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        pytest.param(
            {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "archfit.dev"}},
            "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/archfit.dev",
            id="a kind that is known",
        ),
        pytest.param(THING, "/apis/example.com/v1/things/a", id="a kind with its definition beside it"),
        pytest.param({**THING, "metadata": {"name": "a", "namespace": "shop"}}, "/apis/example.com/v1/namespaces/shop/things/a", id="in a namespace"),
    ],
)  # fmt: skip
def test_the_path(value, path):
    assert resource_path(value, [DEFINITION, value]) == path


def test_a_kind_without_definition_is_refused():
    with pytest.raises(ClusterError, match="Thing has no definition beside it"):
        resource_path(THING, [THING])
