"""First import of the farm's programs that import Ray: it takes a quarter less time."""

from __future__ import annotations

from farm_core.optional_libraries import delay

delay("jsonschema", "requests")  # for runtime environments and Google's accelerators
