"""Render one video for each row of a CSV file, on a farm (--server and --key, or the farm on this machine) or, for a project FILE,
without a farm.

The first line of the CSV names the inputs. --out can use every column, such as "{name}.mp4"; a warning names columns that are not
used at all. The extension selects the format; if it has several, --format selects one. A farm refuses formats that its OUTPUT_FORMATS does not
allow. All rows are checked first. manifest.json in PATTERN's folder lists finished rows. Run an interrupted batch again to continue: it skips
finished rows and waits for renders that are under way.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from cluster.batching.farm import FarmRenderer
from cluster.batching.local import LocalRenderer
from cluster.batching.manifest import Manifest
from cluster.batching.rows import Row, RowsRefused, read_rows, unused_columns
from cluster.commands import connecting
from farm_core.cli.progress_bar import shown
from farm_core.formats import OUTPUT_FORMATS
from farm_core.user_error import UserError
from gpu_renderer.commands import options
from motion.errors import DocumentError


class NoProject(UserError):
    """The project file is missing or invalid."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the template or file, the rows, the output pattern and the options."""
    parser.add_argument(
        "template", metavar="TEMPLATE_OR_FILE", help="a template's id, or a .motion folder, zip or file"
    )
    parser.add_argument("rows", type=Path, metavar="ROWS.csv", help="a row for each video, a column for each input")
    parser.add_argument("--out", required=True, metavar="PATTERN", help='where videos go, as "out/{name}.mp4"')
    parser.add_argument("--size", metavar="WxH", type=options.size, default=(None, None), help="output size in pixels")
    parser.add_argument("--fps", metavar="N", type=int, help="output frames per second")
    parser.add_argument("--format", choices=OUTPUT_FORMATS, metavar="NAME", help=f"one of {', '.join(OUTPUT_FORMATS)}")
    parser.add_argument("--transparent", action="store_true", help="leave the background out (.webm .mov .gif .webp)")
    parser.add_argument("--media", metavar="DIR", type=Path, help="folder of media files that rows name")
    parser.add_argument("--again", action="store_true", help="also render rows that the manifest lists as finished")
    connecting.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Render every row. Return 1 if a row failed. Raises RowsRefused, NoProject and NoFarm."""
    rows = read_rows(arguments.rows, arguments.out)
    manifest = Manifest.beside(rows)
    with _renderer(arguments, _output(arguments), manifest) as renderer:
        if faults := renderer.faults(rows):
            raise RowsRefused(faults)
        for remark in unused_columns(rows, arguments.out, renderer.inputs):
            print(f"warning: {remark}", file=sys.stderr)
        wanted = rows if arguments.again else [row for row in rows if not manifest.has(row, renderer.identity)]
        if len(wanted) < len(rows):
            print(f"{len(rows) - len(wanted)} of {len(rows)} videos are there already", file=sys.stderr)
        failed = _rendered(renderer, wanted, manifest) if wanted else 0
    print(f"{len(rows) - failed} of {len(rows)} videos are done; {manifest.path} says where they are")
    return 1 if failed else 0


def _renderer(
    arguments: argparse.Namespace, output: dict[str, int], manifest: Manifest
) -> LocalRenderer | FarmRenderer:
    if Path(arguments.template).exists():
        try:
            return LocalRenderer(arguments, output)
        except DocumentError as error:
            raise NoProject(f"{arguments.template}: {error.message}") from error
    if Path(arguments.template).suffix or "/" in arguments.template:  # template ids contain neither dots nor slashes
        raise NoProject(f"{arguments.template} does not exist")
    return FarmRenderer(connecting.client(arguments), arguments, output, manifest)


def _output(arguments: argparse.Namespace) -> dict[str, int]:
    width, height = arguments.size
    asked = {"width": width, "height": height, "fps": arguments.fps}
    return {name: value for name, value in asked.items() if value is not None}


def _rendered(renderer: LocalRenderer | FarmRenderer, rows: list[Row], manifest: Manifest) -> int:
    """Render the rows with a progress bar. Return the number of failed rows. Print each warning once."""
    columns = (
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f} videos"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    failed, warned = 0, set[str]()
    bar = Progress(*columns, console=Console(stderr=True))
    line = bar.add_task("", total=len(rows))
    with shown(bar):
        for outcome in renderer.render(rows):
            manifest.note(outcome, renderer.identity)
            failed += outcome.error is not None
            if outcome.error is not None:
                bar.console.print(f"line {outcome.row.number}: {outcome.error}", markup=False, soft_wrap=True)
            for warning in [one for one in outcome.warnings if one not in warned]:
                warned.add(warning)
                bar.console.print(f"line {outcome.row.number}: warning: {warning}", markup=False, soft_wrap=True)
            bar.advance(line)
    return failed
