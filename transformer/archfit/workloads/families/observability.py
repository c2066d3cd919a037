"""Logs, metrics and traces: VictoriaLogs and VictoriaTraces, Jaeger, Datadog, Fluent, Loki, Tempo.

Jaeger: the affinity of a part counts before that of spec, tolerations of both are joined (util.go). Datadog merges
what a part has with its own (override/podtemplatespec.go).
"""

from __future__ import annotations

from archfit.base.typing_names import Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import left, never, parts, row

_VICTORIA = """
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
  @.configReloaderImage
"""
_LOGGING = """
logging.banzaicloud.io FluentbitAgent spec @.image.repository+tag @.bufferVolumeImage.repository+tag
  @.configHotReload.image.repository+tag
logging.banzaicloud.io FluentdConfig spec FLUENTD
logging.banzaicloud.io Logging spec.fluentbit @.image.repository+tag @.bufferVolumeImage.repository+tag
  @.configHotReload.image.repository+tag
logging.banzaicloud.io Logging spec.fluentd FLUENTD
logging.banzaicloud.io Logging spec.syslogNG.statefulSet.spec.template.spec
  spec.syslogNG.syslogNGImage.repository+tag spec.syslogNG.configReloadImage.repository+tag
  spec.syslogNG.metricsExporterImage.repository+tag spec.syslogNG.bufferVolumeMetricsImage.repository+tag
logging.banzaicloud.io Logging spec.syslogNG.configCheckPod spec.syslogNG.syslogNGImage.repository+tag
logging.banzaicloud.io SyslogNGConfig spec.statefulSet.spec.template.spec spec.syslogNGImage.repository+tag
  spec.configReloadImage.repository+tag spec.metricsExporterImage.repository+tag
  spec.bufferVolumeMetricsImage.repository+tag
logging.banzaicloud.io SyslogNGConfig spec.configCheckPod spec.syslogNGImage.repository+tag
""".replace(
    "FLUENTD",
    "@.image.repository+tag @.configReloaderImage.repository+tag @.volumeModImage.repository+tag "
    "@.bufferVolumeImage.repository+tag @.sidecarContainers[*].image @.scaling.drain.image.repository+tag "
    "@.scaling.drain.pauseImage.repository+tag",
)
_FLUENT = """
fluentbit.fluent.io FluentBit spec @.image @.positionDB.image.reference
fluentbit.fluent.io Collector spec @.image
"""
_BALANCER = "spec.requestsLoadBalancer"


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    yield from parts(_VICTORIA, "the VictoriaMetrics operator chooses it, or a part of it")
    for kind in ("VLCluster", "VTCluster"):
        line = f"operator.victoriametrics.com {kind} {_BALANCER}.spec @.image.repository+tag <{_BALANCER}"
        yield from parts(
            line, "the VictoriaMetrics operator chooses it, or a part of it",
            unless=((f"{_BALANCER}.enabled", "false"),),
        )  # fmt: skip
    yield from parts(_LOGGING, "the Logging operator chooses it, or a part of it")
    yield from parts(_FLUENT, "the Fluent operator chooses it")
    yield from _jaeger()
    yield from _datadog()
    for group, kind in (("loki.grafana.com", "LokiStack"), ("tempo.grafana.com", "TempoStack")):
        yield left(
            group,
            kind,
            "spec",
            f"the {kind[:-5]} operator chooses its images, and its schema has no affinity",
        )


def _jaeger() -> Iterator[Workload]:
    chosen, spec = "the Jaeger operator chooses it", ("spec",)
    for part in ("allInOne", "agent"):
        line = f"jaegertracing.io Jaeger spec.{part} @.image spec.storage.grpcPlugin.image -nodeSelector"
        yield from parts(line, chosen, inherits=spec)
    for part in ("collector", "query", "ingester"):
        line = f"jaegertracing.io Jaeger spec.{part} @.image spec.storage.grpcPlugin.image"
        yield from parts(line, chosen, inherits=spec)
    for part in ("dependencies", "esIndexCleaner", "esRollover"):
        yield from parts(
            f"jaegertracing.io Jaeger spec.storage.{part} @.image -nodeSelector", chosen, inherits=spec
        )
    yield from parts(
        "jaegertracing.io Jaeger spec.storage.cassandraCreateSchema @.image -nodeSelector -tolerations",
        chosen,
    )
    yield never(
        "jaegertracing.io",
        "Jaeger",
        "the Elasticsearch operator makes its pods",
        "spec.storage.elasticsearch.image",
    )


def _datadog() -> Iterator[Workload]:
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
        yield never(
            "datadoghq.com", kind, "it is injected into pods of others",
            f"{spec}.features.admissionController.agentSidecarInjection.image "
            f"{spec}.features.apm.instrumentation.injector",
        )  # fmt: skip
