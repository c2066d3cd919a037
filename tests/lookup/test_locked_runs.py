"""Runs with a lock file: what it holds is final, what it lacks is looked up, and with --locked is an error."""

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from registry import Registry

from archfit.images.platforms import Found, Platform
from archfit.lookup.entries import to_json
from archfit.lookup.lockfile import Lock, parse, render
from archfit.lookup.store.sqlite import SqliteStore
from archfit.options.settings import Operator
from archfit.rewrite.command import transform
from corpus_streams import each_stream
from lock_runs import Locking, pod
from lookup_runs import lookup_with
from program import Ran

Archfit = Callable[..., Ran]

BOTH, AMD = ["linux/amd64", "linux/arm64"], ["linux/amd64"]
NGINX, REDIS = "docker.io/library/nginx:1.27", "docker.io/library/redis:latest"
STREAM = pod("nginx:1.27") + pod("redis", name="b")


@pytest.fixture
def registry():
    with Registry({"nginx:1.27": BOTH, "redis": AMD}) as served:
        yield served


@pytest.fixture
def locked(tmp_path, registry):
    """A lock file for STREAM."""
    locking = Locking(tmp_path, registry)
    assert locking.lock(STREAM).status == 0
    registry.forget()
    return locking


def words(locking: Locking, *more: str) -> list[str]:
    return ["--lock-file", str(locking.file), *more]


def cached(path: Path, name: str, found: Found, age_seconds: int) -> str:
    """A cache that holds this answer; its path."""
    store = SqliteStore(str(path))
    store.put_many({f"tag:{name}": to_json(found, int(time.time()) - age_seconds)["tag"]})
    store.close()
    return str(path)


def test_what_it_holds_is_final(locked, registry, archfit):
    """A tag that has moved since changes nothing, and nobody is asked."""
    before = archfit(STREAM.encode(), *words(locked), "--no-cache", *registry.mirrors()).ok()
    registry.put("redis", BOTH)
    registry.put("nginx:1.27", AMD)
    assert archfit(STREAM.encode(), *words(locked), "--no-cache", *registry.mirrors()).ok() == before
    assert registry.asked == []


def test_what_it_lacks_is_looked_up(locked, registry, archfit):
    registry.put("redis", BOTH)
    registry.put("nginx:1.28", AMD)
    text = STREAM + pod("nginx:1.28", name="c")
    out = archfit(text.encode(), *words(locked), "--no-cache", *registry.mirrors()).ok()
    assert {asked.path.rpartition("/")[2] for asked in registry.asked if asked.kind == "manifest"} == {"1.28"}
    assert out.count(b"kubernetes.io/arch") == 3, "redis as it was locked, nginx:1.28 as it is, a toleration"


def test_with_locked_everything_that_it_lacks_is_named(locked, registry, archfit):
    """In one go, each with its place and the line to run."""
    registry.put("nginx:1.28", AMD)
    text = STREAM + pod("nginx:1.28", "nginx:1.27", "quay.io/a/b:1", name="c")
    ran = archfit(text.encode(), *words(locked, "--locked"), "--no-cache", *registry.mirrors())
    assert (ran.status, ran.stdout) == (1, b"")
    *errors, head, read_on = ran.stderr.splitlines()
    assert head == "archfit: 2 problems; nothing was written"
    assert read_on == "archfit: see docs/lock.md#runs"
    for error, index, text, name, line in (
        (errors[0], 0, "nginx:1.28", "docker.io/library/nginx:1.28", 30),
        (errors[1], 2, "quay.io/a/b:1", "quay.io/a/b:1", 32),
    ):
        assert error == (
            f"archfit: error: apps/v1/Deployment/c spec.template.spec.containers[{index}].image: {text}: "
            f"{locked.file} does not "
            f"hold {name}, and --locked forbids asking: run `archfit lock --lock-file {locked.file} --add-missing` on "
            f"these manifests (document 3, line {line})"
        )
    assert len(errors) == 2
    assert registry.asked == []


