"""Flux: patches for its objects, as it runs no functions."""
