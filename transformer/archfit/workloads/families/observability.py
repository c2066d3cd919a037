"""Metrics, logs and traces: Prometheus, Grafana, VictoriaMetrics, OpenTelemetry, Jaeger, Datadog, Fluent, Loki, Tempo.

Objects of the Prometheus operator are a pod spec with more of their own. The `image` of VictoriaMetrics is documented
as repository and tag. Jaeger: the affinity of a part counts before that of spec, tolerations of both are joined
(util.go). Datadog merges what a part has with its own (override/podtemplatespec.go).
"""

from __future__ import annotations

from archfit.workloads.families.notation import Draft, left, never, parts, row
from archfit.workloads.pods import ANNOTATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_VICTORIA_LOGS = """
operator.victoriametrics.com VLSingle,VLAgent,VTSingle,VMAnomaly spec @.image.repository+tag
operator.victoriametrics.com VLCluster spec.vlinsert @.image.repository+tag
operator.victoriametrics.com VLCluster spec.vlselect @.image.repository+tag
operator.victoriametrics.com VLCluster spec.vlstorage @.image.repository+tag
operator.victoriametrics.com VTCluster spec.insert @.image.repository+tag
operator.victoriametrics.com VTCluster spec.select @.image.repository+tag
operator.victoriametrics.com VTCluster spec.storage @.image.repository+tag
operator.victoriametrics.com VMDistributed spec.zoneCommon.vmagent.spec @.image.repository+tag
  spec.zones[*].vmagent.spec.image.repository+tag
operator.victoriametrics.com VMDistributed spec.zones[*].vmagent.spec @.image.repository+tag
operator.victoriametrics.com VLDistributed spec.zoneCommon.vlagent.spec @.image.repository+tag
  spec.zones[*].vlagent.spec.image.repository+tag
operator.victoriametrics.com VLDistributed spec.zones[*].vlagent.spec @.image.repository+tag
operator.victoriametrics.com VMDistributed,VLDistributed spec.vmauth.spec @.image.repository+tag
  !@.configReloaderImage
"""
_LOGGING = """
logging.banzaicloud.io FluentbitAgent spec @.image.repository+tag @.bufferVolumeImage.repository+tag
  @.configHotReload.image.repository+tag
logging.banzaicloud.io FluentdConfig spec FLUENTD
logging.banzaicloud.io Logging spec.fluentbit @.image.repository+tag @.bufferVolumeImage.repository+tag
  @.configHotReload.image.repository+tag
logging.banzaicloud.io Logging spec.fluentd FLUENTD
logging.banzaicloud.io Logging spec.syslogNG.statefulSet.spec.template.spec
  spec.syslogNG.syslogNGImage.repository+tag !spec.syslogNG.configReloadImage.repository+tag
  spec.syslogNG.metricsExporterImage.repository+tag spec.syslogNG.bufferVolumeMetricsImage.repository+tag
logging.banzaicloud.io Logging spec.syslogNG.configCheckPod spec.syslogNG.syslogNGImage.repository+tag
logging.banzaicloud.io SyslogNGConfig spec.statefulSet.spec.template.spec spec.syslogNGImage.repository+tag
  !spec.configReloadImage.repository+tag spec.metricsExporterImage.repository+tag
  spec.bufferVolumeMetricsImage.repository+tag
logging.banzaicloud.io SyslogNGConfig spec.configCheckPod spec.syslogNGImage.repository+tag
""".replace(
    "FLUENTD",
    "@.image.repository+tag !@.configReloaderImage.repository+tag @.volumeModImage.repository+tag "
    "@.bufferVolumeImage.repository+tag @.sidecarContainers[*].image @.scaling.drain.image.repository+tag "
    "@.scaling.drain.pauseImage.repository+tag",
)
_FLUENT = """
fluentbit.fluent.io FluentBit spec @.image @.positionDB.image.reference
fluentbit.fluent.io Collector spec @.image
fluentd.fluent.io Fluentd spec @.image @.positionDB.image.reference
"""
_BALANCER = "spec.requestsLoadBalancer"
_VICTORIA = "operator.victoriametrics.com"
_VICTORIA_CHOOSES = "the VictoriaMetrics operator chooses it, or a part of it"
_TELEMETRY = "opentelemetry.io"
_TELEMETRY_CHOOSES = "the OpenTelemetry operator chooses it"
_BESIDE = "spec.additionalContainers[*].image"
_LEFT = """
loki.grafana.com LokiStack spec: the Loki operator chooses its images, and its schema has no affinity
tempo.grafana.com TempoStack spec: the Tempo operator chooses its images, and its schema has no affinity
grafana.integreatly.org Grafana spec.external: it describes a Grafana that runs elsewhere
opentelemetry.io Instrumentation spec: its images are copied into the pods of others, when they are made
"""
_NEVER = """
jaegertracing.io Jaeger spec.storage.elasticsearch.image: the Elasticsearch operator makes its pods
"""


