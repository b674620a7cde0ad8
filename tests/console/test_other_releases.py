"""Data that another release of the console has stored."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest

from console.library import pending
from farm_core.storage.choice import storage_of
from tests.console.people import Person
from tests.scheduler.farm import DummyWork

pytestmark = pytest.mark.service


def test_a_project_that_another_release_has_checked_is_examined_again(
    member: Person, worker: DummyWork, project: Path
) -> None:
    files = {"file": (project.name, project.read_bytes())}
    answer = member.client.post("/console/templates/import", data={"csrf": member.csrf()}, files=files)
    (upload,) = set(re.findall(r"imp_\w+", answer.headers["location"]))
    storage = storage_of(member.api.world.settings)
    key = f"{pending.project_key(member.api.account_id, upload)}.findings.json"
    kept = orjson.loads(storage.get_bytes(key))
    without = {name: value for name, value in kept["found"].items() if name != "fields"}
    for found in (kept["found"] | {"removed": 1}, without):
        storage.put_bytes(key, orjson.dumps(kept | {"found": found}), "application/json")
        assert "Headline" in member.text(f"/templates/import/{upload}?filename=greeting.motion")
