"""What Python programs import, by way of `archfit` itself: nothing here but the seven names of its `__all__` is public.

A call reads neither ARCHFIT_* variables nor archfit.yaml; HTTPS_PROXY, SSL_CERT_FILE, DOCKER_CONFIG, XDG_CACHE_HOME and
HOME count, as for the command. Calls share its cache, and leave standard streams, signals and `archfit last` untouched.
A call keeps nothing open.
"""

from __future__ import annotations

from archfit.api.calls import decide, platforms, transform
from archfit.api.options import Options
from archfit.api.values import ArchfitError, Decision, Result

__all__ = ["ArchfitError", "Decision", "Options", "Result", "decide", "platforms", "transform"]
