"""Style blocks: rules, and the declarations inside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpu_renderer.content.svg.properties import KNOWN, Style, is_valid
from gpu_renderer.content.svg.selectors import Selector, selector

_COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
_STATEMENT = re.compile(r"\s*@(?:import|charset|namespace)\b[^;{}]*;")
_HEAD = re.compile(r"[^{}]*")
_IMPORTANT = re.compile(r"!\s*important\s*\Z", re.IGNORECASE)
_DECLARATION = re.compile(r"(?:[^;()]|\([^()]*(?:\([^()]*\)[^()]*)*\))+")
_SHOWN_MEDIA = re.compile(r"(?:only\s+)?(?:all|screen)\b|\(", re.IGNORECASE)


class Declarations(NamedTuple):
    """Property values, and those that were declared important."""

    normal: Style
    important: Style


class Rule(NamedTuple):
    """Declarations of a selector."""

    selector: Selector
    declarations: Declarations


def rules(text: str) -> Iterator[Rule]:
    """Yield the rules of a style block in order; those inside a media query that a screen fulfils are among them."""
    text, at = _STATEMENT.sub("", _COMMENT.sub("", text)), 0
    while (head := _HEAD.match(text, at)) and head.end() < len(text):
        end = _end_of_block(text, head.end())
        yield from _block(head[0].strip(), text[head.end() + 1 : end - 1])
        at = end


def declarations(text: str) -> Declarations:
    """Return the known properties of a declaration block, and custom ones."""
    found = Declarations({}, {})
    for part in _DECLARATION.findall(text):
        name, _, value = part.partition(":")
        name, value = name.strip(), value.strip()
        name = name if name.startswith("--") else name.lower()
        kept = _IMPORTANT.sub("", value).strip()
        if name.startswith("--") or (name in KNOWN and is_valid(name, kept)):
            (found.normal if kept == value else found.important)[name] = kept
    return found


def _block(head: str, body: str) -> Iterator[Rule]:
    if head.startswith("@media"):
        if _SHOWN_MEDIA.match(head[6:].strip()):
            yield from rules(body)
    elif not head.startswith("@"):
        found = declarations(body)
        for text in re.split(r",(?![^()]*\))", head):
            if chosen := selector(text.strip()):
                yield Rule(chosen, found)


def _end_of_block(text: str, at: int) -> int:
    """Return the place after the brace that closes the one at a place; the text's end where none does."""
    depth = 0
    for match in re.compile("[{}]").finditer(text, at):
        depth += 1 if match[0] == "{" else -1
        if depth <= 0:
            return match.end()
    return len(text) + 1
