"""A frame as numbers: what `evaluate` returns and the renderer draws.

Everything here is resolved and immutable: times are sampled, parents multiplied, defaults filled, path operators
applied. Everything in a snapshot affects the picture, so frames with equal snapshots are equal pictures. Units:
composition pixels, degrees (positive = clockwise on screen), seconds; x right, y down, z away. Colours stay CSS strings
in encoded sRGB, because the two drawing routes parse them differently (layers.md 5.2).
"""

from motion.snapshot.frame import (
    Camera,
    ColorManagement,
    Light,
)
from motion.snapshot.layers import (
    STYLE_PREFIX,
    CompositionSource,
    EffectSnapshot,
    Ghost,
    Glass,
    LayerSnapshot,
    MaskPath,
    MaskPoint,
    Matte,
    ParameterValue,
    Sample,
    Snapshot,
    Source,
    with_grouped,
)
from motion.snapshot.paints import (
    BrushStroke,
    GradientStop,
    LinearGradient,
    Mesh,
    OpacityStop,
    Paint,
    PathPoint,
    RadialGradient,
    Run,
    SolidPaint,
    Stroke,
    Taper,
    Wave,
)
from motion.snapshot.placement import (
    Extrusion,
    Material,
    Matrix4,
    Transform2D,
    Transform3D,
)
from motion.snapshot.sources import (
    AdjustmentSource,
    GlyphPose,
    ImageSource,
    LightWash,
    MissingSource,
    Particle,
    ParticleSource,
    ShapeSource,
    SvgSource,
    TextPath,
    TextRun,
    TextSource,
    TextStyle,
    VideoSource,
)

__all__ = [
    "STYLE_PREFIX",
    "AdjustmentSource", "BrushStroke", "Camera", "ColorManagement", "CompositionSource", "EffectSnapshot",
    "Extrusion", "Ghost", "Glass", "GlyphPose", "GradientStop", "ImageSource", "LayerSnapshot", "Light",
    "LightWash", "LinearGradient", "MaskPath", "MaskPoint", "Material", "Matrix4", "Matte", "Mesh", "MissingSource",
    "OpacityStop", "Paint", "ParameterValue", "Particle", "ParticleSource", "PathPoint", "RadialGradient", "Run",
    "Sample", "ShapeSource", "Snapshot", "SolidPaint", "Source", "Stroke", "SvgSource", "Taper", "TextPath",
    "TextRun", "TextSource", "TextStyle", "Transform2D", "Transform3D", "VideoSource", "Wave", "with_grouped",
]  # fmt: skip
