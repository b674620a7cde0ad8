"""A worker with a GPU draws something before it is ready; a worker without one does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.worker import segment_maker
from cluster.worker.segment_maker import SessionSegmentMaker
from farm_core.settings import Settings
from gpu_renderer.opengl.context import GpuIdentity
from gpu_renderer.session import RenderSession

pytestmark = pytest.mark.gl


@pytest.mark.parametrize("on_gpu", [True, False])
def test_a_worker_on_a_gpu_starts_warm_and_also_if_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, on_gpu: bool
) -> None:
    warmed: list[RenderSession] = []

    def failing(session: RenderSession) -> float:
        warmed.append(session)
        raise RuntimeError("the driver refuses a shader")

    monkeypatch.setattr(GpuIdentity, "is_software", property(lambda _: not on_gpu))
    monkeypatch.setattr(segment_maker, "warm_up", failing)
    maker = SessionSegmentMaker(Settings(data_folder=tmp_path, gl_software=True), raster_threads=0)
    assert len(warmed) == on_gpu
    assert maker.device.startswith("software") is not on_gpu
