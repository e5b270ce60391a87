"""The panel of skills."""

from pinfold.tui.panels.extensions import KEYS, ExtensionsPanel
from pinfold.tui.panels.registry import Panel

PANEL = Panel(
    "Among skills and commands (/skills, /commands)",
    KEYS,
    lambda host, _: ExtensionsPanel(host, "skill"),
)
