"""What installs and delivers: Argo Events, Argo CD, GitHub runners, Crossplane, OLM, Flux, Tailscale, Keycloak.

Many of these kinds name images and have no place for pods; then the row gives the reason.
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, never, parts, row, templates
from archfit.workloads.pods import ANNOTATE

_TEMPLATES = """
actions.github.com  AutoscalingRunnerSet      spec.template.spec
actions.github.com  EphemeralRunner           spec.spec
actions.github.com  EphemeralRunnerSet        spec.ephemeralRunnerSpec.spec
operators.coreos.com ClusterServiceVersion    spec.install.spec.deployments[*].spec.template.spec
k8up.io             PreBackupPod              spec.pod.spec
"""
_MAIN = (
    ("actions.github.com", "AutoscalingRunnerSet", "spec.listenerTemplate.spec", "listener", "the runner controller"),
    (
        "pkg.crossplane.io", "DeploymentRuntimeConfig", "spec.deploymentTemplate.spec.template.spec",
        "package-runtime", "the Provider or Function",
    ),
)  # fmt: skip
_K8UP = "the k8up operator chooses the image of the main container" + ANNOTATE
_RUNNERS = """
actions.github.com     AutoscalingListener                                   spec.template.spec spec.image
actions.summerwind.dev RunnerDeployment,RunnerReplicaSet spec.template.spec @.image
  @.sidecarContainers[*].image
