"""A KRM function in a container without network, which is how kustomize and kpt start one by default.

    an image's platforms are Unknown, and every route leads to `lo`      one line says which flag to add

Docker's `--network none` leaves a container only the loopback interface (docs.docker.com, none network driver). The
kernel lists the routes of the process's own network namespace in /proc/net (proc(5)); other systems get no line.
"""

from __future__ import annotations

from contextlib import suppress

from archfit.pipeline import Decided
from archfit.results import Result

_ROUTES = ("/proc/net/route", "/proc/net/ipv6_route")
_MESSAGE = (
    "there is no network here, so no registry can be asked: write `network: true` below `container:` of the function "
    "and add --network to kustomize build (kpt: --allow-network for render, --network for eval), or name a lock file "
    "(lockFile)"
)


def network_advice(transformed: Decided) -> list[Result]:
    """The line for a run with Unknown answers, if there is no network at all."""
    if not _isolated():
        return []
    return [Result("error" if transformed.failed() else "warning", _MESSAGE)]


def _isolated() -> bool:
    """Whether no route leads out. IPv4: a head line, the device first; IPv6: no head, the device last."""
    try:
        devices = {line.split()[0] for line in _lines(_ROUTES[0])[1:]}
    except OSError:
        return False
    with suppress(OSError):  # a kernel without IPv6
        devices |= {line.split()[-1] for line in _lines(_ROUTES[1])}
    return devices <= {"lo"}


def _lines(path: str) -> list[str]:
    with open(path, encoding="ascii") as file:
        return file.read().splitlines()
