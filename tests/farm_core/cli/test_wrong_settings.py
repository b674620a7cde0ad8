"""Errors in settings of the environment and `.env`: each message names the setting and what is allowed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from farm_core import __main__ as farm
from farm_core.settings import settings
from farm_core.storage.choice import storage_of
from farm_core.storage.links import Links

CommandError = Callable[..., str]


def test_every_wrong_setting_is_named_with_what_is_allowed(command_error: CommandError) -> None:
    wrong = {
        "LOG_LEVEL": "loud", "ENCODER": "h265", "PUBLIC_ORIGIN": "farm.example.com", "METRICS_PORT": "70000",
        "AUTOMATION_RENDERS_PER_MINUTE": "many", "DATABASE_URL": "mysql://db/farm", "REDIS_URL": "localhost",
        "S3_ENDPOINT_URL": "minio:9000", "TRUSTED_PROXIES": "127.0.0.1, proxy", "RESULT_DAYS": "inf",
        "OUTPUT_FORMATS": "mp4,avi", "CORS_ORIGINS": "https://a.example/app", "JOB_SECONDS_MAX": "inf", "RAY_ADDRESS": "head",
        "WORKERS_MAX": "2", "WORKERS_MIN": "3",
    }  # fmt: skip
    os.environ.update(wrong)
    error = command_error("account", "list")
    named = [line.split(":")[0].strip() for line in error.splitlines()[1:]]
    assert sorted([*named, "WORKERS_MAX"]) == sorted(wrong)
    allowed = (
        "'DEBUG'", "'libx264'", "https://farm.example.com", "65535", "valid integer", "postgresql://", "'avi' is no format",
        "https://app.example.com", "finite", "head.example.com:6379", "at most WORKERS_MAX, which is 2",
    )  # fmt: skip
    assert [words for words in allowed if words not in error] == []
    assert "?:" not in error and "[^" not in error, "a regular expression"


@pytest.mark.parametrize("url", ["postgresql://u:p@farm:port/db", "postgresql://u:p@[::1/db"])
def test_an_address_of_postgres_that_cannot_be_read_is_named(command_error: CommandError, url: str) -> None:
    os.environ["DATABASE_URL"] = url
    assert command_error("account", "list").startswith("farm: DATABASE_URL is not an address of Postgres: ")


def test_proxies_are_addresses_and_networks(folder_of_commands: Path) -> None:
    os.environ["TRUSTED_PROXIES"] = "127.0.0.1, 10.0.0.0/8, ::1"
    assert settings().trusted_proxies == "127.0.0.1,10.0.0.0/8,::1"


def test_a_data_folder_without_a_name_is_refused(folder_of_commands: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        farm.main(["account", "list", "--data", ""])
    assert ended.value.code == 2
    assert "the folder's name is empty" in capsys.readouterr().err
    assert list(folder_of_commands.iterdir()) == []


def test_an_env_file_that_is_no_text_is_named(command_error: CommandError, folder_of_commands: Path) -> None:
    (folder_of_commands / ".env").write_bytes(b"\xff\xfe\x00")
    assert ".env" in command_error("account", "list")


def test_a_misspelled_name_in_the_env_file_is_named(
    folder_of_commands: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = "AWS_REGION=eu-west-1\nRAY_AUTH_TOKEN=0\nOTEL_EXPORTER_OTLP_TRACES_HEADERS=a\nWORKERS=1\n"
    (folder_of_commands / ".env").write_text(f"PUBLIC_ORIGN=https://farm.example.com\n{others}")
    settings()
    warning = "farm: warning: PUBLIC_ORIGN in .env is no setting; did you mean PUBLIC_ORIGIN?\n"
    assert capsys.readouterr().err == warning
    settings.cache_clear()
    settings()  # with the environment that the farm's processes inherit
    assert capsys.readouterr().err == ""


@pytest.mark.thorough
def test_awss_variables_may_stand_in_the_env_file_beside_the_bucket(folder_of_commands: Path) -> None:
    (folder_of_commands / ".env").write_text(
        "S3_BUCKET=videos\nS3_REGION=eu-west-1\nAWS_ACCESS_KEY_ID=AKIDTEST\nAWS_SECRET_ACCESS_KEY=s\n"
    )
    os.environ.pop("AWS_ACCESS_KEY_ID", None)
    storage = storage_of(settings(), Links(b"secret"))
    assert "AKIDTEST" in storage.link("results/a.mp4", int(time.time()) + 3600, "https://farm.example.com")


def test_the_environment_comes_before_the_env_file(folder_of_commands: Path) -> None:
    (folder_of_commands / ".env").write_text("RESULT_DAYS=3\nWORKERS=7\n")
    os.environ |= {"RESULT_DAYS": "5"}
    assert (settings().result_days, settings().workers) == (5, 7)
