"""How long a test waits for something that always comes."""

from typing import Final

HANG_SECONDS: Final = 200
"""Below pytest's own limit, so that the place that hangs is named. It measures nothing: on a busy machine every step takes ten times as long."""
