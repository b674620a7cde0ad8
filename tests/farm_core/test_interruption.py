"""Steps that signals do not cut."""

from __future__ import annotations

import signal

import pytest

from farm_core.interruption import deferred_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_acts_when_the_step_has_ended(number: signal.Signals) -> None:
    steps = list[str]()
    former = signal.signal(number, lambda *_: steps.append("signal"))
    try:
        with deferred_signals() as has_one:
            assert not has_one()
            signal.raise_signal(number)
            signal.raise_signal(number)
            assert has_one()
            steps.append("end of the step")
        assert steps == ["end of the step", "signal"]
        signal.raise_signal(number)
        assert steps == ["end of the step", "signal", "signal"]
    finally:
        signal.signal(number, former)


def test_an_ignored_signal_stays_ignored() -> None:
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferred_signals() as has_one:
            signal.raise_signal(signal.SIGINT)
            assert not has_one()
    finally:
        signal.signal(signal.SIGINT, former)
