"""kopf: an operator that places Deployments with the label `place: by-architecture`.

pip install kopf archfit
kopf run --standalone --all-namespaces kopf_operator.py
"""

from typing import Any

import kopf

import archfit

LABELS = {"place": "by-architecture"}


@kopf.on.create("apps", "v1", "deployments", labels=LABELS)
@kopf.on.update("apps", "v1", "deployments", labels=LABELS, field="spec.template.spec.containers")
def place(spec: kopf.Spec, patch: kopf.Patch, **_: Any) -> None:
    pod_spec = spec["template"]["spec"]
    images = [one["image"] for one in (*pod_spec["containers"], *pod_spec.get("initContainers", ()))]
    try:
        decision = archfit.decide(pod_spec, archfit.platforms(images))
    except archfit.ArchfitError as error:
        if error.kind == "unknown":
            # A registry is down. kopf makes an Event of the text, so it does not say what a server answered.
            raise kopf.TemporaryError("the images are not known", delay=60) from None
        raise kopf.PermanentError(str(error)) from None
    placed = decision.applied(pod_spec)
    added = {field: placed[field] for field in ("affinity", "tolerations") if field in placed}
    if decision.patch:
        patch.spec["template"] = {"spec": added}
