"""PostgreSQL: Zalando's, Crunchy's and Percona's operators.

Zalando's takes `spec.nodeAffinity` for database, pooler and backups. Crunchy's copies each part's affinity and
tolerations; Percona's pgv2 has the same parts. A repository host and backup jobs are placed though nothing says so.
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import parts, row
from archfit.workloads.pods import ANNOTATE

_ZALANDO = "the Zalando operator's configuration names it"
_CRUNCHY = """
postgres-operator.crunchydata.com PGAdmin spec @.image @.instrumentation.image
  @.volumes.additional[*].image.reference -nodeSelector
postgres-operator.crunchydata.com PGUpgrade spec @.image -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.instances[*] spec.image BACKREST
  spec.monitoring.pgmonitor.exporter.image spec.instrumentation.image -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.proxy.pgBouncer @.image spec.instrumentation.image
  -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.userInterface.pgAdmin @.image -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.backups.pgbackrest.repoHost BACKREST
  @.volumes.additional[*].image.reference <spec.backups.pgbackrest -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.backups.pgbackrest.jobs BACKREST
  @.volumes.additional[*].image.reference <spec.backups.pgbackrest -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.backups.pgbackrest.restore spec.image BACKREST
  @.volumes.additional[*].image.reference -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.dataSource.pgbackrest spec.image BACKREST
  @.volumes.additional[*].image.reference -nodeSelector
postgres-operator.crunchydata.com PostgresCluster spec.dataSource.postgresCluster spec.image BACKREST
  @.volumes.additional[*].image.reference -nodeSelector
""".replace("BACKREST", "spec.backups.pgbackrest.image")
_SIDECARS = "@.sidecars[*].image @.sidecarVolumes[*].image.reference"
_PERCONA = (
    """
pgv2.percona.com PerconaPGUpgrade spec @.image @.toPostgresImage @.toPgBouncerImage @.toPgBackRestImage
  -nodeSelector
pgv2.percona.com PerconaPGCluster spec.instances[*] spec.image INIT BACKREST spec.pmm.image
  spec.logcollector.image spec.extensions.image @.initContainer.image
  @.extraVolumes[*].volumeSource.image.reference spec.logcollector.volumes[*].image.reference SIDECARS
  -nodeSelector
pgv2.percona.com PerconaPGCluster spec.logicalReplicas[*] spec.image INIT BACKREST spec.pmm.image
  spec.logcollector.image spec.extensions.image -nodeSelector
pgv2.percona.com PerconaPGCluster spec.proxy.pgBouncer @.image SIDECARS -nodeSelector
pgv2.percona.com PerconaPGCluster spec.backups.pgbackrest.repoHost BACKREST INIT SIDECARS
  <spec.backups.pgbackrest -nodeSelector
pgv2.percona.com PerconaPGCluster spec.backups.pgbackrest.jobs BACKREST INIT <spec.backups.pgbackrest -nodeSelector
pgv2.percona.com PerconaPGCluster spec.backups.pgbackrest.restore spec.image BACKREST INIT -nodeSelector
pgv2.percona.com PerconaPGCluster spec.dataSource.pgbackrest spec.image BACKREST INIT -nodeSelector
pgv2.percona.com PerconaPGCluster spec.dataSource.postgresCluster spec.image BACKREST INIT -nodeSelector
""".replace("BACKREST", "spec.backups.pgbackrest.image")
    .replace("INIT", "spec.initContainer.image spec.backups.pgbackrest.initContainer.image")
    .replace("SIDECARS", _SIDECARS)
)


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield row(
        "acid.zalan.do", "postgresql", "spec", there="spec", metadata=None, affinity="spec", node_selector=None,
        images="spec.dockerImage spec.connectionPooler.dockerImage spec.sidecars[*].image",
        default_image=_ZALANDO,
        unseen=tuple(
            (f"spec.{switch}", _ZALANDO + ANNOTATE)
            for switch in ("enableConnectionPooler", "enableReplicaConnectionPooler", "enableLogicalBackup")
        ),
        note="where the Zalando operator has node_readiness_label_merge set to OR, nodes that are ready pass whatever "
        "nodeAffinity says: set it to AND",
    )  # fmt: skip
    yield from parts(_CRUNCHY, "Crunchy's operator chooses it")
    yield from parts(_PERCONA, "Percona's operator chooses it")
