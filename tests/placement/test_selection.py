"""Exclusions, rules and annotations: which pods are left alone, and what is asked for the others."""

from typing import Any

import pytest

from archfit.base.errors import UsageError
from archfit.images.platforms import Unasked, Unknown
from archfit.options.rules import exclude
from archfit.options.settings import Exclude, Match, Options, Rule
from archfit.yaml.values import Typed
from case_files import rows
from pod_decisions import (
    GKE,
    OS,
    PREFERRED,
    REQUIRED,
    a_pod,
    decided,
    decision_for,
    found,
    in_,
    one,
    pod_of,
    questions_of,
    requiring,
    term,
    terms_of,
    using,
)

TRUE = Typed("bool", "true")
A, R, AR = "amd64", "arm64", "amd64 arm64"


def noted(**annotations: Any) -> dict[str, Any]:
    """Metadata with archfit's annotations; `image_platforms` stands for image-platforms."""
    return {
        "annotations": {f"archfit.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    }


@pytest.mark.parametrize(
    ("pattern", "excluded"),
    [
        pytest.param("Deployment", True, id="kind"),
        pytest.param("deployment", True, id="kind-in-any-case"),
        pytest.param("Deploy*", True, id="kind-glob"),
        pytest.param("DaemonSet", False, id="another-kind"),
        pytest.param("*", True, id="everything"),
        pytest.param("*/shop", True, id="namespace"),
        pytest.param("*/sh*", True, id="namespace-glob"),
        pytest.param("*/Shop", False, id="namespace-as-written"),
        pytest.param("*/other", False, id="another-namespace"),
        pytest.param("Deployment/shop/web", True, id="all-three"),
        pytest.param("*/*/w?b", True, id="name-glob"),
        pytest.param("Deployment/shop/api", False, id="another-name"),
        pytest.param("*/*/we", False, id="the-whole-name"),
        pytest.param("Deployments", True, id="plural"),
        pytest.param("deploy", True, id="kubectl's-short-name"),
        pytest.param("DEPLOY/shop/web", True, id="a-short-name-in-any-case"),
        pytest.param("deployments.apps", True, id="with-its-group"),
        pytest.param("deployment.v1.apps/*/web", True, id="with-version-and-group"),
        pytest.param("deployments.extensions", False, id="another-group"),
        pytest.param("deployment/web", True, id="kind-and-name-as-for-kubectl"),
        pytest.param("deployment/w*", True, id="a-glob-of-names-behind-a-kind"),
        pytest.param("deployment/shop", True, id="kind-and-namespace"),
        pytest.param("deployment/api", False, id="kind-and-another-name"),
        pytest.param("*/web", False, id="behind-a-glob-it-is-a-namespace"),
        pytest.param("web", False, id="a-word-alone-is-a-kind"),
        pytest.param("sts", False, id="another-short-name"),
        pytest.param("*s", False, id="a-glob-is-over-kinds-not-plurals"),
    ],
)
def test_exclude(pattern, excluded):
    options = Options(exclude=(Exclude("Nothing"), exclude(pattern)))
    outcome = one(A, options)
    assert outcome.name == ("OptedOut" if excluded else "Change")
    assert questions_of(outcome.pod, options) == (() if excluded else ("app:1",))
    if excluded:
        assert outcome.decision.reason == f"excluded by configuration ({pattern})"


def test_an_object_without_namespace_is_matched_by_the_star_alone():
    for pattern, outcome in (("*/*", "OptedOut"), ("*/default", "Change")):
        made = decided(
            using("a"), {"a": A}, Options(exclude=(exclude(pattern),)), object_metadata={"namespace": None}
        )
        assert made.name == outcome


@pytest.mark.parametrize("pattern", ["a/b/c/d", "", "a//c", "a/"])
def test_a_wrong_exclude_glob_is_an_error_that_shows_the_grammar(pattern):
    with pytest.raises(UsageError, match="KIND/NAMESPACE/NAME"):
        exclude(pattern)


LABELLED = {"labels": {"team": "a", "tier": "web"}}


@pytest.mark.parametrize(
    ("match", "metadata", "matched"),
    [
        pytest.param(Match(), {}, True, id="everything"),
        pytest.param(Match(namespace="shop"), {}, True, id="namespace"),
        pytest.param(Match(namespace="sh*", kind="deploy*", name="w*"), {}, True, id="globs"),
        pytest.param(Match(namespace="shop", kind="Job"), {}, False, id="all-have-to-hold"),
        pytest.param(Match(labels=(("team", "a"),)), {"metadata": LABELLED}, True, id="label-of-the-template"),
        pytest.param(Match(labels=(("team", "a"),)), {"object_metadata": LABELLED}, True, id="label-of-the-object"),
        pytest.param(Match(labels=(("team", "a"), ("tier", "db"))), {"metadata": LABELLED}, False, id="every-label"),
        pytest.param(Match(labels=(("team", "b"),)), {"metadata": LABELLED}, False, id="another-value"),
        pytest.param(Match(labels=(("team", "a"),)), {"metadata": {"labels": ["team"]}}, False, id="no-mapping"),
    ],
)  # fmt: skip
def test_rules_match(match, metadata, matched):
    outcome = decided(using("a"), {"a": A}, Options(rules=(Rule(match, skip=True),)), **metadata)
    assert outcome.name == ("OptedOut" if matched else "Change")


ALL, SHOP = Match(), Match(namespace="shop")


@pytest.mark.parametrize(
    ("rules", "annotations", "architectures", "tolerated"),
    [
        pytest.param((Rule(SHOP, only=("amd64",)),), {}, ["amd64"], False, id="only"),
        pytest.param((Rule(SHOP, only=("amd64", "arm64")),), {}, None, True, id="only-that-narrows-nothing"),
        pytest.param((Rule(SHOP, tolerate=False),), {}, None, False, id="tolerate"),
        pytest.param((Rule(SHOP, tolerate=False),), {"tolerate": "true"}, None, True, id="the-pod-comes-last"),
        pytest.param((), {"tolerate": "false"}, None, False, id="annotation-tolerate"),
        pytest.param((), {"tolerate": Typed("bool", "false")}, None, False, id="annotation-unquoted"),
        pytest.param((), {"only": "arm64"}, ["arm64"], True, id="annotation-only"),
        pytest.param((), {"only": "aarch64, x86_64"}, None, True, id="annotation-spellings"),
        pytest.param((), {"only": "amd64 s390x"}, ["amd64"], False, id="annotation-never-widens"),
        pytest.param((Rule(ALL, only=("amd64",)), Rule(SHOP, only=("arm64",))), {}, ["arm64"], True, id="later-rule-wins"),
        pytest.param((Rule(ALL, only=("amd64",)), Rule(SHOP, tolerate=True)), {}, ["amd64"], False, id="key-by-key"),
        pytest.param((Rule(ALL, skip=True), Rule(SHOP, skip=False)), {}, None, True, id="later-rule-takes-skip-back"),
        pytest.param((), {"added": "x"}, None, True, id="added-is-known"),
    ],
)  # fmt: skip
def test_rules_and_annotations(rules, annotations, architectures, tolerated):
    outcome = decided(using("a"), {"a": AR}, Options(rules=rules), metadata=noted(**annotations))
    assert terms_of(outcome.spec) == (architectures and [term(in_(*architectures))])
    assert outcome.spec.get("tolerations") == ([GKE] if tolerated else None)
    assert outcome.messages == []


OFFERED = Rule(SHOP, only=("arm64",), offered=True)
PINNED = {"nodeSelector": {"kubernetes.io/arch": "amd64"}}
AFFINE = {"affinity": requiring(term(("zone", "Exists")))}
UNREAD = {"on_unknown": "leave"}
UNKNOWN = Unknown("no answer")


@pytest.mark.parametrize(
    ("images", "fields", "kind", "options", "annotations", "terms"),
    [
        pytest.param([AR, AR], {}, "Deployment", {}, {}, [term(in_(R))], id="all-images-have-it"),
        pytest.param([AR, A], {}, "Deployment", {}, {}, [term(in_(A))], id="one-image-lacks-it"),
        pytest.param([A], {}, "Deployment", {}, {}, [term(in_(A))], id="none-has-it"),
        pytest.param(["amd64 s390x"], {}, "Deployment", {}, {}, [term(in_(A))], id="what-the-cluster-lacks"),
        pytest.param([AR], PINNED, "Deployment", {}, {}, None, id="the-pod-asks-for-another"),
        pytest.param([AR], AFFINE, "Deployment", {}, {}, [term(("zone", "Exists"), in_(R))], id="its-own-terms"),
        pytest.param([AR], {"affinity": requiring(term(in_(A)))}, "Deployment", {}, {}, [term(in_(A))], id="its-own-architecture"),
        pytest.param([AR], {}, "DaemonSet", {}, {}, None, id="a-daemon-set"),
        pytest.param([AR], {}, "Job", {}, {}, None, id="immutable"),
        pytest.param([AR], {}, "Job", {"immutable": "full"}, {}, [term(in_(R))], id="immutable-full"),
        pytest.param([AR], {}, "CronJob", {}, {}, [term(in_(R))], id="a-cron-job"),
        pytest.param([AR, UNKNOWN], {}, "Deployment", UNREAD, {}, None, id="an-unknown-image"),
        pytest.param([AR, Unasked("pulled by hand")], {}, "Deployment", {}, {}, None, id="an-unasked-image"),
        pytest.param([found(AR, image=False)], {}, "Deployment", {}, {}, None, id="no-image-says-so"),
        pytest.param([AR], {}, "Deployment", {}, {"only": A}, [term(in_(A))], id="the-annotation-leaves-none-of-it"),
        pytest.param([AR], {}, "Deployment", {}, {"only": AR}, [term(in_(R))], id="the-annotation-leaves-it"),
        pytest.param([AR], {}, "Deployment", {"rules": (OFFERED, Rule(SHOP, only=(A,)))}, {}, [term(in_(A))], id="a-later-rule"),
        pytest.param([AR], {}, "Deployment", {"rules": (Rule(SHOP, only=(A,)), OFFERED)}, {}, [term(in_(R))], id="the-later-rule"),
        pytest.param(
            ["windows/amd64 amd64 arm64"], {}, "Deployment", {"cluster_architectures": (A, R, "windows/amd64")}, {},
            [term((OS, "In", ["linux"]), in_(R))],
            id="a-bare-architecture-means-linux",
        ),
        pytest.param(["windows/amd64"], {"nodeSelector": {OS: "windows"}}, "Deployment", {}, {}, None, id="windows"),
    ],
)  # fmt: skip
def test_a_rule_narrows_where_it_is_offered(
    images, fields, kind, options, annotations, terms
):  # fmt: skip
    """It never makes a conflict, and a second run writes nothing."""
    known = {f"i{number}": answer for number, answer in enumerate(images)}
    chosen = Options(**{"rules": (OFFERED,), **options})
    metadata = {"object_metadata": noted(**annotations)}
    outcome = decided({**using(*known), **fields}, known, chosen, kind, **metadata)
    assert terms_of(outcome.spec) == terms
    assert not [text for text in outcome.messages if text.startswith("error")]
    again = decided(outcome.spec, known, chosen, kind, **metadata)
    assert (again.object, again.messages) == (outcome.object, outcome.messages)


def test_only_narrows_pods_whose_images_nobody_knows():
    outcome = decided(using("$(x)"), {}, metadata=noted(only="amd64"))
    assert terms_of(outcome.spec) == [term(in_("amd64"))]


def test_only_that_leaves_nothing_is_a_conflict_that_names_it():
    rules = (Rule(SHOP, only=("arm64",)),)
    outcome = decided(using("a"), {"a": AR}, Options(rules=rules), metadata=noted(only="amd64"))
    assert outcome.name == "Conflict"
    assert "a rule of the configuration and archfit.dev/only allows nothing" in outcome.messages[0]


def test_only_on_what_the_images_lack_is_a_conflict():
    outcome = decided(using("a"), {"a": A}, metadata=noted(only="arm64"))
    assert outcome.messages[0].startswith(
        "error: no architecture is left: the cluster has amd64, arm64, archfit.dev/only allows arm64, "
        "but a offers only amd64. "
    )


def test_a_rule_may_prefer():
    options = Options(tolerate=(), rules=(Rule(SHOP, prefer=(("arm64", 5),)),))
    assert "affinity" in one(AR, options).spec


@pytest.mark.parametrize(
    ("annotation", "terms"),
    [
        pytest.param("linux/amd64", [term(in_("amd64"))], id="one"),
        pytest.param("amd64, linux/arm64/v8", None, id="several"),
        pytest.param("linux/arm/v6 amd64", [term(in_("amd64"))], id="blanks"),
    ],
)
def test_image_platforms(annotation, terms):
    spec = using("a", "$(x)", "")
    metadata = noted(image_platforms=annotation)
    outcome = decided(spec, {}, metadata=metadata)
    assert terms_of(outcome.spec) == terms
    assert questions_of(outcome.pod) == ()
    assert outcome.messages[0].startswith(
        "info: a: its platforms are stated by configuration or annotation: linux/amd64"
    )


@pytest.mark.parametrize(
    ("annotations", "message", "field"),
    rows("placement/annotation_errors.yaml", "annotations", "message", "field"),
)
def test_annotation_errors(annotations, message, field):
    outcome = decided(using("a"), {"a": A}, metadata={"annotations": annotations})
    assert outcome.name == "Unresolved"
    assert outcome.messages == [f"error: {message}"]
    (result,) = outcome.decision.messages
    assert result.field == f'spec.template.metadata.annotations["archfit.dev/{field}"]'
    assert result.ref == outcome.pod.ref


def test_an_unknown_name_is_an_error_on_the_object_and_in_skipped_pods_too():
    outcome = decided(using("a"), {"a": A}, metadata=noted(skip="true"), object_metadata=noted(skipp="true"))
    assert outcome.name == "OptedOut"
    assert outcome.messages == [
        "error: there is no annotation archfit.dev/skipp; did you mean archfit.dev/skip?"
    ]
    assert outcome.decision.messages[0].field == 'metadata.annotations["archfit.dev/skipp"]'


@pytest.mark.parametrize(
    ("own", "template", "terms"),
    [
        pytest.param(noted(only="amd64"), {}, [term(in_("amd64"))], id="of-the-object"),
        pytest.param({}, noted(only="amd64"), [term(in_("amd64"))], id="of-the-template"),
        pytest.param(noted(only="arm64"), noted(only="amd64"), [term(in_("amd64"))], id="the-nearest-wins"),
        pytest.param(
            noted(only="amd64"), noted(only="amd64,arm64"), None, id="the-nearest-wins-and-narrows-nothing"
        ),
        pytest.param(
            noted(tolerate="false"), noted(only="amd64"), [term(in_("amd64"))], id="each-name-for-itself"
        ),
    ],
)
def test_annotations_count_on_the_object_and_on_its_template(own, template, terms):
    outcome = decided(using("a"), {"a": AR}, metadata=template, object_metadata=own)
    assert terms_of(outcome.spec) == terms
    assert outcome.messages == []


def test_a_skip_near_the_pod_takes_back_one_above_it():
    for own, template, name in (("true", "false", "Change"), ("false", "true", "OptedOut")):
        outcome = decided(
            using("a"), {"a": A}, metadata=noted(skip=template), object_metadata=noted(skip=own)
        )
        assert outcome.name == name


def test_an_invalid_annotation_is_an_error_though_a_nearer_one_wins():
    outcome = decided(using("a"), {"a": A}, metadata=noted(skip="true"), object_metadata=noted(skip="yes"))
    assert outcome.messages == ['error: archfit.dev/skip has to be "true" or "false", not \'yes\'']


JOB_TEMPLATE = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "c"},
    "spec": {
        "jobTemplate": {
            "metadata": noted(only="amd64"),
            "spec": {"template": {"metadata": {}, "spec": using("a")}},
        }
    },
}


