"""Whole systems with archfit in them: `make whole [PART=..]`."""
