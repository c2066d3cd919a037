"""Random texts at every place where somebody else's text may stand; every output is looked at.

    manifests          kind, apiVersion, name, namespace, image, container, annotations, `# Source:`, JSON and YAML
    functionConfig     keys and values                lock file, configuration    keys and values
    environment        ARCHFIT_* and ARGOCD_*         arguments                   file names, images, hosts
    registries         error bodies, realm, service, platforms, media types, annotations

No output holds a character that cannot be seen, nor a line that is a command to a CI system; and no text makes archfit
itself fail. Manifests are written as they came.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fake_registry as fakes
from archfit.base.printable import LONGEST_LINE
from archfit.cli import main as cli
from archfit.options.table import TABLE
from fake_registry import Answer, FakeRegistry

NASTY = (
    "y" * 5000,
    *("\x1b[31m", "\x1b]0;t\x07", "\x07", "\x00", "\r", "\n", "\t", "\x7f", "\x85", "\x9b2J", "\u200b", "\u200d", "\u200e"),
    *("\u061c", "\u202e", "\u2066", "\u2028", "\u2029", "\u2060", "\ufeff", "\ud800", "\udfff", "\U000e0041"),
    *("\n::error::x", "::stop-commands::t", "\n ::add-mask::y", "##[error]", "##vso[a]", "%0A::error::", "'", '"', "{{", "$("),
)  # fmt: skip
FOREIGN = st.lists(
    st.sampled_from(NASTY) | st.text(max_size=3) | st.sampled_from(["a", "web", "x.io/a:1"]), max_size=5
).map("".join)
COMMAND = re.compile(r"^\s*::|##\w*\[")
OURS = re.compile(r"::(error|warning|notice) (file=[^,:]*,)?(line=[0-9]+,)?title=archfit [a-z-]+::")
MANY = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Options name files that are made: not here."""
    monkeypatch.chdir(tmp_path)


class Run:
    """One run of the program in this process. stdout: bytes. shown: all that people and CI systems may read."""

    def __init__(self, words: list[str], stdin: bytes = b"", environ: dict[str, str] | None = None) -> None:
        out, said = io.BytesIO(), io.StringIO()
        streams = {
            "stdin": io.TextIOWrapper(io.BytesIO(stdin)),
            "stdout": io.TextIOWrapper(out, write_through=True),
            "stderr": said,
        }
        changed = {**os.environ, "COLUMNS": "200", **(environ or {})}
        with mock.patch.multiple(sys, **streams), mock.patch.object(os, "environ", changed):
            self.status = cli.main(words)
            streams["stdout"].flush()
        self.stdout, self.stderr = out.getvalue(), said.getvalue()
        self.words = words
        judged(self.stderr, words)
        assert max(map(len, self.stderr.split("\n"))) <= LONGEST_LINE
        assert "archfit itself failed" not in self.stderr, self.stderr

    def text(self) -> Run:
        """Its standard output is for people, too."""
        judged(self.stdout.decode(), self.words)
        return self


def judged(text: str, words: list[str]) -> None:
    for line in text.split("\n"):
        raw = [one for one in line if not one.isprintable() and one != "\t"]
        assert not raw, (words, raw, line)
        if not (words[:1] == ["check"] and "--format=github" in words and OURS.match(line)):
            assert not COMMAND.search(line), (words, line)


def manifest(draw: Any) -> dict[str, Any]:
    text = lambda usual: draw(st.just(usual) | FOREIGN)  # noqa: E731
    container = {"name": text("main"), "image": text("x.io/a:1")}
    pod = {
        "containers": [container],
        "nodeSelector": {text("a"): text("b"), "kubernetes.io/arch": text("amd64")},
    }
    notes = {text("note"): text("x"), f"archfit.dev/{text('skip')}": text("true")}
    metadata = {
        "name": text("web"),
        "namespace": text("shop"),
        "annotations": notes if draw(st.booleans()) else {},
    }
    kind = draw(st.sampled_from(["Pod", "Job", "Deployment"]) | FOREIGN)
    spec = pod if kind == "Pod" else {"template": {"metadata": {"labels": {text("a"): "b"}}, "spec": pod}}
    return {
        "apiVersion": draw(st.sampled_from(["v1", "apps/v1", "batch/v1"]) | FOREIGN),
        "kind": kind,
        "metadata": metadata,
        "spec": spec,
    }


