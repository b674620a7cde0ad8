"""Check the OpenAPI document against the app with generated requests."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.world import Someone, World
from tests.patience import HANG_SECONDS

pytestmark = pytest.mark.service
EXAMPLES = 10
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
    response_schema_conformance,
]  # fmt: skip


@pytest.fixture(scope="session")
def caller(world: World) -> Someone:
    ada = world.account("schema", maxUploadBytes=10_000, monthlyRenderMinutes=None)
    ada.post("/animations", json={"name": "Bounce", "animationData": {}})
    ada.job()
    return ada


@pytest.fixture(scope="session")
def operations(world: World) -> dict[str, Any]:
    """Return the public operations of the served document, by method and path."""
    schema = schemathesis.openapi.from_url(f"{world.origin}/api/openapi.json", timeout=HANG_SECONDS)
    found = [result.ok() for result in schema.get_all_operations()]
    return {f"{one.method.upper()} {one.path}": one for one in found if one.path.startswith("/api/v1")}


def generated(operation: Any, mode: GenerationMode, check: Callable[[Any], None]) -> None:
    """Run the check on requests that match the document, or (negative) violate it."""

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES, phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def run(case: Any) -> None:
        check(case)

    run()


@pytest.mark.parametrize("mode", list(GenerationMode), ids=str)
def test_generated_requests_get_documented_answers(
    operations: dict[str, Any], caller: Someone, mode: GenerationMode
) -> None:
    for operation in operations.values():
        with contextlib.suppress(Unsatisfiable):
            generated(
                operation,
                mode,
                lambda case: case.call_and_validate(headers=caller.headers, checks=CHECKS, timeout=HANG_SECONDS),
            )


def test_without_a_credential_every_generated_request_is_refused(operations: dict[str, Any]) -> None:
    for name, operation in operations.items():
        case = operation.Case(path_parameters={"id": "none", "version": 1})
        assert case.call(timeout=HANG_SECONDS).status_code == 401, name


def document(world: World) -> dict[str, Any]:
    found: dict[str, Any] = world.client.get("/api/openapi.json").json()
    return found


OPERATIONS = {
    "GET /keys", "POST /keys", "DELETE /keys/{id}", "GET /templates", "GET /templates/{id}", "POST /templates",
    "POST /templates/import", "DELETE /templates/{id}", "POST /renders", "GET /renders", "GET /renders/{id}",
    "POST /renders/{id}/cancel", "GET /renders/{id}/download", "POST /assets", "GET /usage", "GET /animations",
    "GET /animations/{id}", "POST /animations", "DELETE /animations/{id}",
}  # fmt: skip
EXTENSIONS = {
    "PUT /templates/{id}", "PUT /templates/{id}/import", "GET /templates/{id}/versions",
    "POST /templates/{id}/versions/{version}/restore", "DELETE /templates/{id}/versions/{version}",
    "GET /templates/{id}/still", "POST /templates/{id}/still", "GET /renders/{id}/thumbnail", "POST /renders/validate",
    "POST /batches", "GET /batches/{id}", "POST /batches/{id}/cancel",
}  # fmt: skip


def test_the_document_names_every_route_of_the_interface_and_no_other(world: World) -> None:
    spec = document(world)
    assert spec["openapi"] == "3.1.0"
    tagged = {
        f"{method.upper()} {path.removeprefix('/api/v1')}": operation["tags"]
        for path, methods in spec["paths"].items() if path.startswith("/api/v1")
        for method, operation in methods.items()
    }  # fmt: skip
    extensions = {name for name, tags in tagged.items() if "extension" in tags}
    assert set(tagged) - extensions == OPERATIONS
    assert extensions == EXTENSIONS


def test_the_page_of_the_api_lists_every_route_with_its_scope(world: World) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text()
    assert dict(re.findall(r"^\| `([A-Z]+ /\S+)` \| `?([\w:]+)`? \|", page, re.M)) == {
        f"{method.upper()} {path.removeprefix('/api/v1')}": operation["x-required-scope"]
        for path, methods in document(world)["paths"].items() if path.startswith("/api/v1")
        for method, operation in methods.items()
    }  # fmt: skip


def test_every_operation_says_how_to_sign_in_what_can_go_wrong_and_what_it_is(world: World) -> None:
    for path, methods in document(world)["paths"].items():
        for method, operation in methods.items():
            if not path.startswith("/api/v1"):
                assert operation["security"] == []
                continue
            where = f"{method} {path}"
            schemes = {name for option in operation["security"] for name in option}
            assert schemes == ({"session"} if "/keys" in path else {"session", "bearerKey", "headerKey"}), where
            assert {"400", "401", "403", "429", "500"} <= set(operation["responses"]), where
            assert "422" not in operation["responses"], where
            assert operation["description"] and operation["tags"], where
            for status, answer in operation["responses"].items():
                assert "X-Request-Id" in answer["headers"], (where, status)


def test_operations_and_schemas_have_names_that_read_well_in_a_client(world: World) -> None:
    spec = document(world)
    operations = [operation for methods in spec["paths"].values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert {"createRender", "getRender", "listTemplates", "importTemplate", "uploadAsset"} <= set(names)
    assert {"JobPage", "KeyPage", "PresetPage", "TemplatePage", "RenderOutput"} <= set(spec["components"]["schemas"])
    assert not [name for name in spec["components"]["schemas"] if "_" in name]
    assert {tag for operation in operations for tag in operation["tags"]} == {tag["name"] for tag in spec["tags"]}
    created = spec["components"]["schemas"]["JobRecord"]["properties"]["createdAt"]
    assert created == {"type": "string", "format": "date-time"}


def test_every_answer_has_an_example_that_fits_its_schema(world: World) -> None:
    spec = document(world)
    shown = 0
    for route, methods in spec["paths"].items():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                content = answer.get("content", {}).get("application/json")
                if content is not None and content["schema"]["$ref"].endswith("/ErrorBody"):
                    path = re.sub(r"\\\{\w+\\\}", "[a-z0-9_]+", re.escape(route))
                    assert re.fullmatch(path, content["example"]["path"]), "a failure names the route that failed"
                if content is not None:
                    schema = {**content["schema"], "components": spec["components"]}
                    jsonschema.validate(content["example"], schema, format_checker=jsonschema.FormatChecker())
                    shown += status.startswith("2")
    assert shown > 20


def test_the_webhook_is_a_callback_of_the_requests_that_name_its_receiver(world: World) -> None:
    spec = document(world)
    assert "webhooks" not in spec, "openapi-generator overwrites the operations of the tag with those of `webhooks`"
    for route, schema in (("renders", "RenderRequest"), ("batches", "BatchRequest")):
        assert "callbackUrl" in spec["components"]["schemas"][schema]["properties"]
        (callback,) = spec["paths"][f"/api/v1/{route}"]["post"]["callbacks"].values()
        body = callback["{$request.body#/callbackUrl}"]["post"]["requestBody"]["content"]["application/json"]
        jsonschema.validate(body["example"], body["schema"])


def test_every_list_has_items_and_every_operation_an_answer_that_clients_return(world: World) -> None:
    # Linters ask for both, and generated clients that follow the redirect return the documented 200 of a download.
    spec = document(world)
    nodes: list[Any] = [spec]
    for node in nodes:
        if isinstance(node, dict):
            assert node.get("type") != "array" or "items" in node, node
        nodes += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for route, methods in spec["paths"].items():
        for operation in methods.values():
            assert any(status.startswith("2") for status in operation["responses"]), route


def test_conditional_lists_and_retries_are_documented(world: World) -> None:
    paths = document(world)["paths"]
    for path in ("/usage", "/renders", "/templates", "/keys", "/animations"):
        operation = paths[f"/api/v1{path}"]["get"]
        assert "304" in operation["responses"]
        assert "ETag" in operation["responses"]["200"]["headers"]
    assert "Retry-After" in paths["/api/v1/renders"]["post"]["responses"]["429"]["headers"]


def test_bounds_of_parameters_are_in_words_that_importers_know(world: World) -> None:
    paths = document(world)["paths"]
    bounds = {
        (path, parameter["name"]): parameter["schema"]
        for path, methods in paths.items() for parameter in methods.get("get", {}).get("parameters", [])
    }  # fmt: skip
    limit, width = bounds["/api/v1/renders", "limit"], bounds["/api/v1/templates/{id}/still", "width"]
    assert (limit["minimum"], limit["maximum"]) == (1, 100)
    assert (width["minimum"], width["maximum"]) == (16, 4096)
    assert not re.search(r'"(ge|le|gt|lt)":', json.dumps(document(world)))


def test_the_document_has_the_farms_origin_for_programs_that_import_it_as_a_file(world: World) -> None:
    found = world.client.get("/api/openapi.json", headers={"Host": "farm.example:8000"}).json()
    assert [one["url"] for one in found["servers"]] == ["http://farm.example:8000"]


def test_the_page_for_people_loads_nothing_from_elsewhere(world: World) -> None:
    page = world.client.get("/api/docs")
    assert page.status_code == 200
    assert "<title>Video render automation" in page.text
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert {path.rsplit(".", 1)[-1] for path in loaded} == {"js", "css", "png"}
    for path in loaded:
        assert world.client.get(path).status_code == 200, path
    assert "SwaggerUIBundle" in world.client.get(next(path for path in loaded if path.endswith(".js"))).text
    assert "https://" not in page.text


def test_the_page_for_people_opens_with_a_key_at_hand(world: World) -> None:
    key = world.account().new_key()
    loaded = re.findall(r'(?:src|href)="([^"]+)"', world.client.get("/api/docs", headers=key.headers).text)
    assert loaded
    for path in loaded:
        assert world.client.get(path, headers=key.headers).status_code == 200, path
