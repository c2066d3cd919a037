"""`python -m archfit`."""

from archfit.cli.main import run

run()
