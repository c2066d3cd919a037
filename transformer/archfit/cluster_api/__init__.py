"""The cluster at hand, read and written through kubectl or with a pod's service account; no client library."""
