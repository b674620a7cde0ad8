"""Fixed scenes, as our own documents. A changed scene makes old results incomparable: add a new one instead."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from examples.documents import EASE_IN_OUT, EASE_OUT, Layer, Record, composition, media, path, shape, stops, text

FPS = 30
FOOTAGE = "https://media.example/footage.mp4"
RESIZED = "https://media.example/footage-900p.mp4"
RESIZED_SIZE = (1600, 900)


@dataclass(frozen=True, slots=True)
class Scene:
    """A document, and the share of the limit that it should reach. `limit_share`: frames a second over encoding alone."""

    name: str
    document: Callable[[], Record]
    limit_share: float


def title_card() -> Record:
    """Peer composition A: a gradient, a growing bar, two texts that rise and fade in, still until 9 s, fade out."""
    bar = shape("bar", "Bar", 640, 450, 900, 8, "#22d3ee").animate("width", (0, 1), (0.5, 900))
    title = text("title", "Title", 640, 350, "Ship the frame", 96, "#ffffff")
    title.animate("y", (0, 410), (1.0, 350)).animate("opacity", (0, 0), (1, 100), (9, 100), (10, 0))
    subtitle = text("subtitle", "Subtitle", 640, 520, "One document in, one video out", 40, "#cbd5e1", fontWeight="500")
    subtitle.animate("y", (0.3, 580), (1.3, 520)).animate("opacity", (0.3, 0), (1.3, 100), (9, 100), (10, 0))
    return composition(
        "comp_root", "Title card", 1280, 720, FPS, 10, [bar, title, subtitle], _diagonal("#1e1b4b", "#0e7490")
    )


def lower_third() -> Record:
    """Peer composition B: a full-frame video, a panel that slides in at 1 s and out at 8 s with two lines on it."""
    video = media("video", "Video", "video", 640, 360, 1280, 720, FOOTAGE)
    panel = shape("panel", "Panel", -340, 590, 600, 120, "#0f172a", cornerRadius=16, opacity=80)
    name = text("name", "Name", -340, 570, "Ada Lovelace", 44, "#ffffff")
    role = text("role", "Role", -340, 618, "Analyst and metaphysician", 26, "#fbbf24", fontWeight="500")
    for layer in (panel, name, role):
        layer.animate("x", (1, -340), (1.6, 380), (8, 380), (8.6, -340), bezier=EASE_OUT)
    return composition("comp_root", "Lower third", 1280, 720, FPS, 10, [video, panel, name, role], "#000000")


def resized_footage() -> Record:
    """Return the lower third over footage of one size whatever the output's: neither 720p nor 1080p."""
    record: Record = json.loads(json.dumps(lower_third()).replace(FOOTAGE, RESIZED))
    return record


def busy() -> Record:
    """Peer composition C: 30 rectangles on sine paths, turning, every sixth blurred by 20 px."""
    layers = []
    for index in range(30):
        fx: dict[str, Any] = {}
        if index % 6 == 0:
            fx = {
                "effects": [{"id": "blur", "type": "gaussian-blur", "params": {"blurriness": 20, "repeatEdge": False}}]
            }
        made = shape(f"r{index}", f"Rect {index}", 0, 0, 120, 80, hue(index / 30), opacity=70, **fx)
        made.express("x", f"640 + 520*Math.sin(time*{0.4 + index * 0.05:.2f} + {index})")
        made.express("y", f"360 + 280*Math.sin(time*{0.7 + index * 0.03:.2f} + {index * 2})")
        made.express("rotation", f"time*{30 + index * 4} + {index * 12}")
        layers.append(made)
    return composition("comp_root", "Busy", 1280, 720, FPS, 10, layers, "#111827")


def gradient_hero() -> Record:
    """A full-frame gradient whose colours move, three glowing discs that drift, a headline."""
    back = shape("back", "Back", 640, 360, 1280, 720, "#000000")
    back.fx["fill"] = {"type": "linear", "angle": 35, "stops": stops("#312e81", "#be185d", "#f59e0b")}
    back.animate("rotation", (0, 0), (10, 8))
    discs = []
    for index, color in enumerate(("#38bdf8", "#a78bfa", "#fb7185")):
        disc = shape(f"disc{index}", f"Disc {index}", 300 + index * 340, 360, 520, 520, color, shape="ellipse")
        disc.fx |= {
            "blendMode": "screen",
            "fill": {"type": "radial", "cx": 0.5, "cy": 0.5, "radius": 0.7, "stops": stops(color, "#000000")},
        }
        disc.express("y", f"360 + 120*Math.sin(time*0.8 + {index * 2})")
        discs.append(disc)
    headline = text("headline", "Headline", 640, 360, "Colour that moves", 110, "#ffffff")
    headline.animate("scale", (0, 0.9), (10, 1.05))
    return composition("comp_root", "Gradient hero", 1280, 720, FPS, 10, [back, *discs, headline], "#000000")


