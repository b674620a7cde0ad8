"""A Model Context Protocol server over the API: an agent's tools. Needs the package `mcp`."""

from __future__ import annotations

import asyncio
import time as time_of
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import Field

from render_farm_client.asynchronous import AsyncFarmClient
from render_farm_client.calls import given
from render_farm_client.errors import ApiError, NoAnswer
from render_farm_client.models import Job, Template
from render_farm_client.retrying import poll_pauses

WAIT_SECONDS_MAX = 600
WAIT_SECONDS = 50
"""Many agents give up a call after a minute."""
LIST_ITEMS_MAX = 50
"""Longer lists would fill an agent's context."""
_INSTRUCTIONS = (
    "Renders videos from templates. List the templates, describe one to see its inputs, validate values, preview a frame to "
    "see how it looks (free), then render and wait. Media inputs are public http(s) URLs, or the url of an uploaded file."
)
Inputs = Annotated[dict[str, str | float], Field(description="Values by input id, as the template declares them.")]
TemplateId = Annotated[str, Field(description="A template's id, from list_templates.")]
NamePart = Annotated[str, Field(description="Part of the name, in any case; all templates by default.")]
FilePath = Annotated[str, Field(description="Absolute path of the file.")]
JobId = Annotated[str, Field(description="A render's id.")]
Seconds = Annotated[float | None, Field(description="Moment in seconds; a third of the duration by default.")]
Width = Annotated[int, Field(description="Pixels; the height follows.")]
Pixels = Annotated[int | None, Field(description="Pixels; the template's own by default.")]
Timeout = Annotated[int, Field(description=f"Longest wait in seconds, at most {WAIT_SECONDS_MAX}.")]
Rate = Annotated[int | None, Field(description="Frames per second; the template's own by default.")]


def server(farm: AsyncFarmClient, version: str, *, reads_files: bool = False) -> MCPServer:
    """Return a server whose tools call this farm, with the rights of the client's key.

    `reads_files`: agents are on this machine, so they may upload its media files.
    """
    tools = _Tools(farm)
    reading = (
        tools.list_templates, tools.describe_template, tools.validate_inputs, tools.preview_frame, tools.list_renders,
        tools.get_render, tools.wait_for_render, tools.get_usage,
    )  # fmt: skip
    offered = [
        *(_tool(one, ToolAnnotations(read_only_hint=True)) for one in reading),
        _tool(tools.render_video, ToolAnnotations(destructive_hint=False)),
        _tool(tools.cancel_render, ToolAnnotations(idempotent_hint=True)),
        *([_tool(tools.upload_file, ToolAnnotations(destructive_hint=False))] if reads_files else []),
    ]
    return MCPServer(
        "render-farm",
        title="Render farm",
        version=version,
        instructions=_INSTRUCTIONS,
        log_level="WARNING",
        tools=offered,
    )


def _tool(function: Callable[..., Awaitable[Any]], annotations: ToolAnnotations) -> Tool:
    """Return the tool of a method. It refuses arguments that it does not have, which the package would ignore."""
    tool = Tool.from_function(_reporting(function), annotations=annotations)
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema(by_alias=True)
    return tool


