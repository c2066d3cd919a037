"""What is no stream of Kubernetes objects: one clear error with document and line, exit 1, and nothing written.

The real command runs, in process. What stands in the input is never repeated in a message: it may be a Secret's.
"""

import io
import os
import tarfile
import zipfile
from typing import NamedTuple

import pytest

from archfit.rewrite.command import transform as run
from program import called
from stream_edits import Failed, edited

HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n"
POD = HEAD + "      containers:\n      - image: both:1\n"
FOREIGN = (
    "this is not a Kubernetes object: it has neither apiVersion nor kind. Is it an error message of the command before "
    "the pipe? Run that command alone"
)
NOT_YAML = (
    "this is not YAML: mapping values are not allowed in this context. Is it an error message of the command before the "
    "pipe? Run that command alone"
)
KEY = "a mapping key that is a collection; Kubernetes knows only strings"
QUOTE = "Close the quote, and double a ' inside of '..'"
COMMA = "Add the comma or the bracket that is missing"
COLON = "Write ': ' behind the key, or indent the line as part of the text above"
MARK = "A tab or a mark such as @ or ` begins here: indent with blanks, and put such a text in quotes"
BINARY = "It looks like UTF-16 or a binary file. Convert UTF-16: iconv -f UTF-16LE -t UTF-8 FILE > NEW"
QUOTES = "Is it a placeholder such as {{image}}? Put it in quotes"
TEXT = "this is text, not a Kubernetes object. Is it an error message of the command before the pipe? Run that command alone"
CHART = "this is the source of a Helm chart. Render it first: helm template CHART | archfit"
KUSTOMIZATION = (
    "this is a kustomization: it names files and is not an object of a cluster. Build it first: "
    "kustomize build FOLDER | archfit"
)
DUPLICATE = "the key stands twice: kubectl takes the last one, kustomize refuses the document. Remove one"
ESCAPE = "Write it as an escape in double quotes, such as \\u007F"
SEPARATED = "did not find expected <document start> (documents are separated by a line '---')"
ODD = (
    "this document needs a change but holds a bare CR, NEL, LS or PS, which some YAML parsers read as a line break and "
    "others do not. Write it as an escape in double quotes"
)

NAMED = "apps/v1/Deployment/web: "


class Ended(NamedTuple):
    """lines: of standard error, but for what is only information."""

    status: int
    written: bytes
    lines: list[str]


def command(data: bytes, *words: str) -> Ended:
    """The command where all images are known, without network."""
    known = ["--image-platforms", "docker.io/library/*=linux/amd64,linux/arm64"]
    ran = called(run, ["--offline", "--no-cache", *known, *words], data, dict(os.environ))
    lines = [line for line in ran.stderr.splitlines() if not line.startswith("info: ")]
    return Ended(ran.status, ran.stdout, lines)


