"""The prompt with its frame and marker."""

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static, TextArea

from pinfold.tui.prompt.editor import Editor


class PromptBox(Horizontal):
    """Looks different while it holds a command of the user's own."""

    DEFAULT_CSS = """
    PromptBox {
        height: auto;
        border: round $rule;
        padding: 0 1;
        background: $background;

        &:focus-within { border: round $primary; }
        &.-command { border: round $warning; border-subtitle-color: $warning; }

        & > #marker {
            width: 2;
            color: $primary;
            text-style: bold;
        }
        &.-command > #marker { color: $warning; }
    }
    """

    def __init__(self, editor: Editor) -> None:
        super().__init__()
        self.editor = editor
        self._marker = Static("❯", id="marker", markup=False)

    def compose(self) -> ComposeResult:
        yield self._marker
        yield self.editor

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        is_command = event.text_area.text.startswith("!")
        if is_command != self.has_class("-command"):
            self.set_class(is_command, "-command")
            self._marker.update("$" if is_command else "❯")
            self.border_subtitle = "runs in your shell" if is_command else ""

    def on_editor_mode_changed(self, event: Editor.ModeChanged) -> None:
        self.border_title = "" if event.mode == "insert" else event.mode.upper()
