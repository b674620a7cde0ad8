"""Refusals of controls, used as API answers and as messages of commands."""

from __future__ import annotations

from farm_core.errors import Conflict, NotFound
from farm_core.user_error import UserError


class NoSuchTarget(NotFound, UserError):
    """The account, worker, node or job does not exist."""


class NotAllowed(Conflict, UserError):
    """The control is not possible in the target's current state."""
