"""Database URLs in the form that each library expects, and the limits of every connection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

CONNECT_SECONDS: Final = 5
"""Connection timeout. Without it, a stopped server or a lossy network could block a connection for ever."""

SILENT_SECONDS: Final = 30
"""Time after which the machine at the other end of a connection counts as gone. The kernels ask it while the connection is idle, so a
slow statement does not count."""

CONNECTION: Final = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": SILENT_SECONDS // 3,
    "keepalives_interval": SILENT_SECONDS // 3,
    "keepalives_count": 2,
    "tcp_user_timeout": SILENT_SECONDS * 1000,
}
"""Options of libpq. By default, Linux waits a quarter of an hour for the answer of a vanished server, and two hours on idle connections."""

SERVER_LIMITS: Final = {
    "tcp_keepalives_idle": SILENT_SECONDS // 3,
    "tcp_keepalives_interval": SILENT_SECONDS // 3,
    "tcp_keepalives_count": 2,
    "tcp_user_timeout": SILENT_SECONDS * 1000,
}
"""Settings of the server for a connection. By default, a vanished machine keeps its locks for two hours."""


def libpq_url(url: str) -> str:
    """Return the URL in the form that psycopg itself reads, without the driver's name."""
    return re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", url)  # SQLAlchemy writes a space as "+"


def limiting(limits: Mapping[str, int]) -> str:
    """Return the statement that sets the limits for the session. Poolers such as PgBouncer refuse them among a connection's options."""
    settings = ", ".join(f"set_config('{name}', '{limit}', false)" for name, limit in limits.items())
    return f"SELECT {settings}"
