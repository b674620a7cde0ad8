"""Bodies whose every member is a fault: answering each one would keep the API from everybody else for many seconds."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from api.batches.service import FAULTS_MAX
from farm_core.strict_json import MEMBERS_MAX
from tests.api.world import World, document, field, layer, text_template

MANY = 500_000
CROWDS: dict[str, tuple[str, Any, str]] = {
    "unknown fields": ("/renders", {f"field{number}": 1 for number in range(MANY)}, "body"),
    "unknown inputs": (
        "/renders",
        {"templateId": "x", "inputs": {f"i{number}": 1 for number in range(MANY)}},
        "inputs",
    ),
    "unknown scopes": ("/keys", {"scopes": ["x"] * MANY}, "scopes"),
    "fields of a template": ("/templates", {f"field{number}": 1 for number in range(MANY)}, "body"),
    "inputs of a row": ("/batches", {"templateId": "x", "rows": [{"inputs": [0] * MANY}]}, "rows.0.inputs"),
}


@pytest.mark.service
@pytest.mark.parametrize("kind", CROWDS)
def test_a_crowd_of_faults_is_one_fault(world: World, kind: str) -> None:
    path, body, field = CROWDS[kind]
    caller, content = world.account(), json.dumps(body).encode()
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
    """All of them took 37 s, in which nobody else was answered, and made an answer of 50 MB."""
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
