"""`archfit setup workloads --crds`: definitions in, a configuration file out that archfit loads and that works."""

import io
import json
import os
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from archfit.base.errors import InvalidInput, UsageError
from archfit.cluster.workload_setup import LIMIT
from archfit.cluster.workload_setup import set_up_workloads as run
from archfit.options.config_file import from_file, schema
from archfit.options.layers import merge
from archfit.options.settings import Options
from archfit.workloads.builtin import by_kind
from archfit.yaml.config_yaml import parse_config as read_document
from crd_schemas import OPEN, PLACEMENT, TEXT, crd, listed, obj, pod_spec
from custom_pods import projected
from stream_edits import edited, placed

WIDGET = crd("example.com/Widget", spec={"template": obj(spec=pod_spec()), "image": TEXT})
DATABASE = crd(
    "data.example.com/Database",
    spec={
        "image": TEXT,
        "nodes": listed(
            obj(template=obj(pod=obj(affinity=PLACEMENT["affinity"], tolerations=PLACEMENT["tolerations"])))
        ),
        "proxy": obj(rules=("self == oldSelf",), image=obj(repository=TEXT, tag=TEXT), **PLACEMENT),
        "backup": obj(image=TEXT),
    },
    v2={"image": TEXT},
)
PLAIN = crd("example.com/Plain", spec={"replicas": {"type": "integer"}})
ROLLOUT = crd("argoproj.io/Rollout", spec={"template": obj(spec=pod_spec())})
SILENT = crd("example.com/Silent", root=OPEN)
WRITTEN = """\
# Written by `archfit setup workloads` from CustomResourceDefinitions. A schema says where a field is, not what
# the operator does with it: check each row against the operator's documentation, then use the file with --config
# or ARCHFIT_CONFIG.
apiVersion: archfit.dev/v1alpha1
kind: ArchFit
spec:
  workloads:
    # data.example.com/Database, by the schema of v1
    # Check: spec.backup.image: no affinity or tolerations beside or above it; if a pod of a row runs it, add it to
    #   its images, else to neverRun
    # Check: version v2 differs (no row): the rows are those of v1
    - group: data.example.com
      kind: Database
      podSpec: spec.nodes[*].template.pod
      within: spec.nodes[*]
      images:
        - spec.image
      nodeSelector: none
    - group: data.example.com
      kind: Database
      podSpec: spec.proxy
      images:
        - spec.proxy.image.repository+tag
      immutable: true
    # example.com/Widget, by the schema of v1
    - group: example.com
      kind: Widget
      podSpec: spec.template.spec
      images:
        - spec.image
# No pod, image or placement in the schema of:
#   example.com/Plain
# archfit has rows of its own for these (--include-known writes them too):
#   argoproj.io/Rollout: read, not seen with Argo
# Without any schema (write a row by hand where a pod is in it):
#   example.com/Silent
"""
pytestmark = pytest.mark.usefixtures("nothing_seen")
SUMMARY = "3 rows for 2 kinds; 1 left out, as archfit has rows for them\n"


def ran(*argv: str, stdin: bytes = b"") -> tuple[str, str]:
    """Standard output and standard error of a run that succeeds."""
    out, err = io.BytesIO(), io.StringIO()
    assert run(argv, io.BytesIO(stdin), out, err) == 0
    return out.getvalue().decode(), err.getvalue()


def streamed(*found: Any) -> bytes:
    return "---\n".join(yaml.safe_dump(one, sort_keys=False) for one in found).encode()


def loaded(text: str) -> Options:
    """The options of the file, which its schema allows."""
    assert Draft202012Validator(schema()).is_valid(read_document(text).values)
    return merge([from_file(text.encode(), "archfit.yaml")]).options


