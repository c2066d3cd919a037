"""What operators run beside the images that everybody reads, and what they do with a placement.

Samples are objects as the operators' own documentation has them, cut to what counts. Each output is judged by
Kubernetes' readers, and each pod, as its operator would make it, by the scheduler's own code.
"""

import pytest
from tests.workloads.added_blocks import diff

from archfit.options.settings import Options
from case_files import diffs, rows
from custom_pods import placed_as_read, projected
from stream_edits import Failed, edited, placed, sides

PLATFORMS = {
    "app:1": ["linux/amd64"],
    "amd:1": ["linux/amd64"],
    "arm:1": ["linux/arm64"],
    "both:1": ["linux/amd64", "linux/arm64"],
}

SAMPLES = diffs("custom_resources/operators.diff")


@pytest.mark.parametrize("text", SAMPLES)
def test_every_image_of_a_pod_counts(judge, oracle, text):
    before, after = sides(diff(text))
    assert placed(judge, before).decode() == after.decode()
    as_made = projected(judge.kubectl(after))
    platforms = {**PLATFORMS, "registry.example/connect:1": ["linux/amd64"]}
    assert oracle(projected(judge.kubectl(before)), as_made, platforms=platforms).violations == []


@pytest.mark.usefixtures("nothing_seen")
@pytest.mark.parametrize("text", SAMPLES)
def test_every_image_of_a_pod_counts_where_the_rows_were_not_seen(judge, oracle, text):
    before, _ = sides(diff(text))
    as_made = projected(judge.kubectl(placed_as_read(judge, before)))
    platforms = {**PLATFORMS, "registry.example/connect:1": ["linux/amd64"]}
    judged = oracle(projected(judge.kubectl(before)), as_made, platforms=platforms)
    # Nodes behind a taint stay closed: no toleration is written.
    assert [one for one in judged.violations if not one.startswith("LIVENESS")] == []


UNASKED = rows("custom_resources/unasked.yaml", "stream", "says")


@pytest.mark.parametrize(("text", "said"), UNASKED)
def test_an_image_that_nobody_can_see_leaves_the_toleration_out(text, said):
    output = edited(text.encode())
    assert output.data == text.encode()
    assert any(said in str(result) for result in output.edits.messages)


_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


@pytest.mark.parametrize(
    ("job", "container", "narrowed"),
    [
        pytest.param(f"metadata: {{labels: {{{_STEP}: trainer}}}}, ", "node", False, id="node-that-trains"),
        pytest.param("", "node", True, id="node-without-label"),
        pytest.param(
            f"metadata: {{labels: {{{_STEP}: model-initializer}}}}, ", "node", True, id="node-of-another-step"
        ),
        pytest.param(
            f"metadata: {{labels: {{{_STEP}: trainer}}}}, ", "launcher", True, id="launcher-that-trains"
        ),
        pytest.param("", "launcher", True, id="launcher-without-label"),
        pytest.param(f"metadata: {{labels: {{{_STEP}: trainer}}}}, ", "logs", True, id="sidecar-that-trains"),
    ],
)
@pytest.mark.parametrize("kind", ["TrainingRuntime", "ClusterTrainingRuntime"])
@pytest.mark.parametrize("image", ["amd:1", "both:1"])
def test_a_train_job_replaces_the_node_of_its_trainer_alone(kind, job, container, narrowed, image):
    """Kubeflow Trainer 2.1.0, pkg/runtime/framework/plugins/jobset/builder.go, Trainer."""
    text = (
        f"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: {kind}\nmetadata: {{name: a}}\nspec:\n"
        f"  template: {{spec: {{replicatedJobs: [{{name: node, template: {{{job}spec: {{template: {{spec: {{"
        f"containers: [{{name: {container}, image: '{image}'}}]}}}}}}}}}}]}}}}\n"
    ).encode()
    output = edited(text)
    replaced = any("spec.trainer.image of a TrainJob replaces" in str(one) for one in output.edits.messages)
    assert replaced is not narrowed
    assert (b"nodeAffinity" in output.data) is (narrowed and image == "amd:1")
    assert (b"tolerations" in output.data) is (narrowed and image == "both:1")


