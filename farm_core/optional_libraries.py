"""Leave out or delay libraries that other libraries import and rarely use. Each of them delays the start of every process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Let imports of the named modules fail for a block, unless they are loaded already."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules |= dict.fromkeys(hidden)  # type: ignore[arg-type]  # None makes the import fail
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def delay(*names: str) -> None:
    """Let later imports of the named libraries load them only when an attribute is used."""
    for name in names:
        sys.modules.setdefault(name, _Delayed(name))


class _Delayed(ModuleType):
    """Stands for a library until an attribute is used. `importlib.util.LazyLoader` already loads it when it is imported."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)
