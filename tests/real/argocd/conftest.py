"""`plugin`: the commands by hand; `sidecar`: the real argocd-cmp-server; both against a registry on loopback."""

import tempfile
from pathlib import Path

import pytest
from registry import Registry

from argocd_caller import Plugin, Sidecar, sidecar_environ, tools_folder

IMAGES = {
    "registry.example/both:1": ["linux/amd64", "linux/arm64"],
    "registry.example/intel:1": ["linux/amd64"],
    "registry.example/arm:1": ["linux/arm64"],
}


@pytest.fixture(scope="session")
def registry():
    """A few images."""
    with Registry(IMAGES) as running:
        yield running


@pytest.fixture(scope="session")
def mirrors(registry):
    """The value of ARCHFIT_MIRROR for it."""
    return " ".join(registry.mirrors()[1::2])


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    """A folder for PATH with archfit, helm and kustomize."""
    return tools_folder(tmp_path_factory.mktemp("tools") / "bin")


@pytest.fixture
def plugin(tools, tmp_path, mirrors):
    """The commands by hand, in a sidecar of their own."""
    folder = tmp_path / "sidecar"
    folder.mkdir()
    return Plugin(sidecar_environ(tools, folder, mirrors))


@pytest.fixture(scope="session")
def sidecar(tools, mirrors):
    """argocd-cmp-server. Its folder is in /tmp: the path of a socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="cmp-", dir="/tmp") as name:
        folder = Path(name)
        with Sidecar(folder, sidecar_environ(tools, folder, mirrors)) as running:
            yield running
