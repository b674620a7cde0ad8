"""Permissions of an API key."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """The five scopes."""

    renders_read = "renders:read"
    renders_write = "renders:write"
    templates_read = "templates:read"
    templates_write = "templates:write"
    usage_read = "usage:read"


DEFAULT_SCOPES: Final = (Scope.renders_read, Scope.renders_write, Scope.templates_read, Scope.usage_read)
