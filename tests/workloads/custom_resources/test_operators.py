"""What operators run beside the images that everybody reads, and what they do with a placement.

Samples are objects as the operators' own documentation has them, cut to what counts. Each output is judged by
Kubernetes' readers, and each pod, as its operator would make it, by the scheduler's own code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from added_blocks import diff
from archfit.options.settings import Options
from custom_pods import projected
from stream_edits import Failed, edited, placed, sides

if TYPE_CHECKING:
    from corpus_streams import Oracle
    from yaml_judge import Judge

PLATFORMS = {
    "app:1": ["linux/amd64"],
    "amd:1": ["linux/amd64"],
    "arm:1": ["linux/arm64"],
    "both:1": ["linux/amd64", "linux/arm64"],
}

SAMPLES = [
    pytest.param(
        """
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata:
  name: ci
spec:
  nodeSelector:
    pool: ci
  templates:
  - name: main
    dag:
      tasks:
      - name: build
        inline:
          script:
            image: app:1
            source: make
+10 AFFINITY
      - name: test
        inline:
          container:
            image: both:1
+10 TOLERATIONS
""",
        id="Argo: inline templates of a DAG",
    ),
    pytest.param(
        """
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata:
  name: ci
spec:
  templates:
  - name: main
    tolerations:
    - key: ci
      operator: Exists
    steps:
    - - name: build
        inline:
          container:
            image: both:1
+          tolerations:
+          - key: ci
+            operator: Exists
+10 TOLERATION
""",
        id="Argo: an inline template has the placement of its caller",
    ),
    pytest.param(
        """
apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata:
  name: ci
spec:
  schedule: "0 0 * * *"
  workflowSpec:
    templateDefaults:
      container:
        image: app:1
    templates:
    - name: main
      container:
        command: [make]
+6 AFFINITY
    - name: own
      container:
        image: both:1
+6 TOLERATIONS
""",
        id="Argo: a container without an image takes that of templateDefaults",
    ),
    pytest.param(
        """
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata:
  name: ci
spec:
  volumes:
  - name: models
    image:
      reference: app:1
  templates:
  - name: main
    container:
      image: both:1
+4 AFFINITY
""",
        id="Argo: image volumes of the workflow are volumes of each pod",
    ),
    pytest.param(
        """
apiVersion: tekton.dev/v1
kind: PipelineRun
metadata:
  name: ci
spec:
  pipelineSpec:
    tasks:
    - name: build
      taskSpec:
        steps:
        - name: a
          image: both:1
    finally:
    - name: notify
      taskSpec:
        stepTemplate:
          image: app:1
        steps:
        - name: b
          script: echo
+  taskRunTemplate:
+    podTemplate:
+6 AFFINITY
""",
        id="Tekton: the step template of a task of finally",
    ),
    pytest.param(
        """
apiVersion: rabbitmq.com/v1beta1
kind: RabbitmqCluster
metadata:
  name: queue
spec:
  image: both:1
  override:
    statefulSet:
      spec:
        template:
          spec:
            containers: []
            tolerations:
            - key: queue
              operator: Exists
+12 TOLERATION
""",
        id="RabbitMQ: the override's tolerations replace those of spec",
    ),
    pytest.param(
        """
apiVersion: rabbitmq.com/v1beta1
kind: RabbitmqCluster
metadata:
  name: queue
spec:
  image: both:1
  secretBackend:
    vault:
      defaultUserUpdaterImage: app:1
+2 AFFINITY
""",
        id="RabbitMQ: the sidecar that renews passwords",
    ),
    pytest.param(
        """
apiVersion: minio.min.io/v2
kind: Tenant
metadata:
  name: store
spec:
  image: both:1
  additionalVolumes:
  - name: data
    image:
      reference: app:1
  pools:
  - servers: 4
    volumesPerServer: 4
+4 AFFINITY
  kes:
    image: both:1
+4 TOLERATIONS
""",
        id="MinIO: what a tenant adds to its pools is not in KES",
    ),
    pytest.param(
        """
apiVersion: postgresql.cnpg.io/v1
kind: Pooler
metadata:
  name: pool
spec:
  pgbouncer:
    image: app:1
    poolMode: session
  template:
    spec:
      containers: []
+6 AFFINITY
""",
        id="CloudNativePG: a pooler's own image",
    ),
    pytest.param(
        """
