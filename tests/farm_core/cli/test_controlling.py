"""`./farm queue|workers|jobs|account` as controls, from the command line."""

from __future__ import annotations

import asyncio
import getpass
import json
import shutil
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from farm_core import __main__ as farm
from farm_core.audit import log
from farm_core.db.columns import utc_now
from farm_core.db.database import Database
from farm_core.jobs.judge import DISK_RESERVED
from farm_core.jobs.models import Job, JobEvent, Task, Worker
from farm_core.settings import settings
from tests.farm_core.rows import account, job, template

pytestmark = pytest.mark.service
Command = Callable[..., tuple[int, str, str]]


def on(url: str, act: Callable[[Database], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        database = Database(url)
        try:
            return await act(database)
        finally:
            await database.close()

    return asyncio.run(run())


@pytest.fixture
def command(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Command]:
    """Run a command on a farm with three jobs of one account and a worker; return status, output and errors."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    settings.cache_clear()
    on(database_url, _furnish)

    def run(*words: str) -> tuple[int, str, str]:
        status = farm.main([*words, "--data", str(data_folder)])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    yield run
    settings.cache_clear()


async def _furnish(database: Database) -> None:
    now = utc_now()
    async with database.work() as session:
        made = await template(session, await account(session, "studio"))
        broken = {"status": "failed", "error": "Layer Logo cannot be decoded."}
        times = {"started_at": now - timedelta(seconds=30), "finished_at": now}
        session.add_all(
            [
                job(made, id="job_bad", created_at=now - timedelta(seconds=90), **broken, **times),
                job(made, id="job_one"),
                job(made, id="job_two"),
                Worker(
                    id="render-1", node="n", renderer="r", device="d", encoder="e", seen_at=now + timedelta(minutes=10)
                ),
            ]
        )
        await session.flush()
        seen = {"task": 0, "attempt": 1, "kind": "crash", "worker": "render-1", "message": "The worker died."}
        session.add_all(
            [
                Task(
                    id="job_bad.0", job_id="job_bad", index=0, kind="render", first_frame=0, frame_count=90, status="failed",
                    error="Layer Logo cannot be decoded.", report={"seconds": 3.5, "stages_ms": {"draw": 2500, "encode": 900}},
                ),
                JobEvent(job_id="job_bad", event="plan", status="processing", at=now - timedelta(seconds=28)),
                JobEvent(job_id="job_bad", event="retry task", status="processing", at=now, detail=seen),
                JobEvent(
                    job_id="job_bad", event="copy segment", status="processing", at=now,
                    detail={"task": 1, "worker": "render-1"},
                ),
            ]
        )  # fmt: skip


def statuses(url: str) -> dict[str, str]:
    async def read(database: Database) -> dict[str, str]:
        async with database.work() as session:
            return {one.id: one.status for one in await session.scalars(select(Job))}

    found: dict[str, str] = on(url, read)
    return found


def test_jobs_are_counted_before_they_are_cancelled_and_nothing_happens_unasked(
    command: Command, database_url: str
) -> None:
    status, out, err = command("jobs", "cancel", "--account", "studio")
    assert (status, out) == (1, "2 jobs match; those that have not ended will be cancelled.\n")
    assert "add --yes" in err
    assert "cancelled" not in statuses(database_url).values()
    assert command("jobs", "cancel", "--account", "studio", "--yes")[1].endswith("2 jobs changed.\n")
    assert statuses(database_url) == {"job_bad": "failed", "job_one": "cancelled", "job_two": "cancelled"}


@pytest.mark.parametrize("words", [("cancel",), ("retry",), ("priority", "3")])
def test_a_name_of_no_job_is_an_error_and_nothing_is_done(
    command: Command, database_url: str, words: tuple[str, ...]
) -> None:
    before = statuses(database_url)
    status, out, err = command("jobs", *words, "job_one", "job_onne", "--yes")
    assert (status, out) == (1, "")
    assert "there is no job 'job_onne'; `./farm jobs` lists the last ones" in err
    assert statuses(database_url) == before


def test_without_a_filter_all_must_be_given(command: Command) -> None:
    status, _, err = command("jobs", "cancel", "--yes")
    assert status == 1
    assert "--all" in err


def test_failed_jobs_are_retried_and_jobs_ranked(command: Command, database_url: str) -> None:
    assert "No job matches." in command("jobs", "retry", "--status", "failed", "--newer-than", "1m", "--yes")[1]
    asked = "1 job matches; each that was not retried before is created again as a new job.\n1 job changed.\n"
    assert command("jobs", "retry", "--status", "failed", "--newer-than", "1h", "--yes")[1] == asked
    assert sorted(statuses(database_url).values()) == ["failed", "queued", "queued", "queued"]
    assert "1 job changed." in command("jobs", "priority", "-3", "job_one", "--yes")[1]
    status, _, err = command("jobs", "priority", "job_one", "--yes")
    assert (status, "name the priority first" in err) == (1, True)


def test_one_screen_tells_why_a_job_failed_and_where_its_time_went(command: Command) -> None:
    _, out, _ = command("jobs", "show", "job_bad")
    assert "Failed: Layer Logo cannot be decoded." in out
    assert "retry task 0, attempt 1: crash: The worker died. on render-1" in out
    assert "copy segment 1 on render-1" in out
    phases = {cells[1].strip(): cells[2:4] for line in out.splitlines() if len(cells := line.split("│")) == 5}
    assert phases["queue"][0].strip() == "60.00"
    assert phases["render"][1].strip() == "draw 2.50, encode 0.90"
    assert phases["total"][0].strip() == "90.00"


def test_the_queue_and_accounts_are_paused_and_shown_as_paused(command: Command) -> None:
    assert command("queue", "pause")[1] == "The queue is paused. Segments under way finish.\n"
    assert command("queue", "pause", "--account", "studio")[1].startswith("Account studio is paused.")
    out = command("queue")[1]
    assert "The queue is paused since" in out
    assert "paused │" in out
    resumed = command("queue", "resume", "--account", "studio")[1]
    assert resumed == "Account studio goes on. The whole queue is paused.\n"
    assert command("queue", "resume", "--account", "studio")[1].startswith("Account studio was not paused.")
    assert command("queue", "resume")[1] == "The queue goes on.\n"
    assert command("queue", "resume")[1] == "The queue was not paused.\n"
    assert "paused" not in command("queue")[1]


async def job_one_met_the_reserve(database: Database) -> None:
    async with database.work() as session:
        (await session.get_one(Task, "job_one.0")).error = DISK_RESERVED


async def job_one_found_storage_away(database: Database) -> None:
    async with database.work() as session:
        (await session.get_one(Job, "job_one")).status = "processing"
        session.add(
            Task(
                id="job_one.0", job_id="job_one", index=0, kind="render", first_frame=0, frame_count=90, status="pending",
                error="Storage could not be reached.", not_before=utc_now(),
            )
        )  # fmt: skip


def test_a_job_whose_account_fills_the_disk_says_that_it_waits_for_space(
    command: Command, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fill(database: Database) -> None:
        async with database.work() as session:
            await account(session, "other")
            charged = "INSERT INTO object_charges (account_id, key, bytes) SELECT account_id, 'k', 1001 FROM jobs WHERE id = 'job_one'"
            await session.execute(text(charged))

    on(database_url, fill)
    assert "Waits for a worker" in command("jobs", "show", "job_one")[1]
    measured = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda of: measured(of)._replace(total=10_000, free=1_000))
    shown = " ".join(command("jobs", "show", "job_one")[1].split())
    assert "Waits: the disk of the storage is nearly full, and its account stores much. Free space" in shown


def test_a_job_says_what_it_waits_for_and_what_to_do(command: Command, database_url: str) -> None:
    def shown() -> str:
        return " ".join(command("jobs", "show", "job_one")[1].split())

    assert "Waits for a worker. `./farm queue` shows what else waits" in shown()
    on(database_url, job_one_found_storage_away)
    assert "Waits: storage did not answer, or a disk is full. It tries again every few seconds" in shown()
    on(database_url, job_one_met_the_reserve)
    assert "Waits: a disk has only its reserve of free space, and the job's files are large. Free space" in shown()
    command("workers", "drain", "--node", "n")
    assert "Waits: no worker takes work. `./farm workers` shows why" in shown()
    command("queue", "pause", "--account", "studio")
    assert "`./farm queue resume --account studio` lets it go on." in shown()
    command("account", "suspend", "studio", "--yes")
    assert "`./farm account unsuspend studio` lets it go on." in shown()
    command("queue", "pause")
    assert "Waits: the farm is paused. `./farm queue resume` lets it go on." in shown()
    assert "Waits" not in command("jobs", "show", "job_bad")[1]

    async def planned(database: Database) -> None:
        async with database.work() as session:
            (await session.get_one(Job, "job_two")).status = "processing"
            waits = Task(
                id="job_two.0", job_id="job_two", index=0, kind="render", first_frame=0, frame_count=9, status="pending"
            )
            held = Task(
                id="job_two.1", job_id="job_two", index=1, kind="render", first_frame=9, frame_count=9, status="leased"
            )
            held.lease_token, held.lease_expires_at = "l", utc_now()
            session.add_all([waits, held])

    on(database_url, planned)
    assert "Waits" not in command("jobs", "show", "job_two")[1]

    async def handed_back(database: Database) -> None:
        async with database.work() as session:
            task = await session.get_one(Task, "job_two.1")
            task.status, task.lease_token, task.lease_expires_at = "pending", None, None

    on(database_url, handed_back)
    assert "Waits: the farm is paused." in command("jobs", "show", "job_two")[1]


def test_jobs_are_counted_anew(command: Command, database_url: str) -> None:
    async def damaged(database: Database) -> None:
        async with database.work() as session:
            await session.execute(text("UPDATE account_queues SET queued = 7, next_job_id = NULL WHERE queued > 0"))

    on(database_url, damaged)
    assert command("queue", "recount", "--account", "studio")[1].endswith("The counts of 1 were wrong.\n")
    assert command("queue", "recount")[1].endswith("The counts of 0 were wrong.\n")
    listed = command("audit", "--action", "recount")[1]
    assert listed.count("│ recount") == 2
    assert "│ queue" in listed


def test_a_paused_queue_does_not_say_when_it_will_be_done(command: Command, database_url: str) -> None:
    async def half_drawn(database: Database) -> None:
        async with database.work() as session:
            task = await session.get_one(Task, "job_bad.0")
            task.status, task.worker, task.finished_at = "done", "render-1", utc_now()

    on(database_url, half_drawn)
    assert "in the last minute: about" in command("queue")[1]
    command("queue", "pause")
    assert "about" not in command("queue")[1]


def test_every_control_takes_yes(command: Command) -> None:
    """Scripts pass it to all controls."""
    for words in (("queue", "pause"), ("queue", "resume", "--account", "studio"), ("workers", "drain", "render-1")):
        assert command(*words, "--yes")[0] == 0


def test_workers_are_drained_and_resumed(command: Command) -> None:
    drained = "render-1: gets no new segments, and finishes those that it holds\n"
    assert command("workers", "drain", "render-1")[1] == drained
    status, table, reason = command("workers")
    assert (status, "│ drained │" in table, "no render worker takes work" in reason) == (1, True, True)
    assert command("workers", "resume", "--node", "n")[1] == "render-1: gets segments again\n"
    assert command("workers")[::2] == (0, "")
    command("workers", "drain", "--node", "n")
    assert command("workers")[0] == 1
    assert "`./farm workers resume --node n` gives it work" in command("workers", "resume", "render-1")[2]
    assert "│ drained │" in command("workers")[1]
    status, _, err = command("workers", "drain")
    assert (status, "--node" in err) == (1, True)
    assert "There is no worker render-9" in command("workers", "restart", "render-9")[2]


def test_a_farm_whose_workers_are_gone_says_what_starts_some(command: Command, database_url: str) -> None:
    async def gone(database: Database) -> None:
        async with database.work() as session:
            (await session.get_one(Worker, "render-1")).seen_at = utc_now() - timedelta(hours=1)

    on(database_url, gone)
    status, _, reason = command("workers")
    assert (status, "no render worker runs: `./farm up`" in reason) == (1, True)


def test_only_a_completed_job_is_verified(command: Command) -> None:
    assert command("verify", "job_none")[::2] == (
        1,
        "farm: there is no job 'job_none'; `./farm jobs` lists the last ones\n",
    )
    status, _, reason = command("verify", "job_bad")
    assert (status, "job_bad is failed: only a completed job" in reason) == (1, True)


def test_accounts_become_operators_and_are_suspended_and_deleted_and_all_is_audited(
    command: Command, database_url: str
) -> None:
    shown = json.loads(command("account", "set", "studio", "--operator", "--priority", "2", "--job-priority", "3")[1])
    assert (shown["operator"], shown["priority"], shown["jobPriority"]) == (True, 2, 3)
    assert json.loads(command("account", "suspend", "studio")[1])["suspended"]
    status, out, _ = command("account", "delete", "studio", "--yes")
    report = json.loads(out[out.index("{") :])
    assert (status, report["cancelled"], report["rows"]["jobs"]) == (0, 2, 3)

    async def read(database: Database) -> list[tuple[str, str, str]]:
        async with database.work() as session:
            return [(entry.who, entry.role, entry.action) for entry in await log.page(session)]

    who = (getpass.getuser(), "command line")
    actions = [
        "delete", "cancel", "suspend", "suspend", "set priority of new jobs", "set priority", "make operator",
    ]  # fmt: skip
    assert on(database_url, read) == [(*who, action) for action in actions]


def test_a_segment_of_a_job_in_processing_is_rendered_again(command: Command, database_url: str) -> None:
    async def render(database: Database) -> None:
        async with database.work() as session:
            one = await session.get_one(Job, "job_one")
            one.status, one.started_at = "processing", utc_now()
            session.add(
                Task(
                    id="job_one.0", job_id="job_one", index=0, kind="render", first_frame=0, frame_count=90, status="done",
                    segment_key="segments/a.mp4", report={"seconds": 1},
                )
            )  # fmt: skip

    on(database_url, render)
    assert command("jobs", "requeue", "job_one", "0")[:2] == (0, "Segment 0 of job_one is rendered again.\n")

    async def status(database: Database) -> str:
        async with database.work() as session:
            return (await session.get_one(Task, "job_one.0")).status

    assert on(database_url, status) == "pending"
    assert "Segment 5 of job_one" in command("jobs", "requeue", "job_one", "5")[2]
    assert "name a job and a segment" in command("jobs", "requeue", "job_one")[2]


def test_the_audit_log_names_who_did_what(command: Command) -> None:
    command("queue", "pause")
    command("jobs", "cancel", "job_one", "--yes")
    lines = command("audit")[1].splitlines()
    assert [("cancel" in line, getpass.getuser() in line) for line in lines if "job" in line][:1] == [(True, True)]
    assert "pause" in command("audit", "--action", "pause")[1]
    assert "cancel" not in command("audit", "--action", "pause")[1]


def test_the_audit_log_names_accounts_and_who_was_let_in(command: Command) -> None:
    command("account", "create", "ada", "--operator", "--limit", "maxUploadBytes=7")
    command("token", "ada", "--ttl", "60")
    assert "no farm runs on" in command("console-link", "ada", "--read-only")[2]
    shown = command("audit")[1]
    for action, detail in (
        ("create", "name ada, plan unlimited"),
        ("make operator", "name ada"),
        ("make token", "name ada, seconds 60"),
        ("make sign-in link", "name ada, read only True"),
    ):
        assert [line for line in shown.splitlines() if f"│ {action} " in line and f"│ {detail} " in line], action


def test_a_list_of_jobs_of_nobody_is_refused(command: Command) -> None:
    status, _, err = command("jobs", "--account", "nobody")
    assert (status, "there is no account 'nobody'" in err) == (1, True)


def test_a_retry_of_a_job_that_has_not_failed_is_no_action_of_the_audit_log(command: Command) -> None:
    assert command("retry", "job_one")[0] == 1
    assert "retry" not in command("audit")[1]
