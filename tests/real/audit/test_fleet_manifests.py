"""What `archfit setup fleet` writes, and a real API server: accepted, restricted, with these rights and no more."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from archfit.audit.fleet.setup_check import READ
from control_plane import Refused
from helm_runs import start
from program import PROGRAM

if TYPE_CHECKING:
    from pathlib import Path

    from control_plane import ControlPlane

NAMESPACE = "archfit"
_SECRETS = ("--cache", "redis://c.example", "--cache-secret", "c", "--registry-secret", "r")
_OPTIONS = ("--shards", "12", *_SECRETS)


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    """With the namespace, which takes restricted pods alone."""
    control_plane.namespace(NAMESPACE)
    restricted = "pod-security.kubernetes.io/enforce=restricted"
    control_plane.kubectl("label", "namespace", NAMESPACE, restricted, "--overwrite")
    return control_plane


@pytest.fixture(params=["job", "cron"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def setup(folder: Path, *words: str) -> list[dict[str, Any]]:
    """The objects that `archfit setup fleet` writes into the folder."""
    start([str(PROGRAM), "setup", "fleet", "--into", str(folder), *words], dict(os.environ)).ok()
    return [
        value for path in sorted(folder.rglob("*.yaml")) for value in yaml.safe_load_all(path.read_text())
    ]


def options(engine: str) -> tuple[str, ...]:
    return _SECRETS if engine == "cron" else _OPTIONS


def pods(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pod of each Job."""
    found = []
    for value in objects:
        spec = value.get("spec", {})
        if value["kind"] == "CronJob":
            found.append(spec["jobTemplate"]["spec"]["template"]["spec"])
        elif value["kind"] == "Job":
            found.append(spec["template"]["spec"])
        elif value["kind"] == "Pod":
            found.append(spec)
    return copy.deepcopy(found)


def test_the_api_server_accepts_everything(plane: ControlPlane, engine: str, tmp_path: Path) -> None:
    objects = setup(tmp_path / "out", "--engine", engine, *options(engine))
    done = plane.kubectl(
        *("apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict"),
        *("-R", "-f", str(tmp_path / "out")),
    )
    assert not done.stderr
    assert len(done.stdout.splitlines()) == len(objects)


def test_the_pods_meet_the_restricted_pod_security_standard(
    plane: ControlPlane, engine: str, tmp_path: Path
) -> None:
    every = pods(setup(tmp_path / "out", "--engine", engine, *options(engine)))
    assert len(every) == {"job": 4, "cron": 2}[engine]
    for spec in every:
        spec.pop("serviceAccountName", None)
        pod = {"kind": "Pod", "metadata": {"generateName": "step-", "namespace": NAMESPACE}, "spec": spec}
        plane.dry(pod)
        spec["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
        with pytest.raises(Refused, match="violates PodSecurity"):
            plane.dry(pod)


def test_the_rights_are_these_and_no_more(plane: ControlPlane, engine: str, tmp_path: Path) -> None:
    setup(tmp_path / "out", "--engine", engine)
    plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(tmp_path / "out"))

    def may(account: str, *words: str) -> bool:
        user = f"--as=system:serviceaccount:{NAMESPACE}:{account}"
        return plane.kubectl("auth", "can-i", *words, user, check=False).stdout.strip() == "yes"

    for resource in READ:
        for verb in ("get", "list"):
            assert may("archfit-audit", verb, resource, "-A"), (verb, resource)
    for words in (
        ("get", "secrets", "-A"),
        ("list", "secrets", "-n", NAMESPACE),
        ("list", "configmaps", "-A"),
        ("watch", "pods", "-A"),
        ("create", "pods", "-n", NAMESPACE),
        ("list", "endpoints", "-A"),
        ("create", "validatingwebhookconfigurations.admissionregistration.k8s.io"),
    ):
        assert not may("archfit-audit", *words), words
    assert not may("archfit-audit-shard", "list", "pods", "-n", NAMESPACE)


def test_a_run_can_be_started_again_and_the_check_reads_the_cluster(
    plane: ControlPlane, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    setup(folder, "--engine", "job")
    plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(folder))
    for _ in range(2):
        plane.kubectl("replace", "--force", "-f", str(folder / "run" / "2-shards.yaml"))
    environ = {**os.environ, "KUBECONFIG": str(plane.kubeconfig)}
    words = [str(PROGRAM), "setup", "fleet", "--engine", "job", "--check"]
    ran = start(words, environ)
    assert ran.ok()
    assert b"ok: PersistentVolumeClaim archfit/archfit-audit is there" in ran.stdout
    assert b"ok: Job archfit/archfit-audit-shards runs (0 of 8)" in ran.stdout
