"""Saying that something must hold."""


class Violated(AssertionError):
    """Something that must hold does not."""


def check(holds: object, what: str) -> None:
    """Raises `Violated`."""
    if not holds:
        raise Violated(what)
