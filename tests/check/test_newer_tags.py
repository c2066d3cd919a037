"""`archfit check --require .. --newer-tags`: the hint in each format, and that it changes no verdict."""

import json

import jsonschema
import pytest

from archfit.check.findings import Finding
from archfit.check.newer_tags import with_newer
from archfit.check.sarif import fixes
from archfit.cli.schema import schema
from archfit.images.candidates import NewerTag, NewerTags
from case_files import document
from fake_registry import FakeRegistry

BOTH = ("linux/amd64", "linux/arm64")
IMAGE = "x.example/shop/web:1.0.0"
POD = f"""apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: a
      image: "{IMAGE}" # nginx
    - {{name: b, image: x.example/shop/tool:1}}
""".encode()
ASK = ("check", "web.yaml", "--require", "arm64")


@pytest.fixture(scope="module")
def served():
    with FakeRegistry() as fake:
        fake.index("shop/web", "1.0.0", BOTH[:1])
        fake.index("shop/web", "1.0.1", BOTH)
        fake.tags("shop/web", "1.0.0", "1.0.1")
        fake.index("shop/tool", "1", BOTH[:1])
        fake.index("shop/tool", "1-arm64", BOTH[1:])
        fake.tags("shop/tool", "1", "1-arm64")
        yield fake


@pytest.fixture
def check(archfit, served, tmp_path):
    (tmp_path / "web.yaml").write_bytes(POD)
    words = ("--no-cache", "--mirror", f"*={served.url}")

    def run(*more: str) -> str:
        ran = archfit(b"", *ASK, *words, *more, cwd=tmp_path)
        assert ran.status == 3
        return ran.stdout.decode()

    return run


def test_text_says_what_to_do_below_each_image(check):
    plain, told = check(), check("--newer-tags")
    joined = "join 1-arm64 (single-architecture sibling) into an index: docker buildx imagetools create"
    assert told == plain.replace(
        f"{IMAGE} does not run on linux/arm64; it offers linux/amd64\n",
        f"{IMAGE} does not run on linux/arm64; it offers linux/amd64\n    to do: use 1.0.1 (patch)\n",
    ).replace(
        "tool:1 does not run on linux/arm64; it offers linux/amd64\n",
        f"tool:1 does not run on linux/arm64; it offers linux/amd64\n    to do: {joined}\n",
    )


def test_json_has_the_tag_and_keeps_to_its_schema(check):
    told = json.loads(check("--newer-tags", "--format", "json"))
    first, second = told["findings"]
    assert [tag["tag"] for tag in first["newer"]] == ["1.0.1"]
    assert first["newerRead"] == "complete"
    assert second["newer"][0]["step"] == "sibling"
    jsonschema.validate(told, json.loads(schema("check")))


def test_sarif_offers_the_line_with_the_tag(check):
    log = json.loads(check("--newer-tags", "--format", "sarif"))
    jsonschema.validate(log, document("schemas/sarif.json"))
    first, second = log["runs"][0]["results"]
    (fix,) = first["fixes"]
    assert fix["description"]["text"] == "use 1.0.1 (patch)"
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    region = replacement["deletedRegion"]
    line = POD.decode().splitlines()[region["startLine"] - 1]
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == IMAGE
    assert replacement["insertedContent"]["text"] == "x.example/shop/web:1.0.1"
    assert first["message"]["text"].endswith("; use 1.0.1 (patch)")
    assert "fixes" not in second


def test_fingerprints_do_not_depend_on_it(check):
    def prints(*words: str) -> list[object]:
        log = json.loads(check("--format", "sarif", *words))
        return [result["partialFingerprints"] for result in log["runs"][0]["results"]]

    assert prints() == prints("--newer-tags")


@pytest.mark.parametrize("form", ["markdown", "github", "gitlab"])
def test_other_formats_say_what_to_do(check, form):
    assert "use 1.0.1" in check("--newer-tags", "--format", form).replace("\\", "")
    assert "use 1.0.1" not in check("--format", form).replace("\\", "")