apiVersion: ray.io/v1
kind: RayService
metadata:
  name: serve
spec:
  rayClusterConfig:
    historyServerOptions:
      collectorOptions:
        image: app:1
    headGroupSpec:
      template:
        spec:
          containers:
          - name: head
            image: both:1
+10 AFFINITY
    workerGroupSpecs:
    - groupName: a
      template:
        spec:
          containers:
          - name: worker
            image: both:1
+10 AFFINITY
""",
        id="KubeRay: the collector runs in every pod",
    ),
    pytest.param(
        """
apiVersion: ray.io/v1
kind: RayJob
metadata:
  name: train
spec:
  entrypoint: python train.py
  submitterPodTemplate:
    spec:
      restartPolicy: Never
      containers:
      - name: submit
        image: app:1
+6 AFFINITY
  rayClusterSpec:
    headGroupSpec:
      template:
        spec:
          containers:
          - name: head
            image: app:1
+10 AFFINITY
""",
        id="KubeRay: a submitter pod of one's own is placed",
    ),
    pytest.param(
        """
apiVersion: operator.victoriametrics.com/v1beta1
kind: VMAgent
metadata:
  name: agent
spec:
  image:
    repository: both
    tag: "1"
  configReloaderImage: app:1
+2 AFFINITY
""",
        id="VictoriaMetrics: the reloader of the configuration",
    ),
    pytest.param(
        """
apiVersion: operator.victoriametrics.com/v1beta1
kind: VMCluster
metadata:
  name: metrics
spec:
  requestsLoadBalancer:
    enabled: true
    spec:
      image:
        repository: app
        tag: "1"
+6 AFFINITY
""",
        id="VictoriaMetrics: the balancer of requests",
    ),
    pytest.param(
        """
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata:
  name: log
spec:
  kafka:
    image: both:1
    brokerRackInitImage: app:1
    rack:
      topologyKey: topology.kubernetes.io/zone
+    template:
+      pod:
+8 AFFINITY
  jmxTrans:
    image: app:1
+    template:
+      pod:
+8 AFFINITY
  entityOperator:
    topicOperator:
      image: both:1
    tlsSidecar:
      image: app:1
+    template:
+      pod:
+8 AFFINITY
""",
        id="Strimzi: init containers, sidecars and JmxTrans",
    ),
    pytest.param(
        """
apiVersion: kafka.strimzi.io/v1
kind: KafkaConnect
metadata:
  name: connect
spec:
  image: app:1
  build:
    output:
      type: docker
      image: registry.example/connect:1
    plugins:
    - name: a
      artifacts:
      - type: jar
        url: https://example.com/a.jar
  template:
    pod:
      priorityClassName: high
+6 AFFINITY
+    buildPod:
+6 AFFINITY
""",
        id="Strimzi: a build, and what it makes, run where the base image does",
    ),
    pytest.param(
        """
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata:
  name: vllm
spec:
  containers:
  - name: kserve-container
    image: app:1
  workerSpec:
    pipelineParallelSize: 2
    containers:
    - name: worker-container
      image: app:1
+4 AFFINITY
+2 AFFINITY
""",
        id="KServe: a runtime's workers are pods of their own",
    ),
    pytest.param(
        """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: llm
spec:
  predictor:
    huggingface:
      image: app:1
+4 AFFINITY
  explainer:
    art:
      type: SquareAttack
      image: app:1
+4 AFFINITY
""",
        id="KServe: every runtime and explainer",
    ),
    pytest.param(
        """
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: vm
spec:
  template:
    spec:
      architecture: arm64
      volumes:
      - name: disk
        containerDisk:
          image: both:1
+6 TOLERATIONS
""",
        id="KubeVirt: a machine pinned to arm64 tolerates its nodes",
    ),
    pytest.param(
        """
apiVersion: grafana.integreatly.org/v1beta1
kind: Grafana
metadata:
  name: grafana
spec:
  deployment:
    spec:
      template:
        spec:
          containers:
          - name: grafana
            image: both:1
          - name: renderer
            image: app:1
+10 AFFINITY
""",
        id="Grafana: the operator's container is named",
    ),
    pytest.param(
        """
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata:
  name: main
spec:
  baseImage: amd
  tag: "1"
+2 AFFINITY
""",
        id="Prometheus operator: an old image in two parts",
    ),
    pytest.param(
        """
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: pi
spec:
  image: both:1
  volumes:
  - name: models
    image:
      reference: app:1
  driver:
    cores: 1
