"""`archfit check`: what it asks, what it finds, and how it ends. The real program and a registry on loopback."""

import json

import pytest
from registry import Registry

IMAGES = {
    "x.example/amd:1": ["linux/amd64"],
    "x.example/both:1": ["linux/amd64", "linux/arm64"],
    "x.example/win:1": ["windows/amd64"],
    "x.example/v7:1": ["linux/amd64", "linux/arm/v7"],
}


def workload(name, *images, head="", spec="", kind="Deployment"):
    containers = "".join(
        f"      - name: c{number}\n        image: {image}\n" for number, image in enumerate(images)
    )
    text = (
        f"apiVersion: apps/v1\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: shop\n{head}"
        f"spec:\n  template:\n    spec:\n{spec}      containers:\n{containers}"
    )
    return text.encode()


def joined(*documents):
    return b"---\n".join(documents)


WEB = workload("web", "x.example/amd:1")
API = workload("api", "x.example/both:1")
CONFIG_MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
SKIPPED = workload("old", "x.example/amd:1", head='  annotations: {archfit.dev/skip: "true"}\n')
OWNED = workload(
    "owned", "x.example/amd:1", head="  ownerReferences: [{kind: Rollout, name: a, controller: true}]\n"
)
NODE_NAME = workload("fixed", "x.example/amd:1", spec="      nodeName: a\n")
PINNED = workload("pinned", "x.example/amd:1", spec="      nodeSelector: {kubernetes.io/arch: amd64}\n")
WINDOWS = workload("win", "x.example/win:1", spec="      nodeSelector: {kubernetes.io/os: windows}\n")
GONE = workload("gone", "x.example/gone:1")


@pytest.fixture(scope="module")
def mirrors():
    with Registry(IMAGES) as served:
        yield served.mirrors()


@pytest.fixture
def check(archfit, mirrors):
    return lambda text, *words, **more: archfit(text, "check", "--no-cache", *mirrors, *words, **more)


@pytest.mark.parametrize(
    "text", [WEB, API, joined(WEB, API, SKIPPED, PINNED)], ids=["affinity", "toleration", "all"]
)
def test_a_stream_that_was_not_transformed_is_3_and_the_transformed_one_is_0(archfit, check, mirrors, text):
    """The renderer that silently did not run: `helm get manifest R | archfit check`."""
    before = check(text)
    placed = archfit(text, "--no-cache", *mirrors).ok()
    after = check(placed)
    assert (before.status, after.status) == (3, 0)
    assert placed != text


def test_the_report_is_text_on_stdout_and_says_what_would_change(check):
    ran = check(joined(WEB, CONFIG_MAP, SKIPPED))
    assert ran.stdout.decode() == (
        "apps/v1/Deployment/shop/web spec.template.spec: archfit would change it: "
        "restricted to amd64 (arm64 is not offered by x.example/amd:1) (document 1, line 8)\n"
        "1 of 2 pod specs is not as archfit would leave it\n"
    )
    assert ran.stderr == ""


def test_nothing_to_find_says_how_much_was_looked_at(check):
    ran = check(joined(CONFIG_MAP, SKIPPED, PINNED))
    assert (ran.status, ran.stdout) == (0, b"as archfit would leave it: 2 pod specs, 1 image\n")


def test_options_of_placement_change_the_question(check):
    assert check(API).status == 3
    assert check(API, "--tolerate", "none").status == 0
    assert check(API, ARCHFIT_TOLERATE="none").status == 0
    assert check(API, "--tolerate", "none", "--affinity", "always").status == 3


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        pytest.param(GONE, [], "there is no such image", id="absent"),
        pytest.param(
            workload("w", "x.example/amd:1", spec="      nodeSelector: {kubernetes.io/arch: arm64}\n"),
            [],
            "pinned to arm64",
            id="conflict",
        ),
        pytest.param(b"Error: chart not found\n", [], "not a Kubernetes object", id="no-manifest"),
        pytest.param(b"", [], "holds no manifests", id="blank"),
        pytest.param(b"# nothing\n", [], "holds no manifests", id="comments"),
        pytest.param(b"", ["--require", "arm64"], "holds no manifests", id="blank-require"),
        pytest.param(GONE, ["--require", "arm64"], "there is no such image", id="absent-require"),
        pytest.param(b"\xff\xfe", [], "not UTF-8", id="not-utf8"),
    ],
)
def test_a_question_that_cannot_be_answered_is_1(check, text, words, said):
    ran = check(text, *words)
    assert (ran.status, ran.stdout) == (1, b"")
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_reports_for_machines_hold_what_failed(check, form):
    ran = check(GONE, "--format", form)
    assert ran.status == 1
    assert "there is no such image" in ran.stdout.decode()
    assert "there is no such image" in ran.stderr


def test_findings_beside_a_problem_are_still_listed(check):
    ran = check(joined(WEB, GONE))
    assert ran.status == 1
    assert "Deployment/shop/web" in ran.stdout.decode()


def test_on_absent_leave_is_no_failure(check):
    assert check(GONE, "--on-absent", "leave").status == 0


