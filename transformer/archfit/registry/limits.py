"""How much of everything a run may have in flight.

requests        32 to a server, 64 in all; threads likewise
second tries    96 to a server
"""

from __future__ import annotations

SHARE = 32
IN_ALL = 64
BUDGET = 96
NO_THREAD = "this machine does not allow: raise its limit of processes (`ulimit -u`, or the pids limit)"
"""How a message ends whose thread could not be started."""
