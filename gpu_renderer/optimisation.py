"""The renderer's optimisations, each with a switch. Whatever is on or off, the bytes of a frame are the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Levers:
    """All on by default; a test renders with each one off."""

    reuse_frames: bool = True
    """An unchanged snapshot gives the last picture again, undrawn."""
    redraw_changes_only: bool = True
    """Only the part of the picture that changed layers touch is drawn again."""
    keep_layers: bool = True
    """Layers with effects, masked groups and the like are kept as textures while they do not change."""
    keep_static_run: bool = True
    """The layers at the bottom that do not change are kept as one texture."""
    copy_opaque: bool = True
    """A lowest layer that shows opaque pixels one to one is copied where no other layer touches it."""
    split_edges: bool = True
    """The inside of a shape or picture is drawn apart from its edge, without the edge's arithmetic."""
    batch_quads: bool = True
    """Quads of one kind with nothing drawn between them that they touch are drawn in one call."""
    read_in_place: bool = True
    """Passes over what is below, and pointwise effects, read what they replace as an attachment, where the driver can."""
    finish_on_processor: bool = True
    """Where OpenGL runs on the processor, display encoding and the planes of NV12 are compiled loops, if a compiler is there."""
    keep_still_layers: bool = True
    """Layers that stand still over footage are kept, and laid over its frames by a loop where frames are finished by loops."""
    lay_on_processor: bool = True
    """The layers on top that are contents and light over what is below are laid by a loop where frames are finished by loops."""
    resample_footage: bool = True
    """A video that fills the frame at another size is brought to it by a loop where frames are finished by loops."""
    keep_textures: bool = True
    """Content rasters stay on the GPU between frames."""
    bounded_passes: bool = True
    """A layer's own passes cover its bounds, not the frame."""
