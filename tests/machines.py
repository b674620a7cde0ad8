"""Machines made of Linux namespaces. Each has its own network address, processes, /tmp and shared memory.

All machines are ports of one bridge, whose address belongs to this process. Needs root. A machine's processes end
with it.
"""

from __future__ import annotations

import configparser
import contextlib
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

ROOT: Final = Path(__file__).resolve().parents[1]
UNITS: Final = ROOT / "cluster" / "systemd"
INSTALLED: Final = "/home/farm/render-farm"
"""Path of the checkout in the systemd units."""
_INIT: Final = (
    'mount -t proc proc /proc && mount --bind "$1/hosts" /etc/hosts && mount --bind "$1/resolv.conf" /etc/resolv.conf && '
    'mount --bind "$1" /tmp && mount -t tmpfs tmpfs /dev/shm && hostname "$2" && echo up && '
    "{ sleep infinity & wait; }"
)


def refusal() -> str | None:
    """Return the reason why this process cannot create machines, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if ROOT.is_relative_to("/tmp"):
        return "the checkout lies below /tmp, in whose place a machine has a folder of its own"
    probe = f"farm-probe-{os.getpid()}"
    try:
        made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
    except OSError:
        return "the command `ip` is missing (Debian package `iproute2`)"
    if made.returncode != 0:
        return f"network namespaces cannot be made here: {made.stderr.strip()}"
    _ip("netns", "del", probe)
    return None


@dataclass(slots=True)
class Machine:
    """A machine on the bridge. `init` is its first process; when it ends, the kernel kills all others."""

    name: str
    address: str
    port: str
    """The bridge's end of its network cable."""
    folder: Path
    """Its /tmp, which also has the logs of its services."""
    init: subprocess.Popen[bytes]
    services: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def pid(self) -> int:
        """Return the id of the machine's first process in this process's namespace."""
        return psutil.Process(self.init.pid).children()[0].pid

    def spawn(self, command: str, environment: Mapping[str, str], log_name: str) -> subprocess.Popen[bytes]:
        """Start a shell command on the machine, in the project's folder, with only this environment. Its output goes
        to a log."""
        words = ["nsenter", f"--target={self.pid}", "--all", f"--wdns={ROOT}", "env", "-i"]
        words += [f"{name}={value}" for name, value in environment.items()]
        with (self.folder / f"{log_name}.log").open("ab") as log:
            return subprocess.Popen([*words, "bash", "-c", command], stdout=log, stderr=subprocess.STDOUT)

    def enable(self, unit: str, environment: Mapping[str, str], instance: str = "", options: str = "") -> None:
        """Run a service as in its unit: commands, environment, and a restart after every exit. `options` are
        appended."""
        parsed = read_unit(unit, instance)
        variables = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": "/tmp", **environment}
        for line in parsed.environment:
            variables |= dict(word.split("=", 1) for word in shlex.split(line))
        commands = "\n".join(
            f"{command} || {{ sleep {parsed.restart_seconds}; continue; }}" for command in parsed.before
        )
        loop = f"while :; do\n{commands}\n{parsed.command} {options}\nsleep {parsed.restart_seconds}\ndone"
        name = unit + instance
        self.services[name] = self.spawn(loop, variables, name)

    def kill(self, name: str) -> None:
        """Kill all processes of a service at once. Its unit starts it again."""
        loop = psutil.Process(self.services[name].pid)
        # nsenter is replaced by the shell, or waits for it as its parent.
        while loop.name() != "bash":
            (loop,) = loop.children()
        for process in loop.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def unplug(self) -> None:
        """Disconnect the machine. Others notice only its silence."""
        _ip("link", "set", self.port, "down")

    def plug(self) -> None:
        """Connect the machine again."""
        _ip("link", "set", self.port, "up")

    def vanish(self) -> None:
        """Stop the machine as a power failure does."""
        for process in psutil.Process(self.init.pid).children(recursive=False):
            process.kill()
        self.init.wait()
        for service in self.services.values():
            service.wait()
        _ip("netns", "del", self.name)


