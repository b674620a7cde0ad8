"""Bodies in which every member is an error. Reporting each one would block the API for many seconds."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from api.batches.service import FAULTS_MAX
from api.renders.rules import NO_UPLOAD
from farm_core.strict_json import MEMBERS_MAX
from tests.api.world import Someone, World, document, field, layer, text_template

MANY = 500_000
CROWDS: dict[str, tuple[str, Callable[[], Any], str]] = {
    "unknown fields": ("/renders", lambda: {f"field{number}": 1 for number in range(MANY)}, "body"),
    "unknown inputs": (
        "/renders",
        lambda: {"templateId": "x", "inputs": {f"i{number}": 1 for number in range(MANY)}},
        "inputs",
    ),
    "unknown scopes": ("/keys", lambda: {"scopes": ["x"] * MANY}, "scopes"),
    "fields of a template": ("/templates", lambda: {f"field{number}": 1 for number in range(MANY)}, "body"),
    "inputs of a row": ("/batches", lambda: {"templateId": "x", "rows": [{"inputs": [0] * MANY}]}, "rows.0.inputs"),
}
"""Path, body and faulty field. Each process that collects this module would keep bodies for its whole run."""


@pytest.mark.service
@pytest.mark.parametrize("kind", CROWDS)
def test_a_crowd_of_faults_is_one_fault(world: World, kind: str) -> None:
    path, body_of, field = CROWDS[kind]
    caller, content = world.account(), json.dumps(body_of()).encode()
    began = time.process_time()  # the server runs in this process
    answer = caller.post(path, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    (fault,) = answer.json()["errors"]
    assert fault["field"] == field and f"at most {MEMBERS_MAX}" in fault["message"]
    assert time.process_time() - began < 3


@pytest.mark.service
def test_a_long_name_is_compared_with_no_field(world: World) -> None:
    caller, content = world.account(), json.dumps({"x" * 9_000 + str(n): 1 for n in range(MEMBERS_MAX)}).encode()
    began = time.process_time()
    answer = caller.post("/keys", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert time.process_time() - began < 3


@pytest.mark.service
def test_names_that_resemble_a_thousand_inputs_are_compared_with_few(world: World) -> None:
    account = world.account()
    names = [f"{'abcdefgh' * 7}{number}" for number in range(1000)]
    card = document(
        layer("n1", "Headline", "text"), fields=[field(name, "text", "n1", "Text", "content") for name in names]
    )
    inputs = [{"id": name, "label": "Headline", "kind": "text"} for name in names]
    template = account.template(document=card, inputs=inputs)
    unknown = {f"{'hgfedcba' * 7}{number:03}": "x" for number in range(3)}
    began = time.process_time()
    assert account.render(template, inputs=unknown).status_code == 400
    rows = [{"inputs": {f"{name}{row}": "x" for name in unknown}} for row in range(100)]
    refused = account.post("/batches", json={"templateId": template, "rows": rows})
    assert time.process_time() - began < 3
    assert refused.json()["errors"][0]["message"] == "is not an input of this template"


@pytest.mark.service
def test_a_document_may_have_many_members(world: World) -> None:
    body = {"name": "p", "animationData": {"keys": [0] * (2 * MEMBERS_MAX)}}
    assert world.account().post("/animations", json=body).status_code in (200, 201)


def test_a_batch_of_hundreds_of_thousands_of_faults_names_some_and_is_not_stored(world: World) -> None:
    """Reporting all errors took 37 s, blocked all other callers, and gave an answer of 50 MB."""
    caller = world.account()
    row = {"inputs": {f"k{index}": 1 for index in range(500)}}
    wanted = {"templateId": text_template(caller), "rows": [row] * 800, "partial": True}
    answer = caller.post("/batches", json=wanted)
    assert answer.status_code == 400
    faults = answer.json()["errors"]
    assert len(faults) == FAULTS_MAX + 1
    assert faults[-1] == {"field": "rows", "message": "have more than 5000 faults; rows after 10 were not checked"}
    assert faults[0]["field"] == "rows.0.k0"
    assert len(answer.content) < 1_000_000


@pytest.mark.service
def test_an_empty_form_of_millions_of_separators_is_refused_before_it_is_parsed(world: World) -> None:
    """Parsing took 5 s, and a sender need not be signed in."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    began = time.process_time()
    answer = world.client.post("/console/sign-in", content=b"&" * 9_000_000, headers=form)
    assert (answer.status_code, "more than 1000 fields" in answer.text) == (400, True)
    assert time.process_time() - began < 3


HOSTS = {
    "combining marks": ("a" + "\u0323\u0307" * 400, 5_000),
    "letters that become eighteen": ("\ufdfa" * 18, 100_000),
}
"""Host names that are slow to normalise, and their number in a batch."""


@pytest.mark.service
@pytest.mark.parametrize("kind", HOSTS)
def test_addresses_of_a_batch_are_checked_until_it_has_enough_faults(world: World, kind: str) -> None:
    """Checking all of them took 20 s and blocked all other callers."""
    host, count = HOSTS[kind]
    caller = world.account()
    rows = 1_000
    names = [f"photo{number}" for number in range(count // rows)]
    values = [[(name, f"http://{host}{row}x{name}.com") for name in names] for row in range(rows)]
    wanted = {"templateId": _gallery(caller, names), "rows": [{"inputs": dict(row)} for row in values]}
    body = json.dumps(wanted, ensure_ascii=False).encode()
    began = time.process_time()
    answer = caller.post("/batches", content=body, headers={"Content-Type": "application/json"})
    assert answer.json()["errors"][0]["message"].endswith("The host name is not valid.")
    assert time.process_time() - began < 8


@pytest.mark.service
def test_a_batch_may_name_more_files_of_the_farm_than_a_statement_has_parameters(world: World) -> None:
    """The answer was 503, as if Postgres were away."""
    caller, rows = world.account(), 1_000
    names = [f"photo{number}" for number in range(70)]
    inputs = [{name: f"{world.origin}/files/uploads/{row}{name}" for name in names} for row in range(rows)]
    wanted = {"templateId": _gallery(caller, names), "rows": [{"inputs": one} for one in inputs]}
    answer = caller.post("/batches", json=wanted)
    assert (answer.status_code, answer.json()["errors"][0]["message"]) == (400, NO_UPLOAD)


def _gallery(caller: Someone, names: list[str]) -> str:
    """Create a template with an image input for each name; return its id."""
    pictures = [layer(name, name, "image", src="") for name in names]
    exposed = [field(name, "image", name, "Transform", "src") for name in names]
    inputs = [{"id": name, "label": name, "kind": "image"} for name in names]
    return caller.template(document=document(*pictures, fields=exposed), inputs=inputs)


@pytest.mark.service
@pytest.mark.parametrize("core", ["", '"\\u0001"'], ids=["empty", "with control characters"])
def test_a_small_body_of_very_many_lists_is_checked_in_the_sandbox(world: World, core: str) -> None:
    """250 kB blocked the event loop for 0.4 s, and an account can send hundreds a minute."""
    caller, lists = world.account(), ",".join(["[" * 248 + core + "]" * 248] * 500)
    began = time.process_time()
    for _ in range(20):
        answer = caller.post("/keys", content=f'{{"a":[{lists}]}}', headers={"Content-Type": "application/json"})
        assert answer.status_code == 400
    assert time.process_time() - began < 3
