"""First import of the programs that serve the farm: they import their code with less processor time.

Collections of garbage find nothing while code is imported. Each program enables them when it is ready.
"""

from __future__ import annotations

import gc

from farm_core.optional_libraries import without

gc.disable()
with without("opentelemetry.sdk.metrics"):  # for metrics of the Redis client, which are off
    import redis.asyncio  # noqa: F401
