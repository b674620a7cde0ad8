"""Parser: tokens to compiled code (animation.md 4.2). One expression, no statements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from motion.formulas.expressions import code
from motion.formulas.expressions.code import Code, Scope
from motion.formulas.expressions.lexer import END, Token, tokens
from motion.formulas.expressions.values import ExpressionError, Value

SOURCE_MAX = 500_000
"""Longest source text in characters."""
NESTING_MAX = 32
"""Brackets, calls and signs inside each other, and members in a row; chains of operators do not count."""
LEVELS_MAX = 512
"""Levels of one evaluation: 512 terms of a sum pass, 513 fail."""

_RANKS: tuple[frozenset[str], ...] = (
    frozenset({"==", "!=", "===", "!=="}),
    frozenset({"<", "<=", ">", ">="}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)
_SIGNS = frozenset({"-", "+", "!"})
_LITERALS: dict[str, Value] = {"true": True, "false": False, "null": None, "undefined": None}


@lru_cache(maxsize=4096)
def compiled(source: str) -> Code:
    """Return the code of a source text. A text with an error becomes code that raises the error, so it is parsed only
    once.
    """
    try:
        if len(source) > SOURCE_MAX:
            raise ExpressionError("the expression is too long")
        code = _Parser(tokens(source)).program()
        if code.height > LEVELS_MAX:
            raise ExpressionError("the expression is nested too deeply")
    except ExpressionError as error:
        return _failing(str(error))
    return code


def _failing(message: str) -> Code:
    def run(scope: Scope) -> Value:
        raise ExpressionError(message)

    return Code(run)


class _Parser:
    """Recursive descent; every bracket or sign is one level of nesting."""

    def __init__(self, words: Sequence[Token]) -> None:
        self._words = words
        self._at = 0
        self._nesting = 0

    def program(self) -> Code:
        result = self._expression()
        if self._words[self._at] is not END:
            raise ExpressionError(f"unexpected {self._words[self._at].text}")
        return result

    def _expression(self) -> Code:
        branches: list[tuple[Code, Code]] = []
        while True:
            value = self._either()
            if not self._takes("?"):
                return code.conditional(branches, value) if branches else value
            chosen = self._nested()
            self._expect(":")
            branches.append((value, chosen))

    def _nested(self) -> Code:
        self._enter()
        result = self._expression()
        self._nesting -= 1
        return result

    def _either(self) -> Code:
        parts = [self._both()]
        while self._takes("||"):
            parts.append(self._both())
        return code.logical_chain("||", parts) if len(parts) > 1 else parts[0]

    def _both(self) -> Code:
        parts = [self._ranked(0)]
        while self._takes("&&"):
            parts.append(self._ranked(0))
        return code.logical_chain("&&", parts) if len(parts) > 1 else parts[0]

    def _ranked(self, rank: int) -> Code:
        if rank == len(_RANKS):
            return self._signed()
        first = self._ranked(rank + 1)
        rest: list[tuple[str, Code]] = []
        while self._is_operator(_RANKS[rank]):
            operator = self._next().text
            rest.append((operator, self._ranked(rank + 1)))
        return code.binary_chain(first, rest) if rest else first

    def _signed(self) -> Code:
        if not self._is_operator(_SIGNS):
            return self._postfix()
        sign = self._next().text
        self._enter()
        operand = self._signed()
        self._nesting -= 1
        return code.unary(sign, operand)

    def _postfix(self) -> Code:
        result = self._primary()
        for _ in range(NESTING_MAX):
            if self._takes("."):
                result = code.access(result, code.constant(self._name()))
            elif self._takes("["):
                result = code.access(result, self._nested())
                self._expect("]")
            elif self._takes("("):
                result = code.application(result, self._list(")"))
            else:
                return result
        raise ExpressionError("the expression is nested too deeply")

    def _primary(self) -> Code:
        word = self._next()
        if word.kind == "number":
            return code.constant(float(word.text))
        if word.kind == "string":
            return code.constant(word.text)
        if word.kind == "name":
            return code.constant(_LITERALS[word.text]) if word.text in _LITERALS else code.name(word.text)
        if word.text == "(":
            inner = self._nested()
            self._expect(")")
            return inner
        if word.text == "[":
            return code.array(self._list("]"))
        raise ExpressionError(f"unexpected {word.text or 'end'}")

    def _list(self, closing: str) -> list[Code]:
        parts: list[Code] = []
        if self._takes(closing):
            return parts
        parts.append(self._nested())
        while self._takes(","):
            parts.append(self._nested())
        self._expect(closing)
        return parts

    def _name(self) -> str:
        word = self._next()
        if word.kind != "name":
            raise ExpressionError("a name must follow the dot")
        return word.text

    def _enter(self) -> None:
        self._nesting += 1
        if self._nesting > NESTING_MAX:
            raise ExpressionError("the expression is nested too deeply")

    def _next(self) -> Token:
        word = self._words[self._at]
        if word is not END:
            self._at += 1
        return word

    def _is_operator(self, among: frozenset[str]) -> bool:
        word = self._words[self._at]
        return word.kind == "operator" and word.text in among

    def _takes(self, operator: str) -> bool:
        word = self._words[self._at]
        if word.kind != "operator" or word.text != operator:
            return False
        self._at += 1
        return True

    def _expect(self, operator: str) -> None:
        if not self._takes(operator):
            raise ExpressionError(f"{operator} is missing")
