"""The frame of a KRM function around a run: results in the ResourceList, and the list back after a failure.

kustomize and kpt start a function in a container without network by default:

    an image's platforms are Unknown, and every route leads to `lo`      one line says which flag to add

Docker's `--network none` leaves a container only the loopback interface (docs.docker.com, none network driver). The
kernel lists the routes of the process's own network namespace in /proc/net (proc(5)); other systems get no line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archfit.base.record import Record
from archfit.base.results import Result
from archfit.images.platforms import Unknown
from archfit.pipeline import Decided, Transformed
from archfit.rewrite.resource_list import FunctionInput, with_results
from archfit.yaml import stream
from archfit.yaml.stream import Splice


class FunctionFrame(Record):
    """The frame of one ResourceList; see `run.Frame`."""

    function: FunctionInput

    def advice(self, transformed: Transformed) -> list[Result]:
        """What to write where the function's container has no network."""
        if not any(isinstance(answer, Unknown) for answer in transformed.answers.values()):
            return []
        return network_advice(transformed)

    def with_results(
        self, transformed: Transformed | None, results: Sequence[Result], splices: tuple[Splice, ...]
    ) -> tuple[Splice, ...]:
        """The splices that also put the results into the list. Raises ArchfitError if it has no place for them."""
        pods = [pod for pod, _ in transformed.decisions] if transformed else []
        return with_results(self.function, results, pods, splices)

    def after_failure(
        self, transformed: Transformed | None, results: Sequence[Result]
    ) -> Iterable[bytes | memoryview]:
        """The list with its items untouched and the results. Raises ArchfitError if it has no place for them."""
        return stream.write(self.function.data, self.with_results(transformed, results, ()))


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
    try:
        devices |= {line.split()[-1] for line in _lines(_ROUTES[1])}
    except OSError:
        pass  # a kernel without IPv6
    return devices <= {"lo"}


def _lines(path: str) -> list[str]:
    with open(path, encoding="ascii") as file:
        return file.read().splitlines()
