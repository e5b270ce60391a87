"""The question about a prompt that takes too much of the window."""

from collections.abc import Iterator
from typing import ClassVar, Literal, cast, get_args

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from pinfold.agent.turn.large_prompts import Size
from pinfold.compaction.budget import CUT_REQUEST
from pinfold.ports.provider import ModelInfo
from pinfold.sanitize import one_line
from pinfold.tui.panels.modal import Modal

Way = Literal["attach", "cut", "whole", "edit", "cancel"]


class LargePanel(Modal[Way]):
    """Its result is what to do with the prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss('cancel')", show=False),
        *(
            Binding(str(n), f"choose({n - 1})", show=False)
            for n in range(1, len(get_args(Way)) + 1)
        ),
    ]

    def __init__(self, size: Size, model: ModelInfo) -> None:
        super().__init__()
        self._measured = size
        self._model = model
        options = [Option(f"{n}  {text}", way) for n, (way, text) in enumerate(self._ways(), 1)]
        self._options = OptionList(*options, compact=True)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel undo") as panel:
            panel.border_title = "This prompt is large"
            panel.border_subtitle = "↑ ↓ or a number · Enter selects · Esc closes"
            yield Static("\n".join(self._notes()), markup=False)
            yield self._options

    def _notes(self) -> Iterator[str]:
        size = self._measured
        window = f"The window has {size.window:,}; {size.free:,} are free."
        yield f"About {size.tokens:,} tokens. {window}"
        if not self._model.tools:
            yield f"{one_line(self._model.name)} has no tools, so it can't read a file."
        yield ""

    def _ways(self) -> Iterator[tuple[Way, str]]:
        if self._model.tools:
            yield "attach", "Attach it as a file that the model reads in pieces"
        kept = int(CUT_REQUEST * self._measured.window)
        yield "cut", f"Send only its beginning and end, about {kept:,} tokens"
        if self._measured.fits:
            yield "whole", "Send it whole; the next compaction drops its middle"
        yield "edit", "Edit it in $EDITOR"
        yield "cancel", "Cancel, and put it back into the prompt"

    def action_choose(self, at: int) -> None:
        if at < self._options.option_count:
            self._take(self._options.get_option_at_index(at))

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self._take(event.option)

    def _take(self, option: Option) -> None:
        self.dismiss(cast("Way", option.id))
