"""Cost of `POST /v1/renders` over HTTP, on a database with many jobs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import psycopg

from benchmarks.service.api_process import running_api
from farm_core.accounts import tokens
from farm_core.db.urls import libpq_url
from farm_core.secret import farm_secret

TOKEN_SECONDS = 3600
WARM_POSTS = 20


def posted(folder: Path, database_url: str, account_id: str, template_id: str, rounds: int) -> Sequence[float]:
    """Return the milliseconds of so many requests of the account, one after the other, each on the same connection.

    `folder` holds the folder `postgres` of a running server, which the API uses too. The account's plan becomes "unlimited".
    """
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        connection.execute("UPDATE accounts SET plan = 'unlimited' WHERE id = %s", [account_id])
    with running_api(folder) as api:
        token = tokens.issue(farm_secret(api.settings), account_id, TOKEN_SECONDS)
        with httpx.Client(base_url=f"{api.origin}/api/v1", headers={"Authorization": f"Bearer {token}"}) as client:
            times = [_milliseconds(client, template_id) for _ in range(WARM_POSTS + rounds)]
    return times[WARM_POSTS:]


def _milliseconds(client: httpx.Client, template_id: str) -> float:
    began = time.perf_counter()
    answer = client.post("/renders", json={"templateId": template_id, "inputs": {}})
    took = 1000 * (time.perf_counter() - began)
    answer.raise_for_status()
    return took