def shape_particles() -> Record:
    """200 small shapes that fly outward and fade, each on its own path."""
    chance = random.Random(4)
    layers = []
    for index in range(200):
        side = chance.uniform(6, 26)
        kind = "ellipse" if index % 2 else "rect"
        made = shape(f"p{index}", f"P {index}", 640, 360, side, side, hue(chance.random()), shape=kind)
        angle, distance, start = chance.uniform(0, math.tau), chance.uniform(200, 760), chance.uniform(0, 8)
        made.animate("x", (start, 640), (start + 2, 640 + distance * math.cos(angle)))
        made.animate("y", (start, 360), (start + 2, 360 + distance * math.sin(angle)))
        made.animate("opacity", (start, 0), (start + 0.3, 90), (start + 2, 0))
        layers.append(made)
    return composition("comp_root", "Particles of shapes", 1280, 720, FPS, 10, layers, "#020617")


def heavy_effects() -> Record:
    """Large blurs, glow and shadow on moving layers."""
    words = text("words", "Words", 640, 360, "GLOW", 260, "#f0abfc")
    words.fx["effects"] = [
        {"id": "glow", "type": "glow", "params": {"radius": 40, "intensity": 90}},
        {"id": "shadow", "type": "drop-shadow", "params": {"distance": 20, "softness": 40}},
    ]
    words.animate("x", (0, 560), (10, 720), bezier=EASE_IN_OUT)
    layers = []
    for index in range(4):
        blob = shape(f"blob{index}", f"Blob {index}", 200 + index * 290, 360, 360, 360, hue(index / 4), shape="ellipse")
        blob.fx["effects"] = [
            {"id": "blur", "type": "gaussian-blur", "params": {"blurriness": 60, "repeatEdge": False}}
        ]
        blob.express("y", f"360 + 160*Math.sin(time + {index})")
        layers.append(blob)
    return composition("comp_root", "Heavy blur and glow", 1280, 720, FPS, 10, [*layers, words], "#0f172a")


def slideshow() -> Record:
    """Ten minutes of pictures, another one every 5 s, with a caption."""
    layers: list[Layer] = []
    for index in range(120):
        slide = shape(f"s{index}", f"Slide {index}", 640, 360, 1280, 720, hue(index * 0.13))
        slide.fx["fill"] = {
            "type": "linear",
            "angle": 40 * index,
            "stops": stops(hue(index * 0.13), hue(index * 0.13 + 0.2)),
        }
        caption = text(f"c{index}", f"Caption {index}", 640, 600, f"Picture {index + 1}", 64, "#ffffff")
        for layer in (slide, caption):
            layer.bar = (index * 5 * FPS, 5 * FPS)
            layers.append(layer)
    return composition("comp_root", "Long slideshow", 1280, 720, FPS, 600.0, layers, "#000000")


def fifty_layers() -> Record:
    """50 layers of shapes and texts, all moving, turning and fading."""
    layers = []
    for index in range(50):
        x, y = 100 + index % 10 * 120, 90 + index // 10 * 135
        if index % 2:
            made = text(f"l{index}", f"Layer {index}", x, y, f"No {index}", 40, hue(index / 50))
        else:
            made = shape(f"l{index}", f"Layer {index}", x, y, 90, 70, hue(index / 50), cornerRadius=14)
        made.animate("y", (0, y + 20), (5, y - 20), (10, y + 20), bezier=EASE_IN_OUT)
        made.animate("rotation", (0, -20), (10, 20)).animate("opacity", (0, 40), (5, 100), (10, 40))
        layers.append(made)
    return composition("comp_root", "Fifty animated layers", 1280, 720, FPS, 10, layers, "#1f2937")