def test_a_cron_job_reads_its_job_template_too():
    pod = pod_of(JOB_TEMPLATE)
    assert [at for at, _ in pod.between] == [("spec", "jobTemplate", "metadata")]
    assert decision_for(pod, {"a": found(AR)}, Options()).reachable == ("amd64",)
    nearer = pod.replace(metadata=noted(only="arm64"))
    assert decision_for(nearer, {"a": found(AR)}, Options()).reachable == ("arm64",)
    further = pod.replace(object_metadata=noted(only="arm64"))
    assert decision_for(further, {"a": found(AR)}, Options()).reachable == ("amd64",)


@pytest.mark.parametrize(
    ("owners", "controller"),
    [
        pytest.param([{"kind": "ReplicaSet", "name": "r", "controller": TRUE}], "ReplicaSet/r", id="controller"),
        pytest.param([{"kind": "A", "name": "a"}, {"kind": "B", "name": "b", "controller": TRUE}], "B/b", id="the-second"),
        pytest.param([{"kind": "A", "name": "a", "controller": Typed("bool", "false")}], "", id="an-owner-that-controls-nothing"),
        pytest.param([{"kind": "A", "name": "a", "controller": "true"}], "", id="text"),
        pytest.param([], "", id="none"),
        pytest.param({"kind": "A", "controller": TRUE}, "", id="no-list"),
        pytest.param(["A"], "", id="no-mapping"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["Deployment", "Job", "Pod"])
def test_what_a_controller_made_is_left_to_it(owners, controller, kind):
    """Its annotations are copies of the controller's: one that is misspelt is said there, once."""
    metadata = {"ownerReferences": owners, **(noted(skpi="true") if controller else {})}
    outcome = decided(using("a"), {"a": A}, kind=kind, object_metadata=metadata)
    assert outcome.decision.controller == controller
    assert outcome.name == ("OptedOut" if controller else "Change")
    assert outcome.messages == []
    if controller:
        assert outcome.decision.reason == f"its controller decides ({controller})"
        assert questions_of(outcome.pod) == ()


def test_a_bare_pod_is_its_own_template():
    outcome = decided(using("a"), {"a": AR}, kind="Pod", object_metadata=noted(only="amd64"))
    assert terms_of(outcome.spec) == [term(in_("amd64"))]


def test_a_pod_in_a_list_names_its_field():

    pod = a_pod(using("a"), metadata=noted(onyl="amd64"), object_metadata=noted(olny="amd64"))
    root = ("items", 0, "items", 3)
    pod = pod.replace(path=(*root, *pod.path), root=root)
    assert [result.field for result in decision_for(pod, {}, Options()).messages][:2] == [
        'items[0].items[3].metadata.annotations["archfit.dev/olny"]',
        'items[0].items[3].spec.template.metadata.annotations["archfit.dev/onyl"]',
    ]


@pytest.mark.parametrize("annotations", [["archfit.dev/skip"], "archfit.dev/skip"])
def test_annotations_that_are_no_mapping(annotations):
    outcome = decided(using("a"), {"a": A}, metadata={"annotations": annotations})
    assert outcome.name == "Unresolved"
    assert outcome.messages[0].startswith("error: has to be a mapping, but it is a ")


def test_annotations_of_others_are_not_read():
    metadata = {"annotations": {"archfit.example.com/skip": "true", "archfit.dev": "x"}}
    assert decided(using("a"), {"a": A}, metadata=metadata).name == "Change"


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        pytest.param([term(in_("${ARCH}"))], "kubernetes.io/arch is filled in later (${ARCH})", id="Flux"),
        pytest.param([term(in_("amd64", "$(arch)"))], "is filled in later ($(arch))", id="beside a known one"),
        pytest.param([term(in_("amd64")), term(in_("{{arch}}"))], "is filled in later ({{arch}})", id="in one term"),
        pytest.param([term(in_("<< a >>"))], "is filled in later (<< a >>)", id="flux-operator"),
        pytest.param([term(("kubernetes.io/os", "In", ["{{os}}"]))], "kubernetes.io/os is filled", id="the OS"),
        pytest.param([term(("zone", "In", ["{{zone}}"]))], "", id="another label"),
    ],
)  # fmt: skip
def test_a_required_architecture_that_is_filled_in_later(terms, reason):
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
    outcome = decided({**using("app:1"), "affinity": affinity}, {"app:1": A})
    assert (outcome.name == "OptedOut") is bool(reason)
    assert reason in outcome.decision.reason
    assert questions_of(outcome.pod) == (() if reason else ("app:1",))
    preferred = {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": one} for one in terms]}}
    assert decided({**using("app:1"), "affinity": preferred}, {"app:1": A}).name == "Change"
