"""Setup of a `--cluster local` worker."""

import signal


def dask_setup(_worker: object) -> None:
    """Ignore Ctrl+C: the process that started the cluster ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
