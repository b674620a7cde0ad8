"""Particle fields: layers.md 12.2."""

from __future__ import annotations

import pytest

from gpu_renderer.content.vector.particles import particle_raster
from motion.snapshot import Particle, ParticleSource


def at(source: ParticleSource, x: float, y: float) -> list[int]:
    pixels = particle_raster(source, 2).pixels
    return pixels[int(pixels.shape[0] / 2 + 2 * y), int(pixels.shape[1] / 2 + 2 * x)].tolist()  # type: ignore[no-any-return]


def field(shape: str, *particles: Particle, additive: bool = False) -> ParticleSource:
    return ParticleSource(60, 40, shape, additive, particles)  # type: ignore[arg-type]


RED = Particle(10, 5, 8, "#ff0000", 1.0, 0)


@pytest.mark.parametrize(
    ("shape", "inside", "outside"),
    [
        ("circle", (13, 5), (15, 5)),
        ("square", (13.5, 8.5), (15, 5)),
        ("line", (17, 5), (10, 7)),
        ("star", (10, 5), (13, 2)),
    ],
)
def test_a_particle_is_drawn_around_its_place(
    shape: str, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    source = field(shape, RED)
    assert at(source, *inside) == [255, 0, 0, 255]
    assert at(source, *outside)[3] == 0


def test_additive_particles_add_up() -> None:
    green = Particle(10, 5, 8, "#00ff00", 1.0, 0)
    assert at(field("circle", RED, green), 10, 5) == [0, 255, 0, 255]
    assert at(field("circle", RED, green, additive=True), 10, 5) == [255, 255, 0, 255]
