"""How many requests a run may have in flight, and how many it may send again.

in flight     32 to one server, 64 in all; as many threads
sent again    96 to one server
"""

from __future__ import annotations

MAX_PER_SERVER = 32
MAX_IN_FLIGHT = 64
MAX_RETRIES_PER_SERVER = 96
NO_THREAD = "this machine does not allow: raise its limit of processes (`ulimit -u`, or the pids limit)"
"""The end of a message about a thread that could not be started."""
