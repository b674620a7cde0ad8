"""Make the example bundles and their media: `python -m examples.build`. The results are committed.

Everything is drawn and written here, so the examples carry nobody else's work.
"""

from __future__ import annotations

import math
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import skia

from examples.documents import (
    BACK_OUT,
    EASE_IN_OUT,
    Layer,
    Record,
    audio,
    bundle,
    composition,
    media,
    null,
    path,
    shape,
    stops,
    text,
)

HERE = Path(__file__).parent
JINGLE, JINGLE_SECONDS = "jingle.m4a", 3.0


def title_card() -> Record:
    """1280x720, 3 s: gradient, growing bar, headline and subtitle sliding in, a logo in a ring."""
    accent = shape("accent", "Accent Bar", 640, 452, 900, 8, "#22d3ee", cornerRadius=4)
    accent.animate("width", (0.1, 1), (0.9, 900))
    headline = text("headline", "Headline", 640, 372, "Render it yourself", 92, "#f8fafc", letterSpacing=-1)
    headline.animate("y", (0.2, 432), (1.1, 372)).animate("opacity", (0.2, 0), (0.8, 100))
    subtitle = text("subtitle", "Subtitle", 640, 508, "One bundle in, one MP4 out", 36, "#94a3b8", fontWeight="500")
    subtitle.animate("y", (0.5, 548), (1.3, 508)).animate("opacity", (0.5, 0), (1.1, 100))
    ring = shape("ring", "Ring", 640, 192, 172, 172, "rgba(0,0,0,0)", shape="ellipse")
    ring.fx = {
        "stroke": {"enabled": True, "color": "#22d3ee", "width": 6, "opacity": 1, "align": "center", "cap": "round"},
        "pathOps": [{"id": "trim", "type": "trim", "start": 0, "end": 100, "offset": -25}],
    }
    ring.animate("pathop.trim.end", (0.0, 0), (1.0, 99.5), bezier=EASE_IN_OUT)
    logo = media("logo", "Logo", "image", 640, 192, 132, 132, "", cornerRadius=66)
    logo.animate("scale", (0.1, 0.2), (0.9, 1), bezier=BACK_OUT).animate("rotation", (0.1, -40), (1.0, 0))
    dots = [
        shape(f"dot{i}", f"Dot {i + 1}", 160 + i * 60, 640, 14, 14, "#1e293b", shape="ellipse").express(
            "y", f"640 + 10*Math.sin(time*4 + {i})"
        )
        for i in range(17)
    ]
    fields = [
        field("headline", "Headline", "text", "headline", "Text", "content", "Render it yourself"),
        field("accent", "Accent", "color", "accent", "Style", "fill", "#22d3ee"),
    ]
    background = {"type": "linear", "angle": 60, "stops": stops("#0b1120", "#172554", "#312e81")}
    layers = [*dots, accent, ring, logo, subtitle, headline]
    return composition("comp_root", "Title Card", 1280, 720, 30, 3, layers, background, fields)


def lower_third() -> Record:
    """1280x720, 6 s: a panel with a name that slides over footage and leaves again."""
    footage = media("footage", "Background Video", "video", 640, 360, 1280, 720, "")
    shade = shape("shade", "Shade", 640, 560, 1280, 320, "#000000")
    shade.fx = {
        "fill": {
            "type": "linear", "angle": 90, "stops": stops("#000000", "#000000"),
            "opacityStops": [{"id": "a", "offset": 0, "opacity": 0}, {"id": "b", "offset": 1, "opacity": 0.55}],
        }
    }  # fmt: skip
    panel = shape("panel", "Panel", 0, 0, 600, 120, "#0f172a", cornerRadius=16, opacity=80)
    stripe = shape("stripe", "Stripe", -282, 0, 10, 84, "#f59e0b", cornerRadius=5)
    name = text("name", "Name", 10, -20, "Ada Lovelace", 44, "#ffffff", boxWidth=520, align="left")
    role = text("role", "Role", 10, 30, "Analyst, Metaphysician, Founder", 24, "#cbd5e1", boxWidth=520, align="left")
    role.text["fontWeight"] = "500"
    group = null("plate", "Plate", -340, 580, panel, stripe, name, role)
    group.animate("x", (0.6, -340), (1.3, 380), (4.9, 380), (5.5, -340))
    for part, until in ((name, 1.4), (role, 1.7)):
        part.animate("opacity", (until - 0.5, 0), (until, 100))
    fields = [
        field("name", "Name", "text", "name", "Text", "content", "Ada Lovelace"),
        field("stripe", "Stripe", "color", "stripe", "Style", "fill", "#f59e0b"),
    ]
    return composition("comp_root", "Lower Third", 1280, 720, 30, 6, [footage, shade, group], "#000000", fields)


