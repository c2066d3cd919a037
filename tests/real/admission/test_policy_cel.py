"""A generated policy, by the API server's own CEL without a server, decides pod by pod as archfit does."""

from __future__ import annotations

import random
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pytest

from archfit.base.errors import InvalidReference, UsageError
from archfit.images.reference import parse
from archfit.options.option_entries import Exclude, Match, Rule
from archfit.options.settings import Options, Toleration, TolerationRule
from archfit.options.text_form import image_platforms
from archfit.policy.cel.cel_text import literal, pattern, rows, text
from archfit.policy.cel.left_alone import MAX_IMAGES, MAX_TERMS
from archfit.policy.cel.match_conditions import MAX_EXCLUDES, MAX_RULES
from archfit.policy.cel.objects import policy_objects
from archfit.policy.cel.policy_settings import PolicySettings
from archfit.policy.cel.table_storage import MAX_CODE_POINTS
from drawn_pods import any_pods, at_creation
from drawn_pods.drawing import ARCH
from pod_decisions import found, requiring, term, using
from policy_judge import PolicyJudge, judge_binary, outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from archfit.images.platforms import ImagePlatforms


LOCKED = at_creation.platforms()
LITERAL, CRD = PolicySettings(), PolicySettings(carrier="crd")
# What the patch may write: variables that are made of the policy's own literals, or of texts of the stored pod.
WRITTEN = (
    *("written", "newTolerations", "newPreferences", "newRecord"),
    *("lostTolerations", "lostExpressions", "lostPreferences", "recordBefore"),
)


@pytest.fixture(scope="module")
def by_default() -> Iterator[PolicyJudge]:
    """A judge with the policy of default options."""
    with PolicyJudge(judge_binary()) as running:
        running.compile(policy_objects(LOCKED, Options(), LITERAL))
        yield running


def a_pod(spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", **metadata}, "spec": spec}


@pytest.mark.parametrize("seed", range(12))
def test_the_policy_does_to_a_pod_what_archfit_does(judge: PolicyJudge, seed: int):
    source = random.Random(seed)
    options = any_pods.options(source) if seed else Options()
    locked = any_pods.locked(source) if seed % 2 else LOCKED
    try:
        objects = policy_objects(locked, options, source.choice((LITERAL, CRD)))
    except UsageError as error:
        pytest.fail(f"seed {seed} draws options that contradict each other: {error}")
    assert judge.compile(objects) == []
    outcomes = [
        outcome(judge, any_pods.pod(source, namespace), locked, options, namespace)
        for namespace in random.Random(seed).choices(any_pods.NAMESPACES, k=150)
    ]
    assert outcomes.count("left alone") < 30


@pytest.mark.parametrize("text", any_pods.REFERENCES, ids=lambda text: ascii(text)[:50])
@pytest.mark.parametrize("field", ["container", "volume"])
def test_a_reference_is_read_as_archfit_reads_it(by_default: PolicyJudge, text: str, field: str):
    try:
        normalised = parse(text).normalised
    except InvalidReference:
        normalised = ""
    spec = using("both:1")
    if field == "container":
        spec["containers"].append({"name": "other", "image": text})
    else:
        spec["volumes"] = [{"name": "data", "image": {"reference": text}}]
    shown = by_default.admit(a_pod(spec), "shop", "references").shown["references"]
    assert shown == ["docker.io/library/both:1", normalised]
    outcome(by_default, a_pod(spec), LOCKED, Options())


@pytest.mark.parametrize(
    ("reason", "spec", "annotations"),
    [
        pytest.param("unlisted-image", using("nobody/locked:1"), {}, id="an image that is not listed"),
        pytest.param(
            "other-system",
            {**using("amd:1"), "nodeSelector": {"kubernetes.io/os": "freebsd"}},
            {},
            id="another operating system",
        ),
        pytest.param(
            "stated-platforms",
            using("amd:1"),
            {"archfit.dev/image-platforms": "darwin/arm64"},
            id="platforms of another system",
        ),
        pytest.param(
            "long-number",
            {**using("amd:1"), "affinity": requiring(term((ARCH, "Gt", ["1" * 19])))},
            {},
            id="a number that is no integer of 64 bits",
        ),
        pytest.param("too-large", using(*["amd:1"] * (MAX_IMAGES + 1)), {}, id="images"),
        pytest.param(
            "too-large",
            {**using("amd:1"), "affinity": requiring(*[term((ARCH, "Exists"))] * (MAX_TERMS + 1))},
            {},
            id="terms",
        ),
        pytest.param(
            "too-large",
            {**using("amd:1"), "affinity": requiring(term((ARCH, "In", [f"a{n}" for n in range(2000)])))},
            {},
            id="values",
        ),
    ],
)
def test_what_the_policy_leaves_alone(
    by_default: PolicyJudge, reason: str, spec: dict[str, Any], annotations: dict[str, str]
):
    pod = a_pod(spec, annotations=annotations)
    admitted = by_default.admit(pod, "shop", "leftAlone")
    assert (admitted.shown["leftAlone"], admitted.error) == ([reason], "")
    assert admitted.pod == by_default.normalised(pod)


def test_images_that_need_a_term_for_each_system_are_left_alone(judge: PolicyJudge):
    options = Options(cluster_architectures=("amd64", "arm64", "windows/amd64"))
    images = {"docker.io/library/split:1": found("arm64 windows/amd64", origin="lock"), **LOCKED}
    assert judge.compile(policy_objects(images, options, LITERAL)) == []
    assert outcome(judge, a_pod(using("split:1")), images, options) == "left alone: two-systems"
    assert outcome(judge, a_pod(using("split:1", "both:1")), images, options) == "Change"


def test_globs_match_in_cel_as_in_fnmatch(judge: PolicyJudge):
    source = random.Random(1)
    globs = ["".join(source.choices("ab-[]!*?^\\.:", k=source.randint(1, 7))) for _ in range(400)]
    names = ["".join(source.choices("abc-[]!^\\.:\n", k=source.randint(0, 5))) for _ in range(60)]
    matched = rows(f"variables.names.map(name, name.matches({text(pattern(glob))}))" for glob in globs)
    made = {"names": literal(names), "matched": matched}
    spec = {"variables": [{"name": name, "expression": expression} for name, expression in made.items()]}
    assert judge.compile([{"kind": "MutatingAdmissionPolicy", "spec": spec}]) == []
    assert judge.admit(a_pod(using("a")), "shop", "matched").shown["matched"] == [
        [fnmatchcase(name, glob) for name in names] for glob in globs
    ]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(
            Options(
                rules=tuple(
                    Rule(
                        Match("s*", name=f"w{n}*", labels=(("app", str(n)),)),
                        ("amd64",),
                        prefer=(("arm64", 1),),
                    )
                    for n in range(MAX_RULES)
                )
            ),
            id="rules",
        ),
        pytest.param(
            Options(
                image_platforms=tuple(
                    image_platforms(f"docker.io/library/b{n:04}*={'amd64' if n % 2 else 'arm64'}")
                    for n in range(500)
                )
            ),
            id="overrides",
        ),
        pytest.param(
            Options(exclude=tuple(Exclude("*", f"s{n}*", "w*") for n in range(MAX_EXCLUDES))), id="excludes"
        ),
        pytest.param(
            Options(tolerate=tuple(TolerationRule(("arm64",), Toleration(f"k{n}")) for n in range(300))),
            id="tolerations",
        ),
    ],
)
def test_configurations_with_many_entries_compile(judge: PolicyJudge, options: Options):
    assert judge.compile(policy_objects(LOCKED, options, LITERAL)) == []
    assert outcome(judge, a_pod(using("both:1")), LOCKED, options) == "Change"


