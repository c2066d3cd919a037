"""The option `customResources` in every command that reads manifests: they agree on what changes and on what is asked.

    value    objects that change                                        images that are asked
    all      those that need something                                  those of all pods
    read     the same, but for pods of unseen rows that need nothing    the same
    seen     those of seen rows, and of Kubernetes' own kinds           those of the same pods
    none     those of Kubernetes' own kinds                             those of the same pods

`lock` holds what the others ask for. `audit` is about what runs, so it asks for the images of all pods in any case.
"""

import io
import json
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from image_documents import name_of
from registry import Registry, prefix_of

from archfit.cli.dispatch import start
from lock_runs import pod
from machine import ROOT

VALUES = ("all", "read", "seen", "none")
AMD, BOTH = ["linux/amd64"], ["linux/amd64", "linux/arm64"]
_SAMPLES = ROOT / "tests" / "real" / "custom_resources" / "samples"
_RECORDED = ROOT / "fixtures" / "operators"
_OWN = pod("own.example/amd:1") + pod("own.example/both:1", name="b")
_CONFIGURATION = "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {customResources: %s}\n"


class StreamDecisions(NamedTuple):
    """A pod of the stream with `customResources: all`.

    known: own (a kind of Kubernetes), seen or read. narrowed: it gets more than a toleration. images: as requests.
    """

    document: int
    known: str
    changes: bool
    narrowed: bool
    images: frozenset[tuple[str, str]]

    def counts(self, value: str) -> bool:
        """Whether a run with this value may change the pod."""
        return value in {"all", "read"} or self.known == "own" or (self.known == value == "seen")

    def written(self, value: str) -> bool:
        """Whether a run with this value changes it."""
        unneeded = value == "read" and self.known == "read" and not self.narrowed
        return self.changes and self.counts(value) and not unneeded


class Streamed(NamedTuple):
    """Commands over one stream. registry: serves its images, which have amd64 alone and both in turn."""

    data: bytes
    registry: Registry
    folder: Path

    def run(self, *words: str) -> bytes:
        """What a command writes; 3 is an answer."""
        out, err = io.BytesIO(), io.StringIO()
        given: dict[str, Any] = {"stdin": io.BytesIO(self.data), "stdout": out, "stderr": err}
        given["environ"] = {"HOME": str(self.folder), "PATH": os.environ["PATH"]}
        status = start(words, {name: partial(given.get, name) for name in given})
        assert status in {0, 3}, err.getvalue()
        return out.getvalue()

    def asking(self, *words: str) -> tuple[bytes, frozenset[tuple[str, str]]]:
        """The same without the cache, and the images that it asked for: repository, and tag or digest."""
        self.registry.forget()
        output = self.run(*words, "--no-cache", *self.registry.mirrors())
        made = {(one.repository, one.reference) for one in self.registry.asked}
        return output, frozenset(made & {_request(*name) for name in self.registry.names})

    def pods(self) -> list[StreamDecisions]:
        """Every pod of the stream."""
        report = self.folder / "report.json"
        self.asking("transform", "--custom-resources=all", "--report", str(report))
        said = json.loads(report.read_text(encoding="utf-8"))
        return [
            StreamDecisions(
                one["document"],
                one.get("known", "own").partition(",")[0].partition(" ")[0],
                one["outcome"] == "Change",
                one["reason"].startswith("restricted to "),
                frozenset(
                    _request(*name)
                    for use in one["images"]
                    if use["image"] in said["images"] and (name := name_of(use["image"]))
                ),
            )
            for one in said["decisions"]
        ]


def _request(host: str, repository: str, tag: str, digest: str) -> tuple[str, str]:
    return f"{prefix_of(host)}/{repository}", tag or digest


