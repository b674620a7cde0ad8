from __future__ import annotations

import pytest

from cluster.worker.egl_devices import EglDevice, device_index

SOFTWARE = EglDevice(2, None, "EGL_MESA_device_software")
CARDS = [EglDevice(0, 1, ""), EglDevice(1, 0, ""), SOFTWARE]


@pytest.mark.parametrize(("cuda", "egl"), [(0, 1), (1, 0), (5, None), (None, None)])
def test_a_gpu_is_found_by_its_number_in_cuda_not_by_its_place_in_egl(cuda: int | None, egl: int | None) -> None:
    assert device_index(cuda, software=False, devices=CARDS) == egl


def test_software_is_drawn_on_the_device_that_says_it_is_software() -> None:
    assert device_index(0, software=True, devices=CARDS) == 2
