"""Scripts of faults, kills and full disks against the real program: `make -C lab campaign COUNT=600 SEED=1`."""
