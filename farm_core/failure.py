"""Failures of a command that its user can fix."""

from __future__ import annotations


class Failure(Exception):
    """The message says what is wrong and where to look, for the person at the terminal: it may name paths and hosts."""
