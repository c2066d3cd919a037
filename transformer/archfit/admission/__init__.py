"""Pods as they enter the cluster: one decision for two doors, a policy in CEL and a webhook."""
