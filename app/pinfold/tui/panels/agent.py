"""What an agent did, from its task to its last reply; read-only."""

from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.item import ItemPanel, body, title
from pinfold.tui.panels.registry import Panel


async def _open(host: PanelHost, number: str) -> None:
    items = await host.session.children.items(int(number))
    text = "\n\n".join(f"── a{number}{title(item)} ──\n{body(item)}" for item in items)
    standing = host.session.children.summary(int(number))
    host.push_screen(ItemPanel(f"Agent a{number}", f"{standing}\n\n{text}"))


PANEL = Panel("", (), _open)
