"""What a container's status says about builds that its node cannot run.

    in a message of the status                        evidence
    exec format error                                 exec format error
    no match for platform in manifest                 no match for platform in manifest        (containerd)
    no image found in .. for architecture             no image found for architecture          (CRI-O)
    no matching manifest for                          no matching manifest                     (Docker)
    does not match the specified platform             does not match the specified platform    (CRI-O, Docker)
    none of them, exit code 255, started again        exit code 255                            (a suspicion)

Messages are read in `state` and `lastState`, `waiting` and `terminated`, at most 16 KiB of each. The evidence is one of
these words and never the message, which may hold anything. Exit code 255 with the reason Unknown is what the kubelet
writes for a container that did not survive a restart of its node: no evidence. Source: runc and crun (execve, ENOEXEC);
containerd, core/images/image.go; containers/image, internal/manifest/oci_index.go; moby, distribution/pull_v2.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from archfit.typing_names import Any

SUSPICION = "exit code 255"
_WORDS = (
    ("exec format error", re.compile(r"exec format error", re.IGNORECASE)),
    ("no match for platform in manifest", re.compile(r"no match for platform in manifest", re.IGNORECASE)),
    (
        "no image found for architecture",
        re.compile(r"no image found in [a-z ]{1,40} for architecture", re.IGNORECASE),
    ),
    ("no matching manifest", re.compile(r"no matching manifest for ", re.IGNORECASE)),
    (
        "does not match the specified platform",
        re.compile(r"does not match the specified platform", re.IGNORECASE),
    ),
)
EVIDENCE = (*(word for word, _ in _WORDS), SUSPICION)
"""Every text that `runtime_evidence` gives, the strongest first."""
_LONGEST = 16 * 1024
_LOST = frozenset({"Unknown", "ContainerStatusUnknown"})


def runtime_evidence(status: object) -> str:
    """The strongest evidence in one entry of `status.containerStatuses`, "" where there is none.

    status: decoded JSON, not trusted. Raises nothing.
    """
    states = list(_states(status))
    messages = [state["message"][:_LONGEST] for state in states if isinstance(state.get("message"), str)]
    for word, pattern in _WORDS:
        if any(pattern.search(message) for message in messages):
            return word
    restarts = status.get("restartCount") if isinstance(status, Mapping) else 0
    failed = any(state.get("exitCode") == 255 and state.get("reason") not in _LOST for state in states)
    return SUSPICION if failed and isinstance(restarts, int) and restarts > 0 else ""


def _states(status: object) -> Iterator[Mapping[str, Any]]:
    """Every `waiting` and `terminated` of the status."""
    for name in ("state", "lastState"):
        state = status.get(name) if isinstance(status, Mapping) else None
        for part in ("waiting", "terminated"):
            found = state.get(part) if isinstance(state, Mapping) else None
            if isinstance(found, Mapping):
                yield found
