"""Helm: a post-renderer, and for Helm 4 its plugin."""
