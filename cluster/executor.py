"""Choose the scheduler's executor from the settings."""

from __future__ import annotations

from farm_core.settings import Settings
from scheduler.ports import RenderExecutor


def executor_of(settings: Settings) -> RenderExecutor:
    """Return an executor for the settings' Ray cluster. Raises ValueError unless they name exactly one."""
    from cluster.ray_executor import RayExecutor  # noqa: PLC0415 - Ray is slow to import

    if settings.ray_address is None:
        raise ValueError("set RAY_ADDRESS")
    if len(settings.ray_addresses) != 1:
        raise ValueError("RAY_ADDRESS names several clusters, and a scheduler joins one: choose it with --cluster")
    return RayExecutor(settings, settings.ray_address)
