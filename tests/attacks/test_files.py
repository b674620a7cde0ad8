"""Small files that once took minutes or gigabytes to inspect."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from farm_core.assets.inspection import kind_at
from farm_core.sandbox import Exhausted, Refused, Sandbox
from motion.bundle import read_file
from motion.errors import BundleUnreadable
from tests.attacks.bounded import bounded
from tests.attacks.calls import add, burn, hoard

SCENE = json.dumps({"rootIds": ["root"], "nodes": [{"id": "root", "name": "Root", "children": [], "components": []}]})
KIND = """
    import sys
    from farm_core.assets.inspection import kind_at
    from farm_core.errors import BadRequest
    try:
        print(kind_at(sys.argv[1], None))
    except BadRequest:
        print("refused")
"""
READ = """
    import resource, sys
    from pathlib import Path
    from motion.bundle import read_file
    from motion.errors import DocumentError
    try:
        read_file(Path(sys.argv[1]))
        print("read")
    except DocumentError:
        print("refused")
"""


def svg(attributes: str = "", inside: str = "") -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{inside}</svg>'


@pytest.mark.parametrize(
    "text",
    [
        svg(f'style="fill:url({" " * 60_000}x)"'),
        svg(inside=f"<style>a{{fill:url({' ' * 200_000}x)}}</style>"),
        svg(f'width="1{" " * 200_000}x"'),
        svg(f'width="{"1" * 200_000}x"'),
        svg(inside=f"<style>{'url(  ' * 50_000}</style>"),
    ],
    ids=["attribute", "style", "width", "digits", "many"],
)
def test_a_run_of_spaces_in_an_svg_is_read_once(text: str, tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    path.write_text(text)
    assert bounded(KIND, str(path)) in ("refused", "image/svg+xml")


def test_an_svg_with_an_odd_width_is_no_server_error(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    path.write_text(svg('width="1.2.3"'))
    assert kind_at(str(path), None) == "image/svg+xml"


def packed(tmp_path: Path, files: list[tuple[str, bytes]]) -> Path:
    path = tmp_path / "project.motion"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return path


@pytest.mark.thorough
def test_of_a_thousand_folders_with_a_scene_one_is_read(tmp_path: Path) -> None:
    filler = SCENE.encode() + b" " * 900_000
    path = packed(
        tmp_path, [(f"f{number}/scene.json", filler) for number in range(1000)] + [("scene.json", SCENE.encode())]
    )
    assert path.stat().st_size < 5_000_000
    assert bounded(READ, str(path), memory_mb=400) == "read"


def test_a_scene_of_millions_of_empty_lists_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = packed(tmp_path, [("scene.json", b'{"nodes":[' + b"[]," * 20_000_000 + b"[]]}")])
    assert bounded(READ, str(path), memory_mb=500) == "refused"


def test_a_bomb_that_lies_about_its_compressed_size_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, [("scene.json", SCENE.encode() + b" " * 20_000_000)])
    lying = bytearray(path.read_bytes())
    listed = lying.index(b"PK\x01\x02")  # entry of the central directory; the compressed size is at byte 20
    lying[listed + 20 : listed + 24] = (20_000_000).to_bytes(4, "little")
    path.write_bytes(lying)
    with pytest.raises(BundleUnreadable, match=r"implausible|damaged"):  # newer Pythons see that entries overlap
        read_file(path)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_chunk_that_is_named_fifty_times_is_inflated_once(tmp_path: Path) -> None:
    chunk = SCENE.encode() + b" " * 30_000_000
    path = packed(tmp_path, [("scene.json", chunk)] * 50)
    assert bounded(READ, str(path), memory_mb=500) == "refused"


@pytest.mark.thorough
def test_chunks_of_more_than_64_mb_together_are_refused(tmp_path: Path) -> None:
    import random

    noise = random.Random(1).randbytes(200_000).hex().encode() * 60
    files = [(name, noise) for name in ("manifest.json", "animation.json", "timeline.json")]
    path = packed(tmp_path, [("scene.json", SCENE.encode()), *files])
    assert bounded(READ, str(path), memory_mb=600) == "refused"


@pytest.mark.thorough
def test_thirty_thousand_layers_of_one_name_get_their_ids_in_linear_time() -> None:
    code = """
        from motion.template import discover
        def layer(number, name):
            props = {"__kind": "image", "src": ""}
            return {"id": f"n{number}", "name": name, "children": [], "components": [{"type": "Transform", "props": props}]}
        for names in (["Layer"] * 30_000, ["x" * 60 + str(n % 7) * 4 for n in range(30_000)]):
            nodes = [layer(n, name) for n, name in enumerate(names)]
            found = discover({"scene": {"nodes": nodes, "rootIds": []}})
            assert len({field.id for field in found.fields}) == 30_000
        print("done")
    """
    assert bounded(code) == "done"


@pytest.mark.thorough
def test_a_call_beyond_its_limits_is_refused_and_the_next_one_is_served() -> None:
    sandbox = Sandbox(cpu_seconds=1, memory_bytes=1 << 30)
    try:
        for function in (burn, hoard):
            with pytest.raises(Exhausted):
                sandbox.call_now(function, 4000)
            assert sandbox.call_now(add, 2, 3) == 5
    finally:
        sandbox.close()


def test_a_refusal_in_the_sandbox_keeps_its_words(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    sandbox = Sandbox()
    try:
        with pytest.raises(Refused, match="the file is empty"):
            sandbox.call_now(kind_at, str(path), None)
    finally:
        sandbox.close()
