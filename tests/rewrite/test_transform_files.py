"""`archfit FILE|DIR|-..`: what is read, in which order, and what one stream is made of it."""

import contextlib
import json
import os
import re
from functools import partial

import pytest
import yaml

import archfit
from file_runs import AMD, BOTH, CONFIG_MAP, OPTIONS, Site, placed, pod, run
from interpreter_steps import steps

NOTHING = b"image: {tag: 1}\n"


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


@pytest.mark.parametrize("words", [(), ("transform",)], ids=["bare", "by-name"])
@pytest.mark.parametrize("name", ["web.yaml", "web.yml", "web.json", "./web", "sub/web.txt"])
def test_a_file_is_transformed_as_on_standard_input(site, words, name):
    site.write({name: AMD})
    ran = site.run(*words, name)
    assert (ran.status, ran.stdout) == (0, placed(AMD))
    assert placed(AMD) != AMD


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(CONFIG_MAP, id="no-pods"),
        pytest.param(b"\xef\xbb\xbf" + CONFIG_MAP, id="byte-order-mark"),
        pytest.param(CONFIG_MAP.replace(b"\n", b"\r\n"), id="crlf"),
        pytest.param(CONFIG_MAP.rstrip(), id="no-last-newline"),
        pytest.param(CONFIG_MAP + b"...\n", id="document-end"),
        pytest.param(b'{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"\\ud83d\\ude00"}}', id="json"),
        pytest.param(placed(AMD), id="transformed"),
    ],
)
def test_noop_one_file_that_needs_nothing_keeps_every_byte(site, content):
    site.write({"a.yaml": content})
    ran = site.run("a.yaml")
    assert (ran.status, ran.stdout) == (0, content)


@pytest.mark.parametrize("blank", [b"", b"# nothing\n"], ids=["empty", "comments"])
def test_a_blank_file_is_passed_over_beside_others_and_fails_alone(site, blank):
    site.write({"a.yaml": blank, "b.yaml": CONFIG_MAP})
    ran = site.run("--in-place", "a.yaml", "b.yaml")
    assert (ran.status, (site.folder / "a.yaml").read_bytes()) == (0, blank)
    assert "archfit: warning: a.yaml: the input holds no manifests" in ran.stderr
    alone = site.run("a.yaml")
    assert (alone.status, alone.stdout) == (1, b"")


@pytest.mark.parametrize("words", [["-"], ["transform", "-"], []], ids=["dash", "by-name", "bare"])
def test_a_dash_is_standard_input(site, words):
    ran = site.run(*words, stdin=AMD)
    assert (ran.status, ran.stdout) == (0, placed(AMD))


def test_the_order_is_that_of_the_words_and_of_the_names_in_a_folder(site):
    names = ["r/b.yaml", "r/a/z.json", "r/a/y.yml", "r/c/d/e.yaml", "first.yaml"]
    site.write({name: pod(name.replace("/", "-").partition(".")[0]) for name in names})
    ran = site.run("first.yaml", "-", "r", stdin=pod("stdin"))
    assert ran.status == 0, ran.stderr
    shown = [line.split()[1].decode() for line in ran.stdout.splitlines() if line.startswith(b"  name: ")]
    assert shown == ["first", "stdin", "r-a-y", "r-a-z", "r-b", "r-c-d-e"]


def test_a_file_that_is_named_twice_is_read_once(site):
    site.write({"r/a.yaml": AMD})
    (site.folder / "link.yaml").symlink_to("r/a.yaml")
    assert site.run("r", "r/a.yaml", "./r/a.yaml", "link.yaml").stdout == placed(AMD)


