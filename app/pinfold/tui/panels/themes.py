"""The themes to choose from; the one under the cursor applies at once."""

from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.picker import Choice, Picker
from pinfold.tui.panels.registry import Panel


async def _pick(host: PanelHost, _: str) -> None:
    before = host.theme
    choices = [Choice(name, name) for name in host.themes]
    picker = Picker("Theme", choices, chosen=before, preview=host.set_theme)
    chosen = await host.push_screen_wait(picker)
    host.set_theme(chosen or before)


PANEL = Panel("", (), _pick)
