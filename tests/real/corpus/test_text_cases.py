"""Streams whose text archfit once got wrong: each gives what Kubernetes' readers read as decided, or one clear error.

    NAME.yaml       the input
    NAME.options    how it is run; "--stamp" among them runs with `stamp`

Every output is judged as `streaming.placed` judges, and a second run gives the same bytes.
"""

import io
import os
from pathlib import Path
from typing import NamedTuple

import pytest

import machine
from archfit.base.errors import InvalidInput, UsageError
from archfit.options.settings import Options
from archfit.rewrite.command import transform as run
from pod_decisions import DEFAULT, found
from stream_edits import IMAGES, Failed, edited, placed
from yaml_judge import Refused


class Case(NamedTuple):
    """refused: the readers that refuse the input. error: of the run, "" if it gives an output. same: nothing changes.

    options: what the run needs besides its file of options. images: the image of its pods offers all platforms.
    """

    refused: tuple[str, ...] = ()
    error: str = ""
    same: bool = False
    options: Options = DEFAULT
    images: str = ""


EDITED = Case()
TWICE = Case(refused=("kustomize",))
CASES = {
    "A-script-no-final-newline": EDITED,
    "B1-stamp-metadata-null": EDITED,
    "B2-stamp-no-metadata": EDITED,
    "B3-stamp-annotations-list": Case(error="so what this run adds cannot be recorded"),
    "C-blank-line-with-tab": EDITED,
    "D-stamp-alias": EDITED,
    "E1-stamp-comment-on-empty-key": EDITED,
    "E2-stamp-explicit-key": Case(images="b", options=DEFAULT.replace(immutable="full")),
    "E3-stamp-null-first-key-of-item": EDITED,
    "F-keep-scalar-blank-tail": EDITED,
    "J1-duplicate-key-and-alias": TWICE,
    "J2-duplicate-key-and-alias-valueerror": Case(refused=("kustomize",), same=True),
    "M-explicit-keys-without-values": Case(
        error="spec.affinity cannot be edited: a key without ':' stands there"
    ),
    "O-stamp-object-alias": EDITED,
    "Q1-stamp-deep-json": Case(error="archfit.dev/added is not as archfit wrote it"),
    "S-list-empty-item": Case(error="it has neither apiVersion nor kind"),
    "S2-list-duplicate-in-item": Case(refused=("kustomize",), same=True),
    "T-duplicate-key-and-alias-typeerror": TWICE,
}
FUNCTION = "R-function-config-08"
DIRECTIVES = (
    "G1-directive-list-duplicate",
    "G2-directive-list-wrong-image",
    "G3-crlf-directive-list-pod-unseen",
)


@pytest.fixture
def folder():
    return machine.shared("cases", "text")


def read(folder: Path, name: str, options: Options = DEFAULT) -> tuple[bytes, Options]:
    stamp = "--stamp" in (folder / f"{name}.options").read_text(encoding="utf-8")
    return (folder / f"{name}.yaml").read_bytes(), options.replace(stamp=stamp)


@pytest.mark.parametrize("name", CASES)
def test_the_output_says_what_was_decided_or_one_error_says_what_to_do(name, folder, judge, monkeypatch):
    case = CASES[name]
    data, options = read(folder, name, case.options)
    if case.images:
        monkeypatch.setitem(IMAGES, case.images, found("amd64 arm64"))
    if case.error:
        with pytest.raises(Failed) as failed:
            edited(data, options)
        errors = [result for result in failed.value.messages if result.severity == "error"]
        assert len(errors) == 1
        assert case.error in errors[0].text
        assert errors[0].location is not None
        assert errors[0].location.line
        return
    output = placed(judge, data, options, refused=case.refused)
    assert (output == data) == case.same


def test_a_number_that_is_no_integer_is_told_where_it_stands(folder):
    """A ResourceList comes back as it was, with what is wrong."""
    data, _ = read(folder, FUNCTION)
    written = io.BytesIO()
    with pytest.raises(
        UsageError, match=r"functionConfig, data\.prefer: has to be a string.*put it in quotes"
    ):
        run(["--offline", "--no-cache"], io.BytesIO(data), written, io.StringIO(), dict(os.environ))
    assert written.getvalue().startswith(data)


@pytest.mark.parametrize("name", DIRECTIVES)
def test_a_directive_is_refused_as_kubectl_and_kustomize_do(name, folder, judge):
    data, options = read(folder, name)
    with pytest.raises(InvalidInput, match="a '%' directive stands here"):
        edited(data, options)
    for reader in (judge.kubectl, judge.kustomize):
        with pytest.raises(Refused):
            reader(data)


@pytest.mark.parametrize("kind", ["text", "placement"])
def test_a_stream_that_is_stamped_once_stays_as_it_is(kind):
    """Whatever passes once; what is refused is refused before anything is written."""
    options = DEFAULT.replace(stamp=True, immutable="full", on_conflict="leave", prefer=(("arm64", 1),))
    stamped = 0
    for path in sorted(machine.shared("cases", kind).rglob("*.yaml")):
        try:
            once = edited(path.read_bytes(), options).data
        except (Failed, InvalidInput):
            continue
        assert edited(once, options).data == once, path.stem
        stamped += b"archfit.dev/added" in once
    assert stamped > 10