def test_the_line_to_run_is_right(locked, registry, archfit):
    registry.put("nginx:1.28", AMD)
    text = STREAM + pod("nginx:1.28", name="c")
    assert archfit(text.encode(), *words(locked, "--locked")).status == 1
    assert locked.lock(text, "--add-missing").status == 0
    assert archfit(text.encode(), *words(locked, "--locked")).status == 0


@pytest.mark.parametrize(
    "policy",
    [["--on-unknown=leave"], ["--on-unknown=assume", "--assume=linux/amd64"]],
    ids=["leave", "assume"],
)
def test_no_policy_passes_over_what_is_not_locked(locked, archfit, policy):
    """Else a forgotten entry would take back what an earlier render added."""
    ran = archfit((STREAM + pod("x.example/a:1")).encode(), *words(locked, "--locked"), *policy)
    assert (ran.status, ran.stdout) == (1, b"")
    assert "--locked forbids asking" in ran.stderr


def test_an_override_comes_before_the_lock_file(locked, archfit):
    platforms = ["--image-platforms", "docker.io/library/redis=linux/arm64"]
    out = archfit(STREAM.encode(), *words(locked, "--locked"), *platforms).ok()
    assert b"- arm64" in out
    assert b"- amd64" not in out


def test_images_of_overrides_and_skipped_pods_need_no_entry(locked, archfit):
    text = pod("x.example/a:1").replace("  name: a", "  name: a\n  annotations: {archfit.dev/skip: 'true'}")
    text += pod("y.example/a:1", "", "{{ .image }}", name="b")
    ran = archfit(text.encode(), *words(locked, "--locked"), "--image-platforms=y.example/*=linux/amd64")
    assert ran.status == 0, ran.stderr


def test_the_report_says_that_the_lock_file_answered(locked, archfit, tmp_path):
    report = tmp_path / "report.json"
    archfit(STREAM.encode(), *words(locked, "--locked"), "--report", str(report)).ok()
    found = json.loads(report.read_text())
    digests = {name: found.digest for name, found in parse(locked.file.read_bytes(), "").items()}
    same = {"answer": "Found", "origin": "lock", "ageSeconds": 0}
    assert found["images"] == {
        "nginx:1.27": {**same, "platforms": BOTH, "digest": digests[NGINX]},
        "redis": {**same, "platforms": AMD, "digest": digests[REDIS]},
    }
    assert found["requests"] == {}


CACHES = ["empty", "warm", "stale", "corrupted", "of another program", "a folder", "newer"]


@pytest.mark.parametrize("state", CACHES)
@pytest.mark.parametrize("only", [[], ["--locked"]], ids=["lock file", "--locked"])
def test_whatever_the_cache_is_the_bytes_are_the_same(locked, tmp_path, state, only):
    want = in_process(STREAM.encode(), *words(locked, "--locked"), "--no-cache")
    held, path = parse(locked.file.read_bytes(), "")[REDIS], tmp_path / "cache.sqlite"
    if state in {"warm", "stale", "newer"}:
        moved = held.replace(digest=f"sha256:{'d' * 64}", platforms=(Platform("linux", "s390x"),))
        age = {"warm": 60, "stale": 86400, "newer": 60}[state]
        cached(path, REDIS, moved if state == "newer" else held, age)
    elif state == "a folder":
        path.mkdir()
    elif state != "empty":
        path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000 if state == "corrupted" else b"hello")
    assert in_process(STREAM.encode(), *words(locked, *only), "--cache", str(path)) == want
    assert want[0] == 0


@pytest.mark.parametrize("state", ["empty", "warm", "stale", "corrupted"])
def test_without_a_lock_file_they_are_too_while_no_tag_moves(registry, tmp_path, state):
    want = in_process(STREAM.encode(), "--no-cache", *registry.mirrors())
    path = tmp_path / "cache.sqlite"
    mirrors = [*registry.mirrors(), "--cache", str(path)]
    if state in {"warm", "stale"}:
        assert in_process(STREAM.encode(), *mirrors) == want
    if state == "corrupted":
        path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    ttl = ["--cache-ttl=0"] if state == "stale" else []
    assert in_process(STREAM.encode(), *mirrors, *ttl) == want
    assert want[0] == 0


