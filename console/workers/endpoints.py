"""Workers, for operators: their current tasks, and the actions drain, resume, restart and quarantine."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from api.dependencies import AppStateOf, Reading, Work
from api.ids import found
from console.farm_state.snapshots import SnapshotsOf
from console.farm_state.workers import STATE_WORDS, workers
from console.pages import is_part, page
from console.viewer import CommanderOf, OperatorOf
from farm_core.controls import workers as controls
from farm_core.controls.workers import WorkerTarget

router = APIRouter(prefix="/workers")
QUARANTINE: Final = timedelta(minutes=30)


@router.get("")
async def workers_page(
    request: Request, viewer: OperatorOf, state: AppStateOf, snapshots: SnapshotsOf, work: Reading
) -> Response:
    """Return the page of all workers."""
    shown = await workers(work, state.clock.now())
    values: dict[str, Any] = {
        "workers": shown,
        "rates": (await snapshots.latest()).rates,
        "state_words": STATE_WORDS,
        "title": "Workers",
    }
    values["drained_nodes"] = await controls.drained_nodes(work)
    return page(request, "workers/cards.html" if is_part(request) else "workers/workers.html", **values)


@router.post("/{action}")
async def act(
    viewer: CommanderOf, state: AppStateOf, work: Work, action: str, worker: Annotated[str, Form()] = "",
    node: Annotated[str, Form()] = "",
) -> Response:  # fmt: skip
    """Run an action on one worker or on all workers of a node."""
    target = WorkerTarget(worker=worker) if worker else WorkerTarget(node=node)
    if action == "quarantine":
        await controls.quarantine(work, viewer.actor, target, state.clock.now(), QUARANTINE)
    else:
        change = {"drain": controls.drain, "resume": controls.resume, "restart": controls.restart}.get(action)
        await found(change, "action")(work, viewer.actor, target)
    return RedirectResponse("/console/workers", 303)
