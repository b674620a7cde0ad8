"""Refusals of controls, used as API answers and as messages of commands."""

from __future__ import annotations

from farm_core.errors import Conflict, NotFound
from farm_core.failure import Failure


class NoSuchTarget(NotFound, Failure):
    """The account, worker, node or job does not exist."""


class NotAllowed(Conflict, Failure):
    """The control is not possible in the target's current state."""
