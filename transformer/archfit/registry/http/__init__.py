"""HTTP to registries and API servers."""