CASES = [
    pytest.param(POD.replace("both:1", "{{ .Values.image }}"), 1, 8, CHART, id="the source of a chart"),
    pytest.param("{{- if .Values.on }}\n" + POD + "{{- end }}\n", 1, 1, CHART, id="the source of a chart under a condition"),
    pytest.param(POD + "---\n" + POD + '{{ include "a.b" . }}\n', 2, 18, CHART, id="the source of a chart with a template"),
    pytest.param("apiVersion: v2\nname: a\nversion: 1.0.0\n", 1, 1, CHART, id="a Chart.yaml"),
    pytest.param("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n", 1, 1, KUSTOMIZATION, id="a kustomization"),
    pytest.param("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n", 1, 1, KUSTOMIZATION, id="a component"),
    pytest.param("namePrefix: a-\nresources:\n- a.yaml\n", 1, 1, KUSTOMIZATION, id="a kustomization without a kind"),
    pytest.param(POD.replace("both:1", "{{inputs.parameters.image}}"), 1, 8, f"{KEY}. {QUOTES}", id="a parameter of Argo without quotes"),
    pytest.param("Error: INSTALLATION FAILED: cannot re-use a name that is still in use\n", 1, 1, NOT_YAML, id="the error message of another command"),
    pytest.param("apiVersion: v1\nkind: List\nitems:\n- a: b\n", 1, 4, FOREIGN, id="an item without a kind"),
    pytest.param("apiVersion: v1\nkind: List\nitems: [\n{a: b}]\n", 1, 4, FOREIGN, id="an item without a kind in flow style"),
    pytest.param("apiVersion: v1\nkind: List\nitems:\n- kind: Service\n  apiVersion: v1\n- hello\n", 1, 6, TEXT, id="an item that is a word"),
    pytest.param("Error: chart not found\n", 1, 1, FOREIGN, id="an error message of helm"),
    pytest.param("Error: template: c/t/x.yaml:3:4: executing\n\nUse --debug flag to render out invalid YAML\n", 1, 1, NOT_YAML, id="an error message of helm that is no YAML"),
    pytest.param("bash: helm: command not found\n", 1, 1, NOT_YAML, id="an error message of a shell"),
    pytest.param("<html><body>502</body></html>\n", 1, 1, TEXT, id="HTML"),
    pytest.param("hello\n", 1, 1, TEXT, id="a word"),
    pytest.param("12\n", 1, 1, TEXT, id="a number"),
    pytest.param(POD + "---\nhello\n", 2, 10, TEXT, id="a word after a document"),
    pytest.param("- a\n- b\n", 1, 1, "this is a list, not a Kubernetes object. Put each object behind a line '---'", id="a list"),
    pytest.param(
        "%!s(MISSING)\n",
        1,
        1,
        "a '%' directive stands here, which kubectl and kustomize refuse. Remove the line, or is this the output of "
        "another command? Run that command alone",
        id="a line that begins with a percent sign",
    ),
    pytest.param(HEAD + '      containers:\n      - image: "both', 1, 8, "this is not YAML: while scanning a quoted scalar found unexpected end of stream. " + QUOTE, id="cut inside a quoted scalar"),
    pytest.param(HEAD + "      containers: [{image: both:1\n", 1, 7, "this is not YAML: while parsing a flow mapping did not find expected ',' or '}'. " + COMMA, id="cut inside a flow mapping"),
    pytest.param(
        '{"apiVersion": "v1", "kind": "Pod",\n "spec": {"containers": [\n  {"image": "both:1"}\n',
        1,
        2,
        "this is not YAML: while parsing a flow sequence did not find expected ',' or ']'. " + COMMA,
        id="cut inside JSON",
    ),
    pytest.param(POD + "      tolera", 1, 9, "this is not YAML: while scanning a simple key could not find expected ':'. " + COLON, id="cut inside a key"),
    pytest.param(POD + "      tolerations: &", 1, 9, "this is not YAML: while scanning an anchor did not find expected alphabetic or numeric character", id="cut inside an anchor"),
    pytest.param(
        POD + "---\n" + HEAD + "      containers:\n\t- image: both:1\n",
        2,
        17,
        "this is not YAML: while scanning for the next token found character that cannot start any token. " + MARK,
        id="a tab as indentation",
    ),
    pytest.param(
        POD + "\t\n  replicas: 1\n", 1, 9, "this is not YAML: while scanning a plain scalar found a tab character that violates indentation. Indent with blanks: YAML takes no tabs", id="a line that is a tab"
    ),
    pytest.param(POD + "      " + "k" * 1025 + ": 1\n", 1, 9, "this is not YAML: while scanning a simple key could not find expected ':'. " + COLON, id="a key over 1024 characters"),
    pytest.param(POD + "  x: \x07\n", 1, 9, f"this is not YAML: the character U+0007 is not allowed in it. {ESCAPE}", id="a control character"),
    pytest.param(POD + "  é: \x7f\n", 1, 9, f"this is not YAML: the character U+007F is not allowed in it. {ESCAPE}", id="DEL behind wide characters"),
    pytest.param("a\0p\0i\0", 1, 1, "this is not YAML: the character U+0000 is not allowed in it. " + BINARY, id="UTF-16 without a mark"),
    pytest.param(POD + "...\nkind: Service\n", 1, 10, "content follows the document end '...' without a new '---'; kubectl and kustomize drop it silently. Put '---' on a line of its own before it", id="content behind ..."),
    pytest.param(POD + "--- {a: b}\n", 2, 9, "text stands behind '---' on the same line, which kubectl refuses. Begin a new line after '---'", id="content behind ---"),
    pytest.param("---" + POD, 1, 1, "a line begins with '---' and goes on: kubectl refuses it. Put '---' on a line of its own", id="a document glued to its separator"),
    pytest.param(POD + "---" + POD, 1, 9, "a line begins with '---' and goes on: kubectl refuses it. Put '---' on a line of its own", id="two documents glued together"),
    pytest.param('{"apiVersion": "v1", "kind": "ConfigMap"}\n{"apiVersion": "v1", "kind": "ConfigMap"}\n', 1, 2, f"this is not YAML: {SEPARATED}. Put JSON objects into one list: jq -s " """'{apiVersion: "v1", kind: "List", items: .}'""", id="JSON after JSON"),
    pytest.param(POD + "  x: [--port=:]\n", 1, 9, "this is not YAML: while scanning a plain scalar found unexpected ':'. Put a value in brackets that ends in ':' in quotes", id="a value in brackets that ends in a colon"),
    pytest.param(POD.replace("image: both:1", "image: *none"), 1, 8, "an alias has no anchor before it in its document. Is it meant as text? Put it in quotes", id="an alias without an anchor"),
    pytest.param("kind: &a b\n---\n" + POD + "  x: *a\n", 2, 11, "an alias has no anchor before it in its document. Is it meant as text? Put it in quotes", id="an alias of another document"),
    pytest.param(POD + "  x: &a [*a]\n", 1, 9, "an alias stands inside its own anchor", id="an anchor that contains itself"),
    pytest.param(POD + "  ? [a]\n  : b\n", 1, 9, f"{KEY}. {QUOTES}", id="a key that is a list"),
    pytest.param(POD + "  x: &a [b]\n  <<: *a\n", 1, 10, "'<<' needs a mapping or a list of mappings", id="<< of a list of words"),
    pytest.param(POD + "  x: !!binary ä\n", 1, 9, "a value tagged !!binary is not base64", id="binary that is not base64"),
    pytest.param(POD + "  x: !!int a\n", 1, 9, "a value tagged !!int is none; kubectl refuses it", id="an integer that is none"),
    pytest.param(POD + "  x: !!float\n", 1, 9, "a value tagged !!float is none; kubectl refuses it", id="a float that is none"),
    pytest.param(
        HEAD + "      tolerations: []\n      <<: {tolerations: [{key: a}]}\n      containers: []\n",
        1,
        7,
        "the key 'tolerations' stands before a '<<' (line 8) that supplies it too; kubectl and kustomize disagree on which "
        "one counts. Put '<<' first",
        id="a key before << that supplies it",
    ),
    pytest.param(
        "x: &a {kind: Pod}\ny: &b {<<: *a, apiVersion: v1}\n<<: [{kind: Job}, *b]\nspec: {containers: [{image: both:1}]}\n",
        1,
        3,
        "mappings that '<<' names supply 'kind' with different values; kubectl and kustomize disagree on which one counts. "
        "Write 'kind' beside '<<'",
        id="two mappings of << with a kind of their own",
    ),
    pytest.param(POD + "  x: " + "[" * 200_000, 1, 9, "collections are nested more than 250 deep", id="200,000 open brackets"),
    pytest.param(POD + "  x: " + "{a: " * 200_000, 1, 9, "collections are nested more than 250 deep", id="200,000 open braces"),
    pytest.param(POD + "  x:\n   " + "- " * 200_000, 1, 10, "collections are nested more than 250 deep", id="200,000 dashes"),
    pytest.param(
        POD + "".join(f"  x{n}: &x{n} {'[' * 100}{f'*x{n - 1}' if n else 'a'}{']' * 100}\n" for n in range(50)),
        1,
        11,
        "its aliases stand for collections nested more than 250 deep",
        id="aliases of aliases, 5,000 deep",
    ),
    pytest.param(POD + "".join(f"  x{n}: &x{n} [{','.join([f'*x{n - 1}' if n else 'a'] * 10)}]\n" for n in range(20)), 1, 14, "its aliases stand for more than 1,000,000 nodes", id="an alias bomb"),
    pytest.param(POD.replace("image", "# é \u0085\n        image"), 1, 1, ODD, id="NEL where an edit is needed"),
    pytest.param(POD + "# \u2028\n", 1, 1, ODD, id="LS"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "document", "line", "message"), CASES)
