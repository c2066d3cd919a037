"""`archfit inspect` and `archfit login-check`: one image, one registry."""
