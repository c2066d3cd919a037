"""`archfit serve`: admission by a server."""
