"""Whole objects inside of others."""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, row

_OBJECTS = """
workload.codeflare.dev                AppWrapper                        spec.components[*].template
policy.open-cluster-management.io     Policy                            spec.policy-templates[*].objectDefinition
policy.open-cluster-management.io     ConfigurationPolicy               spec.object-templates[*].objectDefinition
work.open-cluster-management.io       ManifestWork                      spec.workload.manifests[*]
template.openshift.io                 Template                          objects[*]
hive.openshift.io                     SyncSet,SelectorSyncSet           spec.resources[*]
kubernetes.crossplane.io              Object                            spec.forProvider.manifest
kubernetes.m.crossplane.io            Object                            spec.forProvider.manifest
work.karmada.io                       Work                              spec.workload.manifests[*]
work.open-cluster-management.io       ManifestWorkReplicaSet            spec.manifestWorkTemplate.workload.manifests[*]
addon.open-cluster-management.io      AddOnTemplate                     spec.agentSpec.workload.manifests[*]
capsule.clastix.io                    TenantResource,GlobalTenantResource spec.resources[*].rawItems[*]
fluxcd.controlplane.io                ResourceSet                       spec.resources[*]
kro.run                               ResourceGraphDefinition           spec.resources[*].template
triggers.tekton.dev                   TriggerTemplate                   spec.resourcetemplates[*]
kubeflow.org                          Experiment                        spec.trialTemplate.trialSpec
"""


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    for line in _OBJECTS.split("\n")[1:-1]:
        group, kinds, path = line.split()
        for kind in kinds.split(","):
            yield row(group, kind, objects=path)
    yield left(
        "fluxcd.controlplane.io", "ResourceSet", "spec.resourcesTemplate",
        "the manifests in spec.resourcesTemplate are text that archfit does not read",
    )  # fmt: skip
