"""Overview for operators, with a switch that pauses the whole queue."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from api.dependencies import Reading, Work
from api.ids import found
from console.farm_state.snapshots import SnapshotsOf
from console.pages import page
from console.viewer import CommanderOf, ViewerOf
from farm_core.controls import queues
from farm_core.jobs import repository as jobs

router = APIRouter()


@router.get("/")
async def home(request: Request, viewer: ViewerOf, snapshots: SnapshotsOf, session: Reading) -> Response:
    """Return the overview for operators. Redirect others to their renders, or to templates if they have no renders."""
    if not viewer.operator:
        has_renders = await jobs.count_of_account(session, viewer.account.id) > 0
        return RedirectResponse("/console/renders" if has_renders else "/console/templates", 303)
    paused = await queues.paused_since(session)  # the snapshot can be from before the switch was pressed
    snapshot = await snapshots.latest()
    return page(request, "overview/overview.html", snapshot=snapshot, paused_since=paused, title="Overview")


@router.post("/queue/{action}")
async def switch(viewer: CommanderOf, work: Work, action: str) -> Response:
    """Pause or resume the whole queue."""
    change = {"pause": queues.pause_queue, "resume": queues.resume_queue}.get(action)
    await found(change, "action")(work, viewer.actor)
    return RedirectResponse("/console/", 303)
