"""One item in full, with its other half; or a piece of what is before the window."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import msgspec
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from pinfold.commands.context_text import KINDS, kind
from pinfold.rollout.arguments import parsed
from pinfold.rollout.context import Context
from pinfold.rollout.items import Image, Item
from pinfold.sanitize import clean, clean_output, one_line
from pinfold.tokens.items import SKILLS
from pinfold.tui.panels.modal import Modal
from pinfold.window.overview import ContextRow

if TYPE_CHECKING:
    from pinfold.agent.steering.steering import Steering


class Page(TextArea):
    """Text to read: arrows scroll, the mouse selects."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", show=False),
        Binding("down,j", "scroll_down", show=False),
        Binding("home,g", "scroll_home", show=False),
        Binding("end,G", "scroll_end", show=False),
        Binding("pageup,b", "page_up", show=False),
        Binding("pagedown,space", "page_down", show=False),
    ]

    def __init__(self, text: str) -> None:
        super().__init__(text, read_only=True, soft_wrap=True, show_cursor=False)
        self.highlight_cursor_line = False

    def action_page_up(self) -> None:
        self.scroll_page_up()

    def action_page_down(self) -> None:
        self.scroll_page_down()


class ItemPanel(Modal[None]):
    """Any of Esc, q and Enter leaves it; `c` copies what is marked, else all of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", show=False, priority=True),
        Binding("c", "copy", show=False, priority=True),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._page = Page(text)

    def compose(self) -> ComposeResult:
        self._page.add_class("panel", "full")
        self._page.border_title = Text(one_line(self._title))
        self._page.border_subtitle = "↑ ↓ scroll · c copies · Esc closes"
        yield self._page

    def on_mount(self) -> None:
        self._page.focus()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._page.selected_text or self._page.text)
        self._page.border_subtitle = "Copied · Esc closes"


def item_panel(item: Item, window: Steering | None = None) -> ItemPanel:
    """Shows an item; with a `window`, a call together with its result."""
    partner = window.partner(item.n) if window is not None else None
    other = window.item(partner) if window is not None and partner is not None else None
    both = [item] if other is None else sorted([item, other], key=lambda one: one.n)
    return ItemPanel(title(item), page(both))


def title(item: Item) -> str:
    """`#12 call read_file`."""
    return f"#{item.n} {KINDS[item.kind]} {one_line(item.name or '')}".rstrip()


def page(items: Sequence[Item]) -> str:
    """The text of one item, or of several under their titles."""
    if len(items) == 1:
        return body(items[0])
    return "\n\n".join(f"── {title(item)} ──\n{body(item)}" for item in items)


def body(item: Item) -> str:
    """The text of an item, safe to draw, its images named."""
    match item.kind:
        case "tool_call":
            text = _arguments(item.content)
        case "tool_result":
            text = clean_output(item.content)
        case _:
            text = clean(item.content)
    if not text and item.opaque is not None:
        text = "Only the provider can read this item."
    images = (_image(number, image) for number, image in enumerate(item.images, 1))
    return "\n".join(part for part in (text, *images) if part) or "It is empty."


def _arguments(text: str) -> str:
    """A call's arguments, a line or more for each; as the model wrote them where they are none."""
    arguments = parsed(text)
    if arguments is None:
        return clean(text)
    return "\n".join(_argument(name, value) for name, value in arguments.items())


def _argument(name: str, value: object) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    said = clean(said)
    return f"{clean(name)}:\n{said}" if "\n" in said else f"{clean(name)}: {said}"


def _image(number: int, image: Image) -> str:
    size = f", {image.width}×{image.height}" if image.width else ""
    held = f"{len(image.data) * 3 // 4:,} bytes" if image.data else "lost"
    return f"[image {number}: {clean(image.media_type)}{size}, {held}]"


def context_title(row: ContextRow) -> str:
    """`AGENTS.md /repo/AGENTS.md`."""
    return f"{kind(row)} {one_line(row.name)}"


def context_page(row: ContextRow, context: Context) -> str:
    """The text behind a row of what is before the window."""
    match row.part:
        case "AGENTS.md":
            texts = [file.text for file in context.agents if file.path == row.name]
        case "tools":
            texts = [
                f"{tool.description}\n\n{_schema(tool.parameters)}"
                for tool in context.tools
                if tool.name == row.name
            ]
        case "servers":
            texts = [server.text for server in context.servers if server.name == row.name]
        case "memories":
            texts = [context.memories.text] if context.memories else []
        case _ if row.name == SKILLS:
            texts = [context.skills.text] if context.skills else []
        case _ if row.name == "environment":
            texts = [context.environment]
        case _:
            texts = [context.instructions]
    return clean("\n\n".join(texts)) or "It is empty."


def _schema(parameters: dict[str, object]) -> str:
    return msgspec.json.format(msgspec.json.encode(parameters), indent=2).decode()
