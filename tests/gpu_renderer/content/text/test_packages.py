"""Fonts are fetched in pinned versions, completely or not at all, and work offline afterwards."""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import tarfile
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from gpu_renderer.commands import fonts as command
from gpu_renderer.content.text import packages
from gpu_renderer.content.text.folders import PACKS, FontFolders
from gpu_renderer.content.text.packages import Package, fetch, manifest, missing
from tests.gpu_renderer.fonts import FONTS

FACE = FONTS / "reference" / "fonts-liberation" / "LiberationMono-Regular.ttf"


def archive() -> bytes:
    """Return an npm archive with one static face."""
    woff, out = io.BytesIO(), io.BytesIO()
    with TTFont(str(FACE)) as font:
        font.flavor = "woff2"
        font.save(woff)
    files = {"files/some-mono-latin-400-normal.woff2": woff.getvalue(), "LICENSE": b"free"}
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that replaces Debian's archive and the npm registry."""
    folder = tmp_path / "sources"
    folder.mkdir()
    for name in ("DEBIAN", "NPM"):
        monkeypatch.setattr(packages, name, [f"{folder.as_uri()}/"])
    return folder


def publish(sources: Path, data: bytes) -> None:
    target = sources / "@some" / "some-mono" / "-" / "some-mono-1.0.0.tgz"
    target.parent.mkdir(parents=True)
    target.write_bytes(data)


def sri(data: bytes) -> str:
    return f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"


def mono(digest: str) -> Package:
    return Package("offered", "npm", "@some/some-mono", "1.0.0", digest, "Some Mono", ("400", "700"))


def test_every_package_is_pinned_by_version_and_hash() -> None:
    assert {package.pack for package in manifest()} == set(PACKS)
    for package in manifest():
        assert package.version
        assert (
            len(package.digest) == 64
            if package.source in ("bundled", "debian")
            else package.digest.startswith("sha512-")
        )


def test_the_fonts_of_the_reference_are_installed_in_its_versions() -> None:
    assert missing(FONTS, ("reference", "scripts")) == []


def test_a_web_family_is_converted_and_found_by_its_name(tmp_path: Path, sources: Path) -> None:
    data = archive()
    publish(sources, data)
    output: list[str] = []
    assert fetch([mono(sri(data))], tmp_path / "fonts", output.append) == {}
    (file,) = FontFolders(tmp_path / "fonts").files()
    assert (file.family, file.weight, file.italic, file.path.suffix) == ("Some Mono", 400, False, ".ttf")
    assert file.covers(ord("A"))
    assert output == ["@some/some-mono 1.0.0"]
    assert missing(tmp_path / "fonts", ()) == []


def test_an_archive_with_another_hash_is_refused_and_leaves_nothing(tmp_path: Path, sources: Path) -> None:
    publish(sources, archive())
    reasons = fetch([mono(sri(b"other"))], tmp_path / "fonts", lambda line: None)
    assert "not the file that was pinned" in reasons["@some/some-mono"]
    assert list((tmp_path / "fonts").iterdir()) == []


def test_unfinished_packages_of_killed_processes_are_removed_unless_another_process_is_fetching(
    tmp_path: Path, sources: Path
) -> None:
    data, root = archive(), tmp_path / "fonts"
    publish(sources, data)
    left = root / ".fetching-left"
    left.mkdir(parents=True)
    seen = []

    def fetch_another(_line: str) -> None:
        seen.append(left.exists())
        left.mkdir()
        fetch([mono(sri(data))], root, lambda _line: None)
        seen.append(left.exists())

    fetch([mono(sri(data))], root, fetch_another)
    assert seen == [False, True]
    fetch([mono(sri(data))], root, lambda _line: None)
    assert [path.name for path in root.iterdir()] == ["offered"]


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path, sources: Path) -> None:
    data = archive()
    publish(sources, data)
    (tmp_path / "fonts").write_text("")
    reasons = fetch([mono(sri(data))], tmp_path / "fonts", lambda line: None)
    assert reasons == {"@some/some-mono": f"it cannot be stored in {tmp_path}/fonts: File exists"}


def deb(members: dict[str, bytes]) -> bytes:
    """Return a Debian package, which is an `ar` archive."""
    rows = (
        f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
        for name, data in members.items()
    )
    return b"!<arch>\n" + b"".join(rows)


def tar_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def some_debian(digest: str) -> Package:
    return Package("reference", "debian", "fonts-some", "1", digest, path="f/some/fonts some+1_all.deb")


def test_a_debian_package_is_unpacked_without_debians_programs(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tar_of({"./usr/share/fonts/Some.ttf": FACE.read_bytes(), "./usr/share/doc/some/copyright": b"free"})
    data = deb({"debian-binary": b"2.0", "control.tar.xz": b"odd", "data.tar.xz": files})
    (sources / "f" / "some").mkdir(parents=True)
    (sources / "f" / "some" / "fonts some+1_all.deb").write_bytes(data)
    monkeypatch.setenv("PATH", str(tmp_path))
    package = some_debian(hashlib.sha256(data).hexdigest())
    assert fetch([package], tmp_path / "fonts", lambda line: None) == {}
    assert [file.family for file in FontFolders(tmp_path / "fonts").files()] == ["Liberation Mono"]
    assert (package.folder(tmp_path / "fonts") / "copyright").read_bytes() == b"free"


def test_a_debian_package_that_was_tampered_with_is_refused(tmp_path: Path, sources: Path) -> None:
    (sources / "f" / "some").mkdir(parents=True)
    (sources / "f" / "some" / "fonts some+1_all.deb").write_bytes(b"evil")
    reasons = fetch([some_debian("0" * 64)], tmp_path / "fonts", lambda line: None)
    assert "not the file that was pinned" in reasons["fonts-some"]
    assert FontFolders(tmp_path / "fonts").files() == ()


def test_offline_the_bundled_fonts_are_installed_and_the_others_are_named(
    tmp_path: Path, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.run(parser.parse_args(["--base", "--folder", str(tmp_path / "fonts")])) == 1
    output = capsys.readouterr().err
    assert "fonts-liberation: it could not be downloaded; is the machine offline?" in output
    families = {file.family for file in FontFolders(tmp_path / "fonts").files()}
    assert {"Inter", "DejaVu Sans"} <= families


def test_the_bundled_fonts_are_those_of_the_reference(tmp_path: Path) -> None:
    bundled = [package for package in manifest() if package.source == "bundled"]
    assert fetch(bundled, tmp_path, lambda line: None) == {}
    expected = {
        file.sha256
        for package in bundled
        for file in FontFolders(FONTS).files()
        if file.path.parent.name == package.name
    }
    assert {file.sha256 for file in FontFolders(tmp_path).files()} == expected


def test_with_everything_there_nothing_is_fetched(sources: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.run(parser.parse_args(["--base", "--folder", str(FONTS)])) == 0
    assert capsys.readouterr().err == ""
    assert command.run(parser.parse_args(["--list", "--folder", str(FONTS)])) == 0
    assert "Liberation Sans" in capsys.readouterr().out
