"""Cloners and particle fields (layers.md 12)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from motion.formulas import noise
from motion.formulas.cloner import Clone, cloner, clones
from motion.formulas.outline import Point, Polyline
from motion.formulas.particles import PARTICLES_MAX, animate, particle_field, particles
from motion.snapshot import Particle


def cloned(path: Polyline | None = None, driver: Point | None = None, **stored: Any) -> tuple[Clone, ...]:
    config = cloner({"enabled": True, **stored})
    assert config is not None
    return clones(config, path, driver)


def places(found: tuple[Clone, ...]) -> list[tuple[float, float]]:
    return [(round(clone.x, 6) + 0.0, round(clone.y, 6) + 0.0) for clone in found]


def test_a_cloner_is_off_unless_it_is_enabled() -> None:
    assert cloner({"count": 3}) is None
    assert cloner("yes") is None


def test_clones_in_a_line_are_centred_and_delayed_one_after_another() -> None:
    found = cloned(count=3, offsetX=10, step={"time": 1})
    assert places(found) == [(-10, 0), (0, 0), (10, 0)]
    assert [clone.delay_seconds for clone in found] == [0, 0.5, 1]


def test_a_grid_fills_rows_first() -> None:
    found = cloned(mode="grid", countX=2.9, countY=2, offsetX=10, offsetY=4)
    assert places(found) == [(-5, -2), (5, -2), (-5, 2), (5, 2)]


def test_a_full_circle_does_not_repeat_its_start_and_an_arc_reaches_its_end() -> None:
    circle = cloned(mode="radial", count=4, radius=10, alignToRadius=True)
    assert places(circle) == [(0, -10), (10, 0), (0, 10), (-10, 0)]
    assert [clone.rotation for clone in circle] == [0, 90, 180, 270]
    assert places(cloned(mode="radial", count=3, radius=10, arc=180))[2] == (0, 10)


def test_clones_follow_a_path_and_turn_with_it() -> None:
    corner = Polyline(((0.0, 0.0), (10.0, 0.0), (10.0, 10.0)), closed=False)
    found = cloned(corner, mode="path", count=5, alignToRadius=True)
    assert places(found) == [(0, 0), (5, 0), (10, 0), (10, 5), (10, 10)]
    assert [round(clone.rotation) for clone in found] == [0, 0, 45, 90, 90]
    assert places(cloned(mode="path", count=2, offsetX=8)) == [(-4, 0), (4, 0)]


def test_steps_grow_and_stay_within_their_limits() -> None:
    found = cloned(count=2, offsetX=0, step={"x": 6, "rotation": 90, "scale": -3, "opacity": -50})
    assert (found[0].scale, found[0].opacity) == (1, 1)
    assert (found[1].x, found[1].rotation, found[1].scale, found[1].opacity) == (6, 90, 0, 0.5)


def test_randomness_uses_the_stated_hash() -> None:
    (first, *_) = cloned(count=3, offsetX=0, random={"seed": 1, "position": 10})
    assert first.x == pytest.approx((2 * 0.25325339031405747 - 1) * 10)


@pytest.mark.parametrize(
    ("falloff", "expected"),
    [
        ({"shape": "linear", "position": 0.5, "width": 0.5}, [0, 5, 0]),
        ({"shape": "linear", "position": 0, "width": 1, "invert": True}, [0, 2.5, 10]),
        ({"shape": "radial", "position": 1, "width": 1}, [0, 2.5, 10]),
        ({"shape": "linear", "source": "layer", "radius": 20}, [0, 5, 10]),
    ],
)
def test_a_falloff_weighs_the_steps(falloff: dict[str, Any], expected: list[float]) -> None:
    found = cloned(None, (0.0, 0.0), count=3, offsetX=0, step={"x": 10}, falloff=falloff)
    assert [clone.x for clone in found] == pytest.approx(expected)


def test_no_more_than_500_clones_and_no_negative_count() -> None:
    assert len(cloned(mode="grid", countX=1e6, countY=1e6)) == 500
    assert cloned(count=-3) == ()


def emitted(time: float, width: float = 100, height: float = 100, **stored: Any) -> tuple[Particle, ...]:
    return particles(particle_field(stored), width, height, time)


def test_particles_are_born_at_the_rate_and_die() -> None:
    steady = {"birthRate": 10, "lifetime": 1, "lifetimeRandom": 0}
    assert [len(emitted(t, **steady)) for t in (-1, 0, 0.55, 5.05)] == [0, 1, 6, 10]


def test_a_particle_flies_a_ballistic_curve_and_changes_with_age() -> None:
    (oldest, *_) = emitted(
        1.0, lifetimeRandom=0, speedRandom=0, spread=0, direction=0, speed=50, gravityY=10, spin=90, opacityEnd=0.5
    )
    assert (oldest.x, oldest.y, oldest.size, oldest.rotation) == pytest.approx((50, 5, 6, 90))
    assert (oldest.color, oldest.opacity) == ("#ff876a", 0.75)


STRAIGHT = {"lifetimeRandom": 0, "speedRandom": 0, "spread": 0, "direction": 0, "speed": 50, "gravityY": 0}


def test_wind_accelerates_like_gravity() -> None:
    (oldest, *_) = emitted(1.0, **STRAIGHT, wind=4, windX=6, windY=-20)
    assert (oldest.x, oldest.y) == pytest.approx((55, -10))


def test_random_speeds_and_lives_are_as_far_below_as_above() -> None:
    flight = {**STRAIGHT, "lifetime": 2, "birthRate": 100, "seed": 5}
    ages = [0.01 * index for index in range(100)]
    fast = emitted(0.995, **flight | {"lifetimeRandom": 0, "speedRandom": 0.4, "speed": 100})
    speeds = sorted(particle.x / (0.995 - born) for particle, born in zip(fast, ages, strict=True))
    assert (speeds[0], speeds[-1]) == pytest.approx((60, 140), abs=5)
    assert fast[3].x == pytest.approx(100 * (1 + 0.4 * (2 * noise.clone_hash(3, 2, 5) - 1)) * (0.995 - 0.03))
    assert [len(emitted(t, **flight | {"lifetimeRandom": 0.5})) for t in (1, 20)] == [101, pytest.approx(200, abs=15)]


def test_particles_fly_apart_by_the_spread_about_their_direction() -> None:
    flight = {**STRAIGHT, "lifetime": 9, "speed": 10, "birthRate": 40, "direction": 30, "spread": 60, "seed": 5}
    found = emitted(2.0, **flight)
    turned = [
        math.degrees(math.atan2(particle.y, particle.x)) for particle in found if math.hypot(particle.x, particle.y) > 1
    ]
    assert 0 <= min(turned) < 3
    assert 57 < max(turned) <= 60
    assert turned[0] == pytest.approx(30 + 60 * (noise.clone_hash(0, 3, 5) - 0.5))


def test_a_trail_is_the_particle_as_it_was_fading_below_all_particles() -> None:
    found = emitted(1.0, **STRAIGHT, birthRate=1, trailLength=2, trailSpacing=0.25)
    assert [particle.x for particle in found] == pytest.approx([25, 37.5, 50, 0])
    assert [particle.size for particle in found] == pytest.approx([8, 7, 6, 10])
    assert [particle.opacity for particle in found] == pytest.approx([0.75 / 3, 0.625 * 2 / 3, 0.5, 1])


def test_trails_stay_bounded() -> None:
    crowd = {"birthRate": 5000, "lifetime": 2, "lifetimeRandom": 0, "maxParticles": 1e9}
    assert len(emitted(2.0, **crowd, trailLength=1e9)) <= PARTICLES_MAX
    assert len(emitted(1.0, **STRAIGHT, birthRate=1, trailLength=9, trailSpacing=-1)) == 2


def test_a_box_emits_all_over_the_layer_and_a_circle_within_its_width() -> None:
    still = {"speed": 0, "gravityY": 0, "seed": 3}
    box = emitted(2, 400, 10, emitterType="box", **still)
    circle = emitted(2, 400, 10, emitterType="circle", **still)
    assert max(abs(p.x) for p in box) > 150
    assert max(abs(p.y) for p in box) <= 5
    assert 100 < max(math.hypot(p.x, p.y) for p in circle) <= 200
    assert box[0].x == pytest.approx((noise.clone_hash(0, 4, 3) - 0.5) * 400)


def test_the_newest_particles_are_kept() -> None:
    few = emitted(3, birthRate=100, lifetime=9, maxParticles=5, speedRandom=0, spread=0, gravityY=0)
    assert len(few) == 5
    assert max(abs(p.y) for p in few) < 10


def test_tracks_reach_numbers_and_colours() -> None:
    config = animate(particle_field({"colorStart": "#102030"}), {"speed": 7.0, "colorStart_r": 1.0, "shape": 4.0})
    assert (config.speed, config.color_start, config.shape) == (7, "#ff2030", "circle")


def test_settings_beyond_ballistics_are_named() -> None:
    assert particle_field({"turbulence": 3, "simMode": "stateful", "subEmit": "off"}).unsupported == (
        "turbulence",
        "simMode",
    )


@pytest.mark.parametrize("stored", [{}, [], [{}], True, 3])
def test_a_setting_of_a_wrong_type_is_named_and_left_out(stored: object) -> None:
    assert particle_field({"subEmit": stored}).unsupported == ("subEmit",)


@pytest.mark.parametrize("number", [0.0, -5.0, 1e9, 1e300])
def test_absurd_fields_stay_bounded(number: float) -> None:
    names = ("birthRate", "lifetime", "speed", "maxParticles", "seed", "gravityX", "sizeStart", "lifetimeRandom")
    assert len(emitted(10, **dict.fromkeys(names, number))) <= 20_000


def test_a_falloff_weighs_the_delay_too() -> None:
    found = cloned(count=3, step={"time": 2}, falloff={"shape": "linear", "position": 0, "width": 1})
    assert [clone.delay_seconds for clone in found] == pytest.approx([0, 0.5, 0])
