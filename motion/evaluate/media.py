"""Pictures, videos and SVG documents at a time (layers.md 9 and 10)."""

from __future__ import annotations

from motion.evaluate.boxes import box, radii
from motion.evaluate.context import EvaluationContext, Values
from motion.model.content import MediaContent
from motion.model.layer import Layer
from motion.snapshot import ImageSource, MissingSource, Source, SvgSource, VideoSource


def media(context: EvaluationContext, content: MediaContent, values: Values) -> Source:
    """Return the layer's source. Without one the layer shows nothing."""
    width, height = box(values)
    corners = radii(values, width, height)
    if content.markup is not None:
        time = content_time(context, values) if content.live_playback else None
        return SvgSource(
            content.markup,
            width,
            height,
            content.intrinsic_width,
            content.intrinsic_height,
            time,
            corners,
            content.svg_fill,
        )
    src = _sequence_frame(content, values) if content.frames else content.src
    if not src:
        return MissingSource("it has no source")
    if content.kind == "video" and not content.frames:
        return VideoSource(
            src,
            width,
            height,
            content_time(context, values),
            content.cover,
            values.layer.time.frame_blend,
            context.frame.composition.timeline_fps,
            corners,
        )
    return ImageSource(src, width, height, content.cover, corners, content.svg_fill)


def content_time(context: EvaluationContext, values: Values) -> float:
    """Return the time of a layer's content in seconds. The layer's time map also changes a remap's value (animation.md
    3.3).
    """
    values.count_time_as_read()
    return remapped_time(context, values.layer)


def content_values(context: EvaluationContext, values: Values) -> Values:
    """Return the layer's properties at the time of its content, which differs from its own time only by a remap."""
    layer = values.layer
    if context.remapped(layer, context.time) == context.time:
        return values
    values.count_time_as_read()
    return context.values_at(layer, remapped_time(context, layer))


def remapped_time(context: EvaluationContext, layer: Layer) -> float:
    """Return the content time of a video, or of a placed composition."""
    remapped = context.remapped(layer, context.time)
    return context.own_time(layer) if remapped == context.time else context.mapped(layer, remapped)


def _sequence_frame(content: MediaContent, values: Values) -> str:
    index = max(0, int(max(0.0, values.time) * content.frames_fps))
    count = len(content.frames)
    return content.frames[index % count if content.frames_loop else min(index, count - 1)]
