"""`--diff` over the corpus: git and patch make of it exactly what `--in-place` writes."""

import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archfit.rewrite.unified_diff import DiffObject, unified_diff
from archfit.yaml.stream import Splice, parts
from corpus_streams import FOLDERS
from file_runs import Site
from program import PROGRAM
from warm_cache import warm

GIT = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
PATCH = ["patch", "-p1", "--no-backup-if-mismatch", "--fuzz=0", "--binary"]
STYLES = {
    "lf": lambda text: text,
    "crlf": lambda text: text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "no-last-newline": lambda text: text.rstrip(b"\n"),
}


@pytest.fixture(scope="module")
def cache(corpus, tmp_path_factory):
    """A cache that knows every image of the corpus."""
    path = tmp_path_factory.mktemp("cache") / "cache.sqlite"
    warm({name: platforms for name, platforms in corpus.platforms.items() if platforms}, str(path))
    return path


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_diff_of_the_corpus_applies_exactly(corpus, cache, tmp_path, folder, style):
    before = {
        name: STYLES[style](one.read()) for name, one in corpus.streams.items() if name.startswith(folder)
    }
    site = Site(tmp_path)
    site.write(before)
    words = [
        f"--cache={cache}",
        "--offline",
        "--on-unknown=leave",
        "--on-absent=leave",
        "--on-conflict=leave",
    ]
    inputs = sorted(before) if folder == "krm" else [folder]
    runs = [[one] for one in inputs]  # a ResourceList is transformed alone
    diffs = [site.run("--diff", *run, *words, options=False) for run in runs]
    assert [one.stderr for one in diffs if one.status] == []
    assert site.files() == before
    for run in runs:
        assert site.run("--in-place", "--no-stamp", *run, *words, options=False).status == 0
    placed = site.files()
    assert (placed != before) is (folder != "kubectl")  # the pods there have controllers
    diff = b"".join(one.stdout for one in diffs)
    for program in (GIT, PATCH) if diff else ():
        shutil.rmtree(tmp_path / folder)
        site.write(before)
        done = subprocess.run(program, cwd=tmp_path, input=diff, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert b"fuzz" not in done.stdout
        assert b"offset" not in done.stdout
        assert site.files() == placed


def test_the_diff_of_standard_input_applies_to_the_file_that_it_came_from(corpus, cache, tmp_path):
    site, before = Site(tmp_path), corpus.streams["helm3/redis.yaml"].read()
    site.write({"redis.yaml": before})
    words = [f"--cache={cache}", "--offline"]
    diff = site.run("--diff", *words, stdin=before, options=False).stdout
    subprocess.run(["patch", "redis.yaml"], cwd=tmp_path, input=diff, capture_output=True, check=True)
    assert site.files()["redis.yaml"] == site.run(*words, stdin=before, options=False).stdout != before


_LINES = [b"a\n", b"kind: Secret\n", b"---\n", b"\n", b"b\r\n", b"  x: 1\n", b"  y:\n", "é: ü\n".encode()]
_TEXTS = [b"", b"x", b"\n", b"\nq: 1", b"q: 1\n", b"a\nb\n", b"a\n", b"\r\n", "ö".encode()]


@st.composite
def changes(draw: st.DrawFn) -> tuple[bytes, list[Splice], list[DiffObject]]:
    """A text of UTF-8, some of whose lines may not be shown, splices in order that do not overlap, and objects."""
    data = b"".join(draw(st.lists(st.sampled_from(_LINES), max_size=40))) + draw(st.sampled_from([b"", b"z"]))
    begins = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
    offsets = [at for at in range(len(data) + 1) if at == len(data) or data[at] & 0xC0 != 0x80]
    anywhere = st.sampled_from(begins) | st.sampled_from(offsets)
    places = sorted(draw(st.lists(anywhere, max_size=12)))
    splices = list[Splice]()
    while places:
        start = places.pop(0)
        is_long: bool = draw(st.booleans())
        end = places.pop(0) if places and is_long else start
        splices.append(Splice(start, end, draw(st.sampled_from(_TEXTS))))
    if draw(st.booleans()):
        return data, splices, [DiffObject(0, len(data), "o")]
    bounds = sorted(set(draw(st.lists(anywhere, max_size=6))))
    return data, splices, [DiffObject(*pair, "o") for pair in zip(bounds[::2], bounds[1::2], strict=False)]


@settings(max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes())
def test_any_change_applies_exactly(tmp_path, change):
    data, splices, objects = change
    file, diff = tmp_path / "a.yaml", b"".join(unified_diff("a.yaml", data, splices, objects))
    for program in ([*GIT[:-1], "--unidiff-zero", "-"], PATCH) if diff else ():
        file.write_bytes(data)
        done = subprocess.run(program, cwd=tmp_path, input=diff, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert b"offset" not in done.stdout
        assert (file.read_bytes() if file.exists() else b"") == b"".join(parts(data, splices))


@pytest.mark.parametrize(
    ("words", "base"),
    [
        pytest.param(["../web.yaml"], "..", id="above"),
        pytest.param(["../web.yaml", "own.yaml"], "..", id="above-and-here"),
        pytest.param(["../../top.yaml", "../web.yaml"], "../..", id="two-above"),
        pytest.param(["own.yaml"], "", id="noop-here"),
    ],
)
def test_the_diff_of_files_above_applies_where_archfit_says(tmp_path, monkeypatch, words, base):
    here = tmp_path / "a/b"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    pod = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - {name: a, image: x.io/a}\n"
    files = [here / word for word in words]
    for file in files:
        file.write_bytes(pod)
    options = ["--offline", "--image-platforms=x.io/a=linux/amd64", "--immutable=full"]
    run = [str(PROGRAM), *options, "--diff", *words]
    done = subprocess.run(run, capture_output=True, check=True)
    where = f"archfit: the diff names files from {base}: apply it there, as patch -p1 -d {base} does"
    assert (where in done.stderr.decode()) == bool(base)
    for tool in (["patch", "-p1", "-d", base or "."], ["git", "-C", base or ".", "apply", "-"]):
        for file in files:
            file.write_bytes(pod)
        subprocess.run(tool, input=done.stdout, check=True, capture_output=True)
        assert all(b"kubernetes.io/arch" in file.read_bytes() for file in files)
