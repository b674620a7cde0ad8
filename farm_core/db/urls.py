"""Database URLs in the form that each library expects."""

from __future__ import annotations

import re
from typing import Final

CONNECT_SECONDS: Final = 5
"""Connection timeout. Without it, a stopped server or a lossy network could block a connection for ever."""


def libpq_url(url: str) -> str:
    """Return the URL in the form that psycopg itself reads, without the driver's name."""
    return re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", url)  # SQLAlchemy writes a space as "+"
