"""References that no node can pull, in every command."""

import pytest
from tests.real.corpus.placement_cases import severe

from program import archfit

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web%s}
spec: {%scontainers: [{name: a, image: "%s"}]}
"""
COMMANDS = [
    pytest.param((), id="transform"),
    pytest.param(("check",), id="check"),
    pytest.param(("check", "--require", "amd64"), id="check-require"),
    pytest.param(("lock",), id="lock"),
    pytest.param(("patch",), id="patch"),
]


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("image", ["nginx@sha256:abc", "ghcr.io/Foo/bar:1"])
def test_every_command_refuses_a_malformed_reference(words, image, tmp_path):
    ran = archfit(
        (POD % ("", "", image)).encode(), *words, "--no-cache", cwd=tmp_path, ARCHFIT_ON_UNKNOWN="leave"
    )
    if "--require" in words:  # nobody can say where it would run
        assert (ran.status, image in ran.stdout.decode()) == (3, True)
        assert ran.stdout.endswith(b"; 1 not known (malformed)\n")
        return
    assert (ran.status, ran.stdout) == (1, b"")
    (error,) = severe(ran.stderr)
    assert error.startswith(
        f"archfit: error: v1/Pod/web spec.containers[0].image: {image}: no node can pull it: {image!r} has"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize(
    ("notes", "spec", "image"),
    [
        pytest.param(', annotations: {archfit.dev/skip: "true"}', "", "nginx@sha256:abc", id="skip"),
        pytest.param("", "nodeName: n1, ", "nginx@sha256:abc", id="node-name"),
        pytest.param(
            ", annotations: {archfit.dev/image-platforms: linux/amd64}", "", "REPLACE_ME", id="stated"
        ),
        pytest.param("", "", "$(image)", id="placeholder"),
        pytest.param("", "", "ko://x/y", id="ko"),
    ],
)
def test_and_none_refuses_what_is_accounted_for(words, notes, spec, image, tmp_path):
    ran = archfit((POD % (notes, spec, image)).encode(), *words, "--no-cache", cwd=tmp_path)
    if "--require" in words and image == "nginx@sha256:abc":
        # It asks whether every image runs there, also those of pods that are left alone.
        assert ran.status == 3
        assert ran.stdout.decode().splitlines()[-1].endswith("; 1 not known (malformed)")
        return
    assert ran.status in (0, 3), ran.stderr
    assert "error:" not in ran.stderr
