"""The child process that serves the embedded model on a loopback port of its own.

It prints one line of JSON, `{"address": ..., "api_key": ...}` or `{"error": ...}`, and lives until
its standard input ends. That also happens when the parent is killed, so that no child is left.
"""

import argparse
import json
import os
import secrets
import sys
import threading
from pathlib import Path
from typing import Any

CONTEXT_WINDOW = 8192
"""Tokens."""
BATCH = 512
"""Tokens of a prompt that are read between two reports of progress."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m pinfold.providers.embedded_server")
    parser.add_argument("--model", type=Path, required=True, help="the GGUF file")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    arguments = parser.parse_args()

    # llama.cpp prints wherever it likes; the line for the parent has standard output to itself.
    parent = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    # The parent may end while the model is still being loaded.
    life = threading.Thread(target=_end_with_parent, daemon=True)
    life.start()
    os.nice(5)  # the screen comes first
    api_key = secrets.token_urlsafe()
    try:
        server = serve(arguments.model, arguments.port, api_key)
    except Exception as error:  # whatever it is, the parent shall say it
        print(json.dumps({"error": str(error)}), file=parent, flush=True)
        sys.exit(1)
    answer = {"address": server.listening_address, "api_key": api_key}
    print(json.dumps(answer), file=parent, flush=True)
    life.join()


def serve(model: Path, port: int, api_key: str) -> Any:
    """Start the server, which lives as long as the object. Raises what xllamacpp raises."""
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path = str(model)
    params.model_alias = {model.stem}
    params.port = port
    params.api_keys = [api_key]
    params.n_ctx = CONTEXT_WINDOW
    params.n_parallel = 1  # two slots would halve the window of each
    params.n_batch = BATCH
    # Its threads wait for each other without sleeping. Seen on two cores: two threads write up to
    # 1.6 times as fast as one, and hardly anything once something else computes.
    threads = max(1, (os.cpu_count() or 1) // 2)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.use_jinja = True
    # A model this small wanders at a higher temperature, and repeats itself without the penalty.
    params.sampling.temp = 0.2
    params.sampling.top_p = 0.9
    params.sampling.penalty_repeat = 1.1
    return Server(params)


def _end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(0)  # a request may be under way in threads that no Python can end


if __name__ == "__main__":
    main()
