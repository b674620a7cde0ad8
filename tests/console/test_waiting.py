"""Pages say why nothing is rendered, and how to fix it."""

from __future__ import annotations

import re
import shutil
from datetime import timedelta
from html import unescape

import pytest
from psycopg.types.json import Jsonb

from tests.console.filled import farm
from tests.console.people import Person

pytestmark = pytest.mark.service

WORKER = """
    INSERT INTO workers (id, node, renderer, device, encoder, seen_at, drained_at)
    VALUES ('w', 'node-a', 'r', 'llvmpipe', 'libx264', %s, %s)
"""


def test_a_render_says_what_it_waits_for(member: Person) -> None:
    world, job = member.api.world, member.api.job()

    def page() -> str:
        return member.text(f"/renders/{job}")

    assert "Waiting: no worker takes work now" in page()
    world.database.execute(WORKER, (world.clock.now(), None))
    assert "Waiting for a worker" in page()
    world.database.execute("INSERT INTO drained_nodes (node, drained_at) VALUES ('node-a', now())")
    assert "Waiting: no worker takes work now" in page()
    world.database.execute("DELETE FROM drained_nodes")
    world.database.execute("UPDATE accounts SET paused_at = now()")
    assert "Waiting: an operator has paused this account" in page()
    world.database.execute("UPDATE queue_state SET paused_at = now()")
    assert "Waiting: an operator has paused the farm" in page()
    world.move(job, "processing")
    assert "Rendering" in page()
    columns = "id, job_id, index, kind, first_frame, frame_count, status, attempt, failures, created_at"
    task = f"INSERT INTO tasks ({columns}) VALUES ('t', %s, 0, 'render', 0, 9, 'pending', 0, 0, now())"
    world.database.execute(task, (job,))
    assert "Waiting: an operator has paused the farm" in page()


def test_a_render_of_an_account_that_fills_the_disk_says_that_it_waits_for_space(
    member: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, job = member.api.world, member.api.job()
    world.account()
    charged = "INSERT INTO object_charges (account_id, key, bytes) VALUES (%s, 'results/a.mp4', 10000)"
    world.database.execute(charged, (member.api.account_id,))
    assert "Waiting: no worker takes work now" in member.text(f"/renders/{job}")
    measured = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda of: measured(of)._replace(total=10_000, free=1_000))
    assert "Waiting: the farm's disk is nearly full, and this account stores much" in unescape(
        member.text(f"/renders/{job}")
    )


def test_a_render_lists_what_its_video_leaves_out(member: Person) -> None:
    world, job = member.api.world, member.api.job()
    notice = {"code": "effect_not_drawn", "message": "The effect Frost is not drawn.", "layer": "Title"}
    world.move(job, "completed", video_key="results/a.mp4", warnings=Jsonb([notice]))
    assert '<ul class="plain-list"><li>The effect Frost is not drawn.</li></ul>' in member.text(f"/renders/{job}")


def test_workers_that_are_gone_stand_below_those_that_work(operator: Person) -> None:
    world = operator.api.world
    world.database.execute(WORKER, (world.clock.now(), None))
    world.database.execute(WORKER.replace("'w'", "'a'"), (world.clock.now() - timedelta(minutes=5), None))
    shown = operator.text("/workers")
    assert shown.index('aria-label="Worker w"') < shown.index('aria-label="Worker a"')


def test_a_worker_that_starts_on_a_drained_node_is_drained(operator: Person) -> None:
    world = operator.api.world
    world.database.execute(WORKER, (world.clock.now(), None))
    world.database.execute("INSERT INTO drained_nodes (node, drained_at) VALUES ('node-a', now())")
    shown = operator.text("/workers")
    assert shown.count('class="state drained"') == 2  # the node and its worker
    assert "Resume its node to give it work." in shown
    assert re.findall(r"<button[^>]*>(Resume[^<]*|Drain[^<]*)<", shown) == ["Resume the node"]
    assert "No worker takes work." in operator.text("/")


def test_the_overview_asks_to_resume_workers_that_were_drained(operator: Person) -> None:
    world = operator.api.world
    world.database.execute(WORKER, (world.clock.now(), world.clock.now()))
    shown = operator.text("/")
    assert "No worker takes work." in shown
    assert "Resume the workers that are drained or in quarantine." in shown
    assert "farm doctor" not in shown


def test_a_failed_render_shows_no_cost(member: Person) -> None:
    names = farm(member)
    assert "costs 0.05" in member.text(f"/renders/{names['queued']}")
    assert "costs" not in member.text(f"/renders/{names['failed']}")