def vertical_promo() -> Record:
    """1080x1920: video below, a badge that turns, a price, a headline and a button that pulses."""
    video = media("video", "Video", "video", 540, 700, 1080, 608, FOOTAGE)
    star = [(r * math.cos(a), r * math.sin(a)) for i in range(24) for r, a in [((170, 142)[i % 2], math.tau * i / 24)]]
    badge = path("badge", "Badge", 860, 420, star, "#fde047").express("rotation", "time*18")
    price = text("price", "Price", 860, 420, "€49", 92, "#881337", fontWeight="900")
    headline = text("headline", "Headline", 540, 1300, "Made to be seen", 104, "#fff1f2", fontWeight="800")
    headline.animate("y", (0, 1400), (1, 1300)).animate("opacity", (0, 0), (1, 100))
    button = shape("button", "Button", 540, 1600, 560, 132, "#e11d48", cornerRadius=66)
    button.animate("scale", (2, 1), (3, 1.06), (4, 1), bezier=EASE_IN_OUT)
    label = text("label", "Label", 540, 1600, "Order today", 48, "#ffffff")
    layers = [video, badge, price, headline, button, label]
    return composition("comp_root", "Vertical video promo", 1080, 1920, FPS, 10, layers, "#4c0519")


def cards_in_space() -> Record:
    """Eight blurred cards at depths of their own and a glowing title, past which a camera moves."""
    layers = [Layer("camera", "Camera", "camera", {"x": 640, "y": 360, "z": -1777, "focalLength": 1777})]
    layers[0].animate("x", (0, 520), (10, 760), bezier=EASE_IN_OUT).animate("z", (0, -1900), (10, -1500))
    for index in range(8):
        card = shape(f"card{index}", f"Card {index}", 140 + index * 145, 360, 220, 320, hue(index / 8), cornerRadius=24)
        card.transform |= {"z": 60.0 * index, "rotationY": 8.0 * index - 28}
        card.fx["effects"] = [{"id": "blur", "type": "blur", "params": {"amount": 3 + 2 * index}}]
        layers.append(card)
    title = text("title", "Title", 640, 360, "In depth", 150, "#ffffff")
    title.transform["z"] = -200
    title.fx["effects"] = [{"id": "glow", "type": "glow", "params": {"radius": 18, "intensity": 80}}]
    return composition("comp_root", "Cards in space", 1280, 720, FPS, 10, [*layers, title], "#0b1020")


def graded() -> Record:
    """An adjustment layer over all of a moving picture: a ramp, a colour matrix and film grain that never stands still."""
    layers = []
    for index in range(12):
        made = shape(f"bar{index}", f"Bar {index}", 55 + index * 106, 360, 90, 500, hue(index / 12), cornerRadius=12)
        layers.append(made.express("y", f"360 + 90*Math.sin(time*1.3 + {index / 2})"))
    grade = Layer("grade", "Grade", "adjustment", {"x": 640, "y": 360, "width": 1280, "height": 720})
    grade.fx = {
        "isAdjustment": True,
        "effects": [
            {
                "id": "ramp",
                "type": "gradient-ramp",
                "params": {"blend": 20, "colorA": "#00000000", "colorB": "#000000"},
            },
            {"id": "contrast", "type": "contrast", "params": {"amount": 115}},
            {"id": "grain", "type": "noise", "params": {"amount": 4, "monochrome": True}},
        ],
    }
    grade.animate("effect.grain.evolution", (0, 0), (10, 360))
    return composition("comp_root", "Graded", 1280, 720, FPS, 10, [*layers, grade], "#111827")


SCENES = {
    scene.name: scene
    for scene in (
        Scene("title-card", title_card, 0.8),
        Scene("lower-third", lower_third, 0.8),
        Scene("slideshow", slideshow, 0.8),
        Scene("resized-footage", resized_footage, 0.5),
        Scene("busy", busy, 0.5),
        Scene("gradient-hero", gradient_hero, 0.5),
        Scene("shape-particles", shape_particles, 0.5),
        Scene("heavy-effects", heavy_effects, 0.5),
        Scene("fifty-layers", fifty_layers, 0.5),
        Scene("vertical-promo", vertical_promo, 0.5),
        Scene("cards-in-space", cards_in_space, 0.5),
        Scene("graded", graded, 0.5),
    )
}


def _diagonal(*colors: str) -> Record:
    return {"type": "linear", "angle": 45, "stops": stops(*colors)}


def hue(turn: float) -> str:
    """A vivid colour; a whole turn goes once through the rainbow."""
    channels = (0.5 + 0.5 * math.cos(math.tau * (turn - offset)) for offset in (0.0, 1 / 3, 2 / 3))
    return "#" + "".join(f"{round(40 + 200 * channel):02x}" for channel in channels)
