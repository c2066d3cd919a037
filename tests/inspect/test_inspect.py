"""`archfit inspect`: what it shows, what it asks, and how it fails."""

import io
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest

import fake_registry as fakes
from archfit.base.errors import UsageError
from archfit.inspect.command import inspect as run
from archfit.registry import manifest as media
from archfit.yaml.json_output import document_head
from fake_registry import Answer, FakeRegistry
from program import archfit

PLATFORMS = ["linux/amd64", "linux/arm64/v8", "linux/arm/v7"]


@pytest.fixture
def served():
    with FakeRegistry() as fake:
        yield fake


class Inspecting:
    """Runs of the command that share a cache. problems: standard error of the last one."""

    def __init__(self, folder: Path, served: FakeRegistry) -> None:
        self.environ = {
            "HOME": str(folder),
            "ARCHFIT_MIRROR": f"*={served.url}",
            "ARCHFIT_CACHE": str(folder / "lookups.sqlite"),
        }
        self.problems = ""

    def __call__(self, *argv: str, code: int = 0) -> bytes:
        out, err = io.BytesIO(), io.StringIO()
        ended = run(argv, out, err, self.environ)
        self.problems = err.getvalue()
        assert ended == code, self.problems
        return out.getvalue()

    def told(self, *argv: str, code: int = 0) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self(*argv, "--json", code=code))
        return told


@pytest.fixture
def inspect(tmp_path, served):
    return Inspecting(tmp_path, served)


def body_of(served: FakeRegistry, repository: str, tag: str) -> bytes:
    return served.stored(fakes.Asked("GET", f"/v2/{repository}/manifests/{tag}", {})).body