+4 AFFINITY
  executor:
    cores: 1
+4 AFFINITY
""",
        id="Spark: image volumes of the application",
    ),
    pytest.param(
        """
apiVersion: opentelemetry.io/v1alpha1
kind: TargetAllocator
metadata:
  name: allocator
spec:
  image: both:1
  additionalContainers:
  - name: proxy
    image: app:1
+2 AFFINITY
""",
        id="OpenTelemetry: further containers of a target allocator",
    ),
    pytest.param(
        """
apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata:
  name: warm
spec:
  template:
    imageListPullJobTemplate:
      spec:
        images: [app:1]
    jobTemplate:
      spec:
        template:
          spec:
            containers:
            - image: both:1
+12 TOLERATIONS
""",
        id="Kruise: what is only pulled restricts nothing",
    ),
]


@pytest.mark.parametrize("text", SAMPLES)
def test_every_image_of_a_pod_counts(judge: Judge, oracle: Oracle, text: str) -> None:
    before, after = sides(diff(text))
    assert placed(judge, before).decode() == after.decode()
    as_made = projected(judge.kubectl(after))
    platforms = {**PLATFORMS, "registry.example/connect:1": ["linux/amd64"]}
    assert oracle(projected(judge.kubectl(before)), as_made, platforms=platforms).violations == []


UNASKED = [
    pytest.param(
        "apiVersion: apps.openshift.io/v1\nkind: DeploymentConfig\nmetadata: {name: a}\nspec:\n  triggers:\n"
        "  - type: ImageChange\n    imageChangeParams: {containerNames: [a], from: {name: 'a:1'}}\n"
        "  template: {spec: {containers: [{name: a, image: 'both:1'}]}}\n",
        "OpenShift replaces the image of a container",
        id="OpenShift: an image that a trigger replaces",
    ),
    pytest.param(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: a}\nspec:\n"
        "  template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {containers: [\n"
        "    {name: node, image: 'both:1'}]}}}}}]}}\n",
        "spec.trainer.image of a TrainJob replaces the image",
        id="Kubeflow: a step whose image a TrainJob replaces",
    ),
    pytest.param(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: a}\nspec:\n"
        "  nodeSelector: {kubernetes.io/arch: arm64}\n  containers: [{name: kserve-container, image: 'arm:1'}]\n",
        "an InferenceService is merged with this runtime",
        id="KServe: a runtime with which services are merged",
    ),
    pytest.param(
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a}\nspec:\n"
        "  predictor: {nodeSelector: {kubernetes.io/arch: arm64}, model: {runtime: a, image: 'arm:1'}}\n",
        "the containers of its serving runtime run beside it",
        id="KServe: a model, whose runtime has more containers",
    ),
    pytest.param(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceServiceConfig\nmetadata: {name: a}\nspec:\n"
        "  worker: {containers: [{name: main, image: 'both:1'}]}\n",
        "an LLMInferenceService is merged with this configuration",
        id="KServe: a configuration with which LLM services are merged",
    ),
    pytest.param(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: a}\nspec:\n"
        "  baseRefs: [{name: b}]\n  template: {containers: [{name: main, image: 'both:1'}]}\n",
        "the configurations that spec.baseRefs names",
        id="KServe: an LLM service with configurations",
    ),
    pytest.param(
        "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {name: a}\nspec:\n"
        "  image: both:1\n  sparkConfigMap: b\n  driver: {}\n  executor: {}\n",
        "the Spark configuration in this ConfigMap",
        id="Spark: a configuration that may name images",
    ),
    pytest.param(
        "apiVersion: clickhouse.altinity.com/v1\nkind: ClickHouseInstallation\nmetadata: {name: a}\nspec:\n"
        "  templates: {podTemplates: [{name: a, spec: {containers: [{name: log, image: 'both:1'}]}}]}\n",
        "the ClickHouse operator chooses it",
        id="ClickHouse: a template without the main container",
    ),
    pytest.param(
        "apiVersion: pkg.crossplane.io/v1beta1\nkind: DeploymentRuntimeConfig\nmetadata: {name: a}\nspec:\n"
        "  deploymentTemplate: {spec: {template: {spec: {containers: [{name: log, image: 'both:1'}]}}}}\n",
        "the Provider or Function chooses it",
        id="Crossplane: the container of the package",
    ),
    pytest.param(
        "apiVersion: actions.github.com/v1alpha1\nkind: AutoscalingRunnerSet\nmetadata: {name: a}\nspec:\n"
        "  listenerTemplate: {spec: {containers: [{name: log, image: 'both:1'}]}}\n",
        "the runner controller chooses it",
        id="GitHub: a listener without the main container",
    ),
    pytest.param(
        "apiVersion: k8up.io/v1\nkind: PodConfig\nmetadata: {name: a}\nspec:\n"
        "  template: {spec: {containers: [{name: log, image: 'both:1'}]}}\n",
        "the k8up operator chooses the image of the main container",
        id="k8up: pods of the operator",
    ),
    pytest.param(
        "apiVersion: machinelearning.seldon.io/v1\nkind: SeldonDeployment\nmetadata: {name: a}\nspec:\n"
        "  predictors: [{graph: {name: a, implementation: SKLEARN_SERVER}, componentSpecs: [\n"
        "    {spec: {containers: [{name: b, image: 'both:1'}]}}]}]\n",
        "Seldon's configuration names the image",
        id="Seldon: a prepackaged server",
    ),
    pytest.param(
        "apiVersion: operator.victoriametrics.com/v1beta1\nkind: VMSingle\nmetadata: {name: a}\nspec:\n"
        "  image: {repository: both, tag: '1'}\n  vmBackup: {destination: 's3://a'}\n",
        "the VictoriaMetrics operator chooses it",
        id="VictoriaMetrics: a backup whose image the operator chooses",
    ),
    pytest.param(
        "apiVersion: grafana.integreatly.org/v1beta1\nkind: Grafana\nmetadata: {name: a}\nspec: {version: 12.0.0}\n",
        "the Grafana operator chooses it",
        id="Grafana: by version",
    ),
    pytest.param(
        "apiVersion: tekton.dev/v1\nkind: PipelineRun\nmetadata: {name: a}\nspec:\n  pipelineSpec:\n    tasks:\n"
        "    - name: a\n      taskSpec: {steps: [{name: a, image: 'both:1'}]}\n    - name: b\n      pipelineSpec:\n"
        "        tasks: [{name: c, taskRef: {name: c}}]\n",
        "a pipeline inside of a pipeline",
        id="Tekton: a pipeline inside of a pipeline",
    ),
    pytest.param(
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\nmetadata: {name: a, labels: {strimzi.io/cluster: b}}\n"
        "spec: {roles: [broker], template: {pod: {priorityClassName: high}}}\n",
        "the Kafka object of the cluster names it",
        id="Strimzi: a pool whose Kafka is not in the stream",
    ),
    pytest.param(
        "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: a}\nspec:\n  templates:\n"
        "  - name: a\n    container: {image: 'both:1'}\n  - name: b\n    steps: [[{name: c, inline: {steps: [["
        "{name: d, inline: {container: {image: 'amd:1'}}}]]}}]]\n",
        "archfit does not know which pod runs amd:1 there",
        id="Argo: inline templates inside of inline templates",
    ),
]


@pytest.mark.parametrize(("text", "said"), UNASKED)
def test_an_image_that_nobody_can_see_leaves_the_toleration_out(text: str, said: str) -> None:
    output = edited(text.encode())
    assert output.data == text.encode()
    assert any(said in str(result) for result in output.transformed.results)


def test_only_the_containers_that_another_object_replaces_are_unseen() -> None:
    """An initializer of a TrainingRuntime runs its own image."""
    text = (
        b"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainingRuntime\nmetadata: {name: a}\nspec:\n"
        b"  template: {spec: {replicatedJobs: [{name: model-initializer, template: {spec: {template: {spec: {"
        b"containers: [{name: model-initializer, image: 'both:1'}]}}}}}]}}\n"
    )
    assert b"tolerations" in edited(text).data


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("serving.knative.dev/v1 Service", "{template: {spec: {containers: [{image: 'both:1'}]}}}"),
        ("serving.kserve.io/v1beta1 InferenceService", "{transformer: {containers: [{image: 'both:1'}]}}"),
    ],
)
def test_an_api_that_refuses_placement_gets_only_what_is_needed(kind: str, spec: str) -> None:
    api_version, name = kind.split()
    text = f"apiVersion: {api_version}\nkind: {name}\nmetadata: {{name: a}}\nspec: {spec}\n".encode()
    for options in (Options(), Options(affinity="always"), Options(prefer=(("arm64", 50),))):
        output = edited(text, options)
        assert output.data == text
        assert output.transformed.results == ()
    narrowed = edited(text.replace(b"both:1", b"amd:1"))
    assert b"nodeAffinity" in narrowed.data
    assert any("kubernetes.podspec-affinity" in str(result) for result in narrowed.transformed.results)


def test_the_default_affinity_is_written_along_only_with_an_affinity() -> None:
    text = (
        b"apiVersion: elasticsearch.k8s.elastic.co/v1\nkind: Elasticsearch\nmetadata: {%s}\n"
        b"spec: {image: '%s', nodeSets: [{name: a}]}\n"
    )
    assert b"podAntiAffinity" not in edited(text % (b"name: logs", b"both:1")).data
    assert b"cluster-name: logs}" in edited(text % (b"name: logs", b"amd:1")).data
    unnamed = edited(text % (b"generateName: logs-", b"amd:1"))
    assert b"podAntiAffinity" not in unnamed.data
    assert any("metadata.name is missing" in str(result) for result in unnamed.transformed.results)


def test_a_machine_without_an_architecture_is_left_alone_and_said() -> None:
    """KubeVirt would pin it to the cluster's default, whatever its affinity says."""
    text = (
        b"apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a}\nspec:\n"
        b"  volumes: [{name: a, containerDisk: {image: 'arm:1'}}]\n"
    )
    output = edited(text)
    (said,) = output.transformed.results
    assert output.data == text
    assert said.severity == "warning"
    assert "the cluster's default architecture" in said.message
    narrowed = text.replace(b"arm:1", b"both:1").replace(
        b"{name: a}\nspec", b"{name: a, annotations: {archfit.dev/only: arm64}}\nspec"
    )
    assert edited(narrowed).data == narrowed
    pinned = text.replace(b"spec:\n", b"spec:\n  nodeSelector: {kubernetes.io/arch: arm64}\n")
    assert edited(pinned).transformed.results == ()


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
def test_a_disk_of_a_single_manifest_restricts_nothing_and_an_index_does(judge: Judge, name: str) -> None:
    """The registry gives a single manifest to every node, and KubeVirt runs no program of a disk or a kernel."""
    images = {"architecture": "arm64", "disk": "both:1", "kernel": "both:1"}
    text = MACHINE.format(**{**images, name: "single:1"}).encode()
    added = b"      tolerations:\n      - key: kubernetes.io/arch\n        operator: Equal\n        value: arm64\n"
    assert placed(judge, text) == text + added + b"        effect: NoSchedule\n"
    with pytest.raises(Failed, match="amd:1 offers only amd64"):
        edited(MACHINE.format(**{**images, name: "amd:1"}).encode())
    on_amd64 = MACHINE.format(**{**images, "architecture": "amd64", name: "single:1"}).encode()
    assert placed(judge, on_amd64) == on_amd64


