"""`archfit serve` and `archfit setup webhook`: admission by a server."""
