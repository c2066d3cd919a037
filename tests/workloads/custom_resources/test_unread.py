"""What the table does not say of a known kind is not taken to be absent: it is named, and costs the toleration."""

import pytest

from archfit.base.errors import InvalidInput
from archfit.options.config_file import from_file
from archfit.options.layers import merge
from archfit.options.settings import Options
from archfit.workloads.unread import images_in
from stream_edits import Failed, edited

CLUSTER = (
    "apiVersion: redis.redis.opstreelabs.in/v1beta2\nkind: RedisReplication\nmetadata: {name: a}\nspec:\n"
    "  kubernetesConfig: {image: both:1}\n"
)
WIDGET = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n"
WIDGET += "  image: both:1\n  baseImage: amd:1\n"
ROW = (
    "apiVersion: archfit.dev/v1alpha1\nkind: ArchFit\nspec:\n  workloads:\n  - group: example.com\n    kind: Widget\n"
    "    podSpec: spec\n    images: [spec.image]\n"
)


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ("  sidecarImage: amd:1\n", "spec.sidecarImage"),
        ("  backup:\n    helper_image: amd:1\n", "spec.backup.helper_image"),
        ("  proxy:\n    image: {repository: amd, tag: '1'}\n", "spec.proxy.image"),
        ("  proxy:\n    image: {reference: 'amd:1'}\n", "spec.proxy.image"),
        ("  extraContainers: [{name: x, image: 'amd:1'}]\n", "spec.extraContainers[0].image"),
        ("  preload:\n    images: ['amd:1']\n", "spec.preload.images[0]"),
        ("  sidecarImages: {proxy: 'amd:1'}\n", "spec.sidecarImages.proxy"),
        ("  containerImageName: amd:1\n", "spec.containerImageName"),
    ],
)
def test_an_image_that_no_row_reads_is_named(more, path):
    text = (CLUSTER + more).encode()
    output = edited(text)
    assert output.data == text
    (said,) = output.edits.messages
    assert said.field == path
    assert "archfit does not know which pod runs amd" in said.text
    assert edited(CLUSTER.encode()).data != CLUSTER.encode()
    with pytest.raises(Failed):
        edited(text, Options(strict=True))


@pytest.mark.parametrize(
    ("more", "path"),
    [
        pytest.param("  proxy: {nodeSelector: {a: b}}\n", "spec.proxy.nodeSelector", id="labels"),
        pytest.param(
            "  proxies: [{tolerations: [{key: a}]}]\n", "spec.proxies[0].tolerations", id="tolerations"
        ),
        pytest.param(
            "  proxy: {affinity: {nodeAffinity: {a: []}}}\n", "spec.proxy.affinity.nodeAffinity", id="terms"
        ),
    ],
)
def test_placement_that_no_row_reads_is_named_and_costs_the_toleration(more, path):
    text = (CLUSTER + more).encode()
    output = edited(text)
    assert output.data == text
    (said,) = output.edits.messages
    assert said.field == path
    assert f"archfit does not know which pods {path.rpartition('.')[2]} places there" in said.text
    assert b"nodeAffinity" in edited(text.replace(b"both:1", b"amd:1")).data
    with pytest.raises(Failed):
        edited(text, Options(strict=True))


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("  proxy: {nodeSelector: {}, tolerations: []}\n", id="empty"),
        pytest.param("  affinity: {podAffinity: {a: []}}\n  tolerations: [{key: a}]\n", id="the row's own"),
        pytest.param("  redisExporter: {enabled: true}\n", id="none"),
    ],
)
def test_placement_that_a_row_reads_costs_nothing(more):
    output = edited((CLUSTER + more).encode())
    assert output.edits.messages == ()
    assert b"kubernetes.io/arch" in output.data


_ROUTER = (
    "{image: {repository: both, tag: '1'}, expose: {router: {eppConfig: {containerSpec: {image: amd:1}}}}}"
)
_POD = "template: {spec: {containers: [{name: a, image: both:1}]}}"
_DISK = (
    "template: {spec: {volumes: [{containerDisk: {image: both:1}}]}}, dataVolumeTemplates: [{spec: {source: "
)
_PLUGIN = "executorPlugins: [{spec: {sidecar: {container: {image: amd:1}}}}]"
_ELSEWHERE = {
    "apps.nvidia.com/v1alpha1/NIMService": (_ROUTER, "the router"),
    "apps.nvidia.com/v1alpha1/NIMPipeline": (f"{{services: [{{spec: {_ROUTER}}}]}}", "the router"),
    "apps.openshift.io/v1/DeploymentConfig": (
        f"{{{_POD}, strategy: {{customParams: {{image: amd:1}}}}}}",
        "deployer",
    ),
    "argoproj.io/v1alpha1/Workflow": (
        f"{{templates: [{{name: a, container: {{image: both:1}}}}], {_PLUGIN}}}",
        "executor plugins",
    ),
    "kubevirt.io/v1/VirtualMachine": (
        f"{{{_DISK}{{registry: {{url: 'docker://amd:1'}}}}}}}}]}}",
        "the importer",
    ),
    "kubevirt.io/v1alpha3/VirtualMachine": (
        f"{{{_DISK}{{vddk: {{initImageURL: amd:1}}}}}}}}]}}",
        "the importer",
    ),
    "jaegertracing.io/v1/Jaeger": (
        "{allInOne: {image: both:1}, storage: {elasticsearch: {image: amd:1}}}",
        "Elasticsearch",
    ),
}