@pytest.mark.parametrize("version", ["1.33", "1.34", "1.35", "1.36"])
@pytest.mark.parametrize("settings", [LITERAL, CRD], ids=["literal", "crd"])
@pytest.mark.parametrize(
    "overrides", [(), (image_platforms("docker.io/*=linux/amd64"),)], ids=["none", "one"]
)
def test_a_policy_without_images_compiles_in_every_supported_version(
    judge: PolicyJudge, version: str, settings: PolicySettings, overrides: tuple[ImagePlatforms, ...]
):
    options = Options(image_platforms=overrides)
    assert judge.compile(policy_objects({}, options, settings), version) == []
    outcome(judge, a_pod(using("app:1", "quay.io/team/app:1")), {}, options)


@pytest.mark.parametrize("settings", [LITERAL, CRD], ids=["literal", "crd"])
def test_every_expression_is_below_the_limit_of_the_parser(judge: PolicyJudge, settings: PolicySettings):
    images = {
        f"registry.example.com/team/service-{n:06}/application:1.2.3": found("amd64") for n in range(5000)
    }
    objects = policy_objects(images, Options(), settings)
    policy = next(one for one in objects if one["kind"] == "MutatingAdmissionPolicy")
    sizes = [judge.read(one["expression"])[1] for one in policy["spec"]["variables"]]
    assert max(sizes) < MAX_CODE_POINTS
    assert judge.compile(objects) == []


@pytest.mark.parametrize("settings", [LITERAL, CRD], ids=["literal", "crd"])
def test_no_value_of_the_patch_is_a_part_of_the_pod_or_a_list_of_typed_objects(
    judge: PolicyJudge, settings: PolicySettings
):
    objects = policy_objects(LOCKED, Options(prefer=(("arm64", 1),)), settings)
    (policy,) = (one for one in objects if one["kind"] == "MutatingAdmissionPolicy")
    (mutation,) = policy["spec"]["mutations"]
    assert judge.read(mutation["jsonPatch"]["expression"], WRITTEN)[0] == []
    expressions = {one["name"]: one["expression"] for one in policy["spec"]["variables"]}
    assert [name for name in ("written", "newTolerations") if "object." in expressions[name]] == []
