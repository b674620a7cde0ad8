"""Run the commands of the operators' manual on a running farm. Only words in capitals are replaced."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Final

import psycopg
import pytest

from farm_core import running
from tests.acceptance.farm import ROOT, ProcessFarm, imported, process_farm, uploaded
from tests.acceptance.hooks import hook
from tests.acceptance.terminal import typed

PAGES: Final = [ROOT / "docs" / "operating" / "README.md", *sorted((ROOT / "docs" / "operating").glob("*.md"))]
INLINE: Final = re.compile(r"`(\./farm [^`]+)`")
BLOCK: Final = re.compile(r"```sh\n(.*?)```", re.DOTALL)
NOT_HERE: Final = {
    "bench": "takes long; tests/benchmarks runs it",
    "test": "is what runs this",
    "fonts": "fetches from the network",
    "up": "is what the fixture runs",
    "queue --watch": "does not end",
    "jobs requeue": "needs a segment under way; tests/farm_core/cli has one",
    "retry": "needs a failed job; tests/farm_core/cli has one",
    "restore": "wants the farm to be stopped; run on its own below",
}
LAST: Final = ("account suspend", "account unsuspend", "account delete")


def commands() -> list[str]:
    """Return every command in the manual once, with those that delete or suspend accounts last."""
    found: dict[str, None] = {}
    for page in PAGES:
        text = page.read_text()
        lines = [line for block in BLOCK.findall(text) for line in block.splitlines() if line.startswith("./farm ")]
        found |= dict.fromkeys([*INLINE.findall(text), *lines])
    here = [command for command in found if not any(command.startswith(f"./farm {words}") for words in NOT_HERE)]
    return sorted(here, key=lambda command: next((n for n, words in enumerate(LAST, 1) if words in command), 0))


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessFarm]:
    """Yield a farm whose data folder is the default of all commands."""
    folder = tmp_path_factory.mktemp("manual")
    (folder / "farm").symlink_to(ROOT / "farm")
    with process_farm(folder / ".farm", "--workers", "1") as made:
        yield made


@pytest.mark.slow
@pytest.mark.acceptance
@pytest.mark.timeout(1800)
def test_every_command_of_the_manual_works_as_it_stands(farm: ProcessFarm) -> None:
    found = commands()
    assert len(found) > 20, "the manual's commands are found"
    words = _words(farm)
    failed = [f"{command}: {reason}" for command in found if (reason := _failure(farm, _filled(command, words)))]
    assert not failed, "\n".join(failed)
    assert '"tester"' not in typed(farm.data.parent, "./farm account list").stdout, "its account was deleted last"


def _words(farm: ProcessFarm) -> dict[str, str]:
    """Return values for the manual's words in capitals: a completed job with a webhook, the worker and its node."""
    template = imported(farm, (ROOT / "examples" / "title-card.motion").read_bytes())
    logo = uploaded(farm, ROOT / "examples" / "media" / "logo.png")
    with hook() as receiver:
        job = farm.render(template, "manual-00", receiver.url, headline="Manual", logo=logo)
        assert farm.ended(job)["status"] == "completed"
        while not receiver.webhooks:  # `webhooks --again` repeats only webhooks that were posted
            time.sleep(0.1)
    with psycopg.connect(_database_url(farm)) as connection:
        worker, node = connection.execute("SELECT id, node FROM workers ORDER BY seen_at DESC").fetchone() or ("", "")
    return {
        "JOB": job, "JOB_ID": job, "ID": job, "account create NAME": "account create another", "NAME": "tester", "WORKER": worker, "NODE": node, "COMMAND": "queue",
        "render FILE": f"render {ROOT}/examples/title-card.motion --media {ROOT}/examples/media --frames 0:2", "FILE": f"{farm.data.parent}/one.tar",
        "/backups/farm.tar": f"{farm.data.parent}/two.tar", "DIR": str(farm.data),
    }  # fmt: skip


def _filled(command: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        command = re.sub(rf"(?<![\w-]){re.escape(word)}(?!\w)", value, command)
    return command


def _failure(farm: ProcessFarm, command: str) -> str:
    """Return why a command failed, or an empty text if it succeeded."""
    if command.startswith("./farm backup"):
        (farm.data.parent / "one.tar").unlink(missing_ok=True)  # left by an earlier command of the manual
    done = typed(farm.data.parent, command)
    return "" if done.returncode == 0 else f"status {done.returncode}: {done.stdout[-300:]} {done.stderr[-300:]}"


def _database_url(farm: ProcessFarm) -> str:
    found = running.read(farm.data)
    assert found is not None
    return found.database_url
