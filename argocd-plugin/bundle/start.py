"""What the bundle starts: the same as the console script."""

from archfit.cli.main import run

run()