def _reporting(tool: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return the tool with its errors as messages for the agent."""

    @wraps(tool)
    async def reporting(*args: Any, **named: Any) -> Any:
        try:
            return await tool(*args, **named)
        except (ApiError, NoAnswer, OSError) as error:
            raise ToolError(str(error)) from error

    return reporting


class _Tools:
    """Each public method is a tool; its docstring is what an agent reads."""

    def __init__(self, farm: AsyncFarmClient) -> None:
        self._farm = farm

    async def list_templates(self, name: NamePart = "") -> dict[str, Any]:
        """List the account's newest templates with their ids, names, sizes and input ids. Search by name if there are more."""
        found: list[dict[str, Any]] = []
        async for one in self._farm.templates():
            if name.casefold() not in one.name.casefold():
                continue
            if len(found) == LIST_ITEMS_MAX:
                return {"templates": found, "more": True}
            found.append({**_template(one), "inputs": [each.id for each in one.inputs]})
        return {"templates": found, "more": False}

    async def describe_template(self, template_id: TemplateId) -> dict[str, Any]:
        """Describe a template: its size, rate, duration, and each input with kind, label, default and whether it is required."""
        one = await self._farm.template(template_id)
        return {**_template(one), "inputs": one.raw["inputs"]}

    async def validate_inputs(self, template_id: TemplateId, inputs: Inputs) -> dict[str, Any]:
        """Check values without rendering: every fault, the minutes a render costs, expected seconds, warnings."""
        found = await self._farm.validate(template_id, inputs)
        return {
            "valid": found.valid, "errors": list(found.errors), "renderMinutes": found.render_minutes,
            "expectedSeconds": found.expected_seconds, "warnings": list(found.warnings),
        }  # fmt: skip

    async def preview_frame(
        self, template_id: TemplateId, inputs: Inputs | None = None, time: Seconds = None, width: Width = 640
    ) -> Image:
        """Show one frame of a template as a picture, with inputs or as published. Free and quick."""
        picture = await self._farm.still(template_id, inputs, time=time, width=width, format="jpeg")
        return Image(data=picture, format="jpeg")

    async def render_video(
        self, template_id: TemplateId, inputs: Inputs, width: Pixels = None, height: Pixels = None, fps: Rate = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Start rendering an MP4. Answers the render's id at once; wait_for_render gives the link."""
        output = given(width=width, height=height, fps=fps)
        return _state(await self._farm.render(template_id, inputs, output=output or None))

    async def list_renders(self) -> dict[str, Any]:
        """List the newest renders with their ids, status, progress and links."""
        found: list[dict[str, Any]] = []
        async for one in self._farm.renders():
            if len(found) == LIST_ITEMS_MAX:
                return {"renders": found, "more": True}
            found.append(_job(one))
        return {"renders": found, "more": False}

    async def get_render(self, job_id: JobId) -> dict[str, Any]:
        """Show a render: status, progress, link to the video once it is completed, warnings."""
        return _job(await self._farm.job(job_id))

    async def wait_for_render(
        self, context: Context, job_id: JobId, timeout_seconds: Timeout = WAIT_SECONDS
    ) -> dict[str, Any]:
        """Wait until a render has ended, and answer its link. Ask again if it has not ended in time."""
        deadline = time_of.monotonic() + min(timeout_seconds, WAIT_SECONDS_MAX)
        pauses, reported = poll_pauses(), -1.0
        while True:
            job = await self._farm.job(job_id)
            if job.progress > reported:  # the protocol requires a growing value
                reported = job.progress
                await context.report_progress(reported, 100, job.status)
            pause = next(pauses)
            if job.has_ended or time_of.monotonic() + pause > deadline:
                return _job(job)
            await asyncio.sleep(pause)

    async def cancel_render(self, job_id: JobId) -> dict[str, Any]:
        """Cancel a render that has not ended, and answer the status that holds."""
        return _state(await self._farm.cancel(job_id))

    async def upload_file(self, path: FilePath) -> dict[str, Any]:
        """Upload a picture, video or sound of this machine. Its url is the value of a media input, for 24 hours."""
        file = Path(path).expanduser()
        if not file.is_file():
            raise ToolError(f"There is no file {path}. Give an absolute path.")
        made = await self._farm.upload(file)
        return {"url": made.url, "bytes": made.bytes, "mime": made.mime, "expiresAt": made.expires_at}

    async def get_usage(self) -> dict[str, Any]:
        """Show what the account has used this month, and its limits. Needs the scope usage:read."""
        return await self._farm.usage()


def _template(one: Template) -> dict[str, Any]:
    return {
        "id": one.id, "name": one.name, "description": one.raw.get("description"), "width": one.width, "height": one.height,
        "fps": one.fps, "durationSeconds": one.duration_seconds,
    }  # fmt: skip


def _state(job: Job) -> dict[str, Any]:
    """Return a render without progress and link, which creations and cancellations do not answer."""
    return {"jobId": job.job_id, "status": job.status}


def _job(job: Job) -> dict[str, Any]:
    return {
        "jobId": job.job_id, "status": job.status, "progress": job.progress, "videoUrl": job.video_url, "error": job.error,
        "warnings": list(job.warnings),
    }  # fmt: skip
