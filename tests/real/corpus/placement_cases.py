"""The streams of the shared folder `cases/placement`, run as its README says.

case("minio-sidecars").ran()          the run, see tests/support/program.py
case("minio-sidecars").placed()       what the output says of each pod, as text

Tenant spec.pools[0]: amd64                       only amd64 is left by its node affinity and nodeSelector
Deployment spec.template.spec: amd64 arm64 tolerates arm64
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

import machine
from archfit.base.patch import dotted
from archfit.base.results import Location
from archfit.placement.affinity import allowed, demands
from archfit.workloads.pod_specs import find_pods
from archfit.workloads.pods import Pod
from archfit.yaml.values import typed
from program import Ran, archfit

IMAGES = {
    "amd": "linux/amd64",
    "arm": "linux/arm64",
    "both": "linux/amd64,linux/arm64",
    "v7": "linux/arm/v7",
    "386": "linux/386",
    "win": "windows/amd64",
    "all": "linux/amd64,linux/arm64,linux/s390x,linux/ppc64le,windows/amd64",
    "v3": "linux/amd64/v3",
    "wasmix": "linux/amd64,wasi/wasm",
    "wasm": "wasi/wasm",
    "mixos": "linux/arm64,windows/amd64",
}
PLATFORMS = {
    f"r/{name}{tag}": platforms.split(",")
    for name, platforms in IMAGES.items()
    for tag in ("", ":v1", ":latest")
}
_ROW = re.compile(r"\| (UNSAFE|LOST|SURPRISE|MISSING) \| ([a-z0-9-]+) \| (?:`([^`]*)`)? *\| (.*) \|")
_CLUSTER = frozenset(("amd64", "arm64"))


class Case(NamedTuple):
    """One row of the README. options: words of the command line; --config names a file of the folder."""

    name: str
    options: tuple[str, ...]

    @property
    def stream(self) -> bytes:
        return (machine.shared("cases", "placement") / f"{self.name}.yaml").read_bytes()

    def ran(self, *words: str, stream: bytes | None = None, rows: str = "all") -> Ran:
        """Runs the program over the case, or over another stream with its options.

        rows: `--custom-resources`; with `all` rows write all that they can, whatever was seen.
        """
        folder = machine.shared("cases", "placement")
        images = [f"--image-platforms=*/r/{name}={platforms}" for name, platforms in IMAGES.items()]
        given = self.stream if stream is None else stream
        head = ("--no-cache", "--offline", f"--custom-resources={rows}")
        words = (*head, *images, *self.options, *words)
        return archfit(given, *words, cwd=folder)

    def placed(self, rows: str = "all") -> list[str]:
        """A line for each pod of the output. Raises AssertionError where the run fails."""
        return list(described(self.ran(rows=rows).ok()))


def cases() -> dict[str, Case]:
    """Every row of the README, by name."""
    text = (machine.shared("cases", "placement") / "README.md").read_text(encoding="utf-8")
    return {
        name: Case(name, tuple(word.strip("'") for word in (options or "").split()))
        for _, name, options, _ in _ROW.findall(text)
    }


def case(name: str) -> Case:
    """The row of that name."""
    return cases()[name]


def severe(stderr: str) -> list[str]:
    """The warnings and errors, but for patterns of `--image-platforms` that match nothing: cases share theirs."""
    return [
        line
        for line in stderr.splitlines()
        if line.startswith(("archfit: warning:", "archfit: error:"))
        and not re.match(r"(archfit: )?warning: --image-platforms: (no image|\d+ more match nothing)", line)
    ]


def described(stream: bytes) -> Iterator[str]:
    """A line for each pod of a stream, see the module."""
    for document in yaml.safe_load_all(stream):
        for pod in find_pods(typed(document), Location(1, 1)):
            reached = sorted(frozenset().union(*(allowed(demand, _CLUSTER) for demand in demands(pod))))
            tolerated = [
                str(one.get("value"))
                for one in pod.spec.get("tolerations") or ()
                if one.get("key") == "kubernetes.io/arch"
            ]
            tail = f" tolerates {' '.join(tolerated)}" if tolerated else ""
            yield f"{pod.ref.kind} {dotted(_at(pod))}: {' '.join(reached)}{tail}"


def _at(pod: Pod) -> tuple[str | int, ...]:
    return pod.path if pod.lacks("affinity") else pod.at("affinity")[:-1]
