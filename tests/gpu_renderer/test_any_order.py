"""A frame's bytes do not depend on earlier frames, because workers draw segments of any job in any order."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gpu_renderer.commands.options import FONTS
from gpu_renderer.session import OpenDocument, Output, RenderSession
from motion.bundle import read_document
from tests.gpu_renderer.random_documents import RandomDocument

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]
ORDER = (0, 1, 2, 3, 4, 5, 2, 2, 0, 5, 1)


def opened(session: RenderSession, seed: int) -> OpenDocument:
    output = Output(101, 77) if seed % 3 == 0 else Output()
    doc = read_document(json.dumps(RandomDocument(seed).made()).encode())
    return session.open(doc, output, lambda src: None)


@pytest.mark.parametrize("seed", range(24))
def test_a_frame_drawn_alone_has_the_bytes_that_it_has_in_any_run(session: RenderSession, seed: int) -> None:
    alone = []
    for index in range(6):
        with opened(session, seed) as job:
            alone.append(session.still(job, index))
    with opened(session, seed) as job:
        for index in ORDER:
            assert np.array_equal(session.still(job, index), alone[index]), f"frame {index}"
