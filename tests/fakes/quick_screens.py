"""Tests of screens wait for no timer, parse each style sheet once, and paint what is looked at."""

import asyncio
import selectors
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet


class _Selector(selectors.DefaultSelector):
    """Where only a timer is waited for, moves the loop's clock instead."""

    loop: "SkippingLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout is None or self.loop.waits_for_others():
            return ready or super().select(timeout)
        self.loop.skipped += max(0.0, timeout)
        return []


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop that never sleeps, unless a thread, a process or a socket is at work."""

    def __init__(self) -> None:
        self.skipped = 0.0
        """Seconds by which its clock is ahead."""
        self._in_threads = 0
        self._others = set(threading.enumerate())
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return super().time() + self.skipped

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        future = super().run_in_executor(executor, func, *args)
        self._in_threads += 1
        future.add_done_callback(self._back)
        return future

    def _back(self, _: object) -> None:
        self._in_threads -= 1

    def waits_for_others(self) -> bool:
        sockets = len(self._selector.get_map()) > 1  # one is the loop's own
        return sockets or self._in_threads > 0 or any(map(self._is_new, threading.enumerate()))

    def _is_new(self, thread: threading.Thread) -> bool:
        """Whether the thread began since, and is none of the loop's executor."""
        return thread not in self._others and not thread.name.startswith("asyncio_")


_PARSED: dict[object, list[RuleSet]] = {}
render_update = Compositor.render_update


def quick_screens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run what follows on a loop that skips, with style sheets parsed once.

    What Textual would paint after each key, and throw away without a terminal, is not drawn;
    pictures are (`full`).
    """
    parse = Stylesheet._parse_rules

    def render(self: Compositor, full: bool = False, *args: Any, **options: Any) -> Any:
        if full:
            return render_update(self, full, *args, **options)
        self._dirty_regions.clear()
        return None

    def parse_once(self: Stylesheet, *args: Any, **options: Any) -> list[RuleSet]:
        key = (tuple(self._variables.items()), args, tuple(options.items()))
        if key not in _PARSED:
            _PARSED[key] = parse(self, *args, **options)
        return _PARSED[key]

    def now() -> float:
        try:
            return asyncio.get_running_loop().time()
        except RuntimeError:  # in a thread
            return monotonic()

    monkeypatch.setattr(Compositor, "render_update", render)
    monkeypatch.setattr(Stylesheet, "_parse_rules", parse_once)
    monkeypatch.setattr(asyncio.events, "new_event_loop", SkippingLoop)
    monkeypatch.setattr("textual._time.get_time", now)
