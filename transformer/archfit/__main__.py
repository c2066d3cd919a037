"""`python -m archfit`."""

from archfit.cli import run

run()