def test_an_init_container_is_not_replaced_for_its_name():
    text = (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainingRuntime\nmetadata: {name: a}\nspec:\n"
        f"  template: {{spec: {{replicatedJobs: [{{name: node, template: {{metadata: {{labels: {{{_STEP}: trainer}}}}, "
        "spec: {template: {spec: {initContainers: [{name: node, image: 'amd:1'}], "
        "containers: [{name: train, image: 'both:1'}]}}}}}]}}\n"
    )
    assert b"nodeAffinity" in edited(text.encode()).data


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("serving.knative.dev/v1 Service", "{template: {spec: {containers: [{image: 'both:1'}]}}}"),
        ("serving.kserve.io/v1beta1 InferenceService", "{transformer: {containers: [{image: 'both:1'}]}}"),
    ],
)
def test_an_api_that_refuses_placement_gets_only_what_is_needed(kind, spec):
    api_version, name = kind.split()
    text = f"apiVersion: {api_version}\nkind: {name}\nmetadata: {{name: a}}\nspec: {spec}\n".encode()
    for options in (Options(), Options(affinity="always"), Options(prefer=(("arm64", 50),))):
        output = edited(text, options)
        assert output.data == text
        assert output.edits.messages == ()
    narrowed = edited(text.replace(b"both:1", b"amd:1"))
    assert b"nodeAffinity" in narrowed.data
    assert any("kubernetes.podspec-affinity" in str(result) for result in narrowed.edits.messages)


@pytest.mark.parametrize(
    ("mode", "accepts"),
    [
        pytest.param("Standard", True, id="standard"),
        pytest.param("RawDeployment", True, id="older-name"),
        pytest.param("Knative", False, id="knative"),
        pytest.param("Serverless", False, id="older-name-of-knative"),
    ],
)
def test_a_service_without_knative_gets_all(mode, accepts):
    text = (
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: a\n  annotations:\n"
        f"    serving.kserve.io/deploymentMode: {mode}\n"
        "spec: {predictor: {containers: [{image: 'both:1'}]}, transformer: {containers: [{image: 'both:1'}]}}\n"
    ).encode()
    assert edited(text).data.count(b"tolerations") == 2 * accepts
    narrowed = edited(text.replace(b"both:1", b"amd:1"))
    assert narrowed.data.count(b"nodeAffinity") == 2
    warned = any("kubernetes.podspec-affinity" in str(result) for result in narrowed.edits.messages)
    assert warned is not accepts


def test_the_default_affinity_is_written_along_only_with_an_affinity():
    text = (
        b"apiVersion: elasticsearch.k8s.elastic.co/v1\nkind: Elasticsearch\nmetadata: {%s}\n"
        b"spec: {image: '%s', nodeSets: [{name: a}]}\n"
    )
    assert b"podAntiAffinity" not in edited(text % (b"name: logs", b"both:1")).data
    assert b"cluster-name: logs}" in edited(text % (b"name: logs", b"amd:1")).data
    unnamed = edited(text % (b"generateName: logs-", b"amd:1"))
    assert b"podAntiAffinity" not in unnamed.data
    assert any("metadata.name is missing" in str(result) for result in unnamed.edits.messages)


def test_a_machine_without_an_architecture_is_left_alone_and_said():
    """KubeVirt would pin it to the cluster's default, whatever its affinity says."""
    text = (
        b"apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a}\nspec:\n"
        b"  volumes: [{name: a, containerDisk: {image: 'arm:1'}}]\n"
    )
    output = edited(text)
    (said,) = output.edits.messages
    assert output.data == text
    assert said.severity == "warning"
    assert "the cluster's default architecture" in said.text
    narrowed = text.replace(b"arm:1", b"both:1").replace(
        b"{name: a}\nspec", b"{name: a, annotations: {archfit.dev/only: arm64}}\nspec"
    )
    assert edited(narrowed).data == narrowed
    pinned = text.replace(b"spec:\n", b"spec:\n  nodeSelector: {kubernetes.io/arch: arm64}\n")
    assert edited(pinned).edits.messages == ()


MACHINE = """apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {{name: vm}}
spec:
  template:
    spec:
      architecture: {architecture}
      domain: {{firmware: {{kernelBoot: {{container: {{image: '{kernel}', kernelPath: /vmlinuz}}}}}}}}
      volumes: [{{name: d, containerDisk: {{image: '{disk}'}}}}]
"""


@pytest.mark.parametrize("name", ["disk", "kernel"])
def test_a_disk_of_a_single_manifest_restricts_nothing_and_an_index_does(judge, name):
    """The registry gives a single manifest to every node, and KubeVirt runs no program of a disk or a kernel."""
    images = {"architecture": "arm64", "disk": "both:1", "kernel": "both:1"}
    text = MACHINE.format(**{**images, name: "single:1"}).encode()
    added = b"      tolerations:\n      - key: kubernetes.io/arch\n        operator: Equal\n        value: arm64\n"
    assert placed(judge, text) == text + added + b"        effect: NoSchedule\n"
    with pytest.raises(Failed, match="amd:1 offers only amd64"):
        edited(MACHINE.format(**{**images, name: "amd:1"}).encode())
    on_amd64 = MACHINE.format(**{**images, "architecture": "amd64", name: "single:1"}).encode()
    assert placed(judge, on_amd64) == on_amd64