actions.summerwind.dev RunnerSet spec.template.spec spec.image
actions.summerwind.dev Runner spec @.image @.sidecarContainers[*].image
"""
_PARTS = """
operators.coreos.com CatalogSource spec.grpcPodConfig spec.image <spec
pkg.crossplane.io ControllerConfig spec @.image
infra.contrib.fluxcd.io Terraform spec.runnerPodTemplate.spec @.image <spec
tailscale.com ProxyClass spec.statefulSet.pod @.tailscaleContainer.image @.tailscaleInitContainer.image
tailscale.com Recorder spec.statefulSet.pod @.container.image <spec
tailscale.com DNSConfig spec.nameserver.pod spec.nameserver.image.repo+tag <spec.nameserver
"""
_PACKAGE = "its package runs in the pods of the DeploymentRuntimeConfig that spec.runtimeConfigRef names"
_K3S = "the Helm controller renders its chart in the cluster"
_CATALOG = "it lists images for Clusters, which are placed where they stand"
_LEFT = (
    ("pkg.crossplane.io", "Provider", "spec", _PACKAGE),
    ("pkg.crossplane.io", "Function", "spec", _PACKAGE),
    ("pkg.crossplane.io", "ProviderRevision", "spec", _PACKAGE),
    ("pkg.crossplane.io", "FunctionRevision", "spec", _PACKAGE),
    ("pkg.crossplane.io", "ConfigurationRevision", "spec", "its package holds manifests and runs nowhere"),
    (
        "operators.coreos.com", "Subscription", "spec.config",
        "the images of the operator that it installs stand in a bundle that only the catalogue knows",
    ),
    (
        "argoproj.io", "ArgoCD", "spec",
        "spec.nodePlacement has no affinity, and the Argo CD operator joins images and versions of its own",
    ),
    ("argoproj.io", "ArgoCDExport", "spec", "its schema has no place for affinity and tolerations"),
    (
        "openfaas.com", "Function", "spec",
        "spec.constraints is all the placement that it has: write kubernetes.io/arch=amd64 there",
    ),
    (
        "upgrade.cattle.io", "Plan", "spec",
        "its jobs run on each node that spec.nodeSelector chooses: choose by kubernetes.io/arch there",
    ),
    (
        "helm.toolkit.fluxcd.io", "HelmRelease", "spec.values",
        "Flux renders its chart in the cluster: archfit patch writes patches for spec.postRenderers",
    ),
    ("helm.cattle.io", "HelmChart", "spec", _K3S),
    ("helm.cattle.io", "HelmChartConfig", "spec", _K3S),
    (
        "image.toolkit.fluxcd.io", "ImageRepository", "spec",
        "its image is scanned for tags and runs nowhere",
    ),
    ("kyverno.io", "ClusterPolicy", "spec", "its rules apply to the pods of other objects"),
    ("kyverno.io", "Policy", "spec", "its rules apply to the pods of other objects"),
    ("postgresql.cnpg.io", "ImageCatalog", "spec", _CATALOG),
    ("postgresql.cnpg.io", "ClusterImageCatalog", "spec", _CATALOG),
    (
        "triggers.tekton.dev", "EventListener", "spec.resources.kubernetesResource",
        "the controller of Tekton Triggers chooses its image",
    ),
    (
        "build.openshift.io", "BuildConfig", "spec",
        "OpenShift makes its build pods, which spec.nodeSelector alone places",
    ),
    (
        "install.istio.io", "IstioOperator", "spec",
        "its pods are in what istioctl manifest generate prints: pipe that through archfit",
    ),
)  # fmt: skip
_SOLVER = "http01.{0}.podTemplate.spec"
_CERT_MANAGER = "a flag of cert-manager's controller names the image of its solver"
_ARGO_CD = "Argo CD renders its sources in the cluster: archfit runs there as a plugin (archfit setup argocd)"


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    for group, kind, pod, main, chooser in _MAIN:
        yield row(group, kind, pod, there=pod, main=main, default_image=f"{chooser} chooses it")
    pod = "spec.template.spec"
    yield row("k8up.io", "PodConfig", pod, there=pod, unseen=((pod, _K8UP),))
    yield never(
        "operators.coreos.com", "ClusterServiceVersion",
        "it is a list for mirrors; what runs stands in spec.install", "spec.relatedImages[*].image",
    )  # fmt: skip
    yield from parts(_RUNNERS, "the runner controller chooses it")
    yield from parts(_PARTS, "its operator chooses it")
    yield from _argo()
    yield from _keycloak()
    for entry in _LEFT:
        yield left(*entry)
    for via in ("ingress", "gatewayHTTPRoute"):
        at = _SOLVER.format(via)
        for kind in ("Issuer", "ClusterIssuer"):
            yield left("cert-manager.io", kind, f"spec.acme.solvers[*].{at}", _CERT_MANAGER)
        yield left("acme.cert-manager.io", "Challenge", f"spec.solver.{at}", _CERT_MANAGER)


def _argo() -> Iterator[Workload]:
    group = "argoproj.io"
    for kind in ("Sensor", "EventSource"):
        yield row(
            group, kind, "spec.template", there="spec.template.container", metadata="spec.template.metadata",
            images="spec.template.container.image",
        )  # fmt: skip
    for trigger in ("k8s", "argoWorkflow"):
        yield row(group, "Sensor", objects=f"spec.triggers[*].template.{trigger}.source.resource")
    yield row(
        group, "EventSource", there="spec", unless=(("spec.template.container.image", ""),),
        reason="the controller of Argo Events chooses its image",
    )  # fmt: skip
    yield left(group, "EventBus", "spec", "the controller of Argo Events chooses its images by version")
    for kind, fields in (
        ("Application", "operation spec.source spec.sources spec.sourceHydrator"),
        ("ApplicationSet", "spec.generators spec.template"),
    ):
        yield never(group, kind, "it runs in what Argo CD renders", fields)
    for source in ("source", "sources[*]"):
        for tool in ("helm", "kustomize"):
            yield left(group, "Application", f"spec.{source}.{tool}", _ARGO_CD)
            yield left(group, "ApplicationSet", f"spec.template.spec.{source}.{tool}", _ARGO_CD)


def _keycloak() -> Iterator[Workload]:
    pod = "spec.unsupported.podTemplate.spec"
    yield row(
        "k8s.keycloak.org", "Keycloak", "spec.scheduling", there="spec", metadata=None, node_selector=None,
        images=f"spec.image {pod}.containers[*].image {pod}.initContainers[*].image {pod}.volumes[*].image.reference",
        replaced_by=(pod,), default_image="the Keycloak operator chooses it",
    )  # fmt: skip
