#!/usr/bin/env python3
"""Run the steps of cluster/docker/Dockerfile in a clean Debian tree, then `./farm demo` there as the image's user.

    image.py [--tree FOLDER] [--mirror URL] [--bind FOLDER]... [--from STEP]

Needs root and debootstrap, and no Docker. The tree stands in for `python:3.11-slim-bookworm`: Debian 12 with its Python 3.11.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASE = "python:3.11-slim-bookworm"
PACKAGES = "python3,python3-venv,ca-certificates,util-linux,passwd"
COPIED = ("/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(slots=True)
class Image:
    """The tree, and the state set by the steps so far."""

    tree: Path
    binds: list[str]
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": SYSTEM_PATH, "HOME": "/root"})
    arguments: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0:0"
    entrypoint: list[str] = field(default_factory=list)

    def run(self, command: list[str]) -> None:
        """Run a command in the tree, in its own mount and process namespaces. Raises CalledProcessError."""
        outer = 'tree=$1 user=$2 group=$3 folder=$4; shift 4; mount --rbind /dev "$tree/dev"; mount -t proc proc "$tree/proc"\n'
        for bind in self.binds:
            quoted = shlex.quote(bind)
            outer += f'mkdir -p "$tree"{quoted} && mount --bind {quoted} "$tree"{quoted}\n'
        outer += 'exec chroot "$tree" setpriv --reuid="$user" --regid="$group" --clear-groups env -C "$folder" "$@"'
        user, _, group = self.user.partition(":")
        variables = {**self.arguments, **self.environment}
        subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-ec", outer, "image", self.tree, user, group or user,
             self.folder, "-i", *(f"{name}={value}" for name, value in variables.items()), *command],
            check=True,
        )  # fmt: skip


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Return the instructions of a Dockerfile with their arguments, with joined lines and without comments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name, rest.strip()


def apply(image: Image, name: str, rest: str) -> None:
    """Execute an instruction. Raises SystemExit for an unknown one."""
    match name:
        case "FROM":
            assert rest == BASE, f"this script stands in for {BASE} only"
        case "ENV":
            for word in shlex.split(rest):
                key, _, value = word.partition("=")
                image.environment[key] = _expanded(value, image.environment)
        case "ARG":
            key, _, value = rest.partition("=")
            image.arguments[key] = value.strip('"')
        case "RUN":
            image.run(["sh", "-c", rest])
        case "WORKDIR":
            image.folder = rest
            (image.tree / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "COPY":
            _copy(image, rest.split())
        case "USER":
            image.user = rest
        case "ENTRYPOINT":
            image.entrypoint = json.loads(rest)
        case "CMD" | "VOLUME" | "EXPOSE":
            pass
        case _:
            raise SystemExit(f"unknown instruction {name}")


def _expanded(value: str, known: Mapping[str, str]) -> str:
    return re.sub(r"\$(\w+)", lambda found: known.get(found[1], ""), value)


def _copy(image: Image, words: list[str]) -> None:
    """Copy the files tracked by git: in a clean checkout, `.dockerignore` leaves the same files."""
    *sources, _ = words
    target = image.tree / image.folder.lstrip("/")
    listed = subprocess.run(["git", "ls-files", "-z", "--", *sources], cwd=ROOT, check=True, capture_output=True).stdout
    archive = subprocess.run(
        ["tar", "-c", "--null", "-T", "-"], cwd=ROOT, input=listed, check=True, capture_output=True
    )
    subprocess.run(
        ["tar", "-x", "--no-same-owner", "-C", target],
        input=archive.stdout,
        check=True,
    )


def _base(tree: Path, mirror: str) -> None:
    """Create the tree if it is missing. Like the official image, it has `python` and no package lists."""
    if not (tree / "etc" / "debian_version").exists():
        tree.mkdir(parents=True, exist_ok=True)
        command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(tree), mirror]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for name in COPIED:
        if Path(name).exists():
            (tree / name.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            (tree / name.lstrip("/")).write_bytes(Path(name).read_bytes())
    python = tree / "usr/local/bin/python"
    if not python.is_symlink():
        python.symlink_to("/usr/bin/python3")


def main() -> None:
    """Build the tree step by step, then render the example as the image's user."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=Path(tempfile.gettempdir()) / "farm-trees" / "image")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian")
    parser.add_argument(
        "--bind", action="append", default=[], help="folder of this machine that the package index needs"
    )
    parser.add_argument("--from", type=int, default=1, dest="first", help="do not repeat RUN and COPY before this step")
    options = parser.parse_args()
    _base(options.tree, options.mirror)
    image = Image(options.tree, options.bind)
    for number, (name, rest) in enumerate(steps((ROOT / "cluster/docker/Dockerfile").read_text()), 1):
        began = time.monotonic()
        if number >= options.first or name not in ("RUN", "COPY"):
            print(f"{number:2} {name} {rest[:90]}", flush=True)
            apply(image, name, rest)
            print(f"   {time.monotonic() - began:.1f} s", flush=True)
    image.environment["HOME"] = "/home/farm"
    image.run([*image.entrypoint, "demo", "--output", "/tmp/demo.mp4"])
    image.run(["sh", "-c", "id && ray --version && ls -l /tmp/demo.mp4"])


if __name__ == "__main__":
    main()
