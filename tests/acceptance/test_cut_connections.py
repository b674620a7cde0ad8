"""Cut a machine off while it holds locks in Postgres: neither side waits for the other one for long."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import psycopg
import pytest

from farm_core.db import schema_update
from tests import machines
from tests.acceptance.fleet import wait_for
from tests.acceptance.stores import stores
from tests.patience import HANG_SECONDS

REFUSAL: Final = machines.refusal()
HOLDER: Final = """
import asyncio, sys
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from farm_core.db.database import Database

async def hold():
    database = Database(sys.argv[1])
    async with database.work() as session:
        await session.execute(text("UPDATE schema_state SET oldest_head = oldest_head"))
        print("holds", flush=True)
        sys.stdin.readline()
        await session.execute(text("SELECT 1"))

try:
    asyncio.run(hold())
except OperationalError:
    print("gave up", flush=True)
"""


@pytest.mark.slow
@pytest.mark.acceptance
@pytest.mark.skipif(REFUSAL is not None, reason=str(REFUSAL))
def test_a_machine_that_is_cut_off_loses_its_locks_and_stops_waiting_for_postgres(tmp_path: Path) -> None:
    with machines.network(tmp_path) as lan, stores(tmp_path, lan.address) as kept:
        schema_update.ensure(kept.database_url)
        node = lan.machine("node")
        (node.folder / "holder.py").write_text(HOLDER)
        (node.folder / "ask").touch()
        url = kept.database_url
        command = f"tail -f /tmp/ask | {sys.executable} /tmp/holder.py {url}"
        node.spawn(command, {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "PYTHONPATH": "."}, "holder")
        log = node.folder / "holder.log"
        wait_for(lambda: "holds" in log.read_text(), HANG_SECONDS, log.read_text)
        node.unplug()
        (node.folder / "ask").write_text("now\n")
        with psycopg.connect(url) as other:
            other.execute(f"SET lock_timeout = '{round(HANG_SECONDS)}s'")
            other.execute("UPDATE schema_state SET oldest_head = oldest_head")
        wait_for(lambda: "gave up" in log.read_text(), HANG_SECONDS, log.read_text)
