"""`archfit check`: what it asks, what it finds, and how it ends. With a registry on loopback."""

import json
import re

import pytest
from registry import Registry


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
THING = b"apiVersion: x.example/v1\nkind: Thing\nmetadata: {name: a}\nspec: {containers: [{image: a}]}\n"
EVENT_BUS = THING.replace(b"x.example/v1", b"argoproj.io/v1alpha1").replace(b"Thing", b"EventBus")
SKIPPED = workload("old", "x.example/amd:1", head='  annotations: {archfit.dev/skip: "true"}\n')
OWNED = workload(
    "owned", "x.example/amd:1", head="  ownerReferences: [{kind: Rollout, name: a, controller: true}]\n"
)
NODE_NAME = workload("fixed", "x.example/amd:1", spec="      nodeName: a\n")
PINNED = workload("pinned", "x.example/amd:1", spec="      nodeSelector: {kubernetes.io/arch: amd64}\n")
WINDOWS = workload("win", "x.example/win:1", spec="      nodeSelector: {kubernetes.io/os: windows}\n")
GONE = workload("gone", "x.example/gone:1")


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
        "1 of 2 pod specs is not as archfit would leave it; 1 pod spec left alone (1 by archfit.dev/skip)\n"
    )
    assert ran.stderr == ""


def test_nothing_to_find_says_how_much_was_looked_at(check):
    ran = check(joined(CONFIG_MAP, SKIPPED, PINNED))
    said = b"as archfit would leave it: 2 pod specs, 1 image; 1 pod spec left alone (1 by archfit.dev/skip)\n"
    assert (ran.status, ran.stdout) == (0, said)


def test_options_of_placement_change_the_question(check):
    assert check(API).status == 3
    assert check(API, "--tolerate", "none").status == 0
    assert check(API, ARCHFIT_TOLERATE="none").status == 0
    assert check(API, "--tolerate", "none", "--affinity", "always").status == 3


@pytest.mark.parametrize(("hooks", "status"), [("immutable", 0), ("recreated", 3)])
def test_what_a_plain_stream_leaves_a_check_for_helm_4_or_argo_cd_would_have_changed(check, hooks, status):
    job = workload("a", "x.example/both:1", head="  annotations: {helm.sh/hook: pre-upgrade}\n", kind="Job")
    assert check(job.replace(b"apps/v1", b"batch/v1"), f"--hooks={hooks}").status == status


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        pytest.param(GONE, [], "there is no such image", id="absent"),
        pytest.param(workload("w", "x.example/amd:1", spec="      nodeSelector: {kubernetes.io/arch: arm64}\n"), [], "pinned to arm64", id="conflict"),
        pytest.param(b"Error: chart not found\n", [], "not a Kubernetes object", id="no-manifest"),
        pytest.param(b"\xff\xfe", [], "not UTF-8", id="not-utf8"),
    ],
)  # fmt: skip
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


def test_blank_input_is_wrong_unless_it_may_be(check):
    """`helm get manifest` that printed nothing is not as anyone would leave it."""
    assert check(b"").status == 2
    assert check(b"", "--on-blank=pass").status == 0
    assert check(b"", ARCHFIT_ON_BLANK="pass").status == 0


