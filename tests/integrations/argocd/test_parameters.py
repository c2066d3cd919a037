"""What an application says: every form of ARGOCD_APP_PARAMETERS and ARGOCD_ENV_*, and what it may not say."""

import json

import pytest

from archfit.base.errors import ArchfitError, UsageError
from archfit.integrations.argocd.command import announcement
from archfit.integrations.argocd.plugin_environment import PARAMETERS, application_of
from archfit.integrations.argocd.renderers import plain_files
from archfit.integrations.argocd.source_parameters import ROWS, ApplicationSource, helm_arguments
from archfit.options.settings import Options
from archfit.options.table import OPERATOR, SPEC
from file_runs import AMD, Site, placed

FACTS = {
    "ARGOCD_APP_NAME": "web",
    "ARGOCD_APP_NAMESPACE": "shop",
    "KUBE_VERSION": "1.33.0",
    "KUBE_API_VERSIONS": "v1,apps/v1",
}
PLAIN = ApplicationSource(
    release_name="web", namespace="shop", kube_version="1.33.0", api_versions=("v1", "apps/v1")
)


def _parameters(*entries: dict[str, object]) -> dict[str, str]:
    return {PARAMETERS: json.dumps(entries)}


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({}, id="unset"),
        pytest.param({PARAMETERS: ""}, id="empty"),
        pytest.param({PARAMETERS: " \n"}, id="blank"),
        pytest.param({PARAMETERS: "null"}, id="null"),
        pytest.param({PARAMETERS: "[]"}, id="empty-list"),
        pytest.param({"PARAM_AFFINITY": "always", "PARAM_MIRROR": "*=http://evil.example"}, id="PARAM-is-not-read"),
        pytest.param({"ARGOCD_ENV_FOO": "bar", "ARGOCD_ENV_ARCHFIT_RECIPE": "7"}, id="foreign-and-bumped-variables"),
    ],
)  # fmt: skip
def test_nothing_said_leaves_everything_to_the_operator(given):
    found = application_of({**FACTS, **given})
    assert found.source == PLAIN
    assert found.placement is None


def test_full_json_says_how_to_render_and_how_to_place():
    found = application_of(
        FACTS
        | {
            "ARGOCD_ENV_RELEASE_NAME": "lost",
            "ARGOCD_ENV_ARCHFIT_AFFINITY": "always",
            "ARGOCD_ENV_ARCHFIT_STRICT": "true",
        }
        | _parameters(
            {"name": "values-files", "array": ["values.yaml", "more.yaml"]},
            {"name": "values", "string": "replicas: 2\n"},
            {"name": "helm-parameters", "map": {"image.tag": "v1", "a": "x,y"}},
            {"name": "helm-string-parameters", "map": {"id": "007"}},
            {"name": "release-name", "string": "shop"},
            {"name": "skip-crds", "string": "true"},
            {"name": "prefer", "map": {"arm64": "10"}},
            {"name": "tolerate", "array": []},
            {"name": "clusterArchitectures", "array": ["amd64", "arm64"]},
            {"name": "affinity", "string": "never"},
            {"name": "imagePlatforms", "map": {"old.example/*": "linux/amd64,linux/arm64"}},
            {"name": "rules", "string": "- match: {namespace: shop}\n  only: [amd64]\n"},
        )
    )
    assert found.source == PLAIN.replace(
        values_files=("values.yaml", "more.yaml"),
        values="replicas: 2\n",
        parameters=(("a", "x,y"), ("image.tag", "v1")),
        string_parameters=(("id", "007"),),
        release_name="shop",
        skip_crds=True,
    )
    assert found.placement
    values = {key: given.value for key, given in found.placement.given.items()}
    assert values.pop("rules")[0].only == ("amd64",)
    assert [str(platform) for platform in values.pop("imagePlatforms")[0].platforms]
    assert values == {
        "affinity": "never",
        "strict": True,
        "prefer": (("arm64", 10),),
        "tolerate": (),
        "clusterArchitectures": ("amd64", "arm64"),
    }
    assert found.placement.given["affinity"].where == "parameter 'affinity'"
    assert found.placement.given["strict"].where == "ARGOCD_ENV_ARCHFIT_STRICT"


