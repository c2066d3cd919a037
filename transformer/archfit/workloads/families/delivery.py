"""What installs and delivers: GitHub runners, Crossplane, OLM, Flux, Tailscale, Keycloak, and objects inside of others.

Many of these kinds name images and have no place for pods; then the row gives the reason.
"""

from __future__ import annotations

from archfit.workloads.families.notation import Draft, left, never, parts, row, templates
from archfit.workloads.pods import ANNOTATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TEMPLATES = """
actions.github.com  AutoscalingRunnerSet      spec.template.spec
actions.github.com  EphemeralRunner           spec.spec
actions.github.com  EphemeralRunnerSet        spec.ephemeralRunnerSpec.spec
operators.coreos.com ClusterServiceVersion    spec.install.spec.deployments[*].spec.template.spec
"""
_MAIN = (
    ("actions.github.com", "AutoscalingRunnerSet", "spec.listenerTemplate.spec", "listener", "the runner controller"),
    (
        "pkg.crossplane.io", "DeploymentRuntimeConfig", "spec.deploymentTemplate.spec.template.spec",
        "package-runtime", "the Provider or Function",
    ),
)  # fmt: skip
# Kinds, their pods, and where the runner's image and its switches stand.
_RUNNERS = (
    ("RunnerDeployment,RunnerReplicaSet", "spec.template.spec", "spec.template.spec"),
    ("RunnerSet", "spec.template.spec", "spec"),
    ("Runner", "spec", "spec"),
)
_PARTS = """
operators.coreos.com CatalogSource spec.grpcPodConfig spec.image <spec
infra.contrib.fluxcd.io Terraform spec.runnerPodTemplate.spec @.image <spec
tailscale.com Recorder spec.statefulSet.pod @.container.image <spec
tailscale.com DNSConfig spec.nameserver.pod spec.nameserver.image.repo+tag <spec.nameserver
"""
_OBJECTS = """
workload.codeflare.dev                AppWrapper                        spec.components[*].template !
work.open-cluster-management.io       ManifestWork                      spec.workload.manifests[*]
template.openshift.io                 Template                          objects[*]
hive.openshift.io                     SyncSet,SelectorSyncSet           spec.resources[*]
work.karmada.io                       Work                              spec.workload.manifests[*]
work.open-cluster-management.io       ManifestWorkReplicaSet            spec.manifestWorkTemplate.workload.manifests[*]
addon.open-cluster-management.io      AddOnTemplate                     spec.agentSpec.workload.manifests[*]
capsule.clastix.io                    TenantResource,GlobalTenantResource spec.resources[*].rawItems[*]
fluxcd.controlplane.io                ResourceSet                       spec.resources[*]
kro.run                               ResourceGraphDefinition           spec.resources[*].template
"""
_CERT_MANAGER = "a flag of cert-manager's controller names the image of its solver"
_DOCKER = "the runner controller adds the container docker, whose image a flag of it names" + ANNOTATE
_SYSCTLER = "the Tailscale operator adds the init container sysctler" + ANNOTATE
_RUNNING = "the update job also runs the image that the cluster runs now" + ANNOTATE
_REALMS = """
k8s.keycloak.org KeycloakRealmImport spec: its job runs the image of the Keycloak that spec.keycloakCRName names, placed
  by spec.import.scheduling of that Keycloak, else by its spec.scheduling
"""
_LEFT = """
pkg.crossplane.io Provider,Function,ProviderRevision,FunctionRevision spec: its package runs in the pods of the
  DeploymentRuntimeConfig that spec.runtimeConfigRef names
pkg.crossplane.io ConfigurationRevision spec: its package holds manifests and runs nowhere
operators.coreos.com Subscription spec.config: the images of the operator that it installs stand in a bundle that only
  the catalogue knows
openfaas.com Function spec: spec.constraints is all the placement that it has: write kubernetes.io/arch=amd64 there
upgrade.cattle.io Plan spec: its jobs run on each node that spec.nodeSelector chooses: choose by kubernetes.io/arch
  there
helm.toolkit.fluxcd.io HelmRelease spec.values: Flux renders its chart in the cluster: archfit patch writes patches
  for spec.postRenderers
helm.cattle.io HelmChart,HelmChartConfig spec: the Helm controller renders its chart in the cluster
image.toolkit.fluxcd.io ImageRepository spec: its image is scanned for tags and runs nowhere
policy.karmada.io OverridePolicy,ClusterOverridePolicy spec: it changes images and fields of the objects that
  spec.resourceSelectors names in each member cluster, where archfit does not see them
kyverno.io ClusterPolicy,Policy spec: its rules apply to the pods of other objects
build.openshift.io BuildConfig spec: OpenShift makes its build pods, which spec.nodeSelector alone places
fluxcd.controlplane.io ResourceSet spec.resourcesTemplate: the manifests in spec.resourcesTemplate are text that
  archfit does not read
policy.open-cluster-management.io ConfigurationPolicy spec.object-templates-raw: spec.object-templates-raw is text that
  archfit does not read
install.istio.io IstioOperator spec: its pods are in what istioctl manifest generate prints: pipe that through archfit
"""
_NEVER = """
operators.coreos.com ClusterServiceVersion spec.relatedImages[*].image: it is a list for mirrors; what runs stands in
  spec.install
"""


