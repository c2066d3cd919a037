"""`archfit lock`: the lock file, written and refreshed."""