def test_one_error_with_document_and_line(text, document, line, message):
    assert command(text.encode()) == Ended(
        1,
        b"",
        [
            f"error: {NAMED if message == ODD else ''}{message} (document {document}, line {line})",
            "archfit: 1 problem; nothing was written",
        ],
    )


def archive(kind: str) -> bytes:
    data = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(data, "w") as packed:
            packed.writestr("a.yaml", POD)
    else:
        with tarfile.open(fileobj=data, mode="w" if kind == "tar" else f"w:{kind}") as packed:
            packed.addfile(tarfile.TarInfo("a.yaml"), io.BytesIO())
    return data.getvalue()


@pytest.mark.parametrize(
    ("kind", "name"), [("gz", "gzip"), ("bz2", "bzip2"), ("xz", "xz"), ("tar", "tar"), ("zip", "zip")]
)
def test_an_archive_is_named(kind, name):
    assert command(archive(kind)) == Ended(
        1,
        b"",
        [
            f"error: this is a {name} archive, not YAML. Unpack it, or if it is a Helm chart, render it: "
            "helm template ARCHIVE | archfit",
            "archfit: 1 problem; nothing was written",
        ],
    )


def test_a_kustomization_in_a_package_passes():
    """Kpt gives its functions every file of a package."""
    item = "- apiVersion: kustomize.config.k8s.io/v1beta1\n  kind: Kustomization\n  resources: [a.yaml]\n"
    given = f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{item}".encode()
    assert command(given) == Ended(0, given, [])


