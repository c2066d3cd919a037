"""The block that says how to install archfit, between its markers in README.md and docs/install.md.

    python scripts/repository_address.py URL      renews it in every page, also with the address that is set already

Until the repository's address is set, nothing is published and the block installs from a checkout.

The markers are `<!-- install -->` and `<!-- /install -->`, each on a line of its own.
"""

from __future__ import annotations

import re

CHECKOUT = """\
archfit is not published yet. Install it from a checkout of this repository, with Python 3.11 or later:

```sh
pipx install .              # or: uv tool install .      or, in a virtual environment: pip install .
archfit --version
```

`pipx install '.[audit,redis,serve,zstd]'` installs the extras, too.
"""
PUBLISHED = """\
With Python 3.11 or later:

```sh
pipx install archfit        # or: uv tool install archfit      or, in a virtual environment: pip install archfit
archfit --version
```

`pipx install 'archfit[audit,redis,serve,zstd]'` installs the extras, too. In a checkout, write `.` for `archfit`.
"""
_BLOCK = re.compile(r"(?ms)^(<!-- install -->\n).*?^(<!-- /install -->)$")


def block(*, published: bool) -> str:
    """The block in Markdown, with a line ending after its last line."""
    return PUBLISHED if published else CHECKOUT


def updated(page: str, *, published: bool) -> str:
    """The page with its block renewed; a page without markers stays as it is."""
    return _BLOCK.sub(lambda markers: f"{markers[1]}{block(published=published)}{markers[2]}", page)
