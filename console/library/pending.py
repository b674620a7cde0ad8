"""Storage of uploaded projects until their import is confirmed."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from farm_core.errors import NotFound
from farm_core.ids import new_id
from farm_core.storage.port import ObjectMissing, Storage

GONE: Final = "This upload is gone: it was imported already, or an hour has passed."
_ID: Final = re.compile(r"imp_[0-9a-z]{20,24}")


def keep(storage: Storage, account_id: str, path: Path, document: bytes, findings: bytes) -> str:
    """Store the file, its document and its findings and return their id. The scheduler deletes them after an hour."""
    upload_id = new_id("imp")
    storage.put_file(project_key(account_id, upload_id), path)
    storage.put_bytes(document_key(account_id, upload_id), document, "application/json")
    storage.put_bytes(_findings_key(account_id, upload_id), findings, "application/json")
    return upload_id


def project_key(account_id: str, upload_id: str) -> str:
    """Return the storage key of the account's upload. Raises NotFound."""
    if not _ID.fullmatch(upload_id):
        raise NotFound("There is no such upload.")
    return f"imports/{account_id}/{upload_id}"


def document_key(account_id: str, upload_id: str) -> str:
    """Return the storage key of the upload's document. Raises NotFound."""
    return f"{project_key(account_id, upload_id)}.json"


def findings(storage: Storage, account_id: str, upload_id: str) -> bytes | None:
    """Return the findings of the account's upload, or None if they are gone or a former release has stored it."""
    try:
        return storage.get_bytes(_findings_key(account_id, upload_id))
    except ObjectMissing:
        return None


def keep_picture(storage: Storage, account_id: str, upload_id: str, picture: bytes) -> None:
    """Store the preview frame of the upload."""
    storage.put_bytes(_picture_key(account_id, upload_id), picture, "image/jpeg")


def picture(storage: Storage, account_id: str, upload_id: str) -> bytes:
    """Return the preview frame of the account's upload. Raises NotFound."""
    try:
        return storage.get_bytes(_picture_key(account_id, upload_id))
    except ObjectMissing:
        raise NotFound("There is no such picture.") from None


@contextmanager
def kept(storage: Storage, account_id: str, upload_id: str) -> Iterator[Path]:
    """Yield a path of the account's file that exists until the block ends. Raises NotFound."""
    with tempfile.TemporaryDirectory(prefix="farm-import-") as folder:
        path = Path(folder) / "project.motion"
        try:
            storage.get_file(project_key(account_id, upload_id), path)
        except ObjectMissing:
            raise NotFound(GONE) from None
        yield path


def forget(storage: Storage, account_id: str, upload_id: str) -> None:
    """Delete the account's file, its document, its findings and its preview frame, if they exist."""
    for key in (project_key, document_key, _findings_key, _picture_key):
        storage.delete(key(account_id, upload_id))


def _picture_key(account_id: str, upload_id: str) -> str:
    return f"{project_key(account_id, upload_id)}.jpg"


def _findings_key(account_id: str, upload_id: str) -> str:
    return f"{project_key(account_id, upload_id)}.findings.json"