@pytest.mark.parametrize("kind", _ELSEWHERE)
def test_an_image_that_runs_in_another_pod_is_named_and_costs_this_one_nothing(kind):
    spec, named = _ELSEWHERE[kind]
    version, _, name = kind.rpartition("/")
    text = f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: a}}\nspec: {spec}\n"
    output = edited(text.encode())
    assert any("not transformed: " in one.text and named in one.text for one in output.edits.messages)
    assert not any(use.text == "amd:1" for pod, _ in output.edits.decisions for use in pod.images)


def test_a_row_of_the_user_says_whose_placement_it_is():
    text = WIDGET.replace("  baseImage: amd:1\n", "  gateway: {nodeSelector: {a: b}}\n").encode()
    (said,) = edited(text, configured(ROW)).edits.messages
    assert "name its path in a row of the kind, as podSpec, or under neverRun" in said.text
    for more in ("    neverRun: [spec.gateway]\n", "    neverRun: [spec.gateway.nodeSelector]\n"):
        output = edited(text, configured(ROW + more))
        assert output.edits.messages == ()
        assert b"tolerations" in output.data


@pytest.mark.parametrize(
    "more",
    [
        "  imagePullPolicy: Always\n  imagePullSecrets: [{name: a}]\n",
        "  image:\n    size: 3Gi\n",
        "  enableImage: true\n  imageCount: 3\n",
        "  env: [{name: a, value: 'amd:1'}]\n",
        "  inheritedMetadata: {annotations: {image: 'amd:1'}, labels: {image: a}}\n",
        "  storage: {rbd: {image: a}}\n",
    ],
)
def test_what_is_no_image_is_not_taken_for_one(more):
    output = edited((CLUSTER + more).encode())
    assert output.edits.messages == ()
    assert b"kubernetes.io/arch" in output.data


def test_the_other_images_still_narrow():
    text = CLUSTER.replace("both:1", "amd:1") + "  sidecarImage: arm:1\n"
    assert b"nodeAffinity" in edited(text.encode()).data


def test_the_annotation_says_what_the_table_does_not():
    note = "metadata: {name: a, annotations: {archfit.dev/image-platforms: 'linux/amd64,linux/arm64'}}"
    text = CLUSTER.replace("metadata: {name: a}", note) + "  sidecarImage: amd:1\n"
    assert b"tolerations" in edited(text.encode()).data


def configured(row: str) -> Options:
    return merge([from_file(row.encode(), "archfit.yaml")]).options


def test_a_row_of_the_user_reads_what_it_names_and_no_more():
    output = edited(WIDGET.encode(), configured(ROW))
    assert output.data == WIDGET.encode()
    (said,) = output.edits.messages
    assert said.field == "spec.baseImage"
    assert "name its path under images or neverRun of the kind's row" in said.text
    counted = edited(WIDGET.encode(), configured(ROW.replace("[spec.image]", "[spec.image, spec.baseImage]")))
    assert b"nodeAffinity" in counted.data
    never = edited(WIDGET.encode(), configured(ROW + "    neverRun: [spec.baseImage]\n"))
    assert b"tolerations" in never.data
    assert never.edits.messages == ()


def test_a_known_kind_without_pods_names_the_image_too():
    text = (
        b"apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: a}\nspec:\n  templates:\n"
        b"  - {name: a, plugin: {x: {image: 'amd:1'}}}\n"
    )
    (said,) = edited(text).edits.messages
    assert "archfit does not know which pod runs the image at spec.templates[0].plugin.x.image" in said.text


def test_whole_objects_inside_are_looked_at_by_themselves():
    inside = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{image: 'amd:1'}]}}"
    text = (
        "apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {name: a}\n"
        f"spec: {{workload: {{manifests: [{inside}]}}}}\n"
    )
    output = edited(text.encode())
    assert b"nodeAffinity" in output.data
    assert output.edits.messages == ()


@pytest.mark.parametrize("value", [{"image": "a"}, {"a": [{"b": {"image": "a"}}]}, {"images": ["a"]}])
def test_images_are_found_at_any_depth(value):
    assert [image for _, image in images_in(value)] == ["a"]


def workflow(templates: int, sidecars: int) -> bytes:
    text = "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: a}\nspec:\n  templateDefaults:\n"
    text += "    sidecars:\n" + "".join(f"    - {{name: s{n}, image: 'both:1'}}\n" for n in range(sidecars))
    text += "  templates:\n"
    return (
        text + "".join(f"  - {{name: t{n}, container: {{image: 'both:1'}}}}\n" for n in range(templates))
    ).encode()


@pytest.mark.load
def test_what_all_pods_share_is_bounded():
    assert edited(workflow(100, 100).replace(b"both:1", b"amd:1")).data.count(b"nodeAffinity") == 100
    with pytest.raises(Failed, match="write it as several objects"):
        edited(workflow(400, 400))


def test_many_unread_images_are_named_once_for_the_object():
    text = workflow(50, 1) + b"  extraImages:\n" + b"".join(b"  - 'x:%d'\n" % n for n in range(50))
    edits = edited(text).edits
    assert len([pod for pod, _ in edits.decisions if len(pod.images) > 4]) == 1
    assert all(decision.outcome == "NotNeeded" for _, decision in edits.decisions)


def test_an_image_list_is_no_reason_to_fail():
    with pytest.raises((Failed, InvalidInput)):
        edited(CLUSTER.encode() + b"  kubernetesConfig: {}\n")
    assert edited(CLUSTER.encode() + b"  images: [null, 3, {a: b}]\n").edits.messages == ()
