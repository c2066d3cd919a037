"""`archfit check --require ARCH --programs`: what containers start, in each format."""

import json
import xml.etree.ElementTree as ET

import pytest

import file_runs
from fake_registry import FakeRegistry
from program_images import elf, image, index, layer

X86, ARM = (
    layer({"app": elf("amd64"), "x86": elf("amd64")}),
    layer({"app": elf("arm64"), "x86": elf("amd64")}),
)
WRONG = "its entry for linux/arm64 starts /x86, an x86-64 program"


@pytest.fixture
def check(tmp_path):
    with FakeRegistry() as served:
        index(served, "app", "1", {"linux/amd64": [X86], "linux/arm64": [ARM]}, Entrypoint=["/app"])
        image(served, "old", "1", "linux/amd64", [X86], Entrypoint=["/app"])

        def ran(stream, *words, require="arm64"):
            given = (
                "check",
                "--require",
                require,
                "--programs",
                "--no-cache",
                "--mirror",
                f"*={served.url}",
                *words,
            )
            return file_runs.run(given, stream.encode())

        ran.served = served
        yield ran


def pod(*containers):
    rows = "".join(f"  - {json.dumps({'image': 'x.example/app:1', **each})}\n" for each in containers)
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec:\n  containers:\n{rows}"


def test_a_container_that_starts_a_program_of_another_machine_does_not_run_there(check):
    ended = check(pod({"name": "a"}, {"name": "b", "command": ["/x86"]}))
    assert ended.status == 3
    said = ended.stdout.decode()
    assert f"x.example/app:1 does not run on linux/arm64; {WRONG}: repair its build\n" in said
    assert "v1/Pod/web spec.containers[1].image (document 1, line 7)\n" in said
    assert "containers[0]" not in said


def test_one_build_under_two_names_is_read_for_the_containers_of_both(check):
    served = check.served
    pinned = index(served, "two", "1", {"linux/arm64": [ARM]}, Entrypoint=["/app"])
    names = ("x.example/two:1", f"x.example/two@{pinned}")
    ended = check(pod({"image": names[0], "command": ["/x86"]}, {"image": names[1]}))
    assert ended.status == 3
    assert f"{names[0]} does not run on linux/arm64; {WRONG}: repair its build\n" in ended.stdout.decode()


def test_what_lacks_the_platform_is_not_read(check):
    ended = check(pod({"image": "x.example/old:1"}))
    assert ended.status == 3
    assert b"old:1 does not run on linux/arm64; it offers linux/amd64\n" in ended.stdout
    assert not any(asked.kind == "blob" and "old" in asked.path for asked in check.served.asked[2:])


@pytest.mark.parametrize(
    ("container", "why"),
    [
        pytest.param(
            {"command": ["/lost"]}, "linux/arm64: its layers have no program /lost", id="no-such-program"
        ),
        pytest.param(
            {"volumeMounts": [{"mountPath": "/"}]}, "linux/arm64: a volume is mounted over /app", id="mounted"
        ),
    ],
)
def test_what_is_not_read_is_listed_and_fails_nothing(check, container, why):
    ended = check(pod(container))
    assert ended.status == 0
    assert (
        f"v1/Pod/web spec.containers[0].image: x.example/app:1: the program that it starts was not read, for {why}"
        in ended.stdout.decode()
    )
    assert b"1 image runs on linux/arm64; 0 do not; 0 not known; 1 program not read\n" in ended.stdout


def test_of_custom_resources_the_operator_chooses(check):
    kind = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p}\nspec: {image: x.example/app:1}"
    ended = check(kind)
    assert b"its operator chooses what the container starts" in ended.stdout


def test_each_format_has_both(check):
    stream = pod({"command": ["/x86"]}, {"command": ["/lost"]})
    document = json.loads(check(stream, "--format", "json").stdout)
    wrong, unread = document["findings"]
    assert (wrong["rule"], wrong["programs"], wrong["missing"]) == (
        "required-platform",
        WRONG,
        ["linux/arm64"],
    )
    assert (unread["rule"], unread["severity"]) == ("not-read", "info")
    (run,) = json.loads(check(stream, "--format", "sarif").stdout)["runs"]
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [
        ("required-platform", "error"),
        ("not-read", "none"),
    ]
    suite = ET.fromstring(check(stream, "--format", "junit").stdout.decode().partition("\n")[2])
    assert suite.get("failures") == "1"
    assert len(list(suite.iter("skipped"))) == 1
    markdown = check(stream, "--format", "markdown").stdout.decode()
    assert WRONG in markdown
    assert "1 program not read" in markdown
    for form in ("github", "gitlab"):
        assert WRONG in check(stream, "--format", form).stdout.decode()


def test_programs_need_to_know_for_which_architecture():
    ended = file_runs.run(("check", "--programs"), pod({}).encode())
    assert ended.status == 2
    assert "--programs belongs to --require, as in --require arm64 --programs" in ended.stderr