def test_a_disk_alone_says_nothing_about_where_its_machine_runs(judge):
    """KubeVirt chooses the image of the program, and the disk holds a system for one architecture."""
    text = (
        b"apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a}\nspec:\n"
        b"  volumes:\n  - {name: a, containerDisk: {image: 'single:1'}}\n"
    )
    assert placed(judge, text) == text
    stated = text.replace(b"spec:\n", b"spec:\n  architecture: arm64\n")
    assert placed(judge, stated).startswith(stated)
    assert b"tolerations" in placed(judge, stated)


def test_an_architecture_twice_is_an_error():
    text = (
        b"apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a}\nspec:\n"
        b"  architecture: amd64\n  architecture: arm64\n  volumes: [{name: a, containerDisk: {image: 'both:1'}}]\n"
    )
    with pytest.raises(Failed, match=r"spec\.architecture: the key stands twice"):
        edited(text)


def test_a_template_with_two_kinds_of_containers_is_one_pod(judge):
    """Argo refuses it; it is no reason for two edits at one place."""
    text = (
        b"apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: a}\nspec:\n  templates:\n"
        b"  - {name: a, container: {image: 'amd:1'}, script: {image: 'amd:1', source: x}}\n"
    )
    assert placed(judge, text).count(b"nodeAffinity") == 1


@pytest.mark.parametrize(
    ("kind", "spec", "says"),
    [
        pytest.param(
            "fission.io/v1 Environment", "{runtime: {image: 'amd:1'}}", "write podspec with", id="fission"
        ),
        pytest.param(
            "fission.io/v1 Environment",
            "{runtime: {image: 'amd:1', podspec: {containers: []}}}",
            "",
            id="fission-podspec",
        ),
        pytest.param(
            "fission.io/v1 Environment",
            "{runtime: {image: 'both:1'}, builder: {image: 'amd:1'}}",
            "write podspec with",
            id="fission-builder",
        ),
        pytest.param(
            "k8s.mariadb.com/v1alpha1 MariaDB",
            "{image: 'amd:1', bootstrapFrom: {backupRef: {name: a}}}",
            "write spec.bootstrapFrom.restoreJob",
            id="mariadb-backup",
        ),
        pytest.param(
            "k8s.mariadb.com/v1alpha1 MariaDB",
            "{image: 'amd:1', bootstrapFrom: {backupRef: {name: a}, restoreJob: {}}}",
            "",
            id="mariadb-restore-job",
        ),
        pytest.param(
            "k8s.mariadb.com/v1alpha1 MariaDB",
            "{image: 'amd:1', bootstrapFrom: {volumeSnapshotRef: {name: a}}}",
            "",
            id="mariadb-snapshot",
        ),
        pytest.param(
            "k8s.mariadb.com/v1alpha1 MariaDB",
            "{image: 'amd:1', bootstrapFrom: {backupRef: {name: a, kind: PhysicalBackup}}}",
            "",
            id="mariadb-physical-backup",
        ),
    ],
)
def test_a_pod_that_needs_a_field_of_the_user_is_named(kind, spec, says):
    api_version, name = kind.split()
    text = f"apiVersion: {api_version}\nkind: {name}\nmetadata: {{name: a}}\nspec: {spec}\n".encode()
    output = edited(text)
    warnings = [str(message) for message in output.edits.messages if message.severity == "warning"]
    assert all(says in warning for warning in warnings)
    assert bool(warnings) is bool(says)
    assert says or b"nodeAffinity" in output.data


BOTH_SET = (
    b"apiVersion: rabbitmq.com/v1beta1\nkind: RabbitmqCluster\nmetadata: {name: a}\nspec:\n  image: amd:1\n"
    b"  affinity: {podAntiAffinity: {}}\n"
    b"  override: {statefulSet: {spec: {template: {spec: {containers: [], affinity: {podAffinity: {}}}}}}}\n"
)


def test_a_field_that_the_operator_takes_from_two_places_is_a_conflict():
    where = "spec.override.statefulSet.spec.template.spec.affinity"
    with pytest.raises(Failed, match=f"{where}: it replaces spec.affinity"):
        edited(BOTH_SET)
    left = edited(BOTH_SET, Options(on_conflict="leave"))
    assert left.data == BOTH_SET
    assert [result.severity for result in left.edits.messages] == ["warning"]
    fine = BOTH_SET.replace(b"amd:1", b"both:1")
    assert b"tolerations" in edited(fine).data


