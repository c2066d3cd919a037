"""Audits of large clusters, in parts: as Jobs, or as a workflow of Argo Workflows."""