@pytest.mark.parametrize(
    ("age", "moved", "only", "warned"),
    [
        pytest.param(720, True, [], True, id="the cache knows another digest"),
        pytest.param(720, False, [], False, id="it knows the same"),
        pytest.param(7 * 3600, True, [], False, id="it does not believe what it knows"),
        pytest.param(720, True, ["--locked"], False, id="--locked does not look into it"),
    ],
)
def test_a_run_warns_where_the_cache_knows_more(locked, archfit, tmp_path, age, moved, only, warned):
    held = parse(locked.file.read_bytes(), "")[REDIS]
    found = held.replace(digest=f"sha256:{'d' * 64}") if moved else held
    cache = cached(tmp_path / "cache.sqlite", REDIS, found, age)
    ran = archfit(STREAM.encode(), *words(locked, *only), "--cache", cache)
    assert ran.status == 0
    said = (
        f"warning: {locked.file} may be out of date, because the cache knows another digest of {REDIS}: `archfit lock "
        f"--lock-file {locked.file} --check` on these manifests shows what changed\n"
    )
    assert (said in ran.stderr) == warned
    assert ("warning" in ran.stderr) == warned


USAGE = [
    pytest.param(["--locked"], 2, "archfit: error: --locked: needs a lock file: add --lock-file", id="no lock file"),
    pytest.param(
        ["--lock-file=/no/archfit.lock"],
        2,
        "archfit: error: --lock-file: there is no '/no/archfit.lock': write it with `archfit lock`, or name another",
        id="it does not exist",
    ),
    pytest.param(["--lock-file=/"], 2, "archfit: error: --lock-file: cannot read '/' (Is a directory)", id="a folder"),
    pytest.param(["--lock-file=/dev/zero"], 2, "archfit: error: --lock-file: cannot read '/dev/zero' (it is not a regular file)", id="endless"),
    pytest.param(["--lock-file=/dev/null"], 1, "archfit: error: /dev/null: is empty", id="empty"),
]  # fmt: skip


@pytest.mark.parametrize(("flags", "status", "message"), USAGE)
def test_a_lock_file_that_cannot_be_used_fails_the_run(archfit, flags, status, message):
    ran = archfit(STREAM.encode(), *flags)
    assert (ran.status, ran.stdout) == (status, b"")
    assert ran.stderr.startswith(message)


def test_nothing_is_read_that_was_not_named(locked, archfit):
    """The working directory never changes the output."""
    assert locked.file.name == "archfit.lock"
    ran = archfit(STREAM.encode(), "--offline", "--no-cache", cwd=locked.folder)
    assert ran.status == 1


@pytest.mark.parametrize("how", ["flag", "variable", "configuration"])
def test_anyone_may_name_it(locked, archfit, how):
    (locked.folder / "archfit.yaml").write_text(
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {lockFile: archfit.lock, locked: true}\n"
    )
    flags, environ = {
        "flag": (words(locked, "--locked"), {}),
        "variable": ([], {"ARCHFIT_LOCK_FILE": str(locked.file), "ARCHFIT_LOCKED": "true"}),
        "configuration": (["--config", str(locked.folder / "archfit.yaml")], {}),
    }[how]
    assert archfit(STREAM.encode(), *flags, **environ).status == 0
    ran = archfit(pod("x.example/a:1").encode(), *flags, **environ)
    assert (ran.status, ran.stdout) == (1, b"")


def test_the_operator_may_pin_it(locked, archfit):
    config = locked.write(
        "archfit.yaml",
        "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {lockFile: archfit.lock, locked: true}\n"
        "operator: {enforced: [lockFile, locked]}\n",
    )
    assert archfit(STREAM.encode(), "--config", config).status == 0
    for flag in ("--no-locked", "--lock-file=/tmp/other.lock"):
        ran = archfit(STREAM.encode(), "--config", config, flag)
        assert (ran.status, ran.stdout) == (2, b"")
        assert "is enforced by" in ran.stderr


