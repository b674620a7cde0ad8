"""Deletion of accounts with many files: it says how far it is, and the database is asked about many files at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from farm_core import __main__ as farm
from farm_core.controls.deletion import DeletionReport, delete_account
from farm_core.db.columns import utc_now
from farm_core.jobs.status import JobStatus
from farm_core.settings import settings
from farm_core.storage.links import Links
from farm_core.storage.local import LocalStorage
from tests.farm_core.controls.test_controls import ACTOR, Farm, on_a_farm
from tests.sent_statements import sent_statements

pytestmark = pytest.mark.service
FILES = 300


def test_a_deletion_sends_few_statements_for_many_files_and_counts_them_meanwhile(
    database_url: str, tmp_path: Path
) -> None:
    storage, report = LocalStorage(tmp_path, Links(b"secret")), DeletionReport()

    async def body(farm: Farm) -> None:
        await _with_files(farm, storage)
        with sent_statements() as sent:
            await delete_account(farm.database, storage, ACTOR, farm.accounts["ada"].id, report)
        assert (report.files, report.bytes, list(storage.listed("media/"))) == (FILES, 5 * FILES, [])
        assert len(sent) < FILES / 2

    on_a_farm(database_url, body)


def test_the_command_says_how_far_a_deletion_is(
    database_url: str, data_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = LocalStorage(data_folder / "storage", Links(b"secret"))
    on_a_farm(database_url, lambda farm: _with_files(farm, storage))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setattr("farm_core.long_steps.SILENT_SECONDS", 0.001)
    settings.cache_clear()
    assert farm.main(["account", "delete", "ada", "--yes", "--data", str(data_folder)]) == 0
    settings.cache_clear()
    printed = capsys.readouterr()
    assert "deleted so far: 1 jobs and " in printed.err
    assert json.loads(printed.out[printed.out.index("{") :])["files"] == FILES


async def _with_files(farm: Farm, storage: LocalStorage) -> None:
    media = {f"http://x/{number}": f"media/{number}" for number in range(FILES)}
    for key in media.values():
        storage.put_bytes(key, b"12345")
    done: dict[str, Any] = {"status": JobStatus.cancelled, "finished_at": utc_now()}
    await farm.add("ada", "done", media=media, **done)