def test_what_stands_in_a_list_is_judged_alike_however_it_is_written():
    """Items in regular lines are read one by one, others with the whole list."""
    items = (
        "a: b",
        "a: [b]",
        "",
        "kind: Service",
        " apiVersion: v1\n   kind: Service\n   metadata:\n   metadata: {name: a}",
    )
    regular = "apiVersion: v1\nkind: List\nitems:\n" + "".join(f"- {item}\n" for item in items)
    whole = "x: &x a\n" + regular
    said = []
    for text in (regular, whole):
        with pytest.raises(Failed) as failed:
            edited(text.encode())
        said.append(
            sorted(
                (one.severity, one.text, one.location.line if one.location else 0)
                for one in failed.value.messages
            )
        )
    assert [(severity, message, line + 1) for severity, message, line in said[0]] == said[1]
    assert [severity for severity, _, _ in said[0]] == ["error", "warning", "warning"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_recognised(encoding):
    ended = command(("\ufeff" + POD).encode(encoding))
    assert (ended.status, ended.written) == (1, b"")
    assert "It looks like UTF-16: convert it first" in ended.lines[0]


def test_a_cut_at_a_plain_scalar_cannot_be_seen():
    """As the docs say: `both` is a word as good as `both:1`."""
    assert command(POD[:-3].encode()).status == 0


def test_every_problem_is_told_not_only_the_first():
    bad = HEAD + "      containers: [{image: 'x\n"
    ended = command(f"{bad}---\n{POD}---\nhello\n---\n{POD}metadata: {{}}\n".encode())
    assert (ended.status, ended.written) == (1, b"")
    assert ended.lines == [
        "error: this is not YAML: while scanning a quoted scalar found unexpected end of stream. "
        f"{QUOTE} (document 1, line 7)",
        f"error: {TEXT} (document 3, line 18)",
        f"error: apps/v1/Deployment metadata: {DUPLICATE} (document 4, line 28)",
        "archfit: 3 problems; nothing was written",
    ]


@pytest.mark.parametrize(
    ("lines", "field", "line"),
    [
        pytest.param("      tolerations: []\n      tolerations: []\n", "spec.template.spec.tolerations", 10, id="tolerations"),
        pytest.param("      runtimeClassName: a\n      runtimeClassName: b\n", "spec.template.spec.runtimeClassName", 10, id="runtime class"),
        pytest.param("      containers: []\n", "spec.template.spec.containers", 9, id="containers"),
        pytest.param("        image: amd:1\n", "spec.template.spec.containers[0].image", 9, id="image"),
        pytest.param("    spec: {}\n", "spec.template.spec", 9, id="the pod spec"),
        pytest.param("kind: Job\n", "kind", 9, id="kind"),
        pytest.param("      affinity: {nodeAffinity: {}, nodeAffinity: {}}\n", "spec.template.spec.affinity.nodeAffinity", 9, id="node affinity"),
        pytest.param("    metadata: {annotations: {archfit.dev/skip: a, archfit.dev/skip: b}}\n", 'spec.template.metadata.annotations["archfit.dev/skip"]', 9, id="our annotation"),
    ],
)  # fmt: skip
def test_a_key_twice_where_it_matters_is_an_error(lines, field, line):
    with pytest.raises(Failed) as failed:
        edited((POD + lines).encode())
    first = failed.value.messages[0]
    assert (first.severity, first.field, first.text) == ("error", field, DUPLICATE)
    assert first.location is not None
    assert first.location.line == line


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("      hostNetwork: true\n      hostNetwork: true\n", id="a field of the pod that decides nothing"),
        pytest.param("        name: a\n        name: b\n", id="a container's name"),
        pytest.param("      affinity: {podAffinity: {}, podAffinity: {}}\n", id="pod affinity"),
        pytest.param("    metadata: {annotations: {a: a, a: b}}\n", id="another annotation"),
    ],
)  # fmt: skip
def test_a_key_twice_elsewhere_is_a_warning(lines):
    output = edited((POD + lines).encode())
    assert [result.severity for result in output.edits.messages] == ["warning"]
    assert output.spans


