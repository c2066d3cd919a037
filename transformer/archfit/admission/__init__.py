"""Pods as they enter the cluster: what the policy and the webhook share."""
