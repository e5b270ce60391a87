"""How threads share the C library's memory."""

from contextlib import suppress

_M_ARENA_MAX = -8


def share_heaps() -> None:
    """Let new threads share the existing heaps; does nothing without glibc.

    glibc gives each thread its own heap, and memory that one frees is not used by the others. In a
    long session that wastes more than all that is in use.
    """
    with suppress(ImportError, OSError, AttributeError):
        import ctypes  # which a Python can be built without

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
