"""What Python programs import, by way of `archfit` itself: nothing here but the seven names of its `__all__` is public.

    manifests ── transform ──> Result         as the command, in one call; asks cache and registries
    images ───── platforms ──> answers        what an image runs on, or why that is not known
    pod spec ─── decide ─────> Decision       pure: the caller brings the answers

    of the process                            what a call does
    options                                   those of the call, and of the file that its `config` names
    ARCHFIT_* variables, archfit.yaml         are not read
    other variables                           HTTPS_PROXY, SSL_CERT_FILE, DOCKER_CONFIG, XDG_CACHE_HOME and HOME
                                              count, as for the command
    cache                                     the command's file, or what `cache` and `noCache` say; calls share it
    deadline                                  `timeout` of the call
    standard streams, signals, exit           untouched; no report is left for `archfit last`
    logging                                   httpcore's lines for debugging are off, as they show headers of answers
    threads, processes                        a call opens and closes what it needs, and keeps nothing

`import archfit` loads this package with the first of its names.
"""

from __future__ import annotations

from archfit.api.calls import decide, platforms, transform
from archfit.api.options import Options
from archfit.api.values import Decision, Result
from archfit.base.errors import ArchfitError

__all__ = ["ArchfitError", "Decision", "Options", "Result", "decide", "platforms", "transform"]
