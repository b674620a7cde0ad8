"""Render pages and parts of pages."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from console import words

ROOT: Final = Path(__file__).parent
THEME_COOKIE: Final = "farm_theme"
THEMES: Final = ("system", "light", "dark")


@cache
def environment() -> Environment:
    """Return the templates, which escape every value."""
    made = Environment(
        loader=FileSystemLoader(ROOT / "html"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.filters.update(words.FILTERS)
    made.globals["static"] = static_url
    return made


@cache
def static_url(name: str) -> str:
    """Return the address of a static file, with a hash of its content so that browsers may keep it."""
    content = (ROOT / "static" / name).read_bytes()
    return f"/console/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


def page(request: Request, template: str, /, *, status_code: int = 200, **values: Any) -> HTMLResponse:
    """Answer with a page, or a part of one, for the signed-in person."""
    theme = request.cookies.get(THEME_COOKIE, "system")
    given = {
        "viewer": getattr(request.state, "viewer", None), "path": request.url.path,
        "theme": theme if theme in THEMES else "system", "now": request.app.state.dependencies.clock.now(),
    }  # fmt: skip
    return HTMLResponse(fragment(template, **given, **values), status_code)


def fragment(template: str, /, **values: Any) -> str:
    """Return the HTML of a template."""
    return environment().get_template(template).render(**values)


def is_part(request: Request) -> bool:
    """Return True if a script of the page asks for a part of it."""
    return "hx-request" in request.headers and "hx-boosted" not in request.headers
