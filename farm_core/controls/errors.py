"""Refusals of controls. They are answers of the API and messages of commands alike."""

from __future__ import annotations

from farm_core.errors import Conflict, NotFound
from farm_core.failure import Failure


class NoSuchTarget(NotFound, Failure):
    """There is no such account, worker, node or job."""


class NotAllowed(Conflict, Failure):
    """The state of the target does not allow the control."""
