"""The C library's memory: how it is shared among threads."""

from contextlib import suppress

_M_ARENA_MAX = -8


def share_heaps() -> None:
    """Have threads that come from now on use the heaps that are there. Elsewhere than with glibc
    nothing happens.

    It gives each thread a heap of its own, and what one of them frees the others don't use: in a
    long session that comes to more than all that is in use.
    """
    with suppress(ImportError, OSError, AttributeError):
        import ctypes  # which a Python can be built without

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