def test_the_environment_says_the_same_as_the_parameters():
    said = application_of(
        FACTS
        | {
            "ARGOCD_ENV_VALUES_FILES": "values.yaml more.yaml",
            "ARGOCD_ENV_HELM_PARAMETERS": "image.tag=v1 a=b",
            "ARGOCD_ENV_DIRECTORY_RECURSE": "true",
            "ARGOCD_ENV_ARCHFIT_TOLERATE": "none",
        }
    )
    same = application_of(
        FACTS
        | _parameters(
            {"name": "values-files", "array": ["values.yaml", "more.yaml"]},
            {"name": "helm-parameters", "map": {"image.tag": "v1", "a": "b"}},
            {"name": "directory-recurse", "string": "true"},
            {"name": "tolerate", "string": "none"},
        )
    )
    assert said.source == same.source
    assert said.placement
    assert same.placement
    assert said.placement.given["tolerate"].value == same.placement.given["tolerate"].value == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("{", "is not JSON", id="not-JSON"),
        pytest.param("{}", "is not a list", id="an-object"),
        pytest.param('"a"', "is not a list", id="a-string"),
        pytest.param("[1]", "entry 1 has no name", id="a-number"),
        pytest.param('[{"string": "x"}]', "entry 1 has no name", id="no-name"),
        pytest.param('[{"name": "affinity"}]', "needs its value under one of", id="no-value"),
        pytest.param('[{"name": "affinity", "string": "always", "array": []}]', "one of", id="two-values"),
        pytest.param('[{"name": "affinity", "value": "always"}]', "one of", id="a-foreign-field"),
        pytest.param('[{"name": "affinity", "string": 1}]', "string has to be a text", id="no-text"),
        pytest.param('[{"name": "affinity", "array": ["always"]}]', "has to be a string", id="array-for-string"),
        pytest.param('[{"name": "prefer", "array": ["arm64"]}]', "has to be a map", id="array-for-map"),
        pytest.param('[{"name": "values-files", "map": {"a": "b"}}]', "has to be an array", id="map-for-array"),
        pytest.param('[{"name": "prefer", "map": {"arm64": 10}}]', "numbers in quotes", id="a-number-in-a-map"),
        pytest.param('[{"name": "affinty", "string": "always"}]', "write affinity", id="nearly"),
        pytest.param('[{"name": "affinity", "string": "sometimes"}]', "'sometimes' is not one of", id="wrong-value"),
        pytest.param('[{"name": "affinity", "string": ""}]', "is empty", id="empty-value"),
        pytest.param('[{"name": "clusterArchitectures", "array": []}]', "clusterArchitectures", id="no-architecture"),
        pytest.param('[{"name": "a", "string": "b"}, {"name": "a", "string": "c"}]', "there is no such parameter", id="unknown"),
        pytest.param('[{"name": "strict", "string": "true"}, {"name": "strict", "string": "true"}]', "given twice", id="twice"),
        pytest.param('[{"name": "release-name", "string": "--post-renderer=x"}]', "cannot be used", id="a-flag-as-name"),
        pytest.param('[{"name": "release-name", "string": "{{ env \\"HOME\\" }}"}]', "cannot be used", id="a-template-as-name"),
        pytest.param('[{"name": "kube-version", "string": "latest"}]', "cannot be used", id="no-version"),
        pytest.param('[{"name": "api-versions", "array": ["--debug"]}]', "is not an API version", id="no-api-version"),
        pytest.param('[{"name": "helm-parameters", "map": {"a=b,c": "d"}}]', "cannot be a key", id="two-keys-in-one"),
        pytest.param('[{"name": "source-type", "string": "jsonnet"}]', "one of helm, kustomize", id="no-renderer"),
        pytest.param('[{"name": "skip-crds", "string": "yes"}]', "write true or false", id="no-boolean"),
        pytest.param('[{"name": "rules", "string": "- only: ["}]', "rules", id="rules-that-are-no-YAML"),
        pytest.param("[" * 100_000, "is not JSON", id="nested-deeply"),
        pytest.param('[{"name": "values-files", "array": ["a\\u0000b"]}]', "without NUL", id="NUL-in-values-files"),
        pytest.param('[{"name": "helm-parameters", "map": {"a": "b\\u0000"}}]', "without NUL", id="NUL-in-a-value"),
        pytest.param('[{"name": "helm-parameters", "map": {"a\\u0000": "b"}}]', "without NUL", id="NUL-in-a-key"),
        pytest.param('[{"name": "values", "string": "a: \\ud800"}]', "without NUL and half", id="a-lone-surrogate"),
        pytest.param('[{"name": "affinity", "string": "\\ud800"}]', "affinity", id="in-an-option"),
        pytest.param('[{"name": "rules", "string": "- match: {name: \\ud800}"}]', "(surrogates not allowed): fix it", id="in-YAML"),
        pytest.param('[{"name": "lockFile", "string": "a\\u0000"}]', "NUL", id="NUL-in-a-path"),
        pytest.param('[{"name": "lockFile", "string": "\\ud800"}]', "surrogates", id="in-a-path"),
        pytest.param("[" + "9" * 5000 + "]", "is not JSON", id="a-number-of-5000-digits"),
    ],
)  # fmt: skip
def test_wrong_shapes_are_one_clear_error(text, said):
    with pytest.raises(UsageError) as caught:
        application_of({**FACTS, PARAMETERS: text})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", [form for option in OPERATOR for form in (option.key, option.name)] + ["enforced", "config"]
)
def test_no_parameter_is_about_trust(name):
    with pytest.raises(UsageError, match="only the operator may set"):
        application_of(FACTS | _parameters({"name": name, "string": "x"}))