@pytest.mark.parametrize("words", [[], ["--require", "arm64"]], ids=["placement", "require"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(b"", "holds no manifests. Did the command before the pipe fail?", id="blank"),
        pytest.param(b"# nothing\n", "holds no manifests", id="comments"),
        pytest.param(b"---\n---\n", "holds no", id="separators"),
        pytest.param(b"image: {tag: a}\n", "no Kubernetes object", id="values"),
        pytest.param(b"null\n", "holds no Kubernetes object", id="null"),
        pytest.param(b"apiVersion: v1\nkind: List\nitems: []\n", "no Kubernetes object", id="empty-list"),
        pytest.param(b'{"apiVersion": "v1", "kind": "PodList", "items": null}', "no Kubernetes object", id="null-list"),
        pytest.param(CONFIG_MAP + b"items: []\n", "no Kubernetes object", id="any-kind-with-items-is-a-list"),
    ],
)  # fmt: skip
def test_input_without_any_object_is_wrong_usage(check, text, said, words):
    ran = check(text, *words)
    assert (ran.status, ran.stdout) == (2, b"")
    assert said in ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--format", "xml"], "is not one of text, json, github, gitlab, sarif, markdown", id="format"),
        pytest.param(["--format", "sarif="], "write sarif=FILE", id="format-without-file"),
        pytest.param(["--format=json", "--format=text"], "standard output takes one report", id="two-to-stdout"),
        pytest.param(["--format=json=a", "--format=sarif=a"], "the file 'a' takes one report", id="two-to-a-file"),
        pytest.param(["--source-root", "nowhere"], "'nowhere' is no folder", id="no-source-root"),
        pytest.param(["--require", ""], "--require", id="require-empty"),
        pytest.param(["--require", "arm46"], "write 'arm64'", id="require-unknown"),
        pytest.param(["--require", "a/b/c/d"], "--require", id="require-no-platform"),
        pytest.param(["--requir", "arm64"], "--require", id="typo"),
        pytest.param(["/nowhere/a.yaml"], "cannot read '/nowhere/a.yaml'", id="no-file"),
        pytest.param(["-", "-"], "only once", id="stdin-twice"),
    ],
)  # fmt: skip
def test_wrong_usage_is_2(check, words, said):
    ran = check(WEB, *words)
    assert (ran.status, ran.stdout) == (2, b"")
    assert said in ran.stderr


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
        "1 image runs on linux/arm64; 2 do not; 0 not known\n"
    )


def test_an_image_that_lacks_one_of_several_platforms_is_not_said_to_lack_all(check):
    ran = check(WEB, "--require=amd64,arm64")
    assert ran.status == 3
    last = ran.stdout.decode().splitlines()[-1]
    assert last == "0 images run on all of linux/amd64, linux/arm64; 1 does not; 0 not known"


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
        pytest.param(workload("t", "ko://x/y"), "arm64", 3, id="nobody-can-say"),
        pytest.param(GONE, "arm64", 3, id="absent-runs-nowhere"),
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
        "1 image runs on linux/arm64; 1 does not; 0 not known; 1 pod spec not looked at\n"
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


def test_images_of_all_files_are_asked_for_once(archfit, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_bytes(workload(name, "x.example/both:1"))
    with Registry({"x.example/both:1": ["linux/amd64", "linux/arm64"]}) as served:
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


def test_a_pod_whose_placement_nobody_can_read_fails_the_check(check):
    """Kubernetes refuses it: that its images run is not said."""
    ran = check(workload("web", "x.example/both:1", spec="      nodeSelector: [arm64]\n"), "--require=arm64")
    assert "spec.template.spec.nodeSelector: has to be a mapping" in ran.stdout.decode() + ran.stderr
    assert ran.status == 1
    skipped = workload(
        "web",
        "x.example/both:1",
        head="  annotations: {archfit.dev/skip: 'true'}\n",
        spec="      nodeSelector: [arm64]\n",
    )
    assert check(skipped, "--require=arm64").status == 0


SILENT = "y.example"
"""A registry that nobody runs: the tests' mirrors are for x.example alone."""


def last(ran):
    return ran.stdout.decode().splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(workload("t", "${IMAGE}:1"), "0 images run on linux/arm64; 0 do not; 1 not known (placeholder)", id="placeholder"),
        pytest.param(workload("t", "https://quay.io/x/y:1"), "0 images run on linux/arm64; 0 do not; 1 not known (malformed)", id="url"),
        pytest.param(workload("t", "docker://x.example/both:1"), "0 images run on linux/arm64; 0 do not; 1 not known (malformed)", id="transport"),
        pytest.param(workload("t", "x.example/both:1", "nginx@sha256:abc"), "1 image runs on linux/arm64; 0 do not; 1 not known (malformed)", id="short-digest"),
        pytest.param(
            workload("t", "''", "''", "$(a)", "$(a)", "x.example/amd:1"),
            "0 images run on linux/arm64; 1 does not; 3 not known (2 no image named, 1 placeholder)",
            id="each-empty-one-and-each-text-once",
        ),
        pytest.param(workload("t", "x.example/both:1\n        imagePullPolicy: Never"), "0 images run on linux/arm64; 0 do not; 1 not known (never pulled)", id="never-pulled"),
        pytest.param(
            b"apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {sidecar.istio.io/inject: 'true'}}\nspec: {containers: [{name: a, image: auto}]}\n",
            "0 images run on linux/arm64; 0 do not; 1 not known (injected)",
            id="injected",
        ),
        pytest.param(joined(GONE, API), "1 image runs on linux/arm64; 1 does not; 0 not known", id="absent-is-no-question"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_a_number_of_its_own_and_fails(check, text, line):
    ran = check(text, "--require=arm64")
    assert (last(ran), ran.status) == (line, 3)
    passed = check(text, "--require=arm64", "--allow-unknown")
    assert (last(passed), passed.status) == (line, 0 if "0 do not" in line else 3)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="defaults"),
        pytest.param(["--on-unknown=leave"], id="leave"),
        pytest.param(["--on-unknown=assume", "--assume=linux/arm64"], id="assumed-is-not-known"),
        pytest.param(["--on-absent=leave", "--strict"], id="strict"),
    ],
)
def test_a_registry_without_an_answer_is_not_known_whatever_a_transform_would_do(check, words):
    text = joined(workload("a", f"{SILENT}/a:1"), workload("b", f"{SILENT}/b:1", f"{SILENT}/a:1"), API)
    ran = check(text, "--require=arm64", "--offline", *words)
    assert ran.status == 3
    assert ran.stdout.decode() == (
        "not known: the cache has no answer, and --offline forbids asking: run once without --offline "
        "(3 images, 4 places)\n"
        f"    {SILENT}/a:1, apps/v1/Deployment/shop/a spec.template.spec.containers[0].image (document 1, line 11)\n"
        f"    {SILENT}/b:1, apps/v1/Deployment/shop/b spec.template.spec.containers[0].image (document 2, line 23)\n"
        f"    {SILENT}/a:1, apps/v1/Deployment/shop/b spec.template.spec.containers[1].image (document 2, line 25)\n"
        "    x.example/both:1, apps/v1/Deployment/shop/api spec.template.spec.containers[0].image "
        "(document 3, line 37)\n"
        "0 images run on linux/arm64; 0 do not; 3 not known (no answer)\n"
    )
    assert ran.stderr == ""


