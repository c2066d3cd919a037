"""The decision: architectures, affinity, tolerations. Pure."""