@pytest.mark.parametrize("name", [".git/a.yaml", "a.txt", "a.tpl", "sub/.cache/b.json", "a.yaml.orig"])
def test_noop_of_a_folder_other_files_and_hidden_ones_are_not_read(site, name):
    site.write({"r/web.yaml": AMD, f"r/{name}": BOTH})
    ran = site.run("r")
    assert (ran.status, ran.stdout) == (0, placed(AMD))
    assert name not in ran.stderr


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(AMD.replace(b"kind:", b'"\\x6bind":'), id="escaped-kind"),
        pytest.param(AMD.replace(b"apiVersion:", b'"api\\x56ersion":'), id="escaped-version"),
        pytest.param(AMD.replace(b"kind:", b'? "kin\\\n  d"\n:'), id="a-key-of-two-lines"),
        pytest.param(AMD.replace(b"kind:", b"'kind' :"), id="quoted"),
        pytest.param(json.dumps(yaml.safe_load(AMD)).replace("kind", r"k\u0069nd").encode(), id="json"),
        pytest.param(
            b"items:\n- " + AMD.replace(b"\n", b"\n  ").rstrip() + b"\n", id="a-list-without-a-kind"
        ),
    ],
)
def test_a_file_of_a_folder_is_read_as_the_same_file_by_name(site, content):
    site.write({"r/evil.yaml": content})
    assert placed(content) != content
    assert site.run("r").stdout == site.run("r/evil.yaml").stdout == placed(content)
    assert site.run("check", "--require=arm64", "r").status == 3


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(NOTHING, id="values"),
        pytest.param(b"repos:\n- repo: x\n  kind: a\n  apiVersion: b\n", id="words-below"),
        pytest.param(b"# apiVersion: v1\n# kind: Pod\n", id="comments"),
        pytest.param(b"", id="empty"),
        pytest.param(b'{"name": "x", "kind": {"apiVersion": 1}}', id="json"),
        pytest.param(b"# kind, apiVersion\n- a\n", id="list"),
    ],
)
@pytest.mark.parametrize(
    "words", [["r"], ["--in-place", "r"], ["-o", "out/", "r"]], ids=lambda words: words[0]
)
def test_a_file_of_a_folder_without_an_object_is_left_out_and_said(site, content, words):
    site.write({"r/values.yaml": content, "r/web.yaml": AMD})
    ran = site.run(*words)
    assert ran.status == 0, ran.stderr
    assert "archfit: info: 1 file left out, which holds no Kubernetes object: r/values.yaml\n" in ran.stderr
    assert ran.stdout in (placed(AMD), b"")
    assert site.files()["r/values.yaml"] == content
    assert "out/values.yaml" not in site.files()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"apiVersion: v1\nkind: Pod\nmetadata: [\n", "r/bad.yaml", id="yaml"),
        pytest.param(b"apiVersion: v1\nkind: Pod\nspec: {{ .Values.a }}\n", "helm template", id="chart"),
        pytest.param(b"kind: Pod\napiVersion: v1\nx: \xff\n", "not UTF-8", id="utf-8"),
        pytest.param(AMD.decode().encode("utf-16"), "It looks like UTF-16", id="utf-16-of-powershell"),
        pytest.param(AMD.decode().encode("utf-16-be"), "UTF-16", id="utf-16-without-its-mark"),
        pytest.param(AMD.decode().encode("utf-32"), "r/bad.yaml", id="utf-32"),
        pytest.param(b"a: \xe9\n", "not UTF-8", id="latin-1-without-a-kind"),
        pytest.param(b"a: [\n", "r/bad.yaml", id="yaml-without-a-kind"),
        pytest.param(pod("c").replace(b"spec:\n  t", b"spec:\n  a: 1\n  a: 2\n  t"), "r/", id="duplicate"),
    ],
)
@pytest.mark.parametrize("words", [[], ["--diff"], ["--in-place"], ["-o", "out/"], ["-o", "x"]], ids=" ".join)
def test_a_problem_in_one_file_names_it_and_writes_nothing(site, content, said, words):
    site.write({"r/a.yaml": AMD, "r/bad.yaml": content, "r/c.yaml": BOTH})
    before = site.files()
    ran = site.run(*words, "r")
    if ran.status == 0:  # a duplicate beside what is read is a warning
        assert "duplicate" in ran.stderr or "twice" in ran.stderr
        return
    assert (ran.status, ran.stdout) == (1, b"")
    assert "archfit: error: " in ran.stderr
    assert "r/bad.yaml" in ran.stderr
    assert said in ran.stderr
    assert site.files() == before


