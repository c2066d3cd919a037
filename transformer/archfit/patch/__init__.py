"""`archfit patch`: the same decisions as patches."""
