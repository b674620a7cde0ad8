"""Functions for the sandbox. This module imports nothing, because imports count in a call's processor time."""


def burn(seconds: int) -> None:
    """Exceed the limit of processor time."""
    while True:
        seconds += 1


def hoard(count: int) -> int:
    """Exceed the limit of memory."""
    return len([bytes(1 << 20) for _ in range(count)])


def add(first: int, second: int) -> int:
    """Return the sum, as a normal function does."""
    return first + second