_HERMETIC = """
import sys
def guard(event, arguments):
    if event.startswith("socket.") or event == "sqlite3.connect":
        raise RuntimeError(event)
sys.addaudithook(guard)
from archfit.cli.main import main
code = main([])
sys.stdout.flush()
sys.exit(code)
"""


def test_a_locked_run_by_variables_opens_neither_socket_nor_cache(locked, archfit):
    """As Helm 3 starts it. What it may import is in tests/project/test_imports.py."""
    want = archfit(STREAM.encode(), *words(locked, "--locked")).ok()
    environ = {
        "ARCHFIT_LOCK_FILE": str(locked.file),
        "ARCHFIT_LOCKED": "true",
        "HOME": "/nowhere",
        "PYTHONPATH": ":".join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", _HERMETIC], input=STREAM.encode(), env=environ, capture_output=True, check=True
    )
    assert done.stdout == want


KINDS = [
    Found((Platform("linux", "amd64"), Platform("linux", "arm64")), f"sha256:{'1' * 64}"),
    Found((Platform("linux", "amd64"),), f"sha256:{'2' * 64}", index=True),
    Found((Platform("linux", "amd64"),), f"sha256:{'3' * 64}", index=False),
    Found((), f"sha256:{'4' * 64}", index=False, image=False),
    Found((), f"sha256:{'5' * 64}", index=True, image=False),
    Found((Platform("linux", "arm", "v7"), Platform("windows", "amd64")), f"sha256:{'6' * 64}"),
]


@pytest.mark.parametrize(
    "found", KINDS, ids=["index", "index of one", "manifest", "artifact", "artifact index", "mixed"]
)
@pytest.mark.parametrize("volume", [False, True], ids=["container", "image volume"])
def test_a_locked_answer_decides_as_the_registrys_did(found, volume):
    """Image volumes restrict only when they are an index, and artifacts never."""
    from archfit.placement.evidence import offered
    from archfit.workloads.pods import ImageUse

    lock = Lock("archfit.lock", parse(render({"x.example/a:1": found}), ""), only=True)
    lookup = lookup_with(Operator(), lock=lock)
    answer = lookup.resolve(["x.example/a:1"])["x.example/a:1"]
    assert isinstance(answer, Found)
    assert (answer.digest, answer.platforms, answer.image, answer.origin) == (
        found.digest,
        found.platforms,
        found.image,
        "lock",
    )
    use = ImageUse(("spec",), "x.example/a:1", volume=volume)
    for system in ("linux", "windows"):
        assert offered(use, answer, system) == offered(use, found, system)


@pytest.fixture(scope="module")
def corpus_lock(corpus, corpus_registry, archfit, tmp_path_factory):
    """A lock file for every stream of the corpus, written in one run."""
    folder = tmp_path_factory.mktemp("corpus")
    files = []
    for number, stream in enumerate(corpus.streams.values()):
        files.append(str(folder / f"{number}.yaml"))
        (folder / f"{number}.yaml").write_bytes(stream.pinned()[0])
    ran = archfit(b"", "lock", "--no-cache", *corpus_registry.mirrors(), *files, cwd=folder)
    assert ran.status == 0, ran.stderr
    return folder / "archfit.lock"


@each_stream
def test_a_real_stream_comes_out_the_same(stream, corpus_lock, corpus_registry):
    """With the lock file alone, and with a real registry alone."""
    text, _ = stream.pinned()
    cache = str(corpus_lock.with_name("cache.sqlite"))
    asked = in_process(text, "--cache", cache, *corpus_registry.mirrors())
    locked = in_process(text, "--lock-file", str(corpus_lock), "--locked")
    assert locked == asked
    assert locked[0] == 0


def in_process(text: bytes, *words: str) -> tuple[int, bytes]:
    """Status and standard output of `archfit WORDS`."""
    stdout = io.BytesIO()
    return transform(words, io.BytesIO(text), stdout, io.StringIO(), os.environ), stdout.getvalue()
