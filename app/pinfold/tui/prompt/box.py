"""The prompt with its frame and marker."""

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from pinfold.tui.prompt.editor import PLACEHOLDER, Editor


class PromptBox(Horizontal):
    """Looks different while it has a shell command."""

    DEFAULT_CSS = """
    PromptBox {
        height: auto;
        border: round $rule;
        padding: 0 1;
        background: $background;

        &:focus-within { border: round $primary; }
        &.-command { border: round $warning; border-subtitle-color: $warning; }
        border-subtitle-color: $foreground 60%;

        & > #marker {
            width: 2;
            color: $primary;
            text-style: bold;
        }
        &.-command > #marker { color: $warning; }
        &.-waiting > #marker { color: $foreground 40%; }
    }
    """

    def __init__(self, editor: Editor, key: Callable[[str], str]) -> None:
        """`key` names the key of an action."""
        super().__init__()
        self.editor = editor
        self._ways = f"{key('send')}: after the next tool call · {key('complete')}: after the turn"
        self._marker = Static("❯", id="marker", markup=False)

    def compose(self) -> ComposeResult:
        yield self._marker
        yield self.editor

    def on_mount(self) -> None:
        self.watch(self.editor, "in_turn", self._describe, init=False)

    def wait_for(self, answer: str) -> None:
        """Say how to `answer` the card that has the keys; empty: none has them."""
        self.editor.placeholder = answer or PLACEHOLDER
        self.set_class(bool(answer), "-waiting")

    def on_text_area_changed(self) -> None:
        is_command = self.editor.text.startswith("!")
        if is_command != self.has_class("-command"):
            self.set_class(is_command, "-command")
            self._marker.update("$" if is_command else "❯")
        self._describe()

    def _describe(self) -> None:
        """At the foot: where what is typed goes."""
        text = self.editor.text
        if text.startswith("!"):
            self.border_subtitle = "runs in your shell"
        else:
            typing = self.editor.in_turn and text and not text.startswith("/")
            self.border_subtitle = self._ways if typing else ""

    def on_editor_mode_changed(self, event: Editor.ModeChanged) -> None:
        self.border_title = "" if event.mode == "insert" else event.mode.upper()
