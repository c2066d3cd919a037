"""The one way from an image string to its platforms: overrides, lock file, cache, registry."""
