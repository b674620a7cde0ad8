"""Run the manual's commands that start a cluster by hand, on two machines with their own networks."""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg
import pytest

from cluster.local.accounts import session_token
from farm_core.settings import Settings
from tests import machines
from tests.acceptance.farm import ROOT, ProcessFarm, imported, uploaded
from tests.acceptance.fleet import answers, needed_to_draw, wait_for
from tests.acceptance.stores import stores
from tests.machines import Machine
from tests.patience import HANG_SECONDS

REFUSAL: Final = machines.refusal()
PAGE: Final = ROOT / "docs" / "operating" / "several-machines.md"
SECRET: Final = "s" * 32


def blocks_by_hand() -> tuple[str, str]:
    """Return the commands for the head and for a rendering machine, from the section "By hand"."""
    (section,) = re.findall(r"^## By hand\n(.*?)^## ", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    head, node = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return head, node


@pytest.mark.acceptance
@pytest.mark.skipif(REFUSAL is not None, reason=str(REFUSAL))
def test_the_commands_by_hand_make_a_farm_that_renders(tmp_path: Path) -> None:
    with _started_by_hand(tmp_path) as (farm, node, database_url):
        template = imported(farm, (ROOT / "examples" / "title-card.motion").read_bytes())
        logo = uploaded(farm, ROOT / "examples" / "media" / "logo.png")
        job = farm.render(template, "by-hand-00", logo=logo, headline="By hand")
        assert farm.ended(job)["status"] == "completed"
        assert farm.digest(job)
        with psycopg.connect(database_url) as connection:
            assert connection.execute("SELECT DISTINCT node FROM workers").fetchall() == [(node.address,)]


@contextmanager
def _started_by_hand(folder: Path) -> Iterator[tuple[ProcessFarm, Machine, str]]:
    """Run both blocks of the manual, each on its own machine, and wait until the farm is ready."""
    on_head, on_node = blocks_by_hand()
    with machines.network(folder) as lan, stores(folder, lan.address) as kept:
        head, node = lan.machine("head"), lan.machine("node")
        origin = f"http://{head.address}:8000"
        settings = {
            **kept.environment, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "JWT_SECRET": SECRET,
            "PUBLIC_ORIGIN": origin, "WORKERS": "1", "GL_SOFTWARE": "true", "DATA_FOLDER": "/tmp/data",
        }  # fmt: skip
        system = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/tmp"}
        drawing = needed_to_draw(settings), on_node.replace("HEAD", head.address)
        for machine, (chosen, block) in ((head, (settings, on_head)), (node, drawing)):
            environment = system | chosen
            assert machine.spawn(f"set -e\n{block}", environment, "by-hand").wait(HANG_SECONDS) == 0, _log(machine)
        wait_for(lambda: answers(origin, "ready"), HANG_SECONDS, lambda: _log(head) + _log(node))
        farm = ProcessFarm(folder, origin, head.init, storage=kept.storage)
        farm.token = session_token(Settings(jwt_secret=SECRET, data_folder=folder), kept.database_url, "tester")
        try:
            yield farm, node, kept.database_url
        finally:
            farm.client.close()


def _log(machine: Machine) -> str:
    return "\n".join(path.read_text(errors="replace")[-3000:] for path in sorted(machine.folder.glob("*.log")))
