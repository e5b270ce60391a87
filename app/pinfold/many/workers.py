"""Setup of a `--cluster local` worker."""

import signal


def dask_setup(_worker: object) -> None:
    """Ctrl+C is for the one that began the cluster, and ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