@dataclass(slots=True)
class Network:
    """A bridge and its machines. `address` is that of this process on it."""

    folder: Path
    bridge: str
    prefix: str
    machines: list[Machine] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Return the address at which machines reach this process."""
        return f"{self.prefix}.1"

    def machine(self, name: str, script: Sequence[str | Path] = ("-c", _INIT, "init")) -> Machine:
        """Create a machine that runs nothing. `script` are bash's arguments for its first process, before folder and
        name."""
        number = len(self.machines) + 10
        space, port, address = f"{self.bridge}-{name}", f"{self.bridge}v{number}", f"{self.prefix}.{number}"
        folder = self.folder / name
        folder.mkdir()
        # An unreachable name server would delay every look-up of the machine's own name by seconds.
        (folder / "hosts").write_text(f"127.0.0.1 localhost\n{address} {name}\n")
        (folder / "resolv.conf").touch()
        _ip("netns", "add", space)
        _ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space)
        _ip("link", "set", port, "master", self.bridge, "up")
        _ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            _ip("-n", space, "link", "set", link, "up")
        _ip("-n", space, "route", "add", "default", "via", self.address)
        init = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec", space, "unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child",
             "--cgroup", "bash", *script, folder, name],
            stdout=subprocess.PIPE,
        )  # fmt: skip
        assert init.stdout is not None and init.stdout.readline() == b"up\n", f"{name} does not start"
        init.stdout.close()
        made = Machine(space, address, port, folder, init)
        self.machines.append(made)
        return made


@contextlib.contextmanager
def network(folder: Path) -> Iterator[Network]:
    """Yield a network of machines with their folders in `folder`. Everything is removed at its end."""
    with _own_number() as number:
        yield from _network(Network(folder, f"farm{number}", f"10.207.{number}"))


@contextlib.contextmanager
def _own_number() -> Iterator[int]:
    """Yield a number below 250 that no other test of this machine has, in any checkout."""
    for number in range(250):
        with socket.socket(socket.AF_UNIX) as claim:
            try:
                claim.bind(f"\0farm-tests-network-{number}")
            except OSError:
                continue
            yield number
            return
    raise AssertionError("250 networks are in use")


def _network(made: Network) -> Iterator[Network]:
    _sweep(made.bridge)
    _ip("link", "add", made.bridge, "type", "bridge")
    try:
        _ip("addr", "add", f"{made.address}/24", "dev", made.bridge)
        _ip("link", "set", made.bridge, "up")
        yield made
    finally:
        for machine in made.machines:
            if machine.init.poll() is None:
                machine.vanish()
        _sweep(made.bridge)


def _sweep(bridge: str) -> None:
    """Remove the bridge and the remains of a machine that did not start, or of a killed test that had the same number."""
    for space in Path("/run/netns").glob(f"{bridge}-*"):
        _ip("netns", "del", space.name)
    if Path("/sys/class/net", bridge).exists():
        _ip("link", "del", bridge)


@dataclass(frozen=True, slots=True)
class Unit:
    """Commands of a systemd unit."""

    command: str
    before: list[str]
    environment: list[str]
    restart_seconds: float


def read_unit(name: str, instance: str = "") -> Unit:
    """Return a unit's commands for this checkout. `name@` is a template for `instance`. The unit must always restart."""
    parsed = configparser.RawConfigParser(strict=False, dict_type=_Repeated, empty_lines_in_values=False)  # type: ignore[arg-type]
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    text = (UNITS / f"{name}.service").read_text().replace("%i", instance).replace(INSTALLED, str(ROOT))
    parsed.read_string(text)
    service = parsed["Service"]
    assert service["Restart"] == "always", name
    return Unit(
        service["ExecStart"], service.get("ExecStartPre", "").splitlines(), service.get("Environment", "").splitlines(),
        float(service["RestartSec"]),
    )  # fmt: skip


class _Repeated(dict[str, object]):
    """Config parser dictionary that joins repeated values of a key as lines."""

    def __setitem__(self, key: str, value: object) -> None:
        known = self.get(key)
        super().__setitem__(key, [*known, *value] if isinstance(known, list) and isinstance(value, list) else value)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