def rows() -> Iterator[Draft]:
    """All rows of the family."""
    yield from _prometheus()
    yield from _victoria_metrics()
    yield from parts(_VICTORIA_LOGS, _VICTORIA_CHOOSES)
    for kind in ("VLCluster", "VTCluster"):
        line = f"{_VICTORIA} {kind} {_BALANCER}.spec @.image.repository+tag <{_BALANCER}"
        yield from parts(line, _VICTORIA_CHOOSES, unless=((f"{_BALANCER}.enabled", "false"),))
    yield from _open_telemetry()
    yield from parts(_LOGGING, "the Logging operator chooses it, or a part of it")
    yield from parts(_FLUENT)
    yield from _jaeger()
    yield from _datadog()
    yield from left(_LEFT)
    yield from never(_NEVER)


def _jaeger() -> Iterator[Draft]:
    chosen, spec = "the Jaeger operator chooses it", ("spec",)
    for part in ("allInOne", "agent"):
        line = f"jaegertracing.io Jaeger spec.{part} @.image spec.storage.grpcPlugin.image -nodeSelector"
        yield from parts(line, chosen, inherits=spec)
    ingester = "jaegertracing.io Jaeger spec.ingester @.image spec.storage.grpcPlugin.image"
    yield from parts(ingester, chosen, inherits=spec)
    # The Job that creates the schema of Cassandra has the collector's tolerations, and not its affinity.
    collector = "jaegertracing.io Jaeger spec.collector @.image spec.storage.grpcPlugin.image"
    schema = "spec.storage.cassandraCreateSchema"
    cassandra, off = ("spec.storage.type", "cassandra"), (f"{schema}.enabled", "false")
    yield from parts(f"{collector} !{schema}.image", chosen, inherits=spec, when=(cassandra,), unless=(off,))
    yield from parts(collector, chosen, inherits=spec, when=(cassandra, off))
    yield from parts(collector, chosen, inherits=spec, unless=(cassandra,))
    # The operator injects its agent into the query, which reports its own spans.
    query = "jaegertracing.io Jaeger spec.query @.image spec.storage.grpcPlugin.image"
    silent = (("spec.query.tracingEnabled", "false"),)
    yield from parts(f"{query} !spec.agent.image", chosen, inherits=spec, unless=silent)
    yield from parts(query, chosen, inherits=spec, when=silent)
    for part in ("dependencies", "esIndexCleaner", "esRollover"):
        yield from parts(
            f"jaegertracing.io Jaeger spec.storage.{part} @.image -nodeSelector", chosen, inherits=spec
        )
    yield from parts(
        f"jaegertracing.io Jaeger {schema} @.image -nodeSelector -tolerations",
        chosen,
    )


def _datadog() -> Iterator[Draft]:
    yield row(
        "datadoghq.com", "DatadogAgent", version="v1alpha1", there="spec",
        reason="the Datadog operator serves v1alpha1 no more: write v2alpha1",
    )  # fmt: skip
    for kind, spec in (
        ("DatadogAgent", "spec"), ("DatadogAgentInternal", "spec"), ("DatadogAgentProfile", "spec.config"),
    ):  # fmt: skip
        at = f"{spec}.override.*"
        parts_of_name = (
            "its registry stands in spec.global.registry, and the operator chooses what is missing"
        )
        yield row(
            "datadoghq.com", kind, at, there=at, metadata=None,
            version="v2alpha1" if kind == "DatadogAgent" else "",
            unseen=((f"{at}.image.name", parts_of_name), (f"{spec}.global.fips.image.name", parts_of_name)),
        )  # fmt: skip
        yield from never(f"""
datadoghq.com {kind} {spec}.features.admissionController.agentSidecarInjection.image
  {spec}.features.apm.instrumentation.injector: it is injected into pods of others
""")


