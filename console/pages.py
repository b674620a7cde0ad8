"""Render pages and parts of pages from templates."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from console import formatting
from farm_core.assets.kinds import PICTURES, VIDEOS

ROOT: Final = Path(__file__).parent
STATIC: Final = ROOT / "static"
ASKS: Final = "x-console-asks"
"""Request header of scripts that refresh a page: `part` for a part of it, `page` for the whole page."""
STYLES: Final = ("base", "frame", "forms", "states", "tables", "charts", "pictures", "narrow", "modes")
"""Stylesheets in `static/style`, in their order. Pages load them as one file, `console.css`."""
THEME_COOKIE: Final = "farm_theme"
THEMES: Final = ("system", "light", "dark")

SHOW_PAGE: Final = """
setTimeout(() => {
  document.documentElement.dataset.scripts ??= "late"; // console.js has not run
  for (const one of document.querySelectorAll("[blocking]")) one.removeAttribute("blocking");
}, 5000);
"""
"""Script of every page, inline because a file can hang too: if the scripts do not arrive within 5 s, show the page with the controls
that work without them."""


@cache
def environment() -> Environment:
    """Return the Jinja environment. It escapes every value."""
    made = Environment(
        loader=FileSystemLoader(ROOT / "html"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.filters.update(formatting.FILTERS)
    made.globals |= {
        "static": static_url, "modules": modules, "show_page": SHOW_PAGE, "pictures": ",".join(PICTURES), "videos": ",".join(VIDEOS),
    }  # fmt: skip
    return made


@cache
def static_version() -> str:
    """Return a hash of all static files. It is part of their addresses, so scripts import scripts of the same version."""
    digest = hashlib.sha256()
    for path in sorted(one for one in STATIC.rglob("*") if one.is_file()):
        digest.update(f"{path.relative_to(STATIC)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


@cache
def stylesheet() -> bytes:
    """Return the stylesheets as one file."""
    return b"\n".join((STATIC / "style" / f"{name}.css").read_bytes() for name in STYLES)


def static_url(name: str) -> str:
    """Return the address of a static file. Browsers can cache the file."""
    return f"/console/static/{static_version()}/{name}"


@cache
def modules(folder: str) -> list[str]:
    """Return the scripts of a folder, so that pages can preload them. A browser alone finds imports one by one."""
    found = (STATIC / folder).glob("*.js")
    return sorted(f"{folder}{path.name}" for path in found if not path.name.endswith(".min.js"))


def page(request: Request, template: str, /, *, status_code: int = 200, **values: Any) -> HTMLResponse:
    """Return a page, or a part of one, for the signed-in person."""
    theme = request.cookies.get(THEME_COOKIE, "system")
    given = {
        "viewer": getattr(request.state, "viewer", None), "path": request.url.path,
        "theme": theme if theme in THEMES else "system", "now": request.app.state.dependencies.clock.now(),
    }  # fmt: skip
    is_shown = "hx-boosted" in request.headers  # htmx shows pages of refused forms only with status 200
    return HTMLResponse(fragment(template, **given, **values), 200 if is_shown else status_code)


def fragment(template: str, /, **values: Any) -> str:
    """Render a template to HTML."""
    return environment().get_template(template).render(**values)


def is_part(request: Request) -> bool:
    """Return True if a script asks for a part of its page. A form that htmx sends asks for a whole page."""
    is_form = "hx-boosted" in request.headers
    return ("hx-request" in request.headers and not is_form) or request.headers.get(ASKS) == "part"
