"""Spark: a pod template, or fields of the operator, whose affinity replaces the template's."""

from __future__ import annotations

from archfit.base.typing_names import Any, Iterator
from archfit.options.settings import Workload
from archfit.workloads.families.notation import row
from archfit.workloads.pods import ANNOTATE

_CONFIGURED = "the Spark configuration in this ConfigMap may name another image" + ANNOTATE
_SPARK = "the Spark operator applies affinity and tolerations through its webhook, which has to be enabled"


def rows() -> Iterator[Workload]:
    """All rows of the family."""
    group = "sparkoperator.k8s.io"
    for kind, spec in (("SparkApplication", "spec"), ("ScheduledSparkApplication", "spec.template")):
        for role in ("driver", "executor"):
            at = f"{spec}.{role}"
            template = f"{at}.template.spec"
            affinity = f"{at}.affinity"
            # The template names the image where the application does not.
            main = f"{at}.image|{spec}.image|{template}.containers[*].image"
            shared: dict[str, Any] = {
                "images": f"{main} {at}.sidecars[*].image {at}.initContainers[*].image",
                "also": f"{spec}.volumes[*].image.reference",
                "default_image": "neither the application nor its driver or executor names it",
                "unseen": ((f"{spec}.sparkConfigMap", _CONFIGURED),),
                "note": _SPARK,
            }
            yield row(
                group, kind, template, there=template, inherits=(at, spec), unless=((affinity, ""),), **shared
            )
            yield row(
                group, kind, at, there=at, metadata=None, inherits=(spec,),
                unless=((template, ""), (affinity, "")), **shared,
            )  # fmt: skip
            yield row(group, kind, at, there=affinity, metadata=None, inherits=(template, spec), **shared)
