"""What everything stands on; no word of Kubernetes or of images."""
