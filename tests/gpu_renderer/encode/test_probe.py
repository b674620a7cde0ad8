"""An encoder is chosen by testing it, not by its name."""

from __future__ import annotations

import pytest

from gpu_renderer.encode.profile import PREFERENCE, EncoderProfile, chosen, encoder_fault
from gpu_renderer.errors import EncoderUnavailable


def test_an_encoder_that_is_chosen_has_passed_its_probe() -> None:
    assert encoder_fault(chosen(None).codec) is None


def test_hardware_is_preferred_where_it_really_encodes() -> None:
    assert chosen(None).codec == next(codec for codec in PREFERENCE if encoder_fault(codec) is None)


def test_the_software_encoder_passes_everywhere() -> None:
    assert encoder_fault("libx264") is None


def test_a_profile_asked_for_is_kept() -> None:
    profile = EncoderProfile(preset="medium", quality=20, threads=3)
    assert chosen(profile) == profile


def test_an_encoder_that_cannot_work_is_refused_with_its_reason() -> None:
    if encoder_fault("h264_nvenc") is None:
        pytest.skip("this machine has the hardware encoder")
    assert encoder_fault("h264_nvenc")
    with pytest.raises(EncoderUnavailable, match="h264_nvenc"):
        chosen(EncoderProfile(codec="h264_nvenc"))
