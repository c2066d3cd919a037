"""The stand-in for a container runtime, and archfit as process 1 of a container."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from loopback_server import Answer
from registry import Registry

from container_process import Container, Spec, require
from whole.fleet.site import USER, image_of_archfit

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS = 120.0
_POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: 'quay.io/a/b:1'}]}\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
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
    return Spec([*command], dict(image.environ), mounts, links, USER, USER, "/", read_only)


def run(folder: Path, what: Spec) -> tuple[int | None, str]:
    container = Container(what, folder / "container")
    code = container.wait(_SECONDS)
    return code, container.log.read_text()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        pytest.param("echo yes > /data/x && cat /fixed/x", 0, "yes\n", id="a volume at two places"),
        pytest.param("echo $$ $(id -u) $(id -g)", 0, f"1 {USER} {USER}\n", id="process 1 and its user"),
        pytest.param("exit 3", 3, "", id="an exit code"),
        pytest.param("kill -KILL $$; echo on", 0, "on\n", id="process 1 does not kill itself"),
        pytest.param("echo x > /fixed/y", 2, "Read-only file system", id="a volume that is read-only"),
        pytest.param("echo x > /y", 2, "Read-only file system", id="a root that is read-only"),
        pytest.param("test ! -e /home && test ! -e /data/none", 0, "", id="nothing else of this machine"),
    ],
)
def test_a_container_sees_what_its_spec_says(
    data: Path, tmp_path: Path, words: str, code: int, says: str
) -> None:
    ended, said = run(tmp_path, spec(data, "sh", "-c", words))
    assert ended == code, said
    assert says in said if says else not said


def test_a_program_that_is_not_there_is_named(data: Path, tmp_path: Path) -> None:
    assert run(tmp_path, spec(data, "nothing")) == (
        125,
        "nothing cannot be run: No such file or directory\n",
    )


def test_what_is_mounted_is_not_seen_outside(data: Path, tmp_path: Path) -> None:
    assert run(tmp_path, spec(data, "true"))[0] == 0
    assert list((tmp_path / "container" / "root").iterdir()) == []


@pytest.mark.parametrize(
    ("end", "code"), [pytest.param("terminate", 143, id="SIGTERM"), pytest.param("kill", 137, id="SIGKILL")]
)
def test_archfit_as_process_1_ends_on_a_signal(data: Path, tmp_path: Path, end: str, code: int) -> None:
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
