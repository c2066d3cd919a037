"""Scripts of faults, kills and full disks against the real program: `make campaign SECONDS=600 SEED=1`."""