def product_promo() -> Record:
    """1080x1920, 5 s: a product on a glow, a price badge, a headline letter by letter, a button that pulses."""
    glow = shape("glow", "Glow", 540, 820, 1300, 1300, "#ffffff", shape="ellipse")
    glow.fx = {
        "blendMode": "screen",
        "fill": {
            "type": "radial", "cx": 0.5, "cy": 0.5, "radius": 0.7, "stops": stops("#fb7185", "#fb7185"),
            "opacityStops": [{"id": "a", "offset": 0, "opacity": 0.85}, {"id": "b", "offset": 1, "opacity": 0}],
        },
    }  # fmt: skip
    glow.animate("scale", (0, 0.6), (1.2, 1), (5, 1.15), bezier=EASE_IN_OUT)
    product = media("product", "Product", "image", 540, 820, 720, 720, "")
    product.fx = {
        "effects": [{"id": "shadow", "type": "drop-shadow", "params": {"distance": 28, "angle": 90, "softness": 30}}]
    }
    product.animate("y", (0, 1200), (1.0, 820)).animate("rotation", (0, 12), (1.2, -4), (5, 4), bezier=EASE_IN_OUT)
    star = [
        (r * math.cos(a), r * math.sin(a))
        for i in range(24)
        for r, a in [((170, 142)[i % 2], math.tau * i / 24 - math.pi / 2)]
    ]
    badge = path("badge", "Badge", 840, 480, star, "#fde047")
    badge.animate("scale", (1.0, 0), (1.5, 1), bezier=BACK_OUT).express("rotation", "time*18")
    price = text("price", "Price", 840, 480, "€49", 92, "#881337", fontWeight="900")
    price.animate("scale", (1.1, 0), (1.6, 1), bezier=BACK_OUT)
    headline = text("headline", "Headline", 540, 1320, "Made to be seen", 104, "#fff1f2", fontWeight="800")
    headline.text["__animators"] = [
        {
            "id": "rise", "name": "Rise", "enabled": True, "y": 90, "opacity": 0,
            "selectors": [{"kind": "range", "id": "r", "basedOn": "characters", "shape": "square", "start": 0, "end": 100, "smoothness": 100}],
        }
    ]  # fmt: skip
    headline.animate("ta.0.start", (0.6, 0), (2.0, 105), bezier=(0.33, 0, 0.67, 1))
    button = shape("button", "Button", 0, 0, 560, 132, "#e11d48", cornerRadius=66)
    label = text("label", "Button Label", 0, 0, "Order today", 48, "#ffffff")
    call = null("call", "Call To Action", 540, 1580, button, label)
    call.animate("scale", (2.0, 0), (2.6, 1), (3.4, 1), (3.7, 1.06), (4.0, 1), bezier=EASE_IN_OUT)
    fields = [
        field("headline", "Headline", "text", "headline", "Text", "content", "Made to be seen"),
        field("price", "Price", "text", "price", "Text", "content", "€49"),
        field("button", "Button", "color", "button", "Style", "fill", "#e11d48"),
    ]
    background = {"type": "linear", "angle": 90, "stops": stops("#4c0519", "#881337", "#1c1917")}
    layers = [glow, product, badge, price, headline, call]
    return composition("comp_root", "Product Promo", 1080, 1920, 30, 5, layers, background, fields)


def greeting() -> Record:
    """640x360, 3 s: a headline over a pulsing disc. It needs no files, so every farm can render it."""
    return composition("comp_root", "Greeting", 640, 360, 30, 3, *_headline_and_disc("Hello there"))


def announcement() -> Record:
    """The greeting with other words and a jingle that fades out."""
    layers, background, fields = _headline_and_disc("Listen to this")
    jingle = audio("jingle", "Jingle", f"https://media.example.com/{JINGLE}", JINGLE_SECONDS)
    jingle.animate("audioLevelDb", (0, -3), (2.2, -3), (3, -40), bezier=(0.33, 0.33, 0.67, 0.67))
    return composition("comp_root", "Announcement", 640, 360, 30, 3, [*layers, jingle], background, fields)


def _headline_and_disc(words: str) -> tuple[list[Layer], str, list[Record]]:
    """Return layers, background and inputs."""
    disc = shape("disc", "Disc", 320, 170, 150, 150, "#f97316", shape="ellipse")
    disc.animate("scale", (0, 0.6), (0.5, 1), (1, 0.85), (1.5, 1), (2, 0.85), (2.5, 1), bezier=EASE_IN_OUT)
    headline = text("headline", "Headline", 320, 290, words, 48, "#f8fafc")
    headline.animate("opacity", (0.2, 0), (0.7, 100))
    fields = [
        field("headline", "Headline", "text", "headline", "Text", "content", words),
        field("disc", "Disc", "color", "disc", "Style", "fill", "#f97316"),
    ]
    return [disc, headline], "#1e1b4b", fields


def field(id: str, label: str, kind: str, node: str, component: str, prop: str, default: str) -> Record:
    """An input authored in the document."""
    target = {"nodeId": node, "componentType": component, "prop": prop}
    return {"id": id, "label": label, "kind": kind, "target": target, "default": default}


