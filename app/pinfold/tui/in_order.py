"""Keys take effect in the order in which they were typed."""

from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input


async def act_at_once(widget: Widget, event: Key) -> None:
    """Carry out what `widget` itself binds to the key, if anything.

    Left to bubble up, the key would be overtaken by the letters typed right behind it.
    """
    active = widget.screen.active_bindings.get(event.key)
    if active is not None and active.node is widget:
        if await widget.app.run_action(active.binding.action, default_namespace=widget):
            event.stop()
        event.prevent_default()


class SearchInput(Input):
    """The line in which one writes what to look for."""

    def on_mount(self) -> None:
        self.cursor_blink = False

    async def _on_key(self, event: Key) -> None:
        if not event.is_printable:
            await act_at_once(self, event)
