"""Whole systems with archfit in them: `make -C lab whole [PART=..]`."""
