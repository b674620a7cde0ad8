"""Addresses of databases, as each library reads them."""

from __future__ import annotations

import re
from typing import Final

CONNECT_SECONDS: Final = 5
"""A server that is stopped, or a network that loses its answers, leaves a connection open for minutes or for ever."""


def libpq_url(url: str) -> str:
    """Return the URL as psycopg itself reads it, without a driver's name."""
    return re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", url)  # SQLAlchemy's rendering writes a space as "+"
