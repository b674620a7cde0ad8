"""Addresses of databases, as each library reads them."""

from __future__ import annotations

import re


def libpq_url(url: str) -> str:
    """Return the URL as psycopg itself reads it, without a driver's name."""
    return re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", url)  # SQLAlchemy's rendering writes a space as "+"
