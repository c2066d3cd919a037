"""Custom resources: what archfit adds to each family, line by line, judged by Kubernetes' own readers.

Images that nobody knows offer linux/amd64 alone (`stream_edits`), so that every pod needs an affinity; `both:1` needs
the toleration of GKE's taint. AFFINITY and its kin stand for the lines that are added; {n} is their indent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from added_blocks import FLOW, diff
from archfit.options.settings import Options
from stream_edits import Failed, edited, placed, sides

if TYPE_CHECKING:
    from yaml_judge import Judge

ROWS = [
    pytest.param(
        """
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - image: app:1
+6 AFFINITY
""",
        id="Argo Rollouts: a template",
    ),
    pytest.param(
        """
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  name: db
spec:
  imageName: app:1
+2 AFFINITY
""",
        id="CloudNativePG: spec.affinity holds nodeAffinity",
    ),
    pytest.param(
        """
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  name: db
spec:
  imageName: app:1
  affinity:
    podAntiAffinityType: preferred
    tolerations:
    - operator: Exists
      key: db
+4 TERM
""",
        id="CloudNativePG: beside what is there",
    ),
    pytest.param(
        """
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  name: db
spec:
  imageName: both:1
+  affinity:
+4 TOLERATIONS
""",
        id="CloudNativePG: tolerations stand in spec.affinity, which is made",
    ),
    pytest.param(
        """
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata:
  name: log
spec:
  kafka:
    image: app:1
+    template:
+      pod:
+8 AFFINITY
  cruiseControl:
    image: both:1
    template:
      pod:
        priorityClassName: low
+8 TOLERATIONS
""",
        id="Strimzi: template.pod is made where it is missing",
    ),
    pytest.param(
        """
apiVersion: kafka.strimzi.io/v1
kind: KafkaConnect
metadata:
  name: log
spec:
  image: app:1
  template:
    pod:
+6 AFFINITY
""",
        id="Strimzi: template.pod that is empty is filled",
    ),
    pytest.param(
        """
apiVersion: tekton.dev/v1
kind: TaskRun
metadata:
  name: build
spec:
  taskSpec:
    steps:
    - image: app:1
+  podTemplate:
+4 AFFINITY
""",
        id="Tekton: a TaskRun's podTemplate is made",
    ),
    pytest.param(
        """
apiVersion: tekton.dev/v1
kind: PipelineRun
metadata:
  name: build
spec:
  pipelineSpec:
    tasks:
    - name: a
      taskSpec:
        steps:
        - image: app:1
  taskRunSpecs:
  - pipelineTaskName: a
    podTemplate:
      nodeSelector:
        disk: ssd
+6 AFFINITY
+  taskRunTemplate:
+    podTemplate:
+6 AFFINITY
""",
        id="Tekton: a PipelineRun's template, and that of a task",
    ),
    pytest.param(
        """
apiVersion: tekton.dev/v1beta1
kind: PipelineRun
metadata:
  name: build
spec:
  pipelineSpec:
    tasks:
    - name: a
      taskSpec:
        steps:
        - image: app:1
+  podTemplate:
+4 AFFINITY
""",
        id="Tekton: v1beta1 has it elsewhere",
    ),
    pytest.param(
        """
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata:
  name: ci
spec:
  templates:
  - name: a
    container:
      image: app:1
+4 AFFINITY
  - name: b
    script:
      image: both:1
    sidecars:
    - name: s
      image: app:1
+4 AFFINITY
  - name: c
    containerSet:
      containers:
      - image: both:1
+4 TOLERATIONS
  - name: d
    steps:
    - - name: x
        template: a
""",
        id="Argo Workflows: each template by its own images",
    ),
    pytest.param(
        """
apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata:
  name: ci
spec:
  workflowSpec:
    tolerations:
    - key: ci
      operator: Exists
    templates:
    - name: a
      container:
        image: both:1
