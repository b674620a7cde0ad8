"""Drawing at the start of a session: it compiles the programs of most documents, and does not affect later frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.opengl.programs import Program
from gpu_renderer.session import Output, RenderSession, SessionOptions
from gpu_renderer.warm_up import SIZE, document, warm_up
from motion.bundle import read_file

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CARD = EXAMPLES / "title-card.motion"
LOGO = EXAMPLES / "media" / "logo.png"
ON_SOFTWARE_ALONE = {"copy.frag"}
"""Programs that no GPU needs: only a software rasteriser copies with a shader."""


def _session() -> RenderSession:
    """Return a session that composites with OpenGL, as on a GPU."""
    encoder = EncoderProfile(codec="libx264", preset="ultrafast", threads=1)
    drawing = Optimisations(native_kernels=False)
    return RenderSession(SessionOptions(fonts=FontFolders(FONTS), encoder=encoder, drawing=drawing))


def test_the_document_shows_all_that_it_is_drawn_for() -> None:
    with _session() as session, session.open(document(), Output(*SIZE), lambda _: LOGO) as opened:
        session.still(opened, 2)
        assert opened.warnings == ()


def test_a_title_card_compiles_nothing_in_a_warm_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with _session() as session:
        session.painter.can_read_in_place = False  # no GPU driver has this extension
        warm_up(session)
        compiled: list[str] = []
        make = Program.__init__

        def noted(program: Program, context: object, name: str, texts: tuple[str, str]) -> None:
            compiled.append(name)
            make(program, context, name, texts)  # type: ignore[arg-type]

        monkeypatch.setattr(Program, "__init__", noted)
        with session.open(read_file(CARD), Output(320, 180), lambda _: LOGO) as opened:
            session.render_segment(opened, 0, 30, tmp_path / "segment.mp4")
        assert set(compiled) <= ON_SOFTWARE_ALONE


def test_frames_are_the_same_in_a_warm_session() -> None:
    frames = []
    for warm in (False, True):
        with _session() as session:
            if warm:
                warm_up(session)
            with session.open(read_file(CARD), Output(320, 180), lambda _: LOGO) as opened:
                frames.append(session.still(opened, 40))
    assert np.array_equal(frames[0], frames[1])