SENTINEL = "hunter2Zx"
POSITIONS = [
    "password: {0}: {0}",
    "password: '{0}",
    'password: "{0}',
    'password: "\\{0}"',
    "password: @{0}",
    "password: `{0}`",
    "password: %{0}",
    "password: *{0}",
    "password: &{0} *{0}",
    "password: &{0} [*{0}]",
    "password: &{0}*",
    "password: !<{0}",
    "password: !{0}!x y",
    "password: !!binary {0}-é",
    "password: [{0}",
    "password: {{a: {0}",
    "password: |{0}",
    "password: {0}\x07",
    "password:\n\t{0}",
    "password:\n  {0}\n {0}",
    "{0}",
    "{0}: {0}: {0}",
    "- {0}",
    "{0}\n{0}: x",
    "? [{0}]",
    "? {{a: {0}}}",
    "%{0}",
    "--- {0}",
    "---{0}: x",
    "...\n{0}",
    '{{"password": "{0}"',
    '{{"password": "\\u{0}"}}',
    "password: a\npassword: {0}",
    "{0}: a\nstringData: [",
    "x: &x [{0}]\n<<: *x",
    "<<: {0}",
]  # fmt: skip


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize(
    "around",
    [
        pytest.param("{}\n", id="alone"),
        pytest.param("# Secret\n---\napiVersion: v1\nkind: 'Secret'\nstringData:\n  {}\n", id="inside a Secret"),
        pytest.param("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: 'Secret'\n  data:\n    {}\n", id="inside a list"),
        pytest.param(POD + "        env:\n        - {}\n", id="in a container"),
        pytest.param(POD + "{}\n", id="behind a pod"),
    ],
)  # fmt: skip
def test_no_value_of_the_stream_is_repeated(position, around, tmp_path):
    report = tmp_path / "report.json"
    text = around.replace("{}", position.format(SENTINEL).replace("\n", "\n" + " " * _indent(around)))
    ended = command(text.encode(), "--report", str(report))
    assert SENTINEL.lower() not in "\n".join(ended.lines).lower()
    assert SENTINEL not in report.read_text(encoding="utf-8")
    assert bool(ended.written) == (ended.status == 0)


def _indent(around: str) -> int:
    line = around[: around.index("{}")].rpartition("\n")[2]
    return len(line)


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"---\n", b"# nothing\n", b"\n---\n# nothing\n--- # c\n", b"\xef\xbb\xbf"]
)
def test_input_that_is_blank_fails_unless_it_may_be(data):
    """`helm template BROKEN | archfit > out.yaml` is no file that GitOps prunes by."""
    status, written, messages = command(data)
    assert (status, written) == (1, b"")
    assert messages[0] == (
        "error: the input holds no manifests. Did the command before the pipe fail? Run it alone, or allow this with "
        "--on-blank=pass"
    )
    warning = ["warning: the input holds no manifests; it was written back as it is"]
    assert command(data, "--on-blank", "pass") == Ended(0, data, warning)


@pytest.mark.parametrize("data", [b"null\n", b"~\n", b"---\nnull\n---\n~\n", b"# c\n---\nnull # c\n"])
def test_null_documents_pass(data):
    assert command(data) == Ended(0, data, [])
