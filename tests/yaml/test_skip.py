"""What is skipped, what is sliced, and that no pod is hidden by it."""

import pytest

from archfit.workloads.inventory import is_podless, scan_piece
from archfit.yaml.scan import spans
from archfit.yaml.skip import identity
from archfit.yaml.stream import split

POD = "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: both:1}]}\n"


def parsed(text: str) -> list[str]:
    """The parts of the stream that the parser sees."""
    data = text.encode()
    return [span.text(data) for piece in split(data) for span in spans(data, piece, is_podless)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("apiVersion: v1\nkind: ConfigMap\ndata: [broken\n", id="a kind that holds no pod, whatever it says"),
        pytest.param(" # c\n\t\nx-y.z: {}\nkind: Service\napiVersion: v1\n", id="an indented comment, and another key first"),
        pytest.param("kind: Service # c\napiVersion: v1\n".replace(" # c", ""), id="kind first"),
        pytest.param("apiVersion: v1\r\nkind: Secret\r\n", id="CRLF"),
        pytest.param("apiVersion: v1  \nkind: Secret\t", id="trailing blanks and no final newline"),
        pytest.param("# Source: x\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n", id="a comment first"),
        pytest.param("apiVersion: example.com/v1\nkind: Thing\nspec: {a: b}\n", id="an unknown kind without the words of a pod"),
        pytest.param("data: {a: '', b: 'it''s', c: 'x'}\nkind: Secret\napiVersion: v1\n", id="quotes that are closed"),
        pytest.param("data:\n  - ''\n  - ''''\nkind: Secret\napiVersion: v1\n", id="empty text"),
        pytest.param('apiVersion: v1\nkind: ConfigMap\ndata:\n  a: "x\n    kind: Pod"\n', id="another kind, deeper"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\ndata:\n  items: '[]'\n", id="items, deeper"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\ndata: &a {}\nx: {<<: *a}\n", id="a merge, deeper"),
    ],
)  # fmt: skip
def test_skipped(text):
    assert parsed(text) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(POD, id="a pod"),
        pytest.param("apiVersion: serving.knative.dev/v1\nkind: Service\nspec: {template: {spec: {containers: []}}}\n", id="a kind of the same name in another group"),
        pytest.param("apiVersion: v1\nkind: ConfigMap # c\n", id="a comment behind the kind"),
        pytest.param("apiVersion: v1\nkind: 'ConfigMap'\n", id="a quoted kind"),
        pytest.param("{kind: Pod}\napiVersion: v1\nkind: ConfigMap\n", id="another object first, which counts"),
        pytest.param("null\n# c\napiVersion: v1\nkind: ConfigMap\n", id="a scalar first, which counts"),
        pytest.param("'a: b'\n# c\napiVersion: v1\nkind: ConfigMap\n", id="a quoted scalar first"),
        pytest.param("# c\n\n kind: Pod\napiVersion: v1\nkind: ConfigMap\n", id="another object first, indented"),
        pytest.param("'apiVersion': v1\nkind: ConfigMap\n", id="a quoted key"),
        pytest.param("'metadata' : {}\nkind: Service\napiVersion: v1\n", id="a quoted key first"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\nkind: Pod\n", id="two kinds"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n'kind': Pod\n", id="a second kind in quotes"),
        pytest.param('apiVersion: v1\nkind: ConfigMap\n"kind" : Pod\n', id="a second kind in double quotes"),
        pytest.param('apiVersion: v1\nkind: ConfigMap\n"k\\x69nd": Pod\n', id="a second kind with an escape"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n? kind\n: Pod\n", id="a second kind as an explicit key"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n!!str kind: Pod\n", id="a second kind with a tag"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n&a kind: Pod\n", id="a second kind with an anchor"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n'apiVersion': g/v1\n", id="a second version in quotes"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n<<: {kind: Pod}\n", id="a second kind by a merge"),
        pytest.param("<<: {kind: Pod}\napiVersion: v1\nkind: ConfigMap\n", id="a merge first"),
        pytest.param("apiVersion: v1\n!!merge <<: {kind: Pod}\nkind: ConfigMap\n", id="a merge with a tag"),
        pytest.param("'metadata': {}\napiVersion: v1\nkind: ConfigMap\n<<: {kind: Pod}\n", id="a merge behind a quoted key"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\nitems:\n- kind: Pod\n", id="items"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\nitems: [{kind: Pod}]\n", id="items in flow style"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\nitems : [{kind: Pod}]\n", id="a blank before the colon of items"),
        pytest.param("items: [{kind: Pod}]\napiVersion: v1\nkind: ConfigMap\n", id="items first"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n'items': [{kind: Pod}]\n", id="items in quotes"),
        pytest.param('"items": [{kind: Pod}]\napiVersion: v1\nkind: ConfigMap\n', id="items in quotes first"),
        pytest.param('apiVersion: v1\nkind: ConfigMap\n"\\x69tems": [{kind: Pod}]\n', id="items with an escape"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n? items\n: [{kind: Pod}]\n", id="items as an explicit key"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n!!str items: [{kind: Pod}]\n", id="items with a tag"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n&a items: [{kind: Pod}]\n", id="items with an anchor"),
        pytest.param("apiVersion: v1\nmetadata: {name: &a items}\nkind: ConfigMap\n*a : [{kind: Pod}]\n", id="items by an alias"),
        pytest.param("apiVersion: example.com/v1\nkind: Thing\nitems: [{apiVersion: a/v1, kind: Kafka}]\n", id="items of an unknown kind without the words of a pod"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\nkindle: x\n", id="two lines that begin with kind"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n# \u0085kind: Pod\n", id="NEL"),
        pytest.param("apiVersion: v1\nkind: ConfigMap\r# c\n", id="a bare CR"),
        pytest.param("{apiVersion: v1, kind: ConfigMap}\n", id="flow"),
        pytest.param(" apiVersion: v1\n kind: ConfigMap\n", id="an indented document"),
        pytest.param('apiVersion: example.com/v1\nkind: Thing\nspec: {"i\\u006dage": x}\n', id="an escaped key in an unknown kind"),
        pytest.param("apiVersion: example.com/v1\nkind: Thing\nspec: {podTemplate: x}\n", id="an unknown kind with a word of a pod"),
        pytest.param('"apiVersion": v1\n"kind": Pod\nx: "\nkind: ConfigMap\napiVersion: v1\n"\n', id="quoted text that looks like another kind"),
        pytest.param("'apiVersion': v1\n'kind': Pod\nx: 'it''s\nkind: ConfigMap\napiVersion: v1\n'\n", id="single-quoted text"),
        pytest.param("'apiVersion': v1\n'kind': Pod\nx: ' ''\nkind: ConfigMap\napiVersion: v1\n'\n", id="behind an escaped quote"),
        pytest.param("'apiVersion': v1\n'kind': Pod\nx: '''\nkind: ConfigMap\napiVersion: v1\n'\n", id="quotes in a row"),
        pytest.param('"apiVersion": v1\n"kind": Pod\nx: {"a":"\\"\nkind: ConfigMap\napiVersion: v1\n"}\n', id="quoted text behind an escaped quote"),
        pytest.param("hello\n", id="no object"),
    ],
)  # fmt: skip
def test_not_skipped(text):
    assert parsed(text) == [text]


LIST = "apiVersion: v1\nkind: List\nitems:\n"
ITEM = "- apiVersion: v1\n  kind: {}\n  spec: {{containers: [{{image: both:1}}]}}\n"
DEEP = "  - apiVersion: v1\n    kind: {}\n"

SLICED = [
    pytest.param(LIST + ITEM.format("Pod") + ITEM.format("ConfigMap"), [ITEM.format("Pod")], id="at column 0"),
    pytest.param(LIST + DEEP.format("ConfigMap") + DEEP.format("Pod"), [DEEP.format("Pod")], id="indented"),
    pytest.param(
        "items:\n" + ITEM.format("Secret") + ITEM.format("Pod") + "kind: List\napiVersion: v1\n",
        [ITEM.format("Pod")],
        id="keys behind the items",
    ),
    pytest.param(
        LIST + "# c\n" + ITEM.format("Pod") + "\n# c\n" + ITEM.format("Job"),
        [ITEM.format("Pod") + "\n# c\n", ITEM.format("Job")],
        id="comments and blank lines between",
    ),
    pytest.param(LIST + "-\n  kind: ConfigMap\n  apiVersion: v1\n" + ITEM.format("Pod"), [ITEM.format("Pod")], id="a lone dash"),
    pytest.param(
        LIST + "-   kind: ConfigMap\n    apiVersion: v1\n", ["-   kind: ConfigMap\n    apiVersion: v1\n"], id="another column is parsed"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SLICED)
def test_items_are_pieces_of_their_own(text, expected):
    assert parsed(text) == expected
    assert parsed(text.replace("\n", "\r\n")) == [part.replace("\n", "\r\n") for part in expected]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LIST + ITEM.format("Pod").replace("spec:", "spec: &a") + "- *a\n", id="an anchor"),
        pytest.param("apiVersion: v1\nkind: List\nitems: [{kind: Pod}]\n", id="flow items"),
        pytest.param(LIST.replace("List", "PodList") + ITEM.format("Pod"), id="a typed list"),
        pytest.param(LIST + ITEM.format("Pod") + "metadata: {}\nitems:\n" + ITEM.format("Pod"), id="items twice"),
        pytest.param(LIST + ITEM.format("Pod") + "'items':\n" + ITEM.format("Pod"), id="items twice, in quotes"),
        pytest.param(LIST + ITEM.format("Pod") + "? items\n:\n" + ITEM.format("Pod"), id="items twice, as an explicit key"),
        pytest.param("'items': []\n" + LIST + ITEM.format("Pod"), id="items twice, first in quotes"),
        pytest.param('apiVersion: v1\nmetadata: {x: "\nitems:\n- a\n"}\nkind: List\nitems:\n' + ITEM.format("Pod"), id="items inside of quotes"),
        pytest.param(LIST + ITEM.format("Pod") + "# \u2028\n", id="an odd line break"),
    ],
)  # fmt: skip
def test_a_list_that_is_not_regular_is_one_piece(text):
    assert parsed(text) == [text]


