"""Custom resources that may hold pods, by group and kind, read off their published schemas.

    make kinds FACTS=FILE          writes this module

    group/Kind {podSpec: ..}       the rows that its schema allows, as the configuration file has them
    group/Kind row                 it has places for affinity or tolerations; no row follows from its schema
    group/Kind none                it has images, and no place for affinity or tolerations
    group/Kind set                 it has such places and no images: reported where one of them is set

Kinds with a row of `custom_rows` may stand here too; the row counts.
"""

# ruff: noqa: E501 - a kind is a line
KINDS = """
aaq.kubevirt.io/AAQ row
acid.zalan.do/postgresql row
acme.cert-manager.io/Challenge set
actions.github.com/AutoscalingListener {podSpec: 'spec.template.spec', images: ['spec.image']}
actions.github.com/AutoscalingRunnerSet {podSpec: 'spec.listenerTemplate.spec'}, {podSpec: 'spec.template.spec'}
actions.github.com/EphemeralRunner {podSpec: 'spec.spec'}
actions.github.com/EphemeralRunnerSet {podSpec: 'spec.ephemeralRunnerSpec.spec'}
actions.summerwind.dev/Runner none
actions.summerwind.dev/RunnerDeployment none
actions.summerwind.dev/RunnerReplicaSet none
actions.summerwind.dev/RunnerSet {podSpec: 'spec.template.spec'}
addon.open-cluster-management.io/AddOnDeploymentConfig set
agent.k8s.elastic.co/Agent {podSpec: 'spec.daemonSet.podTemplate.spec', images: ['spec.image']}, {podSpec: 'spec.deployment.podTemplate.spec', images: ['spec.image']}, {podSpec: 'spec.statefulSet.podTemplate.spec', images: ['spec.image']}
agents.x-k8s.io/Sandbox {podSpec: 'spec.podTemplate.spec'}
agones.dev/Fleet {podSpec: 'spec.template.spec.template.spec'}
agones.dev/GameServer {podSpec: 'spec.template.spec'}
agones.dev/GameServerSet {podSpec: 'spec.template.spec.template.spec'}
ai.mongodb.com/VoyageAI set
aigateway.konghq.com/AIGatewayDataPlane {podSpec: 'spec.deployment.podTemplateSpec.spec'}
ais.nvidia.com/AIStore {podSpec: 'spec.adminClient', images: ['spec.adminClient.image', 'spec.initImage', 'spec.logSidecarImage']}, {podSpec: 'spec.proxySpec', within: 'spec', images: ['spec.initImage', 'spec.logSidecarImage']}, {podSpec: 'spec.targetSpec', within: 'spec', images: ['spec.initImage', 'spec.logSidecarImage']}
alloydbomni.dbadmin.goog/DBCluster row
alloydbomni.dbadmin.goog/DBInstance set
alloydbomni.dbadmin.goog/PgBouncer {podSpec: 'spec.podSpec.schedulingconfig', within: 'spec.podSpec', images: ['spec.podSpec.image'], affinity: none, nodeSelector: none}
alloydbomni.internal.dbadmin.goog/BackupRepository {podSpec: 'spec.schedulingconfig', within: 'spec', images: ['spec.component.*.images.*'], affinity: none, nodeSelector: none}
alloydbomni.internal.dbadmin.goog/Instance row
amd.com/DeviceConfig row
anywhere.eks.amazonaws.com/ClusterIssuer set
apicodegen.apimatic.io/APIMatic row
apis.integrityshield.io/IntegrityShield row
apm.k8s.elastic.co/ApmServer {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}
app.redislabs.com/redisenterprisecluster row
apps.3scale.net/APIManager row
apps.emqx.io/EMQX row
apps.emqx.io/EmqxBroker row
apps.emqx.io/EmqxEnterprise row
apps.foundationdb.org/FoundationDBBackup {podSpec: 'spec.podTemplateSpec.spec'}
apps.foundationdb.org/FoundationDBCluster {podSpec: 'spec.processes.*.podTemplate.spec'}
apps.kruise.io/SidecarSet none
apps.kruise.io/UnitedDeployment set
apps.kruise.io/WorkloadSpread set
apps.kubeblocks.io/Cluster row
apps.kubeblocks.io/Component row
apps.kubeblocks.io/ComponentDefinition {podSpec: 'spec.runtime'}
apps.kubeblocks.io/Rollout row
apps.kubeblocks.io/SidecarDefinition none
apps.nvidia.com/NIMBuild {podSpec: 'spec', images: ['spec.image.repository+tag'], affinity: none}
apps.nvidia.com/NIMCache {podSpec: 'spec', images: ['spec.initContainers[*].image.repository+tag'], affinity: none}
apps.nvidia.com/NIMPipeline {podSpec: 'spec.services[*].spec', images: ['spec.services[*].spec.expose.router.eppConfig.containerSpec.image.repository+tag', 'spec.services[*].spec.image.repository+tag', 'spec.services[*].spec.initContainers[*].image.repository+tag', 'spec.services[*].spec.sidecarContainers[*].image.repository+tag']}
apps.nvidia.com/NIMService {podSpec: 'spec', images: ['spec.expose.router.eppConfig.containerSpec.image.repository+tag', 'spec.image.repository+tag', 'spec.initContainers[*].image.repository+tag', 'spec.sidecarContainers[*].image.repository+tag']}
apps.nvidia.com/NemoCustomizer {podSpec: 'spec', images: ['spec.expose.router.eppConfig.containerSpec.image.repository+tag', 'spec.image.repository+tag', 'spec.modelDownloadJobs.image', 'spec.nemoDatastoreTools.image']}, {podSpec: 'spec.trainingConfig', images: ['spec.trainingConfig.image.repository+tag']}
apps.nvidia.com/NemoDatastore {podSpec: 'spec', images: ['spec.expose.router.eppConfig.containerSpec.image.repository+tag', 'spec.image.repository+tag']}
apps.nvidia.com/NemoEntitystore {podSpec: 'spec', images: ['spec.expose.router.eppConfig.containerSpec.image.repository+tag', 'spec.image.repository+tag']}
apps.nvidia.com/NemoEvaluator {podSpec: 'spec', images: ['spec.expose.router.eppConfig.containerSpec.image.repository+tag', 'spec.image.repository+tag']}
apps.nvidia.com/NemoGuardrail {podSpec: 'spec', images: ['spec.expose.router.eppConfig.containerSpec.image.repository+tag', 'spec.image.repository+tag']}
archiver.kubedb.com/ClickHouseArchiver row
archiver.kubedb.com/MSSQLServerArchiver row
archiver.kubedb.com/MariaDBArchiver row
archiver.kubedb.com/MongoDBArchiver row
archiver.kubedb.com/MySQLArchiver row
archiver.kubedb.com/PostgresArchiver row
argoproj.io/AnalysisRun {podSpec: 'spec.metrics[*].provider.job.spec.template.spec'}
argoproj.io/AnalysisTemplate {podSpec: 'spec.metrics[*].provider.job.spec.template.spec'}
argoproj.io/ArgoCD row
argoproj.io/ClusterAnalysisTemplate {podSpec: 'spec.metrics[*].provider.job.spec.template.spec'}
argoproj.io/ClusterWorkflowTemplate row
argoproj.io/CronWorkflow row
argoproj.io/Experiment {podSpec: 'spec.templates[*].template.spec'}
argoproj.io/Rollout {podSpec: 'spec.template.spec'}
argoproj.io/Workflow row
argoproj.io/WorkflowTaskSet row
argoproj.io/WorkflowTemplate row
asdb.aerospike.com/AerospikeBackupService {podSpec: 'spec.podSpec', within: 'spec', images: ['spec.image']}
asdb.aerospike.com/AerospikeCluster {podSpec: 'spec.podSpec', images: ['spec.image', 'spec.podSpec.initContainers[*].image', 'spec.podSpec.sidecars[*].image']}, {podSpec: 'spec.rackConfig.racks[*].effectivePodSpec', within: 'spec.rackConfig.racks[*]', images: ['spec.image']}, {podSpec: 'spec.rackConfig.racks[*].podSpec', within: 'spec.rackConfig.racks[*]', images: ['spec.image']}
auto.pulumi.com/Workspace {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}
automotive.sdv.cloud.redhat.com/OperatorConfig row
automotive.sdv.cloud.redhat.com/Workspace none
autoops.k8s.elastic.co/AutoOpsAgentPolicy {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}
awx.ansible.com/AWX row
awx.ansible.com/AWXBackup none
awx.ansible.com/AWXMeshIngress set
awx.ansible.com/AWXRestore none
batch.volcano.sh/CronJob {podSpec: 'spec.jobTemplate.spec.tasks[*].template.spec'}
batch.volcano.sh/Job {podSpec: 'spec.tasks[*].template.spec'}
beat.k8s.elastic.co/Beat {podSpec: 'spec.daemonSet.podTemplate.spec', images: ['spec.image']}, {podSpec: 'spec.deployment.podTemplate.spec', images: ['spec.image']}
beegfs.csi.netapp.com/BeegfsDriver row
bookkeeper.streamnative.io/BookKeeperCluster {podSpec: 'spec.autoRecovery.pod', images: ['spec.autoRecovery.image', 'spec.autoRecovery.pod.initContainers[*].image', 'spec.autoRecovery.pod.sidecars[*].image', 'spec.image']}, {podSpec: 'spec.pod', images: ['spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image']}
br.pingcap.com/Backup {podSpec: 'spec', images: ['spec.additionalVolumes[*].image.reference', 'spec.local.volume.image.reference', 'spec.toolImage'], nodeSelector: none}
br.pingcap.com/BackupSchedule row
br.pingcap.com/CompactBackup {podSpec: 'spec', images: ['spec.additionalVolumes[*].image.reference', 'spec.local.volume.image.reference', 'spec.toolImage'], nodeSelector: none}
br.pingcap.com/Restore {podSpec: 'spec', images: ['spec.additionalVolumes[*].image.reference', 'spec.local.volume.image.reference', 'spec.pitrFullBackupStorageProvider.local.volume.image.reference', 'spec.toolImage'], nodeSelector: none}
br.pingcap.com/TiBR {podSpec: 'spec.overlay.pod.spec', images: ['spec.image']}
br.pingcap.com/TiBRGC {podSpec: 'spec.overlay.pods[*].overlay.pod.spec', images: ['spec.image']}
broker.amq.io/ActiveMQArtemis {podSpec: 'spec.deploymentPlan', images: ['spec.deploymentPlan.image', 'spec.deploymentPlan.initImage']}
cache.jhouse.com/NFSProvisioner none
cache.wunicorns.com/NodeDiscovery none
caching.ibm.com/VarnishCluster {podSpec: 'spec', images: ['spec.varnish.controller.image', 'spec.varnish.image', 'spec.varnish.metricsExporter.image'], nodeSelector: none}
camel.apache.org/Build none
camel.apache.org/Integration none
camel.apache.org/IntegrationKit none
camel.apache.org/IntegrationPlatform none
camel.apache.org/IntegrationProfile none
camel.apache.org/Pipe none
capi.weave.works/ClusterBootstrapConfig {podSpec: 'spec.jobTemplate.spec'}
cassandra.datastax.com/CassandraDatacenter row
cdi.kubevirt.io/CDI set
ceph.rook.io/CephCOSIDriver row
ceph.rook.io/CephCluster row
ceph.rook.io/CephFilesystem set
ceph.rook.io/CephFilesystemMirror set
ceph.rook.io/CephNFS row
ceph.rook.io/CephNVMeOFGateway row
ceph.rook.io/CephObjectStore set
ceph.rook.io/CephRBDMirror set
cert-manager.io/ClusterIssuer set
cert-manager.io/Issuer set
charts.clusterpulse.io/ClusterPulse {podSpec: 'spec.api', images: ['spec.api.image']}, {podSpec: 'spec.clusterEngine', images: ['spec.clusterEngine.image']}, {podSpec: 'spec.frontend', images: ['spec.frontend.image', 'spec.frontend.oauth.image']}
charts.helm.k8s.io/Xl row
che.eclipse.org/KubernetesImagePuller row
clickhouse.com/ClickHouseCluster {podSpec: 'spec.podTemplate', images: ['spec.containerTemplate.image.repository+tag', 'spec.podTemplate.volumes[*].image.reference']}
clickhouse.com/KeeperCluster {podSpec: 'spec.podTemplate', images: ['spec.containerTemplate.image.repository+tag', 'spec.podTemplate.volumes[*].image.reference']}
cluster.open-cluster-management.io/Placement set
cluster.redpanda.com/Broker {podSpec: 'spec.podTemplate.spec'}
cluster.redpanda.com/Console row
cluster.redpanda.com/NodePool {podSpec: 'spec.podTemplate.spec', images: ['spec.image.repository+tag', 'spec.initContainerImage.repository+tag', 'spec.sidecarImage.repository+tag']}
cluster.redpanda.com/Pipeline {podSpec: 'spec', images: ['spec.extraInitContainers[*].image', 'spec.extraVolumes[*].image.reference', 'spec.image']}
cluster.redpanda.com/Redpanda row
cluster.redpanda.com/RedpandaBrokerPool {podSpec: 'spec.podTemplate.spec', images: ['spec.image.repository+tag', 'spec.initContainerImage.repository+tag', 'spec.sidecarImage.repository+tag']}
coherence.oracle.com/Coherence {podSpec: 'spec.actions[*].job.spec.template.spec'}, {podSpec: 'spec', images: ['spec.coherence.persistence.snapshots.volume.image.reference', 'spec.coherence.persistence.volume.image.reference', 'spec.coherenceUtils.image', 'spec.image', 'spec.initContainers[*].image', 'spec.jvm.diagnosticsVolume.image.reference', 'spec.sideCars[*].image', 'spec.volumes[*].image.reference']}
coherence.oracle.com/CoherenceJob {podSpec: 'spec', images: ['spec.coherence.persistence.snapshots.volume.image.reference', 'spec.coherence.persistence.volume.image.reference', 'spec.coherenceUtils.image', 'spec.image', 'spec.initContainers[*].image', 'spec.jvm.diagnosticsVolume.image.reference', 'spec.sideCars[*].image', 'spec.volumes[*].image.reference']}
compute.coreweave.com/NodePool row
config.openshift.io/Build set
config.openshift.io/ClusterMonitoring set
config.openshift.io/Network set
controller.devfile.io/DevWorkspaceOperatorConfig {podSpec: 'config.webhook', within: 'config', images: ['config.workspace.defaultTemplate.components[*].container.image', 'config.workspace.defaultTemplate.components[*].image.imageName', 'config.workspace.defaultTemplate.components[*].plugin.components[*].container.image', 'config.workspace.defaultTemplate.components[*].plugin.components[*].image.imageName', 'config.workspace.initContainers[*].image', 'config.workspace.projectClone.image'], affinity: none}
controlplane.cluster.x-k8s.io/KamajiControlPlane {podSpec: 'spec.addons.konnectivity.agent', images: ['spec.addons.konnectivity.agent.image'], affinity: none, nodeSelector: none}, {podSpec: 'spec.deployment', images: ['spec.deployment.extraContainers[*].image', 'spec.deployment.extraInitContainers[*].image', 'spec.deployment.extraVolumes[*].image.reference']}
controlplane.cluster.x-k8s.io/KamajiControlPlaneTemplate {podSpec: 'spec.template.spec.addons.konnectivity.agent', images: ['spec.template.spec.addons.konnectivity.agent.image'], affinity: none, nodeSelector: none}, {podSpec: 'spec.template.spec.deployment', images: ['spec.template.spec.deployment.extraContainers[*].image', 'spec.template.spec.deployment.extraInitContainers[*].image', 'spec.template.spec.deployment.extraVolumes[*].image.reference']}
core.humio.com/HumioBootstrapToken {podSpec: 'spec', images: ['spec.bootstrapImage'], nodeSelector: none}
core.humio.com/HumioCluster {podSpec: 'spec', images: ['spec.dataVolumeSource.image.reference', 'spec.extraVolumes[*].image.reference', 'spec.helperImage', 'spec.image', 'spec.sidecarContainer[*].image'], nodeSelector: none}, {podSpec: 'spec.nodePools[*].spec', images: ['spec.nodePools[*].spec.dataVolumeSource.image.reference', 'spec.nodePools[*].spec.extraVolumes[*].image.reference', 'spec.nodePools[*].spec.helperImage', 'spec.nodePools[*].spec.image', 'spec.nodePools[*].spec.sidecarContainer[*].image'], nodeSelector: none}
core.humio.com/HumioPdfRenderService {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference'], tolerations: none, nodeSelector: none}
core.pingcap.com/DM row
core.pingcap.com/DMGroup row
core.pingcap.com/DMWorker row
core.pingcap.com/DMWorkerGroup row
core.pingcap.com/PD row
core.pingcap.com/PDGroup row
core.pingcap.com/ResourceManager row
core.pingcap.com/ResourceManagerGroup row
core.pingcap.com/Router row
core.pingcap.com/RouterGroup row
core.pingcap.com/Scheduler row
core.pingcap.com/SchedulerGroup row
core.pingcap.com/Scheduling row
core.pingcap.com/SchedulingGroup row
core.pingcap.com/TSO row
core.pingcap.com/TSOGroup row
core.pingcap.com/TiCDC row
core.pingcap.com/TiCDCGroup row
core.pingcap.com/TiDB row
core.pingcap.com/TiDBGroup row
core.pingcap.com/TiFlash row
core.pingcap.com/TiFlashGroup row
core.pingcap.com/TiKV row
core.pingcap.com/TiKVGroup row
core.pingcap.com/TiKVWorker row
core.pingcap.com/TiKVWorkerGroup row
core.pingcap.com/TiProxy row
core.pingcap.com/TiProxyGroup row
coroot.com/coroot {podSpec: 'spec', images: ['spec.communityEdition.image.name', 'spec.enterpriseEdition.image.name']}, {podSpec: 'spec.clickhouse', images: ['spec.clickhouse.image.name']}, {podSpec: 'spec.clickhouse.keeper', images: ['spec.clickhouse.keeper.image.name']}, {podSpec: 'spec.clusterAgent', images: ['spec.clusterAgent.image.name', 'spec.clusterAgent.kubeStateMetrics.image.name']}, {podSpec: 'spec.nodeAgent', images: ['spec.nodeAgent.image.name']}, {podSpec: 'spec.prometheus', images: ['spec.prometheus.image.name']}
courier.kubedb.com/MSSQLServerMigration {podSpec: 'spec.jobTemplate.spec', images: ['spec.jobTemplate.spec.initContainers[*].image']}
courier.kubedb.com/MariaDBMigration {podSpec: 'spec.jobTemplate.spec', images: ['spec.jobTemplate.spec.initContainers[*].image']}
courier.kubedb.com/MongoDBMigration {podSpec: 'spec.jobTemplate.spec', images: ['spec.jobTemplate.spec.initContainers[*].image']}
courier.kubedb.com/MySQLMigration {podSpec: 'spec.jobTemplate.spec', images: ['spec.jobTemplate.spec.initContainers[*].image']}
courier.kubedb.com/PostgresMigration {podSpec: 'spec.jobTemplate.spec', images: ['spec.jobTemplate.spec.initContainers[*].image']}
crdb.cockroachlabs.com/CrdbCluster {podSpec: 'spec', images: ['spec.image.name']}
csi.alibabacloud.com/AlibabaCloudCSIDriver {podSpec: 'spec.controller', within: 'spec', images: ['spec.imageTag'], affinity: none}
csi.ceph.io/Driver {podSpec: 'spec.controllerPlugin', images: ['spec.controllerPlugin.volumes[*].volume.image.reference'], nodeSelector: none}, {podSpec: 'spec.nodePlugin', images: ['spec.nodePlugin.volumes[*].volume.image.reference'], nodeSelector: none}
csi.ceph.io/OperatorConfig {podSpec: 'spec.driverSpecDefaults.controllerPlugin', images: ['spec.driverSpecDefaults.controllerPlugin.volumes[*].volume.image.reference'], nodeSelector: none}, {podSpec: 'spec.driverSpecDefaults.nodePlugin', images: ['spec.driverSpecDefaults.nodePlugin.volumes[*].volume.image.reference'], nodeSelector: none}
csi.ibm.com/CSIScaleOperator set
csi.ibm.com/HostDefiner set
csi.ibm.com/IBMBlockCSI set
dashboard.gardener.cloud/Terminal none
data.fluid.io/AlluxioRuntime none
data.fluid.io/CacheRuntime row
data.fluid.io/CacheRuntimeClass {podSpec: 'topology.client.template.spec'}, {podSpec: 'topology.master.template.spec'}, {podSpec: 'topology.worker.template.spec'}
data.fluid.io/DataLoad set
data.fluid.io/DataMigrate row
data.fluid.io/DataProcess none
data.fluid.io/Dataset set
data.fluid.io/EFCRuntime none
data.fluid.io/JindoRuntime row
data.fluid.io/JuiceFSRuntime none
data.fluid.io/ThinRuntime none
data.fluid.io/ThinRuntimeProfile none
data.fluid.io/VineyardRuntime none
database.arangodb.com/ArangoDeployment row
database.arangodb.com/ArangoMember {podSpec: 'spec.template.podSpec.spec'}
databases.spotahome.com/RedisFailover {podSpec: 'spec.redis', images: ['spec.redis.exporter.image', 'spec.redis.extraContainers[*].image', 'spec.redis.image', 'spec.redis.initContainers[*].image']}, {podSpec: 'spec.sentinel', images: ['spec.sentinel.exporter.image', 'spec.sentinel.extraContainers[*].image', 'spec.sentinel.image', 'spec.sentinel.initContainers[*].image']}
datadoghq.com/DatadogAgent row
datadoghq.com/DatadogAgentInternal row
datadoghq.com/DatadogAgentProfile row
datadoghq.com/DatadogCSIDriver {podSpec: 'spec.override', images: ['spec.csiDriverImage.name+tag', 'spec.override.volumes[*].image.reference', 'spec.registrarImage.name+tag']}
datadoghq.com/ExtendedDaemonSet {podSpec: 'spec.template.spec'}
datadoghq.com/ExtendedDaemonSetReplicaSet {podSpec: 'spec.template.spec'}
dataprotection.kubeblocks.io/Restore {podSpec: 'spec.prepareDataConfig.schedulingSpec', within: 'spec', images: ['spec.readyConfig.readinessProbe.exec.image']}
db.atlasgo.io/AtlasMigration {podSpec: 'spec.devDB.spec'}
db.atlasgo.io/AtlasSchema {podSpec: 'spec.devDB.spec'}
dbaas.percona.com/DatabaseCluster {podSpec: 'spec.backup.storages.*', images: ['spec.backup.image', 'spec.backup.initImage', 'spec.databaseImage', 'spec.loadBalancer.image', 'spec.monitoring.pmm.image']}
debezium.io/DebeziumServer {podSpec: 'spec.runtime.templates.pod', within: 'spec', images: ['spec.image'], tolerations: none, nodeSelector: none}
deviceplugin.intel.com/DlbDevicePlugin {podSpec: 'spec', images: ['spec.image', 'spec.initImage'], affinity: none}
deviceplugin.intel.com/DsaDevicePlugin {podSpec: 'spec', images: ['spec.image', 'spec.initImage'], affinity: none}
deviceplugin.intel.com/FpgaDevicePlugin {podSpec: 'spec', images: ['spec.image', 'spec.initImage'], affinity: none}
deviceplugin.intel.com/GpuDevicePlugin {podSpec: 'spec', images: ['spec.image', 'spec.initImage'], affinity: none}
deviceplugin.intel.com/IaaDevicePlugin {podSpec: 'spec', images: ['spec.image', 'spec.initImage'], affinity: none}
deviceplugin.intel.com/NpuDevicePlugin {podSpec: 'spec', images: ['spec.image'], affinity: none}
deviceplugin.intel.com/QatDevicePlugin {podSpec: 'spec', images: ['spec.image', 'spec.initImage'], affinity: none}
deviceplugin.intel.com/SgxDevicePlugin {podSpec: 'spec', images: ['spec.image', 'spec.initImage'], affinity: none}
disaggregated.cluster.doris.com/DorisDisaggregatedCluster {podSpec: 'spec.computeGroups[*]', images: ['spec.computeGroups[*].image', 'spec.computeGroups[*].systemInitialization.initImage']}, {podSpec: 'spec.feSpec', images: ['spec.feSpec.image', 'spec.feSpec.systemInitialization.initImage']}, {podSpec: 'spec.metaService', images: ['spec.metaService.image', 'spec.metaService.systemInitialization.initImage']}
disaggregatedset.x-k8s.io/DisaggregatedSet {podSpec: 'spec.roles[*].spec.leaderWorkerTemplate.leaderTemplate.spec'}, {podSpec: 'spec.roles[*].spec.leaderWorkerTemplate.workerTemplate.spec'}
documentdb.io/DocumentDB set
doris.selectdb.com/DorisCluster {podSpec: 'spec.beSpec', images: ['spec.beSpec.image', 'spec.beSpec.systemInitialization.initImage']}, {podSpec: 'spec.brokerSpec', images: ['spec.brokerSpec.image', 'spec.brokerSpec.systemInitialization.initImage']}, {podSpec: 'spec.cnSpec', images: ['spec.cnSpec.image', 'spec.cnSpec.systemInitialization.initImage']}, {podSpec: 'spec.feSpec', images: ['spec.feSpec.image', 'spec.feSpec.systemInitialization.initImage']}
dragonflydb.io/Dragonfly {podSpec: 'spec', images: ['spec.additionalContainers[*].image', 'spec.additionalVolumes[*].image.reference', 'spec.image', 'spec.initContainers[*].image']}
druid.apache.org/Druid {podSpec: 'spec', images: ['spec.additionalContainer[*].image', 'spec.image']}, {podSpec: 'spec.nodes.*', images: ['spec.nodes.*.additionalContainer[*].image', 'spec.nodes.*.image']}
druid.gardener.cloud/Etcd {podSpec: 'spec.schedulingConstraints', within: 'spec', images: ['spec.backup.image', 'spec.etcd.image'], tolerations: none, nodeSelector: none}
dynatrace.com/DTPrometheus {podSpec: 'spec.gateway', images: ['spec.gateway.image']}, {podSpec: 'spec.scraper', images: ['spec.scraper.image']}, {podSpec: 'spec.targetAllocator', images: ['spec.targetAllocator.image']}
dynatrace.com/DynaKube row
dynatrace.com/EdgeConnect set
eginnovations.com/EgUniversalAgent row
elasticsearch.k8s.elastic.co/Elasticsearch {podSpec: 'spec.nodeSets[*].podTemplate.spec', images: ['spec.image']}
elasticsearch.kubedb.com/ElasticsearchDashboard {podSpec: 'spec.podTemplate.spec', affinity: none}
enterprise.splunk.com/ClusterManager {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference'], nodeSelector: none}
enterprise.splunk.com/ClusterMaster {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference'], nodeSelector: none}
enterprise.splunk.com/IndexerCluster {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference'], nodeSelector: none}
enterprise.splunk.com/IngestorCluster {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference'], nodeSelector: none}
enterprise.splunk.com/LicenseManager {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference'], nodeSelector: none}
enterprise.splunk.com/LicenseMaster {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference'], nodeSelector: none}
enterprise.splunk.com/MonitoringConsole {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference'], nodeSelector: none}
enterprise.splunk.com/SearchHeadCluster {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference'], nodeSelector: none}
enterprise.splunk.com/Standalone {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference'], nodeSelector: none}
enterprisesearch.k8s.elastic.co/EnterpriseSearch {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}
eventgateway.konghq.com/KegDataPlane {podSpec: 'spec.deployment.podTemplateSpec.spec'}
extensions.agents.x-k8s.io/SandboxTemplate {podSpec: 'spec.podTemplate.spec'}
extensions.kubeblocks.io/Addon row
fission.io/Environment {podSpec: 'spec.builder.podspec', images: ['spec.builder.image']}, {podSpec: 'spec.runtime.podspec', images: ['spec.runtime.image']}
fission.io/Function {podSpec: 'spec.podspec'}
fission.io/FunctionVersion {podSpec: 'spec.snapshot.podspec', images: ['spec.envRuntimeImage']}
fission.io/MessageQueueTrigger {podSpec: 'spec.podspec'}
flink.apache.org/FlinkBlueGreenDeployment {podSpec: 'spec.template.spec.jobManager.podTemplate.spec', images: ['spec.template.spec.image']}, {podSpec: 'spec.template.spec.podTemplate.spec', images: ['spec.template.spec.image']}, {podSpec: 'spec.template.spec.taskManager.podTemplate.spec', images: ['spec.template.spec.image']}
flink.apache.org/FlinkDeployment {podSpec: 'spec.jobManager.podTemplate.spec', images: ['spec.image']}, {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}, {podSpec: 'spec.taskManager.podTemplate.spec', images: ['spec.image']}
flow.volcano.sh/JobFlow {podSpec: 'spec.flows[*].patch.jobSpec.tasks[*].template.spec'}
flow.volcano.sh/JobTemplate {podSpec: 'spec.tasks[*].template.spec'}
fluentbit.fluent.io/Collector {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference']}
fluentbit.fluent.io/FluentBit {podSpec: 'spec', images: ['spec.image', 'spec.initContainers[*].image', 'spec.positionDB.image.reference', 'spec.volumes[*].image.reference']}
fluentd.fluent.io/Fluentd {podSpec: 'spec', images: ['spec.image', 'spec.positionDB.image.reference', 'spec.volumes[*].image.reference']}
game.kruise.io/GameServer none
game.kruise.io/GameServerSet none
gateway-operator.konghq.com/DataPlane {podSpec: 'spec.deployment.podTemplateSpec.spec'}
gateway-operator.konghq.com/GatewayConfiguration {podSpec: 'spec.dataPlaneOptions.deployment.podTemplateSpec.spec'}
gateway.envoyproxy.io/EnvoyProxy row
gateway.kgateway.dev/GatewayParameters row
gateway.nginx.org/NginxProxy {podSpec: 'spec.kubernetes.daemonSet.pod', images: ['spec.kubernetes.daemonSet.pod.volumes[*].image.reference']}, {podSpec: 'spec.kubernetes.deployment.pod', images: ['spec.kubernetes.deployment.pod.volumes[*].image.reference']}
gitops.kubedb.com/Aerospike {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Cassandra {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.rack[*].podTemplate.spec', affinity: none}
gitops.kubedb.com/ClickHouse {podSpec: 'spec.clusterTopology.clickHouseKeeper.spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.clusterTopology.cluster.podTemplate.spec', affinity: none}, {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/DB2 {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/DocumentDB {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Druid {podSpec: 'spec.topology.brokers.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.coordinators.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.historicals.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.middleManagers.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.overlords.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.routers.podTemplate.spec', affinity: none}
gitops.kubedb.com/Elasticsearch row
gitops.kubedb.com/HanaDB row
gitops.kubedb.com/Hazelcast {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Ignite {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Kafka {podSpec: 'spec.cruiseControl.podTemplate.spec', affinity: none}, {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.broker.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.controller.podTemplate.spec', affinity: none}
gitops.kubedb.com/MSSQLServer row
gitops.kubedb.com/MariaDB {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.maxscale.podTemplate.spec', affinity: none}
gitops.kubedb.com/Memcached {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Milvus {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.distributed.datanode.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.distributed.mixcoord.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.distributed.proxy.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.distributed.querynode.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.distributed.streamingnode.podTemplate.spec', affinity: none}
gitops.kubedb.com/MongoDB {podSpec: 'spec.arbiter.podTemplate.spec', affinity: none}, {podSpec: 'spec.hidden.podTemplate.spec', affinity: none}, {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.shardTopology.configServer.podTemplate.spec', affinity: none}, {podSpec: 'spec.shardTopology.mongos.podTemplate.spec', affinity: none}, {podSpec: 'spec.shardTopology.shard.podTemplate.spec', affinity: none}
gitops.kubedb.com/MySQL {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.innoDBCluster.router.podTemplate.spec', affinity: none}
gitops.kubedb.com/Neo4j {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Oracle {podSpec: 'spec.dataGuard.observer.podTemplate.spec', affinity: none}, {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/PerconaXtraDB {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/PgBouncer {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Pgpool {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Postgres row
gitops.kubedb.com/ProxySQL {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Qdrant {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/RabbitMQ {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Redis {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/RedisSentinel {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/Singlestore {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.aggregator.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.leaf.podTemplate.spec', affinity: none}
gitops.kubedb.com/Solr {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.coordinator.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.data.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.overseer.podTemplate.spec', affinity: none}
gitops.kubedb.com/Weaviate {podSpec: 'spec.podTemplate.spec', affinity: none}
gitops.kubedb.com/ZooKeeper {podSpec: 'spec.podTemplate.spec', affinity: none}
goharbor.io/ChartMuseum {podSpec: 'spec', images: ['spec.image'], affinity: none}
goharbor.io/Core {podSpec: 'spec', images: ['spec.image'], affinity: none}
goharbor.io/Exporter {podSpec: 'spec', images: ['spec.image'], affinity: none}
goharbor.io/Harbor row
goharbor.io/HarborCluster row
goharbor.io/JobService {podSpec: 'spec', images: ['spec.image'], affinity: none}
goharbor.io/NotaryServer {podSpec: 'spec', images: ['spec.image'], affinity: none}
goharbor.io/NotarySigner {podSpec: 'spec', images: ['spec.image'], affinity: none}
goharbor.io/Portal {podSpec: 'spec', images: ['spec.image'], affinity: none}
goharbor.io/Registry {podSpec: 'spec', images: ['spec.image'], affinity: none}
goharbor.io/RegistryController {podSpec: 'spec', images: ['spec.image'], affinity: none}
goharbor.io/Trivy {podSpec: 'spec', images: ['spec.image'], affinity: none}
grafana.integreatly.org/Grafana {podSpec: 'spec.deployment.spec.template.spec'}
gravitee.io/gatewayclassparameters {podSpec: 'spec.kubernetes.deployment.template.spec'}
grove.io/PodClique {podSpec: 'spec.podSpec'}
grove.io/PodCliqueSet {podSpec: 'spec.template.cliques[*].spec.podSpec'}
hco.kubevirt.io/HyperConverged row
hermes.agent/HermesInstance row
hivemq.com/hivemqcluster {podSpec: 'spec', images: ['spec.image', 'spec.initBusyboxImage', 'spec.initContainers[*].image', 'spec.initDnsWaitImage', 'spec.initialization[*].image', 'spec.sidecars[*].image'], affinity: none}
hivemq.com/hivemqplatform {podSpec: 'spec.statefulSet.spec.template.spec'}
hostpathprovisioner.kubevirt.io/HostPathProvisioner set
hub.kmm.sigs.x-k8s.io/ManagedClusterModule row
hypershift.openshift.io/HostedCluster row
hypershift.openshift.io/HostedControlPlane row
hypershift.openshift.io/NodePool none
hyperspike.io/Valkey {podSpec: 'spec', images: ['spec.exporterImage', 'spec.externalAccess.proxy.image', 'spec.image'], affinity: none}
imageregistry.operator.openshift.io/Config set
imageregistry.operator.openshift.io/ImagePruner set
inference.llmaz.io/Service {podSpec: 'spec.workloadTemplate.leaderTemplate.spec'}, {podSpec: 'spec.workloadTemplate.workerTemplate.spec'}
infinispan.org/Infinispan row
infra.contrib.fluxcd.io/Terraform {podSpec: 'spec.runnerPodTemplate.spec', images: ['spec.runnerPodTemplate.spec.image', 'spec.runnerPodTemplate.spec.initContainers[*].image', 'spec.runnerPodTemplate.spec.volumes[*].image.reference']}
infrastructure.cluster.x-k8s.io/KubevirtMachine {podSpec: 'spec.virtualMachineTemplate.spec.template.spec', images: ['spec.virtualMachineTemplate.spec.dataVolumeTemplates[*].spec.source.vddk.initImageURL', 'spec.virtualMachineTemplate.spec.template.spec.domain.firmware.kernelBoot.container.image', 'spec.virtualMachineTemplate.spec.template.spec.volumes[*].containerDisk.image']}
infrastructure.cluster.x-k8s.io/KubevirtMachineTemplate {podSpec: 'spec.template.spec.virtualMachineTemplate.spec.template.spec', images: ['spec.template.spec.virtualMachineTemplate.spec.dataVolumeTemplates[*].spec.source.vddk.initImageURL', 'spec.template.spec.virtualMachineTemplate.spec.template.spec.domain.firmware.kernelBoot.container.image', 'spec.template.spec.virtualMachineTemplate.spec.template.spec.volumes[*].containerDisk.image']}
infrastructure.cluster.x-k8s.io/RemoteMachine {podSpec: 'spec.provisionJob.jobSpecTemplate.spec.template.spec'}
infrastructure.cluster.x-k8s.io/RemoteMachineTemplate {podSpec: 'spec.template.spec.provisionJob.jobSpecTemplate.spec.template.spec'}
infrastructure.opendatahub.io/HardwareProfile set
installation.mattermost.com/Mattermost {podSpec: 'spec.scheduling', within: 'spec', images: ['spec.image', 'spec.podExtensions.initContainers[*].image', 'spec.podExtensions.sidecarContainers[*].image', 'spec.volumes[*].image.reference']}
installer.kubedb.com/Kubedb row
integreatly.org/Grafana row
jaegertracing.io/Jaeger row
jenkins.io/Jenkins {podSpec: 'spec.master', images: ['spec.seedJobAgentImage'], affinity: none}
jobset.x-k8s.io/JobSet {podSpec: 'spec.replicatedJobs[*].template.spec.template.spec'}
k6.io/PrivateLoadZone none
k6.io/TestRun {podSpec: 'spec.initializer', images: ['spec.initializer.image', 'spec.initializer.initContainers[*].image', 'spec.initializer.volumes[*].image.reference']}, {podSpec: 'spec.runner', images: ['spec.runner.image', 'spec.runner.initContainers[*].image', 'spec.runner.volumes[*].image.reference']}, {podSpec: 'spec.starter', images: ['spec.starter.image', 'spec.starter.initContainers[*].image', 'spec.starter.volumes[*].image.reference']}
k6.io/k6 {podSpec: 'spec.initializer', images: ['spec.initializer.image', 'spec.initializer.initContainers[*].image']}, {podSpec: 'spec.runner', images: ['spec.runner.image', 'spec.runner.initContainers[*].image']}, {podSpec: 'spec.starter', images: ['spec.starter.image', 'spec.starter.initContainers[*].image']}
k8s.keycloak.org/Keycloak {podSpec: 'spec.unsupported.podTemplate.spec', images: ['spec.image']}, {podSpec: 'spec.scheduling', within: 'spec', images: ['spec.image'], nodeSelector: none}
k8s.mariadb.com/Backup set
k8s.mariadb.com/MariaDB row
k8s.mariadb.com/MaxScale {podSpec: 'spec', images: ['spec.image']}, {podSpec: 'spec.metrics.exporter', images: ['spec.metrics.exporter.image']}
k8s.mariadb.com/PhysicalBackup set
k8s.mariadb.com/Restore set
k8s.mariadb.com/SqlJob set
k8s.streamnative.io/AgentFunction {podSpec: 'spec.pod', images: ['spec.cleanupImage', 'spec.downloaderImage', 'spec.filebeatImage', 'spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image', 'spec.pod.volumes[*].image.reference']}
k8s.streamnative.io/AgentTrigger {podSpec: 'spec.pod', images: ['spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image', 'spec.pod.volumes[*].image.reference']}
k8s.streamnative.io/ApiKeys {podSpec: 'spec.pod', within: 'spec', images: ['spec.image'], affinity: none}
k8s.streamnative.io/Console {podSpec: 'spec.pod', images: ['spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image']}
k8s.streamnative.io/Coordinator {podSpec: 'spec.detector.pod', within: 'spec.detector', images: ['spec.detector.image', 'spec.image'], affinity: none}, {podSpec: 'spec.pod', within: 'spec', images: ['spec.image'], affinity: none}, {podSpec: 'spec.toolSet.pod', within: 'spec.toolSet', images: ['spec.image', 'spec.toolSet.image'], affinity: none}
k8s.streamnative.io/KafkaCluster {podSpec: 'spec.config.compactionScheduler.pod', images: ['spec.config.compactionScheduler.image', 'spec.config.compactionScheduler.pod.initContainers[*].image', 'spec.config.compactionScheduler.pod.sidecars[*].image', 'spec.config.cruiseControl.image', 'spec.config.entityOperator.topicOperator.image', 'spec.config.entityOperator.userOperator.image', 'spec.image']}
k8s.streamnative.io/KafkaConnect {podSpec: 'spec.pod', images: ['spec.cleanupImage', 'spec.downloaderImage', 'spec.filebeatImage', 'spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image', 'spec.pod.volumes[*].image.reference']}
k8s.streamnative.io/KafkaRestProxy {podSpec: 'spec.pod', within: 'spec', images: ['spec.image']}
k8s.streamnative.io/MqttProxy {podSpec: 'spec.pod', images: ['spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image']}
k8s.streamnative.io/OxiaCluster {podSpec: 'spec.server.pod', images: ['spec.image', 'spec.server.pod.initContainers[*].image', 'spec.server.pod.sidecars[*].image']}
k8s.streamnative.io/PFSQLCluster {podSpec: 'spec.pod', within: 'spec', images: ['spec.gateway.image'], affinity: none}
k8s.streamnative.io/PulsarCoordinator {podSpec: 'spec.detector.pod', within: 'spec.detector', images: ['spec.detector.image', 'spec.image'], affinity: none}, {podSpec: 'spec.kafkaConnect.pod', within: 'spec', images: ['spec.image'], affinity: none}, {podSpec: 'spec.pfsql.pod', within: 'spec.pfsql', images: ['spec.image', 'spec.pfsql.image'], affinity: none}, {podSpec: 'spec.pod', within: 'spec', images: ['spec.image'], affinity: none}, {podSpec: 'spec.toolSet.pod', within: 'spec.toolSet', images: ['spec.image', 'spec.toolSet.image'], affinity: none}
k8s.streamnative.io/SnSchemaRegistry {podSpec: 'spec.pod', images: ['spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image']}
k8s.streamnative.io/UniLink {podSpec: 'spec.pod', within: 'spec', images: ['spec.image'], affinity: none}
k8s.streamnative.io/UniLinkSchema {podSpec: 'spec.pod', within: 'spec', images: ['spec.image'], affinity: none}
k8ssandra.io/K8ssandraCluster row
k8up.io/PodConfig {podSpec: 'spec.template.spec'}
k8up.io/PreBackupPod {podSpec: 'spec.pod.spec'}
kaap.oss.datastax.com/Autorecovery row
kaap.oss.datastax.com/Bastion row
kaap.oss.datastax.com/BookKeeper row
kaap.oss.datastax.com/Broker row
kaap.oss.datastax.com/FunctionsWorker row
kaap.oss.datastax.com/Proxy row
kaap.oss.datastax.com/PulsarCluster row
kaap.oss.datastax.com/ZooKeeper row
kafka.banzaicloud.io/KafkaCluster row
kafka.kubedb.com/ConnectCluster {podSpec: 'spec.podTemplate.spec', affinity: none}
kafka.kubedb.com/RestProxy {podSpec: 'spec.podTemplate.spec', affinity: none}
kafka.kubedb.com/SchemaRegistry {podSpec: 'spec.podTemplate.spec', affinity: none}
kafka.strimzi.io/Kafka row
kafka.strimzi.io/KafkaBridge {podSpec: 'spec.template.pod', images: ['spec.clientRackInitImage', 'spec.image', 'spec.template.pod.volumes[*].image.reference'], nodeSelector: none}
kafka.strimzi.io/KafkaConnect {podSpec: 'spec.template.buildPod', images: ['spec.clientRackInitImage', 'spec.image', 'spec.template.buildPod.volumes[*].image.reference'], nodeSelector: none}, {podSpec: 'spec.template.pod', images: ['spec.clientRackInitImage', 'spec.image', 'spec.template.pod.volumes[*].image.reference'], nodeSelector: none}
kafka.strimzi.io/KafkaMirrorMaker {podSpec: 'spec.template.pod', within: 'spec', images: ['spec.image'], nodeSelector: none}
kafka.strimzi.io/KafkaMirrorMaker2 {podSpec: 'spec.template.buildPod', images: ['spec.clientRackInitImage', 'spec.image', 'spec.template.buildPod.volumes[*].image.reference'], nodeSelector: none}, {podSpec: 'spec.template.pod', images: ['spec.clientRackInitImage', 'spec.image', 'spec.template.pod.volumes[*].image.reference'], nodeSelector: none}
kafka.strimzi.io/KafkaNodePool {podSpec: 'spec.template.pod', images: ['spec.template.pod.volumes[*].image.reference'], nodeSelector: none}
kagent.dev/Agent {podSpec: 'spec.byo.deployment', images: ['spec.byo.deployment.extraContainers[*].image', 'spec.byo.deployment.image', 'spec.byo.deployment.volumes[*].image.reference']}, {podSpec: 'spec.declarative.deployment', images: ['spec.declarative.deployment.extraContainers[*].image', 'spec.declarative.deployment.volumes[*].image.reference']}
kagent.dev/SandboxAgent {podSpec: 'spec.byo.deployment', images: ['spec.byo.deployment.extraContainers[*].image', 'spec.byo.deployment.image', 'spec.byo.deployment.volumes[*].image.reference']}, {podSpec: 'spec.declarative.deployment', images: ['spec.declarative.deployment.extraContainers[*].image', 'spec.declarative.deployment.volumes[*].image.reference']}
kamaji.clastix.io/TenantControlPlane {podSpec: 'spec.addons.konnectivity.agent', images: ['spec.addons.konnectivity.agent.image'], affinity: none, nodeSelector: none}, {podSpec: 'spec.controlPlane.deployment', images: ['spec.controlPlane.deployment.additionalContainers[*].image', 'spec.controlPlane.deployment.additionalInitContainers[*].image', 'spec.controlPlane.deployment.additionalVolumes[*].image.reference', 'spec.controlPlane.deployment.registrySettings.apiServerImage', 'spec.controlPlane.deployment.registrySettings.controllerManagerImage', 'spec.controlPlane.deployment.registrySettings.schedulerImage']}
kea.openshift.io/KeaControlAgent {podSpec: 'spec.placement', within: 'spec', images: ['spec.container.image']}
kea.openshift.io/KeaDhcp4Server {podSpec: 'spec.placement', within: 'spec', images: ['spec.container.image', 'spec.stork.image']}
kea.openshift.io/KeaDhcp6Server {podSpec: 'spec.placement', within: 'spec', images: ['spec.container.image', 'spec.stork.image']}
kea.openshift.io/KeaDhcpDdns {podSpec: 'spec.placement', within: 'spec', images: ['spec.container.image']}
kea.openshift.io/KeaServer row
kea.openshift.io/KeaStorkServer {podSpec: 'spec.placement', within: 'spec', images: ['spec.container.image']}
keda.sh/KedaController set
keda.sh/ScaledJob {podSpec: 'spec.jobTargetRef.template.spec'}
kepler.system.sustainable.computing.io/PowerMonitor set
kepler.system.sustainable.computing.io/PowerMonitorInternal {podSpec: 'spec.kepler.deployment', images: ['spec.kepler.deployment.image', 'spec.kepler.deployment.kubeRbacProxyImage'], affinity: none}
keycloak.org/Keycloak set
kibana.k8s.elastic.co/Kibana {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}
kmm.sigs.x-k8s.io/Module {podSpec: 'spec', images: ['spec.devicePlugin.container.image', 'spec.devicePlugin.initContainer.image', 'spec.devicePlugin.volumes[*].image.reference', 'spec.dra.container.image', 'spec.dra.initContainer.image', 'spec.dra.volumes[*].image.reference', 'spec.moduleLoader.container.containerImage', 'spec.moduleLoader.container.kernelMappings[*].containerImage', 'spec.moduleLoader.container.kernelMappings[*].sign.unsignedImage', 'spec.moduleLoader.container.sign.unsignedImage'], affinity: none, nodeSelector: none}
kmm.sigs.x-k8s.io/ModuleBuildSignConfig {podSpec: 'spec', images: ['spec.images[*].image', 'spec.images[*].sign.unsignedImage'], affinity: none, nodeSelector: none}
kmm.sigs.x-k8s.io/ModuleImagesConfig {podSpec: 'spec', images: ['spec.images[*].image', 'spec.images[*].sign.unsignedImage'], affinity: none, nodeSelector: none}
kmm.sigs.x-k8s.io/NodeModulesConfig {podSpec: 'spec.modules[*]', images: ['spec.modules[*].config.containerImage'], affinity: none, nodeSelector: none}
kubedb.com/Aerospike {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Cassandra {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.rack[*].podTemplate.spec', affinity: none}
kubedb.com/ClickHouse {podSpec: 'spec.clusterTopology.clickHouseKeeper.spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.clusterTopology.cluster.podTemplate.spec', affinity: none}, {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/DB2 {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/DocumentDB {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Druid {podSpec: 'spec.topology.brokers.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.coordinators.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.historicals.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.middleManagers.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.overlords.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.routers.podTemplate.spec', affinity: none}
kubedb.com/Elasticsearch row
kubedb.com/HanaDB row
kubedb.com/Hazelcast {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Ignite {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Kafka {podSpec: 'spec.cruiseControl.podTemplate.spec', affinity: none}, {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.broker.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.controller.podTemplate.spec', affinity: none}
kubedb.com/MSSQLServer row
kubedb.com/MariaDB {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.maxscale.podTemplate.spec', affinity: none}
kubedb.com/Memcached {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Milvus {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.distributed.datanode.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.distributed.mixcoord.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.distributed.proxy.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.distributed.querynode.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.distributed.streamingnode.podTemplate.spec', affinity: none}
kubedb.com/MongoDB {podSpec: 'spec.arbiter.podTemplate.spec', affinity: none}, {podSpec: 'spec.hidden.podTemplate.spec', affinity: none}, {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.shardTopology.configServer.podTemplate.spec', affinity: none}, {podSpec: 'spec.shardTopology.mongos.podTemplate.spec', affinity: none}, {podSpec: 'spec.shardTopology.shard.podTemplate.spec', affinity: none}
kubedb.com/MySQL {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.innoDBCluster.router.podTemplate.spec', affinity: none}
kubedb.com/Neo4j {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Oracle {podSpec: 'spec.dataGuard.observer.podTemplate.spec', affinity: none}, {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/PerconaXtraDB {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/PgBouncer {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Pgpool {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Postgres row
kubedb.com/ProxySQL {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Qdrant {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/RabbitMQ {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Redis {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/RedisSentinel {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/Singlestore {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.aggregator.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.leaf.podTemplate.spec', affinity: none}
kubedb.com/Solr {podSpec: 'spec.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.coordinator.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.data.podTemplate.spec', affinity: none}, {podSpec: 'spec.topology.overseer.podTemplate.spec', affinity: none}
kubedb.com/Weaviate {podSpec: 'spec.podTemplate.spec', affinity: none}
kubedb.com/ZooKeeper {podSpec: 'spec.podTemplate.spec', affinity: none}
kubefledged.io/ImageCache none
kubeflow.org/ClusterTrainingRuntime {podSpec: 'spec.template.spec.replicatedJobs[*].template.spec.template.spec'}
kubeflow.org/JAXJob {podSpec: 'spec.jaxReplicaSpecs.*.template.spec'}
kubeflow.org/MPIJob {podSpec: 'spec.mpiReplicaSpecs.*.template.spec'}
kubeflow.org/Notebook {podSpec: 'spec.template.spec'}
kubeflow.org/PVCViewer {podSpec: 'spec.podSpec'}
kubeflow.org/PaddleJob {podSpec: 'spec.paddleReplicaSpecs.*.template.spec'}
kubeflow.org/PodDefault {podSpec: 'spec', images: ['spec.initContainers[*].image', 'spec.sidecars[*].image'], affinity: none, nodeSelector: none}
kubeflow.org/PyTorchJob {podSpec: 'spec.pytorchReplicaSpecs.*.template.spec'}
kubeflow.org/TFJob {podSpec: 'spec.tfReplicaSpecs.*.template.spec'}
kubeflow.org/TrainJob {podSpec: 'spec.podSpecOverrides[*]', images: ['spec.podSpecOverrides[*].volumes[*].image.reference', 'spec.trainer.image'], affinity: none}
kubeflow.org/TrainingRuntime {podSpec: 'spec.template.spec.replicatedJobs[*].template.spec.template.spec'}
kubeflow.org/XGBoostJob {podSpec: 'spec.xgbReplicaSpecs.*.template.spec'}
kubernetes.dask.org/DaskCluster {podSpec: 'spec.scheduler.spec'}, {podSpec: 'spec.worker.spec'}
kubernetes.dask.org/DaskJob {podSpec: 'spec.cluster.spec.scheduler.spec'}, {podSpec: 'spec.cluster.spec.worker.spec'}, {podSpec: 'spec.job.spec'}
kubernetes.dask.org/DaskWorkerGroup {podSpec: 'spec.worker.spec'}
kubevirt.io/KubeVirt row
kubevirt.io/VirtualMachine {podSpec: 'spec.template.spec', images: ['spec.dataVolumeTemplates[*].spec.source.vddk.initImageURL', 'spec.template.spec.domain.firmware.kernelBoot.container.image', 'spec.template.spec.volumes[*].containerDisk.image']}
kubevirt.io/VirtualMachineInstance {podSpec: 'spec', images: ['spec.domain.firmware.kernelBoot.container.image', 'spec.volumes[*].containerDisk.image']}
kubevirt.io/VirtualMachineInstanceReplicaSet {podSpec: 'spec.template.spec', images: ['spec.template.spec.domain.firmware.kernelBoot.container.image', 'spec.template.spec.volumes[*].containerDisk.image']}
kueue.x-k8s.io/ResourceFlavor set
kueue.x-k8s.io/Workload {podSpec: 'spec.podSets[*].template.spec'}
leaderworkerset.x-k8s.io/LeaderWorkerSet {podSpec: 'spec.leaderWorkerTemplate.leaderTemplate.spec'}, {podSpec: 'spec.leaderWorkerTemplate.workerTemplate.spec'}
limitador.kuadrant.io/Limitador {podSpec: 'spec', images: ['spec.image'], tolerations: none, nodeSelector: none}
litmuschaos.io/ChaosEngine row
litmuschaos.io/ChaosSchedule row
locust.io/LocustTest {podSpec: 'spec.scheduling', within: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference']}
logging-extensions.banzaicloud.io/EventTailer {podSpec: 'spec.workloadOverrides', images: ['spec.image.repository+tag']}
logging-extensions.banzaicloud.io/HostTailer {podSpec: 'spec.workloadOverrides'}
logging.banzaicloud.io/FluentbitAgent {podSpec: 'spec', images: ['spec.bufferVolumeImage.repository+tag', 'spec.configHotReload.image.repository+tag', 'spec.image.repository+tag']}
logging.banzaicloud.io/FluentdConfig {podSpec: 'spec', images: ['spec.bufferVolumeImage.repository+tag', 'spec.configReloaderImage.repository+tag', 'spec.image.repository+tag', 'spec.scaling.drain.image.repository+tag', 'spec.scaling.drain.pauseImage.repository+tag', 'spec.sidecarContainers[*].image', 'spec.volumeModImage.repository+tag']}
logging.banzaicloud.io/Logging row
logging.banzaicloud.io/SyslogNGConfig {podSpec: 'spec.configCheckPod', images: ['spec.bufferVolumeMetricsImage.repository+tag', 'spec.configReloadImage.repository+tag', 'spec.metricsExporterImage.repository+tag', 'spec.syslogNGImage.repository+tag']}, {podSpec: 'spec.statefulSet.spec.template.spec', images: ['spec.bufferVolumeMetricsImage.repository+tag', 'spec.configReloadImage.repository+tag', 'spec.metricsExporterImage.repository+tag', 'spec.syslogNGImage.repository+tag']}
logging.banzaicloud.io/nodeagent {podSpec: 'spec.nodeAgentFluentbit.daemonSet.spec.template.spec'}
logging.logging.opstreelabs.in/Elasticsearch set
logging.logging.opstreelabs.in/Fluentd set
logging.logging.opstreelabs.in/Kibana set
logging.openshift.io/ClusterLogging set
logstash.k8s.elastic.co/Logstash {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}
loki.grafana.com/LokiStack set
machinelearning.seldon.io/SeldonDeployment {podSpec: 'spec.predictors[*].componentSpecs[*].spec'}
maps.k8s.elastic.co/ElasticMapsServer {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}
mattermost.com/ClusterInstallation {podSpec: 'spec', images: ['spec.blueGreen.blue.image', 'spec.blueGreen.green.image', 'spec.canary.deployment.image', 'spec.image'], tolerations: none}
maximilianopizarro.github.io/Jhipster8Worker {podSpec: 'spec', images: ['spec.image.repository+tag']}
maximilianopizarro.github.io/McpWorker {podSpec: 'spec', images: ['spec.image.repository+tag']}
maximilianopizarro.github.io/PyhipsterWorker {podSpec: 'spec', images: ['spec.image.repository+tag']}
mellanox.com/NicClusterPolicy row
mellanox.com/NicNodePolicy row
migrations.kubevirt.io/MigController set
milvus.io/Milvus row
milvus.io/MilvusCluster row
minio.min.io/Tenant row
mlops.mlops.dev/NotebookValidationJob {podSpec: 'spec.podConfig', images: ['spec.podConfig.buildConfig.baseImage', 'spec.podConfig.containerImage']}
mlops.seldon.io/SeldonConfig {podSpec: 'spec.components[*].podSpec'}
mlops.seldon.io/SeldonRuntime {podSpec: 'spec.overrides[*].podSpec'}
mlops.seldon.io/Server {podSpec: 'spec.podSpec'}
mlops.seldon.io/ServerConfig {podSpec: 'spec.podSpec'}
moco.cybozu.com/BackupPolicy {podSpec: 'spec.jobConfig', images: ['spec.jobConfig.volumes[*].image.reference', 'spec.jobConfig.workVolume.image.reference'], tolerations: none, nodeSelector: none}
moco.cybozu.com/MySQLCluster {podSpec: 'spec.podTemplate.spec'}, {podSpec: 'spec.restore.jobConfig', images: ['spec.restore.jobConfig.volumes[*].image.reference', 'spec.restore.jobConfig.workVolume.image.reference'], tolerations: none, nodeSelector: none}
mongodb.com/MongoDBSearch set
monitoring.3scale.net/PrometheusExporter none
monitoring.coreos.com/Alertmanager none
monitoring.coreos.com/Prometheus none
monitoring.coreos.com/PrometheusAgent {podSpec: 'spec', images: ['spec.image']}
monitoring.coreos.com/ThanosRuler {podSpec: 'spec', images: ['spec.image']}
monitoring.grafana.com/GrafanaAgent {podSpec: 'spec', images: ['spec.configReloaderImage', 'spec.image']}
monitoring.rhobs/Alertmanager none
monitoring.rhobs/Prometheus none
monitoring.rhobs/PrometheusAgent {podSpec: 'spec', images: ['spec.image']}
monitoring.rhobs/ThanosRuler {podSpec: 'spec', images: ['spec.image']}
monitoring.thanos.io/ThanosCompact {podSpec: 'spec', images: ['spec.additionalContainers[*].image', 'spec.additionalVolumes[*].image.reference', 'spec.baseImage']}
monitoring.thanos.io/ThanosQuery {podSpec: 'spec', images: ['spec.additionalContainers[*].image', 'spec.additionalVolumes[*].image.reference', 'spec.baseImage']}, {podSpec: 'spec.queryFrontend', images: ['spec.queryFrontend.additionalContainers[*].image', 'spec.queryFrontend.additionalVolumes[*].image.reference', 'spec.queryFrontend.baseImage']}
monitoring.thanos.io/ThanosReceive {podSpec: 'spec.ingesterSpec.hashrings[*]', images: ['spec.ingesterSpec.hashrings[*].baseImage']}, {podSpec: 'spec.routerSpec', images: ['spec.routerSpec.additionalContainers[*].image', 'spec.routerSpec.additionalVolumes[*].image.reference', 'spec.routerSpec.baseImage']}
monitoring.thanos.io/ThanosRuler {podSpec: 'spec', images: ['spec.additionalContainers[*].image', 'spec.additionalVolumes[*].image.reference', 'spec.baseImage']}
monitoring.thanos.io/ThanosStore {podSpec: 'spec', images: ['spec.additionalContainers[*].image', 'spec.additionalVolumes[*].image.reference', 'spec.baseImage']}
mtq.kubevirt.io/MTQ set
multicluster.openshift.io/MultiClusterEngine set
multinic.fms.io/Config {podSpec: 'spec.daemon', images: ['spec.daemon.image'], affinity: none}
mysql.oracle.com/NdbCluster {podSpec: 'spec.dataNode.ndbPodSpec', within: 'spec', images: ['spec.image']}, {podSpec: 'spec.managementNode.ndbPodSpec', within: 'spec', images: ['spec.image']}, {podSpec: 'spec.mysqlNode.ndbPodSpec', within: 'spec', images: ['spec.image']}
mysql.presslabs.org/MysqlCluster row
nats.io/NatsCluster {podSpec: 'spec.pod', images: ['spec.pod.bootconfigImage', 'spec.pod.metricsImage', 'spec.pod.reloaderImage', 'spec.serverImage'], affinity: none}
neo4j.com/Neo4j row
networkaddonsoperator.network.kubevirt.io/NetworkAddonsConfig set
nfd.kubernetes.io/NodeFeatureDiscovery row
numaflow.numaproj.io/InterStepBufferService set
numaflow.numaproj.io/MonoVertex row
numaflow.numaproj.io/Pipeline row
numaflow.numaproj.io/ServingPipeline row
numaflow.numaproj.io/Vertex {podSpec: 'spec', images: ['spec.initContainers[*].image', 'spec.sidecars[*].image', 'spec.sink.fallback.udsink.container.image', 'spec.sink.onSuccess.udsink.container.image', 'spec.sink.udsink.container.image', 'spec.source.transformer.container.image', 'spec.source.udsource.container.image', 'spec.udf.container.image', 'spec.volumes[*].image.reference']}
nvidia.com/ClusterPolicy row
nvidia.com/GPUCluster row
nvidia.com/NVIDIADriver row
oadp.openshift.io/DataProtectionApplication row
ollama.ayaka.io/Model {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}
ome.io/AcceleratorClass set
ome.io/BaseModel set
ome.io/BenchmarkJob row
ome.io/ClusterBaseModel set
ome.io/ClusterServingRuntime row
ome.io/FineTunedWeight set
ome.io/InferenceService row
ome.io/ServingRuntime row
openclaw.rocks/OpenClawInstance row
openfaas.com/Headroom set
openfaas.com/Profile set
opensearch.opster.io/OpenSearchCluster row
opensearch.org/OpenSearchCluster row
opentelemetry.io/OpAMPBridge {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference']}
opentelemetry.io/OpenTelemetryCollector {podSpec: 'spec', images: ['spec.additionalContainers[*].image', 'spec.image', 'spec.initContainers[*].image', 'spec.volumes[*].image.reference']}, {podSpec: 'spec.targetAllocator', images: ['spec.targetAllocator.image']}
opentelemetry.io/TargetAllocator {podSpec: 'spec', images: ['spec.additionalContainers[*].image', 'spec.image', 'spec.initContainers[*].image', 'spec.volumes[*].image.reference']}
operations.kubeblocks.io/OpsDefinition {podSpec: 'spec.actions[*].workload.podSpec'}
operations.kubeblocks.io/OpsRequest set
operator.cluster.x-k8s.io/AddonProvider set
operator.cluster.x-k8s.io/BootstrapProvider set
operator.cluster.x-k8s.io/ControlPlaneProvider set
operator.cluster.x-k8s.io/CoreProvider set
operator.cluster.x-k8s.io/IPAMProvider set
operator.cluster.x-k8s.io/InfrastructureProvider set
operator.cluster.x-k8s.io/RuntimeExtensionProvider set
operator.etcd.io/EtcdCluster set
operator.istio.io/Istio row
operator.istio.io/IstioCNI row
operator.istio.io/IstioRevision row
operator.karmada.io/Karmada row
operator.knative.dev/KnativeEventing set
operator.knative.dev/KnativeServing set
operator.marin3r.3scale.net/EnvoyDeployment {podSpec: 'spec', images: ['spec.image', 'spec.initManager.image', 'spec.shutdownManager.image'], tolerations: none, nodeSelector: none}
operator.open-cluster-management.io/ClusterManager set
operator.open-cluster-management.io/Klusterlet set
operator.open-cluster-management.io/MultiClusterHub set
operator.open-cluster-management.io/MulticlusterGlobalHub set
operator.open-cluster-management.io/MulticlusterGlobalHubAgent set
operator.openshift.io/DNS set
operator.openshift.io/IngressController set
operator.tekton.dev/OpenShiftPipelinesAsCode set
operator.tekton.dev/SyncerService set
operator.tekton.dev/TektonAddon set
operator.tekton.dev/TektonChain set
operator.tekton.dev/TektonConfig set
operator.tekton.dev/TektonDashboard set
operator.tekton.dev/TektonPipeline set
operator.tekton.dev/TektonPruner set
operator.tekton.dev/TektonResult set
operator.tekton.dev/TektonTrigger set
operator.tigera.io/APIServer set
operator.tigera.io/EgressGateway set
operator.tigera.io/GatewayAPI set
operator.tigera.io/Goldmane set
operator.tigera.io/Installation set
operator.tigera.io/Istio set
operator.tigera.io/LogCollector set
operator.tigera.io/Tenant set
operator.tigera.io/Whisker set
operator.victoriametrics.com/VLAgent {podSpec: 'spec', images: ['spec.image.repository+tag']}
operator.victoriametrics.com/VLCluster {podSpec: 'spec.vlinsert', images: ['spec.vlinsert.image.repository+tag']}, {podSpec: 'spec.vlselect', images: ['spec.vlselect.image.repository+tag']}, {podSpec: 'spec.vlstorage', images: ['spec.vlstorage.image.repository+tag']}
operator.victoriametrics.com/VLDistributed {podSpec: 'spec.vmauth.spec', images: ['spec.vmauth.spec.configReloaderImage', 'spec.vmauth.spec.image.repository+tag']}, {podSpec: 'spec.zoneCommon.vlagent.spec', images: ['spec.zoneCommon.vlagent.spec.image.repository+tag']}, {podSpec: 'spec.zones[*].vlagent.spec', images: ['spec.zones[*].vlagent.spec.image.repository+tag']}
operator.victoriametrics.com/VLSingle {podSpec: 'spec', images: ['spec.image.repository+tag']}
operator.victoriametrics.com/VMAgent {podSpec: 'spec', images: ['spec.configReloaderImage', 'spec.image.repository+tag']}
operator.victoriametrics.com/VMAlert {podSpec: 'spec', images: ['spec.configReloaderImage', 'spec.image.repository+tag']}
operator.victoriametrics.com/VMAlertmanager {podSpec: 'spec', images: ['spec.configReloaderImage', 'spec.image.repository+tag']}
operator.victoriametrics.com/VMAnomaly {podSpec: 'spec', images: ['spec.image.repository+tag']}
operator.victoriametrics.com/VMAuth {podSpec: 'spec', images: ['spec.configReloaderImage', 'spec.image.repository+tag']}
operator.victoriametrics.com/VMCluster {podSpec: 'spec.vminsert', images: ['spec.vminsert.image.repository+tag']}, {podSpec: 'spec.vmselect', images: ['spec.vmselect.image.repository+tag']}, {podSpec: 'spec.vmstorage', images: ['spec.vmstorage.image.repository+tag', 'spec.vmstorage.vmBackup.image.repository+tag']}
operator.victoriametrics.com/VMDistributed {podSpec: 'spec.vmauth.spec', images: ['spec.vmauth.spec.configReloaderImage', 'spec.vmauth.spec.image.repository+tag']}, {podSpec: 'spec.zoneCommon.vmagent.spec', images: ['spec.zoneCommon.vmagent.spec.image.repository+tag']}, {podSpec: 'spec.zones[*].vmagent.spec', images: ['spec.zones[*].vmagent.spec.image.repository+tag']}
operator.victoriametrics.com/VMSingle {podSpec: 'spec', images: ['spec.configReloaderImage', 'spec.image.repository+tag', 'spec.vmBackup.image.repository+tag']}
operator.victoriametrics.com/VTCluster {podSpec: 'spec.insert', images: ['spec.insert.image.repository+tag']}, {podSpec: 'spec.select', images: ['spec.select.image.repository+tag']}, {podSpec: 'spec.storage', images: ['spec.storage.image.repository+tag']}
operator.victoriametrics.com/VTSingle {podSpec: 'spec', images: ['spec.image.repository+tag']}
operator.yugabyte.io/YBUniverse set
operators.coreos.com/CatalogSource {podSpec: 'spec.grpcPodConfig', within: 'spec', images: ['spec.image']}
operators.coreos.com/ClusterServiceVersion {podSpec: 'spec.install.spec.deployments[*].spec.template.spec'}
operators.coreos.com/Subscription set
ops.kubedb.com/DocumentDBOpsRequest set
ops.kubedb.com/PostgresOpsRequest set
opstreelabs.in/MongoDB row
opstreelabs.in/MongoDBCluster row
orchestration.aibrix.ai/KVCache {podSpec: 'spec.cache.template.spec', images: ['spec.cache.image']}, {podSpec: 'spec.metadata.etcd.runtime.template.spec', images: ['spec.metadata.etcd.runtime.image']}, {podSpec: 'spec.metadata.redis.runtime.template.spec', images: ['spec.metadata.redis.runtime.image']}, {podSpec: 'spec.watcher.template.spec', images: ['spec.watcher.image']}
orchestration.aibrix.ai/PodSet {podSpec: 'spec.template.spec'}
orchestration.aibrix.ai/RayClusterFleet {podSpec: 'spec.template.spec.headGroupSpec.template.spec'}, {podSpec: 'spec.template.spec.workerGroupSpecs[*].template.spec'}
orchestration.aibrix.ai/RayClusterReplicaSet {podSpec: 'spec.template.spec.headGroupSpec.template.spec'}, {podSpec: 'spec.template.spec.workerGroupSpecs[*].template.spec'}
orchestration.aibrix.ai/RoleSet {podSpec: 'spec.roles[*].template.spec'}
orchestration.aibrix.ai/StormService {podSpec: 'spec.template.spec.roles[*].template.spec'}
org.eclipse.che/CheCluster row
packageregistry.k8s.elastic.co/PackageRegistry {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}
paperclip.inc/Instance row
perses.dev/Perses {podSpec: 'spec', images: ['spec.image', 'spec.volumes[*].image.reference']}
pg.percona.com/PerconaPGCluster row
pg.percona.com/PostgresCluster row
pgv2.percona.com/PerconaPGCluster row
pgv2.percona.com/PerconaPGUpgrade {podSpec: 'spec', images: ['spec.image', 'spec.initContainers[*].image', 'spec.toPgBackRestImage', 'spec.toPgBouncerImage', 'spec.toPostgresImage'], nodeSelector: none}
pingcap.com/Backup {podSpec: 'spec', images: ['spec.toolImage'], nodeSelector: none}
pingcap.com/BackupSchedule {podSpec: 'spec.backupTemplate', images: ['spec.backupTemplate.toolImage'], nodeSelector: none}
pingcap.com/DMCluster row
pingcap.com/Restore {podSpec: 'spec', images: ['spec.toolImage'], nodeSelector: none}
pingcap.com/TidbCluster row
pingcap.com/TidbMonitor {podSpec: 'spec', images: ['spec.additionalContainers[*].image', 'spec.dm.initializer.baseImage', 'spec.grafana.baseImage', 'spec.initializer.baseImage', 'spec.prometheus.baseImage', 'spec.prometheusReloader.baseImage', 'spec.reloader.baseImage', 'spec.thanos.baseImage'], affinity: none}
pingcap.com/TidbNGMonitoring row
pingcap.com/tidbdashboard row
piraeus.io/LinstorCluster set
piraeus.io/LinstorSatelliteConfiguration set
pkg.crossplane.io/ControllerConfig {podSpec: 'spec', images: ['spec.image']}
pkg.crossplane.io/DeploymentRuntimeConfig {podSpec: 'spec.deploymentTemplate.spec.template.spec'}
planetscale.com/EtcdLockserver {podSpec: 'spec', images: ['spec.image'], nodeSelector: none}
planetscale.com/VitessBackupSchedule {podSpec: 'spec', images: ['spec.image'], nodeSelector: none}
planetscale.com/VitessCell row
planetscale.com/VitessCluster row
planetscale.com/VitessKeyspace set
planetscale.com/VitessShard set
platform.confluent.io/Connect {podSpec: 'spec.podTemplate', within: 'spec', images: ['spec.mountedVolumes.volumes[*].image.reference'], nodeSelector: none}
platform.confluent.io/ControlCenter {podSpec: 'spec.podTemplate', within: 'spec', images: ['spec.mountedVolumes.volumes[*].image.reference', 'spec.services.alertmanager.image', 'spec.services.prometheus.image'], nodeSelector: none}
platform.confluent.io/KRaftController {podSpec: 'spec.podTemplate', within: 'spec', images: ['spec.mountedVolumes.volumes[*].image.reference', 'spec.services.observer.image'], nodeSelector: none}
platform.confluent.io/Kafka {podSpec: 'spec.podTemplate', within: 'spec', images: ['spec.mountedVolumes.volumes[*].image.reference', 'spec.services.observer.image'], nodeSelector: none}
platform.confluent.io/KafkaRestProxy {podSpec: 'spec.podTemplate', within: 'spec', images: ['spec.mountedVolumes.volumes[*].image.reference'], nodeSelector: none}
platform.confluent.io/KsqlDB {podSpec: 'spec.podTemplate', within: 'spec', images: ['spec.mountedVolumes.volumes[*].image.reference'], nodeSelector: none}
platform.confluent.io/SchemaRegistry {podSpec: 'spec.podTemplate', within: 'spec', images: ['spec.mountedVolumes.volumes[*].image.reference'], nodeSelector: none}
platform.confluent.io/Zookeeper {podSpec: 'spec.podTemplate', within: 'spec', images: ['spec.mountedVolumes.volumes[*].image.reference'], nodeSelector: none}
platform.confluent.io/flinkbluegreendeployment {podSpec: 'spec.template.spec.jobManager.podTemplate.spec', images: ['spec.template.spec.image']}, {podSpec: 'spec.template.spec.podTemplate.spec', images: ['spec.template.spec.image']}, {podSpec: 'spec.template.spec.taskManager.podTemplate.spec', images: ['spec.template.spec.image']}
platform.confluent.io/flinkdeployment {podSpec: 'spec.jobManager.podTemplate.spec', images: ['spec.image']}, {podSpec: 'spec.podTemplate.spec', images: ['spec.image']}, {podSpec: 'spec.taskManager.podTemplate.spec', images: ['spec.image']}
platform.confluent.io/gateway {podSpec: 'spec.podTemplate', within: 'spec', images: ['spec.mountedVolumes.volumes[*].image.reference'], nodeSelector: none}
platform.confluent.io/usmagent {podSpec: 'spec.podTemplate', within: 'spec', images: ['spec.mountedVolumes.volumes[*].image.reference'], nodeSelector: none}
platform.stackrox.io/Central set
platform.stackrox.io/SecuredCluster set
policies.kubewarden.io/PolicyServer {podSpec: 'spec', images: ['spec.image'], nodeSelector: none}
policy.karmada.io/ClusterPropagationPolicy set
policy.karmada.io/PropagationPolicy set
pool.kubevirt.io/VirtualMachinePool {podSpec: 'spec.virtualMachineTemplate.spec.template.spec', images: ['spec.virtualMachineTemplate.spec.dataVolumeTemplates[*].spec.source.vddk.initImageURL', 'spec.virtualMachineTemplate.spec.template.spec.domain.firmware.kernelBoot.container.image', 'spec.virtualMachineTemplate.spec.template.spec.volumes[*].containerDisk.image']}
postgres-operator.crunchydata.com/PGAdmin {podSpec: 'spec', images: ['spec.image', 'spec.instrumentation.image', 'spec.volumes.additional[*].image.reference'], nodeSelector: none}
postgres-operator.crunchydata.com/PGUpgrade {podSpec: 'spec', images: ['spec.image'], nodeSelector: none}
postgres-operator.crunchydata.com/PostgresCluster row
postgresql.cnpg.io/Cluster row
postgresql.cnpg.io/Pooler {podSpec: 'spec.template.spec'}
production-stack.vllm.ai/VLLMRouter row
production-stack.vllm.ai/VLLMRuntime row
projectcontour.io/ContourDeployment set
provisioning.cattle.io/Cluster set
ps.percona.com/PerconaServerMySQL row
ps.percona.com/PerconaServerMySQLRestore row
psmdb.percona.com/PerconaServerMongoDB row
psmdb.percona.com/PerconaServerMongoDBClusterSync row
pubsubplus.solace.com/PubSubPlusEventBroker {podSpec: 'spec.nodeAssignment[*].spec', within: 'spec.nodeAssignment[*]', images: ['spec.image.repository+tag', 'spec.monitoring.image.repository+tag']}
pulsar.streamnative.io/PulsarBroker {podSpec: 'spec.config.compactionScheduler.pod', images: ['spec.config.compactionScheduler.image', 'spec.config.compactionScheduler.pod.initContainers[*].image', 'spec.config.compactionScheduler.pod.sidecars[*].image', 'spec.image']}, {podSpec: 'spec.initJobPod', images: ['spec.image', 'spec.initJobPod.initContainers[*].image', 'spec.initJobPod.sidecars[*].image']}, {podSpec: 'spec.pod', images: ['spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image']}
pulsar.streamnative.io/PulsarBrokerRevision {podSpec: 'spec.config.compactionScheduler.pod', images: ['spec.config.compactionScheduler.image', 'spec.config.compactionScheduler.pod.initContainers[*].image', 'spec.config.compactionScheduler.pod.sidecars[*].image', 'spec.image']}, {podSpec: 'spec.pod', images: ['spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image']}
pulsar.streamnative.io/PulsarFunctionsWorker {podSpec: 'spec.pod', images: ['spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image']}
pulsar.streamnative.io/PulsarProxy {podSpec: 'spec.pod', images: ['spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image']}
pulumi.com/Stack {podSpec: 'spec.workspaceTemplate.spec.podTemplate.spec', images: ['spec.workspaceTemplate.spec.image']}
pxc.percona.com/PerconaXtraDBCluster row
quay.redhat.com/QuayRegistry set
rabbitmq.com/RabbitmqCluster {podSpec: 'spec.override.statefulSet.spec.template.spec'}, {podSpec: 'spec', images: ['spec.image', 'spec.secretBackend.vault.defaultUserUpdaterImage'], nodeSelector: none}
rabbitmq.com/SuperStreamConsumer {podSpec: 'spec.consumerPodSpec.default'}, {podSpec: 'spec.consumerPodSpec.perRoutingKey.*'}
ray.io/RayCluster {podSpec: 'spec.headGroupSpec.template.spec'}, {podSpec: 'spec.workerGroupSpecs[*].template.spec'}
ray.io/RayCronJob {podSpec: 'spec.jobTemplate.rayClusterSpec.headGroupSpec.template.spec'}, {podSpec: 'spec.jobTemplate.rayClusterSpec.workerGroupSpecs[*].template.spec'}, {podSpec: 'spec.jobTemplate.submitterPodTemplate.spec'}
ray.io/RayJob {podSpec: 'spec.rayClusterSpec.headGroupSpec.template.spec'}, {podSpec: 'spec.rayClusterSpec.workerGroupSpecs[*].template.spec'}, {podSpec: 'spec.submitterPodTemplate.spec'}
ray.io/RayService {podSpec: 'spec.rayClusterConfig.headGroupSpec.template.spec'}, {podSpec: 'spec.rayClusterConfig.workerGroupSpecs[*].template.spec'}
reaper.k8ssandra.io/Reaper row
redhatcop.redhat.io/KeepalivedGroup none
redhatcop.redhat.io/NodeScalingWatermark {podSpec: 'spec', images: ['spec.pausePodImage'], affinity: none}
redis.redis.opstreelabs.in/Redis {podSpec: 'spec', images: ['spec.initContainer.image', 'spec.kubernetesConfig.image', 'spec.redisExporter.image', 'spec.sidecars[*].image']}
redis.redis.opstreelabs.in/RedisCluster row
redis.redis.opstreelabs.in/RedisReplication {podSpec: 'spec', images: ['spec.initContainer.image', 'spec.kubernetesConfig.image', 'spec.redisExporter.image', 'spec.sidecars[*].image']}, {podSpec: 'spec.sentinel', images: ['spec.sentinel.image']}
redis.redis.opstreelabs.in/RedisSentinel {podSpec: 'spec', images: ['spec.initContainer.image', 'spec.kubernetesConfig.image', 'spec.redisExporter.image', 'spec.sidecars[*].image']}
redkey.inditex.dev/Redkey {podSpec: 'spec.override.statefulSet.spec.template.spec', images: ['spec.image']}, {podSpec: 'spec.robin.template.spec', images: ['spec.image', 'spec.robin.image']}
redkey.inditex.dev/RedkeyConfig {podSpec: 'spec.override.statefulSet.spec.template.spec', images: ['spec.image']}
redpanda.vectorized.io/Cluster row
registry.apicur.io/ApicurioRegistry {podSpec: 'spec.deployment.podTemplateSpecPreview.spec'}, {podSpec: 'spec.deployment', images: ['spec.deployment.image'], nodeSelector: none}
registry.apicur.io/ApicurioRegistry3 {podSpec: 'spec.app.podTemplateSpec.spec'}, {podSpec: 'spec.studioUi.podTemplateSpec.spec'}, {podSpec: 'spec.ui.podTemplateSpec.spec'}
renovate-operator.mogenius.com/renovatejob {podSpec: 'spec', images: ['spec.extraVolumes[*].image.reference', 'spec.image']}
repo-manager.pulpproject.org/Pulp row
repo-manager.pulpproject.org/PulpBackup set
resource.streamnative.io/ComputeFlinkDeployment {podSpec: 'spec.communityTemplate.spec.jobManagerPodTemplate.spec', images: ['spec.communityTemplate.spec.image']}, {podSpec: 'spec.communityTemplate.spec.taskManagerPodTemplate.spec', images: ['spec.communityTemplate.spec.image']}
resource.streamnative.io/Secret set
sailoperator.io/Istio row
sailoperator.io/IstioCNI row
sailoperator.io/IstioRevision row
sailoperator.io/ZTunnel row
scheduler.arangodb.com/ArangoProfile {podSpec: 'spec.template.pod', images: ['spec.template.container.containers.*.image', 'spec.template.container.default.image', 'spec.template.pod.volumes[*].image.reference']}
scheduler.arangodb.com/ArangoSchedulerBatchJob {podSpec: 'spec.template.spec'}
scheduler.arangodb.com/ArangoSchedulerCronJob {podSpec: 'spec.jobTemplate.spec.template.spec'}
scheduler.arangodb.com/ArangoSchedulerDeployment {podSpec: 'spec.template.spec'}
scheduler.arangodb.com/ArangoSchedulerPod {podSpec: 'spec'}
schema.kubedb.com/MariaDBDatabase {podSpec: 'spec.init.script.podTemplate.spec'}
schema.kubedb.com/MongoDBDatabase {podSpec: 'spec.init.script.podTemplate.spec'}
schema.kubedb.com/MySQLDatabase {podSpec: 'spec.init.script.podTemplate.spec'}
schema.kubedb.com/PostgresDatabase {podSpec: 'spec.init.script.podTemplate.spec'}
scylla.scylladb.com/NodeConfig set
scylla.scylladb.com/ScyllaCluster row
scylla.scylladb.com/ScyllaDBCluster row
scylla.scylladb.com/ScyllaDBDatacenter row
scylla.scylladb.com/ScyllaDBMonitoring set
seaweed.seaweedfs.com/Seaweed row
seaweed.seaweedfs.com/adminscript {podSpec: 'spec', images: ['spec.image']}
seaweed.seaweedfs.com/seaweedcsidriver {podSpec: 'spec.controller', within: 'spec', images: ['spec.image']}, {podSpec: 'spec.mountService', images: ['spec.image', 'spec.mountService.image'], affinity: none}, {podSpec: 'spec.node', within: 'spec', images: ['spec.image'], affinity: none}
security-profiles-operator.x-k8s.io/SecurityProfilesOperatorDaemon set
security.brcmlabs.com/Gateway {podSpec: 'spec.app', images: ['spec.app.image', 'spec.app.initContainers[*].image', 'spec.app.management.graphman.initContainerImage', 'spec.app.otk.initContainerImage', 'spec.app.portalReference.initContainerImage', 'spec.app.sidecars[*].image']}
sedna.io/FeatureExtractionService {podSpec: 'spec.template.spec'}
sedna.io/FederatedLearningJob {podSpec: 'spec.aggregationWorker.template.spec'}, {podSpec: 'spec.trainingWorkers[*].template.spec'}
sedna.io/IncrementalLearningJob {podSpec: 'spec.deploySpec.template.spec'}, {podSpec: 'spec.evalSpec.template.spec'}, {podSpec: 'spec.trainSpec.template.spec'}
sedna.io/JointInferenceService {podSpec: 'spec.cloudWorker.template.spec'}, {podSpec: 'spec.edgeWorker.template.spec'}
sedna.io/LifelongLearningJob {podSpec: 'spec.deploySpec.template.spec'}, {podSpec: 'spec.evalSpec.template.spec'}, {podSpec: 'spec.trainSpec.template.spec'}
sedna.io/ObjectSearchService {podSpec: 'spec.reidWorkers.template.spec'}, {podSpec: 'spec.trackingWorkers[*].template.spec'}, {podSpec: 'spec.userWorker.template.spec'}
sedna.io/ObjectTrackingService {podSpec: 'spec.reidWorkers.template.spec'}, {podSpec: 'spec.trackingWorkers[*].template.spec'}
sedna.io/ReidJob {podSpec: 'spec.template.spec'}
sedna.io/VideoAnalyticsJob {podSpec: 'spec.template.spec'}
self-node-remediation.medik8s.io/SelfNodeRemediationConfig set
serving.knative.dev/Configuration {podSpec: 'spec.template.spec'}
serving.knative.dev/Revision {podSpec: 'spec'}
serving.knative.dev/Service {podSpec: 'spec.template.spec'}
serving.kserve.io/ClusterServingRuntime {podSpec: 'spec'}, {podSpec: 'spec.workerSpec'}
serving.kserve.io/InferenceGraph set
serving.kserve.io/InferenceService row
serving.kserve.io/LLMInferenceService {podSpec: 'spec.prefill.template'}, {podSpec: 'spec.prefill.worker'}, {podSpec: 'spec.router.scheduler.template'}, {podSpec: 'spec.router.scheduler.tokenizer.template'}, {podSpec: 'spec.template'}, {podSpec: 'spec.worker'}
serving.kserve.io/LLMInferenceServiceConfig {podSpec: 'spec.prefill.template'}, {podSpec: 'spec.prefill.worker'}, {podSpec: 'spec.router.scheduler.template'}, {podSpec: 'spec.router.scheduler.tokenizer.template'}, {podSpec: 'spec.template'}, {podSpec: 'spec.worker'}
serving.kserve.io/LocalModelNodeGroup set
serving.kserve.io/ServingRuntime {podSpec: 'spec'}, {podSpec: 'spec.workerSpec'}
serving.kubeflow.org/InferenceService {podSpec: 'spec.explainer', images: ['spec.explainer.aix.image', 'spec.explainer.alibi.image', 'spec.explainer.art.image']}, {podSpec: 'spec.predictor', images: ['spec.predictor.lightgbm.image', 'spec.predictor.onnx.image', 'spec.predictor.paddle.image', 'spec.predictor.pmml.image', 'spec.predictor.pytorch.image', 'spec.predictor.sklearn.image', 'spec.predictor.tensorflow.image', 'spec.predictor.triton.image', 'spec.predictor.xgboost.image']}, {podSpec: 'spec.transformer'}
shipwright.io/Build {podSpec: 'spec', images: ['spec.output.image', 'spec.source.ociArtifact.image', 'spec.volumes[*].image.reference'], affinity: none}
shipwright.io/BuildRun {podSpec: 'spec', images: ['spec.output.image', 'spec.volumes[*].image.reference'], affinity: none}, {podSpec: 'spec.build.spec', images: ['spec.build.spec.output.image', 'spec.build.spec.source.ociArtifact.image', 'spec.build.spec.volumes[*].image.reference'], affinity: none}
snapshot.kubevirt.io/VirtualMachineSnapshotContent {podSpec: 'spec.source.virtualMachine.spec.template.spec', images: ['spec.source.virtualMachine.spec.dataVolumeTemplates[*].spec.source.vddk.initImageURL', 'spec.source.virtualMachine.spec.template.spec.domain.firmware.kernelBoot.container.image', 'spec.source.virtualMachine.spec.template.spec.volumes[*].containerDisk.image']}
solr.apache.org/SolrCloud row
solr.apache.org/SolrPrometheusExporter {podSpec: 'spec.customKubeOptions.podOptions', images: ['spec.busyBoxImage.repository+tag', 'spec.customKubeOptions.podOptions.initContainers[*].image', 'spec.customKubeOptions.podOptions.sidecarContainers[*].image', 'spec.customKubeOptions.podOptions.volumes[*].source.image.reference', 'spec.image.repository+tag']}
sonataflow.org/SonataFlow {podSpec: 'spec.podTemplate', images: ['spec.podTemplate.container.image']}
sonataflow.org/SonataFlowPlatform {podSpec: 'spec.services.dataIndex.podTemplate', images: ['spec.services.dataIndex.podTemplate.container.image']}, {podSpec: 'spec.services.jobService.podTemplate', images: ['spec.services.jobService.podTemplate.container.image']}
spark.apache.org/SparkApplication {podSpec: 'spec.driverSpec.podTemplateSpec.spec'}, {podSpec: 'spec.executorSpec.podTemplateSpec.spec'}
spark.apache.org/SparkCluster {podSpec: 'spec.masterSpec.statefulSetSpec.template.spec'}, {podSpec: 'spec.workerSpec.statefulSetSpec.template.spec'}
sparkoperator.k8s.io/ScheduledSparkApplication row
sparkoperator.k8s.io/SparkApplication row
ssp.kubevirt.io/KubevirtNodeLabellerBundle set
ssp.kubevirt.io/KubevirtTemplateValidator set
ssp.kubevirt.io/SSP {podSpec: 'spec.templateValidator.placement', within: 'spec', images: ['spec.commonTemplates.dataImportCronTemplates[*].spec.template.spec.source.vddk.initImageURL']}
stackgres.io/SGCluster row
stackgres.io/SGConfig row
stackgres.io/SGDbOps set
stackgres.io/SGDistributedLogs set
stackgres.io/SGShardedCluster row
stackgres.io/SGShardedDbOps set
stackgres.io/SGStream set
stargate.k8ssandra.io/Stargate row
starrocks.com/StarRocksCluster {podSpec: 'spec.starRocksBeSpec', images: ['spec.starRocksBeSpec.image', 'spec.starRocksBeSpec.initContainers[*].image', 'spec.starRocksBeSpec.sidecars[*].image']}, {podSpec: 'spec.starRocksCnSpec', images: ['spec.starRocksCnSpec.image', 'spec.starRocksCnSpec.initContainers[*].image', 'spec.starRocksCnSpec.sidecars[*].image']}, {podSpec: 'spec.starRocksFeProxySpec', images: ['spec.starRocksFeProxySpec.image']}, {podSpec: 'spec.starRocksFeSpec', images: ['spec.starRocksFeSpec.image', 'spec.starRocksFeSpec.initContainers[*].image', 'spec.starRocksFeSpec.sidecars[*].image']}
starrocks.com/StarRocksWarehouse {podSpec: 'spec.template', images: ['spec.template.image', 'spec.template.initContainers[*].image', 'spec.template.sidecars[*].image']}
storage.arangodb.com/ArangoLocalStorage set
storage.dell.com/CSIIsilon {podSpec: 'spec.driver.common', images: ['spec.driver.common.image'], affinity: none}, {podSpec: 'spec.driver.controller', images: ['spec.driver.controller.image'], affinity: none}, {podSpec: 'spec.driver.initContainers[*]', images: ['spec.driver.initContainers[*].image'], affinity: none}, {podSpec: 'spec.driver.node', images: ['spec.driver.node.image'], affinity: none}, {podSpec: 'spec.driver.sideCars[*]', images: ['spec.driver.sideCars[*].image'], affinity: none}
storage.dell.com/CSIPowerMax {podSpec: 'spec.driver.common', images: ['spec.driver.common.image'], affinity: none}, {podSpec: 'spec.driver.controller', images: ['spec.driver.controller.image'], affinity: none}, {podSpec: 'spec.driver.initContainers[*]', images: ['spec.driver.initContainers[*].image'], affinity: none}, {podSpec: 'spec.driver.node', images: ['spec.driver.node.image'], affinity: none}, {podSpec: 'spec.driver.sideCars[*]', images: ['spec.driver.sideCars[*].image'], affinity: none}
storage.dell.com/CSIPowerStore {podSpec: 'spec.driver.common', images: ['spec.driver.common.image'], affinity: none}, {podSpec: 'spec.driver.controller', images: ['spec.driver.controller.image'], affinity: none}, {podSpec: 'spec.driver.initContainers[*]', images: ['spec.driver.initContainers[*].image'], affinity: none}, {podSpec: 'spec.driver.node', images: ['spec.driver.node.image'], affinity: none}, {podSpec: 'spec.driver.sideCars[*]', images: ['spec.driver.sideCars[*].image'], affinity: none}
storage.dell.com/CSIUnity {podSpec: 'spec.driver.common', images: ['spec.driver.common.image'], affinity: none}, {podSpec: 'spec.driver.controller', images: ['spec.driver.controller.image'], affinity: none}, {podSpec: 'spec.driver.initContainers[*]', images: ['spec.driver.initContainers[*].image'], affinity: none}, {podSpec: 'spec.driver.node', images: ['spec.driver.node.image'], affinity: none}, {podSpec: 'spec.driver.sideCars[*]', images: ['spec.driver.sideCars[*].image'], affinity: none}
storage.dell.com/CSIVXFlexOS {podSpec: 'spec.driver.common', images: ['spec.driver.common.image'], affinity: none}, {podSpec: 'spec.driver.controller', images: ['spec.driver.controller.image'], affinity: none}, {podSpec: 'spec.driver.initContainers[*]', images: ['spec.driver.initContainers[*].image'], affinity: none}, {podSpec: 'spec.driver.node', images: ['spec.driver.node.image'], affinity: none}, {podSpec: 'spec.driver.sideCars[*]', images: ['spec.driver.sideCars[*].image'], affinity: none}
storage.dell.com/ContainerStorageModule row
stunner.l7mp.io/Dataplane {podSpec: 'spec', images: ['spec.image'], nodeSelector: none}
support.openshift.io/Sosreport set
syndesis.io/Syndesis set
tailscale.com/DNSConfig row
tailscale.com/ProxyClass {podSpec: 'spec.statefulSet.pod', images: ['spec.statefulSet.pod.tailscaleContainer.image', 'spec.statefulSet.pod.tailscaleInitContainer.image']}
tailscale.com/Recorder {podSpec: 'spec.statefulSet.pod', images: ['spec.statefulSet.pod.container.image']}
tekton.dev/PipelineRun set
tekton.dev/TaskRun set
tempo.grafana.com/TempoMonolithic set
tempo.grafana.com/TempoStack set
temporal.io/TemporalWorkerDeployment {podSpec: 'spec.template.spec'}
temporal.io/WorkerDeployment {podSpec: 'spec.template.spec'}
testworkflows.testkube.io/TestWorkflow row
testworkflows.testkube.io/TestWorkflowTemplate row
trainer.kubeflow.org/ClusterTrainingRuntime {podSpec: 'spec.template.spec.replicatedJobs[*].template.spec.template.spec'}
trainer.kubeflow.org/OptimizationJob {podSpec: 'spec.trainJobTemplate.spec.runtimePatches[*].trainingRuntimeSpec.template.spec.replicatedJobs[*].template.spec.template.spec', images: ['spec.trainJobTemplate.spec.runtimePatches[*].trainingRuntimeSpec.template.spec.replicatedJobs[*].template.spec.template.spec.volumes[*].image.reference', 'spec.trainJobTemplate.spec.trainer.image']}
trainer.kubeflow.org/TrainJob {podSpec: 'spec.runtimePatches[*].trainingRuntimeSpec.template.spec.replicatedJobs[*].template.spec.template.spec', images: ['spec.runtimePatches[*].trainingRuntimeSpec.template.spec.replicatedJobs[*].template.spec.template.spec.volumes[*].image.reference', 'spec.trainer.image']}
trainer.kubeflow.org/TrainingRuntime {podSpec: 'spec.template.spec.replicatedJobs[*].template.spec.template.spec'}
upgrade.cattle.io/Plan {podSpec: 'spec', images: ['spec.prepare.image', 'spec.upgrade.image'], affinity: none, nodeSelector: none}
upstream.pgv2.percona.com/PGAdmin {podSpec: 'spec', images: ['spec.image'], nodeSelector: none}
upstream.pgv2.percona.com/PGUpgrade {podSpec: 'spec', images: ['spec.image', 'spec.initContainers[*].image', 'spec.toPostgresImage'], nodeSelector: none}
upstream.pgv2.percona.com/PostgresCluster row
v2v.kubevirt.io/VMImportConfig set
valkey.io/ValkeyCluster row
valkey.io/ValkeyNode {podSpec: 'spec', images: ['spec.exporter.image', 'spec.image']}
vault.banzaicloud.com/Vault row
vertica.com/VerticaAutoscaler set
vertica.com/VerticaDB {podSpec: 'spec.subclusters[*]', images: ['spec.image']}, {podSpec: 'spec.temporarySubclusterRouting.template', within: 'spec', images: ['spec.image']}
vertica.com/VerticaScrutinize {podSpec: 'spec', images: ['spec.initContainers[*].image', 'spec.volume.image.reference']}
vm.neon.tech/VirtualMachine {podSpec: 'spec', images: ['spec.extraInitContainers[*].image', 'spec.guest.kernelImage', 'spec.guest.rootDisk.image', 'spec.runnerImage']}
vm.neon.tech/VirtualMachineMigration set
volsync.backube/ReplicationDestination set
volsync.backube/ReplicationSource set
vshn.appcat.vshn.io/VSHNKeycloak none
vshn.appcat.vshn.io/XVSHNKeycloak none
wol.pillon.org/WolConfig {podSpec: 'spec.agent', images: ['spec.agent.image'], affinity: none}
work.karmada.io/ClusterResourceBinding set
work.karmada.io/ResourceBinding set
workload.codeflare.dev/AppWrapper set
workload.example.io/Workload {podSpec: 'spec.template.spec'}
workloads.kubeblocks.io/Instance {podSpec: 'spec.template.spec'}
workloads.kubeblocks.io/InstanceSet row
workloads.x-k8s.io/ClusterEngineRuntimeProfile none
workloads.x-k8s.io/RoleBasedGroup none
workloads.x-k8s.io/RoleBasedGroupSet none
workloads.x-k8s.io/RoleBasedGroupWarmup row
zalando.org/ElasticsearchDataSet {podSpec: 'spec.template.spec'}
zookeeper.pravega.io/ZookeeperCluster row
zookeeper.streamnative.io/ZooKeeperCluster {podSpec: 'spec.pod', images: ['spec.image', 'spec.pod.initContainers[*].image', 'spec.pod.sidecars[*].image']}
"""
