"""archfit as process 1 of a container."""

import os
from pathlib import Path

import pytest
from loopback_server import Answer
from registry import Registry

from container_process import Container, Spec, require
from whole.fleet.site import USER, image_of_archfit

_SECONDS = 120.0
_POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: 'quay.io/a/b:1'}]}\n"


@pytest.fixture
def data(tmp_path):
    """A folder that the user of the container may write to."""
    require(tmp_path / "first")
    folder = tmp_path / "data"
    folder.mkdir()
    if os.geteuid() == 0:
        os.chown(folder, USER, USER)
    return folder


def spec(data: Path, *command: str, read_only: bool = True) -> Spec:
    image = image_of_archfit()
    links = [(target, os.readlink(path)) for target, path in image.paths.items() if os.path.islink(path)]
    mounts = [(path, target, True) for target, path in image.paths.items() if not os.path.islink(path)]
    mounts += [(str(data), "/data", False), (str(data), "/fixed", True)]
    return Spec([*command], dict(image.environ), mounts, links, USER, USER, read_only)


@pytest.mark.parametrize(
    ("end", "code"), [pytest.param("terminate", 143, id="SIGTERM"), pytest.param("kill", 137, id="SIGKILL")]
)
def test_archfit_as_process_1_ends_on_a_signal(data, tmp_path, end, code):
    """Process 1 has no default action for SIGTERM, so a pod that is drained would hold its node for 30 s."""
    (data / "pod.yaml").write_bytes(_POD)
    with Registry({"quay.io/a/b:1": ["linux/amd64"]}) as registry:

        def asked_for(_asked: object) -> Answer | None:
            getattr(container, end)()
            return Answer(200, chunks=iter(lambda: b" ", None))  # an answer without an end

        registry.on(asked_for)
        words = ("archfit", "audit", "/data/pod.yaml", "--no-cache", "--timeout=100s", *registry.mirrors())
        container = Container(spec(data, *words), tmp_path / "container")
        assert container.wait(_SECONDS) == code
    assert container.log.read_text() == ""
