"""Image references, their platforms, and where the answers come from."""
