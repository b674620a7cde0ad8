"""Logs contain no secrets."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

import pytest

from farm_core.telemetry.logs import scrubbed


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key pm_live_abcDEF123-_x used", "pm_live_abcDEF123-_x"),
        ("Authorization: Bearer eyJhbGciOi.eyJzdWIi.c2ln", "eyJhbGciOi.eyJzdWIi.c2ln"),
        ("http://farm/files/a.mp4?expires=1&signature=0123abcd", "0123abcd"),
        ("https://bucket/a?X-Amz-Signature=feed&x=1", "feed"),
        ("postgresql://ada:hunter2@db/farm", "hunter2"),
    ],
)
def test_secrets_are_hidden_wherever_they_stand(text: str, secret: str) -> None:
    assert secret not in scrubbed(text)


def test_the_rest_of_a_line_stays() -> None:
    assert scrubbed("GET /files/a.mp4?expires=1&signature=ab&filename=x") == (
        "GET /files/a.mp4?expires=1&signature=[hidden]&filename=x"
    )


def test_texts_of_others_neither_command_a_terminal_nor_pass_for_lines_of_the_log() -> None:
    code = """
        import logging
        from farm_core.telemetry import logs
        logs.set_up(human=True)
        hostile = "\\x1b]52;c;Zm9v\\x07\\u202ea\\x9b2J\\nforged line"
        try:
            raise ValueError(hostile)
        except ValueError:
            logs.logger("farm").error("failed", exc_info=True, path=hostile)
        logging.getLogger("library").warning("cannot read %s", hostile)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=True)
    shown = ran.stderr.decode()
    assert shown.count("forged line") == 3
    assert not any(command in shown for command in ("\x1b]", "\x07", "\u202e", "\x9b"))
    assert not any(line.startswith("forged") for line in shown.splitlines())


def test_lines_for_people_have_no_colours_in_a_file() -> None:
    code = "from farm_core.telemetry import logs; logs.set_up(human=True); logs.logger('farm').warning('the disk is full', folder='/data')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert re.fullmatch(r"\S+ \[warning +\] the disk is full +folder=/data\n", ran.stderr)


def test_a_logger_in_use_follows_logs_that_are_set_up_again() -> None:
    code = """
        from structlog.testing import capture_logs
        from farm_core.telemetry import logs
        logs.set_up()
        log = logs.logger("farm")
        log.info("in use")
        logs.set_up()
        with capture_logs() as lines:
            log.info("captured")
        assert [line["event"] for line in lines] == ["captured"]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=True)