def test_a_pool_that_takes_the_template_of_its_kafka_is_not_given_one():
    """With a rule that narrows it, it is said; nothing is to be said without."""
    text = (
        b"apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: my}\nspec: {kafka: {image: 'amd:1'}}\n---\n"
        b"apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\n"
        b"metadata: {name: a, labels: {strimzi.io/cluster: my}}\nspec: {roles: [broker]}\n"
    )
    output = edited(text)
    assert output.data.count(b"nodeAffinity") == 1
    assert [result.severity for result in output.edits.messages] == ["info"]


@pytest.mark.parametrize("namespace", ["", ", namespace: b"])
def test_a_pool_finds_its_kafka_in_its_own_namespace(namespace):
    text = (
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\n"
        f"metadata: {{name: a{namespace}, labels: {{strimzi.io/cluster: my}}}}\n"
        "spec: {roles: [broker], template: {pod: {priorityClassName: high}}}\n---\n"
        "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: my}\nspec: {kafka: {image: 'amd:1'}}\n"
    )
    pool, kafka = (decision for _, decision in edited(text.encode()).edits.decisions)
    assert kafka.outcome == "Change"
    assert pool.outcome == ("NotNeeded" if namespace else "Change")


CEPH = """apiVersion: ceph.rook.io/v1
kind: CephCluster
metadata: {name: rook-ceph, namespace: rook}
spec: {cephVersion: {image: 'IMAGE'}, storage: {}}
"""


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("CephFilesystem", "{metadataServer: {activeCount: 1}}"),
        ("CephObjectStore", "{gateway: {instances: 1}}"),
        ("CephNFS", "{server: {image: 'both:1'}}"),
        ("CephNVMeOFGateway", "{image: 'both:1'}"),
        ("CephRBDMirror", "{count: 1}"),
        ("CephFilesystemMirror", "{}"),
    ],
)
def test_what_rook_starts_runs_the_image_of_the_cluster_in_its_namespace(kind, spec):
    text = f"apiVersion: ceph.rook.io/v1\nkind: {kind}\nmetadata: {{name: a, namespace: rook}}\nspec: {spec}\n---\n"
    outcomes = {
        image: [
            one.outcome for _, one in edited((text + CEPH.replace("IMAGE", image)).encode()).edits.decisions
        ]
        for image in ("amd:1", "both:1")
    }
    assert outcomes["amd:1"][0] == "Change"
    assert outcomes["both:1"] == ["Change", "NotNeeded"], (
        "Rook adds its own image to the daemons of the cluster"
    )
    other = text + CEPH.replace("IMAGE", "amd:1").replace("namespace: rook", "namespace: other")
    assert edited(other.encode()).edits.decisions[0][1].outcome == "NotNeeded"
    assert edited(text.encode()).data == text.encode()


def test_a_gateway_of_others_has_no_pods():
    text = (
        "apiVersion: ceph.rook.io/v1\nkind: CephObjectStore\nmetadata: {name: a, namespace: rook}\n"
        "spec: {gateway: {externalRgwEndpoints: [{ip: 192.0.2.1}]}}\n---\n"
    )
    assert len(edited((text + CEPH.replace("IMAGE", "amd:1")).encode()).edits.decisions) == 1


PATCHED = (
    "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: a}\nspec:\n  podSpecPatch: PATCH\n"
    "  templates:\n  - name: a\n    container: {image: 'amd:1'}\n"
)


def test_a_patch_that_argo_merges_into_the_pod_is_heeded():
    """It is a text; what it may change is not written as if it were not there."""

    def patched(text: str) -> bytes:
        return PATCHED.replace("PATCH", f"'{text}'").encode()

    limits = patched('{"containers": [{"name": "main", "imagePullPolicy": "Always"}]}')
    assert b"nodeAffinity" in edited(limits).data
    image = patched('{"containers": [{"name": "main", "image": "amd:1"}]}').replace(b"'amd:1'", b"'both:1'")
    assert edited(image).data == image
    assert any("this patch may change the images" in str(one) for one in edited(image).edits.messages)
    tolerating = patched('{"tolerations": [{"operator": "Exists", "key": "ci"}]}')
    assert b"nodeAffinity" in edited(tolerating).data
    placed_there = patched('{"affinity": {"podAntiAffinity": {}}}')
    with pytest.raises(Failed, match=r"spec\.podSpecPatch: it replaces spec\.templates\[0\]\.affinity"):
        edited(placed_there)


MERGED = """\
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: a}
spec:
  templateDefaults:
    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [TERM]}}}
  templates:
  - {name: a, container: {image: 'amd:1'}, affinity: OWN}
"""


