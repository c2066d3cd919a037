"""The Dockerfile, replayed without an engine, see tests/support/container_image.py.

archfit runs as UID 65532, as nobody, which kustomize chooses, and as any other. Building it needs the package index,
and this test root.
"""

import pytest
import yaml
from registry import Registry

import container_image
import machine
from archfit import __version__

DOCKERFILE = machine.ROOT / "Dockerfile"
LIST = b"""\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec: {containers: [{name: a, image: h.example/amd:1}]}
"""


@pytest.fixture
def run(image):
    """Starts commands in the image, with the list as their standard input."""
    return lambda *commands, **how: image.run(*commands, given=LIST, **how)


@pytest.fixture(scope="module")
def mirrors():
    with Registry({"h.example/amd:1": ["linux/amd64"]}) as served:
        yield served.mirrors()


def entrypoint(*words):
    """The command line of the container."""
    return container_image.entrypoint(DOCKERFILE, *words)


def test_any_user_a_read_only_root_and_no_home(run, mirrors):
    for user in ("65532:65532", "65534:65534", "12345:0"):
        ran = run(entrypoint(*mirrors), user=user)
        assert ran.returncode == 0, ran.stderr.decode()
        (item,) = yaml.safe_load(ran.stdout)["items"]
        assert list(item["spec"]["affinity"]) == ["nodeAffinity"]
        assert b"warning" not in ran.stderr


def test_the_cache_is_where_it_can_be_written(run, mirrors):
    """A second run in the same container asks nothing."""
    ran = run(entrypoint(*mirrors), entrypoint(*mirrors), entrypoint("cache", "path"))
    assert ran.stdout.decode().splitlines()[-1] == "/tmp/archfit/lookups.sqlite"
    said = [line for line in ran.stderr.decode().splitlines() if "registry requests" in line]
    assert [line.rpartition(", ")[2] for line in said][1:] == ["0 registry requests"], ran.stderr.decode()


def test_without_network_it_says_which_flag_it_lacks(run):
    ran = run(entrypoint(), network=False)
    assert ran.returncode == 1
    assert b"add --network to kustomize build" in ran.stderr
    assert yaml.safe_load(ran.stdout)["results"][-1]["severity"] == "error"


def test_without_network_it_works_where_every_image_is_known(run):
    ran = run(entrypoint("--image-platforms", "h.example/*=linux/amd64"), network=False)
    assert ran.returncode == 0, ran.stderr.decode()
    assert b"nodeAffinity" in ran.stdout


def test_bytecode_is_in_the_image(run):
    """A read-only image could not keep it, and without it each start compiles anew."""
    ran = run(
        "python -c 'import archfit.cli.main, importlib.util, os, sys; "
        "print(os.path.exists(importlib.util.cache_from_source(archfit.cli.main.__file__)))'"
    )
    assert ran.stdout == b"True\n"


def test_the_function_definition_names_files_and_an_image_that_there_are():
    made = yaml.safe_load((machine.ROOT / "kustomize-plugin" / "function.yaml").read_bytes())
    (version,) = made["spec"]["versions"]
    for path in (version["usage"], *version["examples"]):
        assert (machine.ROOT / path).exists(), path
    assert version["runtime"]["container"]["image"] == f"archfit:{__version__}"
