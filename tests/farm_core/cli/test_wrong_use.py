"""Errors on the command line: one message says what is wrong and what is allowed, without a traceback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from cluster.embedded import valkey
from cluster.local.ray_head import free_port
from farm_core import __main__ as farm
from farm_core import running
from farm_core.db import answering
from farm_core.db.urls import libpq_url
from tests.farm_core.commands import start_command
from tests.gpu_renderer.documents import document, layer, write_document
from tests.patience import HANG_SECONDS
from tests.s3_server import S3Server

ROOT = Path(__file__).resolve().parents[3]
CommandError = Callable[..., str]


def error_of_up(folder: Path) -> str:
    """Return the message of an `up` that fails to start. It runs as a process, because it configures logging."""
    with start_command("up", "--port", str(free_port()), folder=folder) as up:
        error = up.communicate(timeout=HANG_SECONDS)[1]
    assert up.returncode == 1
    return error


@pytest.mark.service
@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"S3_BUCKET": "other"}, "there is no bucket other"), ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "Forbidden")],
)
def test_up_says_at_once_why_the_bucket_cannot_be_used(
    folder_of_commands: Path, s3_server: S3Server, wrong: dict[str, str], message: str
) -> None:
    os.environ.update(s3_server.environment | wrong)
    error = error_of_up(folder_of_commands)
    assert "the bucket cannot be used" in error and message in error and "check S3_BUCKET" in error


@pytest.mark.service
def test_up_waits_for_a_server_that_is_still_starting(folder_of_commands: Path, s3_server: S3Server) -> None:
    (redis := folder_of_commands / "redis").mkdir()
    os.environ |= s3_server.environment | {"S3_BUCKET": "other", "REDIS_URL": valkey.url_of(redis)}
    with start_command("up", "--port", str(free_port()), folder=folder_of_commands) as up:
        assert up.stderr is not None
        line = up.stderr.readline()
        assert "waits for a server" in line and "Redis" in line
        server = valkey.start(redis)
        error = up.communicate(timeout=HANG_SECONDS)[1]
        server.stop()
    assert error == (
        "farm: the bucket cannot be used: there is no bucket other; check S3_BUCKET, S3_ENDPOINT_URL and the AWS variables\n"
    )


@pytest.mark.parametrize("server", ["farm.example.com", "ftp://farm", "http://", "http://[::1", "http://farm:port"])
def test_the_address_of_a_farm_is_a_web_address(
    folder_of_commands: Path, capsys: pytest.CaptureFixture[str], server: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        farm.main(["mcp", "--server", server, "--key", "k"])
    assert ended.value.code == 2
    assert f"--server: {server!r} is not an address such as https://farm.example.com" in capsys.readouterr().err


def test_a_key_with_letters_that_no_key_has_is_refused(command_error: CommandError, folder_of_commands: Path) -> None:
    error = command_error("mcp", "--server", "http://127.0.0.1:9", "--key", "Schlüssel")
    assert error == "farm: --key: the key or token has letters that no key has: copy it again\n"


def test_a_file_where_a_folder_is_meant_is_named(command_error: CommandError, folder_of_commands: Path) -> None:
    (folder_of_commands / "file").touch()
    for words in (("up",), ("account", "list")):
        assert str(folder_of_commands / "file") in command_error(*words, "--data", "file")


def test_a_folder_that_can_hold_no_files_is_named(command_error: CommandError) -> None:
    assert command_error("up", "--data", "/proc/farm").startswith("farm: /proc/farm cannot hold files. ")


def test_cases_that_are_not_there_are_named(command_error: CommandError) -> None:
    assert "cases.jsonl: No such file or directory" in command_error("stills", "cases.jsonl")


@pytest.mark.parametrize(
    "words",
    [
        ["up", "--port", "0"], ["up", "--port", "99999"], ["up", "--workers", "0"], ["up", "--schedulers", "-1"],
        ["token", "ada", "--ttl", "0"], ["token", "ada", "--ttl", "99999999999999"], ["jobs", "--limit", "-1"],
        ["webhooks", "--limit", "x"], ["verify", "job", "--segments", "0"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_number_out_of_bounds_ends_with_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        farm.main(words)
    assert ended.value.code == 2
    assert "is not a whole number" in capsys.readouterr().err


def test_a_port_in_use_is_reported_before_anything_is_started(folder_of_commands: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        up = start_command("up", "--port", port, "--data", "data", folder=folder_of_commands)
        _, error = up.communicate(timeout=HANG_SECONDS)
    assert up.returncode == 1
    assert error == f"farm: cannot listen on 127.0.0.1, port {port}: Address already in use; see --host and --port\n"
    assert not (folder_of_commands / "data" / "postgres").exists()


@pytest.mark.service
def test_a_database_of_a_newer_farm_is_left_alone(command_error: CommandError, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("UPDATE schema_state SET oldest_head = '9998'")
    os.environ["DATABASE_URL"] = database_url
    assert "newer version" in command_error("account", "list")


def test_a_database_that_does_not_answer_is_reported(command_error: CommandError) -> None:
    os.environ["DATABASE_URL"] = "postgresql://farm:geheim@127.0.0.1:1/farm"
    error = command_error("account", "list")
    assert "127.0.0.1" in error
    assert "geheim" not in error


def test_a_database_that_accepts_connections_and_is_silent_is_reported(command_error: CommandError) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/farm"
        assert "timeout expired" in str(answering.fault_of(url))
        os.environ["DATABASE_URL"] = url
        assert command_error("account", "list") == "farm: the database cannot be used: connection timeout expired\n"


def test_a_template_is_not_added_while_the_database_is_away(
    command_error: CommandError, folder_of_commands: Path
) -> None:
    away = running.Running("postgresql://127.0.0.1:1/farm", "redis://127.0.0.1:1", "http://127.0.0.1:1", os.getpid())
    running.write(folder_of_commands, away)
    error = command_error(
        "template",
        "add",
        str(write_document(folder_of_commands, document(layer("square")))),
        "--account",
        "ada",
        "--data",
        str(folder_of_commands),
    )
    assert error.startswith("farm: the database failed: ") and "127.0.0.1" in error


def test_no_token_is_made_that_the_farm_would_not_take(command_error: CommandError) -> None:
    os.environ["JWT_JWKS_URL"] = "https://login.example.com/keys"
    assert "JWT_JWKS_URL" in command_error("token", "ada")


def test_a_reader_that_has_read_enough_ends_a_command_quietly(folder_of_commands: Path) -> None:
    with start_command(
        "inspect", str(write_document(folder_of_commands, document(layer("square")))), folder=folder_of_commands
    ) as shown:
        assert shown.stdout is not None and shown.stderr is not None
        shown.stdout.close()
        assert (shown.stderr.read(), shown.wait(HANG_SECONDS)) == ("", 128 + signal.SIGPIPE)


def test_a_command_names_a_library_that_the_system_lacks(tmp_path: Path, folder_of_commands: Path) -> None:
    (tmp_path / "libEGL.so.1").touch()
    done = subprocess.run(
        [sys.executable, "-m", "farm_core", "render", "--help"], cwd=folder_of_commands, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "LD_LIBRARY_PATH": str(tmp_path)}, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("farm: ") and len(done.stderr.splitlines()) == 1
    assert "libEGL.so.1" in done.stderr and "libegl1" in done.stderr


@pytest.mark.gl
@pytest.mark.service
def test_the_doctor_names_every_part_that_cannot_be_used(
    folder_of_commands: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder_of_commands / "file").touch()
    os.environ |= {
        "DATABASE_URL": "postgresql://127.0.0.1:1/farm", "REDIS_URL": "redis://127.0.0.1:1", "RAY_ADDRESS": "127.0.0.1:1",
        "FONT_FOLDERS": "/none", "METRICS_PORT": "9091", "METRICS_HOST": "nowhere.invalid",
    }  # fmt: skip
    assert farm.main(["doctor", "--data", "file"]) == 1
    error = capsys.readouterr().out
    bad = [line.split()[1] for line in error.splitlines() if line.startswith("BAD")]
    assert bad == ["postgres:", "redis:", "storage:", "ray:", "disk:"]
    assert "there is no folder /none" in error and "Check METRICS_HOST" in error
    assert error.endswith("The farm could not work here.\n")


@pytest.mark.parametrize(
    "words", [["jobs"], ["workers"], ["queue"], ["account", "list"], ["verify", "job_one"]], ids=" ".join
)
def test_a_command_in_a_folder_without_a_farm_says_so_and_makes_none(
    command_error: CommandError, folder_of_commands: Path, words: list[str]
) -> None:
    os.environ.pop("DATABASE_URL", None)
    error = command_error(*words, "--data", str(folder_of_commands / "elsewhere"))
    assert "no farm has run on" in error
    assert "--data" in error
    assert not (folder_of_commands / "elsewhere").exists()


def test_a_project_that_is_not_there_is_not_taken_for_a_template(
    command_error: CommandError, folder_of_commands: Path
) -> None:
    (folder_of_commands / "rows.csv").write_text("name\nada\n")
    error = command_error("batch", "promo.motion", "rows.csv", "--out", "{name}.mp4")
    assert error == "farm: promo.motion does not exist\n"


def test_a_backup_is_not_written_over_a_folder(command_error: CommandError, folder_of_commands: Path) -> None:
    folder = folder_of_commands
    assert f"{folder} is a folder; name a file in it" in command_error("backup", str(folder), "--force")


@pytest.mark.service
def test_an_account_that_is_misspelled_is_not_made(
    command_error: CommandError, folder_of_commands: Path, database_url: str
) -> None:
    folder = folder_of_commands
    running.write(folder, running.Running(database_url, "redis://127.0.0.1:1", "http://127.0.0.1:1", os.getpid()))
    file = str(write_document(folder, document(layer("square"))))
    error = command_error("template", "add", file, "--account", "studoi", "--data", str(folder))
    assert error == "farm: there is no account 'studoi'; `./farm account list` lists all\n"
    error = command_error("template", "add", file, "--data", str(folder))
    assert error.startswith("farm: works as the account local; --account NAME names another\n"), (
        "it is said if none is named"
    )


@pytest.mark.service
def test_a_database_that_goes_away_while_a_command_runs_is_named(
    command_error: CommandError, folder_of_commands: Path, database_url: str
) -> None:
    os.environ["DATABASE_URL"] = database_url
    end_waiting = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%jobs%'"
    )
    with psycopg.connect(libpq_url(database_url), autocommit=True) as other, ThreadPoolExecutor(1) as pool:
        with other.transaction():
            other.execute("LOCK TABLE jobs")
            ended = pool.submit(_until_found, libpq_url(database_url), end_waiting)
            error = command_error("jobs")
        ended.result()
    assert error == "farm: the database failed: terminating connection due to administrator command\n"


def _until_found(url: str, statement: str) -> None:
    """Execute a statement repeatedly until it finds a row."""
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(statement).fetchone() is None:
            time.sleep(0.02)


def test_a_job_to_show_must_be_named(command_error: CommandError, folder_of_commands: Path) -> None:
    assert command_error("jobs", "show").startswith("farm: name a job: `./farm jobs show JOB`")


def test_help_of_a_command_can_be_asked_for_first(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        farm.main(["help", "render"])
    assert ended.value.code == 0
    assert "farm render" in capsys.readouterr().out
    assert farm.main(["help", "rendr"]) == 2
    assert "there is no command 'rendr'" in capsys.readouterr().err


def test_modules_of_the_folder_where_a_command_is_given_are_left_alone(tmp_path: Path) -> None:
    for name in ("argparse", "json", "farm_core"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of the wrong folder')")
    done = subprocess.run([ROOT / "farm", "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("render-farm ")


def test_a_file_that_is_no_backup_is_called_so(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear all," * 1000)
    command = [str(ROOT / "farm"), "restore", str(file), "--data", str(tmp_path / "data")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"farm: {file} is no backup of a farm, or damaged")
    assert not (tmp_path / "data").exists()


def test_the_agents_server_names_a_port_that_is_taken(command_error: CommandError) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        error = command_error("mcp", "--http", "--port", port, "--server", "http://127.0.0.1:1", "--key", "k")
    assert f"cannot listen on 127.0.0.1, port {port}" in error


def test_the_agents_server_says_where_it_listens(folder_of_commands: Path) -> None:
    words = ("mcp", "--http", "--port", str(free_port()), "--server", "http://127.0.0.1:1", "--key", "k")
    with start_command(*words, folder=folder_of_commands) as server:
        assert server.stderr is not None
        assert server.stderr.readline() == f"serves http://127.0.0.1:{words[3]}/mcp until Ctrl-C\n"
        server.send_signal(signal.SIGINT)
        assert "Traceback" not in server.communicate(timeout=HANG_SECONDS)[1]