@pytest.mark.parametrize(
    ("files", "words", "said"),
    [
        pytest.param({}, ["web.yaml"], "cannot read 'web.yaml' (No such file or directory)", id="missing"),
        pytest.param({}, ["r/web"], "cannot read 'r/web'", id="missing-with-a-slash"),
        pytest.param({"a.yaml": AMD}, ["a.yaml", "gone"], "cannot read 'gone'", id="second"),
        pytest.param({"r/a.txt": AMD}, ["r"], "'r' holds no file with a Kubernetes object", id="no-manifest"),
        pytest.param({"r/v.yaml": NOTHING}, ["r"], "'r' holds no file with a Kubernetes object", id="no-object"),
        pytest.param({"c/Chart.yaml": b"name: c\n"}, ["c"],
                     "'c' is a Helm chart (Chart.yaml). Render it first: helm template c c | archfit",
                     id="chart"),
        pytest.param({"my chart/Chart.yaml": b""}, ["./my chart/Chart.yaml"],
                     "helm template 'my chart' 'my chart' | archfit", id="chart-file"),
        pytest.param({"r/a.yaml": AMD, "r/c/Chart.yaml": b"", "r/k/kustomization.yml": b""}, ["r"],
                     "helm template c r/c | archfit. The same for r/k", id="chart-below"),
        pytest.param({"k/kustomization.yaml": b"", "k/a.yaml": AMD}, ["k"],
                     "'k' is a kustomization (kustomization.yaml). Build it first: kustomize build k | archfit",
                     id="kustomization"),
        pytest.param({"k/Kustomization": b"", "k/a.yaml": AMD}, ["k/"], "kustomize build k | archfit", id="upper-case"),
        pytest.param({"kustomization.yaml": b""}, ["kustomization.yaml"], "kustomize build . | archfit", id="here"),
        pytest.param({"web-1.2.tgz": b"\x1f\x8b"}, ["web-1.2.tgz"],
                     "helm template web-1.2 web-1.2.tgz | archfit", id="archive"),
        pytest.param({}, ["-", "-"], "- is standard input, which can be read only once", id="twice"),
        pytest.param({}, ["-", "/dev/stdin"], "- is standard input, which can be read only once", id="device"),
        pytest.param({}, ["/dev/fd/0", "/proc/self/fd/0"], "- is standard input, which can", id="descriptors"),
        pytest.param({}, ["rendered"], "'rendered' is not a command", id="no-folder"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_wrong_usage(site, files, words, said):
    site.write(files)
    ran = site.run(*words)
    assert (ran.status, ran.stdout) == (2, b"")
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_commands_name_wins_over_a_folder_and_a_path_over_the_command(site):
    site.write({"check/a.yaml": AMD})
    assert site.run("check", "-", stdin=AMD).status == 3
    assert site.run("./check").stdout == placed(AMD)


def test_without_files_a_terminal_is_not_waited_for(site):
    for words in (["--diff"], ["-"], ["--tolerate", "none"], ["--no-such-flag"]):
        ran = site.run(*words, stdin=None)
        assert (ran.status, ran.stdout) == (2, b"")
        assert ran.stderr.startswith("archfit: error: ")


@pytest.mark.parametrize("command", ["check", "patch", "lock", "policy"])
@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({"r/c/Chart.yaml": b""}, "helm template c r/c | archfit {0}", id="chart"),
        pytest.param({"r/kustomization.yaml": b""}, "kustomize build r | archfit {0}", id="kustomization"),
        pytest.param({"r/values.yaml": NOTHING}, "holds no file with a Kubernetes object", id="no-object"),
    ],
)  # fmt: skip
def test_every_command_says_what_to_render_first(site, command, files, said):
    site.write(files)
    words = [word for word in OPTIONS if command != "lock" or word.startswith("--image")]
    ran = site.run(command, "r", *words, options=False)
    assert (ran.status, ran.stdout) == (2, b"")
    assert said.format(command) in ran.stderr


def test_check_of_a_folder_names_files_and_lines(site):
    site.write({"r/a.yaml": CONFIG_MAP + b"---\n" + AMD, "r/sub/b.yaml": BOTH, "r/values.yaml": NOTHING})
    ran = site.run("check", "r")
    assert ran.status == 3
    assert b"(r/a.yaml:12)" in ran.stdout
    assert b"(r/sub/b.yaml:7)" in ran.stdout
    assert "1 file left out, which holds no Kubernetes object: r/values.yaml" in ran.stderr
    assert site.run("--in-place", "r").status == 0
    assert site.run("check", "r").status == 0


HIDDEN = {
    "r/web.yaml": AMD,
    "r/.a.yaml": AMD,
    "r/.b.yml": b"a: 1\n",
    "r/sub/.c.json": b'{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"}}',
    "r/.d.yaml.swp": AMD,
    "r/.git/e.yaml": AMD,
    "r/.yaml": AMD,
}


@pytest.mark.parametrize("command", ["transform", "check", "explain", "patch", "lock", "audit"])
def test_files_with_a_dot_that_kubectl_reads_are_named(site, command):
    """Kubectl looks at the extension alone (cli-runtime, ExpandPathsToFileVisitors); -R reads `.git`, too."""
    site.write(HIDDEN)
    words = [word for word in OPTIONS if command not in ("lock", "audit") or word.startswith("--image")]
    ran = site.run(command, "r", *words, options=False)
    assert ran.status in (0, 3), ran.stderr
    (said,) = [line for line in ran.stderr.splitlines() if "with a dot" in line]
    assert said == (
        "archfit: warning: 3 files not read, as their names begin with a dot; kubectl apply -f FOLDER reads them: "
        "r/.a.yaml, r/.yaml, r/sub/.c.json; name them on the command line, or rename them"
    )


def test_a_file_with_a_dot_that_is_named_is_read(site):
    site.write(HIDDEN)
    ran = site.run("check", "r", "r/.a.yaml", "r/.yaml", "r/sub/.c.json")
    assert (ran.status, "with a dot" in ran.stderr) == (3, False)
    assert b"(r/.a.yaml:" in ran.stdout


def test_a_folder_of_files_with_a_dot_alone_names_them(site):
    site.write({"r/.a.yaml": AMD})
    ran = site.run("check", "r")
    assert ran.status == 2
    assert (
        "1 file not read, as its name begins with a dot; kubectl apply -f FOLDER reads it: r/.a.yaml"
        in ran.stderr
    )


SELECTING = b"""\
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata:
  name: gvisor
handler: runsc
scheduling:
  nodeSelector: {kubernetes.io/arch: arm64}
"""
SELECTED = pod("amd").replace(b"      containers", b"      runtimeClassName: gvisor\n      containers")


def test_objects_of_one_file_count_for_the_pods_of_another_as_in_one_stream(site):
    site.write({"r/a.yaml": SELECTED, "r/b.yaml": SELECTING})
    stream = run(OPTIONS, SELECTED + b"---\n" + SELECTING)
    ran = site.run("r")
    assert (stream.status, ran.status) == (1, 1)
    assert "arm64" in ran.stderr
    assert "(r/a.yaml:8)" in ran.stderr
    assert site.run("check", "r").status == 1
    site.write({"r/b.yaml": CONFIG_MAP})
    assert site.run("r").status == 0


NAMESPACE = b"apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
WHITELISTED = NAMESPACE.replace(
    b"shop", b'shop, annotations: {scheduler.alpha.kubernetes.io/tolerationsWhitelist: \'[{"key": "x"}]\'}'
)
CEPH = b"apiVersion: ceph.rook.io/v1\nkind: CephCluster\nmetadata: {name: c, namespace: rook}\nspec: {cephVersion: {image: x.io/%s:1}}\n"
STORE = b"apiVersion: ceph.rook.io/v1\nkind: CephObjectStore\nmetadata: {name: s, namespace: rook}\nspec: {gateway: {instances: 1}}\n"
ARGO = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: workflow-controller-configmap}\ndata: {%s}\n"
ARGO_AMD = ARGO % (
    b"workflowDefaults: '{spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    b"{nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [dev]}]}]}}}}}'"
)
TEMPLATE = (
    b"apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: w}\nspec:\n  templates:\n  - name: t\n"
    b"    container: {image: x.io/amd:1}\n"
)


