"""Postgres, storage, Redis or a disk that fails is a 503 that may be tried again, and no error shows internals."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
from structlog.testing import capture_logs

from tests.api.test_errors import check
from tests.api.world import World, picture, text_template
from tests.s3_server import BUCKET, S3Server

pytestmark = pytest.mark.service


def test_without_postgres_requests_fail_clearly_and_say_nothing_internal(
    start: Callable[..., World], database_url: str
) -> None:
    world = start()
    ada = world.account()
    assert ada.get("/usage").status_code == 200
    unreachable = start(database_url="postgresql://postgres@/farm?host=/nowhere/secret-host")
    with capture_logs() as lines:
        answer = unreachable.client.get("/api/v1/usage", headers=ada.headers)
    (line,) = (line for line in lines if line["event"] == "request failed")
    assert line["error"].startswith("OperationalError: ") and "exc_info" not in line, "14 kB for each request"
    body = check(answer, 503)
    assert answer.headers["Retry-After"]
    assert "secret-host" not in answer.text and "psycopg" not in answer.text
    assert unreachable.client.get("/api/health").status_code == 200
    assert unreachable.client.get("/api/ready").json()["checks"]["postgres"] is False
    assert body["error"] == "Service Unavailable"


END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def test_a_connection_that_broke_is_replaced(own_world: World) -> None:
    ada = own_world.account()
    ada.get("/usage")
    own_world.database.execute(END_OTHERS)
    assert ada.get("/usage").status_code == 200


BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


def test_a_connection_that_stops_answering_is_replaced(start: Callable[..., World]) -> None:
    """As on a frozen machine, or a disk that hangs: the kernel still answers, but no statement ends."""
    world = start(statement_seconds_max=0.1)
    ada = world.account()
    assert ada.get("/usage").status_code == 200
    frozen = [psutil.Process(pid) for (pid,) in world.database.execute(BACKENDS).fetchall()]
    assert frozen
    for backend in frozen:
        backend.suspend()
    try:
        assert ada.get("/usage").status_code == 200
    finally:
        for backend in frozen:
            backend.resume()


def test_a_postgres_without_writes_is_a_503_that_may_be_tried_again(own_world: World) -> None:
    ada = own_world.account()
    database = own_world.database
    database.execute(f'ALTER DATABASE "{database.info.dbname}" SET default_transaction_read_only = on')
    database.execute(END_OTHERS)
    assert check(ada.post("/animations", json={"name": "a", "animationData": {}}), 503)
    assert ada.get("/usage").status_code == 200


def test_a_transaction_that_postgres_ends_is_a_503_that_may_be_tried_again(own_world: World) -> None:
    ada = own_world.account()
    database = own_world.database
    database.execute(f'ALTER DATABASE "{database.info.dbname}" SET transaction_timeout = 300')
    database.execute(END_OTHERS)
    with psycopg.connect(str(own_world.settings.database_url), options="-c transaction_timeout=0") as other:
        other.execute("LOCK TABLE presets")
        assert check(ada.post("/animations", json={"name": "a", "animationData": {}}), 503)


def test_a_statement_that_takes_too_long_is_cancelled(start: Callable[..., World]) -> None:
    world, limited = start(), start(statement_seconds_max=0.5)
    ada = world.account()
    template = text_template(ada)
    limited_ada = replace(ada, world=limited)
    with psycopg.connect(str(world.settings.database_url)) as other:
        other.execute("LOCK TABLE templates")
        answers = [limited_ada.get("/templates"), limited_ada.delete(f"/templates/{template}")]
        for answer in answers:
            assert "took too long" in check(answer, 503)["message"]
            assert answer.headers["Retry-After"] == "30"
    assert ada.get("/templates").json()["total"] == 1


def test_storage_that_is_away_is_a_503_that_may_be_tried_again(
    start: Callable[..., World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = S3Server(tmp_path / "s3")
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    server.start()
    world = start(s3_bucket=BUCKET, s3_endpoint_url=server.url)
    ada = world.account()
    url = ada.upload(picture()).json()["url"]
    server.kill()
    for answer in (ada.upload(picture()), world.client.get(url)):
        assert check(answer, 503)["message"] == "The service is not available right now. Try again."
        assert answer.headers["Retry-After"] == "1"
    assert world.client.get("/api/ready").json()["checks"]["storage"] is False
    server.start()
    assert world.client.get(url).content == picture()
    assert ada.get("/usage").json()["assetProcessingBytes"] == len(picture())
    server.kill()


@pytest.mark.parametrize(
    ("breaks", "mends"),
    [
        (["CONFIG SET maxmemory-policy noeviction", "CONFIG SET maxmemory 1"], ["CONFIG SET maxmemory 0"]),
        (["REPLICAOF 127.0.0.1 1"], ["REPLICAOF NO ONE"]),
    ],
    ids=["full", "replica"],
)
def test_a_redis_that_refuses_writes_is_not_ready(
    own_world: World, redis_url: str, breaks: list[str], mends: list[str]
) -> None:
    def answers() -> bool:
        return bool(own_world.client.get("/api/ready").json()["checks"]["redis"])

    assert answers()
    with redis.Redis.from_url(redis_url) as client:
        policy = client.config_get("maxmemory-policy")["maxmemory-policy"]
        try:
            for command in breaks:
                client.execute_command(*command.split())
            assert client.ping()
            assert not answers()
        finally:
            for command in mends:
                client.execute_command(*command.split())
            client.config_set("maxmemory-policy", policy)
    assert answers()


def test_a_full_disk_of_temporary_files_is_a_503_that_may_be_tried_again(
    own_world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = own_world.account()
    (tmp_path / "full").symlink_to("/dev/full")
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "NamedTemporaryFile", lambda **_: (tmp_path / "full").open("wb"))
        check(ada.upload(picture()), 503)
    assert ada.upload(picture()).status_code == 201
    full, measured = Path(tempfile.gettempdir()), shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda of: measured(of)._replace(free=0 if of == full else 1 << 40))
    assert own_world.client.get("/api/ready").json()["checks"]["storage"] is False


def test_a_large_upload_leaves_space_for_others(own_world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, measured = own_world.account(), shutil.disk_usage
    for free, status in ((900_000_000, 503), (1_100_000_000, 400)):
        monkeypatch.setattr(
            shutil, "disk_usage", lambda of, free=free: measured(of)._replace(total=20_000_000_000, free=free)
        )
        answer = check(ada.upload(bytes(9_000_000)), status)
        assert ("no room for such a large file" in answer["message"]) == (status == 503)
        assert ada.upload(picture()).status_code == 201
    own_world.limit(ada.account_id, maxUploadBytes=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda of: measured(of)._replace(free=900_000_000))
    assert check(ada.upload(bytes(9_000_000)), 413)["code"] == "upload_too_large"