EVERY = (WIDGET, DATABASE, PLAIN, ROLLOUT, SILENT)
FORMS = [
    pytest.param(streamed(*EVERY), id="documents"),
    pytest.param(streamed({"apiVersion": "v1", "kind": "List", "items": [*EVERY]}), id="kubectl get crd -o yaml"),
    pytest.param(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*EVERY]}, indent=1).encode(), id="-o json"),
    pytest.param(
        json.dumps(
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinitionList",
                "items": [{key: one[key] for key in ("metadata", "spec")} for one in EVERY],
            }
        ).encode(),
        id="a typed list",
    ),
    pytest.param(b"\xef\xbb\xbf" + streamed(*EVERY).replace(b"\n", b"\r\n"), id="BOM and CRLF"),
    pytest.param(streamed(*reversed(EVERY)), id="in another order"),
    pytest.param(streamed(*EVERY, *EVERY), id="everything twice"),
    pytest.param(streamed({"apiVersion": "v1", "kind": "ConfigMap"}, *EVERY), id="beside other objects"),
]  # fmt: skip


@pytest.mark.parametrize("content", FORMS)
def test_the_file_is_for_people_and_for_archfit(content):
    """The same bytes in every form; archfit loads them."""
    out, err = ran("--crds", "-", stdin=content)
    assert out == WRITTEN
    assert err == SUMMARY
    rows = loaded(out).workloads
    assert [(row.kind, row.immutable) for row in rows] == [
        ("Database", False),
        ("Database", True),
        ("Widget", False),
    ]


def test_files_and_folders_are_read_alike(tmp_path):
    """In a folder, below it too, other objects and other files are passed over, YAML or not."""
    below = tmp_path / "crds" / "below"
    below.mkdir(parents=True)
    (below / "a.yml").write_bytes(streamed(DATABASE, SILENT))
    (below.parent / "b.json").write_bytes(json.dumps(ROLLOUT).encode())
    (below.parent / "notes.txt").write_bytes(b"CustomResourceDefinition: [")
    (below.parent / "service.yaml").write_bytes(b"{{- if .Values.service }}\nkind: Service\n{{- end }}\n")
    (tmp_path / "c.yaml").write_bytes(streamed(WIDGET))
    folder, file = str(tmp_path / "crds"), str(tmp_path / "c.yaml")
    assert ran("--crds", folder, "--crds", file, "--crds=-", stdin=streamed(PLAIN)) == (WRITTEN, SUMMARY)
    assert ran("--crds", file, folder, "-", stdin=streamed(PLAIN)) == (WRITTEN, SUMMARY)


def test_what_archfit_knows_is_written_when_asked_for():
    out, err = ran("--crds", "-", "--include-known", stdin=streamed(ROLLOUT))
    assert out.endswith(
        "  workloads:\n    # argoproj.io/Rollout, by the schema of v1\n"
        "    - group: argoproj.io\n      kind: Rollout\n      podSpec: spec.template.spec\n"
    )
    assert err == "1 row for 1 kind\n"
    assert [row.kind for row in loaded(out).workloads] == ["Rollout"]


def test_without_any_row_it_is_a_file_all_the_same():
    out, err = ran("--crds", "-", stdin=streamed(PLAIN, ROLLOUT))
    assert "  workloads: []\n" in out
    assert loaded(out).workloads == ()
    assert err == "0 rows for 0 kinds; 1 left out, as archfit has rows for them\n"


def test_a_second_definition_that_differs_is_told():
    other = crd("example.com/Widget", spec={"pod": obj(image=TEXT, **PLACEMENT)})
    out, _ = ran("--crds", "-", stdin=streamed(WIDGET, other))
    note = "# Check: a second definition of it differs; the rows are those of the first one\n"
    assert note in out
    assert [row.pod_spec for row in loaded(out).workloads] == [("spec", "template", "spec")]
    assert note not in ran("--crds", "-", stdin=streamed(WIDGET, WIDGET))[0]


def test_text_of_a_schema_cannot_break_out_of_a_comment():
    hostile = {
        "a\n  - group: x": obj(image=TEXT, **PLACEMENT),
        "it's": obj(image=TEXT, **PLACEMENT),
        "b: #": pod_spec(),
    }
    definition = crd("example.com/Widget", spec=hostile)
    definition["spec"]["versions"][0]["name"] = "v1\nspec: {}\x1b"
    out, _ = ran("--crds", "-", stdin=json.dumps(definition).encode())
    assert "\x1b" not in out
    assert loaded(out).workloads == ()
    assert all(line.lstrip().startswith("#") for line in out.splitlines() if "group" in line)


