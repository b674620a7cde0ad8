"""Install the font packages named in `packages.json`, pinned by version and hash, into the farm's font folder.

Inter and DejaVu are bundled with the project. Liberation, Noto and emoji are fetched from Debian's archive, the
families that only the editor's page loads from the npm registry, as static faces converted from WOFF2. Every machine
gets the same bytes on every distribution. A package is unpacked into a temporary folder and then renamed, so that a
package folder is always complete.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from fontTools.ttLib import TTFont

from gpu_renderer.content.text.folders import FONT_ENDINGS, LISTING, FontFile, edges, write_listing

MANIFEST: Final = Path(__file__).with_name("packages.json")
SUBSETS: Final = ("latin", "latin-ext", "cyrillic", "cyrillic-ext", "greek", "greek-ext", "vietnamese")
BUNDLED: Final = Path(__file__).with_name("bundled")
DEBIAN: Final = [
    "https://deb.debian.org/debian/pool/main/",
    "https://snapshot.debian.org/archive/debian/20250520T000000Z/pool/main/",
]
"""Debian's archive has the packages of supported releases. The snapshot is slower, but keeps all packages for ever."""
NPM: Final = ["https://registry.npmjs.org/"]
PARALLEL: Final = 4
TIMEOUT_S: Final = 20.0
ARCHIVE_BYTES_MAX: Final = 200_000_000
_UNFINISHED: Final = ".fetching-"
"""Prefix of the temporary folders in which packages are unpacked."""
_AR_MAGIC: Final = b"!<arch>\n"
_AR_HEADER_BYTES: Final = 60

Say = Callable[[str], None]


class PackageUnavailable(Exception):
    """Error: a package cannot be installed. The message names the package and the remedy."""


@dataclass(frozen=True, slots=True)
class Package:
    """A pinned package. `digest`: SHA-256 in hex, or an SRI string for npm. `faces`: weights, with `i` for italic.

    `path`: place of a Debian package in its archive.
    """

    pack: str
    source: str
    name: str
    version: str
    digest: str
    family: str = ""
    faces: tuple[str, ...] = ()
    path: str = ""

    @property
    def short_name(self) -> str:
        """Name of the package without an npm scope."""
        return self.name.rpartition("/")[2]

    def folder(self, root: Path) -> Path:
        """Return the folder of the package's fonts below the root."""
        return root / self.pack / self.short_name


@cache
def manifest() -> tuple[Package, ...]:
    """Return the packages that ship with this version, in the manifest's order."""
    stored = json.loads(MANIFEST.read_text())
    return tuple(_package(pack, **row) for pack, rows in stored.items() for row in rows)


def _package(pack: str, source: str, package: str, version: str, faces: Sequence[str] = (), **row: Any) -> Package:
    digest = row.get("sha256") or row["integrity"]
    return Package(pack, source, package, version, digest, row.get("family", ""), tuple(faces), row.get("path", ""))


def missing(root: Path, packs: Sequence[str]) -> list[Package]:
    """Return the packages of the packs that are not installed under the root."""
    wanted = (package for package in manifest() if package.pack in packs)
    return [package for package in wanted if not (package.folder(root) / LISTING).is_file()]


def fetch(packages: Sequence[Package], root: Path, say: Say) -> dict[str, str]:
    """Install the packages. Return the reason for each package that failed, by name."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _in_use(root), ThreadPoolExecutor(PARALLEL) as pool:
            reasons = list(pool.map(lambda package: _attempt(package, root, say), packages))
    except OSError as error:
        reasons = [_not_stored(root, error)] * len(packages)
    return {package.name: reason for package, reason in zip(packages, reasons, strict=True) if reason}


@contextmanager
def _in_use(root: Path) -> Iterator[None]:
    """Remove unfinished packages of killed processes unless another process is fetching. The kernel ends a dead one's lock."""
    folder = os.open(root, os.O_RDONLY)
    try:
        with suppress(OSError):  # another process has the lock, or the file system has no locks
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for left in root.glob(f"{_UNFINISHED}*"):
                shutil.rmtree(left, ignore_errors=True)
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_SH)
        yield
    finally:
        os.close(folder)


