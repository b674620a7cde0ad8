"""The farm's own secret: signs session tokens and links."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from farm_core.settings import Settings

_FILE = "jwt-secret"


def farm_secret(settings: Settings) -> bytes:
    """The secret of the settings, or the one kept in the data folder, made at first use; readable by its owner only."""
    if settings.jwt_secret is not None:
        return settings.jwt_secret.encode()
    return _kept(settings.data_folder / _FILE)


def _kept(path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Written aside and linked into place: of processes that start at once, all end up with the first one's secret.
    draft = path.with_name(f".{_FILE}-{os.getpid()}-{secrets.token_hex(4)}")
    if not path.exists():
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_urlsafe(48).encode())
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_bytes().strip()