HIDDEN = [
    pytest.param(
        LIST + '- kind: ConfigMap\n  apiVersion: v1\n  x: "\n' + ITEM.format("Pod") + '- kind: ConfigMap\n  apiVersion: v1\n  x: "\n',
        [],
        id="an item inside of quoted text is none",
    ),
    pytest.param(LIST + "- kind: ConfigMap\n  apiVersion: v1\n  x: ' \n" + ITEM.format("Pod") + "' \n", [], id="nor at the end of a list"),
    pytest.param(
        LIST + '- kind: ConfigMap\n  apiVersion: v1\n  x: " "\n' + ITEM.format("Pod"), [4 + 3], id="text that only looks open hides nothing"
    ),
    pytest.param(LIST + "- kind: List\n  apiVersion: v1\n  items:\n  " + ITEM.format("Pod").replace("\n", "\n  ").rstrip(" "), [4], id="a list in a list"),
    pytest.param("apiVersion: v1\nkind: PodList\nitems:\n- spec: {containers: [{image: a}]}\n", [1], id="an item without a kind in a typed list"),
    pytest.param("apiVersion: v1\nkind: PodList\nitems: ~\n", [], id="a list without items"),
    pytest.param(LIST + "- \n- null\n" + ITEM.format("Pod"), [6], id="empty items"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "lines"), HIDDEN)
def test_pods_of_lists(text, lines):
    data = text.encode()
    found = [scan_piece(data, piece) for piece in split(data)]
    assert [result for inventory in found for result in inventory.messages] == []
    pods = [pod for inventory in found for document in inventory.documents for pod in document.pods]
    assert [pod.location.line for pod in pods] == lines


def test_identity_is_what_the_top_column_says():
    data = b"- kind: A\n  apiVersion: g/v1\n  spec:\n    kind: B\n"
    found = identity(data, 0, len(data), 2)
    assert found is not None
    assert (found.kind, found.api_version) == ("A", "g/v1")
