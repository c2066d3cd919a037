"""kustomize, kpt and Flux: a KRM function."""
