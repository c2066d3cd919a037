"""`archfit` itself: standard input, files and folders rewritten; the ResourceList of KRM functions."""
