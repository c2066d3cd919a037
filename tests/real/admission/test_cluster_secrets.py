"""Secrets are read from a real API server with a service account that may read them by name."""

import json
import shutil

import pytest

from archfit.base.errors import ArchfitError
from archfit.webhook.lookups.pull_secret_answers import ClusterSecrets

RIGHTS = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: archfit, namespace: secrets}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: archfit, namespace: secrets}
rules:
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [hub, missing]
  verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: archfit, namespace: secrets}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: archfit}
subjects:
- {kind: ServiceAccount, name: archfit, namespace: secrets}
"""


@pytest.fixture
def secrets(control_plane, tmp_path):
    plane = control_plane
    plane.namespace("secrets")
    plane.apply(RIGHTS)
    for name in ("hub", "other"):
        words = ("--docker-server=quay.io", "--docker-username=me", "--docker-password=hush-4711")
        words = (name, "-n", "secrets", *words, "--dry-run=client", "-o", "json")
        made = plane.kubectl("create", "secret", "docker-registry", *words)
        plane.apply(made.stdout)
    token = plane.kubectl("create", "token", "archfit", "-n", "secrets").stdout
    (tmp_path / "token").write_text(token, encoding="ascii")
    shutil.copyfile(plane.ca, tmp_path / "ca.crt")
    host, _, port = plane.url.removeprefix("https://").rpartition(":")
    environ = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    return ClusterSecrets(environ, str(tmp_path))


def test_a_secret_is_read_by_name(secrets):
    found = secrets.read("secrets/hub")
    assert found["type"] == "kubernetes.io/dockerconfigjson"
    assert list(found["data"]) == [".dockerconfigjson"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("other", r"cannot be read \(forbidden\): allow the service account", id="not allowed"),
        pytest.param("missing", r"cannot be read \(not-found\)", id="missing"),
    ],
)
def test_a_secret_that_cannot_be_read_is_named_and_nothing_of_it_shown(secrets, name, message):
    with pytest.raises(ArchfitError, match=message) as caught:
        secrets.read(f"secrets/{name}")
    assert f"secrets/{name}" in str(caught.value)
    assert "hush" not in json.dumps(str(caught.value))


def test_an_api_server_that_does_not_answer_is_said(secrets):
    secrets._environ = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "9"}
    with pytest.raises(ArchfitError, match="unreachable"):
        secrets.read("secrets/hub")
