"""Journal of webhook posts in flight, in files that survive a killed process (`docs/decisions/0008`).

Writing an entry takes microseconds, a commit takes milliseconds: a sender rarely dies between an action and its
entry. After a reboot the journal can be lost or out of date, so it gets a new name.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from farm_core.ids import new_id
from farm_core.telemetry import logs

_log = logs.logger(__name__)

KEPT_SECONDS: Final = 24 * 3600.0
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_NAME_FILE: Final = "place"
_FAILED: Final = b"failed"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """State of a post. `sent`: the whole request was sent. `status`: HTTP status of the answer. `failed`: no answer
    came."""

    sent: bool = False
    status: int | None = None
    failed: bool = False


class DeliveryJournal:
    """Journal of all senders that share a folder. The database identifies the folder and the machine's boot by
    `name`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.name = f"{self._folder_name()}.{_boot()}"
        self._forget_old()

    def begin(self, post: str) -> None:
        """Record that the post begins."""
        self.forget(post)

    def sent(self, post: str) -> None:
        """Record that the kernel gets the rest of the request. The kernel sends it even if this process dies."""
        self._append(post, b"sent")

    def answered(self, post: str, status: int | None) -> None:
        """Record the receiver's status, or None if there will be no answer."""
        self._append(post, _FAILED if status is None else str(status).encode())

    def read(self, post: str) -> JournalEntry:
        """Return the recorded state of the post."""
        try:
            lines = (self._folder / post).read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return JournalEntry()
        statuses = [int(line) for line in lines if line.isdigit()]
        return JournalEntry(sent=True, status=statuses[-1] if statuses else None, failed=_FAILED in lines)

    def forget(self, post: str) -> None:
        """Delete the entry after the database has stored the result."""
        (self._folder / post).unlink(missing_ok=True)

    def _append(self, post: str, word: bytes) -> None:
        try:
            with (self._folder / post).open("ab", buffering=0) as file:
                file.write(word + b"\n")
        except OSError as error:  # full disk: the post continues, but its answer is lost if this process dies
            _log.warning("webhook not recorded in the journal", error=type(error).__name__)

    def _folder_name(self) -> str:
        path = self._folder / _NAME_FILE
        draft = path.with_name(new_id("place"))
        draft.write_text(draft.name)
        try:
            path.hardlink_to(draft)  # when several senders start at once, all use the name of the first
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return path.read_text()

    def _forget_old(self) -> None:
        before = time.time() - KEPT_SECONDS
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):  # another sender has just removed it
                if path.name != _NAME_FILE and path.stat().st_mtime < before:
                    path.unlink()


def _boot() -> str:
    """Return the id of the machine's boot, or an id of this process if the system has none."""
    return _BOOT.read_text().strip() if _BOOT.exists() else new_id("run")