def draw_logo() -> skia.Image:
    """A mark of three bars in a disc."""
    size = 512
    surface = skia.Surface(size, size)
    with surface as canvas:
        canvas.clear(skia.Color(0, 0, 0, 0))
        paint = skia.Paint(AntiAlias=True)
        paint.setShader(skia.GradientShader.MakeLinear([(0, 0), (size, size)], [0xFF22D3EE, 0xFF6366F1]))
        canvas.drawCircle(size / 2, size / 2, size / 2, paint)
        white = skia.Paint(AntiAlias=True, Color=skia.ColorWHITE)
        for i, length in enumerate((0.34, 0.5, 0.26)):
            y = size * (0.32 + 0.18 * i)
            canvas.drawRoundRect(
                skia.Rect.MakeXYWH(size * 0.27, y - size * 0.045, size * length, size * 0.09), 24, 24, white
            )
    return surface.makeImageSnapshot()


def draw_product() -> skia.Image:
    """A bottle, drawn with gradients, on nothing."""
    surface = skia.Surface(1000, 1000)
    with surface as canvas:
        canvas.clear(skia.Color(0, 0, 0, 0))
        glass = skia.Paint(AntiAlias=True)
        glass.setShader(skia.GradientShader.MakeLinear([(330, 0), (670, 0)], [0xFF0F766E, 0xFF5EEAD4, 0xFF115E59]))
        canvas.drawRoundRect(skia.Rect.MakeLTRB(330, 330, 670, 960), 70, 70, glass)
        canvas.drawRoundRect(skia.Rect.MakeLTRB(430, 150, 570, 380), 30, 30, glass)
        cap = skia.Paint(AntiAlias=True)
        cap.setShader(skia.GradientShader.MakeLinear([(415, 0), (585, 0)], [0xFF78350F, 0xFFFBBF24, 0xFF92400E]))
        canvas.drawRoundRect(skia.Rect.MakeLTRB(415, 60, 585, 175), 20, 20, cap)
        canvas.drawRoundRect(skia.Rect.MakeLTRB(330, 520, 670, 800), 6, 6, skia.Paint(AntiAlias=True, Color=0xFFFFF7ED))
        canvas.drawCircle(500, 660, 84, skia.Paint(AntiAlias=True, Color=0xFFF97316))
        shine = skia.Paint(AntiAlias=True, Color=0x55FFFFFF)
        canvas.drawRoundRect(skia.Rect.MakeLTRB(372, 380, 396, 920), 12, 12, shine)
    return surface.makeImageSnapshot()


def footage_frames(width: int, height: int, count: int) -> list[npt.NDArray[np.uint8]]:
    """Slow waves of colour, looping."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    frames = []
    for i in range(count):
        turn = math.tau * i / count
        a = np.sin(x / 190 + turn) + np.sin(y / 130 - turn) + np.sin((x + y) / 260 + 2 * turn)
        b = np.sin(np.hypot(x - width * 0.7, y - height * 0.3) / 120 - 2 * turn)
        mixed = np.stack([0.16 + 0.08 * a + 0.1 * b, 0.3 + 0.09 * a, 0.42 + 0.05 * a + 0.12 * b], axis=-1)
        frames.append((mixed.clip(0, 1) * 255).astype(np.uint8))
    return frames


def write_footage(target: Path) -> None:
    """Six seconds of H.264, 1280x720 at 30 frames a second, a key frame every two seconds."""
    with av.open(str(target), "w", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        stream.options = {"preset": "slow", "crf": "24", "g": "60", "threads": "1"}
        for picture in footage_frames(1280, 720, 180):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))


def write_jingle(target: Path) -> None:
    """Three seconds of plucked notes, AAC, mono at 48 kHz."""
    times = np.arange(round(JINGLE_SECONDS * 48_000)) / 48_000
    sound = np.zeros(len(times))
    for i, hertz in enumerate((523.25, 659.25, 783.99, 1046.5, 783.99, 1046.5)):
        since = times - 0.25 * i
        wave = np.sin(math.tau * hertz * since) + 0.3 * np.sin(2 * math.tau * hertz * since)
        sound += np.where(since >= 0, wave * np.exp(-4 * np.maximum(since, 0)), 0)
    samples = (0.3 * sound).astype(np.float32)[None, :]
    with av.open(str(target), "w", format="ipod", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("aac", rate=48_000, layout="mono")
        stream.bit_rate = 96_000
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
        frame.sample_rate, frame.pts = 48_000, 0
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def documents() -> dict[str, Record]:
    """Return the examples by the names of their files."""
    return {
        "title-card": title_card(),
        "lower-third": lower_third(),
        "product-promo": product_promo(),
        "greeting": greeting(),
        "announcement": announcement(),
    }


def main() -> None:
    """Write every example."""
    folder = HERE / "media"
    folder.mkdir(exist_ok=True)
    draw_logo().save(str(folder / "logo.png"), skia.kPNG)
    draw_product().save(str(folder / "product.png"), skia.kPNG)
    write_footage(folder / "footage.mp4")
    write_jingle(folder / JINGLE)
    for name, document in documents().items():
        (HERE / f"{name}.motion").write_bytes(bundle(document))


if __name__ == "__main__":
    main()
