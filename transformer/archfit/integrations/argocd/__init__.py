"""Argo CD: a config management plugin."""
