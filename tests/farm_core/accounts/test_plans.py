"""Limits of an account, from its plan and its own columns."""

from __future__ import annotations

import pytest

from farm_core.accounts.models import Account
from farm_core.accounts.plans import PLANS, BadLimit, limits_of, set_limit


def account(**columns: object) -> Account:
    return Account(id="acc_1", name="ada", **columns)  # type: ignore[arg-type]


def test_an_account_has_its_plans_limits() -> None:
    assert limits_of(account()) == PLANS["pro"]
    assert limits_of(account(plan="free")) == PLANS["free"]


def test_a_limit_set_for_the_account_wins_until_the_plans_is_given_back() -> None:
    ada = account()
    set_limit(ada, "monthlyApiRequests=3")
    assert limits_of(ada).monthly_api_requests == 3
    set_limit(ada, "monthlyApiRequests=null")
    assert limits_of(ada).monthly_api_requests is None
    set_limit(ada, "monthlyApiRequests=4")
    assert limits_of(ada).monthly_api_requests == 4
    set_limit(ada, "monthlyApiRequests=plan")
    assert limits_of(ada) == PLANS["pro"]


@pytest.mark.parametrize(
    "assignment", ["apiEnabled=null", "apiEnabled=yes", "x=1", "maxUploadBytes", "maxUploadBytes=1.5"]
)
def test_an_invalid_limit_is_refused(assignment: str) -> None:
    with pytest.raises(BadLimit):
        set_limit(account(), assignment)
