"""C types of the kernels' functions."""

from __future__ import annotations

from typing import Any


def typed(function: Any, *arguments: Any, result: Any = None) -> Any:
    """Return a library's function with the types of its arguments and of its result, by default none."""
    function.argtypes, function.restype = arguments, result
    return function