def test_a_registry_that_nobody_runs_is_no_problem_of_the_run(archfit):
    words = ("check", "--no-cache", "--mirror=x.example=http://127.0.0.1:9", "--require=arm64")
    ran = archfit(joined(API, WEB), *words)
    assert (ran.status, ran.stderr) == (3, "")
    assert ran.stdout.count(b"not known: ") == 1
    assert last(ran) == "0 images run on linux/arm64; 0 do not; 2 not known (no answer)"


def test_all_that_lacks_or_is_not_known_is_listed_also_in_pods_left_alone(check):
    text = workload("old", "$(x)", head='  annotations: {archfit.dev/skip: "true"}\n')
    ran = check(text, "--require=arm64")
    assert (ran.status, "$(x), apps/v1/Deployment/shop/old" in ran.stdout.decode()) == (3, True)


def test_without_an_image_nothing_is_said_to_run(check):
    for text in (CONFIG_MAP, WINDOWS):
        ran = check(text, "--require=arm64")
        assert ran.status == 0
        assert last(ran).startswith(
            "no image was looked at: 0 images run on linux/arm64; 0 do not; 0 not known"
        )


def test_objects_that_no_row_reads_are_counted(check):
    for words in ((), ("--require=arm64",)):
        assert last(check(joined(API, THING), *words)).endswith("; 1 object not looked at")


