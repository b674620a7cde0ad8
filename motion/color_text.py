"""Colours in texts, in the forms of a browser's canvas (CSS Color 4: hexadecimal, rgb(), hsl() and names)."""

from __future__ import annotations

import re
from typing import Final

FORMS: Final = "#rgb, #rrggbb, #rrggbbaa, rgb(...), rgba(...), hsl(...), hsla(...) or a CSS colour name such as tomato"

_NAMED: Final = """
    aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood
    cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray
    darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen
    darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue
    firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew
    hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
    lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue
    lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine
    mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise
    mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange
    orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum
    powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna
    silver skyblue slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet
    wheat white whitesmoke yellow yellowgreen
    transparent
"""
_NAMES: Final = frozenset(_NAMED.split())
_HEX: Final = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\Z")
_NUMBER: Final = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
_FUNCTION: Final = re.compile(
    rf"(?:rgb|hsl)a?\(\s*{_NUMBER}(?:%|deg|turn|rad|grad)?(?:[\s,/]+{_NUMBER}%?){{2,3}}\s*\)\Z"
)


def is_color(text: str) -> bool:
    """True if a canvas takes the text as a colour."""
    wanted = text.strip().lower()
    return wanted in _NAMES or bool(_HEX.match(wanted) or _FUNCTION.match(wanted))
