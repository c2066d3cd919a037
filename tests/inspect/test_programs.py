"""`archfit inspect --programs`: what each entry starts, from a registry that answers as registries do."""

import io
import json
import sqlite3

import pytest

import fake_registry as fakes
from archfit.inspect.command import inspect as run
from fake_registry import Answer, FakeRegistry
from program_images import elf, image, index, layer

ENTRY = {"Entrypoint": ["/app"]}
WRONG = "its entry for linux/arm64 starts /app, an x86-64 program"


@pytest.fixture
def served():
    with FakeRegistry() as fake:
        yield fake


@pytest.fixture
def inspect(tmp_path, served):
    environ = {
        "HOME": str(tmp_path),
        "ARCHFIT_MIRROR": f"*={served.url}",
        "ARCHFIT_CACHE": str(tmp_path / "lookups.sqlite"),
    }

    def ran(*argv, code=0):
        out, err = io.BytesIO(), io.StringIO()
        assert run(["--programs", *argv], out, err, environ) == code, err.getvalue()
        return out.getvalue().decode(), err.getvalue()

    return ran


def put(served, arm64=None, **config):
    base, app = layer({"etc/os": b"x" * 5000}), layer({"app": elf("amd64")})
    top = layer({"app": elf("arm64")}) if arm64 is None else arm64
    return index(
        served, "app", "1", {"linux/amd64": [base, app], "linux/arm64": [base, top]}, **(config or ENTRY)
    )


def test_an_entry_that_starts_a_program_of_another_machine_is_wrong(inspect, served):
    put(served, layer({"app": elf("amd64")}))
    shown, told = inspect("x.example/app:1", code=3)
    assert "  programs    linux/amd64 starts /app, an x86-64 program\n" in shown
    assert "              linux/arm64 starts /app, an x86-64 program, which does not run there\n" in shown
    assert f"error: x.example/app:1: {WRONG}: repair its build\n" in told


def test_what_was_read_is_kept(inspect, served):
    put(served)
    _, told = inspect("x.example/app:1")
    assert "archfit: 7 registry requests (2 blob, 2 layer, 3 manifest)\n" in told
    before = len(served.asked)
    shown, told = inspect("x.example/app:1")
    assert "linux/arm64 starts /app, an arm64 program\n" in shown
    assert "archfit: 1 registry request (1 manifest)\n" in told
    assert len(served.asked) == before + 1
    assert "linux/arm64 starts /app, an arm64 program\n" in inspect("--offline", "x.example/app:1")[0]


def test_json_has_the_three_answers(inspect, served):
    put(served, layer({"x": elf("arm64")}))
    (told,) = json.loads(inspect("--json", "x.example/app:1")[0])["images"]
    assert told["programs"] == [
        {"platform": "linux/amd64", "state": "right", "words": "/app, an x86-64 program"},
        {"platform": "linux/arm64", "state": "unread", "words": "its layers have no program /app"},
    ]


def test_a_single_image_is_read_as_its_config_says(inspect, served):
    image(served, "app", "1", "linux/arm64", [layer({"app": elf("amd64")})], **ENTRY)
    assert "error: x.example/app:1: " + WRONG in inspect("x.example/app:1", code=3)[1]


def test_a_program_of_the_second_entry_is_found_where_both_name_one_manifest(inspect, served):
    both = [layer({"app": elf("amd64")})]
    index(served, "app", "1", {"linux/amd64": both, "linux/arm64": both}, **ENTRY)
    assert WRONG in inspect("x.example/app:1", code=3)[1]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(Answer(403), "403", id="refused"),
        pytest.param(Answer(404), "404", id="not-there"),
        pytest.param(Answer(206, b"x"), "206", id="a-part"),
        pytest.param(
            Answer(200, b"<html>"), "a layer of it is no tar archive that can be read", id="no-archive"
        ),
        pytest.param(
            Answer(200, layer({"app": elf("arm64")}), {"Content-Encoding": "gzip"}),
            "compressed answer",
            id="packed-again",
        ),
    ],
)
def test_a_layer_that_cannot_be_had_is_not_read(inspect, served, answer, why):
    put(served)
    lowest = fakes.digest_of(layer({"app": elf("arm64")}))
    served.on(lambda asked: answer if asked.reference == lowest else None)
    shown, told = inspect("x.example/app:1")
    assert "linux/amd64 starts /app, an x86-64 program\n" in shown
    (line,) = [line for line in shown.splitlines() if "linux/arm64: not read: " in line]
    assert why in line
    assert "error" not in told


def test_a_layer_that_breaks_off_is_asked_for_again(inspect, served):
    blob = layer({"x": bytes(range(256)) * 400, "app": elf("arm64")})
    put(served, blob)
    cut = Answer(200, chunks=[blob[:200]], headers={"Content-Length": str(len(blob))})
    left = [cut]
    served.on(lambda asked: left.pop() if left and asked.reference == fakes.digest_of(blob) else None)
    assert "linux/arm64 starts /app, an arm64 program\n" in inspect("x.example/app:1")[0]


def test_layers_behind_a_redirect_are_read_without_the_credentials_of_the_registry(inspect, served):
    put(served)
    served.bearer()
    with FakeRegistry() as store:
        store.documents |= {path: body for path, body in served.documents.items() if "/blobs/" in path}
        served.on(
            lambda asked: (
                Answer(307, headers={"Location": f"{store.url}{asked.path}"})
                if asked.kind == "blob" and "authorization" in asked.headers
                else None
            )
        )
        shown, _ = inspect("--allow-host", store.host, "x.example/app:1")
        assert "linux/arm64 starts /app, an arm64 program\n" in shown
        assert store.asked
        assert not any("authorization" in asked.headers for asked in store.asked)


@pytest.mark.parametrize("head", ["elf 64", "", "script a b c", 7])
def test_an_entry_of_the_cache_that_archfit_did_not_write_is_asked_for_again(inspect, served, tmp_path, head):
    put(served)
    inspect("x.example/app:1")
    with sqlite3.connect(tmp_path / "lookups.sqlite") as cache:
        rows = cache.execute("SELECT key, value FROM entries WHERE key LIKE 'programs:%'").fetchall()
        for name, text in rows:
            broken = text.replace('"elf 64 lsb 183"', json.dumps(head))
            cache.execute("UPDATE entries SET value = ? WHERE key = ?", (broken, name))
    cache.close()
    assert "linux/arm64 starts /app, an arm64 program\n" in inspect("x.example/app:1")[0]
