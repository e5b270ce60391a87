"""Threads of a session share the C library's heaps."""

import platform
import subprocess
import sys

import pytest

from pinfold.host.allocator import share_heaps

ASK = """
import ctypes
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from pinfold.host.allocator import share_heaps

share_heaps()
barrier = Barrier(4)
def work(size):
    made = [bytes(size) for _ in range(100)]
    barrier.wait()
    return made
with ThreadPoolExecutor(4) as pool:
    kept = list(pool.map(work, [1_000] * 4))
c = ctypes.CDLL(None)
c.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(c.fdopen(1, b"w"))
c.malloc_info(0, out)
c.fflush(out)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone has them")
def test_threads_get_no_heaps_of_their_own() -> None:
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert done.stdout.count("<heap nr=") == 1


def test_a_python_without_ctypes_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctypes", None)
    share_heaps()