def test_what_an_object_runs_that_no_row_reads_is_not_known(check):
    """A row may also say that the controller of a kind runs an image which nobody can read: here that of EventBus."""
    text = joined(API, THING, THING.replace(b"name: a", b"name: b"), EVENT_BUS)
    ran = check(text, "--require=arm64")
    assert (ran.stdout.decode(), ran.status) == (
        "not known: archfit does not read x.example/Thing, which may hold pods (2 objects)\n"
        "    x.example/v1/Thing/a (document 2, line 13)\n"
        "    x.example/v1/Thing/b (document 3, line 18)\n"
        "not known: the controller of Argo Events chooses its images by version (1 object)\n"
        "    argoproj.io/v1alpha1/EventBus/a (document 4, line 23)\n"
        "1 image runs on linux/arm64; 0 do not; 0 not known; 3 objects not looked at\n",
        3,
    )
    allowed = check(text, "--require=arm64", "--allow-unknown")
    assert (allowed.stdout, allowed.status) == (ran.stdout, 0)
    assert check(joined(THING, EVENT_BUS)).status == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(THING, ["--exclude=Thing"], id="excluded"),
        pytest.param(THING.replace(b"{name: a}", b"{name: a, annotations: {archfit.dev/skip: 'true'}}"), [], id="skipped"),
        pytest.param(THING.replace(b"{name: a}", b"{name: a, ownerReferences: [{kind: Big, name: b, uid: c, controller: true}]}"), [], id="of a controller"),
        pytest.param(EVENT_BUS.replace(b"spec:", b"other:"), [], id="no pod in it"),
        pytest.param(CONFIG_MAP, [], id="a kind without pods"),
    ],
)  # fmt: skip
def test_an_object_that_holds_no_pod_or_is_left_out_fails_nothing(check, text, words):
    assert check(joined(API, text), "--require=arm64", *words).status == 0


def test_a_place_that_is_filled_in_later_is_not_said_to_exclude_the_platform(check):
    for later in ("${ARCH}", "arm64"):
        text = workload(
            "w", "x.example/amd:1", spec=f"      nodeSelector: {{kubernetes.io/arch: '{later}'}}\n"
        )
        ran = check(text, "--require=arm64,amd64" if later == "arm64" else "--require=arm64")
        assert "the pod's own placement excludes" not in ran.stdout.decode()


def test_an_image_that_is_stated_to_lack_a_platform_is_not_said_to_run(check):
    note = "  annotations: {archfit.dev/image-platforms: linux/amd64}\n"
    ran = check(workload("web", "x.example/gone:1", head=note), "--require=arm64")
    assert last(ran) == "0 images run on linux/arm64; 1 does not; 0 not known; 1 stated, not asked"


def test_what_is_stated_and_not_asked_is_said(check):
    note = "  annotations: {archfit.dev/image-platforms: 'linux/amd64,linux/arm64'}\n"
    text = joined(API, workload("web", "x.example/gone:1", head=note))
    assert last(check(text, "--require=arm64")) == (
        "2 images run on linux/arm64; 0 do not; 0 not known; 1 stated, not asked"
    )
    placed = last(check(text, "--tolerate=none"))
    assert placed == "as archfit would leave it: 2 pod specs, 2 images; 1 stated, not asked"
    told = json.loads(check(text, "--require=arm64", "--format=json").stdout)
    assert (told["stated"], told["running"]) == (1, 2)


def test_a_check_of_placement_says_what_is_not_known(check):
    ran = check(workload("t", "x.example/both:1", "$(x)"), "--tolerate=none")
    assert (ran.status, last(ran)) == (
        0,
        "as archfit would leave it: 1 pod spec, 1 image; 1 not known (placeholder)",
    )


def test_allow_unknown_belongs_to_require(check):
    ran = check(API, "--allow-unknown")
    assert (ran.status, ran.stdout) == (2, b"")
    assert "--require arm64 --allow-unknown" in ran.stderr


ENFORCED = b"apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\noperator:\n  enforced: [imagePlatforms, skip]\n"
STATED = workload("w", "x.example/amd:1", head="  annotations: {archfit.dev/image-platforms: linux/arm64}\n")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(STATED, "archfit.dev/image-platforms", id="image-platforms"),
        pytest.param(SKIPPED, "archfit.dev/skip", id="skip"),
    ],
)
@pytest.mark.parametrize("words", [["check"], ["check", "--require=arm64"], [], ["patch"]])
def test_an_enforced_annotation_is_an_error_with_its_place(archfit, mirrors, tmp_path, text, name, words):
    (tmp_path / "a.yaml").write_bytes(ENFORCED)
    ran = archfit(text, *words, "--no-cache", *mirrors, "--config", "a.yaml", cwd=tmp_path)
    assert ran.status == 1
    (error,) = [line for line in ran.stderr.splitlines() if line.startswith("archfit: error:")]
    assert (
        f'metadata.annotations["{name}"]: {name} is enforced by file a.yaml (--config): remove the annotation'
        in (error)
    )
    assert "line 6" in error or "line 1" in error
    free = archfit(text, *words, "--no-cache", *mirrors)
    assert "enforced" not in free.stderr


