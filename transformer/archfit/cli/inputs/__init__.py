"""Manifests as files: what the words of a command line name, and where what becomes of them is written."""
