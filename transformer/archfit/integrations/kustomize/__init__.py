"""kustomize and kpt: a KRM function."""
