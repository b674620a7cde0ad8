"""Wait for a Postgres that is still starting, but not for one that refuses the farm."""

from __future__ import annotations

import time
from typing import Final

from farm_core.db.urls import CONNECT_SECONDS, libpq_url
from farm_core.telemetry import logs

_log = logs.logger(__name__)

STARTING_SECONDS: Final = 30.0
ANSWER_SECONDS: Final = 5
POLL_SECONDS: Final = 0.5


def fault_of(url: str) -> str | None:
    """Return the reason why the server does not answer yet, or None.

    Also return None if the server refuses the farm or the address is invalid: the migrations report these errors.
    """
    import psycopg  # noqa: PLC0415 - slow, and only needed for a database of the operator's own
    from psycopg import pq  # noqa: PLC0415
    from psycopg.conninfo import conninfo_to_dict, make_conninfo  # noqa: PLC0415

    try:
        address = make_conninfo(libpq_url(url), connect_timeout=CONNECT_SECONDS)
    except psycopg.ProgrammingError:
        return None
    if pq.PGconn.ping(address.encode()) not in (pq.Ping.REJECT, pq.Ping.NO_RESPONSE):
        return None
    if not str(conninfo_to_dict(address).get("port", "0")).replace(",", "").isdecimal():
        return None
    try:
        psycopg.connect(address).close()
    except psycopg.OperationalError as error:
        return str(error).partition("\n")[0]
    return None


def wait_until_answering(url: str) -> None:
    """Wait until the server answers, for at most STARTING_SECONDS. Callers continue even then and report any error."""
    deadline = time.monotonic() + STARTING_SECONDS
    waits = False
    while (fault := fault_of(url)) is not None and time.monotonic() < deadline:
        if not waits:
            _log.warning("waits for a server to answer", server="the database", reason=fault, seconds=STARTING_SECONDS)
        waits = True
        time.sleep(POLL_SECONDS)
