"""Generators of untrusted input: documents, projects, SVG, media files and requests, mostly valid with some oddities."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from hypothesis import strategies as st

from tests.api import media
from tests.motion.test_robustness import broken_documents

CHUNKS = ("manifest.json", "scene.json", "animation.json", "timeline.json", "meta.json")
ODD_TEXT = st.text(max_size=12) | st.sampled_from(
    ["", " " * 5_000, "9" * 400, "1e999", "-1", "NaN", "#", "url(#a)", "url(" * 40, "calc(" * 40, "var(--a)", "\u202e", "½", "1,,2", "%", "e"]
)  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-5, 500).map(str), st.floats(allow_nan=False).map(str), st.sampled_from(["1e9", "1e308", "-1e308", "50%", "3em", "0", "1px"])
)  # fmt: skip
SHAPES = ("g", "rect", "circle", "ellipse", "line", "path", "polygon", "polyline", "text", "tspan", "textPath", "use", "image",
          "svg", "symbol", "defs", "clipPath", "mask", "marker", "pattern", "linearGradient", "radialGradient", "stop", "filter",
          "feGaussianBlur", "feTurbulence", "feColorMatrix", "feComposite", "feFlood", "animate", "animateTransform", "style", "switch", "a")  # fmt: skip
IDS = st.sampled_from(["a", "b", "c", "d"])
REFERENCES = IDS.map(lambda name: f"url(#{name})")
PATHS = st.lists(
    st.tuples(st.sampled_from("MmLlHhVvCcSsQqTtAaZz"), st.lists(NUMBERS, max_size=7)), max_size=12
).map(lambda parts: " ".join(letter + " ".join(numbers) for letter, numbers in parts))  # fmt: skip
TRANSFORMS = st.lists(
    st.tuples(st.sampled_from(["translate", "scale", "rotate", "skewX", "matrix"]), st.lists(NUMBERS, max_size=6)), max_size=4
).map(lambda parts: " ".join(f"{name}({','.join(numbers)})" for name, numbers in parts))  # fmt: skip
ATTRIBUTES: dict[str, st.SearchStrategy[str]] = {
    **dict.fromkeys(("x", "y", "width", "height", "r", "rx", "cx", "cy", "x1", "y2", "offset", "stroke-width", "font-size", "opacity",
                     "stdDeviation", "baseFrequency", "markerWidth", "refX", "letter-spacing", "stroke-dasharray", "startOffset"), NUMBERS),
    **dict.fromkeys(("clip-path", "mask", "fill", "stroke", "filter", "marker-start", "marker-mid"), REFERENCES),
    **dict.fromkeys(("href", "xlink:href"), IDS.map("#{}".format)),
    **dict.fromkeys(("transform", "gradientTransform", "patternTransform"), TRANSFORMS),
    "d": PATHS, "points": st.lists(NUMBERS, max_size=20).map(" ".join), "id": IDS,
    "viewBox": st.lists(NUMBERS, min_size=3, max_size=5).map(" ".join),
    "preserveAspectRatio": st.sampled_from(["none", "xMidYMid slice", "xMinYMax meet", "x"]),
    "style": st.lists(st.tuples(st.sampled_from(["fill", "--a", "font", "mix-blend-mode", "stroke", "display"]), ODD_TEXT), max_size=3)
        .map(lambda parts: ";".join(f"{name}:{value}" for name, value in parts)),
    "class": IDS, "values": st.lists(NUMBERS, max_size=5).map(";".join), "dur": NUMBERS, "attributeName": st.sampled_from(["x", "d"]),
}  # fmt: skip


def _xml(text: str) -> str:
    """Remove characters that XML does not allow."""
    return "".join(one for one in text if one in "\t\n" or " " <= one < "\ud800" or "\ue000" <= one <= "\ufffd")


@st.composite
def elements(draw: st.DrawFn, depth: int = 3) -> str:
    """Return an element with its own attributes, sometimes others too, and its content."""
    name = draw(st.sampled_from(SHAPES))
    names = draw(st.lists(st.sampled_from(sorted(ATTRIBUTES)), max_size=6, unique=True))
    odd = draw(st.integers(0, 9)) == 0
    given = "".join(f" {one}={quoteattr(_xml(draw(ODD_TEXT if odd else ATTRIBUTES[one])))}" for one in names)
    if name == "style":
        rules = draw(
            st.lists(st.tuples(st.sampled_from([".a", "#b", "*", "g>rect", "a,b"]), ODD_TEXT, ODD_TEXT), max_size=4)
        )
        inside = escape(_xml("".join(f"{where}{{{what}:{how}}}" for where, what, how in rules)))
    elif depth and draw(st.booleans()):
        inside = "".join(draw(st.lists(elements(depth - 1), max_size=4)))
    else:
        inside = escape(_xml(draw(ODD_TEXT)))
    return f"<{name}{given}>{inside}</{name}>"


@st.composite
def svgs(draw: st.DrawFn) -> bytes:
    """Return an SVG, sometimes with changed bytes."""
    size = draw(st.sampled_from(['width="64" height="48"', 'viewBox="0 0 30 20"', 'width="1e9" height="2"', ""]))
    inside = "".join(draw(st.lists(elements(), min_size=1, max_size=6)))
    text = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {size}>{inside}</svg>'
    return draw(changed(text.encode())) if draw(st.integers(0, 5)) == 0 else text.encode()


@st.composite
def changed(draw: st.DrawFn, data: bytes) -> bytes:
    """Overwrite, cut out, repeat or cut off a few bytes."""
    held = bytearray(data)
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, max(0, len(held) - 1)))
        kind = draw(st.sampled_from(["set", "number", "cut", "repeat", "end"]))
        if kind == "set":
            held[at : at + 1] = bytes([draw(st.integers(0, 255))])
        elif kind == "number":
            held[at : at + 4] = draw(
                st.sampled_from([b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\1"])
            )
        elif kind == "cut":
            del held[at : at + draw(st.integers(1, 200))]
        elif kind == "repeat":
            held[at:at] = held[at : at + draw(st.integers(1, 200))] * draw(st.integers(1, 20))
        else:
            del held[at:]
    return bytes(held)


FILES = media.files()


@st.composite
def media_files(draw: st.DrawFn) -> bytes:
    """Return a real file of an accepted type with changed bytes, mostly near its start."""
    data = FILES[draw(st.sampled_from(sorted(FILES)))]
    if draw(st.booleans()):
        return draw(changed(data))
    head = draw(st.integers(1, min(400, len(data))))
    return draw(changed(data[:head])) + data[head:]


@st.composite
def projects(draw: st.DrawFn) -> bytes:
    """Return a project of the editor: a zip with chunks in odd places, or a single file. Its document has errors."""
    held: dict[str, Any] = draw(broken_documents())
    if draw(st.booleans()):
        return _dumped(held)
    packed = io.BytesIO()
    folder = draw(st.sampled_from(["", "project/", "a/b/", "../", "/", "C:\\"]))
    parts = {
        "manifest.json": {"documentVersion": held.get("version")}, "scene.json": held.get("scene"),
        "animation.json": held.get("animation"), "timeline.json": held.get("timeline", {}),
        "meta.json": {"comps": held.get("comps", {})},
    }  # fmt: skip
    with zipfile.ZipFile(packed, "w", draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))) as archive:
        for name in draw(st.permutations(CHUNKS)):
            where = folder if draw(st.integers(0, 9)) else draw(st.sampled_from(["", "other/", "project/"]))
            data = _dumped(parts[name])
            archive.writestr(where + name, draw(changed(data)) if draw(st.integers(0, 7)) == 0 and data else data)
    whole = packed.getvalue()
    return draw(changed(whole)) if draw(st.integers(0, 3)) == 0 else whole


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


LINES = st.sampled_from(
    ["Host: x", "Content-Length: 5", "Content-Length: -1", "Content-Length: 99999999999999999999", "Transfer-Encoding: chunked", "Expect: 100-continue",
     "Connection: close", "Connection: upgrade", "Upgrade: websocket", "Upgrade: h2c", "Content-Type: application/json", "Content-Type: multipart/form-data; boundary=x",
     "Content-Type: multipart/form-data", "Range: bytes=0-", "If-None-Match: *", "X-Forwarded-For: 1.1.1.1, ::1", "Cookie: farm_console=x", "Accept: */*;q=9",
     "Authorization: Bearer x.y.z", "Authorization: Basic Og==", "X-API-Key: pm_live_x", "Idempotency-Key: aaaaaaaa", "Origin: null", "Accept-Encoding: br;q=x"]
)  # fmt: skip
TARGETS = st.sampled_from(
    ["/", "/api/health", "/api/v1/renders", "/api/v1/renders?limit=5&limit=x", "/api/v1/assets", "/api/v1/templates/import", "/files/a", "/console/", "/console/sign-in",
     "/api/v1/renders/%00", "/api/v1/%2e%2e/%2e%2e", "*", "http://x/api/health", "//", "/api/openapi.json", "/metrics", "/api/v1/keys/\xff", "/" + "a/" * 3000, "/%zz"]
)  # fmt: skip
BODIES = st.sampled_from(
    [b"", b"{}", b"[", b"null", b'{"templateId":1}', b"5\r\nhello\r\n0\r\n\r\n", b"zz\r\n", b"ffffffffffffffff\r\n", b"--x\r\n\r\n--x--", b"--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nx\r\n--x--\r\n"]
) | st.binary(max_size=60)  # fmt: skip


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """Return an HTTP/1 request, mostly valid."""
    method = draw(
        st.sampled_from(
            ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE", "PRI", "get", "G\0T", ""]
        )
    )
    version = draw(st.sampled_from(["HTTP/1.1", "HTTP/1.0", "HTTP/1.1", "HTTP/2.0", "HTTP/9", ""]))
    lines = draw(st.lists(LINES | ODD_TEXT.map(lambda text: f"X-Odd: {text}") | ODD_TEXT, max_size=8))
    head = "\r\n".join([f"{method} {draw(TARGETS)} {version}", *lines]) + "\r\n\r\n"
    whole = head.encode("utf-8", "replace") + draw(BODIES)
    return draw(changed(whole)) if draw(st.integers(0, 3)) == 0 else whole
