"""Lexer: source text to tokens (animation.md 4.2)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from motion.formulas.expressions.values import SPACE, ExpressionError

TokenKind = Literal["number", "string", "name", "operator", "end"]


class Token(NamedTuple):
    """A word of the language. `text` is a string's content, a number's digits, or the word itself."""

    kind: TokenKind
    text: str


END = Token("end", "")

_WORD = re.compile(
    rf"[{SPACE}]*(?:"
    r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)"
    r"""|(?P<string>'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*")"""
    r"|(?P<operator>===|!==|==|!=|<=|>=|&&|\|\||[-+*/%!<>?:()\[\],.])"
    r"|(?P<end>\Z))"
)
_ESCAPE = re.compile(r"\\([\s\S])")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def tokens(source: str) -> list[Token]:
    """Return the tokens of an expression, ending with END. Raises ExpressionError at the first odd character."""
    found: list[Token] = []
    at = 0
    while True:
        match = _WORD.match(source, at)
        if match is None:
            raise ExpressionError(f"the character at {at} is not part of the language")
        token = _token(match)
        found.append(token)
        if token is END:
            return found
        at = match.end()


def _token(match: re.Match[str]) -> Token:
    word = match[match.lastgroup or 0]
    if match.lastgroup == "number":
        return Token("number", word)
    if match.lastgroup == "name":
        return Token("name", word)
    if match.lastgroup == "string":
        return Token("string", _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), word[1:-1]))
    return END if match.lastgroup == "end" else Token("operator", word)
