"""CustomResourceDefinitions into rows for `workloads:`."""
