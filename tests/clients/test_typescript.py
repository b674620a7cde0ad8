"""The TypeScript client matches the API's document, compiles in strict mode, and works in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from farm_core.settings import ROOT
from tests.api.conftest import own_world, settings, start
from tests.api.world import World, text_template

__all__ = ["own_world", "settings", "start"]
CLIENT = ROOT / "clients" / "typescript"
COMPILER = CLIENT / "node_modules" / ".bin" / "tsc"
needs_compiler = pytest.mark.skipif(
    not COMPILER.exists() or shutil.which("node") is None, reason="no TypeScript: npm install in clients/typescript"
)
SCRIPT = """
import { ApiError, FarmClient } from "./index.js";
const [server, token, template] = process.argv.slice(2);
let sent = 0;
const unreliable = async (...given) => {
  const answer = await fetch(...given);
  if (++sent === 1) throw new TypeError("the answer was lost");
  return answer;
};
const limited = (statuses) => {
  const seen = [];
  const answers = async (...given) => {
    seen.push(statuses[0]);
    const status = statuses.shift();
    if (status === "lost") throw new TypeError("the answer was lost");
    const headers = { "Retry-After": "Fri, 01 Jan 2027 00:00:00 GMT" };
    return status === undefined ? fetch(...given) : Response.json({}, { status, headers });
  };
  return [new FarmClient({ server, token, fetch: answers }), seen];
};
const [checking, checks] = limited([429, "lost", 500]);
const { valid } = await checking.validateRender({ templateId: template, inputs: {} });
const [making, makes] = limited([429, "lost"]);
let unmade = "";
try { await making.createKey({ name: "twice" }); } catch (error) { unmade = error.message; }
const growing = async (url) => {
  const first = Math.max(0, Number(url.searchParams.get("offset")) - 1);
  const items = Array.from({ length: 100 }, (_, index) => ({ jobId: `job_${first + index}` }));
  return Response.json({ items, total: 200, limit: 100, offset: 0 });
};
const grown = [];
for await (const one of new FarmClient({ server, token, fetch: growing }).renders()) grown.push(one.jobId);
const once = grown.length === new Set(grown).size;
const farm = new FarmClient({ server, token, fetch: unreliable });
const job = await farm.createRender({ templateId: template, inputs: { headline: "Hi" } });
const all = [];
for await (const one of farm.renders()) all.push(one.jobId);
const templates = [];
for await (const one of farm.templates()) templates.push(one.id);
let code = "", message = "";
try { await farm.createRender({ templateId: template, inputs: { none: "x" } }); }
catch (error) { if (error instanceof ApiError) [code, message] = [`${error.status} ${error.errors[0].field}`, error.message]; }
const cancelled = await farm.cancelRender(job.jobId);
let ended = "";
try { await farm.wait(job.jobId); } catch (error) { ended = error.message; }
const away = limited(Array(7).fill("lost"))[0]; // one read is tried six times
try { await away.wait(job.jobId); } catch (error) { ended += error.message; }
const wrong = [];
const silent = (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
for (const options of [{ server: "localhost:8000" }, { server, attempts: 1, timeoutMs: 50, fetch: silent }]) {
  try { await new FarmClient(options).getUsage(); } catch (error) { wrong.push(`${error.name}: ${error.message}`); }
}
const gif = Uint8Array.from(atob("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"), (one) => one.charCodeAt(0));
const { mime } = await farm.uploadAsset({ file: new File([gif], "a.jpg", { type: "image/jpeg" }) });
const tried = { mime, valid, checks: checks.length, unmade, makes, once, wrong };
const made = { job: job.jobId, all, templates, template, code, message, cancelled: cancelled.status, ended };
console.log(JSON.stringify({ ...made, ...tried }));
"""
PAUSES = """
import { FarmClient } from "./index.js";
const ATTEMPT_MS = 60_000; // limit of an attempt, not a pause
const timer = globalThis.setTimeout;
const pauses = [];
globalThis.setTimeout = (run, ms) => {
  if (ms === ATTEMPT_MS) return timer(run, ms);
  pauses.push(ms);
  return timer(run, 0);
};
for (const [status, asked] of [[503, 3], [503, 3600], [429, 3600], [429, 3_000_000], [429, "Infinity"]]) {
  const answers = [Response.json({}, { status, headers: { "Retry-After": String(asked) } }), Response.json({})];
  await new FarmClient({ server: "http://farm.example", fetch: async () => answers.shift() }).getUsage();
}
const away = async () => Response.json({}, { status: 503 });
try { await new FarmClient({ server: "http://farm.example", attempts: 40, fetch: away }).getUsage(); } catch {}
console.log(JSON.stringify(pauses));
"""

GATEWAYS = """
import { FarmClient } from "./index.js";
const told = [];
for (const body of [null, "away", [], { errors: { detail: "away" } }, { errors: ["away", null, { code: 1101 }] }]) {
  const farm = new FarmClient({ server: "http://farm.example", fetch: async () => Response.json(body, { status: 403 }) });
  try { await farm.getUsage(); } catch (error) { told.push([error.name, error.message, error.errors.length]); }
}
console.log(JSON.stringify(told));
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the compiled client."""
    folder = tmp_path_factory.mktemp("client")
    subprocess.run([COMPILER, "-p", str(CLIENT), "--outDir", str(folder)], check=True, capture_output=True, text=True)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def run(folder: Path, script: str, *words: str) -> Any:
    """Run a script beside the compiled client. Return the JSON that it prints."""
    (folder / "script.js").write_text(script)
    command = ["node", str(folder / "script.js"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.thorough
def test_the_operations_are_those_of_the_document() -> None:
    """If this fails after a change of the API, run: python clients/typescript/generate.py."""
    command = [sys.executable, str(CLIENT / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr or "operations.ts is not current: python clients/typescript/generate.py"


@needs_compiler
@pytest.mark.service
def test_it_compiles_and_talks_to_the_api(own_world: World, compiled: Path) -> None:
    ada = own_world.account()
    token = ada.headers["Authorization"].removeprefix("Bearer ")
    result = run(compiled, SCRIPT, own_world.origin, token, text_template(ada))
    assert result["all"] == [result["job"]]
    assert result["templates"] == [result["template"]]
    assert result["code"] == "400 none"
    assert result["message"] == "400: Invalid inputs.\n  none: is not an input of this template"
    assert result["cancelled"] == "cancelled"
    assert result["ended"].count("cancelled") == 2, result["ended"]
    assert (result["valid"], result["checks"]) == (True, 4)
    lost = f"POST {own_world.origin}/api/v1/keys: no answer: the answer was lost"
    assert (result["unmade"], result["makes"]) == (lost, [429, "lost"])
    assert result["wrong"] == [
        'TypeError: server must be an address such as https://farm.example.com, not "localhost:8000"',
        f"NoAnswer: GET {own_world.origin}/api/v1/usage: no answer: none after 50 ms",
    ]
    assert result["once"]
    assert result["mime"] == "image/gif"


@needs_compiler
def test_a_farm_that_asks_for_a_pause_gets_it_within_30_seconds(compiled: Path) -> None:
    """A proxy can ask for an hour of maintenance. A 429 says exactly when the limit ends. A timer of more than 24 days ended at once."""
    pauses = run(compiled, PAUSES)
    assert pauses[:5] == [3_000, 30_000, 3_600_000, 2**31 - 1, 250]
    assert pauses[5:] == [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, *[20_000] * 32]


@needs_compiler
def test_a_gateways_error_of_another_shape_is_an_api_error(compiled: Path) -> None:
    assert run(compiled, GATEWAYS) == [["ApiError", "403: no reason given", 0]] * 5
