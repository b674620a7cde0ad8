"""Start a whole farm, import an example over HTTP, render it with inputs, download the MP4, and stop the farm.

Everything is embedded and lives in `.farm/demo`; nothing is left running. The video is `out/demo.mp4`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final

import av
from render_farm_client import ApiError, FarmClient, Job, NoAnswer, Template
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from cluster.local.accounts import session_token
from cluster.local.farm import LocalFarm, Options, running_farm
from cluster.local.ray_head import free_port
from farm_core.cli.argument_types import folder
from farm_core.cli.progress_bar import shown
from farm_core.settings import ROOT, Settings, settings
from farm_core.telemetry import logs
from farm_core.user_error import UserError

EXAMPLE: Final = ROOT / "examples" / "title-card.motion"
PICTURE: Final = ROOT / "examples" / "media" / "logo.png"
POLL_SECONDS: Final = 0.1
RENDER_SECONDS_MAX: Final = 600.0
STARTING: Final = "Starting Postgres, Valkey, Ray, the scheduler and the API ..."

EMBEDDED: Final = dict.fromkeys(
    ("database_url", "redis_url", "s3_bucket", "ray_address", "public_origin", "jwt_jwks_url")
)
"""Settings that the demo clears, so that it never uses the servers or addresses of a real deployment."""


class DemoFailed(UserError):
    """The demo's render failed. The message says why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the output file and the data folder."""
    parser.add_argument("-o", "--output", type=Path, default=Path("out/demo.mp4"), metavar="FILE")
    parser.add_argument("--data", type=folder, default=None, metavar="DIR", help="data folder (.farm/demo)")


def run(arguments: argparse.Namespace) -> int:
    """Render the example. Raises UserError."""
    chosen = settings()
    chosen = chosen.model_copy(update=EMBEDDED | {"data_folder": arguments.data or chosen.data_folder / "demo"})
    logs.set_up(chosen.log_level, human=True)
    _check_output(arguments.output)
    try:
        _demonstrate(chosen, arguments.output)
    except (ApiError, NoAnswer) as error:
        raise DemoFailed(str(error)) from error
    return 0


def _check_output(output: Path) -> None:
    """Make the folder of the output. Raise DemoFailed now, and not after the render, if the file cannot be written there."""
    if output.is_dir():
        raise DemoFailed(f"{output} is a folder. Name a file with -o, such as {output / 'demo.mp4'}.")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=output.parent).close()
    except OSError as error:
        raise DemoFailed(
            f"{output} cannot be written: {error.strerror}. Name another file with -o, and if need be another data folder with --data."
        ) from error


def _demonstrate(chosen: Settings, output: Path) -> None:
    console = Console()
    began = time.monotonic()
    with _farm(chosen, console) as farm:
        console.print(f"The farm is ready at {farm.origin}/api after {time.monotonic() - began:.1f} s.")
        token = session_token(chosen, farm.database_url, "demo")
        with FarmClient(farm.origin, token=token) as client:
            template = _imported(client, console)
            seconds = _rendered(client, farm, template, output, console)
        _chosen_settings(output, seconds, console)
    console.print("Everything is shut down.")


@contextmanager
def _farm(chosen: Settings, console: Console) -> Iterator[LocalFarm]:
    with ExitStack() as stack:
        if not console.is_terminal:  # which shows no status
            console.print(STARTING)
        with console.status(STARTING):
            farm = stack.enter_context(running_farm(chosen, Options(port=free_port())))
        yield farm


def _imported(client: FarmClient, console: Console) -> Template:
    template = client.import_template(EXAMPLE, include_text=True)
    names = ", ".join(f"{one.id} ({one.kind})" for one in template.inputs)
    console.print(f"Imported {EXAMPLE.name} as template {template.id}, with the inputs {names}.")
    return template


def _rendered(client: FarmClient, farm: LocalFarm, template: Template, output: Path, console: Console) -> float:
    """Render the template with a text, a colour and an uploaded picture. Download it and return the seconds taken."""
    inputs = {
        "headline": "Hello from the farm",
        "subtitle": f"rendered here on {datetime.now():%d %B %Y at %H:%M:%S}",
        "accent": "#f97316",
        "logo": client.upload(PICTURE).url,
    }
    began = time.monotonic()
    job = _followed(client, farm, client.render(template.id, inputs), console)
    seconds = time.monotonic() - began
    if job.status != "completed":
        raise DemoFailed(f"the job ended as {job.status}: {job.error}")
    client.download(job.job_id, output)
    return seconds


def _followed(client: FarmClient, farm: LocalFarm, job: Job, console: Console) -> Job:
    """Wait for the job. Restart dead parts of the farm meanwhile."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    deadline = time.monotonic() + RENDER_SECONDS_MAX
    bar = Progress(*columns, console=console)
    line = bar.add_task("rendering", total=100)
    with shown(bar):
        while time.monotonic() < deadline:
            job = client.job(job.job_id)
            bar.update(line, completed=job.progress, description=job.status)
            if job.has_ended:
                return job
            farm.poll()
            time.sleep(POLL_SECONDS)
    raise DemoFailed(f"the job did not end within {RENDER_SECONDS_MAX:.0f} s")


def _chosen_settings(output: Path, seconds: float, console: Console) -> None:
    with av.open(str(output)) as container:
        stream = container.streams.video[0]
        frames, rate = sum(1 for packet in container.demux(stream) if packet.size), float(stream.average_rate)
        size = f"{stream.codec_context.width}x{stream.codec_context.height}"
    console.print(
        f"{output.resolve()}: {output.stat().st_size / 1000:.0f} kB, {size}, {frames} frames at {rate:g} frames per second; "
        f"rendered in {seconds:.1f} s ({frames / seconds:.0f} frames per second, end to end)."
    )
