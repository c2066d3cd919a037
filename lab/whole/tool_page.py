"""docs/tools.md, and the place where its blocks run: a folder with the files they name, archfit, a registry, a cluster.

    blocks_of()["helmfile"]          the blocks below that heading, in order: Block(language, text)
    digest(blocks)                   stands for their text in fixtures/whole/tools/measured.json

    with Workplace(folder, plane, {"helm": "helm3"}) as place:
        place.write("helmfile.yaml", block.text)
        place.run("helmfile", "sync")             raises AssertionError where it fails
        place.shell(block.text)                   bash -eo pipefail
        place.deployed("web")                     raises AssertionError unless archfit placed that Deployment
        place.refused(step)                       archfit fails in `step`, so `step` fails and nothing is deployed
        with place.failing(): ..                  archfit fails

fixtures/tools holds the files. Their one image has a build for amd64 alone, so a pod that archfit saw has an affinity.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from registry import Registry

import machine
from control_plane import ControlPlane
from program import PROGRAM

PAGE = machine.ROOT / "docs" / "tools.md"
FILES = machine.ROOT / "fixtures" / "tools"
IMAGE = "h.example/web:2"
STRICT = ("/bin/bash", "-eo", "pipefail", "-c")
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
PLACED = [{"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}]
# No image of the files is built for it: archfit ends with a conflict.
_FAILS = {"ARCHFIT_CLUSTER_ARCHITECTURES": "s390x"}
_LONGEST_SECONDS = 240
# In the order in which nothing makes them anew.
_LEFT = (
    *(f"/apis/apps/v1/namespaces/default/{kind}" for kind in ("deployments", "replicasets")),
    *(f"/api/v1/namespaces/default/{kind}" for kind in ("pods", "secrets", "configmaps")),
)
_SECTION = re.compile(r"^### (.+)\n((?:(?!#{2,3} ).*\n)*)", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of the page. language: as behind its fence, "sh", "yaml", "hcl".."""

    language: str
    text: str


def blocks_of(text: str | None = None) -> dict[str, list[Block]]:
    page = PAGE.read_text(encoding="utf-8") if text is None else text
    return {name: [Block(*found) for found in _BLOCK.findall(body)] for name, body in _SECTION.findall(page)}


def digest(blocks: Sequence[Block]) -> str:
    return hashlib.sha256("\0".join(block.text for block in blocks).encode()).hexdigest()[:12]


class Workplace:
    """See the module. programs: name on PATH -> a tool of machine.TABLE, or the name of another program."""

    def __init__(self, folder: Path, plane: ControlPlane, programs: Mapping[str, str]) -> None:
        self.folder, self.plane = folder / "work", plane
        self._bin = folder / "bin"
        self._registry = Registry({IMAGE: ["linux/amd64"]})
        self._home = folder / "home"
        for made in (self._bin, self._home):
            made.mkdir()
        shutil.copytree(FILES, self.folder)
        self.link("archfit", PROGRAM)
        for name, program in {"kubectl": "kubectl", "helm": "helm3", **programs}.items():
            self.link(name, machine.find(program) or machine.missing(program, f"put {program} on PATH"))
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ARCHFIT_"))
        }
        self.environ = {
            **kept,
            "HOME": str(self._home),
            "PATH": f"{self._bin}:{SYSTEM_PATH}",
            "KUBECONFIG": str(plane.kubeconfig),
        }

    def __enter__(self) -> Self:
        self._registry.__enter__()
        self.environ["ARCHFIT_MIRROR"] = " ".join(
            (*self._registry.mirrors()[1::2], f"{self.loopback}={self._registry.url}")
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._registry.__exit__(*_)
        self.empty()

    @property
    def loopback(self) -> str:
        return self._registry.url.partition("://")[2]

    def link(self, name: str, program: Path) -> None:
        """A program by this name on PATH, in place of another one."""
        (self._bin / name).unlink(missing_ok=True)
        (self._bin / name).symlink_to(program)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def run(self, *words: str | Path, cwd: str = ".", **environ: str) -> str:
        """What a command writes to standard output. Raises AssertionError where it fails or hangs."""
        how: dict[str, Any] = {
            "cwd": self.folder / cwd,
            "env": {**self.environ, **environ},
            "stdin": subprocess.DEVNULL,
        }
        named = " ".join(map(str, words))
        try:
            done = machine.run(words, errors="replace", timeout=_LONGEST_SECONDS, **how)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{named}: not ended after {_LONGEST_SECONDS} s") from None
        if done.returncode:
            raise AssertionError(f"{named}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def shell(self, script: str, *shell: str) -> str:
        """The same for a script. shell: what starts it; the script is its last argument."""
        return self.run(*(shell or STRICT), script)

    def deployments(self) -> dict[str, Any]:
        found = self.plane.get("/apis/apps/v1/namespaces/default/deployments")["items"]
        return {one["metadata"]["name"]: one for one in found}

    def deployed(self, *names: str) -> None:
        """Raises AssertionError unless these Deployments are there, placed, and no others."""
        found = self.deployments()
        assert sorted(found) == sorted(names), f"deployed: {', '.join(found) or 'nothing'}"
        for deployment in found.values():
            placed(deployment)

    def refused(self, step: Callable[[], object]) -> None:
        """Raises AssertionError unless `step` fails where archfit does, and deploys nothing."""
        with self.failing():
            try:
                step()
            except AssertionError:
                assert not self.deployments(), "archfit failed, and something was deployed all the same"
            else:
                raise AssertionError("archfit failed, and nobody saw it")
        self.empty()

    def empty(self) -> None:
        for collection in _LEFT:
            self.plane.delete(collection)

    @contextmanager
    def failing(self) -> Iterator[None]:
        before = self.environ
        self.environ = {**before, **_FAILS}
        try:
            yield
        finally:
            self.environ = before


def placed(deployment: Mapping[str, Any]) -> None:
    """Raises AssertionError unless archfit has placed the pods of the Deployment."""
    affinity = deployment["spec"]["template"]["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms")
    assert terms == PLACED, f"{deployment['metadata']['name']} was not placed: {terms}"