def test_a_disk_alone_says_nothing_about_where_its_machine_runs(judge: Judge) -> None:
    """KubeVirt chooses the image of the program, and the disk holds a system for one architecture."""
    text = (
        b"apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a}\nspec:\n"
        b"  volumes:\n  - {name: a, containerDisk: {image: 'single:1'}}\n"
    )
    assert placed(judge, text) == text
    stated = text.replace(b"spec:\n", b"spec:\n  architecture: arm64\n")
    assert placed(judge, stated).startswith(stated)
    assert b"tolerations" in placed(judge, stated)


def test_an_architecture_twice_is_an_error() -> None:
    text = (
        b"apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a}\nspec:\n"
        b"  architecture: amd64\n  architecture: arm64\n  volumes: [{name: a, containerDisk: {image: 'both:1'}}]\n"
    )
    with pytest.raises(Failed, match=r"spec\.architecture: the key stands twice"):
        edited(text)


def test_a_template_with_two_kinds_of_containers_is_one_pod(judge: Judge) -> None:
    """Argo refuses it; it is no reason for two edits at one place."""
    text = (
        b"apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: a}\nspec:\n  templates:\n"
        b"  - {name: a, container: {image: 'amd:1'}, script: {image: 'amd:1', source: x}}\n"
    )
    assert placed(judge, text).count(b"nodeAffinity") == 1


