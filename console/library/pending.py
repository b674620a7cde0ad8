"""Projects that were uploaded and wait for somebody to confirm their import."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from farm_core.errors import NotFound
from farm_core.ids import new_id
from farm_core.storage.port import ObjectMissing, Storage

LIFETIME: Final = timedelta(hours=1)
_ID: Final = re.compile(r"imp_[0-9a-z]{20,24}")


def keep(storage: Storage, account_id: str, path: Path, document: bytes, now: datetime) -> str:
    """Store the file and its document for an hour; return their id. Forgets what the account left behind earlier."""
    for old in list(storage.listed(f"imports/{account_id}/")):
        if old.modified_at < now - LIFETIME:
            storage.delete(old.key)
    upload_id = new_id("imp")
    storage.put_file(_key(account_id, upload_id), path)
    storage.put_bytes(document_key(account_id, upload_id), document, "application/json")
    return upload_id


def document_key(account_id: str, upload_id: str) -> str:
    """Where the document of the account's upload lies in storage. Raises NotFound."""
    return f"{_key(account_id, upload_id)}.json"


def keep_picture(storage: Storage, account_id: str, upload_id: str, picture: bytes) -> None:
    """Store a frame of the upload, beside it."""
    storage.put_bytes(_picture_key(account_id, upload_id), picture, "image/jpeg")


def picture(storage: Storage, account_id: str, upload_id: str) -> bytes:
    """The frame of the account's upload. Raises NotFound."""
    try:
        return storage.get_bytes(_picture_key(account_id, upload_id))
    except ObjectMissing:
        raise NotFound("There is no such picture.") from None


@contextmanager
def kept(storage: Storage, account_id: str, upload_id: str) -> Iterator[Path]:
    """The account's file, gone after the block. Raises NotFound."""
    with tempfile.TemporaryDirectory(prefix="farm-import-") as folder:
        path = Path(folder) / "project.motion"
        try:
            storage.get_file(_key(account_id, upload_id), path)
        except ObjectMissing:
            raise NotFound("This upload is gone: an import must be confirmed within an hour.") from None
        yield path


def forget(storage: Storage, account_id: str, upload_id: str) -> None:
    """Delete the account's file, its document and its picture, if they are there."""
    for key in (_key, document_key, _picture_key):
        storage.delete(key(account_id, upload_id))


def _picture_key(account_id: str, upload_id: str) -> str:
    return f"{_key(account_id, upload_id)}.jpg"


def _key(account_id: str, upload_id: str) -> str:
    if not _ID.fullmatch(upload_id):
        raise NotFound("There is no such upload.")
    return f"imports/{account_id}/{upload_id}"
