"""The frame of a KRM function around a run: results in the ResourceList, and the list back after a failure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archfit import stream
from archfit.images.platforms import Unknown
from archfit.integrations.kustomize.resource_list import FunctionInput, with_results
from archfit.pipeline import Transformed
from archfit.record import Record
from archfit.results import Result
from archfit.stream import Splice


class FunctionFrame(Record):
    """The frame of one ResourceList; see `run.Frame`."""

    function: FunctionInput

    def advice(self, transformed: Transformed) -> list[Result]:
        """What to write where the function's container has no network."""
        if not any(isinstance(answer, Unknown) for answer in transformed.answers.values()):
            return []
        from archfit.integrations.kustomize.no_network import network_advice

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