BOTH_SET = (
    b"apiVersion: rabbitmq.com/v1beta1\nkind: RabbitmqCluster\nmetadata: {name: a}\nspec:\n  image: amd:1\n"
    b"  affinity: {podAntiAffinity: {}}\n"
    b"  override: {statefulSet: {spec: {template: {spec: {containers: [], affinity: {podAffinity: {}}}}}}}\n"
)


def test_a_field_that_the_operator_takes_from_two_places_is_a_conflict() -> None:
    where = "spec.override.statefulSet.spec.template.spec.affinity"
    with pytest.raises(Failed, match=f"{where}: it replaces spec.affinity"):
        edited(BOTH_SET)
    left = edited(BOTH_SET, Options(on_conflict="leave"))
    assert left.data == BOTH_SET
    assert [result.severity for result in left.transformed.results] == ["warning"]
    fine = BOTH_SET.replace(b"amd:1", b"both:1")
    assert b"tolerations" in edited(fine).data


def test_a_pool_that_takes_the_template_of_its_kafka_is_not_given_one() -> None:
    """With a rule that narrows it, it is said; nothing is to be said without."""
    text = (
        b"apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: my}\nspec: {kafka: {image: 'amd:1'}}\n---\n"
        b"apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\n"
        b"metadata: {name: a, labels: {strimzi.io/cluster: my}}\nspec: {roles: [broker]}\n"
    )
    output = edited(text)
    assert output.data.count(b"nodeAffinity") == 1
    assert [result.severity for result in output.transformed.results] == ["info"]


