"""The reasoning efforts to choose from."""

from pinfold.commands.model import DEFAULT_EFFORT, effort
from pinfold.sanitize import one_line
from pinfold.tokens.catalog import EFFORTS
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.picker import Choice, Picker
from pinfold.tui.panels.registry import Panel


async def _pick(host: PanelHost, _: str) -> None:
    choice = host.session.choice
    choices = [
        Choice(DEFAULT_EFFORT, DEFAULT_EFFORT, "as the model does by itself"),
        *(Choice(level, level) for level in choice.efforts or EFFORTS),
    ]
    known = "" if choice.efforts else " · which it knows is not documented"
    title = f"Reasoning effort of {one_line(choice.model.name)}{known}"
    picker = Picker(title, choices, chosen=choice.effort or DEFAULT_EFFORT)
    if chosen := await host.push_screen_wait(picker):
        await effort(host, chosen)


PANEL = Panel("", (), _pick)