def test_blank_input_is_allowed_by_the_flag_and_by_nothing_else(check):
    """`helm get manifest` that printed nothing is not as anyone would leave it."""
    assert check(b"", "--on-blank=pass").status == 0
    assert check(b"", ARCHFIT_ON_BLANK="pass").status == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            ["--format", "xml"], "is not one of text, json, github, gitlab, sarif, markdown", id="format"
        ),
        pytest.param(["--format", "sarif="], "write sarif=FILE", id="format-without-file"),
        pytest.param(
            ["--format=json", "--format=text"], "standard output takes one report", id="two-to-stdout"
        ),
        pytest.param(
            ["--format=json=a", "--format=sarif=a"], "the file 'a' takes one report", id="two-to-a-file"
        ),
        pytest.param(["--source-root", "nowhere"], "'nowhere' is no folder", id="no-source-root"),
        pytest.param(["--require", ""], "--require", id="require-empty"),
        pytest.param(["--require", "arm46"], "write 'arm64'", id="require-unknown"),
        pytest.param(["--require", "a/b/c/d"], "--require", id="require-no-platform"),
        pytest.param(["--requir", "arm64"], "--require", id="typo"),
        pytest.param(["/nowhere/a.yaml"], "cannot read '/nowhere/a.yaml'", id="no-file"),
        pytest.param(["-", "-"], "only once", id="stdin-twice"),
    ],
)
def test_wrong_usage_is_2(check, words, said):
    ran = check(WEB, *words)
    assert (ran.status, ran.stdout) == (2, b"")
    assert said in ran.stderr


def test_help_names_its_own_flags_and_the_options(archfit):
    text = archfit(b"", "check", "--help").ok().decode()
    for flag in (
        "--require PLATFORM,..",
        "--format FORM[=FILE]",
        "--source-root [CHART=]FOLDER",
        "--mirror",
        "--cluster-architectures",
    ):
        assert flag in text


def test_require_lists_every_image_with_its_workloads(check):
    ran = check(
        joined(WEB, API, workload("two", "x.example/both:1", "x.example/v7:1", "x.example/amd:1")),
        "--require=arm64",
    )
    assert ran.status == 3
    assert ran.stdout.decode() == (
        "x.example/amd:1 does not run on linux/arm64; it offers linux/amd64\n"
        "    apps/v1/Deployment/shop/web spec.template.spec.containers[0].image (document 1, line 11)\n"
        "    apps/v1/Deployment/shop/two spec.template.spec.containers[2].image (document 3, line 39)\n"
        "x.example/v7:1 does not run on linux/arm64; it offers linux/amd64, linux/arm/v7\n"
        "    apps/v1/Deployment/shop/two spec.template.spec.containers[1].image (document 3, line 37)\n"
        "2 of 3 images do not run on linux/arm64\n"
    )


def test_an_image_that_lacks_one_of_several_platforms_is_not_said_to_lack_all(check):
    ran = check(WEB, "--require=amd64,arm64")
    assert ran.status == 3
    assert ran.stdout.decode().splitlines()[-1].endswith("does not run on all of linux/amd64, linux/arm64")


@pytest.mark.parametrize(
    ("text", "platforms", "status"),
    [
        pytest.param(API, "arm64", 0, id="runs"),
        pytest.param(API, "amd64,arm64", 0, id="runs-on-both"),
        pytest.param(WEB, "amd64", 0, id="amd64-alone"),
        pytest.param(WEB, "amd64,arm64", 3, id="one-of-two"),
        pytest.param(API, "s390x", 3, id="neither"),
        pytest.param(API, "linux/arm64", 0, id="with-os"),
        pytest.param(workload("v", "x.example/v7:1"), "arm", 0, id="variants-fold-to-the-node-label"),
        pytest.param(workload("t", "ko://x/y"), "arm64", 0, id="nobody-can-say"),
        pytest.param(SKIPPED, "arm64", 3, id="skipped-is-listed"),
        pytest.param(OWNED, "arm64", 3, id="owned-by-a-controller-is-listed"),
        pytest.param(NODE_NAME, "arm64", 3, id="on-a-named-node-is-listed"),
        pytest.param(PINNED, "arm64", 3, id="pinned-elsewhere-is-listed"),
        pytest.param(WINDOWS, "arm64", 0, id="windows-pods-are-not-asked-about-linux"),
        pytest.param(WINDOWS, "windows/amd64", 0, id="windows-runs"),
        pytest.param(WINDOWS, "windows/arm64", 3, id="windows-does-not-run"),
        pytest.param(API, "windows/amd64", 0, id="linux-pods-are-not-asked-about-windows"),
    ],
)
def test_require_asks_whether_images_run_there(check, text, platforms, status):
    assert check(text, "--require", platforms).status == status


def test_require_does_not_depend_on_placement(archfit, check, mirrors):
    """A placed pod of an amd64 image is as archfit would leave it, and still does not run on arm64."""
    placed = archfit(WEB, "--no-cache", *mirrors).ok()
    assert (check(placed).status, check(placed, "--require", "arm64").status) == (0, 3)