+      tolerations:
+      - key: ci
+        operator: Exists
+6 TOLERATION
""",
        id="Argo Workflows: a template's own tolerations replace the workflow's, so those are repeated",
    ),
    pytest.param(
        """
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata:
  name: ci
spec:
  affinity:
    podAntiAffinity: {}
  tolerations:
  - operator: Exists
    key: ci
  templates:
  - name: a
    container:
      image: app:1
+    affinity:
+      podAntiAffinity: {}
+6 TERM
  - name: b
    affinity: {}
    container:
      image: both:1
+    tolerations:
+    - operator: Exists
+      key: ci
+4 TOLERATION
""",
        id="Argo Workflows: an affinity that is inherited is repeated",
    ),
    pytest.param(
        """
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: pi
spec:
  image: app:1
  driver:
    cores: 1
+4 AFFINITY
  executor:
    image: both:1
    cores: 1
+4 TOLERATIONS
""",
        id="Spark: driver and executor",
    ),
    pytest.param(
        """
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: pi
spec:
  image: app:1
  driver:
    template:
      spec:
        containers:
        - name: spark-kubernetes-driver
+8 AFFINITY
""",
        id="Spark: a pod template",
    ),
    pytest.param(
        """
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: pi
spec:
  image: app:1
  driver:
    affinity:
      podAntiAffinity: {}
+6 TERM
    template:
      spec:
        containers:
        - name: spark-kubernetes-driver
""",
        id="Spark: the driver's affinity replaces that of its template",
    ),
    pytest.param(
        """
apiVersion: elasticsearch.k8s.elastic.co/v1
kind: Elasticsearch
metadata:
  name: logs
spec:
  image: app:1
  nodeSets:
  - name: hot
+    podTemplate:
+      spec:
+        affinity:
+          podAntiAffinity:
+            preferredDuringSchedulingIgnoredDuringExecution:
+            - weight: 100
+              podAffinityTerm:
+                labelSelector:
+                  matchLabels:
+                    elasticsearch.k8s.elastic.co/cluster-name: logs
+                topologyKey: kubernetes.io/hostname
+10 TERM
  - name: cold
    podTemplate:
      spec:
        containers:
        - name: elasticsearch
          image: both:1
+8 TOLERATIONS
""",
        id="ECK: each node set with the operator's own anti-affinity; its container's image counts before spec.image",
    ),
    pytest.param(
        """
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata:
  name: k8s
spec:
  image: both:1
  containers:
  - name: prometheus
    resources: {}
  - name: proxy
    image: app:1
+2 AFFINITY
""",
        id="Prometheus operator: spec.image and further containers",
    ),
    pytest.param(
        """
apiVersion: operator.victoriametrics.com/v1beta1
kind: VMCluster
metadata:
  name: vm
spec:
  vmselect:
    image:
      repository: both
      tag: "1"
+4 TOLERATIONS
  vmstorage:
    image:
      repository: app
      tag: v1
+4 AFFINITY
""",
        id="VictoriaMetrics: repository and tag",
    ),
    pytest.param(
        """
apiVersion: minio.min.io/v2
kind: Tenant
metadata:
  name: store
spec:
  image: app:1
  pools:
  - servers: 1
+4 AFFINITY
  - servers: 2
+4 AFFINITY
""",
        id="MinIO: each pool",
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
      volumes:
      - name: disk
        containerDisk:
          image: both:1
+6 TOLERATIONS
""",
        id="KubeVirt: container disks",
    ),
    pytest.param(
        """
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata:
  name: w
spec:
  components:
  - template:
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: j
      spec:
        template:
          spec:
            containers:
            - image: app:1
+12 AFFINITY
  - template:
      apiVersion: v1
      kind: Service
      metadata:
        name: s
""",
        id="objects in objects",
    ),
    pytest.param(
        """
apiVersion: argoproj.io/v1alpha1
kind: RolloutList
items:
- metadata:
    name: web
  spec:
    template:
      spec:
        containers:
        - image: app:1
+8 AFFINITY
""",
        id="typed lists of custom resources",
    ),
    pytest.param(
        """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: j
spec:
  tasks:
  - template:
      spec:
        containers:
        - image: both:1
  - template:
      spec:
        containers:
        - image: app:1
+8 AFFINITY
""",
        id="Volcano: cannot change once applied, and so gets no toleration that it does not need",
    ),
]


