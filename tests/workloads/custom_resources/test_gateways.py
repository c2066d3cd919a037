"""Gateways whose operator merges patches into the finished workload: what is set there counts, and is edited there."""

import pytest

from archfit.options.settings import Options
from stream_edits import Failed, edited, placed

TERMS = (
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: pool, operator: In, values: [edge]}]}]}}}"
)
NARROWED = (
    "[{matchExpressions: [{key: pool, operator: In, values: [edge]}, "
    "{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]"
)
ENVOY = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {{name: a}}
spec:
  provider:
    type: Kubernetes
    kubernetes:
      {part}:
        container: {{image: '{image}'}}
        pod: {{{pod}}}
        patch: {{type: StrategicMerge, value: {{spec: {{template: {{spec: {{{patch}}}}}}}}}}}
"""
NGINX = """\
apiVersion: gateway.nginx.org/v1alpha2
kind: NginxProxy
metadata: {{name: a}}
spec:
  kubernetes:
    {part}:
      container: {{image: {{repository: {image}, tag: "1"}}}}
      pod: {{{pod}}}
      patches: [{patches}]
"""
GATEWAYS = [
    pytest.param(ENVOY, "envoyDeployment", "{patch}", id="EnvoyProxy"),
    pytest.param(ENVOY, "envoyDaemonSet", "{patch}", id="EnvoyProxy as a DaemonSet"),
    pytest.param(NGINX, "deployment", "{{value: {{spec: {{template: {{spec: {{{patch}}}}}}}}}}}", id="NginxProxy"),
    pytest.param(
        NGINX, "daemonSet", "{{value: {{spec: {{template: {{spec: {{{patch}}}}}}}}}}}", id="NginxProxy as a DaemonSet"
    ),
]  # fmt: skip


def written(
    template: str, part: str, value: str, *, patch: str = "", pod: str = "", image: str = "amd"
) -> bytes:
    """An object of one of the gateways."""
    within = value.format(patch=patch)
    name = image if template == NGINX else f"{image}:1"
    return template.format(part=part, image=name, pod=pod, patch=within, patches=within).encode()


@pytest.mark.parametrize(("template", "part", "value"), GATEWAYS)
def test_terms_of_a_patch_are_narrowed_there(judge, template, part, value):
    """They replace those of `pod`: a narrowing there would never reach a pod."""
    text = written(template, part, value, patch=TERMS)
    terms = TERMS[TERMS.index("[") :].removesuffix("}}}").encode()
    assert placed(judge, text) == text.replace(terms, NARROWED.encode())


@pytest.mark.parametrize(("template", "part", "value"), GATEWAYS)
def test_an_affinity_in_a_patch_and_beside_it_is_a_conflict(template, part, value):
    text = written(template, part, value, patch=TERMS, pod="affinity: {podAffinity: {}}")
    with pytest.raises(Failed, match=r"spec\.template\.spec\.affinity: it replaces .*\.pod\.affinity"):
        edited(text)
    left = edited(text, Options(on_conflict="leave"))
    assert left.data == text


@pytest.mark.parametrize(("template", "part", "value"), GATEWAYS)
def test_an_affinity_that_a_patch_takes_away_is_a_conflict(template, part, value):
    with pytest.raises(Failed, match=r"spec\.template\.spec\.affinity: it replaces .*\.pod\.affinity"):
        edited(written(template, part, value, patch="affinity: null"))


@pytest.mark.parametrize(("template", "part", "value"), GATEWAYS)
def test_selectors_of_a_patch_and_of_the_pod_hold_together(template, part, value):
    text = written(
        template,
        part,
        value,
        patch="nodeSelector: {kubernetes.io/arch: arm64}",
        pod="nodeSelector: {pool: edge}",
    )
    with pytest.raises(Failed, match="pinned to arm64"):
        edited(text)


@pytest.mark.parametrize(("template", "part", "value"), GATEWAYS)
def test_an_image_in_a_patch_counts(judge, template, part, value):
    text = written(template, part, value, patch="containers: [{name: more, image: 'amd:1'}]", image="both")
    assert b"nodeAffinity" in placed(judge, text)


@pytest.mark.parametrize("number", [0, 1])
def test_two_patches_with_an_affinity_are_a_conflict(number):
    """The last one that has terms replaces those of the others, and the maps are joined."""
    others = ["{value: {spec: {template: {spec: {affinity: {podAffinity: {}}}}}}}"]
    others.insert(number, f"{{value: {{spec: {{template: {{spec: {{{TERMS}}}}}}}}}}}")
    text = NGINX.format(part="deployment", image="amd", pod="", patches=", ".join(others)).encode()
    with pytest.raises(Failed, match="affinity: it replaces"):
        edited(text)


def test_operations_of_a_json_patch_are_heeded():
    """Only their text is looked at."""

    def patched(value: str, image: str) -> bytes:
        one = f"{{type: JSONPatch, value: [{value}]}}"
        return NGINX.format(part="deployment", image=image, pod="", patches=one).encode()

    terms = "{op: add, path: /spec/template/spec/affinity, value: {}}"
    with pytest.raises(
        Failed, match=r"patches\[0\]\.value: it replaces spec\.kubernetes\.deployment\.pod\.affinity"
    ):
        edited(patched(terms, "amd"))
    image = patched("{op: replace, path: /spec/template/spec/containers/0/image, value: 'amd:1'}", "both")
    assert edited(image).data == image
    assert any("this patch may change the images" in str(one) for one in edited(image).edits.messages)
    harmless = patched("{op: add, path: /spec/replicas, value: 2}", "amd")
    assert b"nodeAffinity" in edited(harmless).data


def test_what_a_merge_with_the_proxy_of_the_class_would_end_is_said():
    """Envoy Gateway merges the two, lists as a whole."""
    text = written(ENVOY, "envoyDeployment", "", image="amd").replace(
        b"spec:\n", b"spec:\n  mergeType: StrategicMerge\n", 1
    )
    text = text.replace(
        b"        patch: {type: StrategicMerge, value: {spec: {template: {spec: {}}}}}\n", b""
    )
    narrowed = edited(text)
    assert b"nodeAffinity" in narrowed.data
    assert [one.severity for one in narrowed.edits.messages if "mergeType merges it" in one.text] == [
        "warning"
    ]
    fine = text.replace(b"amd:1", b"both:1")
    assert edited(fine).data == fine