class TestTable:
    def test_an_index_with_its_platforms_their_digests_and_attestations(self, inspect, served):
        digest = served.index("app", "1", ["linux/amd64", "linux/arm64/v8"])
        body = body_of(served, "app", "1")
        one, about_one, two, about_two = (entry["digest"] for entry in json.loads(body)["manifests"])
        assert inspect("x.example/app:1").decode() == (
            "x.example/app:1\n"
            f"  digest      {digest}\n"
            f"  media type  {media.OCI_INDEX} ({len(body) / 1000:.1f} kB)\n"
            f"  source      {served.url}/app\n"
            "  runs on     amd64, arm64\n"
            "\n"
            f"  PLATFORM         {'DIGEST'.ljust(71)}  SIZE  KIND\n"
            f"  linux/amd64      {one}  17 B  image\n"
            f"  unknown/unknown  {about_one}  29 B  attestation of {one}\n"
            f"  linux/arm64/v8   {two}  20 B  image\n"
            f"  unknown/unknown  {about_two}  32 B  attestation of {two}\n"
        )
        assert inspect.problems == "archfit: 1 registry request (1 manifest)\n"

    def test_a_single_manifest_with_its_config_and_layers(self, inspect, served):
        digest = served.single("app", "1", "linux/arm64")
        shown = inspect("x.example/app:1").decode()
        config, layer = (entry["size"] for entry in inspect.told("x.example/app:1")["images"][0]["entries"])
        assert f"  digest      {digest}\n" in shown
        assert "  platforms   linux/arm64\n" in shown
        assert f"  contents    {config + layer} B\n" in shown
        assert "  runs on     arm64\n" in shown
        assert f"config {media.OCI_CONFIG}\n" in shown

    def test_an_artifact_restricts_nothing(self, inspect, served):
        config = fakes.descriptor("application/vnd.cncf.helm.config.v1+json", b"{}")
        served.put("chart", "1", media.OCI_MANIFEST, served.manifest(config))
        assert (
            "runs on     anywhere: it is no image, and restricts nothing\n"
            in inspect("x.example/chart:1").decode()
        )

    def test_a_variant_counts_by_its_node_label_and_386_on_amd64(self, inspect, served):
        served.index("app", "1", ["linux/arm/v6", "linux/arm/v7", "linux/386"])
        assert "  runs on     386, amd64, arm\n" in inspect("x.example/app:1").decode()

    def test_windows_entries_show_their_version_and_are_for_no_linux_node(self, inspect, served):
        entry = fakes.descriptor(
            media.OCI_MANIFEST,
            b"w",
            platform={"os": "windows", "architecture": "amd64", "os.version": "10.0.17763.1"},
        )
        body = fakes.as_json({"schemaVersion": 2, "mediaType": media.OCI_INDEX, "manifests": [entry]})
        served.put("app", "1", media.OCI_INDEX, body)
        shown = inspect("x.example/app:1").decode()
        assert "windows/amd64 10.0.17763.1" in shown
        assert "runs on     no Linux node\n" in shown

    def test_what_the_operator_states_wins_and_is_said(self, inspect, served):
        served.index("app", "1", PLATFORMS)
        shown = inspect("x.example/app:1", "--image-platforms", "x.example/app=linux/amd64").decode()
        assert "runs on     amd64 (stated by image platforms, against the registry)\n" in shown

    def test_control_characters_of_a_document_do_not_reach_the_terminal(self, inspect, served):
        entry = {
            **fakes.descriptor("x/\x1b[31m", b"x"),
            "platform": {"os": "\x1b]0;x\x07", "architecture": "a"},
        }
        good = fakes.descriptor(media.OCI_MANIFEST, b"x", platform=fakes.platform_of("linux/amd64"))
        body = fakes.as_json({"schemaVersion": 2, "mediaType": media.OCI_INDEX, "manifests": [entry, good]})
        served.put("app", "1", media.OCI_INDEX, body)
        assert not any(byte < 32 and byte != 10 for byte in inspect("x.example/app:1"))

    @pytest.mark.parametrize("digits", [19, 400, 4000, 5000])
    def test_numbers_of_any_length_are_no_trouble(self, inspect, served, digits):
        good = fakes.descriptor(media.OCI_MANIFEST, b"x", platform=fakes.platform_of("linux/amd64"))
        index = {"schemaVersion": 2, "mediaType": media.OCI_INDEX, "manifests": [{**good, "size": 77}]}
        body = fakes.as_json(index).replace(b"77", b"7" * digits)
        body = body.replace(
            b'"schemaVersion"', b'"annotations": {"n": ' + b"9" * digits + b'}, "schemaVersion"'
        )
        served.put("app", "1", media.OCI_INDEX, body)
        assert "runs on     amd64\n" in inspect("x.example/app:1").decode()
        assert inspect.told("x.example/app:1")["images"][0]["entries"][0]["size"] == 10**18


class TestJson:
    def test_everything_of_an_index(self, inspect, served):
        digest = served.index("app", "1", ["linux/arm/v7"])
        body = body_of(served, "app", "1")
        image, about = (
            {key: one[key] for key in ("mediaType", "digest", "size")}
            for one in json.loads(body)["manifests"]
        )
        assert image["mediaType"] == about["mediaType"] == media.OCI_MANIFEST
        assert inspect.told("x.example/app:1") == {
            **document_head("inspect"),
            "images": [
                {
                    "image": "x.example/app:1",
                    "reference": "x.example/app:1",
                    "outcome": "Found",
                    "digest": digest,
                    "kind": "index",
                    "source": f"{served.url}/app",
                    "mediaType": media.OCI_INDEX,
                    "size": len(body),
                    "platforms": ["linux/arm/v7"],
                    "architectures": ["arm"],
                    "entries": [
                        {**image, "kind": "image", "platform": "linux/arm/v7", "counts": True},
                        {
                            **about,
                            "kind": "attestation",
                            "platform": "unknown/unknown",
                            "of": image["digest"],
                            "counts": False,
                        },
                    ],
                }
            ],
            "requests": {"manifest": 1},
        }

    def test_images_that_cannot_be_had_stand_between_those_that_can(self, inspect, served):
        served.index("app", "1", PLATFORMS)
        told = inspect.told("x.example/none:1", "x.example/app:1", "UPPER/x y", code=1)
        assert [image["outcome"] for image in told["images"]] == ["Absent", "Found", "Malformed"]
        assert told["images"][0]["error"].startswith("x.example/none:1: there is no such image: ")

    def test_the_same_image_twice_is_asked_and_shown_once(self, inspect, served):
        served.index("app", "1", PLATFORMS)
        assert len(inspect.told("x.example/app:1", "x.example/app:1")["images"]) == 1
        assert served.kinds() == ["manifest"]

    def test_two_spellings_of_an_image_are_asked_once_and_shown_twice(self, inspect, served):
        served.index("library/app", "latest", PLATFORMS)
        told = inspect.told("app", "docker.io/library/app:latest")
        assert [image["image"] for image in told["images"]] == ["app", "docker.io/library/app:latest"]
        assert served.kinds() == ["manifest"]


