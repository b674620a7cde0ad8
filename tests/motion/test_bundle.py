"""Read a document from bytes."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import orjson
import pytest

from motion.bundle import read_document, read_file, read_folder, read_value
from motion.errors import BundleUnreadable, VersionUnsupported
from motion.schema.nodes import nodes
from tests.documents import bundle, document, node
from tests.motion.corpus import CORPUS, needs_corpus

SMALL = document(node("box", x=10, y=20))


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize("folder", ["", "My Project.motion/", "outer/inner/"])
def test_a_bundle_may_sit_under_any_number_of_folders(folder: str) -> None:
    doc = read_document(bundle(SMALL, folder))
    assert doc["scene"] == SMALL["scene"]
    assert doc["comps"] == SMALL["comps"]


def test_a_folder_reads_like_its_zip() -> None:
    data = bundle(SMALL)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert read_folder(files) == read_document(data)


def test_of_a_bundle_on_disk_the_media_stay_there(tmp_path: Path) -> None:
    path = tmp_path / "large.motion"
    path.write_bytes(bundle(SMALL, files={"assets/film.mp4": b"x"}))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("assets/film2.mp4", bytes(32 << 20))
    tracemalloc.start()
    try:
        doc = read_file(path)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert doc["scene"] == SMALL["scene"]
    assert peak_bytes < 4 << 20 < path.stat().st_size


def test_entries_that_point_outside_of_the_bundle_are_ignored() -> None:
    evil = {"../manifest.json": b"{}", "/scene.json": b"{}", "a/../scene.json": b"{}"}
    assert read_document(bundle(SMALL, files=evil))["scene"] == SMALL["scene"]


def test_hashes_and_unknown_files_do_not_matter() -> None:
    assert (
        read_document(bundle(SMALL, files={"notes.txt": b"hello", "assets/a.png": b"x" * 100}))["scene"]
        == SMALL["scene"]
    )


def test_an_unreadable_animation_chunk_is_replaced_and_named() -> None:
    doc = read_document(bundle(SMALL, leave_out=("animation.json",), files={"animation.json": b"{nonsense"}))
    assert doc["animation"] == {"tracks": {}, "expressions": {}}
    assert doc["unreadableChunks"] == ["animation.json"]


def test_a_bundle_without_its_scene_is_refused() -> None:
    with pytest.raises(BundleUnreadable, match=r"scene\.json"):
        read_document(bundle(SMALL, leave_out=("scene.json",)))


def test_a_listed_chunk_that_is_missing_is_replaced_and_named() -> None:
    doc = read_document(bundle(SMALL, leave_out=("animation.json",)))
    assert doc["animation"] == {"tracks": {}, "expressions": {}}
    assert doc["unreadableChunks"] == ["animation.json"]


def test_a_chunk_holds_only_its_own_keys_of_the_document() -> None:
    stray = {"timeline.json": b'{"comps": {"x": {}}, "plugins": {}, "motionBlur": {}}'}
    doc = read_document(bundle(SMALL, leave_out=("timeline.json",), files=stray))
    assert doc["motionBlur"] == {}
    assert "plugins" not in doc
    assert doc["comps"] == SMALL["comps"]


def test_a_bundle_without_a_manifest_is_read_at_version_1_1_0() -> None:
    assert read_document(bundle(SMALL, leave_out=("manifest.json",)))["version"] == "1.6.0"


@pytest.mark.parametrize(("version", "is_read"), [(None, True), ("", False), ("1.1", True), ("1.1.5", False)])
def test_only_a_manifest_that_states_no_version_is_read_at_1_1_0(version: str | None, is_read: bool) -> None:
    packed = bundle({**document(node("a")), "version": version})
    if is_read:
        assert read_document(packed)["version"] == "1.6.0"
    else:
        with pytest.raises(VersionUnsupported):
            read_document(packed)


@pytest.mark.parametrize("cut", [10, 400, -30])
def test_a_truncated_zip_is_refused(cut: int) -> None:
    with pytest.raises(BundleUnreadable, match=r"damaged|cut off"):
        read_document(bundle(SMALL)[:cut])


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_zip_is_refused_whatever_its_compression(compression: int) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        archive.writestr("scene.json", json.dumps(SMALL["scene"]))
    whole = packed.getvalue()
    assert read_document(whole)["scene"] == SMALL["scene"]
    with pytest.raises(BundleUnreadable, match="damaged"):
        read_document(whole[:60] + b"\xff" * 40 + whole[100:])


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b"[]", b"{}", b'{"scene": 3}', b'{"nodes": 3}', b"\xff\xfe", b"[" * 100_000, b'{"nodes": [NaN]}'],
)
def test_a_file_that_is_no_project_is_refused(data: bytes) -> None:
    with pytest.raises(BundleUnreadable):
        read_document(data)


def nested(depth: int) -> bytes:
    """Return a document of nested lists with this many levels, including the document itself."""
    return (json.dumps(SMALL)[:-1] + ', "guides": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}").encode()


def test_a_document_may_be_nested_as_deep_as_it_can_be_stored() -> None:
    assert orjson.dumps(read_document(nested(254)))


@pytest.mark.parametrize("depth", [255, 600, 900, 100_000])
def test_a_document_nested_beyond_all_measure_is_refused(depth: int) -> None:
    with pytest.raises(BundleUnreadable):
        read_document(nested(depth))


def test_a_zip_that_is_no_project_is_refused() -> None:
    with pytest.raises(BundleUnreadable, match=r"not a \.motion project"):
        read_document(zipped(**{"folder/scene.json": b"{}"}))


def test_a_motion_graphics_template_package_is_refused_by_name() -> None:
    manifest = json.dumps({"version": 1, "type": "premation-mogrt", "name": "x", "fieldCount": 1}).encode()
    with pytest.raises(BundleUnreadable, match="mogrt"):
        read_document(zipped(**{"manifest.json": manifest, "package.json": b"{}"}))


def test_a_zip_bomb_is_refused_without_inflating_it() -> None:
    with pytest.raises(BundleUnreadable, match=r"scene\.json"):
        read_document(zipped(**{"scene.json": b'{"nodes": []}' + b" " * 8_000_000}))


def test_a_zip_with_too_many_entries_is_refused() -> None:
    with pytest.raises(BundleUnreadable, match="entries"):
        read_document(zipped(**{f"{index}.txt": b"" for index in range(20_001)}))


def test_a_single_file_may_begin_with_a_byte_order_mark() -> None:
    assert read_document(b"\xef\xbb\xbf" + json.dumps(SMALL).encode())["scene"] == SMALL["scene"]


def test_a_scene_only_file_has_no_animation_and_ignores_its_own_version() -> None:
    doc = read_value({"version": "9.0.0", "nodes": []})
    assert doc["version"] == "1.6.0"
    assert doc["animation"] == {"tracks": {}, "expressions": {}}


def test_a_newer_bundle_is_refused_with_both_versions_named() -> None:
    with pytest.raises(VersionUnsupported, match=r"99\.0\.0.*1\.6\.0"):
        read_document(bundle({**SMALL, "version": "99.0.0"}))


@needs_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", sorted(CORPUS.glob("bundles/*.zip")), ids=lambda path: path.stem)
def test_true_bundles_of_the_editor_are_read(path: Path) -> None:
    assert nodes(read_document(path.read_bytes()))


def test_files_that_an_archiver_puts_beside_the_project_do_not_hide_it() -> None:
    inside = zipfile.ZipFile(io.BytesIO(bundle(SMALL, "project/")))
    files = {name: inside.read(name) for name in inside.namelist()}
    beside = {"__MACOSX/project/._manifest.json": b"x", "old/manifest.json": b"{}"}
    assert read_document(zipped(**beside, **files))["scene"] == SMALL["scene"]


def test_an_entry_without_a_name_is_left_out() -> None:
    packed = bundle(SMALL, files={"x": b"1"})
    central = packed.rindex(b"PK\x01\x02")
    nameless = packed[: central + 28] + b"\0\0\1\0" + packed[central + 32 :]
    assert read_document(nameless)["scene"] == SMALL["scene"]
