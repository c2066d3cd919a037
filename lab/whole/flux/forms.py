"""What archfit writes for the part `flux`, from its fixtures; no cluster is asked.

fixtures/whole/flux/app       manifests and a kustomization; REVISIONS are what becomes of them, one after the other
fixtures/whole/flux/chart     a Helm chart; RELEASES are its versions
written(form, revision)       what `archfit patch --format FORM` prints, or what `archfit --in-place --no-stamp` leaves
expected(form, revision)      the same manifests as archfit leaves them on standard output
digests()                     of all that is written: the figures hold as long as archfit writes the same
"""

import functools
import hashlib
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import machine
from file_runs import run
from operators import recordings
from operators.build import Failed

FOLDER = machine.ROOT / "fixtures" / "whole" / "flux"
PATCHES, COMPONENT, RENDERED, RELEASE = "flux-kustomization", "kustomize", "rendered", "flux-helmrelease"
FIRST, IMAGE, AFFINITY, RENAMED, LAST, BROKEN = "first", "image", "affinity", "renamed", "last", "broken"

Edit = tuple[str, str]
Object = dict[str, Any]

_TEMPLATE = "labels: {app: web}\n    spec:\n"
_SPREAD = (
    "{podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm:"
    " {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}}]}}"
)
_MOVED = ("img.test/multi/web:1", "img.test/amd/web:2")
_BACK = ("img.test/amd/web:2", "img.test/multi/web:3")
# Each holds the ones before it.
REVISIONS: Mapping[str, Sequence[Edit]] = {
    FIRST: (),
    # An image moves to one architecture.
    IMAGE: (_MOVED,),
    # The author gives a workload an affinity of its own.
    AFFINITY: ((_TEMPLATE, f"{_TEMPLATE}      affinity: {_SPREAD}\n"),),
    RENAMED: (("cart", "basket"),),
    LAST: (_BACK,),
}


class Version(NamedTuple):
    """A version of the chart, and the edits of its values since the version before."""

    number: str
    edits: Sequence[Edit]


RELEASES: Mapping[str, Version] = {
    FIRST: Version("1.0.0", ()),
    IMAGE: Version("1.1.0", (_MOVED,)),
    AFFINITY: Version("1.2.0", (("affinity: {}", f"affinity: {_SPREAD}"),)),
    # No node has the disk: its pods never run.
    BROKEN: Version("1.3.0", (('disk: ""', "disk: missing"),)),
    LAST: Version("1.4.0", (("disk: missing", 'disk: ""'), _BACK)),
}


_ALL = (
    *((form, one) for form in (PATCHES, COMPONENT, RENDERED) for one in REVISIONS),
    *((RELEASE, one) for one in RELEASES),
)


def app(revision: str) -> dict[str, bytes]:
    text = _edited(
        (FOLDER / "app" / "workloads.yaml").read_text(encoding="utf-8"),
        [edits for _, edits in _until(REVISIONS, revision)],
    )
    return {
        "app/workloads.yaml": text.encode(),
        "app/kustomization.yaml": (FOLDER / "app" / "kustomization.yaml").read_bytes(),
    }


def chart(revision: str) -> dict[str, bytes]:
    found = {
        f"chart/{path.relative_to(FOLDER / 'chart')}": path.read_bytes()
        for path in sorted((FOLDER / "chart").rglob("*.yaml"))
    }
    values = found["chart/values.yaml"].decode()
    found["chart/values.yaml"] = _edited(
        values, [one.edits for _, one in _until(RELEASES, revision)]
    ).encode()
    found["chart/Chart.yaml"] = found["chart/Chart.yaml"].replace(
        b"1.0.0", RELEASES[revision].number.encode()
    )
    return found


@functools.cache
def written(form: str, revision: str) -> bytes:
    """See the module. Raises Failed where a program refuses its input."""
    given = plain(form, revision)
    if form != RENDERED:
        return _output("archfit patch", ("patch", "--format", form, *recordings.ARGUMENTS), given)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.yaml"
        path.write_bytes(given)
        _output("archfit --in-place", ("--in-place", "--no-stamp", *recordings.ARGUMENTS, str(path)), b"")
        return path.read_bytes()


@functools.cache
def expected(form: str, revision: str) -> list[Object]:
    """See the module. Raises Failed."""
    stream = _output("archfit", recordings.ARGUMENTS, plain(form, revision))
    return [one for one in yaml.safe_load_all(stream) if one]


@functools.cache
def plain(form: str, revision: str) -> bytes:
    """The manifests as `kustomize build` or `helm template` writes them. Raises Failed."""
    files = chart(revision) if form == RELEASE else app(revision)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        command = [machine.tool("kustomize"), "build", f"{folder}/app"]
        if form == RELEASE:
            command = [machine.tool("helm4"), "template", "shop", f"{folder}/chart"]
        done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise Failed(" ".join(command[:2]), done.stderr.decode(errors="replace"))
    return done.stdout


def prepare() -> None:
    """Ask for all of it: archfit runs in this process, which has one standard output, so threads may not."""
    for form, one in _ALL:
        written(form, one)
        expected(form, one)


def digests() -> dict[str, str]:
    """See the module: by form and revision. Raises Failed."""
    return {f"{form} {one}": hashlib.sha256(written(form, one)).hexdigest()[:12] for form, one in _ALL}


def _output(what: str, words: Sequence[str], given: bytes) -> bytes:
    ended = run(tuple(words), given)
    if ended.status:
        raise Failed(what, ended.stderr)
    return ended.stdout


def _until(table: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    names = list(table)
    return list(table.items())[: names.index(name) + 1]


def _edited(text: str, steps: Sequence[Sequence[Edit]]) -> str:
    for edits in steps:
        for old, new in edits:
            if old not in text:
                raise Failed("editing the fixture", f"{old!r} is not in it")
            text = text.replace(old, new)
    return text
