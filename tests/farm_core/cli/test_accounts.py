"""`./farm account` and `./farm token`, as a person runs them."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from farm_core import __main__ as farm
from farm_core.db.database import Database
from farm_core.settings import settings
from tests.farm_core.rows import account, job, template
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service
ROOT = Path(__file__).resolve().parents[3]


class Terminal:
    """Run commands on a data folder and record their output."""

    def __init__(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._data = data
        self._capsys = capsys

    def run(self, *words: str) -> tuple[int, str, str]:
        status = farm.main([*words, "--data", str(self._data)])
        printed = self._capsys.readouterr()
        return status, printed.out, printed.err

    def account(self, *words: str) -> Any:
        status, out, err = self.run("account", *words)
        assert status == 0, err
        return json.loads(out)


@pytest.fixture
def terminal(
    data_folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Terminal]:
    monkeypatch.setenv("DATABASE_URL", database_url)
    settings.cache_clear()
    yield Terminal(data_folder, capsys)
    settings.cache_clear()


def test_accounts_live_in_the_data_folders_own_database(data_folder: Path) -> None:
    """Each command is a process, and no server runs before or after it."""

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "farm_core", *words, "--data", str(data_folder)]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        environment.pop("DATABASE_URL", None)
        return subprocess.run(
            command, cwd=data_folder.parent, env=environment, capture_output=True, text=True, check=True
        ).stdout

    made = json.loads(run("account", "create", "ada"))
    token = run("token", "ada", "--ttl", "60").splitlines()[-1]
    secret = data_folder / "jwt-secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    claims = jwt.decode(token, secret.read_text(), algorithms=["HS256"])
    assert claims["sub"] == made["id"]
    assert claims["exp"] - claims["iat"] == 60


def test_a_secret_that_was_lost_signs_nothing(terminal: Terminal, data_folder: Path) -> None:
    terminal.account("create", "ada")
    data_folder.mkdir(exist_ok=True)
    (data_folder / "jwt-secret").touch()
    status, out, err = terminal.run("token", "ada")
    assert (status, out) == (1, "")
    assert "jwt-secret is empty" in err


def test_commands_that_begin_at_once_on_a_new_folder_take_turns(data_folder: Path) -> None:
    """For example `./farm up &` and the command on the next line."""
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    command = [sys.executable, "-m", "farm_core", "account", "create"]
    begun = [
        subprocess.Popen(
            [*command, name, "--data", str(data_folder)],
            cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for name in ("ada", "bob", "cleo")
    ]  # fmt: skip
    assert [(one.communicate(timeout=HANG_SECONDS)[1], one.returncode) for one in begun] == [("", 0)] * 3


def test_accounts_are_created_changed_and_listed(terminal: Terminal) -> None:
    first = terminal.account("create", "bob", "--plan", "free")
    assert (first["plan"], first["limits"]["apiEnabled"]) == ("free", False)
    own = terminal.account("create", "own")
    assert (own["plan"], set(own["limits"].values())) == ("unlimited", {True, None})
    ada = terminal.account(
        "create", "ada", "--plan", "pro", "--limit", "monthlyRenderMinutes=2.5", "--limit", "maxUploadBytes=null"
    )
    assert ada["limits"] == {
        "apiEnabled": True, "monthlyRenderMinutes": 2.5, "monthlyApiRequests": 1000, "maxActiveApiKeys": 5,
        "maxUploadBytes": None,
    }  # fmt: skip
    assert ada["maxStorageBytes"] == 53687091200
    words = ("--plan", "pro", "--limit", "monthlyApiRequests=7", "--limit", "apiEnabled=false")
    changed = terminal.account("set", "bob", *words)
    assert (changed["id"], changed["plan"], changed["limits"]["monthlyApiRequests"]) == (first["id"], "pro", 7)
    assert changed["limits"]["apiEnabled"] is False
    back = terminal.account("set", "bob", "--limit", "monthlyApiRequests=plan", "--limit", "apiEnabled=plan")
    assert (back["limits"]["monthlyApiRequests"], back["limits"]["apiEnabled"]) == (1000, True)
    assert [one["name"] for one in terminal.account("list")] == ["ada", "bob", "own"]
    boss = terminal.account("create", "cleo", "--operator", "--priority", "1", "--job-priority", "2")
    assert (boss["operator"], boss["priority"], boss["jobPriority"]) == (True, 1, 2)


def test_an_account_is_shown_with_what_it_uses(terminal: Terminal, database_url: str) -> None:
    terminal.account("create", "ada")
    none = {"renderedMinutes": 0, "reservedRenderMinutes": 0, "apiRequests": 0, "activeApiKeys": 0, "storedBytes": 0}
    jobs = {"renderJobs": 0, "queuedJobs": 0, "processingJobs": 0}
    assert terminal.account("show", "ada")["use"] == none | jobs
    asyncio.run(_busy(database_url))
    used = terminal.account("show", "studio")["use"]
    assert used == none | {
        "renderJobs": 0,
        "queuedJobs": 2,
        "processingJobs": 0,
        "reservedRenderMinutes": used["reservedRenderMinutes"],
    }
    assert used["reservedRenderMinutes"] > 0


async def _busy(url: str) -> None:
    """Create an account with two waiting jobs."""
    database = Database(url)
    async with database.work() as session:
        made = await template(session, await account(session, "studio"))
        session.add_all([job(made, id="job_one"), job(made, id="job_two")])
    await database.close()


def test_an_impossible_command_is_explained_and_exits_with_1(terminal: Terminal) -> None:
    terminal.account("create", "ada")
    for words in (
        ("account", "create", "ada"),
        ("account", "set", "nobody"),
        ("account", "create", " "),
        ("account", "set", "ada", "--limit", "speed=9"),
        ("account", "set", "ada", "--limit", "maxUploadBytes=many"),
        ("account", "set", "ada", "--limit", "maxUploadBytes=-1"),
        ("token", "nobody"),
    ):
        status, out, err = terminal.run(*words)
        assert (status, out) == (1, ""), words
        assert err.startswith("farm: "), words
