"""Fields that are not as Kubernetes has them: an error that names the field, the pod left as it is."""

import pytest

from archfit.options.settings import Options, Toleration, TolerationRule
from archfit.yaml.values import Typed
from pod_decisions import ARCH, OS, PREFERRED, REQUIRED, in_, one, questions_of, requiring, term

NUMBER, TRUE = Typed("int", "5"), Typed("bool", "true")
TERMS = f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        pytest.param(
            {"nodeSelector": ["a"]}, "nodeSelector", "has to be a mapping, but it is a list; write it as the Kubernetes API does", id="node-selector-list"
        ),
        pytest.param(
            {"nodeSelector": {ARCH: TRUE}}, f'nodeSelector["{ARCH}"]', 'has to be a string, but true is a boolean; put it in quotes: "true"', id="arch-boolean"
        ),
        pytest.param(
            {"nodeSelector": {OS: ["linux"]}},
            f'nodeSelector["{OS}"]',
            "has to be a string, but it is a list; write it as the Kubernetes API does",
            id="os-list",
        ),
        pytest.param({"affinity": "amd64"}, "affinity", "has to be a mapping, but it is a string; write it as the Kubernetes API does", id="affinity-string"),
        pytest.param(
            {"affinity": {"nodeAffinity": []}},
            "affinity.nodeAffinity",
            "has to be a mapping, but it is a list; write it as the Kubernetes API does",
            id="node-affinity-list",
        ),
        pytest.param(
            {"affinity": {"nodeAffinity": {REQUIRED: [term()]}}},
            f"affinity.nodeAffinity.{REQUIRED}",
            "has to be a mapping, but it is a list; write it as the Kubernetes API does",
            id="required-list",
        ),
        pytest.param(
            {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": {}}}}},
            TERMS,
            "has to be a list, but it is a mapping; write it as the Kubernetes API does",
            id="terms-mapping",
        ),
        pytest.param(
            {"affinity": requiring(term(), "arm64")},
            f"{TERMS}[1]",
            "has to be a mapping, but it is a string; write it as the Kubernetes API does",
            id="term-string",
        ),
        pytest.param(
            {"affinity": requiring({"matchExpressions": {"key": "a"}})},
            f"{TERMS}[0].matchExpressions",
            "has to be a list, but it is a mapping; write it as the Kubernetes API does",
            id="expressions-mapping",
        ),
        pytest.param(
            {"affinity": requiring({"matchFields": "x"})},
            f"{TERMS}[0].matchFields",
            "has to be a list, but it is a string; write it as the Kubernetes API does",
            id="match-fields-string",
        ),
        pytest.param(
            {"affinity": requiring({"matchExpressions": [NUMBER]})},
            f"{TERMS}[0].matchExpressions[0]",
            "has to be a mapping, but 5 is a number",
            id="expression-number",
        ),
        pytest.param(
            {"affinity": requiring({"matchExpressions": [{"key": NUMBER}]})},
            f"{TERMS}[0].matchExpressions[0].key",
            'has to be a string, but 5 is a number; put it in quotes: "5"',
            id="key-number",
        ),
        pytest.param(
            {"affinity": requiring(term((ARCH, "In", "amd64")))},
            f"{TERMS}[0].matchExpressions[0].values",
            "has to be a list, but it is a string; write it as the Kubernetes API does",
            id="values-string",
        ),
        pytest.param(
            {"affinity": requiring(term((ARCH, "In", [NUMBER])))},
            f"{TERMS}[0].matchExpressions[0].values[0]",
            'has to be a string, but 5 is a number; put it in quotes: "5"',
            id="value-number",
        ),
        pytest.param(
            {"tolerations": "all"}, "tolerations", "has to be a list, but it is a string; write it as the Kubernetes API does", id="tolerations-string"
        ),
        pytest.param(
            {"tolerations": ["all"]}, "tolerations[0]", "has to be a mapping, but it is a string; write it as the Kubernetes API does", id="toleration-string"
        ),
        pytest.param(
            {"tolerations": [{}, {"value": TRUE}]},
            "tolerations[1].value",
            'has to be a string, but true is a boolean; put it in quotes: "true"',
            id="toleration-value-boolean",
        ),
        pytest.param({"os": "windows"}, "os", "has to be a mapping, but it is a string; write it as the Kubernetes API does", id="os-string"),
    ],
)  # fmt: skip
def test_malformed(fields, field, message):
    outcome = one("amd64", **fields)
    assert outcome.name == "Unresolved"
    assert outcome.messages == [f"error: {message}"]
    assert outcome.decision.messages[0].field == f"spec.template.spec.{field}"
    assert questions_of(outcome.pod) == ("app:1",)


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        pytest.param("x", "", id="terms-string"),
        pytest.param(["x"], "[0]", id="term-string"),
        pytest.param([{"preference": "x"}], "[0].preference", id="preference-string"),
    ],
)
def test_preferred_terms_are_read_where_something_is_preferred(terms, field):
    affinity = {"nodeAffinity": {PREFERRED: terms}}
    outcome = one("amd64 arm64", Options(prefer=(("arm64", 1),)), affinity=affinity)
    assert (
        outcome.decision.messages[0].field == f"spec.template.spec.affinity.nodeAffinity.{PREFERRED}{field}"
    )
    assert one("amd64 arm64", affinity=affinity).name == "Change"


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"nodeSelector": {"disk": NUMBER}}, id="labels-we-do-not-read"),
        pytest.param({"affinity": requiring(term(("x", "In", "y")))}, id="expressions-we-do-not-read"),
        pytest.param({"affinity": {"podAffinity": "x"}}, id="affinity-we-do-not-read"),
        pytest.param({"tolerations": [{"tolerationSeconds": "x"}]}, id="toleration-fields-we-do-not-read"),
    ],
)
def test_what_is_not_read_is_not_judged(fields):
    assert one("amd64", **fields).name == "Change"


EVICTING = TolerationRule(("arm64",), Toleration("k", "Equal", "", "NoExecute"))


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        pytest.param({"tolerations": [None]}, "AlreadySet", id="toleration"),
        pytest.param(
            {"affinity": requiring({"matchExpressions": [*term(in_("amd64"))["matchExpressions"], None]})},
            "NotNeeded",
            id="expression",
        ),
    ],
)
def test_a_null_item_is_an_empty_mapping(fields, outcome):
    assert one("amd64 arm64", Options(tolerate=(EVICTING,)), **fields).name == outcome


def test_a_pod_that_is_left_alone_is_not_judged():
    assert one("amd64", nodeName="n1", affinity="x").messages == []