@pytest.mark.parametrize("namespace", ["", ", namespace: b"])
def test_a_pool_finds_its_kafka_in_its_own_namespace(namespace: str) -> None:
    text = (
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\n"
        f"metadata: {{name: a{namespace}, labels: {{strimzi.io/cluster: my}}}}\n"
        "spec: {roles: [broker], template: {pod: {priorityClassName: high}}}\n---\n"
        "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: my}\nspec: {kafka: {image: 'amd:1'}}\n"
    )
    pool, kafka = (decision for _, decision in edited(text.encode()).transformed.decisions)
    assert kafka.outcome == "Change"
    assert pool.outcome == ("NotNeeded" if namespace else "Change")


PATCHED = (
    "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: a}\nspec:\n  podSpecPatch: PATCH\n"
    "  templates:\n  - name: a\n    container: {image: 'both:1'}\n"
)


def test_a_patch_that_argo_merges_into_the_pod_is_heeded() -> None:
    """It is a text; what it may change is not written as if it were not there."""

    def patched(text: str) -> bytes:
        return PATCHED.replace("PATCH", f"'{text}'").encode()

    limits = patched('{"containers": [{"name": "main", "imagePullPolicy": "Always"}]}')
    assert b"tolerations" in edited(limits).data
    image = patched('{"containers": [{"name": "main", "image": "amd:1"}]}')
    assert edited(image).data == image
    assert any("this patch may change the images" in str(one) for one in edited(image).transformed.results)
    tolerating = patched('{"tolerations": [{"operator": "Exists", "key": "ci"}]}')
    (said,) = edited(tolerating).transformed.results
    assert edited(tolerating).data == tolerating
    assert "would be added, but spec.podSpecPatch replaces it" in said.message
    assert b"nodeAffinity" in edited(tolerating.replace(b"both:1", b"amd:1")).data
    placed_there = patched('{"affinity": {"podAntiAffinity": {}}}').replace(b"both:1", b"amd:1")
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


def test_terms_that_argo_merges_into_a_template_are_not_lost() -> None:
    """Its own list of terms would replace them, so a template without one is left alone and named."""
    term = "{matchExpressions: [{key: disk, operator: Exists}]}"
    text = MERGED.replace("TERM", term)
    alone = text.replace("OWN", "{podAntiAffinity: {}}").encode()
    (said,) = edited(alone).transformed.results
    assert edited(alone).data == alone
    assert "is merged into spec.templates[0]" in said.message
    required = f"{{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}}}}}"
    assert edited(text.replace("OWN", required).encode()).data.count(b"kubernetes.io/arch") == 1
    harmless = alone.replace(b"nodeAffinity: {requiredDuring", b"podAffinity: {preferredDuring")
    assert b"kubernetes.io/arch" in edited(harmless).data
