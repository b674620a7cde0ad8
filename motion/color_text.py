"""Colours in texts, in the forms of a browser's canvas (CSS Color 4: hexadecimal, rgb(), hsl() and names)."""

from __future__ import annotations

import colorsys
import math
import re
from typing import Final

FORMS: Final = "#rgb, #rrggbb, #rrggbbaa, rgb(...), rgba(...), hsl(...), hsla(...) or a CSS colour name such as tomato"

_NAMED: Final = """
    aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque ffe4c4
    black 000000 blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a burlywood deb887 cadetblue 5f9ea0
    chartreuse 7fff00 chocolate d2691e coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc crimson dc143c cyan 00ffff
    darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b darkgray a9a9a9 darkgreen 006400 darkgrey a9a9a9
    darkkhaki bdb76b darkmagenta 8b008b darkolivegreen 556b2f darkorange ff8c00 darkorchid 9932cc darkred 8b0000
    darksalmon e9967a darkseagreen 8fbc8f darkslateblue 483d8b darkslategray 2f4f4f darkslategrey 2f4f4f
    darkturquoise 00ced1 darkviolet 9400d3 deeppink ff1493 deepskyblue 00bfff dimgray 696969 dimgrey 696969
    dodgerblue 1e90ff firebrick b22222 floralwhite fffaf0 forestgreen 228b22 fuchsia ff00ff gainsboro dcdcdc
    ghostwhite f8f8ff gold ffd700 goldenrod daa520 gray 808080 green 008000 greenyellow adff2f grey 808080
    honeydew f0fff0 hotpink ff69b4 indianred cd5c5c indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa
    lavenderblush fff0f5 lawngreen 7cfc00 lemonchiffon fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff
    lightgoldenrodyellow fafad2 lightgray d3d3d3 lightgreen 90ee90 lightgrey d3d3d3 lightpink ffb6c1
    lightsalmon ffa07a lightseagreen 20b2aa lightskyblue 87cefa lightslategray 778899 lightslategrey 778899
    lightsteelblue b0c4de lightyellow ffffe0 lime 00ff00 limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000
    mediumaquamarine 66cdaa mediumblue 0000cd mediumorchid ba55d3 mediumpurple 9370db mediumseagreen 3cb371
    mediumslateblue 7b68ee mediumspringgreen 00fa9a mediumturquoise 48d1cc mediumvioletred c71585 midnightblue 191970
    mintcream f5fffa mistyrose ffe4e1 moccasin ffe4b5 navajowhite ffdead navy 000080 oldlace fdf5e6 olive 808000
    olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid da70d6 palegoldenrod eee8aa palegreen 98fb98
    paleturquoise afeeee palevioletred db7093 papayawhip ffefd5 peachpuff ffdab9 peru cd853f pink ffc0cb plum dda0dd
    powderblue b0e0e6 purple 800080 rebeccapurple 663399 red ff0000 rosybrown bc8f8f royalblue 4169e1
    saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57 seashell fff5ee sienna a0522d silver c0c0c0
    skyblue 87ceeb slateblue 6a5acd slategray 708090 slategrey 708090 snow fffafa springgreen 00ff7f steelblue 4682b4
    tan d2b48c teal 008080 thistle d8bfd8 tomato ff6347 turquoise 40e0d0 violet ee82ee wheat f5deb3 white ffffff
    whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32
    transparent 00000000
"""
_WORDS: Final = _NAMED.split()
NAMES: Final = dict(zip(_WORDS[::2], _WORDS[1::2], strict=True))
"""Hexadecimal digits of every colour name."""
_HEX: Final = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\Z")
_NUMBER: Final = r"[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:e[+-]?\d++)?+"
"""Its repetitions are possessive, as those of spaces below: a long text that is no colour is read once, not back again."""
_FUNCTION: Final = re.compile(
    rf"(?:rgb|hsl)a?\(\s*+{_NUMBER}(?:%|deg|turn|rad|grad)?+(?:[\s,/]++{_NUMBER}%?+){{2,3}}\s*+\)\Z"
)
_HSL: Final = re.compile(
    rf"hsla?\(\s*+({_NUMBER})(deg|turn|rad|grad|)[\s,]++({_NUMBER})%?+[\s,]++({_NUMBER})%?+(?:[\s,/]++({_NUMBER})(%?+))?\s*+\)\Z"
)
_DEGREES: Final = {"deg": 1.0, "": 1.0, "turn": 360.0, "rad": math.degrees(1.0), "grad": 0.9}


def is_color(text: str) -> bool:
    """True if a canvas takes the text as a colour."""
    wanted = text.strip().lower()
    return wanted in NAMES or bool(_HEX.match(wanted) or _FUNCTION.match(wanted))


def everywhere_readable(text: str) -> str:
    """Return a colour in a form that plain rectangles read too: names, hsl() and #rgba in hexadecimal, others as given.

    A plain rectangle reads only #rgb, #rrggbb, #rrggbbaa, rgb() and rgba() (layers.md 5.2), and draws other forms
    black.
    """
    wanted = text.strip().lower()
    if wanted in NAMES:
        return f"#{NAMES[wanted]}"
    if len(wanted) == 5 and _HEX.match(wanted):
        return "#" + "".join(digit * 2 for digit in wanted[1:])
    if not (match := _HSL.match(wanted)):
        return text
    hue, unit, saturation, lightness, alpha, percent = match.groups()
    shares = [min(1.0, max(0.0, float(value) / 100.0)) for value in (lightness, saturation)]
    channels = [*colorsys.hls_to_rgb(float(hue) * _DEGREES[unit] / 360.0 % 1.0, *shares)]
    if alpha is not None:
        channels.append(min(1.0, max(0.0, float(alpha) / (100.0 if percent else 1.0))))
    return "#" + "".join(f"{math.floor(channel * 255.0 + 0.5):02x}" for channel in channels)
