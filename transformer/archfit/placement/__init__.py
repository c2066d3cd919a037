"""The decision for one pod: pure, no I/O. `decide` is the way in; `requirement` answers another question."""