def _attempt(package: Package, root: Path, say: Say) -> str | None:
    try:
        with tempfile.TemporaryDirectory(dir=root, prefix=_UNFINISHED) as scratch:
            ready, unpacked, folder = Path(scratch) / "ready", Path(scratch) / "unpacked", package.folder(root)
            ready.mkdir()
            unpack = _unpack_deb if package.source == "debian" else _unpack_tar
            unpack(_archive(package), unpacked)
            take = _convert_fonts if package.source == "npm" else _take_fonts
            take(package, unpacked, ready)
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            ready.chmod(0o755)
            ready.rename(folder)
    except PackageUnavailable as error:
        return str(error)
    except OSError as error:
        return _not_stored(root, error)
    say(f"{package.name} {package.version}")
    return None


def _not_stored(root: Path, error: OSError) -> str:
    return f"it cannot be stored in {root}: {error.strerror or error}"


def _archive(package: Package) -> bytes:
    """Return the package's archive, from the project or from the first URL that has it. Raises PackageUnavailable."""
    if package.source == "bundled":
        path = BUNDLED / f"{package.name}.tar.xz"
        if not path.is_file():
            raise PackageUnavailable(f"{path} is missing from this installation.")
        return _checked(path.read_bytes(), package.digest, path.name)
    if package.source == "debian":
        urls = [base + quote(package.path) for base in DEBIAN]
    else:
        urls = [f"{base}{package.name}/-/{package.short_name}-{package.version}.tgz" for base in NPM]
    reasons = []
    for url in urls:
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 - the URLs are constants
                archive: bytes = answer.read(ARCHIVE_BYTES_MAX)
        except OSError as error:
            reasons.append(f"{url}: {error}")
            continue
        return _checked(archive, package.digest, package.name)
    raise PackageUnavailable(f"it could not be downloaded; is the machine offline? {'; '.join(reasons)}")


def _checked(archive: bytes, digest: str, name: str) -> bytes:
    """Return an archive if its SHA-256 or its SRI string is the pinned one. Raises PackageUnavailable."""
    algorithm, separator, expected = digest.partition("-")
    if separator:
        found = base64.b64encode(hashlib.new(algorithm, archive).digest()).decode()
    else:
        algorithm, expected, found = "sha256", digest, hashlib.sha256(archive).hexdigest()
    if found != expected:
        raise PackageUnavailable(f"{name} is not the file that was pinned: its {algorithm} differs.")
    return archive


def _unpack_tar(archive: bytes, folder: Path) -> None:
    """Unpack a tar archive of any compression. Raises PackageUnavailable."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            # Python 3.11.2 (Debian 12) has neither this filter nor the argument that selects it.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(folder)  # noqa: S202 - the archive has the hash that was pinned
    except (tarfile.TarError, EOFError, OSError) as error:
        raise PackageUnavailable(f"the archive cannot be unpacked: {error}") from error


def _unpack_deb(archive: bytes, folder: Path) -> None:
    """Unpack the files of a Debian package: the member `data.tar.*` of an `ar` archive. Raises PackageUnavailable."""
    if not archive.startswith(_AR_MAGIC):
        raise PackageUnavailable("the archive is not a Debian package")
    at = len(_AR_MAGIC)
    while at + _AR_HEADER_BYTES <= len(archive):
        header = archive[at : at + _AR_HEADER_BYTES]
        at += _AR_HEADER_BYTES
        size = int(header[48:58])
        if header[:16].startswith(b"data.tar"):
            _unpack_tar(archive[at : at + size], folder)
            return
        at += size + size % 2
    raise PackageUnavailable("the Debian package has no files")


def _take_fonts(package: Package, unpacked: Path, ready: Path) -> None:
    for path in sorted(unpacked.rglob("*")):
        if path.is_file() and not path.is_symlink() and (path.suffix in FONT_ENDINGS or path.name == "copyright"):
            shutil.move(path, ready / path.name)
    write_listing(ready)


def _convert_fonts(package: Package, unpacked: Path, ready: Path) -> None:
    """Convert the WOFF2 files of the package's faces. Each file holds a subset of the characters."""
    shutil.copy(unpacked / "package" / "LICENSE", ready / "LICENSE")
    listed = []
    for face in package.faces:
        weight, is_italic = face.rstrip("i"), face.endswith("i")
        for subset in SUBSETS:
            stem = f"{package.short_name}-{subset}-{weight}-{'italic' if is_italic else 'normal'}"
            woff, path = unpacked / "package" / "files" / f"{stem}.woff2", ready / f"{stem}.ttf"
            if woff.is_file():
                with TTFont(str(woff)) as font:
                    font.flavor = None
                    font.save(str(path))
                    covered = edges(font)
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                listed.append(FontFile(path, 0, package.family, int(weight), is_italic, covered, digest))
    write_listing(ready, listed)