def test_terms_that_argo_merges_into_a_template_are_not_lost():
    """Its own list of terms would replace them, so a template without one is left alone and named."""
    term = "{matchExpressions: [{key: disk, operator: Exists}]}"
    text = MERGED.replace("TERM", term)
    alone = text.replace("OWN", "{podAntiAffinity: {}}").encode()
    (said,) = edited(alone).edits.messages
    assert edited(alone).data == alone
    assert "is merged into spec.templates[0]" in said.text
    required = f"{{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}}}}}"
    assert edited(text.replace("OWN", required).encode()).data.count(b"kubernetes.io/arch") == 1
    harmless = alone.replace(b"nodeAffinity: {requiredDuring", b"podAffinity: {preferredDuring")
    assert b"kubernetes.io/arch" in edited(harmless).data


_EXPERIMENT = """apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata:
  NAME
spec:
  trialTemplate:
    trialSpec:
      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      METADATA
      spec:
        pytorchReplicaSpecs:
          Worker:
            template:
              spec:
                containers:
                - name: pytorch
                  image: IMAGE
"""


@pytest.mark.parametrize("metadata", ["metadata: {}", "metadata: {generateName: trial-}"])
def test_an_object_in_one_that_refuses_changes_gets_only_what_it_needs(metadata):
    """Katib refuses every change of an Experiment but three counters (pkg/webhook/v1beta1/experiment/validator)."""
    text = _EXPERIMENT.replace("METADATA", metadata)
    named = text.replace("NAME", "name: tune")
    kept = named.replace("IMAGE", "both:1").encode()
    assert edited(kept).data == kept
    narrowed = edited(named.replace("IMAGE", "amd:1").encode()).data
    assert b"nodeAffinity" in narrowed
    assert b"tolerations" not in narrowed
    made_anew = text.replace("NAME", "generateName: tune-").replace("IMAGE", "both:1").encode()
    assert b"tolerations" in edited(made_anew).data


def test_a_toleration_of_an_operators_configuration_is_hidden_only_where_one_is_needed():
    """A list in the manifest replaces `toleration` of the Zalando operator's configuration."""
    text = (
        b"apiVersion: acid.zalan.do/v1\nkind: postgresql\nmetadata: {name: a}\nspec:\n  teamId: a\n"
        b"  dockerImage: both:1\n"
    )
    assert edited(text).data == text
    output = edited(text.replace(b"both:1", b"arm:1"))
    assert b"tolerations" in output.data
    assert any("replace `toleration`" in str(result) for result in output.edits.messages)


_RUNTIME = (
    "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {{name: r}}\n"
    "spec: {{affinity: {0}, containers: [{{name: kserve-container, image: 'amd:1'}}]}}\n---\n"
    "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a}}\n"
    "spec: {{predictor: {{affinity: {1}, model: {{runtime: r, modelFormat: {{name: onnx}}}}}}}}\n"
)
WRONG_TYPES = [
    pytest.param(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n"
        "  podSpecPatch: 'nodeSelector: {pool: a}'\n  templates:\n  - name: a\n"
        "    podSpecPatch: 'nodeSelector: {{inputs.parameters.where}}'\n    container: {image: 'amd:1'}\n",
        "spec.templates[0].nodeSelector",
        id="one patch of two",
    ),
    pytest.param(
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyProxy\nmetadata: {name: a}\nspec:\n"
        "  provider:\n    kubernetes:\n      envoyDeployment:\n        pod: {nodeSelector: pool}\n"
        "        patch: {value: {spec: {template: {spec: {nodeSelector: {pool: a}}}}}}\n",
        "spec.provider.kubernetes.envoyDeployment.pod.nodeSelector",
        id="what is patched",
    ),
    pytest.param(
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a}\n"
        "spec: {architecture: amd64, nodeSelector: pool, volumes: [{name: a, containerDisk: {image: 'amd:1'}}]}\n",
        "spec.nodeSelector",
        id="beside an architecture",
    ),
    pytest.param(
        _RUNTIME.format("{podAffinity: {}}", "none"), "spec.predictor.affinity", id="over what is lent"
    ),
    pytest.param(_RUNTIME.format("none", "{podAffinity: {}}"), "spec.affinity", id="what is lent"),
]


@pytest.mark.parametrize(("text", "field"), WRONG_TYPES)
def test_what_has_two_places_and_is_no_mapping_in_one_is_an_error_that_names_it(text, field):
    with pytest.raises(Failed) as failed:
        edited(text.encode())
    assert f"{field}: has to be a mapping, but it is a string" in str(failed.value)