@st.composite
def streams(draw: Any) -> bytes:
    """A stream of some objects, as JSON or YAML, each perhaps below a `# Source:` line."""
    parts = []
    for value in [manifest(draw) for _ in range(draw(st.integers(1, 2)))]:
        source = draw(FOREIGN).replace("\n", "").replace("\r", "").encode("utf-8", "replace").decode()
        parts.append(f"---\n# Source: {source}\n{json.dumps(value)}\n")
    return "".join(parts).encode()


OFFLINE = ["--offline", "--no-cache"]


@MANY
@given(
    stream=streams(),
    policy=st.sampled_from(["fail", "leave"]),
    platforms=st.sampled_from([[], ["--image-platforms=*=linux/amd64"]]),
)
def test_streams(stream, policy, platforms):
    options = [*OFFLINE, f"--on-unknown={policy}", "--immutable=full", *platforms]
    ran = Run(["transform", *options], stream)
    assert ran.status or stream.count(b"---\n") <= ran.stdout.count(b"---\n")
    if ran.status == 0 and not platforms:
        assert ran.stdout == stream
    Run(["last"]).text()
    json.loads(Run(["last", "--json"]).text().stdout)
    for form in ("text", "json", "github", "gitlab", "sarif", "markdown", "junit"):
        Run(["check", f"--format={form}", "--source-root=.", *options], stream).text()
        Run(["check", f"--format={form}", "--require=arm64", *options], stream).text()
    for form in ("json", "kustomize", "flux-helmrelease", "fleet"):
        Run(["patch", "--format", form, *options], stream).text()


@MANY
@given(stream=streams(), data=st.data())
def test_resource_lists(stream, data):
    pairs = st.dictionaries(st.sampled_from([option.key for option in TABLE]) | FOREIGN, FOREIGN, max_size=2)
    kind = data.draw(st.sampled_from(["ArchFit", "ConfigMap"]))
    api = "v1" if kind == "ConfigMap" else "archfit.dev/v1alpha1"
    config = {"apiVersion": api, "kind": kind, "data" if kind == "ConfigMap" else "spec": data.draw(pairs)}
    items = [json.loads(part.partition("\n")[2]) for part in stream.decode().split("---\n# Source: ")[1:]]
    whole = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": config,
        "items": items,
    }
    for item in items:
        item["metadata"]["annotations"]["config.kubernetes.io/path"] = data.draw(FOREIGN)
    given_list = json.dumps(whole) + "\n"
    ran = Run(OFFLINE, given_list.encode())
    if ran.stdout:
        for result in json.loads(ran.stdout).get("results", ()):
            for text in (
                result["message"],
                *result.get("resourceRef", {}).values(),
                result.get("field", {}).get("path", ""),
            ):
                judged(text, [])


@MANY
@given(text=FOREIGN, other=FOREIGN, option=st.sampled_from([option for option in TABLE if option.variable]))
def test_what_a_run_is_told(tmp_path, text, other, option):
    shown = text.replace("\0", "").encode("utf-8", "replace").decode()
    Run(OFFLINE, b"", {option.variable: shown})
    Run([f"--{option.name}={shown}", "--no-cache"], b"")
    Run(["check", shown, "--offline"])
    Run([shown.lstrip("-") or "x"])
    Run(["lock", "--offline", shown])
    Run(["inspect", *OFFLINE, shown]).text()
    Run(["inspect", *OFFLINE, "--json", shown]).text()
    Run(["login-check", "--offline", shown]).text()
    for name in ("archfit.yaml", "archfit.lock"):
        entry = {"digest": other, "kind": other, "platforms": [other]}
        lock = {"version": 1, "images": {text: entry, "x.io/a:1": entry}}
        config = {
            "apiVersion": "archfit.dev/v1alpha1",
            "kind": "ArchFit",
            "spec": {text: other, option.key: other},
        }
        (tmp_path / name).write_text(json.dumps(lock if "lock" in name else config), encoding="utf-8")
    Run(["--config", str(tmp_path / "archfit.yaml")], b"")
    Run([f"--lock-file={tmp_path}/archfit.lock", *OFFLINE], POD)
    Run(["lock", f"--lock-file={tmp_path}/archfit.lock", "--check"], POD)


POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'x.io/a:1'}]}\n"


@MANY
@given(data=st.data())
def test_applications_of_argo_cd(data):
    from archfit.integrations.argocd.source_parameters import ROWS

    entries = []
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from([row.name for row in ROWS] + ["affinity", "lockFile"]) | FOREIGN)
        value = data.draw(
            st.fixed_dictionaries({"string": FOREIGN})
            | st.fixed_dictionaries({"array": st.lists(FOREIGN, max_size=2)})
            | st.fixed_dictionaries({"map": st.dictionaries(FOREIGN, FOREIGN, max_size=2)})
            | st.dictionaries(FOREIGN, FOREIGN)
        )
        entries.append({"name": name, **value})
    Run(["argocd", "discover"], b"", {"ARGOCD_APP_PARAMETERS": json.dumps(entries)}).text()
    variable = data.draw(st.sampled_from([row.variable for row in ROWS]))
    text = data.draw(FOREIGN).replace("\0", "")
    Run(["argocd", "discover"], b"", {f"ARGOCD_ENV_{variable}": text, "ARGOCD_APP_PARAMETERS": text}).text()


@pytest.fixture(scope="module")
def fake():
    """A registry, and what it answers to everything: its own documents where the list is empty."""
    answers = list[Answer]()
    with FakeRegistry() as made:
        made.on(lambda _: answers[0] if answers else None)
        yield made, answers


@settings(MANY, max_examples=8)
@given(text=FOREIGN, other=FOREIGN, status=st.sampled_from([400, 403, 404]))
def test_registries(fake, text, other, status):
    registry, answers = fake
    header = re.sub(r"[\x00-\x1f]", "", text).encode("latin-1", "replace").decode("latin-1")
    body = fakes.as_json({"errors": [{"code": text, "message": other}], "token": text, "details": other})
    challenge = {"WWW-Authenticate": f'Bearer realm="http://{registry.host}/{header}",service="{header}"'}
    asked = [f"--mirror=*=http://{registry.host}", "--no-cache", "--timeout=200ms"]
    for answer in (Answer(status, body, {"Content-Type": header}), Answer(401, body, challenge)):
        answers[:] = [answer]
        _asked(asked)
    answers.clear()
    platform = {"os": text, "architecture": other, "variant": text, "os.version": other}
    described = {
        **fakes.descriptor(text, b"x"),
        "platform": platform,
        "annotations": {text: other},
        "size": 10**400,
    }
    linux = fakes.descriptor(
        fakes.media.OCI_MANIFEST, b"x", platform={"os": "linux", "architecture": "amd64"}
    )
    index = {
        "schemaVersion": 2,
        "mediaType": fakes.media.OCI_INDEX,
        "artifactType": text,
        "manifests": [described, linux],
    }
    registry.put("a", "1", fakes.media.OCI_INDEX, fakes.as_json(index))
    _asked(asked)


def _asked(asked: list[str]) -> None:
    Run(["inspect", *asked, "x.io/a:1"]).text()
    Run(["inspect", *asked, "--json", "x.io/a:1"]).text()
    Run(["login-check", *asked, "x.io/a:1"]).text()
    Run(asked, POD)
    Run(["check", "--format=github", *asked], POD).text()
