"""All tables, imported so that the metadata is complete."""

from __future__ import annotations

from sqlmodel import SQLModel

from farm_core.accounts.models import Account, ApiKey
from farm_core.assets.models import Asset
from farm_core.audit.models import AuditEntry
from farm_core.batches.models import Batch
from farm_core.db.queue_models import AccountQueue, HeldJob, OpenJob, WaitingJob
from farm_core.db.schema_state import SchemaState
from farm_core.jobs.control_models import DrainedNode, QueueState
from farm_core.jobs.models import Job, JobEvent, Segment, SlowFrame, Task, Worker
from farm_core.presets.models import Preset
from farm_core.sign_in.models import ConsoleSession, SignInLink
from farm_core.statistics.models import CountedUntil, JobMinute
from farm_core.templates.models import Template, TemplateVersion
from farm_core.usage.models import ObjectCharge, Usage
from farm_core.webhooks.models import Delivery

metadata = SQLModel.metadata
"""Metadata of all tables."""