@pytest.mark.parametrize("text", ROWS)
def test_what_is_added(judge: Judge, text: str) -> None:
    before, after = sides(diff(text))
    assert placed(judge, before).decode() == after.decode()


def test_empty_tolerations_inherit_too() -> None:
    text = (
        b"apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nmetadata: {name: a}\nspec:\n"
        b"  tolerations: [{key: ci, operator: Exists}]\n"
        b"  templates:\n  - name: a\n    tolerations: []\n    container: {image: 'both:1'}\n"
    )
    expected = text.replace(
        b"tolerations: []",
        b"tolerations: [{key: ci, operator: Exists}, "
        b"{key: kubernetes.io/arch, operator: Equal, value: arm64, effect: NoSchedule}]",
    )
    assert edited(text).data == expected
    assert edited(expected).data == expected


SHARED = [
    pytest.param(
        """
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata:
  name: a
spec:
  kafka:
    image: app:1
    template: &t
      pod:
        priorityClassName: x
+8 AFFINITY
  cruiseControl:
    image: both:1
-    template: *t
+    template: {pod: {priorityClassName: x, tolerations: [GKE]}}
""",
        id="a holder that is an alias",
    ),
    pytest.param(
        """
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata:
  name: a
x: &x
  template:
    metadata: {}
spec:
  kafka:
    <<: *x
    image: app:1
+    template:
+      metadata: {}
+      pod:
+8 AFFINITY
""",
        id="a holder that a merge supplies",
    ),
    pytest.param(
        """
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata:
  name: a
spec:
  tolerations: &t
  - key: ci
    operator: Exists
  templates:
  - name: b
-    tolerations: *t
+    tolerations: [{key: ci, operator: Exists}, GKE]
    container:
      image: both:1
""",
        id="tolerations that are those of the workflow, by an alias",
    ),
]


@pytest.mark.parametrize("text", SHARED)
def test_shared_nodes(judge: Judge, text: str) -> None:
    before, after = sides(diff(text.replace("GKE", FLOW)).replace("\n -    ", "\n-    "))
    assert placed(judge, before).decode() == after.decode()


@pytest.mark.parametrize(
    ("text", "field"),
    [
        pytest.param(
            "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowTemplate\nspec:\n  tolerations: [{operator: Exists}]\n"
            "  templates:\n  - tolerations: {}\n    container: {image: 'app:1'}\n",
            "spec.templates[0].tolerations: has to be a list",
            id="tolerations that are a mapping do not inherit",
        ),
        pytest.param(
            "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nspec: {image: 'app:1', affinity: [a]}\n",
            "spec.affinity: has to be a mapping",
            id="a list where an affinity belongs",
        ),
    ],
)
def test_a_field_of_the_wrong_shape_is_an_error_at_its_place(text: str, field: str) -> None:
    with pytest.raises(Failed) as failed:
        edited(text.encode())
    assert field in str(failed.value)


def test_containers_of_the_wrong_shape_are_no_containers() -> None:
    text = (
        b"apiVersion: kibana.k8s.elastic.co/v1\nkind: Kibana\nspec:\n  image: app:1\n"
        b"  podTemplate: {spec: {containers: 3}}\n"
    )
    assert b"nodeAffinity" in edited(text).data


