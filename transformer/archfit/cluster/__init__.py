"""The cluster at hand: its API through kubectl or a service account, its nodes, its custom resource definitions."""
