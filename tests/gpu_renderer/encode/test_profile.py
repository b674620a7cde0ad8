"""All options of the encoders exist, even for an encoder that needs a missing graphics card."""

from __future__ import annotations

import av
import pytest
from av.codec.context import CodecOption

from gpu_renderer.encode.planes import grey_frame
from gpu_renderer.encode.profile import X264_PRESETS, EncoderProfile, configure


def known_options() -> dict[str, CodecOption]:
    options = av.CodecContext.create("h264_nvenc", "w").supported_options
    return {option.name: option for option in (*options.generic, *options.private)}


@pytest.mark.parametrize("preset", [*X264_PRESETS, "p5"])
@pytest.mark.parametrize("quality", [0, 18, 51])
def test_nvenc_knows_every_option_and_value(preset: str, quality: int) -> None:
    known = known_options()
    for name, value in EncoderProfile(codec="h264_nvenc", preset=preset, quality=quality).options(64, 64).items():
        option = known[name]
        if value.lstrip("-").isdigit():
            assert option.min <= float(value) <= option.max, name
        else:
            assert value in {choice.name for choice in option.choices}, name


def test_the_best_quality_is_not_left_to_nvenc() -> None:
    assert float(EncoderProfile(codec="h264_nvenc", quality=0).options(64, 64)["cq"]) > 0


def test_slower_presets_are_never_faster_ones_of_nvenc() -> None:
    presets = [EncoderProfile(codec="h264_nvenc", preset=preset).options(64, 64)["preset"] for preset in X264_PRESETS]
    assert presets == sorted(presets)
    assert (presets[0], presets[-1]) == ("p1", "p7")


def test_only_large_pictures_of_the_default_preset_have_a_shorter_lookahead() -> None:
    def looks_ahead_less(preset: str, width: int, height: int) -> bool:
        return "rc-lookahead=" in EncoderProfile(preset=preset).options(width, height)["x264-params"]

    assert looks_ahead_less("veryfast", 3840, 2160)
    assert not looks_ahead_less("veryfast", 1920, 1080)
    assert not looks_ahead_less("medium", 3840, 2160)


@pytest.mark.parametrize(("width", "height", "held_max"), [(64, 64, 14), (2048, 1104, 11)])
def test_the_encoder_holds_only_the_frames_that_it_looks_at(width: int, height: int, held_max: int) -> None:
    """Lookahead of 10 or 8 frames, 2 or 1 of its thread, and one for each further encoding thread."""
    encoder = av.CodecContext.create("libx264", "w")
    configure(encoder, EncoderProfile(), width, height, 30.0)
    frame, held = grey_frame(width, height), 0
    while True:
        frame.pts = held
        if encoder.encode(frame):
            break
        held += 1
    assert held <= held_max
