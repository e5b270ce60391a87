"""An app that no failure of a handler, a timer, a worker or a paint ends.

Textual ends the app on the first one, and prints a traceback.
"""

import asyncio
import traceback
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console, RenderableType
from textual.app import App, RenderResult
from textual.dom import DOMNode
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import WorkerFailed

from pinfold.sanitize import one_line
from pinfold.tui.error_log import ErrorLog

Heard = TypeVar("Heard")


def safely(app: App[Any], listener: Callable[[Heard], None]) -> Callable[[Heard], None]:
    """`listener`, whose failures the app reports instead of its caller."""

    def hear(what: Heard) -> None:
        try:
            listener(what)
        except Exception as error:
            app._handle_exception(error)

    return hear


class FailsafeApp(App[str]):
    """Says each failure in one line, writes its details to a log, and continues."""

    def __init__(self, errors: Path, *, ansi_color: bool | None = None) -> None:
        """`errors` is the log."""
        super().__init__(ansi_color=ansi_color)
        self._errors = ErrorLog(errors)
        self.failure = ""
        """The last one, in a line."""

    def tell_failure(self, line: str) -> None:
        """Show `line`; it is empty where the same failure came before."""
        raise NotImplementedError

    def give_up(self) -> None:
        """Leave, with all saved."""
        raise NotImplementedError

    def _handle_exception(self, error: Exception) -> None:
        if self._exception is None:  # for tests: `run_test` raises it at its end
            self._exception = error
            self._exception_event.set()
        from pinfold.commands.failures import told

        cause = error.error if isinstance(error, WorkerFailed) else error
        details = "".join(traceback.format_exception(cause))
        self._failed(told(cause if isinstance(cause, Exception) else error), details)

    def panic(self, *renderables: RenderableType) -> None:
        """The thread that reads the keys has died."""
        details = StringIO()
        Console(file=details, width=100).print(*renderables)
        self._failed("The keyboard can no longer be read.", details.getvalue())
        self.give_up()

    def _failed(self, what: str, details: str) -> None:
        if where := self._errors.add(details):
            self.failure = f"{one_line(what).rstrip('.')}. {where}"
        with suppress(Exception):  # it may be the telling itself that fails
            self.tell_failure(self.failure if where else "")

    async def on_load(self) -> None:
        asyncio.get_running_loop().set_exception_handler(self._loop_failed)

    def _loop_failed(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A callback or a forgotten task has failed."""
        if isinstance(error := context.get("exception"), Exception):
            self._handle_exception(error)

    # A message that fails would end the widget's loop, and a widget that can't be drawn the whole
    # screen's layout: both are caught where Textual calls the widget.

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            self._handle_exception(error)

    def _register_child(
        self, parent: DOMNode, child: Widget, before: int | None, after: int | None
    ) -> None:
        self._make_safe(child)
        super()._register_child(parent, child, before, after)

    def _start_widget(self, parent: Widget, widget: Widget) -> None:
        self._make_safe(widget)
        super()._start_widget(parent, widget)

    def _make_safe(self, widget: Widget) -> None:
        if "render_lines" in vars(widget):  # it was shown before
            return
        dispatch, render = widget._dispatch_message, widget.render
        render_lines = widget.render_lines

        async def dispatch_safely(message: Message) -> None:
            try:
                await dispatch(message)
            except Exception as error:
                self._handle_exception(error)

        def render_safely() -> RenderResult:
            try:
                return render()
            except Exception as error:
                self._handle_exception(error)
                return ""

        def render_lines_safely(crop: Region) -> list[Strip]:
            try:
                return render_lines(crop)
            except Exception as error:
                self._handle_exception(error)
                return [Strip.blank(crop.width)] * crop.height

        widget._dispatch_message = dispatch_safely  # type: ignore[method-assign]
        widget.render = render_safely  # type: ignore[method-assign]
        widget.render_lines = render_lines_safely  # type: ignore[method-assign]
