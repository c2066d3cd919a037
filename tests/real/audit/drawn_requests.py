"""Drawn pods that request resources in every way: containers, sidecars, init containers, overhead, pod level, resizes.

drawn_pod(Random(7))    a v1 Pod; the same seed gives the same pod
"""

from random import Random
from typing import Any

CPU = ("0", "1", "2", "100m", "250m", "1.5", "0.1", "1500u", "33333n", "1k", "+2", ".5", "3.", "2e0")
MEMORY = (
    "0", "128Mi", "1Gi", "1.5Gi", "100M", "1e9", "123456789", "0.5Ki", "5E2", "7Ti", "200m", "64k", "1025Ki",
)  # fmt: skip
PAGES = ("0", "2Mi", "4Mi", "1Gi")
COUNTS = ("0", "1", "2", 3)
RESOURCES: dict[str, tuple[Any, ...]] = {
    "cpu": CPU,
    "memory": MEMORY,
    "ephemeral-storage": MEMORY,
    "hugepages-2Mi": PAGES,
    "nvidia.com/gpu": COUNTS,
}


def drawn_pod(random: Random) -> dict[str, Any]:
    """A Pod as the API server would hold it, or nearly."""
    resized = random.random() < 0.4
    containers = [_container(random, f"app-{number}") for number in range(random.randint(1, 4))]
    init = [_container(random, f"init-{number}") for number in range(random.choice((0, 0, 1, 2, 3, 5)))]
    for container in init:
        if random.random() < 0.5:
            container["restartPolicy"] = "Always"
        elif random.random() < 0.1:
            container["restartPolicy"] = "OnFailure"
    spec: dict[str, Any] = {"containers": containers, "initContainers": init}
    if random.random() < 0.3:
        spec["overhead"] = _list(random, 0.6)
    if random.random() < 0.35:
        spec["resources"] = {
            name: _list(random, 0.5) for name in ("requests", "limits") if random.random() < 0.8
        }
    status: dict[str, Any] = {"phase": random.choice(("Running", "Pending"))}
    if resized:
        status["containerStatuses"] = [_status(random, one) for one in containers if random.random() < 0.8]
        status["initContainerStatuses"] = [_status(random, one) for one in init if random.random() < 0.8]
        if random.random() < 0.5:
            status["resources"] = random.choice((None, {}, {"requests": _list(random, 0.6)}))
            status["allocatedResources"] = _list(random, 0.6)
        status["conditions"] = random.choices(
            (
                {"type": "Ready", "status": "True", "reason": "Infeasible"},
                {"type": "PodResizePending", "status": "True", "reason": "Infeasible"},
                {"type": "PodResizePending", "status": "True", "reason": "Deferred"},
            ),
            k=random.randint(0, 2),
        )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "drawn", "namespace": "default"},
        "spec": spec,
        "status": status,
    }


def _container(random: Random, name: str) -> dict[str, Any]:
    container: dict[str, Any] = {"name": name, "image": "nginx"}
    if random.random() < 0.9:
        container["resources"] = random.choice(
            (
                {},
                {"requests": _list(random, 0.6)},
                {"requests": _list(random, 0.6), "limits": _list(random, 0.3)},
            )
        )
    return container


def _status(random: Random, container: dict[str, Any]) -> dict[str, Any]:
    status: dict[str, Any] = {"name": container["name"]}
    if random.random() < 0.8:
        status["resources"] = random.choice((None, {}, {"requests": _list(random, 0.6)}))
    if random.random() < 0.6:
        status["allocatedResources"] = _list(random, 0.6)
    return status


def _list(random: Random, share: float) -> dict[str, Any]:
    return {name: random.choice(texts) for name, texts in RESOURCES.items() if random.random() < share}


def drawn_quantity(random: Random) -> str:
    """A text that is a quantity, or nearly."""
    sign = random.choice(("", "", "", "+", "-"))
    whole = random.choice(("", "0", "1", "007", str(random.randrange(10 ** random.randint(1, 18)))))
    part = random.choice(
        ("", "", ".", ".0", ".5", ".125", f".{random.randrange(10 ** random.randint(1, 12))}")
    )
    suffixes = (
        "", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E2", "e-3", "E+1", "e", "K", "mi", "x", " ", "Gi ",
        "e1.5",
    )  # fmt: skip
    return f"{sign}{whole}{part}{random.choice(suffixes)}"
