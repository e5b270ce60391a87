"""The panel of commands that the user or the project wrote; its keys are those of skills."""

from pinfold.tui.panels.extensions import ExtensionsPanel
from pinfold.tui.panels.registry import Panel

PANEL = Panel("", (), lambda host, _: ExtensionsPanel(host, "command"))