def _documents() -> Iterator[str]:
    """The first sample of every other group, the objects of recordings, and two Deployments."""
    groups: set[str] = set()
    for file in sorted(_SAMPLES.iterdir()):
        for text in re.split(r"^---\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE):
            group = yaml.safe_load(text)["apiVersion"].partition("/")[0]
            if text.startswith("# affinity") and group not in groups:
                groups.add(group)
                if len(groups) % 2:
                    yield text
    for file in sorted(_RECORDED.glob("*/whole*/object.yaml")):
        yield from re.split(r"^---\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    yield from filter(None, _OWN.split("---\n"))


@pytest.fixture(scope="module")
def streamed(tmp_path_factory):
    """One object of each identity."""
    found: dict[tuple[str, ...], str] = {}
    for text in _documents():
        value = yaml.safe_load(text)
        found.setdefault((value["apiVersion"], value["kind"], str(value["metadata"].get("name"))), text)
    data, folder = "---\n".join(found.values()).encode(), tmp_path_factory.mktemp("streamed")
    with Registry({}) as served:
        one, report = Streamed(data, served, folder), folder / "stated.json"
        stated = ("--custom-resources=all", "--image-platforms", "*=linux/amd64")
        one.run("transform", *stated, "--report", str(report))
        for at, name in enumerate(sorted(json.loads(report.read_text(encoding="utf-8"))["images"])):
            served.put(name, (AMD, BOTH)[at % 2])
        yield one


@pytest.fixture(scope="module")
def pods(streamed):
    return streamed.pods()


def _transformed(data: bytes, output: bytes) -> set[int]:
    before, after = (text.split(b"---\n") for text in (data, output))
    return {number for number, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new}


def _checked(_data: bytes, output: bytes) -> set[int]:
    return {one["document"] for one in json.loads(output)["findings"] if one["rule"] == "placement"}


def _patched(_data: bytes, output: bytes) -> set[int]:
    return {one["document"] for one in json.loads(output)["patches"]}


def _explained(_data: bytes, output: bytes) -> set[int]:
    return {one["document"] for one in json.loads(output)["pods"] if one["outcome"] == "Change"}


CHANGED: dict[tuple[str, ...], Callable[[bytes, bytes], set[int]]] = {
    ("transform",): _transformed,
    ("check", "--format", "json"): _checked,
    ("patch", "--format", "json"): _patched,
    ("explain", "--format", "json"): _explained,
}
"""The numbers of the documents that a command changes, or says that it would, by its words."""


def _images(pods: list[StreamDecisions], value: str) -> frozenset[tuple[str, str]]:
    """Those of the pods that a run with this value may change."""
    return frozenset(image for one in pods if one.counts(value) for image in one.images)


def test_the_stream_has_what_the_values_tell_apart(pods):
    kinds = {(one.known, one.narrowed) for one in pods if one.changes}
    assert kinds == {(known, narrowed) for known in ("own", "seen", "read") for narrowed in (True, False)}


@pytest.mark.parametrize("value", VALUES)
def test_the_commands_agree(streamed, pods, value):
    option = f"--custom-resources={value}"
    changed = {one.document for one in pods if one.written(value)}
    images = _images(pods, value)
    for words, numbers in CHANGED.items():
        output, asked = streamed.asking(*words, option)
        assert (words, numbers(streamed.data, output), asked) == (words, changed, images)


@pytest.mark.parametrize("value", VALUES)
def test_the_lock_file_holds_what_a_run_asks_for(streamed, pods, value):
    option, file = f"--custom-resources={value}", str(streamed.folder / f"{value}.lock")
    _, asked = streamed.asking("lock", option, "--lock-file", file)
    assert asked == _images(pods, value)
    streamed.registry.forget()
    output = streamed.run("transform", option, "--lock-file", file, "--locked")
    assert _transformed(streamed.data, output) == {one.document for one in pods if one.written(value)}
    assert streamed.registry.asked == []


@pytest.mark.parametrize("value", VALUES)
def test_an_audit_asks_for_all_that_runs(streamed, pods, value):
    file = streamed.folder / "archfit.yaml"
    file.write_text(_CONFIGURATION % value, encoding="utf-8")
    _, asked = streamed.asking("audit", "--format", "json", "--config", str(file))
    assert asked == _images(pods, "all")
