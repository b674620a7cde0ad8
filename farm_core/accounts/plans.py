"""Plans and the limits of an account. Limits of the account override those of its plan."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from typing import Final

from farm_core.accounts.models import Account
from farm_core.user_error import UserError


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of an account; None means unlimited."""

    api_enabled: bool = True
    monthly_render_minutes: float | None = None
    monthly_api_requests: int | None = None
    max_active_api_keys: int | None = None
    max_upload_bytes: int | None = None
    max_storage_bytes: int | None = None


_MIB, _GIB = 2**20, 2**30

PLANS: Final = {
    "unlimited": Limits(),
    "pro": Limits(
        monthly_render_minutes=60,
        monthly_api_requests=1_000,
        max_active_api_keys=5,
        max_upload_bytes=100 * _MIB,
        max_storage_bytes=50 * _GIB,
    ),
    "free": Limits(
        api_enabled=False,
        monthly_render_minutes=0,
        monthly_api_requests=0,
        max_active_api_keys=0,
        max_upload_bytes=25 * _MIB,
        max_storage_bytes=2 * _GIB,
    ),
}
DEFAULT_PLAN: Final = "unlimited"
"""Plan of new accounts. The operator can set limits."""

NAMES: Final = {
    "apiEnabled": "api_enabled",
    "monthlyRenderMinutes": "monthly_render_minutes",
    "monthlyApiRequests": "monthly_api_requests",
    "maxActiveApiKeys": "max_active_api_keys",
    "maxUploadBytes": "max_upload_bytes",
    "maxStorageBytes": "max_storage_bytes",
}
"""Limit columns by the names that the usage record uses."""

UNLIMITED_WORDS: Final = ("null", "none", "unlimited")


class BadLimit(UserError):
    """The name or value of a limit is invalid; the message says what is allowed."""


def limits_of(account: Account) -> Limits:
    """Return the current limits of the account."""
    plan = PLANS[account.plan]
    own = {field: value for field in asdict(plan) if (value := getattr(account, field)) is not None}
    return replace(plan, **(own | dict.fromkeys(account.unlimited)))


def storage_limit(plan: str, own: int | None, unlimited: Collection[str]) -> int | None:
    """Return the storage limit of an account in bytes, as in `limits_of`, without the whole account."""
    if "max_storage_bytes" in unlimited:
        return None
    return PLANS[plan].max_storage_bytes if own is None else own


def set_limit(account: Account, assignment: str) -> None:
    """Apply `KEY=VALUE` to the account. VALUE is a number, true, false, `null` for unlimited, or `plan` for the
    plan's value.

    Raises BadLimit.
    """
    name, _, value = assignment.partition("=")
    if name not in NAMES:
        raise BadLimit(f"{name!r} is not a limit; the limits are {', '.join(NAMES)}.")
    field = NAMES[name]
    account.unlimited = [other for other in account.unlimited if other != field]
    setattr(account, field, None)
    if value in UNLIMITED_WORDS and field != "api_enabled":
        account.unlimited = [*account.unlimited, field]
    elif value != "plan":
        setattr(account, field, _parsed(name, value))


def _parsed(name: str, value: str) -> bool | int | float:
    if name == "apiEnabled":
        if value not in ("true", "false"):
            raise BadLimit("apiEnabled is true or false.")
        return value == "true"
    try:
        number = float(value) if name == "monthlyRenderMinutes" else int(value)
    except ValueError:
        raise BadLimit(f"{name} is a number, null or plan, not {value!r}.") from None
    most = 2**31 - 1 if name == "maxActiveApiKeys" else 2**53 - 1
    if not 0 <= number <= most:
        raise BadLimit(f"{name} is from 0 to {most}, not {value}.")
    return number