def rows() -> Iterator[Draft]:
    """All rows of the family."""
    yield from templates(_TEMPLATES)
    for group, kind, pod, main, chooser in _MAIN:
        yield row(group, kind, pod, there=pod, main=main, default_image=f"{chooser} chooses it")
    chosen = "the runner controller chooses it"
    yield from parts("actions.github.com AutoscalingListener spec.template.spec spec.image", chosen)
    yield from _runners(chosen)
    yield from parts(_PARTS, "its operator chooses it")
    yield from parts(
        "tailscale.com ProxyClass spec.statefulSet.pod @.tailscaleContainer.image", "its operator chooses it",
        added=(("spec.statefulSet.pod.tailscaleInitContainer.image", _SYSCTLER),),
    )  # fmt: skip
    yield from _keycloak()
    for line in _OBJECTS.split("\n")[1:-1]:
        group, kinds, path, *once = line.split()
        for kind in kinds.split(","):
            yield row(group, kind, objects=path, immutable=bool(once))
    yield from _policies()
    for group in ("kubernetes.crossplane.io", "kubernetes.m.crossplane.io"):
        manifest, references = "spec.forProvider.manifest", "spec.references[*]"
        paths = f"{references}.toFieldPath", f"{references}.patchesFrom.fieldPath"
        yield row(group, "Object", objects=manifest, filled=[(path, manifest) for path in paths])
    yield from left(_LEFT)
    yield from never(_NEVER)
    for via in ("ingress", "gatewayHTTPRoute"):
        solver = f"http01.{via}.podTemplate.spec"
        yield from left(
            f"cert-manager.io Issuer,ClusterIssuer spec.acme.solvers[*].{solver}: {_CERT_MANAGER}"
        )
        yield from left(f"acme.cert-manager.io Challenge spec.solver.{solver}: {_CERT_MANAGER}")


def _runners(chosen: str) -> Iterator[Draft]:
    for kinds, pod, settings in _RUNNERS:
        line = (
            f"actions.summerwind.dev {kinds} {pod} {settings}.image|{pod}.containers.=runner.image "
            f"{pod}.sidecarContainers[*].image"
        )
        # With one of these the controller adds no container (newRunnerPodWithContainerMode).
        switches = (
            (f"{settings}.dockerEnabled", "false"),
            (f"{settings}.dockerdWithinRunnerContainer", "true"),
            (f"{settings}.containerMode", "kubernetes"),
        )
        yield from parts(line, chosen, unless=switches, added=(("docker", _DOCKER),))
        for number, switch in enumerate(switches):
            yield from parts(line, chosen, when=(switch,), unless=switches[:number])


def _policies() -> Iterator[Draft]:
    group, action, template = (
        "policy.open-cluster-management.io",
        "spec.remediationAction",
        "spec.object-templates[*]",
    )
    yield row(group, "Policy", objects="spec.policy-templates[*].objectDefinition", hands_down=action)
    yield row(
        group, "ConfigurationPolicy", objects=f"{template}.objectDefinition",
        created=[
            (action, ("enforce",)),
            (f"{template}.complianceType", ("musthave", "mustonlyhave")),
            (f"{template}.objectDefinition.metadata.name", ()),
        ],
        appends=[(f"{template}.complianceType", "musthave")],
        compared="the policy compares objects of the cluster with an objectDefinition and does not create it, unless "
        "it is named, its complianceType is musthave or mustonlyhave and remediationAction is enforce; to place what "
        "it asks for, write that there by hand",
    )  # fmt: skip


def _keycloak() -> Iterator[Draft]:
    group, pod = "k8s.keycloak.org", "spec.unsupported.podTemplate.spec"
    images = (
        f"spec.image {pod}.containers[*].image {pod}.initContainers[*].image {pod}.volumes[*].image.reference"
    )
    shared = {
        "images": images,
        "metadata": None,
        "node_selector": None,
        "default_image": "the Keycloak operator chooses it",
    }
    yield row(group, "Keycloak", "spec.scheduling", there="spec", replaced_by=(pod,), **shared)
    # Where one of these is stated, its job has nothing of spec.scheduling (handleJobScheduling).
    for job, unseen in (("import", ()), ("update", (("spec.update.scheduling", _RUNNING),))):
        at = f"spec.{job}.scheduling"
        yield row(group, "Keycloak", at, there=at, unseen=unseen, **shared)
    yield from left(_REALMS)
