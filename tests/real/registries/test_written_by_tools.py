"""Indexes that crane, regctl and skopeo write into Debian's registry: archfit beside the runtimes' own code."""

import json
import os
import urllib.request
from pathlib import Path

import pytest
from tests.real.registries.runtime_judge import RUNTIMES, Documents, digest_of

import machine
from archfit.registry import manifest as media
from lookup_runs import Runs
from real_registries import Running, distribution

BUILT = ("linux/amd64", "linux/arm64", "linux/arm/v7", "linux/amd64/v3", "windows/amd64")
NODES = {
    "linux/amd64": {"os": "linux", "architecture": "amd64"},
    "linux/arm64": {"os": "linux", "architecture": "arm64", "variant": "v8"},
    "linux/arm": {"os": "linux", "architecture": "arm", "variant": "v7"},
}
BOTH = ["linux/amd64", "linux/arm64"]


class Tools:
    """The programs, with a home of their own, against one registry."""

    def __init__(self, server: Running, home: Path) -> None:
        self._server = server
        self._environ = {**os.environ, "HOME": str(home), "REGCTL_CONFIG": str(home / "regctl.json")}

    def at(self, name: str) -> str:
        return f"{self._server.host}/t/{name}"

    def crane(self, *words: str) -> None:
        """`index append` infers platforms from configs, and writes artifactType."""
        self._run(machine.tool("crane"), "index", "append", "--insecure", *words)

    def regctl(self, *words: str) -> None:
        self._run(machine.tool("regctl"), "--host", f"reg={self._server.host},tls=disabled", "index", *words)

    def skopeo(self, source: str, target: str, *words: str) -> None:
        insecure = ("--src-tls-verify=false", "--dest-tls-verify=false")
        self._run(
            machine.tool("skopeo"),
            *("--insecure-policy", "copy", "--all", *insecure, *words),
            f"docker://{self.at(source)}",
            f"docker://{self.at(target)}",
        )

    def _run(self, *command: str) -> None:
        done = machine.run(command, env=self._environ)
        assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """What each tool writes, once."""
    folder = tmp_path_factory.mktemp("written")
    with distribution(folder) as running:
        tools = Tools(running, folder)
        for platform in BUILT:
            running.single("t/one", platform.replace("/", "-"), platform)
        one = {platform: tools.at(f"one:{platform.replace('/', '-')}") for platform in BUILT}
        amd64, arm64, arm = (one[platform] for platform in BUILT[:3])
        tools.crane("-m", amd64, "-m", arm64, "-t", tools.at("one:crane"))
        tools.crane("-m", amd64, "-m", arm64, "--docker-empty-base", "-t", tools.at("one:crane-list"))
        tools.crane("-m", one["linux/amd64/v3"], "-m", arm64, "-t", tools.at("one:crane-v3"))
        tools.crane("-m", amd64, "-m", one["windows/amd64"], "-m", arm, "-t", tools.at("one:crane-windows"))
        tools.regctl("create", tools.at("one:regctl"), "--ref", amd64, "--ref", arm64)
        docker = ("--media-type", media.DOCKER_LIST)
        tools.regctl("create", tools.at("one:regctl-list"), *docker, "--ref", amd64, "--ref", arm64)
        tools.regctl("create", tools.at("one:regctl-amd64"), "--ref", amd64)
        tools.crane(tools.at("one:regctl-amd64"), "-m", arm64, "-t", tools.at("one:crane-on-regctl"))
        tools.skopeo("one:crane", "copy:crane")
        tools.skopeo("one:regctl", "copy:regctl")
        tools.skopeo("one:crane", "copy:v2s2", "--format", "v2s2")
        yield running


def fetched(server: Running, path: str) -> tuple[bytes, str]:
    kinds = {"Accept": media.ACCEPT}
    with urllib.request.urlopen(
        urllib.request.Request(f"{server.url}/v2/t/{path}", headers=kinds)
    ) as reply:  # loopback
        return reply.read(), reply.headers["Content-Type"]


def documents(server: Running, image: str) -> Documents:
    """The index and all below it, as the registry has them."""
    repository, tag = image.split(":")
    top, kind = fetched(server, f"{repository}/manifests/{tag}")
    blobs = {}
    for entry in json.loads(top)["manifests"]:
        body, _ = fetched(server, f"{repository}/manifests/{entry['digest']}")
        config = json.loads(body)["config"]["digest"]
        blobs |= {entry["digest"]: body, config: fetched(server, f"{repository}/blobs/{config}")[0]}
    return Documents(digest_of(top), kind, {**blobs, digest_of(top): top})


@pytest.mark.parametrize(
    ("image", "platforms"),
    [
        pytest.param("one:crane", BOTH, id="crane"),
        pytest.param("one:crane-list", BOTH, id="crane-docker-list"),
        pytest.param("one:crane-on-regctl", BOTH, id="crane-on-an-index-of-regctl"),
        pytest.param("one:crane-v3", ["linux/amd64/v3", "linux/arm64"], id="crane-with-a-higher-variant"),
        pytest.param(
            "one:crane-windows", ["linux/amd64", "linux/arm/v7", "windows/amd64"], id="crane-with-windows"
        ),
        pytest.param("one:regctl", BOTH, id="regctl"),
        pytest.param("one:regctl-list", BOTH, id="regctl-docker-list"),
        pytest.param("one:regctl-amd64", ["linux/amd64"], id="regctl-one"),
        pytest.param("copy:crane", BOTH, id="skopeo-of-crane"),
        pytest.param("copy:regctl", BOTH, id="skopeo-of-regctl"),
        pytest.param("copy:v2s2", BOTH, id="skopeo-to-a-docker-list"),
    ],
)
def test_archfit_reads_what_the_runtimes_take(server, runtimes, tmp_path, image, platforms):
    runs = Runs(tmp_path, server.url)
    assert runs.names(f"x.io/t/{image}") == platforms
    assert runs.requests == {"manifest": 1}
    offered = {"/".join(platform.split("/")[:2]) for platform in platforms if platform != "linux/amd64/v3"}
    for name, node in NODES.items():
        taken = runtimes.taken(documents(server, image), node)
        if (name, image) != ("linux/arm64", "one:crane-windows"):  # containerd's client takes arm there
            assert {runtime: bool(taken[runtime]) for runtime in RUNTIMES} == dict.fromkeys(
                RUNTIMES, name in offered
            )
