"""The approval modes to choose from, and a question before the one without a sandbox."""

from pinfold.commands.model import MEANING, set_approvals
from pinfold.tui.panels.ask import AskPanel
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.picker import Choice, Picker
from pinfold.tui.panels.registry import Panel

QUESTION = (
    "Let everything run without asking, with no sandbox? Commands can then change any file that "
    "you can change, and use the network, also where a file or a web page talked the model into it."
)
_NAME = max(map(len, MEANING))


async def _pick(host: PanelHost, mode: str) -> None:
    """Set `mode`; without one, that which the user chooses."""
    before = host.session.approvals
    if not mode:
        choices = [Choice(one, f"{one:<{_NAME}}", said) for one, said in MEANING.items()]
        picker = Picker("What runs without asking", choices, chosen=before)
        chosen = await host.push_screen_wait(picker)
        mode = chosen or ""
    if mode == "full" and before != "full":
        ask = AskPanel(QUESTION, "lets everything run")
        mode = mode if await host.push_screen_wait(ask) else ""
    if mode:
        set_approvals(host, mode)


PANEL = Panel("", (), _pick)
