"""Applications for the tests of Argo CD: two deployments, a chart that shows what Helm was told,
and the parts of an installation that archfit changes.
"""

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
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: main
spec:
  containers:
    - name: main
      image: {image}
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
# The parts of argo-cd v3.5.1, manifests/base, that the components change.
REPO_SERVER = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: argocd-repo-server}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: argocd-repo-server}}
  template:
    metadata: {labels: {app.kubernetes.io/name: argocd-repo-server}}
    spec:
      containers:
        - name: argocd-repo-server
          image: quay.io/argoproj/argocd:v3.5.1
          env: [{name: HELM_CACHE_HOME, value: /helm-working-dir}]
          volumeMounts: [{name: plugins, mountPath: /home/argocd/cmp-server/plugins}]
      initContainers:
        - name: copyutil
          image: quay.io/argoproj/argocd:v3.5.1
          volumeMounts: [{name: var-files, mountPath: /var/run/argocd}]
      volumes: [{name: var-files, emptyDir: {}}, {name: plugins, emptyDir: {}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm}
"""
