"""Fetches the font packages named in `packages.json`, pinned by version and hash, into the farm's font folder.

Debian packages come through `apt-get download`, which an ordinary user may call, from whatever mirror the machine uses;
the families that only the editor's page loads come through `npm pack`, as static faces converted from WOFF2. A package
folder appears whole or not at all: it is filled aside and then renamed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from fontTools.ttLib import TTFont

from gpu_renderer.content.text.folders import FONT_ENDINGS, LISTING, FontFile, write_listing
from gpu_renderer.content.text.scanning import edges

MANIFEST: Final = Path(__file__).with_name("packages.json")
SUBSETS: Final = ("latin", "latin-ext", "cyrillic", "cyrillic-ext", "greek", "greek-ext", "vietnamese")
FETCH_SECONDS: Final = 300
PARALLEL: Final = 4

Say = Callable[[str], None]


class PackageUnavailable(Exception):
    """A font package could not be fetched; the message says which and what to do."""


@dataclass(frozen=True, slots=True)
class Package:
    """A pinned package. `digest`: SHA-256 in hex for Debian, an SRI string for npm; `faces` are weights, `i` = italic."""

    pack: str
    source: str
    name: str
    version: str
    digest: str
    family: str = ""
    faces: tuple[str, ...] = ()

    def folder(self, root: Path) -> Path:
        """Where the package's fonts lie under the root."""
        return root / self.pack / self.name.rpartition("/")[2]


@cache
def manifest() -> tuple[Package, ...]:
    """The packages that ship with this version, in the manifest's order."""
    stored = json.loads(MANIFEST.read_text())
    return tuple(_package(pack, row) for pack, rows in stored.items() for row in rows)


def missing(root: Path, packs: Sequence[str]) -> list[Package]:
    """The packages of the packs that are not installed under the root."""
    return [package for package in manifest() if package.pack in packs and not _is_installed(package, root)]


def fetch(packages: Sequence[Package], root: Path, say: Say) -> dict[str, str]:
    """Installs the packages; returns the reason for each that could not be had, by name."""
    root.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(PARALLEL) as pool:
        reasons = list(pool.map(lambda package: _attempt(package, root, say), packages))
    return {package.name: reason for package, reason in zip(packages, reasons, strict=True) if reason}


def _package(pack: str, row: dict[str, Any]) -> Package:
    digest = row["sha256"] if row["source"] == "debian" else row["integrity"]
    faces = tuple(row.get("faces", ()))
    return Package(pack, row["source"], row["package"], row["version"], digest, row.get("family", ""), faces)


def _is_installed(package: Package, root: Path) -> bool:
    return (package.folder(root) / LISTING).is_file()


def _attempt(package: Package, root: Path, say: Say) -> str | None:
    install = _install_debian if package.source == "debian" else _install_npm
    try:
        with tempfile.TemporaryDirectory(dir=root, prefix=".fetching-") as scratch:
            ready = Path(scratch) / "ready"
            ready.mkdir()
            install(package, Path(scratch), ready, say)
            _move_in(ready, package.folder(root))
    except PackageUnavailable as error:
        return str(error)
    say(f"{package.name} {package.version}")
    return None


def _move_in(ready: Path, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    ready.chmod(0o755)
    ready.rename(folder)


def _install_debian(package: Package, scratch: Path, ready: Path, say: Say) -> None:
    archive = _downloaded_deb(package, scratch, say)
    _run(["dpkg-deb", "-x", str(archive), str(scratch / "unpacked")], scratch)
    for path in sorted((scratch / "unpacked").rglob("*")):
        if path.is_file() and not path.is_symlink() and (path.suffix in FONT_ENDINGS or path.name == "copyright"):
            shutil.move(path, ready / path.name)
    write_listing(ready)


def _downloaded_deb(package: Package, scratch: Path, say: Say) -> Path:
    """The archive of the pinned version; of the machine's own release where its mirrors have no such version."""
    for apt in _apt_commands(scratch):
        for wanted in (f"{package.name}={package.version}", package.name):
            try:
                _run([*apt, "download", wanted], scratch)
            except PackageUnavailable:
                continue
            archive = next(scratch.glob("*.deb"))
            _check_deb(package, archive, pinned=wanted != package.name, say=say)
            return archive
    raise PackageUnavailable(
        f"version {package.version} could not be downloaded: is the machine offline? "
        f"Unpack its fonts into {package.folder(Path('.fonts'))} by hand, or name a folder in FONT_FOLDERS."
    )


def _apt_commands(scratch: Path) -> Iterator[list[str]]:
    """With the machine's package lists, then with lists of our own: an ordinary user may not update the machine's."""
    yield ["apt-get", "-qq"]
    for folder in ("lists/partial", "archives/partial"):
        (scratch / folder).mkdir(parents=True)
    own = ["apt-get", "-qq", "-o", f"Dir::State::Lists={scratch}/lists", "-o", f"Dir::Cache={scratch}"]
    _run([*own, "update"], scratch)
    yield own


def _check_deb(package: Package, archive: Path, *, pinned: bool, say: Say) -> None:
    if hashlib.sha256(archive.read_bytes()).hexdigest() == package.digest:
        return
    if pinned:
        raise PackageUnavailable(f"{archive.name} is not the file that was pinned: its SHA-256 differs.")
    say(f"{archive.name}: not the pinned version {package.version}, so text may differ in places")


def _install_npm(package: Package, scratch: Path, ready: Path, say: Say) -> None:
    _run(["npm", "pack", "--silent", f"{package.name}@{package.version}"], scratch)
    archive = next(scratch.glob("*.tgz"))
    algorithm, _, expected = package.digest.partition("-")
    if base64.b64encode(hashlib.new(algorithm, archive.read_bytes()).digest()).decode() != expected:
        raise PackageUnavailable(f"{archive.name} is not the file that was pinned: its {algorithm} differs.")
    with tarfile.open(archive) as tar:
        tar.extractall(scratch, filter="data")
    shutil.copy(scratch / "package" / "LICENSE", ready / "LICENSE")
    write_listing(
        ready, [_converted(package, face, subset, scratch, ready) for face, subset in _wanted(package, scratch)]
    )


def _wanted(package: Package, scratch: Path) -> list[tuple[str, str]]:
    pairs = [(face, subset) for face in package.faces for subset in SUBSETS]
    return [(face, subset) for face, subset in pairs if _woff(package, face, subset, scratch).is_file()]


def _woff(package: Package, face: str, subset: str, scratch: Path) -> Path:
    style = "italic" if face.endswith("i") else "normal"
    family = package.name.rpartition("/")[2]
    return scratch / "package" / "files" / f"{family}-{subset}-{face.rstrip('i')}-{style}.woff2"


def _converted(package: Package, face: str, subset: str, scratch: Path, ready: Path) -> FontFile:
    path = ready / _woff(package, face, subset, scratch).with_suffix(".ttf").name
    with TTFont(str(_woff(package, face, subset, scratch))) as font:
        font.flavor = None
        font.save(str(path))
        covered = edges(font.getBestCmap() or ())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return FontFile(path, 0, package.family, int(face.rstrip("i")), face.endswith("i"), covered, digest)


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)  # noqa: S603
    except FileNotFoundError as error:
        raise PackageUnavailable(f"this needs the program {command[0]}, which is not installed.") from error
    except subprocess.TimeoutExpired as error:
        raise PackageUnavailable(f"{command[0]} took longer than {FETCH_SECONDS} s.") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise PackageUnavailable(f"{command[0]}: {said[-1] if said else 'failed'}")
