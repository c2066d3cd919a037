"""`archfit explain` and --verbose: why each pod is placed as it is."""
