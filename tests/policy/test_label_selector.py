"""kubectl's label selectors as matchExpressions; what a LabelSelector cannot say is refused with the remedy."""

import pytest

from archfit.base.errors import UsageError
from archfit.policy.flags import match_expressions


def one(key: str, operator: str, *values: str) -> dict[str, object]:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


@pytest.mark.parametrize(
    ("text", "requirements"),
    [
        pytest.param("team=web", [one("team", "In", "web")], id="equals"),
        pytest.param("team==web", [one("team", "In", "web")], id="double equals"),
        pytest.param("team = web", [one("team", "In", "web")], id="blanks"),
        pytest.param("team!=web", [one("team", "NotIn", "web")], id="not equal"),
        pytest.param("team=", [one("team", "In", "")], id="an empty value"),
        pytest.param("team", [one("team", "Exists")], id="present"),
        pytest.param("!team", [one("team", "DoesNotExist")], id="absent"),
        pytest.param("! team", [one("team", "DoesNotExist")], id="absent, with a blank"),
        pytest.param("team in (web, shop,web)", [one("team", "In", "shop", "web")], id="one of, once each"),
        pytest.param("team in (a,)", [one("team", "In", "", "a")], id="one of, the empty one too"),
        pytest.param("team notin(web)", [one("team", "NotIn", "web")], id="none of"),
        pytest.param("in", [one("in", "Exists")], id="a key that is an operator"),
        pytest.param(
            "example.com/team in (a,b),!x.example/y,stage=prod",
            [
                one("example.com/team", "In", "a", "b"),
                one("x.example/y", "DoesNotExist"),
                one("stage", "In", "prod"),
            ],
            id="several",
        ),
    ],
)
def test_a_selector_becomes_requirements(text, requirements):
    assert match_expressions(text) == requirements


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", "'' is no requirement on a label: write one of team=web", id="nothing"),
        pytest.param("a,,b", "'' is no requirement on a label", id="a comma too many"),
        pytest.param("a > 1", "'a > 1' is no requirement on a label", id="a comparison"),
        pytest.param("a b", "'a b' is no requirement on a label", id="two words"),
        pytest.param("a in (web", "'a in (web' is no requirement on a label", id="an open bracket"),
        pytest.param("a=b=c", "'a=b=c' is no requirement on a label", id="two values"),
        pytest.param("a/b/c", "'a/b/c' is not a key of a label", id="a key"),
        pytest.param("a in (b c)", "'b c' is not a value of a label", id="a value"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(text, words):
    with pytest.raises(UsageError) as raised:
        match_expressions(text)
    assert str(raised.value).startswith("--namespace-selector: ")
    assert words in str(raised.value)
