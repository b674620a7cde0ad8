"""Run the manual's systemd commands on fresh machines: install, back up, restore, upgrade."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests import booted
from tests.acceptance.fleet import needed_to_draw, wait_for
from tests.acceptance.stores import stores
from tests.booted import Booted
from tests.machines import ROOT, network
from tests.patience import HANG_SECONDS

REFUSAL: Final = booted.refusal()
OPERATING: Final = ROOT / "docs" / "operating"
BLOCK: Final = re.compile(r"```(?:sh|bash)\n(.*?)```", re.DOTALL)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.acceptance,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(REFUSAL is not None, reason=str(REFUSAL)),
]


def blocks(page: str, section: str) -> list[str]:
    """Return the shell blocks of a section of the operators' manual."""
    text = (OPERATING / page).read_text() + "\n## "
    (found,) = re.findall(rf"^## {re.escape(section)}\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    return BLOCK.findall(found)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Booted]:
    """Yield a machine on which the service was just enabled, as described in one-machine.md."""
    with network(tmp_path) as lan:
        computer = booted.boot(lan, "studio")
        (enable,) = blocks("one-machine.md", "Run it as a service")
        computer.done(enable)
        _wait_ready(computer)
        yield computer


def test_the_service_renders_and_is_started_again_after_every_end(service: Booted) -> None:
    assert _protection(service, "render-farm") == "strict"
    _render(service)
    assert service.done("./farm doctor", "farm").endswith("The farm can work here.\n")
    before = _main_pid(service)
    service.done("systemctl kill --signal=KILL --kill-whom=main render-farm")
    wait_for(lambda: _main_pid(service) not in (before, "0"), HANG_SECONDS, service.journal)
    _wait_ready(service)
    service.done("systemctl restart render-farm")
    _wait_ready(service)
    assert _completed(service) == 1
    service.done("systemctl stop render-farm")
    ended = service.done("systemctl show render-farm --property=Result --property=ExecMainStatus")
    assert set(ended.split()) == {"Result=success", "ExecMainStatus=0"}
    left = service.sh("find /proc -maxdepth 1 -name '[0-9]*' -user farm")  # every Debian has it, unlike pgrep
    assert left.stdout == "", "something was left running"


def test_a_backup_of_the_running_service_is_restored_as_the_manual_says(service: Booted) -> None:
    make_folder, backup, stop, restore, start = blocks("one-machine.md", "Backups")
    _render(service)
    service.done(make_folder)
    service.done(backup, "farm")
    service.done("./farm account create bob", "farm")
    service.done(stop)
    service.done(restore, "farm")
    service.done(start)
    _wait_ready(service)
    assert _completed(service) == 1
    assert '"bob"' not in service.done("./farm account list", "farm"), "bob came after the backup"


def test_a_head_and_a_machine_that_draws_work_together(tmp_path: Path) -> None:
    with _two_machines(tmp_path) as (head, node):
        _wait_ready(head)
        _render(head)
        assert _protection(node, "render-farm-node") == "strict"
        assert _protection(head, "render-farm-scheduler@1") == "strict"
        assert node.machine.address in head.done("./farm workers", "farm")
        head.done("systemctl restart render-farm-head")
        wait_for(lambda: not _is_ready(head), HANG_SECONDS, head.journal)
        _wait_ready(head)
        assert _completed(head) == 1


@contextmanager
def _two_machines(folder: Path) -> Iterator[tuple[Booted, Booted]]:
    """Run the blocks of several-machines.md on two machines with their own stores."""
    on_head, on_node = blocks("several-machines.md", "With systemd")
    with network(folder) as lan, stores(folder, lan.address) as kept:
        head, node = booted.boot(lan, "head"), booted.boot(lan, "node")
        settings = {
            **kept.environment, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "JWT_SECRET": "s" * 32,
            "PUBLIC_ORIGIN": "http://127.0.0.1:8000", "RAY_HEAD": f"{head.machine.address}:6379",
        }  # fmt: skip
        for computer, chosen, block in ((head, settings, on_head), (node, needed_to_draw(settings), on_node)):
            lines = "\n".join(f"{name}={value}" for name, value in chosen.items())
            computer.done(f"(umask 077; cat > .env <<'END'\n{lines}\nEND\n)", "farm")
            computer.done(block)
        yield head, node


def _protection(computer: Booted, unit: str) -> str:
    """Return how the file system is protected from a service."""
    return computer.done(f"systemctl show {unit} --property=ProtectSystem --value").strip()


def _render(computer: Booted) -> None:
    """Render as described in docs/quickstart.md, on a running farm."""
    start, curl, *_ = BLOCK.findall((ROOT / "docs" / "quickstart.md").read_text())
    assert start.startswith("./farm up &")
    computer.done(start.partition("\n")[2] + curl, "farm")


def _completed(computer: Booted) -> int:
    return computer.done("./farm jobs --status completed", "farm").count("job_")


def _main_pid(computer: Booted) -> str:
    return computer.done("systemctl show render-farm --property=MainPID --value").strip()


def _is_ready(computer: Booted) -> bool:
    return computer.sh("curl -sf http://127.0.0.1:8000/api/ready").returncode == 0


def _wait_ready(computer: Booted) -> None:
    wait_for(lambda: _is_ready(computer), HANG_SECONDS, computer.journal)