def test_an_annotation_that_takes_nothing_back_is_not_enforced(check, tmp_path):
    (tmp_path / "a.yaml").write_bytes(ENFORCED)
    text = workload("web", "x.example/both:1", head='  annotations: {archfit.dev/skip: "false"}\n')
    assert check(text, "--require=arm64", "--config=a.yaml", cwd=tmp_path).status == 0


def test_an_enforced_annotation_decides_no_gate_where_a_controller_decides(check, tmp_path):
    (tmp_path / "a.yaml").write_bytes(ENFORCED)
    head = (
        "  annotations: {archfit.dev/image-platforms: linux/arm64}\n"
        "  ownerReferences: [{kind: Rollout, name: a, controller: true}]\n"
    )
    text = workload("owned", "x.example/amd:1", head=head)
    assert check(text, "--require=arm64").status == 0
    assert check(text, "--require=arm64", "--config=a.yaml", cwd=tmp_path).status == 3


@pytest.mark.parametrize(
    ("kind", "value", "line", "status"),
    [
        pytest.param("Workflow", "x.example/both:1", "1 image runs on linux/arm64; 0 do not; 2 not known (chosen elsewhere)", 3, id="runs"),
        pytest.param("Workflow", "x.example/amd:1", "0 images run on linux/arm64; 1 does not; 2 not known (chosen elsewhere)", 3, id="lacks"),
        pytest.param("WorkflowTemplate", "x.example/both:1", "0 images run on linux/arm64; 0 do not; 2 not known (1 chosen elsewhere, 1 placeholder)", 3, id="callers-fill-it-in"),
    ],
)  # fmt: skip
def test_parameters_of_a_workflow_count_where_no_caller_fills_them_in(check, kind, value, line, status):
    """Argo's executor runs beside them, and `argo submit -p` may replace them."""
    text = (
        f"apiVersion: argoproj.io/v1alpha1\nkind: {kind}\nmetadata: {{name: a}}\nspec:\n  entrypoint: main\n"
        f"  arguments: {{parameters: [{{name: img, value: '{value}'}}]}}\n"
        "  templates:\n  - name: main\n    container: {image: '{{workflow.parameters.img}}'}\n"
    )
    ran = check(text.encode(), "--require=arm64")
    assert (last(ran), ran.status) == (line, status)


RENDERED = {
    "HelmRelease": b"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: w}\nspec: {chart: {}}\n",
    "Kustomization": b"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: w}\nspec: {path: x}\n",
    "Application": b"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: w}\nspec: {source: {path: y}}\n",
    "ApplicationSet": b"apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: w}\nspec: {template: {}}\n",
    "HelmChart": b"apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: w}\nspec: {chart: x}\n",
    "GitRepo": b"apiVersion: fleet.cattle.io/v1alpha1\nkind: GitRepo\nmetadata: {name: w}\nspec: {repo: x}\n",
    "ClusterProfile": b"apiVersion: config.projectsveltos.io/v1beta1\nkind: ClusterProfile\nmetadata: {name: w}\nspec: {x: y}\n",
}  # fmt: skip


@pytest.mark.parametrize("beside", [b"", CONFIG_MAP], ids=["alone", "beside-what-holds-no-pod"])
@pytest.mark.parametrize("words", [(), ("--allow-unknown",)], ids=["strict", "allow-unknown"])
@pytest.mark.parametrize("kind", RENDERED)
def test_a_gate_that_saw_only_what_others_render_says_who_renders_it(check, kind, words, beside):
    ran = check(joined(RENDERED[kind], *filter(None, [beside])), "--require=arm64", *words)
    assert (ran.status, ran.stdout) == (2, b"")
    assert re.search(rf"pass what is rendered\. {kind}: .* (renders|builds) ", ran.stderr)


@pytest.mark.parametrize("kind", RENDERED)
def test_beside_pods_what_others_render_is_named_and_not_known(check, kind):
    text = joined(RENDERED[kind], API)
    assert check(text).status == 3  # it is not placed yet
    ran = check(text, "--require=arm64")
    assert (ran.status, f"{kind}/w" in ran.stdout.decode()) == (3, True)
    assert check(text, "--require=arm64", "--allow-unknown").status == 0
    assert check(text, "--require=arm64", f"--exclude={kind}").status == 0
