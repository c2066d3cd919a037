"""Architecture values and terms in any number: the steps grow with them, and not with their square."""

from typing import Any

import pytest

from archfit.placement.affinity import allowed, demands
from archfit.placement.reach import by_system, reaches
from archfit.workloads.pods import ImageUse
from pod_decisions import ARCH, OS, a_pod, found, one, requiring, term


class Counted(str):
    """A label value that counts how often it is compared or hashed."""

    steps = 0
    __slots__ = ()

    def __hash__(self) -> int:
        Counted.steps += 1
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        Counted.steps += 1
        return str.__eq__(self, other)


def _values(count: int) -> list[str]:
    return [Counted(f"value{number}") for number in range(count)]


SHAPES: dict[str, Any] = {
    "one-expression": lambda count: [(ARCH, "In", _values(count))],
    "not-in": lambda count: [(ARCH, "NotIn", _values(count))],
    "an-expression-each": lambda count: [(ARCH, "NotIn", [value]) for value in _values(count)],
    "two-lists": lambda count: [(ARCH, "In", _values(count)), (ARCH, "In", _values(count))],
    "systems": lambda count: [(OS, "In", _values(count))],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_values_take_twice_the_steps(shape):
    def steps(count: int) -> int:
        pod = a_pod({"containers": [], "affinity": requiring(term(*SHAPES[shape](count)))})
        Counted.steps = 0
        for demand in demands(pod):
            allowed(demand, frozenset(("amd64", "arm64")))
        return Counted.steps

    small, large = steps(400), steps(800)
    assert 400 <= small < 400 * 20
    assert large < 2.5 * small


def test_images_are_counted_once_for_all_systems_that_none_of_them_names():
    class Read(list[Any]):
        times = 0

        def __iter__(self) -> Any:
            Read.times += 1
            return super().__iter__()

    terms = [term((OS, "In", [f"os{number}"])) for number in range(300)]
    pod = a_pod({"containers": [], "affinity": requiring(*terms)})
    images = Read([(ImageUse(("image",), "a"), found("amd64"))])
    assert len(reaches(demands(pod), images, by_system(("amd64",)), None)) == 300
    assert Read.times == 2, "for the systems that they name, and for all others"
    assert one("amd64", affinity=requiring(*terms)).name == "Conflict"