class TestWhatDoesNotCount:
    @pytest.mark.parametrize(
        ("platforms", "runs_on", "note"),
        [
            pytest.param(["linux/amd64/v3", "linux/arm64"], ["arm64"], "linux/amd64/v3 does not count", id="variant"),
            pytest.param(["linux/amd64/v3"], [], "no entry of its index counts", id="variant alone"),
            pytest.param(["linux/386"], ["386", "amd64"], "by linux/386 alone", id="386"),
            pytest.param(["linux/amd64", "wasi/wasm"], ["amd64"], "runtimeClassName", id="wasm beside native"),
        ],
    )  # fmt: skip
    def test_a_note_says_why(self, inspect, served, platforms, runs_on, note):
        served.index("app", "1", platforms)
        (image,) = inspect.told("x.example/app:1")["images"]
        assert image["architectures"] == runs_on
        (said,) = image["notes"]
        assert note in said
        assert f"  note        {said}\n" in inspect("x.example/app:1").decode()

    @pytest.mark.parametrize("platforms", [PLATFORMS, ["wasi/wasm"], ["linux/amd64", "linux/386"]])
    def test_nothing_is_noted_where_all_counts(self, inspect, served, platforms):
        served.index("app", "1", platforms)
        (image,) = inspect.told("x.example/app:1")["images"]
        assert "notes" not in image

    @pytest.mark.parametrize("image", ["nginx@sha256:abc", "ghcr.io/Foo/bar:1"])
    def test_a_malformed_reference_is_an_error(self, inspect, image):
        inspect(image, code=1)
        assert inspect.problems.startswith(f"error: {image}: {image!r} has ")


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param((), id="no image"),
        pytest.param(("a", "--cache-ttl", "1h"), id="an option that means nothing here"),
    ],
)
def test_wrong_usage(inspect, argv):
    with pytest.raises(UsageError):
        inspect(*argv)


class TestRequests:
    @pytest.mark.parametrize(
        ("kind", "asked"),
        [("index", ["manifest"]), ("single", ["manifest", "blob"])],
        ids=["index", "single"],
    )
    def test_one_for_an_index_two_for_a_single_manifest_and_no_ping(self, inspect, served, kind, asked):
        served.index("app", "1", PLATFORMS) if kind == "index" else served.single("app", "1", "linux/amd64")
        inspect("x.example/app:1")
        assert served.kinds() == asked

    def test_the_registry_is_asked_although_the_cache_knows(self, inspect, served):
        served.index("app", "1", ["linux/amd64"])
        inspect("x.example/app:1")
        served.index("app", "1", ["linux/arm64"])
        assert inspect.told("x.example/app:1")["images"][0]["platforms"] == ["linux/arm64"]


