"""`./farm jobs|workers|queue|webhooks` on a working farm."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from farm_core import __main__ as farm
from farm_core.cli import screen
from farm_core.clock import SystemClock
from farm_core.db.database import Database
from farm_core.jobs.models import Job, Task, Worker
from farm_core.settings import settings
from farm_core.webhooks.models import Delivery
from tests.farm_core.rows import account, job, template
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service
ROOT = Path(__file__).resolve().parents[3]
OutputOf = Callable[..., str]


@pytest.fixture
def output_of(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Any:
    """Run a command on a farm that is in the middle of a job; return its output."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    settings.cache_clear()
    asyncio.run(_furnished(database_url))

    def run(*words: str) -> str:
        assert farm.main([*words, "--data", str(data_folder)]) == 0
        return capsys.readouterr().out

    yield run
    settings.cache_clear()


async def _furnished(database_url: str) -> None:
    """Create a job of 100 frames, half done after 20 s, with one segment done and one running, and a webhook due
    later."""
    database, now = Database(database_url), SystemClock().now()
    later = now + timedelta(minutes=10)  # the worker is live, and its segment recent, however slow the machine is
    async with database.work() as session:
        made = await template(session, await account(session, "studio"))
        machine: dict[str, Any] = {"node": "n", "renderer": "r", "device": "llvmpipe", "encoder": "libx264"}
        half: dict[str, Any] = {"status": "processing", "progress": 50, "started_at": now - timedelta(seconds=20)}
        session.add_all(
            [
                job(made, id="job_half", frame_count=100, **half),
                job(made, id="job_next", frame_count=100),
                Worker(id="render-0", seen_at=now - timedelta(minutes=5), **machine),
                Worker(id="render-1", seen_at=later, disk_free_bytes=1_500_000_000, **machine),
            ]
        )
        await session.flush()
        held: dict[str, Any] = {"job_id": "job_half", "kind": "render", "worker": "render-1", "created_at": now}
        due = now + timedelta(seconds=6000)
        session.add_all(
            [
                Task(id="t0", index=0, first_frame=0, frame_count=30, status="done", finished_at=later, **held),
                Task(id="t1", index=1, first_frame=30, frame_count=70, status="leased", lease_token="l", **held),
                Delivery(
                    id="d", job_id="job_half", url="http://x.example/", body={}, attempts=[{"status": 503}], due_at=due
                ),
            ]
        )
    await database.close()


def row(printed: str, name: str) -> list[str]:
    """Return the cells of the row that starts with the name."""
    (line,) = [line for line in printed.splitlines() if f"│ {name} " in line]
    return [cell.strip() for cell in line.strip("│ ").split("│")]


def test_jobs_show_how_far_they_are_and_how_long_they_will_take(output_of: OutputOf) -> None:
    printed = output_of("jobs")
    half, waiting = row(printed, "job_half"), row(printed, "job_next")
    assert half[:4] == ["job_half", "studio", "processing", "50 %"]
    assert half[4].endswith(" s")
    assert waiting[2:5] == ["queued", "0 %", ""]


def test_workers_show_what_they_are_at_and_how_fast_they_are(output_of: OutputOf) -> None:
    cells = row(output_of("workers"), "render-1")
    assert cells[1:3] == ["live", "job_half frames 30..99"]
    assert cells[3].endswith(" s")
    assert cells[4] == "0.5"
    assert cells[9] == "1.5 GB"


def test_commands_on_a_machine_with_a_wrong_clock_go_by_the_one_of_postgres(
    output_of: OutputOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SystemClock, "now", lambda _: datetime.now(UTC) + timedelta(hours=1))
    assert row(output_of("workers"), "render-1")[1] == "live"
    assert "in 1 h " in output_of("webhooks")


def test_workers_that_are_gone_come_last(output_of: OutputOf) -> None:
    printed = output_of("workers")
    assert row(printed, "render-0")[1] == "gone"
    assert printed.index("render-1") < printed.index("render-0")


def test_the_queue_says_when_all_will_be_done(output_of: OutputOf) -> None:
    printed = output_of("queue")
    assert row(printed, "studio")[1] == "1"
    assert "170 frames are left; 0.5 a second in the last minute: about 5 min 40 s." in printed


def test_a_webhook_that_waits_says_for_how_long(output_of: OutputOf) -> None:
    cells = row(output_of("webhooks"), "job_half")
    assert cells[1] == "due"
    assert cells[2].startswith("in 1 h ")
    assert cells[4] == "503"


@pytest.mark.parametrize("words", [["jobs"], ["jobs", "job_half"], ["workers"], ["webhooks"], ["queue"]], ids=" ".join)
def test_nothing_is_cut_off_on_a_narrow_terminal(
    output_of: OutputOf, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "40", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    printed = Text.from_ansi(output_of(*words)).plain
    assert "…" not in printed
    assert max(len(line.rstrip()) for line in printed.splitlines()) <= 40
    assert {"workers": "render-1", "queue": "studio"}.get(words[0], "job_half") in printed


def test_a_list_without_entries_says_so(output_of: OutputOf) -> None:
    assert output_of("jobs", "--status", "failed") == "No job matches.\n"
    assert output_of("webhooks", "--status", "dropped") == "No webhook matches.\n"


def test_one_job_names_its_account_as_the_list_does(output_of: OutputOf) -> None:
    assert row(output_of("jobs", "job_half"), "job_half")[1] == "studio"


def test_a_table_is_watched_until_interrupted(output_of: OutputOf, data_folder: Path) -> None:
    assert output_of("queue")
    # As on a terminal: background jobs of a shell, such as this suite, pass on that interrupts are ignored.
    command = [
        "env",
        "--default-signal=INT",
        sys.executable,
        "-m",
        "farm_core",
        "jobs",
        "--watch",
        "--data",
        str(data_folder),
    ]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        try:
            shown = 0
            while shown < 2:
                line = watching.stdout.readline()
                assert line, "it ended by itself"
                shown += "job_half" in line
            watching.send_signal(signal.SIGINT)
            watching.stdout.read()
            assert watching.wait(HANG_SECONDS) == 0
        finally:
            watching.kill()  # otherwise a failing test would wait for ever


def test_an_interrupt_that_a_statement_swallows_ends_the_watch() -> None:
    pictures = []

    async def swallowing() -> str:
        """Ignore a cancellation, as `wait_for` does if it arrives together with the result."""
        pictures.append("a table")
        task = asyncio.current_task()
        assert task is not None
        assert len(pictures) == 1, "the watch goes on after its interrupt"
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        return pictures[-1]

    asyncio.run(screen.show(swallowing, watch=True))
    assert pictures == ["a table"]


def test_texts_of_accounts_neither_command_the_terminal_nor_are_markup(output_of: OutputOf, database_url: str) -> None:
    hostile = "Layer “[/red][link=file:///etc]\x1b]52;c;aGk=\x07\x9b2J\u202e:smile:” is skipped."

    async def warned() -> None:
        database = Database(database_url)
        async with database.work() as session:
            half = await session.get_one(Job, "job_half")
            half.warnings = [{"code": "x", "message": hostile}]
        await database.close()

    asyncio.run(warned())
    printed = output_of("jobs", "job_half")
    assert "Warning: Layer “[/red][link=file:///etc]�]52;c;aGk=��2J�:smile:” is skipped." in printed
    assert not set(printed) & {"\x1b", "\x07", "\x9b", "\u202e"}
