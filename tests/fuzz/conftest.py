"""The fixtures of the API's tests."""

from tests.api.conftest import _quiet_logs, settings, start, world

__all__ = ["_quiet_logs", "settings", "start", "world"]
