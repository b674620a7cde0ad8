"""Machines made of Linux namespaces: each has a network address, processes, /tmp and shared memory of its own.

All machines are ports of one bridge, whose address this process has. Needs root. What a machine has started ends with it.
"""

from __future__ import annotations

import configparser
import contextlib
import os
import shlex
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
"""Where the units of systemd expect the checkout."""
_INIT: Final = (
    'mount -t proc proc /proc && mount --bind "$1/hosts" /etc/hosts && mount --bind "$1/resolv.conf" /etc/resolv.conf && '
    'mount --bind "$1" /tmp && mount -t tmpfs tmpfs /dev/shm && hostname "$2" && echo up && '
    "{ sleep infinity & wait; }"
)


def refusal() -> str | None:
    """Return why this process cannot make machines, or None."""
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
    """A machine on the bridge. `init` is its first process; when that ends, the kernel ends all others."""

    name: str
    address: str
    port: str
    """The bridge's end of its cable."""
    folder: Path
    """Its /tmp, and the logs of its services."""
    init: subprocess.Popen[bytes]
    services: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def pid(self) -> int:
        """Process id of the machine's first process, as this machine sees it."""
        return psutil.Process(self.init.pid).children()[0].pid

    def spawn(self, command: str, environment: Mapping[str, str], log_name: str) -> subprocess.Popen[bytes]:
        """Start a shell command there, its output in a log, in the project's folder, with this environment alone."""
        words = ["nsenter", f"--target={self.pid}", "--all", f"--wdns={ROOT}", "env", "-i"]
        words += [f"{name}={value}" for name, value in environment.items()]
        with (self.folder / f"{log_name}.log").open("ab") as log:
            return subprocess.Popen([*words, "bash", "-c", command], stdout=log, stderr=subprocess.STDOUT)

    def enable(self, unit: str, environment: Mapping[str, str], instance: str = "", options: str = "") -> None:
        """Run a service as its unit says: its commands, in its environment, again after every end; `options` are added."""
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
        """Kill all processes of a service at once; its unit starts it again."""
        loop = psutil.Process(self.services[name].pid)
        # nsenter replaces itself by the shell, or waits for it as its parent.
        while loop.name() != "bash":
            (loop,) = loop.children()
        for process in loop.children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()

    def unplug(self) -> None:
        """Cut it off from the network. Nothing there notices but by silence."""
        _ip("link", "set", self.port, "down")

    def plug(self) -> None:
        """Connect it again."""
        _ip("link", "set", self.port, "up")

    def vanish(self) -> None:
        """End it as a power failure does."""
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
        """Address at which machines reach this process."""
        return f"{self.prefix}.1"

    def machine(self, name: str, script: Sequence[str | Path] = ("-c", _INIT, "init")) -> Machine:
        """Return a new machine, which runs nothing. `script` are bash's arguments for its first process, before folder and name."""
        number = len(self.machines) + 10
        space, port, address = f"{self.bridge}-{name}", f"{self.bridge}v{number}", f"{self.prefix}.{number}"
        folder = self.folder / name
        folder.mkdir()
        # A name server that cannot be reached would hold every look-up of the host's own name for seconds.
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
    """A network of machines, whose folders lie below `folder`. All is gone at its end."""
    number = os.getpid() % 250
    made = Network(folder, f"farm{number}", f"10.207.{number}")
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
    """Remove the bridge and what a machine that did not start, or a killed test of the same number, has left."""
    for space in Path("/run/netns").glob(f"{bridge}-*"):
        _ip("netns", "del", space.name)
    if Path("/sys/class/net", bridge).exists():
        _ip("link", "del", bridge)


@dataclass(frozen=True, slots=True)
class Unit:
    """Command of a unit of systemd."""

    command: str
    before: list[str]
    environment: list[str]
    restart_seconds: float


def read_unit(name: str, instance: str = "") -> Unit:
    """Return a unit's commands for this checkout. `name@` is a template for `instance`. It must restart always."""
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
    """Keep every value of a key that is given several times, as lines."""

    def __setitem__(self, key: str, value: object) -> None:
        known = self.get(key)
        super().__setitem__(key, [*known, *value] if isinstance(known, list) and isinstance(value, list) else value)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
