"""Processes that service managers start one by one: errors end them with one message, and servers can start later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import psycopg
import pytest

from tests.acceptance.farm import ROOT
from tests.patience import HANG_SECONDS

MIGRATE = ("farm_core.db.migrate", "upgrade")


def _started(words: tuple[str, ...], **settings: str) -> subprocess.Popen[str]:
    pipe, environment = subprocess.PIPE, os.environ | {"PYTHONPATH": str(ROOT)} | settings
    return subprocess.Popen(
        [sys.executable, "-m", *words], cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True
    )


@pytest.mark.parametrize(
    ("words", "settings", "message"),
    [
        (("api",), {"LOG_LEVEL": "loud"}, "farm: wrong settings"),
        (("scheduler",), {"LOG_LEVEL": "loud"}, "farm: wrong settings"),
        (MIGRATE, {"DATABASE_URL": "postgresql://127.0.0.1:one/farm"}, "farm: DATABASE_URL is not an address"),
        (("api", "--data", "/proc/none"), {}, "farm: /proc/none: No such file or directory"),
        (("scheduler",), {"RAY_ADDRESS": ""}, "usage: "),
    ],
)
def test_errors_that_an_operator_can_fix_are_reported_without_a_traceback(
    words: tuple[str, ...], settings: dict[str, str], message: str
) -> None:
    nowhere = {"DATABASE_URL": "postgresql://127.0.0.1:1/farm", "REDIS_URL": "redis://127.0.0.1:1", "JWT_SECRET": ""}
    with _started(words, **{**nowhere, **settings}) as process:
        error = process.communicate(timeout=HANG_SECONDS)[1]
    assert process.returncode in {1, 2}
    assert message in error and "Traceback" not in error


@pytest.mark.service
def test_migrations_wait_for_a_database_that_is_still_starting(empty_database_url: str, tmp_path: Path) -> None:
    (folder,) = parse_qs(urlsplit(empty_database_url).query)["host"]
    sockets = tmp_path / "sockets"
    address = f"{empty_database_url.partition('?')[0]}?host={quote(str(sockets), safe='')}"
    with _started(MIGRATE, DATABASE_URL=address) as process:
        assert process.stderr is not None
        assert "waits for a server to answer" in process.stderr.readline()
        sockets.symlink_to(folder)
        error = process.communicate(timeout=HANG_SECONDS)[1]
    assert process.returncode == 0, error
    with psycopg.connect(empty_database_url) as connection:
        assert connection.execute("SELECT to_regclass('jobs')").fetchone() == ("jobs",)
