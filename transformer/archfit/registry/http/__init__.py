"""HTTP to registries and API servers."""

import sys

# httpx loads its command line where click and rich are installed, which takes longer than a warm run.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type] # `import` takes None for "not there"
