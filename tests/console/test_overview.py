"""Overview of the farm: its problems in order of urgency, and how to fix them."""

from __future__ import annotations

import re
import shutil
import time
from collections import namedtuple
from datetime import timedelta

import pytest

from console.farm_state.snapshots import LIVE_SECONDS
from tests.console.people import Person

Usage = namedtuple("Usage", "total used free")
WORKER = """
    INSERT INTO workers (id, node, renderer, device, encoder, seen_at, quarantined_until)
    VALUES (%s, 'node-a', 'r', 'llvmpipe', 'libx264', %s, %s)
"""


def notices(person: Person) -> list[tuple[str, str]]:
    """Return kind and title of each notice, from the top."""
    return re.findall(r'<div class="notice (\w+)"><div><strong>(.*?)</strong>', person.text("/"))


def test_problems_that_stop_renders_come_first_and_a_missing_gpu_last(
    operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = operator.api.world
    now = world.clock.now()
    world.database.execute(WORKER, ("worker-live", now, None))
    world.database.execute(WORKER, ("worker-resting", now, now + timedelta(hours=1)))
    world.database.execute("UPDATE queue_state SET paused_at = %s", (now,))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10_000_000_000, 9_960_000_000, 40_000_000))
    assert notices(operator) == [
        ("bad", "Only 40.0 MB of the disk are free."),
        ("bad", "The whole queue is paused."),
        ("warn", "1 worker rests."),
        ("warn", "No worker has a GPU."),
    ]
    shown = operator.text("/")
    assert "Once it is full, all uploads are refused and all renders wait." in shown
    assert "or an operator quarantined them. They take work again after their rest." in shown


def test_a_disk_that_fills_up_is_named_at_once(operator: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "of the disk are free" not in operator.text("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10_000_000_000, 9_997_000_000, 3_000_000))
    time.sleep(LIVE_SECONDS)
    assert notices(operator)[0] == ("bad", "Only 3.0 MB of the disk are free.")


def test_a_disk_without_its_reserve_is_named_before_it_is_full(
    operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10_000_000_000, 9_100_000_000, 900_000_000))
    assert ("bad", "Only 900 MB of the disk are free.") in notices(operator)
    assert "renders of accounts that store much may wait" in operator.text("/")


def test_accounts_that_wait_for_disk_space_are_counted(operator: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """If every account stores more than the reserve, all renders wait until somebody frees space."""
    world = operator.api.world
    for name, stored in (("full", 2_000_000_000), ("large", 3_000_000_000), ("idle", 0)):
        someone = world.account(name)
        someone.job()
        world.database.execute(
            "INSERT INTO object_charges (account_id, key, bytes) VALUES (%s, 'k', %s)", (someone.account_id, stored)
        )
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10_000_000_000, 9_100_000_000, 900_000_000))
    time.sleep(LIVE_SECONDS)
    assert ("bad", "Renders of 2 of the 3 accounts with queued renders wait for disk space.") in notices(operator)
    assert "Each of them stores more than 1.0 GB." in operator.text("/")


def test_a_render_machine_whose_disk_is_full_is_named(operator: Person) -> None:
    world = operator.api.world
    world.database.execute(WORKER, ("worker-live", world.clock.now(), None))
    world.database.execute("UPDATE workers SET disk_free_bytes = 40000000")
    assert "The disk of a render machine is full." not in operator.text("/")
    assert "40.0 MB free" in operator.text("/workers")
    world.database.execute("UPDATE workers SET disk_free_bytes = 1000")
    time.sleep(LIVE_SECONDS)
    assert ("warn", "The disk of a render machine is full.") in notices(operator)
    assert "Free some space for temporary files on node-a." in operator.text("/")


def test_a_data_folder_that_is_away_is_named(operator: Person) -> None:
    objects = operator.api.world.settings.data_folder / "storage" / "objects"
    objects.rename(objects.with_name("away"))
    assert notices(operator)[0] == ("bad", "Storage is not available.")
    assert str(objects) in operator.text("/")