def test_a_conflict_is_no_failure_of_require(check):
    text = workload("w", "x.example/amd:1", spec="      nodeSelector: {kubernetes.io/arch: arm64}\n")
    assert (check(text).status, check(text, "--require", "arm64").status) == (1, 3)


def test_require_may_be_repeated(check):
    ran = check(API, "--require", "amd64", "--require", "s390x")
    assert "does not run on linux/s390x;" in ran.stdout.decode()


def test_pods_that_are_left_out_are_listed_apart(check):
    ran = check(joined(API, SKIPPED, WINDOWS, PINNED), "--require=arm64")
    assert ran.stdout.decode() == (
        "x.example/amd:1 does not run on linux/arm64; it offers linux/amd64\n"
        "    apps/v1/Deployment/shop/old spec.template.spec.containers[0].image, which archfit leaves alone: "
        'archfit.dev/skip is "true" (document 2, line 24)\n'
        "    apps/v1/Deployment/shop/pinned spec.template.spec.containers[0].image, which the pod's own placement "
        "excludes (document 4, line 50)\n"
        "not looked at:\n"
        "    apps/v1/Deployment/shop/win spec.template.spec: it is for windows nodes (document 3, line 33)\n"
        "1 of 2 images does not run on linux/arm64; 1 pod spec not looked at\n"
    )


def test_what_several_pods_say_is_said_once(archfit, check, mirrors):
    """As a transform does; a wrong annotation of an object is read for each of its pods."""
    pod = "    template: {spec: {containers: [{name: a, image: 'x.example/both:1'}]}}\n"
    text = (
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata:\n  name: a\n  annotations: {archfit.dev/onlyy: amd64}\n"
        f"spec:\n  headGroupSpec:\n{pod}  workerGroupSpecs:\n  - groupName: b\n{pod}"
    ).encode()
    for words in ((), ("--require", "amd64")):
        told = json.loads(check(text, *words, "--format=json").stdout)
        assert [one["rule"] for one in told["findings"]] == ["problem"]
        assert check(text, *words).stderr.count("there is no annotation") == 1
    assert archfit(text, "--no-cache", *mirrors).stderr.count("there is no annotation") == 1


def test_what_a_controller_decides_is_said_as_by_a_transform(archfit, check, mirrors):
    said = "info: apps/v1/Deployment/shop/owned: left as it is, because Rollout/a controls it and decides"
    assert said in archfit(OWNED, "--no-cache", *mirrors).stderr
    assert said in check(OWNED).stderr


def test_annotations_count_for_pods_that_are_left_alone(check):
    head = '  annotations: {archfit.dev/skip: "true", archfit.dev/image-platforms: linux/arm64}\n'
    text = workload("old", "x.example/gone:1", head=head)
    assert check(text, "--require", "arm64").status == 0
    assert check(text, "--require", "amd64").status == 3


def test_overrides_count_for_require(check):
    text = workload("w", "x.example/amd:1")
    assert check(text, "--require", "arm64", "--image-platforms", "x.example/amd=linux/arm64").status == 0


def test_files_are_named_with_the_line(check, tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "a.yaml").write_bytes(API)
    (tmp_path / "b" / "web.yaml").write_bytes(
        joined(CONFIG_MAP, b"# Source: shop/templates/web.yaml\n" + WEB)
    )
    ran = check(b"", "a.yaml", str(tmp_path / "b" / "web.yaml"), "--tolerate", "none", cwd=tmp_path)
    assert ran.stdout.decode().splitlines()[0].endswith("(b/web.yaml:14)")
    assert ran.stdout.decode().splitlines()[1] == "1 of 2 pod specs is not as archfit would leave it"


def test_a_dash_is_standard_input_beside_files(check, tmp_path):
    (tmp_path / "a.yaml").write_bytes(API)
    ran = check(WEB, "a.yaml", "-", cwd=tmp_path)
    assert "(a.yaml:8)" in ran.stdout.decode()
    assert "(document 1, line 8)" in ran.stdout.decode()


def test_a_problem_names_its_file(check, tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"Error: nothing\n")
    ran = check(b"", "a.yaml", cwd=tmp_path)
    assert "a.yaml" in ran.stderr


def test_images_of_all_files_are_asked_for_once(archfit, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_bytes(workload(name, "x.example/both:1"))
    with Registry(IMAGES) as served:
        archfit(b"", "check", "--no-cache", *served.mirrors(), "a.yaml", "b.yaml", cwd=tmp_path)
        assert served.counts()["GET", "manifest"] == 1


LISTED = b"""\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec:
    containers:
    - name: a
      image: &i x.example/amd:1
    - name: b
      image: *i
- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [
  {name: a,
   image: x.example/amd:1}]}}
"""


def test_lines_are_those_of_list_items_aliases_and_flow(check):
    told = json.loads(check(LISTED, "--require=arm64", "--format=json").stdout)
    assert [one["line"] for one in told["findings"]] == [10, 12, 15]


def test_the_report_file_holds_the_decisions(check, tmp_path):
    check(WEB, "--report", str(tmp_path / "r.json"))
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["exit"], [one["outcome"] for one in report["decisions"]]) == (3, ["Change"])
