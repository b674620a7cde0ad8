"""Time limit for waiting."""

from typing import Final

HANG_SECONDS: Final = 200
"""Below pytest's own limit, so that the failure shows the place that hangs. On a busy machine every step takes ten
times as long."""