UNTOUCHED = [
    pytest.param(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n  templates:\n"
        "  - name: main\n    nodeSelector: {gpu: a}\n    steps: []\n  - name: a\n    container: {image: 'app:1'}\n",
        "info: argoproj.io/v1alpha1/Workflow/a: not transformed: spec.templates[0].nodeSelector may also apply "
        "to spec.templates[1]; write the nodeSelector that it needs into spec.templates[1] itself "
        "(document 1, line 1)",
        id="Argo: what a caller hands down cannot be told",
    ),
    pytest.param(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n"
        "  workflowTemplateRef: {name: b}\n  podMetadata: {labels: {image: b}}\n",
        "info: argoproj.io/v1alpha1/Workflow/a: not transformed: its pods are those of the template that "
        "spec.workflowTemplateRef names, which is placed where it stands in a stream; the patches and defaults that "
        "this object adds to them are not looked at (document 1, line 1)",
        id="Argo: the templates stand in another object",
    ),
    pytest.param(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n"
        "  templates: [{name: a, dag: {tasks: [{name: b, templateRef: {name: c, template: d}}]}}]\n",
        "info: argoproj.io/v1alpha1/Workflow/a: not transformed: the template that a templateRef names is placed "
        "where it stands in a stream (document 1, line 1)",
        id="Argo: a template stands in another object",
    ),
    pytest.param(
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n"
        "  podMetadata: {labels: {image: b}}\n",
        "info: argoproj.io/v1alpha1/Workflow/a: not transformed: archfit finds no pod to place in it: it has no "
        "spec.templates[*].container and no spec.templates[*].script and no "
        "spec.templates[*].containerSet and none of 6 more (document 1, line 1)",
        id="a row without its pod",
    ),
    pytest.param(
        "apiVersion: opentelemetry.io/v1beta1\nkind: OpenTelemetryCollector\nmetadata: {name: a}\n"
        "spec: {mode: sidecar, image: 'app:1'}\n",
        "info: opentelemetry.io/v1beta1/OpenTelemetryCollector/a: not transformed: it is copied into the pods of "
        "others, when they are made (mode: sidecar) (document 1, line 1)",
        id="OpenTelemetry: a sidecar takes no placement",
    ),
    pytest.param(
        "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {image: x}\n",
        "info: keda.sh/v1alpha1/ScaledObject/a: not transformed: it scales another workload, which is placed where it "
        "stands in the stream (document 1, line 1)",
        id="KEDA: a ScaledObject holds no pod",
    ),
    pytest.param(
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaBridge\nmetadata: {name: a}\n"
        "spec: {image: 'app:1', template: [1]}\n",
        "info: kafka.strimzi.io/v1/KafkaBridge/a: not transformed: spec.template has to be a mapping "
        "(document 1, line 1)",
        id="no mapping on the way",
    ),
    pytest.param(
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaBridge\nmetadata: {name: a}\nspec: {replicas: 1, template: {}}\n",
        "info: kafka.strimzi.io/v1/KafkaBridge/a spec.image: its platforms cannot be looked up: the Strimzi "
        "operator chooses or builds it; if you know its platforms, state them with the annotation "
        "archfit.dev/image-platforms; it "
        "restricts nothing, and no toleration and no preference is added (document 1, line 1)",
        id="an image that the operator chooses",
    ),
]


@pytest.mark.parametrize(("text", "said"), UNTOUCHED)
def test_what_is_left_alone_is_named_with_its_reason(text: str, said: str) -> None:
    output = edited(text.encode())
    assert output.data == text.encode()
    assert [str(result) for result in output.transformed.results] == [said]


def test_an_annotation_says_what_an_operators_own_image_runs_on(judge: Judge) -> None:
    """On the object, as the kind has no pod metadata of its own."""
    before, after = sides(
        diff(
            """
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  name: db
  annotations:
    archfit.dev/image-platforms: linux/amd64
spec:
  instances: 3
  image: x
+2 AFFINITY
"""
        )
    )
    assert placed(judge, before) == after


