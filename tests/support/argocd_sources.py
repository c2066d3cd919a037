"""Applications for the tests of Argo CD's door: two deployments, and a chart that shows what Helm was told."""

from __future__ import annotations

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers:
        - name: main
          image: registry.example/{image}:1
"""
BOTH = DEPLOYMENT.format(name="web", image="both")
INTEL = DEPLOYMENT.format(name="old", image="intel")
CHART = {
    "Chart.yaml": "apiVersion: v2\nname: demo\nversion: 0.1.0\n",
    "values.yaml": "image: both\nreplicas: 1\n",
    "values-intel.yaml": "image: intel\n",
    "crds/crd.yaml": (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example}\n"
    ),
    "templates/app.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
  annotations:
    kube: {{ .Capabilities.KubeVersion.Version | quote }}
    batch: {{ .Capabilities.APIVersions.Has "batch.example/v7" | quote }}
    note: {{ .Values.note | default "" | quote }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: demo}}
  template:
    metadata: {labels: {app: demo}}
    spec:
      containers:
        - name: main
          image: registry.example/{{ .Values.image }}:1
""",
}
