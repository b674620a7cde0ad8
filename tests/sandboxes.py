"""Sandbox shared by the apps and schedulers of a test process."""

from typing import Final

from farm_core.sandbox import Sandbox


class KeptSandbox(Sandbox):
    """Sandbox that ignores `close`, because starting a worker takes 0.4 s of processor time. Its workers end with the
    process."""

    def close(self) -> None:
        """Keep the workers for the next app or scheduler."""


SHARED: Final = KeptSandbox()
