"""What statuses say of builds that a node cannot run, in the words of each runtime."""

from typing import Any

import pytest

from archfit.audit.running.container_images import EVIDENCE, SUSPICION, container_statuses, runtime_evidence

RUNC = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
    'unable to start container process: error during container init: exec: "/app": exec format error: unknown'
)
CONTAINERD = 'failed to pull and unpack image "docker.io/a/b:1": no match for platform in manifest: not found'
CRI_O = (
    "reading manifest 1 in docker.io/a/b: no image found in image index for architecture "
    '"arm64", variant "v8", OS "linux"'
)
CRI_O_OLD = "no image found in manifest list for architecture arm64, OS linux"
DOCKER = "no matching manifest for linux/arm64/v8 in the manifest list entries"
OTHER = (
    "image with reference a/b:1 was found but its platform (linux/amd64) does not match the specified platform "
    "(linux/arm64)"
)


def waiting(reason: str, message: str) -> dict[str, Any]:
    return {"state": {"waiting": {"reason": reason, "message": message}}, "restartCount": 0}


def ended(code: int, reason: str = "Error", restarts: int = 3, **more: Any) -> dict[str, Any]:
    return {
        "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": code, "reason": reason, **more}},
        "restartCount": restarts,
    }


AT_ONCE = {"startedAt": "2026-11-01T00:00:00Z", "finishedAt": "2026-11-01T00:00:01Z"}
LATE = {"startedAt": "2026-11-01T00:00:00Z", "finishedAt": "2026-11-01T01:00:00Z"}


@pytest.mark.parametrize(
    ("status", "evidence"),
    [
        pytest.param(waiting("RunContainerError", RUNC), "exec format error", id="runc"),
        pytest.param(ended(128, "StartError", message=RUNC), "exec format error", id="runc-last-state"),
        pytest.param(ended(1, message="exec user process caused: exec format error"), "exec format error", id="termination-message"),
        pytest.param(waiting("ErrImagePull", CONTAINERD), "no match for platform in manifest", id="containerd-pull"),
        pytest.param(waiting("ImagePullBackOff", CONTAINERD), "no match for platform in manifest", id="containerd-backoff"),
        pytest.param(waiting("ErrImagePull", CRI_O), "no image found for architecture", id="cri-o"),
        pytest.param(waiting("ErrImagePull", CRI_O_OLD), "no image found for architecture", id="cri-o-old"),
        pytest.param(waiting("ErrImagePull", DOCKER), "no matching manifest", id="docker"),
        pytest.param(waiting("ImageInspectError", OTHER), "does not match the specified platform", id="other-platform-on-the-node"),
        pytest.param(ended(255), SUSPICION, id="bare-255-is-a-suspicion"),
        pytest.param(ended(1, **AT_ONCE), SUSPICION, id="any-code-at-once-is-a-suspicion"),
        pytest.param(ended(1), "", id="any-code-without-times"),
        pytest.param(ended(255, **LATE), "", id="255-after-an-hour"),
        pytest.param(ended(0, **AT_ONCE), "", id="done-at-once"),
        pytest.param(ended(137, "OOMKilled", **AT_ONCE), "", id="out-of-memory-at-once"),
        pytest.param({**ended(1, **AT_ONCE), "ready": True}, "", id="ready-again"),
        pytest.param(ended(1, startedAt="soon", finishedAt=5), "", id="times-that-are-none"),
        pytest.param(ended(255, "Unknown"), "", id="255-after-a-restart-of-the-node"),
        pytest.param(ended(255, restarts=0), "", id="255-once"),
        pytest.param(ended(137, "OOMKilled"), "", id="killed"),
        pytest.param(ended(255, message=RUNC), "exec format error", id="the-message-is-stronger-than-255"),
        pytest.param({"state": {"running": {}}, "restartCount": 9}, "", id="running"),
        pytest.param(waiting("ErrImagePull", "not found"), "", id="another-failure"),
        pytest.param(waiting("ErrImagePull", " " * 20_000 + CONTAINERD), "", id="beyond-what-is-read"),
        pytest.param({}, "", id="empty"),
        pytest.param(None, "", id="null"),
        pytest.param({"state": [1], "lastState": "x", "restartCount": "9"}, "", id="not-a-status"),
        pytest.param({"state": {"waiting": {"message": 5}}}, "", id="message-is-no-text"),
    ],
)  # fmt: skip
def test_evidence_of_a_status(status, evidence):
    assert runtime_evidence(status) == evidence


def test_evidence_is_one_of_few_texts_and_never_the_message():
    assert runtime_evidence(waiting("X", f"</script> password=hush {RUNC}")) in EVIDENCE
    assert all(len(text) < 50 for text in EVIDENCE)


@pytest.mark.parametrize(
    ("log", "evidence"),
    [
        pytest.param(None, SUSPICION, id="not-read"),
        pytest.param("exec /app: exec format error", "exec format error", id="another-build"),
        pytest.param("panic: no configuration", "", id="a-fault-of-its-own"),
        pytest.param("", "", id="silent"),
    ],
)
def test_the_log_of_a_suspicion_decides(log, evidence):
    asked: list[str] = []

    def read(container: str) -> str | None:
        asked.append(container)
        return log

    pod = {
        "spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "x"}]},
        "status": {"containerStatuses": [{"name": "a", **ended(1, **AT_ONCE)}, {"name": "b", "ready": True}]},
    }
    first, second = container_statuses(pod, read)
    assert (first.evidence, second.evidence) == (evidence, "")
    assert asked == ["a"]
