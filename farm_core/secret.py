"""The farm's secret, which signs session tokens and links."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from farm_core.power_loss import sync_file
from farm_core.settings import Settings
from farm_core.user_error import UserError

_FILE = "jwt-secret"


class SecretLost(UserError):
    """The file of the farm's secret is empty. Anybody could sign with an empty secret."""


def farm_secret(settings: Settings) -> bytes:
    """Return the secret of the settings, or the one in the data folder. Create that one at first use, readable by its
    owner only.

    Raises SecretLost.
    """
    if settings.jwt_secret is not None:
        return settings.jwt_secret.encode()
    return _kept(settings.data_folder / _FILE)


def _kept(path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Write to a temporary file, then link it into place: when processes start at once, all use the secret of the first.
    draft = path.with_name(f".{_FILE}-{os.getpid()}-{secrets.token_hex(4)}")
    if not path.exists():
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_urlsafe(48).encode())
            sync_file(file)
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    secret = path.read_bytes().strip()
    if not secret:
        raise SecretLost(f"{path} is empty: remove it for a new secret, with which older tokens and links are void")
    return secret
