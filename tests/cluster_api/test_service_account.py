"""A pod's service account: what is missing in the pod is named, and nothing of the token is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archfit.cluster_api import cluster_connection
from archfit.cluster_api.cluster_connection import connect
from archfit.cluster_api.cluster_error import ClusterError
from archfit.cluster_api.kubectl import Kubectl
from archfit.cluster_api.service_account import ServiceAccount

if TYPE_CHECKING:
    from pathlib import Path

ENVIRON = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1", "PATH": ""}


def test_without_its_certificates_it_says_which_file(tmp_path: Path):
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
def test_the_connection_is_that_of_the_place(
    environ: dict[str, str],
    words: dict[str, str],
    kind: type,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    made: list[type] = []
    for one in (ServiceAccount, Kubectl):
        monkeypatch.setattr(
            cluster_connection, one.__name__, lambda *_args, one=one, **_words: made.append(one)
        )
    (tmp_path / "token").write_text("secret", encoding="ascii")
    monkeypatch.setattr(cluster_connection, "FOLDER", str(tmp_path))
    connect(environ, **words)
    assert made == [kind]


def test_a_pod_without_a_token_takes_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cluster_connection, "FOLDER", str(tmp_path))
    with pytest.raises(ClusterError, match="there is no kubectl on PATH"):
        connect({**ENVIRON, "PATH": str(tmp_path)})
