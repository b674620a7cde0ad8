"""Test values of the format pages for every hash."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion.formulas import noise


def test_the_lattice_noise_of_path_operators_has_the_stated_values() -> None:
    stated = {
        (0, 0, 0, 0): 0.016248920932412148,
        (1, 0, 0, 0): -0.9674716400913894,
        (2, 0, 7, 1): -0.3822322995401919,
        (-1, 0, 7, 0): -0.1725931279361248,
        (5, 3, 7, 0): -0.6279433225281537,
        (100, 12, 3, 3): 0.7592563549987972,
    }
    found = {(i, *rest): noise.lattices(np.array([float(i)]), *rest).item() for i, *rest in stated}
    assert found == stated


def test_the_hash_of_text_selectors_has_the_stated_values() -> None:
    stated = {
        (0, 0): 0.6638511982746422,
        (1, 0): 0.9787220687139779,
        (0, 1): 0.8830856720451266,
        (5, 3): 0.8107699486427009,
        (-1, 0): 0.7682745561469346,
        (123456789, 42): 0.5848781899549067,
    }
    assert {arguments: noise.unit_hash(*arguments) for arguments in stated} == stated


def test_the_hash_of_cloners_has_the_stated_values() -> None:
    stated = {(0, 1, 1): 0.25325339031405747, (5, 4, 1): 0.7340286320541054, (30, 2, 42): 0.941768025746569}
    assert {arguments: noise.clone_hash(*arguments) for arguments in stated} == stated


def test_many_clone_hashes_are_those_of_one() -> None:
    i = np.arange(0.0, 5e9, 7e7 + 1)
    for salt, seed in ((1, 1.0), (5, 1e12), (2, -3.5)):
        assert noise.clone_hashes(i, salt, seed).tolist() == [noise.clone_hash(k, salt, seed) for k in i.tolist()]


def test_many_hashes_of_text_selectors_are_those_of_one() -> None:
    i = np.arange(-3.0, 5e9, 7e7 + 1)
    for seed in (0.0, 42.0, -7.0):
        assert noise.unit_hashes(i, seed).tolist() == [noise.unit_hash(k, seed) for k in i.tolist()]


def test_orders_are_shuffled_as_stated() -> None:
    assert noise.permutation(6, 0) == (5, 1, 4, 3, 2, 0)
    assert noise.permutation(6, 1) == (5, 2, 3, 1, 0, 4)
    assert noise.permutation(10, 42) == (6, 5, 8, 4, 2, 0, 9, 1, 3, 7)


def test_a_property_has_its_stated_seed() -> None:
    assert (noise.property_seed("n1", "x"), noise.property_seed("n1", "y")) == (3693, 3694)


def test_a_seed_counts_utf16_code_units() -> None:
    assert noise.property_seed("\U0001f600", "x") == noise.property_seed("\ud83d\ude00", "x")


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_do_not_break_the_noise(x: float) -> None:
    assert math.isnan(noise.sine_hash(x))
    assert math.isnan(noise.smooth_noise(x))
    assert 0.0 <= noise.unit_hash(x, 0) <= 1.0
