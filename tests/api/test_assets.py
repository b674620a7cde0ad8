"""`POST /v1/assets`."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.api import media
from tests.api.world import World, picture

pytestmark = pytest.mark.service


def test_each_of_the_eleven_types_is_known_by_its_bytes(world: World) -> None:
    ada = world.account()
    for mime, data in media.files().items():
        for declared in ("application/octet-stream", mime, f"{mime}; charset=binary"):
            answer = ada.upload(data, "misleading.bin", declared)
            assert answer.status_code == 201, (mime, answer.text)
            assert (answer.json()["mime"], answer.json()["bytes"]) == (mime, len(data))


def test_the_answer_names_an_address_that_serves_the_bytes_for_a_day(own_world: World) -> None:
    ada = own_world.account()
    made = ada.upload(picture()).json()
    assert set(made) == {"url", "bytes", "mime", "expiresAt"}
    assert made["expiresAt"] == "2026-01-02T00:00:00.000Z"
    assert made["url"].startswith(f"{own_world.origin}/files/")
    assert own_world.client.get(made["url"]).content == picture()
    own_world.clock.advance(24 * 3600 + 1)
    assert own_world.client.get(made["url"]).status_code in (403, 404)


def test_uploaded_bytes_count(world: World) -> None:
    ada = world.account()
    sizes = [ada.upload(data).json()["bytes"] for data in (picture(), media.SVG)]
    assert ada.usage()["assetProcessingBytes"] == sum(sizes)
    ada.upload(b"nonsense")
    assert ada.usage()["assetProcessingBytes"] == sum(sizes)


def test_a_declared_type_that_contradicts_the_bytes_is_refused(world: World) -> None:
    ada = world.account()
    for declared in ("image/jpeg", "video/mp4", "text/plain", "image/*"):
        answer = ada.upload(picture(), "a.png", declared)
        assert answer.status_code == 400, declared
        assert "declared" in answer.json()["message"]


def test_other_names_of_a_type_are_understood(world: World) -> None:
    ada = world.account()
    for declared, mime in (("image/jpg", "image/jpeg"), ("audio/x-wav", "audio/wav"), ("audio/x-m4a", "audio/mp4")):
        assert ada.upload(media.files()[mime], "a", declared).status_code == 201


def test_a_file_that_the_renderer_cannot_decode_is_refused(world: World) -> None:
    ada = world.account()
    files = media.files()
    bad = {
        "empty": b"",
        "text": b"hello, this is plain text",
        "html": b"<!doctype html><html><body>x</body></html>",
        "pdf": b"%PDF-1.7\n1 0 obj\n",
        "zip": b"PK\x03\x04" + b"\0" * 40,
        "elf": b"\x7fELF" + b"\0" * 60,
        "bmp": picture("BMP"),
        "tiff": picture("TIFF"),
        "signature only": b"\x89PNG\r\n\x1a\n",
        "cut png": picture(size=(300, 300))[:200],
        "cut jpeg": files["image/jpeg"][:60],
        "cut gif": files["image/gif"][:10],
        "cut webp": files["image/webp"][:30],
        "cut mp4": files["video/mp4"][:200],
        "mp4 of an unknown codec": media.video("mp4", "libx264").replace(b"avc1", b"zzzz"),
        "wav of an unknown codec": files["audio/wav"].replace(b"fmt \x10\0\0\0\1\0", b"fmt \x10\0\0\0\x99\x77"),
        "mp4 without tracks": b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"\0" * 100,
        "cut webm": files["video/webm"][:40],
        "matroska": media.video("mkv", "libx264"),
        "cut wav": files["audio/wav"][:20],
        "noise as mp3": b"\xff\xfb\x90\x00" + b"\0" * 2000,
        "huge png": media.huge_png(),
        "png bomb": media.huge_png(16_000),
    }
    for name, data in bad.items():
        answer = ada.upload(data)
        assert answer.status_code == 400, name
        assert "not a renderable asset type" in answer.json()["message"], name


@pytest.mark.parametrize(
    "inside",
    [
        "<script>1</script>", "<g onload='x()'/>", "<image href='http://example.com/a.png'/>",
        "<image xmlns:xlink='http://www.w3.org/1999/xlink' xlink:href='//example.com/a.png'/>", "<use href='other.svg#a'/>",
        "<foreignObject><p>x</p></foreignObject>", "<style>@import url(http://example.com/a.css);</style>",
        "<rect style='fill:url(http://example.com/a#b)'/>", "<rect fill='url(&quot;http://example.com&quot;)'/>",
        "<a href='javascript:alert(1)'><rect/></a>", "<image href='data:text/html,x'/>", "<image href='file:///etc/passwd'/>",
        "<set attributeName='href' to='http://example.com'/>", "<g><g><handler/></g></g>", "<image href='data:image/svg+xml,x'/>",
    ],
)  # fmt: skip
def test_an_svg_with_scripts_or_outside_references_is_refused(world: World, inside: str) -> None:
    data = f'<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8">{inside}</svg>'.encode()
    answer = world.account().upload(data, "a.svg", "image/svg+xml")
    assert answer.status_code == 400
    assert "the SVG" in answer.json()["message"]


def test_an_svg_with_entities_or_a_stylesheet_outside_is_refused(world: World) -> None:
    ada = world.account()
    outside = (
        b'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg">&x;</svg>'
    )
    sheet = b'<?xml-stylesheet href="http://example.com/a.css"?>' + media.SVG
    for data in (media.xml_bomb(), outside, sheet):
        assert ada.upload(data, "a.svg", "image/svg+xml").status_code == 400


def test_an_svg_that_refers_to_itself_is_welcome(world: World) -> None:
    data = (
        b'<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
        b'<svg xmlns="http://www.w3.org/2000/svg"><defs><linearGradient id="g"/></defs><rect fill="url(#g)"/>'
        b'<style>rect { fill: url("#g") }</style><use href="#g"/><image href="data:image/png;base64,AAAA"/></svg>'
    )
    assert world.account().upload(data).json()["mime"] == "image/svg+xml"


def test_a_file_over_the_plans_limit_names_limit_and_size(world: World) -> None:
    data = media.video("mp4", "libx264", (640, 480))
    ada = world.account(maxUploadBytes=len(data))
    assert ada.upload(data).status_code == 201
    answer = ada.upload(data + b"\0")
    body = answer.json()
    assert (answer.status_code, body["code"]) == (413, "upload_too_large")
    assert (body["limit"], body["bytes"]) == (len(data), len(data) + 1)
    assert body["message"] == f"The file has {len(data) + 1:,} bytes; this plan allows {len(data):,} bytes."


def test_limits_are_named_in_megabytes_as_the_interface_counts_them(world: World) -> None:
    ada = world.account(maxUploadBytes=2 * 1024 * 1024)
    assert ada.upload(bytes(3_500_000)).json()["message"] == "The file has 3.3 MB; this plan allows 2 MB."
    almost = ada.upload(bytes(2 * 1024 * 1024 + 1)).json()["message"]
    assert almost == "The file has 2,097,153 bytes; this plan allows 2,097,152."
    headers = {"Content-Type": "application/json"}
    answer = ada.post("/renders", content=b" " * (10 * 1024 * 1024 + 1), headers=headers)
    assert (answer.status_code, answer.json()["message"]) == (413, "The request body is larger than 10 MB.")
    assert ada.get("/renders?offset=99999999999").json()["message"] == ["offset: must be at most 2147483647"]


def test_a_large_upload_passes_through_the_disk(world: World) -> None:
    """20 MB is above the limit of JSON bodies and below that of uploads."""
    ada = world.account()
    wav = bytearray(media.files()["audio/wav"])
    data = bytes(wav) + b"\0" * (20 << 20)
    assert ada.upload(data).json()["bytes"] == len(data)


def test_an_upload_of_unknown_length_is_bounded_too(world: World) -> None:
    ada = world.account(maxUploadBytes=1000)

    def body() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        for _ in range(100):
            yield b"\0" * 1000
        yield b"\r\n--x--\r\n"

    answer = ada.post("/assets", content=body(), headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert (answer.status_code, answer.json()["bytes"]) == (413, 100_000)


def test_form_data_beside_the_file_is_limited(world: World) -> None:
    ada = world.account()

    def body() -> Iterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + picture() + b"\r\n--x--\r\n"
        for _ in range(11):
            yield b" " * (1 << 20)

    answer = ada.post("/assets", content=body(), headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert (answer.status_code, answer.json().get("code")) == (413, None)


def test_an_account_without_a_limit_may_upload_what_it_likes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.uploads._COUNT_ON_BYTES_MAX", 1000)
    data = media.files()["audio/wav"] + b"\0" * 100_000
    assert world.account(maxUploadBytes=None).upload(data).json()["bytes"] == len(data)


def test_a_form_without_the_file_is_refused(world: World) -> None:
    ada = world.account()
    assert ada.post("/assets", files={"other": ("a.png", picture())}).status_code == 400
    assert ada.post("/assets", json={"file": "x"}).status_code == 400
    assert ada.post("/assets").status_code == 400
    two = [("file", ("a.png", picture())), ("file", ("b.png", picture()))]
    assert ada.post("/assets", files=two).status_code == 400


def test_an_upload_can_be_an_input_of_its_own_account_only(world: World) -> None:
    ada, bob = world.account(), world.account()
    url = ada.upload(picture()).json()["url"]
    assert ada.render(ada.template(), inputs={"photo": url}).status_code == 201
    assert ada.render(ada.template(), inputs={"photo": url.split("?")[0]}).status_code == 201
    answer = bob.render(bob.template(), inputs={"photo": url})
    assert [one["field"] for one in answer.json()["errors"]] == ["photo"]
    unknown = f"{world.origin}/files/assets/none.png"
    assert ada.render(ada.template(), inputs={"photo": unknown}).status_code == 400


@pytest.mark.parametrize("mime", ["video/mp4", "audio/wav"])
def test_an_upload_that_is_no_picture_is_no_value_of_an_image_input(world: World, mime: str) -> None:
    ada = world.account()
    upload = ada.upload(media.files()[mime]).json()["url"]
    answer = ada.render(ada.template(), inputs={"photo": upload, "nope": 1})
    assert answer.status_code == 400
    faults = {one["field"]: one["message"] for one in answer.json()["errors"]}
    assert faults == {
        "photo": "is no picture; an image input takes PNG, JPEG, WebP, GIF or SVG",
        "nope": "is not an input of this template",
    }


@pytest.mark.parametrize(("mime", "status"), [("video/mp4", 201), ("image/png", 201), ("audio/wav", 400)])
def test_an_upload_of_a_sound_is_no_value_of_a_media_input(world: World, mime: str, status: int) -> None:
    ada = world.account()
    template = ada.template(inputs=[{"id": "photo", "label": "Photo", "kind": "media"}])
    answer = ada.render(template, inputs={"photo": ada.upload(media.files()[mime]).json()["url"]})
    assert answer.status_code == status
    if status == 400:
        (fault,) = answer.json()["errors"]
        assert fault == {"field": "photo", "message": "is a sound; a media input takes pictures and videos"}


def test_an_upload_is_known_by_its_link_whatever_name_the_farm_was_called_by(own_world: World) -> None:
    ada, bob = own_world.account(), own_world.account("bob")
    url = ada.post("/assets", files={"file": picture()}, headers={"Host": "localhost:8000"}).json()["url"]
    assert url.startswith("http://localhost:8000/files/")
    assert ada.render(ada.template(), inputs={"photo": url, "headline": url}).status_code == 201
    ((inputs,),) = own_world.database.execute("SELECT inputs FROM jobs").fetchall()
    assert inputs == {"photo": url.removeprefix("http://localhost:8000").partition("?")[0], "headline": url}
    for caller, wrong in ((bob, url), (ada, url[:-1] + ("0" if url[-1] != "0" else "1")), (ada, url.partition("?")[0])):
        answer = caller.render(caller.template(), inputs={"photo": wrong})
        assert [one["field"] for one in answer.json()["errors"]] == ["photo"]


def test_expired_uploads_are_reaped(own_world: World) -> None:
    import asyncio

    from farm_core.assets import repository
    from farm_core.db.database import Database
    from farm_core.storage.links import Links
    from farm_core.storage.local import LocalStorage

    ada = own_world.account()
    ada.upload(picture())
    storage = LocalStorage(own_world.settings.data_folder / "storage", Links(b""))

    async def reap() -> int:
        database = Database(str(own_world.settings.database_url))
        count = await repository.reap(database, storage, own_world.clock.now())
        await database.close()
        return count

    assert asyncio.run(reap()) == 0
    own_world.clock.advance(24 * 3600)
    assert len(list(storage.listed("assets/"))) == 1
    assert asyncio.run(reap()) == 1
    assert list(storage.listed("assets/")) == []
    assert asyncio.run(reap()) == 0


def served(world: World, **headers: str) -> httpx.Response:
    ada = world.account()
    return world.client.get(ada.upload(media.files()["audio/wav"]).json()["url"], headers=headers)


def test_files_are_served_in_ranges(world: World) -> None:
    data = media.files()["audio/wav"]
    whole = served(world)
    assert (whole.status_code, whole.headers["Accept-Ranges"], whole.content) == (200, "bytes", data)
    size = len(data)
    for asked, start, end in (("0-9", 0, 10), ("5-", 5, size), ("-7", size - 7, size), ("3-999999999", 3, size)):
        part = served(world, Range=f"bytes={asked}")
        assert (part.status_code, part.content) == (206, data[start:end])
        assert part.headers["Content-Range"] == f"bytes {start}-{end - 1}/{size}"
    beyond = served(world, Range=f"bytes={size}-")
    assert (beyond.status_code, beyond.headers["Content-Range"]) == (416, f"bytes */{size}")
    assert beyond.json()["statusCode"] == 416
    for ignored in ("bytes=9-5", "bytes=0-1,3-4", "lines=1-2", "bytes=-", "bytes=a-b", "bytes=0-" + "9" * 5000):
        assert served(world, Range=ignored).status_code == 200


def test_a_file_is_opened_by_its_link_or_its_owners_session_and_nothing_else(world: World) -> None:
    ada, bob = world.account(), world.account()
    url = ada.upload(picture()).json()["url"]
    bare = url.split("?")[0]
    get = world.client.get
    assert get(url).status_code == 200
    assert get(bare).status_code == 401
    assert get(bare, headers=ada.headers).status_code == 200
    assert get(bare, headers=bob.headers).status_code == 404
    assert get(bare, headers=ada.new_key().headers).status_code == 403
    assert get(url[:-1] + ("0" if url[-1] != "0" else "1")).status_code == 403
    assert get(url.replace("expires=", "expires=9")).status_code == 403
    for path in ("/files/../jwt-secret", "/files/%2e%2e/jwt-secret", "/files/", "/files/.hidden", "/files/a%00b"):
        assert get(path, headers=ada.headers).status_code == 404, path


def test_served_files_run_nothing_in_a_browser(world: World) -> None:
    ada = world.account()
    answer = world.client.get(ada.upload(media.SVG).json()["url"])
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    head = world.client.head(str(answer.request.url))
    assert (head.status_code, head.headers["Content-Length"], head.content) == (200, str(len(media.SVG)), b"")


def test_a_file_that_the_caller_has_is_not_sent_again(world: World) -> None:
    url = world.account().upload(picture()).json()["url"]
    tag = world.client.get(url).headers["ETag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = world.client.get(url, headers={"If-None-Match": known, "Range": "bytes=0-3"})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag), known
    assert world.client.get(url, headers={"If-None-Match": '"other"'}).content == picture()
    part = world.client.get(url, headers={"Range": "bytes=0-3", "If-Range": tag})
    assert (part.status_code, part.content) == (206, picture()[:4])
    whole = world.client.get(url, headers={"Range": "bytes=0-3", "If-Range": '"other"'})
    assert (whole.status_code, whole.content) == (200, picture())
