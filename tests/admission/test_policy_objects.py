"""The Kubernetes objects of a policy."""

from __future__ import annotations

from archfit.admission.policy.objects import policy_objects
from archfit.admission.policy.policy_settings import PolicySettings
from archfit.options.settings import Options


def test_the_policy_has_the_chosen_version_and_name():
    (policy, *_) = policy_objects({}, Options(), PolicySettings(name="arch.example", api_version="v1beta1"))
    assert policy["apiVersion"] == "admissionregistration.k8s.io/v1beta1"
    assert policy["metadata"]["name"] == "arch.example"