class TestOffline:
    def test_the_cache_answers_however_old_it_is(self, inspect, served):
        digest = served.index("app", "1", PLATFORMS)
        inspect("x.example/app:1")
        served.forget()
        shown = inspect("x.example/app:1", "--offline").decode()
        # On a busy machine the two runs are some seconds apart.
        assert re.sub(r", confirmed \d+ s ago$", "", shown, flags=re.MULTILINE) == (
            "x.example/app:1\n"
            f"  digest      {digest}\n"
            "  source      the cache\n"
            "  platforms   linux/amd64, linux/arm/v7, linux/arm64\n"
            "  runs on     amd64, arm, arm64\n"
        )
        assert served.asked == []

    def test_what_it_does_not_know_is_an_error(self, inspect, served):
        assert inspect("x.example/app:1", "--offline", code=1) == b""
        assert "--offline forbids asking" in inspect.problems
        assert served.asked == []


def test_what_inspect_learns_a_run_needs_not_ask(inspect, served):
    served.index("app", "1", ["linux/amd64"])
    inspect("x.example/app:1")
    served.forget()
    pod = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: 'x.example/app:1'}]}\n"
    assert b"kubernetes.io/arch" in archfit(pod, **inspect.environ).ok()
    assert served.asked == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(Answer(401), "gives no anonymous access", id="no access"),
        pytest.param(Answer(500, headers={"Retry-After": "3600"}), "answered 500", id="a failing server"),
        pytest.param(Answer(200, b"<html>"), "it is a web page", id="a login page"),
    ],
)
def test_an_answer_that_is_none_is_said_and_the_others_are_shown(inspect, served, answer, words):
    served.index("app", "1", PLATFORMS)
    both_asked = threading.Event()

    def answered(asked):
        if "/none/" in asked.path:
            return answer.held(both_asked)  # `Retry-After` is for what is asked later
        both_asked.set()
        return None

    served.on(answered)
    shown = inspect("x.example/none:1", "x.example/app:1", code=1)
    assert shown.startswith(b"x.example/app:1\n")
    assert "error: x.example/none:1: " in inspect.problems
    assert words in inspect.problems


class TestNewerTags:
    """`--newer-tags`: a hint beside what the registry has, which changes no answer and no exit code."""

    BOTH = ("linux/amd64", "linux/arm64")

    def put(self, served: FakeRegistry) -> str:
        served.index("app", "1.0.0", self.BOTH[:1])
        digest = served.index("app", "1.0.1", self.BOTH)
        served.tags("app", "1.0.0", "1.0.1", "latest")
        return digest

    def test_the_nearest_tag_in_the_table(self, inspect, served):
        self.put(served)
        plain = inspect("x.example/app:1.0.0").decode()
        shown = inspect("x.example/app:1.0.0", "--newer-tags").decode()
        line = "  arm64       use 1.0.1 (patch): linux/amd64, linux/arm64\n"
        assert shown == plain.replace("  runs on     amd64\n", f"  runs on     amd64\n{line}")
        assert inspect.problems == "archfit: 3 registry requests (1 list, 2 manifest)\n"

    def test_the_nearest_tag_in_json(self, inspect, served):
        digest = self.put(served)
        told = inspect.told("x.example/app:1.0.0", "--newer-tags")["images"][0]
        assert told["lacks"] == ["arm64"]
        assert told["newerRead"] == "complete"
        assert told["newer"] == [
            {"tag": "1.0.1", "digest": digest, "step": "patch", "platforms": list(self.BOTH), "exact": True}
        ]

    def test_an_image_that_has_both_costs_no_list(self, inspect, served):
        self.put(served)
        assert inspect("x.example/app:1.0.1", "--newer-tags") == inspect("x.example/app:1.0.1")
        assert served.count("list") == 0

    def test_a_list_that_is_refused(self, inspect, served):
        served.index("app", "1.0.0", self.BOTH[:1])
        shown = inspect("x.example/app:1.0.0", "--newer-tags").decode()
        assert "  arm64       no newer tag is known: " in shown
        assert "has no repository app" in shown

    def test_an_image_that_is_absent_stays_an_error(self, inspect, served):
        self.put(served)
        inspect("x.example/app:9", "--newer-tags", code=1)
        assert served.count("list") == 0
