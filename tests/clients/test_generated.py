"""Clients that third-party generators create from the OpenAPI document, against the real API."""

from __future__ import annotations

import importlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import httpserver_jwks, own_world, settings, start, world
from tests.api.world import World, document, layer, picture
from tests.documents import bundle
from tests.patience import HANG_SECONDS

__all__ = ["httpserver_jwks", "own_world", "settings", "start", "world"]

pytestmark = pytest.mark.service
PACKAGE = "video_render_automation_client"
TYPESCRIPT = ("openapi-typescript@7.13.0", "typescript@5.9.3", "openapi-fetch@0.15.0")


@pytest.fixture
def generated(world: World, tmp_path: Path) -> Iterator[Any]:
    """Return the package that openapi-python-client generates."""
    path = tmp_path / "openapi.json"
    path.write_bytes(world.client.get("/api/openapi.json").content)
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", str(path), "--meta", "none"]
    made = subprocess.run(
        [*command, "--output-path", str(tmp_path / PACKAGE)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    assert "WARNING" not in made.stdout, made.stdout
    sys.path.insert(0, str(tmp_path))
    yield lambda name: importlib.import_module(f"{PACKAGE}.{name}")
    sys.path.remove(str(tmp_path))
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


def test_a_generated_python_client_imports_uploads_and_renders(world: World, generated: Any) -> None:
    caller = world.account()
    token = caller.headers["Authorization"].removeprefix("Bearer ")
    with generated("client").AuthenticatedClient(base_url=world.origin, token=token) as client:
        file_of, models = generated("types").File, generated("models")
        project = bundle(document(layer("n1", "Headline", "text"), layer("n2", "Photo", "image", src="")))
        imported = generated("api.templates.import_template").sync(
            client=client, body=models.ImportTemplateBody(file=file_of(io.BytesIO(project), "greeting.motion"))
        )
        uploaded = generated("api.assets.upload_asset").sync(
            client=client, body=models.UploadAssetBody(file=file_of(io.BytesIO(picture()), "photo.png"))
        )
        inputs = models.RenderRequestInputs.from_dict({"photo": uploaded.url})
        wanted = models.RenderRequest(template_id=imported.id, inputs=inputs)
        created = generated("api.renders.create_render").sync(client=client, body=wanted)
        job = generated("api.renders.get_render").sync(created.job_id, client=client)
        assert (job.job_id, job.status.value, job.video_url) == (created.job_id, "queued", None)
        assert job.created_at.tzinfo is not None
        page = generated("api.renders.list_renders").sync(client=client)
        assert [one.job_id for one in page.items] == [created.job_id]
        missing = generated("api.renders.download_render").sync_detailed(created.job_id, client=client)
        assert missing.status_code == 409


@pytest.mark.skipif(shutil.which("npx") is None, reason="Node is not installed")
def test_a_generated_typescript_client_compiles_and_renders(world: World, tmp_path: Path) -> None:
    try:
        _npm(tmp_path, "install", "--no-audit", "--no-fund", *TYPESCRIPT).check_returncode()
    except subprocess.SubprocessError:
        pytest.skip("npm packages cannot be fetched here")
    (tmp_path / "openapi.json").write_bytes(world.client.get("/api/openapi.json").content)
    made = _npx(tmp_path, "openapi-typescript", "openapi.json", "-o", "api.d.ts")
    assert made.returncode == 0, made.stdout + made.stderr
    caller = world.account()
    (tmp_path / "render.ts").write_text(_PROGRAM)
    (tmp_path / "package.json").write_text(
        json.dumps(json.loads((tmp_path / "package.json").read_text()) | {"type": "module"})
    )
    options = (
        "--strict",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--skipLibCheck",
        "--lib",
        "es2022,dom,dom.iterable",
    )
    compiled = _npx(tmp_path, "tsc", *options, "render.ts")
    assert compiled.returncode == 0, compiled.stdout
    environment = os.environ | {
        "ORIGIN": world.origin, "AUTHORIZATION": caller.headers["Authorization"], "TEMPLATE": caller.template(),
    }  # fmt: skip
    run = subprocess.run(
        ["node", "render.js"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {"status": "queued", "total": 1}


def _npm(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "package.json").write_text("{}")
    return subprocess.run(
        ["npm", *words], cwd=folder, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )


def _npx(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["npx", "--no-install", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANG_SECONDS, check=False)


_PROGRAM = """
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { env: Record<string, string> };
const { ORIGIN, AUTHORIZATION, TEMPLATE } = process.env;
const client = createClient<paths>({ baseUrl: ORIGIN, headers: { Authorization: AUTHORIZATION } });

const form = new FormData();
form.append("file", new Blob([Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), c => c.charCodeAt(0))]), "dot.png");
const uploaded = await client.POST("/api/v1/assets", { body: { file: "" }, bodySerializer: () => form });
const photo: string = uploaded.data!.url;
const body: components["schemas"]["RenderRequest"] = { templateId: TEMPLATE, inputs: { photo } };
const created = await client.POST("/api/v1/renders", { body });
if (created.error) throw new Error(JSON.stringify(created.error));
const job = await client.GET("/api/v1/renders/{id}", { params: { path: { id: created.data.jobId } } });
const page = await client.GET("/api/v1/renders");
console.log(JSON.stringify({ status: job.data!.status, total: page.data!.total }));
"""
