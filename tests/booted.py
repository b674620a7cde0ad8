"""Machines whose services are run by systemd, set up with shell commands as a person would.

Each is made of Linux namespaces, with an overlay of this system as its root. Needs root, systemd and overlayfs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests import machines
from tests.machines import ROOT, Machine, Network
from tests.patience import HANG_SECONDS

HOME: Final = "/home/farm/render-farm"
"""Home of the checkout on a booted machine (user `farm`), where shells start."""
_SYSTEMD: Final = Path("/usr/lib/systemd/systemd")
_BOOT: Final = ROOT / "tests" / "boot.sh"
_PATH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"


def refusal() -> str | None:
    """Return why this process cannot boot machines, or None."""
    if not _SYSTEMD.exists():
        return "systemd is missing (Debian package `systemd`)"
    if "overlay" not in Path("/proc/filesystems").read_text():
        return "the kernel has no overlay file system"
    return machines.refusal()


@dataclass(frozen=True, slots=True)
class Booted:
    """A machine run by systemd. It has the user `farm` with the checkout in its home, and no service of the farm."""

    machine: Machine

    def sh(self, command: str, user: str = "root", seconds: float = HANG_SECONDS) -> subprocess.CompletedProcess[str]:
        """Run shell commands in the checkout as a user. Stop at the first that fails."""
        enter = ["nsenter", f"--target={self.machine.pid}", "--all", "--root", f"--wdns={HOME}"]
        become = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--"]
        home = "/root" if user == "root" else f"/home/{user}"
        words = [*enter, *become, "env", "-i", f"PATH={_PATH}", f"HOME={home}", "LANG=C.UTF-8", "bash", "-ec", command]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=seconds)

    def done(self, command: str, user: str = "root", seconds: float = HANG_SECONDS) -> str:
        """Run commands that must succeed; return their output."""
        ran = self.sh(command, user, seconds)
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}\n{self.journal()}"
        return ran.stdout

    def journal(self) -> str:
        """Return the last log lines of the farm's services."""
        return self.sh("journalctl --no-pager --lines=80 --unit='render-farm*'").stdout


def boot(network: Network, name: str) -> Booted:
    """Boot a machine on the network."""
    booted = Booted(network.machine(name, (_BOOT, ROOT)))
    deadline = time.monotonic() + HANG_SECONDS
    while booted.sh("systemctl is-system-running").returncode != 0:
        assert time.monotonic() < deadline, (booted.machine.folder / "systemd.log").read_text()
        time.sleep(0.1)
    _let_everybody_run_python(booted)
    return booted


def _let_everybody_run_python(booted: Booted) -> None:
    """Let the machine's users read the folders above this interpreter, as with a system interpreter."""
    folders = [str(folder) for folder in Path(os.path.realpath(sys.executable)).parents]
    booted.done(f"chmod o+x {' '.join(folders)}")
