"""Dependencies of the scheduler's services."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from farm_core.clock import Clock
from farm_core.db.database import Database
from farm_core.net.fetch import Guard
from farm_core.progress.changes import ChangePublisher
from farm_core.progress.reader import ProgressReader
from farm_core.sandbox import Sandbox
from farm_core.settings import Settings
from farm_core.stills.exchange import StillExchange
from farm_core.storage.port import Storage
from scheduler.ports import RenderExecutor


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Everything outside the scheduler: database, storage, executor, network guards, clock, settings."""

    database: Database
    storage: Storage
    executor: RenderExecutor
    media_guard: Guard
    callback_guard: Guard
    clock: Clock
    settings: Settings
    scratch: Path
    """Folder of this process for files that are about to be uploaded to storage."""
    progress: ProgressReader
    changes: ChangePublisher
    stills: StillExchange | None = None
    """Source of requests for stills, or None if this scheduler draws none."""
    sandbox: Sandbox = field(default_factory=Sandbox)
    """Worker processes that read untrusted media and documents."""