@pytest.mark.parametrize("variable", [option.variable for option in OPERATOR] + ["ARCHFIT_CONFIG"])
def test_no_variable_of_the_application_is_about_trust(variable):
    with pytest.raises(UsageError, match="only the operator may set"):
        application_of({**FACTS, f"ARGOCD_ENV_{variable}": "x"})


def test_a_variable_that_does_not_exist_names_the_nearest():
    with pytest.raises(UsageError, match="write ARGOCD_ENV_ARCHFIT_AFFINITY"):
        application_of({**FACTS, "ARGOCD_ENV_ARCHFIT_AFINITY": "always"})


def test_helm_gets_every_value_as_part_of_its_flag():
    source = PLAIN.replace(
        values_files=("a.yaml",),
        values="b: c",
        parameters=(("list", "{x,y}"), ("text", r"x,y\,z"), ("trick", "--debug")),
        string_parameters=(("id", "007"),),
        skip_tests=True,
    )
    assert helm_arguments(source) == [
        "web",
        ".",
        "--namespace=shop",
        "--kube-version=1.33.0",
        "--values=a.yaml",
        "--values=-",
        "--set=list={x,y}",
        r"--set=text=x\,y\,z",
        "--set=trick=--debug",
        "--set-string=id=007",
        "--api-versions=v1",
        "--api-versions=apps/v1",
        "--include-crds",
        "--skip-tests",
    ]


def test_an_application_of_another_namespace_has_its_own_name_as_release():
    assert application_of({**FACTS, "ARGOCD_APP_NAME": "team-a_web"}).source.release_name == "web"


def test_the_announcement_has_every_parameter_and_no_other():
    announced = announcement(Options())
    names = [entry["name"] for entry in announced]
    assert names == [row.name for row in ROWS] + [option.key for option in SPEC]
    for entry in announced:
        shape = entry["collectionType"]
        assert shape in {"string", "array", "map"}
        assert entry.keys() <= {"name", "title", "tooltip", "collectionType", "itemType", shape}
        assert all(
            isinstance(item, str)
            for item in (entry.get(shape, "") if shape == "array" else [entry.get(shape, "")])
        )


def test_every_announced_default_can_be_sent_back():
    announced = [entry for entry in announcement(Options()) if entry["collectionType"] in entry]
    sent = [
        {"name": entry["name"], entry["collectionType"]: entry[entry["collectionType"]]}
        for entry in announced
    ]
    found = application_of(FACTS | _parameters(*sent))
    assert found.source == PLAIN
    assert found.placement
    for key, given in found.placement.given.items():
        option = next(option for option in SPEC if option.key == key)
        assert given.value == getattr(Options(), option.field), key


def test_a_default_that_the_operator_changed_is_not_announced():
    changed = {entry["name"]: entry for entry in announcement(Options(affinity="always"))}
    assert "string" not in changed["affinity"]
    assert changed["onConflict"]["string"] == "fail"


def test_noop_values_may_have_any_character_that_is_one():
    text = 'note: "ü\U0001f433\u202e"\n'
    assert application_of({**FACTS, **_parameters({"name": "values", "string": text})}).source.values == text


@pytest.mark.parametrize(
    ("content", "read"),
    [
        pytest.param(b'"\\x6bind": Pod\napiVersion: v1\n', True, id="an-escaped-key"),
        pytest.param(b"# kind, apiVersion\na: 1\n", False, id="noop-words-in-a-comment"),
    ],
)
def test_a_plain_file_with_an_object_is_rendered_however_it_is_spelt(content, read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_bytes(content)
    stream, left_out = plain_files(ApplicationSource(), str(tmp_path))
    assert (content in stream, bool(left_out)) == (read, not read)


def test_a_plain_file_that_is_no_utf_8_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_bytes("kind: Pod\napiVersion: v1\n".encode("utf-16"))
    with pytest.raises(ArchfitError, match=r"a\.yaml: .*It looks like UTF-16"):
        plain_files(ApplicationSource(), str(tmp_path))


def test_flags_of_the_plugins_command_are_the_operators(tmp_path):
    site = Site(tmp_path)
    site.write({"web.yaml": AMD})
    ran = site.run("argocd", "generate", ARGOCD_APP_NAME="web")  # flags of its own stand behind
    assert (ran.status, ran.stdout) == (0, b"---\n# Source: web.yaml\n" + placed(AMD)), ran.stderr
