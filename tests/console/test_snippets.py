"""Code that the console shows for a render runs as shown, whatever its inputs contain."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys

import pytest

from console.snippets import snippets
from tests.api.world import World, text_template
from tests.console.people import Person

pytestmark = pytest.mark.service

RUN = {"curl": ["bash", "-c"], "python": [sys.executable, "-c"], "javascript": ["node", "--input-type=module", "-e"]}


def _skip_without(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


@pytest.mark.parametrize("language", RUN)
def test_code_creates_the_render_that_it_shows(own_world: World, language: str) -> None:
    program = RUN[language]
    _skip_without("curl" if language == "curl" else program[0])
    ada = own_world.account()
    headline = 'It\'s "quoted" $HOME `x` ${y} \\n \'\'\'three\'\'\' """more"""\nשלום 🎉'
    shown = {one.id: one.code for one in snippets(own_world.origin, text_template(ada), {"headline": headline})}
    key = ada.new_key().headers["Authorization"].removeprefix("Bearer ")
    environment = {**os.environ, "FARM_KEY": key}
    done = subprocess.run([*program, shown[language]], env=environment, capture_output=True, text=True, check=False)
    refused = subprocess.run(
        [*program, shown[language]],
        env=environment | {"FARM_KEY": "pm_live_x"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode != 0
    assert '"statusCode":401' in refused.stdout + refused.stderr
    assert done.returncode == 0, done.stderr
    (job,) = ada.get("/renders").json()["items"]
    assert job["jobId"] in done.stdout
    ((inputs,),) = own_world.database.execute("SELECT inputs FROM jobs").fetchall()
    assert inputs == {"headline": headline}


@pytest.mark.parametrize(
    "scopes", [["templates:read", "renders:read"], ["renders:read"], ["usage:read"], ["renders:write"]]
)
def test_a_new_key_comes_with_a_call_that_it_can_make(member: Person, scopes: list[str]) -> None:
    page = member.post("/account/keys", name="first", scope=scopes).text
    found = re.search(r'<pre id="first-call"[^>]*>(.*?)</pre>', page, re.DOTALL)
    if scopes == ["renders:write"]:  # this key has no read permission
        assert found is None
        return
    assert found is not None
    _skip_without("curl")
    done = subprocess.run(["bash", "-ec", html.unescape(found[1])], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("renderedMinutes" if scopes == ["usage:read"] else '"items"') in done.stdout


def test_each_code_says_where_to_put_it_and_its_key(member: Person) -> None:
    shown = member.text(f"/templates/{text_template(member.api)}/playground")
    for words in ("render.py", "render.mjs", "terminal", "a credential of the type Header Auth"):
        assert words in shown
