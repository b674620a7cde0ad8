"""Download pinned archives, check their hashes, unpack them. Nothing but Python's standard library is needed."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Final

TIMEOUT_S: Final = 20.0
ARCHIVE_BYTES_MAX: Final = 200_000_000
_AR_MAGIC: Final = b"!<arch>\n"
_AR_HEADER_BYTES: Final = 60


class PackageUnavailable(Exception):
    """A package could not be had; the message says which and what to do."""


def download(urls: Sequence[str], digest: str, name: str) -> bytes:
    """Return the archive from the first URL that has it. Raises PackageUnavailable."""
    reasons = []
    for url in urls:
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:  # noqa: S310 - the URLs are constants
                archive: bytes = answer.read(ARCHIVE_BYTES_MAX)
        except OSError as error:
            reasons.append(f"{url}: {error}")
            continue
        check(archive, digest, name)
        return archive
    raise PackageUnavailable(f"it could not be downloaded; is the machine offline? {'; '.join(reasons)}")


def check(archive: bytes, digest: str, name: str) -> None:
    """Compare an archive with its SHA-256 in hex, or with an SRI string. Raises PackageUnavailable."""
    algorithm, separator, expected = digest.partition("-")
    if separator:
        found = base64.b64encode(hashlib.new(algorithm, archive).digest()).decode()
    else:
        algorithm, expected, found = "sha256", digest, hashlib.sha256(archive).hexdigest()
    if found != expected:
        raise PackageUnavailable(f"{name} is not the file that was pinned: its {algorithm} differs.")


def unpack_tar(archive: bytes, folder: Path) -> None:
    """Unpack a tar archive of any compression. Raises PackageUnavailable."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            # Python 3.11.2, which Debian 12 has, knows neither the filter nor the argument that names it.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(folder)  # noqa: S202 - the archive has the hash that was pinned
    except (tarfile.TarError, EOFError, OSError) as error:
        raise PackageUnavailable(f"the archive cannot be unpacked: {error}") from error


def unpack_deb(archive: bytes, folder: Path) -> None:
    """Unpack the files of a Debian package: the member `data.tar.*` of an `ar` archive. Raises PackageUnavailable."""
    if not archive.startswith(_AR_MAGIC):
        raise PackageUnavailable("the archive is not a Debian package")
    at = len(_AR_MAGIC)
    while at + _AR_HEADER_BYTES <= len(archive):
        header = archive[at : at + _AR_HEADER_BYTES]
        at += _AR_HEADER_BYTES
        size = int(header[48:58])
        if header[:16].startswith(b"data.tar"):
            unpack_tar(archive[at : at + size], folder)
            return
        at += size + size % 2
    raise PackageUnavailable("the Debian package has no files")
