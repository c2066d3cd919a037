"""`--in-place` stamps unless a layer says no; what judges files reads the stamps that are there and asks for none."""

import pytest

from file_runs import AMD, BOTH, Site, placed, pod

STAMP = b"archfit.dev/added"
GAINED = AMD.replace(b"x.io/amd:1", b"x.io/both:1")
CONFIG = b"apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec: {stamp: false}\n"


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def gained(stamped: bytes) -> bytes:
    """The file after its image got a build for arm64."""
    return stamped.replace(b"x.io/amd:1", b"x.io/both:1")


@pytest.mark.parametrize(
    ("words", "environ", "stamped"),
    [
        pytest.param([], {}, True, id="default"),
        pytest.param(["--no-stamp"], {}, False, id="flag"),
        pytest.param([], {"ARCHFIT_STAMP": "false"}, False, id="environment"),
        pytest.param(["--config=archfit.yaml"], {}, False, id="file"),
        pytest.param(["--config=archfit.yaml", "--stamp"], {}, True, id="flag-over-file"),
    ],
)
def test_in_place_stamps_unless_a_layer_says_no(site, words, environ, stamped):
    site.write({"a.yaml": AMD, "archfit.yaml": CONFIG})
    ran = site.run("--in-place", *words, "a.yaml", **environ)
    assert ran.status == 0, ran.stderr
    assert site.files()["a.yaml"] == placed(AMD, *(["--stamp"] if stamped else []))
    assert (STAMP in site.files()["a.yaml"]) is stamped


@pytest.mark.parametrize("words", [[], ["--diff"], ["-o", "out.yaml"]], ids=["stdout", "diff", "output"])
def test_no_other_form_of_the_output_asks_for_a_stamp(site, words):
    site.write({"a.yaml": AMD})
    ran = site.run(*words, "a.yaml")
    assert ran.status == 0, ran.stderr
    assert STAMP not in ran.stdout
    assert STAMP not in b"".join(site.files().values())


def test_check_and_diff_judge_a_file_as_the_next_run_would(site):
    site.write({"a.yaml": AMD})
    assert site.run("--in-place", "a.yaml").status == 0
    assert site.run("check", "a.yaml").status == 0
    assert site.run("--diff", "a.yaml").stdout == b""
    site.write({"a.yaml": gained(site.files()["a.yaml"])})
    assert site.run("check", "a.yaml").status == 3
    diff = site.run("--diff", "a.yaml").stdout
    assert b"-      affinity:" in diff
    explained = site.run("explain", "a.yaml").stdout
    assert b"earlier run" not in explained
    assert site.run("--in-place", "a.yaml").status == 0
    assert site.files()["a.yaml"] == placed(GAINED, "--stamp")
    assert site.run("check", "a.yaml").status == 0


@pytest.mark.parametrize("said", [["--no-stamp"], ["--config=archfit.yaml"]], ids=["flag", "file"])
def test_check_without_stamps_judges_the_file_as_it_stands(site, said):
    site.write({"a.yaml": gained(placed(AMD, "--stamp")), "archfit.yaml": CONFIG})
    before = site.files()
    assert site.run("check", *said, "a.yaml").status == 0
    assert site.run("--diff", *said, "a.yaml").stdout == b""
    assert site.run("--in-place", *said, "a.yaml").status == 0
    assert site.files() == before


def test_check_asks_for_no_stamp(site):
    site.write({"a.yaml": placed(AMD), "b.yaml": placed(AMD, "--stamp") + b"---\n" + placed(BOTH)})
    assert site.run("check", "a.yaml", "b.yaml").status == 0
    assert site.run("--diff", "a.yaml", "b.yaml").stdout == b""


def test_noop_a_second_run_in_place_changes_nothing(site):
    site.write({"a.yaml": AMD + b"---\n" + BOTH, "b.yaml": pod("b", "x.io/amd:1"), "c.yaml": placed(AMD)})
    assert site.run("--in-place", ".").status == 0
    first = site.files()
    assert site.run("--in-place", ".").status == 0
    assert site.files() == first
    # What stands there already was written by nobody that archfit knows of.
    assert STAMP not in first["c.yaml"]


@pytest.mark.parametrize(
    ("api", "spec"),
    [
        pytest.param("opentelemetry.io/v1beta1/OpenTelemetryCollector", "spec: {image: 'x.io/amd:1'}", id="opentelemetry"),
        pytest.param("kubeflow.org/v1/Notebook", "spec: {template: {spec: {containers: [{name: a, image: 'x.io/amd:1'}]}}}", id="notebook"),
        pytest.param(
            "serving.kserve.io/v1beta1/InferenceService",
            "spec: {transformer: {containers: [{name: a, image: 'x.io/amd:1'}]}}",
            id="kserve",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("words", [[], ["--stamp"]], ids=["default", "asked"])
def test_a_kind_whose_operator_copies_annotations_to_pods_is_not_stamped(site, api, spec, words):
    version, _, kind = api.rpartition("/")
    site.write({"a.yaml": f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n{spec}\n".encode()})
    assert site.run("--in-place", *words, "a.yaml").status == 0
    assert b"nodeAffinity" in site.files()["a.yaml"]
    assert STAMP not in site.files()["a.yaml"]
    assert site.run("check", "a.yaml").status == 0
