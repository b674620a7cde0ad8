"""Functions for the sandbox. A call's processor time includes the import of its module, so this one imports nothing."""


def burn(seconds: int) -> None:
    """Take more processor time than a call may."""
    while True:
        seconds += 1


def hoard(count: int) -> int:
    """Take more memory than a call may."""
    return len([bytes(1 << 20) for _ in range(count)])


def add(first: int, second: int) -> int:
    """Return the sum, as an ordinary function."""
    return first + second
