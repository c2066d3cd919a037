"""The admission webhook as Kubernetes manifests: what `archfit setup webhook` writes and checks."""
