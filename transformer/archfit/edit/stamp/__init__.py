"""In-place runs with `--stamp`: an earlier run's additions are recorded, taken back and written anew."""
