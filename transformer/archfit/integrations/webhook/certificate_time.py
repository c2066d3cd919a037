"""What a check says about the time that a certificate has left."""

from __future__ import annotations

from datetime import datetime

from archfit.integrations.check_lines import Line
from archfit.printable import count

_SOON_DAYS = 30


def time_left(expires: datetime, now: datetime, renew: str) -> Line:
    """Wrong from 30 days before the end on. renew: the remedy."""
    day, days = f"{expires:%Y-%m-%d}", (expires - now).days
    if expires <= now:
        return False, f"the certificate expired on {day}, and pods are created unchanged: {renew}"
    if days < _SOON_DAYS:
        return False, f"the certificate expires on {day}, in {count(days, 'day')}: {renew}"
    return True, f"the certificate is valid until {day}, for {count(days, 'day')}"
