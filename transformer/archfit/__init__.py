"""Places pods by the CPU architectures their images support, before manifests reach the cluster."""

__version__ = "0.1.0"