def _prometheus() -> Iterator[Draft]:
    grafana = "spec.deployment.spec.template.spec"
    yield row(
        "grafana.integreatly.org", "Grafana", grafana, version="v1beta1", there="spec", main="grafana",
        unless=(("spec.external", ""),), default_image="the Grafana operator chooses it by spec.version",
    )  # fmt: skip
    reloader = "the Prometheus operator adds it to reload configuration" + ANNOTATE
    for kind, main, *helpers in (
        ("Prometheus", "prometheus", "config-reloader", "init-config-reloader"),
        ("PrometheusAgent", "prometheus", "config-reloader", "init-config-reloader"),
        ("Alertmanager", "alertmanager", "config-reloader", "init-config-reloader"),
        ("ThanosRuler", "thanos-ruler", "config-reloader"),
    ):
        thanos = " spec.thanos.image|spec.thanos.baseImage+tag" if kind == "Prometheus" else ""
        yield row(
            "monitoring.coreos.com", kind, "spec", there="spec", metadata="spec.podMetadata", main=main,
            images=f"spec.image|spec.baseImage+tag{thanos}",
            default_image="the Prometheus operator chooses it by spec.version",
            added=[(name, f"container {name}: {reloader}") for name in helpers],
        )  # fmt: skip


def _victoria_metrics() -> Iterator[Draft]:
    for kind in ("VMSingle", "VMAgent", "VMAlert", "VMAlertmanager", "VMAuth"):
        yield _pod(kind, "spec", backup=kind == "VMSingle")
    for part in ("vmselect", "vminsert", "vmstorage"):
        yield _pod("VMCluster", f"spec.{part}", backup=part == "vmstorage")
    yield row(
        _VICTORIA, "VMCluster", f"{_BALANCER}.spec", there=_BALANCER, metadata=None,
        images=f"{_BALANCER}.spec.image.repository+tag", also=f"{_BALANCER}.spec.configReloaderImage",
        unless=((f"{_BALANCER}.enabled", "false"),), default_image=_VICTORIA_CHOOSES,
    )  # fmt: skip


def _pod(kind: str, there: str, *, backup: bool) -> Draft:
    """A pod; the reloader of its configuration and the backup of its data are containers of it."""
    images = f"{there}.image.repository+tag"
    reloader = f"{there}.configReloaderImage"
    always = kind in ("VMAgent", "VMAlert", "VMAlertmanager", "VMAuth")
    return row(
        _VICTORIA, kind, there, there=there, metadata=None, default_image=_VICTORIA_CHOOSES,
        images=f"{images} {there}.vmBackup.image.repository+tag" if backup else images,
        also="" if always else reloader, added=[(reloader, _VICTORIA_CHOOSES + ANNOTATE)] if always else (),
    )  # fmt: skip


def _open_telemetry() -> Iterator[Draft]:
    yield row(
        _TELEMETRY, "OpenTelemetryCollector", "spec", there="spec", metadata=None, images="spec.image", also=_BESIDE,
        unless=(("spec.mode", "sidecar"),), default_image=_TELEMETRY_CHOOSES,
    )  # fmt: skip
    yield row(
        _TELEMETRY, "OpenTelemetryCollector", there="spec.mode", only="sidecar",
        reason="it is copied into the pods of others, when they are made (mode: sidecar)",
    )  # fmt: skip
    allocator = "spec.targetAllocator"
    yield row(
        _TELEMETRY, "OpenTelemetryCollector", allocator, there=allocator, metadata=None, images=f"{allocator}.image",
        unless=((f"{allocator}.enabled", "false"), ("spec.mode", "sidecar")), default_image=_TELEMETRY_CHOOSES,
    )  # fmt: skip
    for kind, also in (("TargetAllocator", _BESIDE), ("OpAMPBridge", "")):
        yield row(
            _TELEMETRY, kind, "spec", there="spec", metadata=None, images="spec.image", also=also,
            default_image=_TELEMETRY_CHOOSES,
        )  # fmt: skip