OBJECTS = """\
apiVersion: data.example.com/v1
kind: Database
metadata:
  name: a
spec:
  image: app:1
  nodes:
  - replicas: 1
  - template:
      pod:
        tolerations: []
  proxy:
    image:
      repository: proxy
      tag: "1"
---
apiVersion: example.com/v1
kind: Widget
metadata:
  name: b
spec:
  template:
    spec:
      containers:
      - name: main
        image: app:1
"""


def test_the_rows_work(judge, oracle):
    """Objects of these kinds are transformed, and no pod of theirs can reach a node that it cannot run on."""
    options = loaded(ran("--crds", "-", stdin=streamed(*EVERY))[0])
    before = OBJECTS.encode()
    after = placed(judge, before, options)
    edits = edited(before, options).edits
    assert [decision.outcome for _, decision in edits.decisions] == ["Change"] * 4
    own = by_kind(options.workloads)
    pods = projected(judge.kubectl(before), own), projected(judge.kubectl(after), own)
    platforms = {"app:1": ["linux/amd64"], "proxy:1": ["linux/amd64"]}
    assert oracle(pods[0], pods[1], platforms=platforms).violations == []
    assert oracle(pods[0], pods[0], platforms=platforms).violations != []


ASK = "pass the output of `kubectl get crd -o yaml`, or the definitions that the operator publishes"
HELM = "; if it is a chart's template, run `helm template` on the chart first"
BAD_INPUT = [
    pytest.param(b"", f"it holds no CustomResourceDefinition: {ASK}", id="empty"),
    pytest.param(b"# nothing\n", f"it holds no CustomResourceDefinition: {ASK}", id="blank"),
    pytest.param(
        b"apiVersion: apps/v1\nkind: Deployment\n---\nkind: Service\n",
        f"it holds no CustomResourceDefinition, but Deployment, Service: {ASK}",
        id="other objects",
    ),
    pytest.param(
        b"error: You must be logged in to the server (Unauthorized)",
        f"it holds no CustomResourceDefinition, but an object without a kind: {ASK}",
        id="kubectl's own error",
    ),
    pytest.param(
        b"apiVersion: v1\nkind: CustomResourceDefinition\n",
        f"it holds no CustomResourceDefinition, but one of another API group or without a spec, as a patch is: {ASK}",
        id="of another API group",
    ),
    pytest.param(
        b"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b.c}\n",
        f"it holds no CustomResourceDefinition, but one of another API group or without a spec, as a patch is: {ASK}",
        id="kubebuilder's patch",
    ),
    pytest.param(b"a: b\n---\nspec:\n  a: [\n", " line 5: this is not YAML: while parsing a flow node did not find expected node content", id="not YAML"),
    pytest.param(b"{{- if .Values.crds }}\nkind: CustomResourceDefinition\n{{- end }}\n", HELM, id="a template"),
    pytest.param(b"a: \xff", " line 1: the byte 0xff is not UTF-8, which Kubernetes requires", id="not UTF-8"),
    pytest.param(b"a: " + b"[" * 200_000, " line 1: collections are nested more than 250 deep", id="deep"),
    pytest.param(
        b"a: &a [x, x, x, x, x, x, x, x, x, x]\n" + b"".join(b"%c: &%c [%s]\n" % (98 + n, 98 + n, b", ".join([b"*%c" % (97 + n)] * 10)) for n in range(9)),
        " line 6: its aliases stand for more than 1,000,000 nodes",
        id="an alias bomb",
    ),
    pytest.param(
        streamed(SILENT, crd("example.com/Bare", root={"type": "object"})),
        "example.com/Bare, example.com/Silent: the definition has no structural schema, so it names no field: "
        "write a row by hand, or take the definition from a newer release of the operator (apiextensions.k8s.io/v1)",
        id="no structure",
    ),
    pytest.param(
        b"apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nspec:\n  group: example.com\n  names: {kind: Old}\n  version: v1\n",
        "example.com/Old: the definition has no structural schema",
        id="v1beta1 without a schema",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD_INPUT)
def test_bad_input_is_one_sentence_with_its_place(tmp_path, content, message):
    for name in (str(tmp_path / "a.yaml"), "-"):
        (tmp_path / "a.yaml").write_bytes(content)
        out = io.BytesIO()
        with pytest.raises(InvalidInput) as caught:
            run(["--crds", name, "-o", str(tmp_path / "out.yaml")], io.BytesIO(content), out, io.StringIO())
        said = str(caught.value)
        where = "standard input" if name == "-" else name
        assert said.startswith((where, "example.com/"))
        assert message in said
        assert "\n" not in said
        assert out.getvalue() == b""
        assert not (tmp_path / "out.yaml").exists()


USAGE = [
    ([], "no definitions are named: write --crds FILE, a folder, or - for standard input"),
    (["--crds"], "--crds: has no value: write --crds=FILE"),
    (["crd.yaml"], "'crd.yaml' is not expected: name files and folders behind --crds"),
    (["--crd", "a"], "there is no flag '--crd': write --crds"),
    (["--crds", "/no/such"], "--crds: cannot read '/no/such' (No such file or directory): name a readable file"),
    (["--crds", "empty"], "--crds: the folder 'empty' holds no *.yaml, *.yml or *.json: name the folder with the definitions"),
    (["--crds", "-", "-"], "--crds: - is standard input, which can be read only once: name it once"),
    (["--crds", "big.yaml"], "--crds: 'big.yaml' is larger than 64 MiB: pass the output of `kubectl get crd -o yaml` only"),
    (["--crds", "crd.yaml", "-o", "there.yaml"], "--output: 'there.yaml' exists and may hold your changes: name another, or move it"),
    (["--crds", "crd.yaml", "-o", "/no/such/file"], "--output: cannot write '/no/such/file' (No such file or directory): name another file"),
]  # fmt: skip


@pytest.mark.parametrize(("argv", "message"), USAGE, ids=[" ".join(argv) or "nothing" for argv, _ in USAGE])
def test_wrong_usage_says_what_to_write(tmp_path, monkeypatch, argv, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "there.yaml").write_bytes(b"mine")
    if "big.yaml" in argv:
        (tmp_path / "big.yaml").write_bytes(b"#" * (LIMIT + 1))
    (tmp_path / "crd.yaml").write_bytes(streamed(WIDGET))
    out = io.BytesIO()
    with pytest.raises(UsageError) as caught:
        run(argv, io.BytesIO(), out, io.StringIO())
    assert str(caught.value) == message
    assert out.getvalue() == b""
    assert (tmp_path / "there.yaml").read_bytes() == b"mine"


def test_a_pipe_in_a_folder_is_not_read_and_a_definition_is_however_it_is_spelt(tmp_path):
    os.mkfifo(tmp_path / "a.yaml")
    escaped = (
        json.dumps(WIDGET).replace("CustomResourceDefinition", r"\u0043ustomResourceDefinition").encode()
    )
    (tmp_path / "b.json").write_bytes(escaped)
    assert ran("--crds", str(tmp_path)) == ran("--crds=-", stdin=streamed(WIDGET))


def test_a_folder_without_a_definition_is_an_error(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"kind: Service\n")
    with pytest.raises(InvalidInput) as caught:
        ran("--crds", str(tmp_path))
    assert str(caught.value) == f"{tmp_path}: none of its 1 files holds a CustomResourceDefinition: {ASK}"


def test_the_program_runs_it(tmp_path, archfit):
    file, out = tmp_path / "crd.yaml", tmp_path / "archfit.yaml"
    file.write_bytes(streamed(*EVERY))
    done = archfit(b"", "setup", "workloads", "--crds", str(file), "-o", str(out))
    assert (done.status, done.stdout) == (0, b"")
    assert done.stderr == f"{SUMMARY}written: {out}; check it, then use it with --config or ARCHFIT_CONFIG\n"
    # The program knows of recordings.
    before, known, after = WRITTEN.partition("argoproj.io/Rollout: read, not seen with Argo\n")
    assert known
    written = out.read_text(encoding="utf-8")
    assert written.startswith(f"{before}argoproj.io/Rollout: seen with Argo Rollouts ")
    assert written.endswith(after)


class Terminal(io.BytesIO):
    """Standard input that nobody piped anything into."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_not_waited_for():
    with pytest.raises(UsageError) as caught:
        run(["--crds", "-"], Terminal(), io.BytesIO(), io.StringIO())
    assert str(caught.value) == "--crds: standard input is a terminal: pipe `kubectl get crd -o yaml` in"