@pytest.mark.parametrize(
    ("dev", "prod", "own", "title"),
    [
        pytest.param(SELECTING.replace(b"arm64", b"amd64"), SELECTING.split(b"scheduling")[0], SELECTED, "RuntimeClass gvisor", id="RuntimeClass"),
        pytest.param(WHITELISTED, NAMESPACE, pod("b", "x.io/both:1").replace(b"name: b\n", b"name: b\n  namespace: shop\n"), "Namespace shop", id="Namespace"),
        pytest.param(CEPH % b"amd", CEPH % b"both", STORE, "CephCluster.ceph.rook.io rook", id="lender of images"),
        pytest.param(ARGO_AMD, ARGO % b"", TEMPLATE, "ConfigMap workflow-controller-configmap", id="controller"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", [("dev", "prod"), ("prod", "dev")], ids=["dev first", "prod first"])
def test_objects_of_one_environment_place_no_pods_of_another(site, dev, prod, own, title, order):
    """Which of two objects of one name is there for a pod nobody knows, so neither counts, and that is said."""
    words = "--custom-resources=all"
    site.write({f"r/{order[0]}.yaml": dev + b"---\n" + own, f"r/{order[1]}.yaml": prod + b"---\n" + own})
    ran = site.run("r", words, "-o", "out/")
    assert f"warning: {title}: the input has several that differ" in ran.stderr, ran.stderr
    alone = run((*OPTIONS, words), own)
    assert (ran.status, alone.status) == (0, 0)
    files = site.files()
    for name in order:
        assert files[f"out/{name}.yaml"].endswith(b"\n---\n" + alone.stdout)


def test_an_object_that_stands_in_two_environments_alike_counts_in_both(site):
    labelled = SELECTING.replace(b"gvisor", b"gvisor\n  labels: {env: prod}")
    site.write({"r/a.yaml": SELECTED + b"---\n" + SELECTING, "r/b.yaml": labelled})
    ran = site.run("r")
    assert (ran.status, "several that differ" in ran.stderr) == (1, False)
    assert "arm64" in ran.stderr


OWNED = pod("owned").replace(
    b"spec:", b"  ownerReferences: [{kind: Rollout, name: a, controller: true}]\nspec:", 1
)


@pytest.mark.parametrize("command", [(), ("check",), ("patch",)], ids=["transform", "check", "patch"])
def test_what_controllers_decide_in_several_files_is_one_message(site, command):
    site.write({"r/a.yaml": OWNED, "r/b.yaml": OWNED})
    decided = [line for line in site.run(*command, "r").stderr.splitlines() if "controls it" in line]
    assert len(decided) == 1
    assert decided[0].endswith("controls it and decides; so is 1 more with a controller")


def test_objects_on_one_line_of_several_files_are_each_counted(site):
    site.write({f"r/{name}.yaml": pod("old", kind="Job").replace(b"v1", b"batch/v1", 1) for name in "ab"})
    assert (
        "2 Jobs change, and cannot be updated if they exist" in site.run("patch", "--format=json", "r").stderr
    )


def test_a_report_about_a_file_speaks_of_no_pipe_and_names_the_file(site):
    site.write({"a.yaml": CONFIG_MAP + b"---\nError: release not found\n", "b.yaml": AMD})
    ran = site.run("check", "--format=json", "--report=report.json", "a.yaml", "b.yaml")
    finding = next(each for each in json.loads(ran.stdout)["findings"] if each["rule"] == "problem")
    assert (finding["file"], "pipe" in finding["message"]) == ("a.yaml", False)
    assert finding["message"] in ran.stderr
    report = json.loads((site.folder / "report.json").read_text(encoding="utf-8"))
    assert [decision["source"] for decision in report["decisions"]] == ["b.yaml"]


def test_the_report_and_last_cover_all_files(site):
    site.write({"r/a.yaml": CONFIG_MAP + b"---\n" + AMD, "r/b.yaml": BOTH})
    ran = site.run("r", "--report", "report.json")
    assert ran.status == 0, ran.stderr
    last = run(("last",)).stdout.decode()
    report = json.loads((site.folder / "report.json").read_text(encoding="utf-8"))
    shown = [(one["object"]["name"], one["document"], one["source"]) for one in report["decisions"]]
    assert shown == [("amd", 2, "r/a.yaml"), ("both", 1, "r/b.yaml")]
    for file, content in (("r/a.yaml", CONFIG_MAP + b"---\n" + AMD), ("r/b.yaml", BOTH)):
        text = placed(content)
        for edit in reversed([edit for edit in report["edits"] if edit["file"] == file]):
            text = text[: edit["start"]] + edit["was"].encode() + text[edit["end"] :]
        assert text == content
    assert "v1/ReplicationController/amd" in last
    assert "v1/ReplicationController/both" in last


LIST = b"""\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: a}
  spec:
    containers:
    - {name: a, image: 'x.io/both:1'}
functionConfig:
  apiVersion: archfit.dev/v1alpha1
  kind: ArchFit
  metadata: {name: a}
  spec: {tolerate: none, affinity: always, immutable: full}
"""


@pytest.mark.parametrize("form", ["stdout", "file", "in-place", "diff"])
def test_a_resource_list_in_a_file_is_a_functions_input(site, form):
    site.write({"list.yaml": LIST})
    expected = placed(LIST)
    assert b"nodeAffinity" in expected
    assert b"results:" in expected
    if form == "in-place":
        expected = placed(LIST, "--stamp")
    words = {"stdout": [], "file": ["-o", "out.yaml"], "in-place": ["--in-place"], "diff": ["--diff"]}[form]
    ran = site.run(*words, "list.yaml")
    assert ran.status == 0, ran.stderr
    if form == "stdout":
        assert ran.stdout == expected
    elif form == "diff":
        assert ran.stdout.count(b"\n+") > 5
    else:
        assert site.files()["out.yaml" if form == "file" else "list.yaml"] == expected


def test_a_resource_list_that_fails_comes_back_on_standard_output_alone(site):
    failing = LIST.replace(b"x.io/both:1", b"x.io/gone:1")
    site.write({"list.yaml": failing})
    ran = site.run("list.yaml")
    assert ran.status == 1
    assert ran.stdout == run(OPTIONS, failing).stdout != b""
    for words in (["--in-place"], ["-o", "x.yaml"], ["--diff"]):
        ran = site.run(*words, "list.yaml")
        assert (ran.status, ran.stdout) == (1, b"")
    assert site.files() == {"list.yaml": failing}


def test_a_resource_list_beside_other_files_is_wrong_usage(site):
    other = CONFIG_MAP + b"data: {a: ResourceList}\n"
    site.write({"a.yaml": other, "list.yaml": LIST})
    ran = site.run("a.yaml", "list.yaml")
    assert ran.status == 2
    assert "'list.yaml' is the ResourceList of a KRM function: transform it alone" in ran.stderr


def test_links_inside_of_a_folder_are_followed_once_and_no_further(site):
    site.write({"r/..data/a.yaml": AMD, "r/sub/b.yaml": BOTH})
    (site.folder / "r" / "a.yaml").symlink_to("..data/a.yaml")
    (site.folder / "r" / "sub" / "up").symlink_to("..")
    (site.folder / "r" / "t").symlink_to("sub")
    ran = site.run("r")
    assert (ran.status, ran.stdout) == (0, placed(AMD) + b"---\n" + placed(BOTH))


@pytest.mark.parametrize(
    ("target", "said"),
    [
        pytest.param("../outside.yaml", "", id="file"),
        pytest.param("../other", "", id="folder"),
        pytest.param("gone.yaml", ": it is a link to 'gone.yaml', which does not exist: remove it", id="dangling"),
        pytest.param("link.yaml", " (Too many levels of symbolic links)", id="loop"),
    ],
)  # fmt: skip
def test_a_link_that_leads_out_of_the_folder_is_not_followed_silently(site, target, said):
    site.write({"r/a.yaml": AMD, "outside.yaml": BOTH, "other/b.yaml": BOTH})
    (site.folder / "r" / "link.yaml").symlink_to(target)
    before = site.files()
    ran = site.run("--in-place", "r")
    assert ran.status == 2
    assert f"r/link.yaml'{said}" in ran.stderr
    assert site.files() == before


def test_a_pipe_in_a_folder_is_never_waited_for(site):
    site.write({"r/a.yaml": AMD})
    os.mkfifo(site.folder / "r" / "pipe.yaml")
    assert site.run("r").stdout == placed(AMD)


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [("MOST_FILES", 2, "manifests or"), ("MOST_ENTRIES", 4, "manifests or"), ("DEEPEST", 1, "folders deep"),
     ("MOST_BYTES", 100, "MiB of manifests")],
)  # fmt: skip
def test_a_folder_is_bounded(site, monkeypatch, limit, value, said):
    site.write({f"r/{name}/s/t.yaml": AMD for name in "abcd"} | {f"flat/{name}.yaml": AMD for name in "abc"})
    assert site.run("r").status == 0
    monkeypatch.setattr(f"archfit.cli.inputs.input_files.{limit}", value)
    ran = site.run("r")
    assert (ran.status, ran.stdout) == (2, b"")
    assert said in ran.stderr
    assert site.run("flat").status == (2 if limit in {"MOST_FILES", "MOST_BYTES"} else 0)


def test_quiet_leaves_notes_out(site):
    site.write({"r/a.yaml": AMD + b"---\n" + BOTH, "r/values.yaml": NOTHING})
    assert site.run("-q", "r").stderr == ""


@pytest.mark.parametrize("content", [b"", b"\n \n"], ids=["empty", "blanks"])
def test_on_blank_is_that_of_standard_input(site, content):
    site.write({"a.yaml": content})
    for way, status in (("pass", 0), ("comment", 0), ("fail", 1)):
        ran = site.run(f"--on-blank={way}", "a.yaml")
        assert (ran.status, ran.stdout) == run((*OPTIONS, f"--on-blank={way}"), content)[:2]
        assert ran.status == status
    assert site.run("--in-place", "--on-blank=comment", "a.yaml").status == 0
    assert site.files() == {"a.yaml": content}


@pytest.mark.parametrize("command", ["check", "explain", "patch", "audit", "policy"])
def test_a_folder_is_what_its_files_are_to_every_command(site, command):
    site.write({"r/a.yaml": AMD, "r/sub/b.json": JSON_POD, "r/sub/c.yml": BOTH, "r/values.yaml": NOTHING})
    words = [word for word in OPTIONS if command != "policy" or word != "--offline"]
    form = ["--format", "json"] if command in ("explain", "patch", "audit") else []
    named = site.run(command, *form, "r/a.yaml", "r/sub/b.json", "r/sub/c.yml", *words, options=False)
    folder = site.run(command, *form, "r", *words, options=False)
    assert folder.status == named.status == (3 if command == "check" else 0), folder.stderr
    if command == "audit":  # the report names what was read, and when
        both = [json.loads(ran.stdout)["facts"] for ran in (named, folder)]
        assert {key for key in both[0] if both[0][key] != both[1][key]} <= {"snapshots", "time"}
        assert len(both[0]["images"]) == 2
    elif command == "policy":  # as does its head
        assert re.sub(rb"#.*", b"", folder.stdout) == re.sub(rb"#.*", b"", named.stdout)
    else:
        assert folder.stdout == named.stdout != b""


JSON_POD = (
    b'{"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "j"}, '
    b'"template": {"spec": {"containers": [{"name": "a", "image": "x.io/amd:1"}]}}}\n'
)


@pytest.mark.parametrize("words", [[], ["--diff"], ["-o", "out/"], ["--in-place"], ["check"]], ids=" ".join)
def test_twice_as_many_files_are_twice_the_work(site, words):
    """Work is counted, not timed: the lines of archfit that run."""
    counted = []
    for number in (30, 60):
        site.write({f"r{number}/d{name % 3}/f{name}.yaml": pod(f"p{name}") for name in range(number)})
        counted.append(steps(partial(site.run, *words, f"r{number}"), within=archfit.__path__[0]))
    assert counted[1] < 2.1 * counted[0]


def test_files_named_by_their_whole_path_need_no_working_directory(site, tmp_path):
    site.write({"a.yaml": AMD})
    gone = tmp_path / "gone"
    gone.mkdir()
    with contextlib.chdir(gone):
        gone.rmdir()
        ran = run((*OPTIONS, str(site.folder / "a.yaml")))
        other = run((*OPTIONS, "a.yaml"))
    assert (ran.status, ran.stdout) == (0, placed(AMD)), ran.stderr
    assert (other.status, other.stdout) == (1, b"")
    assert (
        other.stderr == "archfit: error: the working directory does not exist any more: go to another one\n"
    )