def test_kustomize_and_renovate_take_versions_alone(check):
    assert check("--newer-tags", "--format", "kustomize") == (
        "# Newer tags that were read to have linux/arm64, by archfit: 1 of 2 images has one.\n"
        "images:\n"
        '- name: "x.example/shop/web" # 1.0.0: patch\n'
        '  newTag: "1.0.1"\n'
    )
    (rule,) = json.loads(check("--newer-tags", "--format", "renovate"))["packageRules"]
    assert rule["allowedVersions"] == "/^1\\.0\\.1$/"


def test_an_image_of_the_same_name_that_runs_there_stays(archfit, served, tmp_path):
    text = POD.replace(b"x.example/shop/tool:1", b"x.example/shop/web:1.0.1-both")
    served.index("shop/web", "1.0.1-both", BOTH)
    words = ("--no-cache", "--mirror", f"*={served.url}", "--newer-tags", "--format", "kustomize")
    ran = archfit(text, "check", "--require", "arm64", *words)
    assert (
        "# x.example/shop/web is left out: it is also there as 1.0.1-both, which stays."
        in ran.stdout.decode()
    )


@pytest.mark.parametrize("form", ["kustomize", "renovate"])
def test_formats_of_newer_tags_need_them(archfit, form):
    ran = archfit(POD, "check", "--require", "arm64", "--format", form)
    assert (ran.status, ran.stdout) == (2, b"")
    assert f"--format {form}: writes newer tags, and nobody asks for them: add --newer-tags" in ran.stderr


def test_it_belongs_to_require(archfit):
    ran = archfit(POD, "check", "--newer-tags")
    assert ran.status == 2
    assert "--newer-tags belongs to --require" in ran.stderr


@pytest.mark.parametrize("step", ["sibling", "latest"])
def test_what_is_no_version_is_no_edit(step):
    newer = NewerTags((NewerTag("latest", "", step, BOTH),), "complete")
    finding = Finding("required-platform", "error", "", file="a.yaml", line=1, image=IMAGE)
    (told,) = with_newer([finding], {IMAGE: newer}, {"a.yaml": [f"image: {IMAGE}".encode()]})
    assert fixes(told) == {}


def replacement(finding: Finding) -> tuple[dict[str, int], str]:
    """The region that SARIF's fix replaces, and by what."""
    (fix,) = fixes(finding)["fixes"]
    ((change,),) = (part["replacements"] for part in fix["artifactChanges"])
    return change["deletedRegion"], change["insertedContent"]["text"]


NEWER = NewerTags((NewerTag("1.0.1", "", "patch", BOTH),), "complete")
# (id, the line of the file, the edit's columns; None where there is no edit)
LINES = [
    ("plain", f"      image: {IMAGE}", (14, 38)),
    ("quoted", f"      image: '{IMAGE}'", (15, 39)),
    ("flow", f"- {{name: é, image: {IMAGE}, x: 1}}", (20, 44)),
    ("crlf", f"image: {IMAGE}\r", (8, 32)),
    ("twice", f"image: {IMAGE} # was {IMAGE}", None),
    ("a longer one", f"image: {IMAGE}-alpine", None),
    ("behind a mirror", f"image: mirror/{IMAGE}", None),
    ("of several parts", "image: x.example/shop/web", None),
]


@pytest.mark.parametrize(("line", "columns"), [row[1:] for row in LINES], ids=[row[0] for row in LINES])
def test_where_an_image_can_be_replaced(line, columns):
    finding = Finding("required-platform", "error", "", file="a.yaml", line=2, image=IMAGE)
    (told,) = with_newer([finding], {IMAGE: NEWER}, {"a.yaml": [b"x: 1", line.encode()]})
    assert told.newer == NEWER
    if columns is None:
        assert fixes(told) == {}
        return
    region = {"startLine": 2, "startColumn": columns[0], "endColumn": columns[1]}
    assert replacement(told) == (region, "x.example/shop/web:1.0.1")