def test_an_architecture_that_a_template_fills_in_is_left_alone() -> None:
    text = (
        b"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n  templates:\n  - name: a\n"
        b"    nodeSelector: {kubernetes.io/arch: '{{inputs.parameters.arch}}'}\n    container: {image: 'arm:1'}\n"
    )
    output = edited(text)
    ((_, decision),) = output.transformed.decisions
    assert output.data == text
    assert (decision.outcome, decision.reason) == (
        "OptedOut",
        "its nodeSelector's kubernetes.io/arch is filled in later ({{inputs.parameters.arch}})",
    )


def test_a_required_architecture_that_a_template_fills_in_is_left_alone() -> None:
    text = (
        b"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n  templates:\n  - name: a\n"
        b"    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{\n"
        b"      matchExpressions: [\n"
        b"      {key: kubernetes.io/arch, operator: In, values: ['{{inputs.parameters.arch}}']}]}]}}}\n"
        b"    container: {image: 'arm:1'}\n"
    )
    output = edited(text)
    ((_, decision),) = output.transformed.decisions
    assert output.data == text
    assert (decision.outcome, decision.reason) == (
        "OptedOut",
        "its node affinity's kubernetes.io/arch is filled in later ({{inputs.parameters.arch}})",
    )


def test_knative_and_spark_say_what_has_to_be_enabled() -> None:
    text = (
        b"apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n"
        b"      containers: [{image: 'app:1'}]\n"
    )
    spread, flags = map(str, edited(text).transformed.results)
    assert spread.startswith("warning: ")
    assert "default-affinity-type" in spread
    assert flags.startswith("warning: ")
    assert "kubernetes.podspec-affinity" in flags


def test_a_key_twice_on_the_way_to_a_placement_is_an_error() -> None:
    text = (
        b"apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: a}\nspec:\n  imageName: app:1\n"
        b"  affinity: {}\n  affinity: {}\n"
    )
    with pytest.raises(Failed, match=r"spec\.affinity: the key stands twice"):
        edited(text)


LACKING = b"apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {image: 'app:1', tolerations: []}\n"


def test_an_affinity_that_the_kind_has_no_field_for_is_an_error() -> None:
    """Or a warning with --on-conflict leave; it is never written where the API server would drop it."""
    from archfit.options.file_options import workloads

    rows = workloads(
        [
            {
                "group": "example.com",
                "kind": "Widget",
                "podSpec": "spec",
                "images": ["spec.image"],
                "affinity": "none",
            }
        ]
    )
    with pytest.raises(Failed) as failed:
        edited(LACKING, Options(workloads=rows))
    assert [str(result) for result in failed.value.results] == [
        "error: example.com/v1/Widget/a spec: it has to run on amd64 (arm64 is not offered by app:1), but Widget has "
        "no field for node affinity; restrict its namespace or nodes by other means, or leave such pods as they are "
        "with --on-conflict leave (document 1, line 4)"
    ]
    output = edited(LACKING, Options(workloads=rows, on_conflict="leave"))
    assert output.data == LACKING
    assert [result.severity for result in output.transformed.results] == ["warning"]
    both = LACKING.replace(b"app:1", b"both:1")
    assert b"tolerations: [{key: kubernetes.io/arch" in edited(both, Options(workloads=rows)).data


def test_a_toleration_that_the_kind_has_no_field_for_is_an_error_where_nothing_else_is_left() -> None:
    from archfit.options.file_options import workloads

    row = {"group": "example.com", "kind": "Widget", "podSpec": "spec", "images": ["spec.image"]}
    rows = Options(workloads=workloads([{**row, "tolerations": "none"}]))
    with pytest.raises(
        Failed, match=r"needs a toleration of kubernetes\.io/arch=arm64:NoSchedule, but Widget has no"
    ):
        edited(LACKING.replace(b"app:1", b"arm:1"), rows)
    both = LACKING.replace(b"app:1", b"both:1")
    output = edited(both, rows)
    assert output.data == both
    assert [str(result) for result in output.transformed.results] == [
        "info: example.com/v1/Widget/a spec: a toleration of kubernetes.io/arch=arm64:NoSchedule would be added, but "
        "Widget has no field for tolerations (document 1, line 1)"
    ]
