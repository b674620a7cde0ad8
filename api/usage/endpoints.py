"""`/v1/usage`."""

from __future__ import annotations

from dataclasses import asdict

from api.dependencies import AppStateOf, CallerOf, Reading
from api.documentation import answers
from api.route import needs, public_router
from api.usage.schemas import AccountLimits, UsageRecord
from farm_core.accounts import repository as accounts
from farm_core.accounts.plans import limits_of
from farm_core.accounts.scopes import Scope
from farm_core.usage import repository
from farm_core.usage.period import MS_PER_MINUTE

router = public_router("/usage", "usage")


@router.get("", openapi_extra=needs(Scope.usage_read, conditional=True), responses=answers())
async def get_usage(work: Reading, state: AppStateOf, caller: CallerOf) -> UsageRecord:
    """Return the account's usage of this month, and its limits."""
    now = state.clock.now()
    account_id = caller.account.id
    used = await repository.of_month(work, account_id, now)
    minutes = await repository.minutes(work, account_id, now)
    limits = asdict(limits_of(caller.account))
    del limits["max_storage_bytes"]  # the API's record has no storage; the console and quota errors show it
    return UsageRecord(
        period=used.period,
        render_jobs=used.render_jobs,
        render_duration_ms=used.render_duration_ms,
        rendered_minutes=minutes.rendered_ms / MS_PER_MINUTE,
        reserved_render_minutes=minutes.reserved_ms / MS_PER_MINUTE,
        api_requests=used.api_requests,
        asset_processing_bytes=used.asset_bytes,
        active_api_keys=await accounts.active_keys(work, account_id, now),
        limits=AccountLimits(**limits),
    )
