"""Installs the font packages named in `packages.json`, pinned by version and hash, into the farm's font folder.

Inter and DejaVu are bundled with the project. Liberation, Noto and emoji are fetched from Debian's archive, the families that
only the editor's page loads from the npm registry, as static faces converted from WOFF2. Every machine gets the same bytes,
whatever its distribution. A package folder appears whole or not at all: it is filled aside and then renamed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from fontTools.ttLib import TTFont

from gpu_renderer.content.text import downloads
from gpu_renderer.content.text.downloads import PackageUnavailable
from gpu_renderer.content.text.folders import FONT_ENDINGS, LISTING, FontFile, write_listing
from gpu_renderer.content.text.scanning import edges

MANIFEST: Final = Path(__file__).with_name("packages.json")
SUBSETS: Final = ("latin", "latin-ext", "cyrillic", "cyrillic-ext", "greek", "greek-ext", "vietnamese")
BUNDLED: Final = Path(__file__).with_name("bundled")
DEBIAN: Final = [
    "https://deb.debian.org/debian/pool/main/",
    "https://snapshot.debian.org/archive/debian/20250520T000000Z/pool/main/",
]
"""Debian's archive holds what its supported releases have; the snapshot holds it for ever, but is slower."""
NPM: Final = ["https://registry.npmjs.org/"]
PARALLEL: Final = 4

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Package:
    """A pinned package. `digest`: SHA-256 in hex, or an SRI string for npm; `faces` are weights, `i` = italic.

    `path`: of a Debian package in its archive.
    """

    pack: str
    source: str
    name: str
    version: str
    digest: str
    family: str = ""
    faces: tuple[str, ...] = ()
    path: str = ""

    def folder(self, root: Path) -> Path:
        """Return the folder of the package's fonts below the root."""
        return root / self.pack / self.name.rpartition("/")[2]


@cache
def manifest() -> tuple[Package, ...]:
    """Return the packages that ship with this version, in the manifest's order."""
    stored = json.loads(MANIFEST.read_text())
    return tuple(_package(pack, row) for pack, rows in stored.items() for row in rows)


def missing(root: Path, packs: Sequence[str]) -> list[Package]:
    """Return the packages of the packs that are not installed under the root."""
    return [package for package in manifest() if package.pack in packs and not _is_installed(package, root)]


def fetch(packages: Sequence[Package], root: Path, say: Say) -> dict[str, str]:
    """Install the packages; return the reason for each that could not be had, by name."""
    root.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(PARALLEL) as pool:
        reasons = list(pool.map(lambda package: _attempt(package, root, say), packages))
    return {package.name: reason for package, reason in zip(packages, reasons, strict=True) if reason}


def _package(pack: str, row: dict[str, Any]) -> Package:
    digest = row.get("sha256") or row["integrity"]
    faces = tuple(row.get("faces", ()))
    return Package(
        pack, row["source"], row["package"], row["version"], digest, row.get("family", ""), faces, row.get("path", "")
    )


def _is_installed(package: Package, root: Path) -> bool:
    return (package.folder(root) / LISTING).is_file()


def _attempt(package: Package, root: Path, say: Say) -> str | None:
    install = {"bundled": _install_bundled, "debian": _install_debian, "npm": _install_npm}[package.source]
    try:
        with tempfile.TemporaryDirectory(dir=root, prefix=".fetching-") as scratch:
            ready = Path(scratch) / "ready"
            ready.mkdir()
            install(package, Path(scratch), ready)
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


def _install_bundled(package: Package, scratch: Path, ready: Path) -> None:
    archive = BUNDLED / f"{package.name}.tar.xz"
    if not archive.is_file():
        raise PackageUnavailable(f"{archive} is missing from this installation.")
    downloads.check(archive.read_bytes(), package.digest, archive.name)
    downloads.unpack_tar(archive.read_bytes(), scratch / "unpacked")
    _take_fonts(scratch / "unpacked", ready)


def _install_debian(package: Package, scratch: Path, ready: Path) -> None:
    archive = downloads.download([base + quote(package.path) for base in DEBIAN], package.digest, package.name)
    downloads.unpack_deb(archive, scratch / "unpacked")
    _take_fonts(scratch / "unpacked", ready)


def _take_fonts(unpacked: Path, ready: Path) -> None:
    for path in sorted(unpacked.rglob("*")):
        if path.is_file() and not path.is_symlink() and (path.suffix in FONT_ENDINGS or path.name == "copyright"):
            shutil.move(path, ready / path.name)
    write_listing(ready)


def _install_npm(package: Package, scratch: Path, ready: Path) -> None:
    short = package.name.rpartition("/")[2]
    urls = [f"{base}{package.name}/-/{short}-{package.version}.tgz" for base in NPM]
    downloads.unpack_tar(downloads.download(urls, package.digest, package.name), scratch)
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
