"""An app with themes from files."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from textual.theme import Theme

from pinfold.tui import themes
from pinfold.tui.failsafe import FailsafeApp


class ThemedApp(FailsafeApp):
    def __init__(
        self, errors: Path, *, theme_folder: Path | None = None, ansi_color: bool | None = None
    ) -> None:
        """`theme_folder` holds the user's own themes."""
        super().__init__(errors, ansi_color=ansi_color)
        self._folders = [themes.shipped(), *([] if theme_folder is None else [theme_folder])]
        self._own: list[str] = []
        """The themes from files, by name."""

    @property
    def themes(self) -> Sequence[str]:
        """The names of all; those from files first."""
        return [*self._own, *sorted(self.available_themes.keys() - self._own)]

    def set_theme(self, name: str) -> None:
        self.theme = name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.fallbacks(self.current_theme)

    def dress(self, name: str) -> list[str]:
        """Use the theme of that name before the first paint, and read no other if it is there.

        Gives warnings.
        """
        told: list[str] = []
        theme = themes.named(name, self._folders)
        if theme is not None:
            self.register_theme(theme)
        elif name not in self.available_themes:
            told += self._take_in(*themes.load(self._folders))
        if name in self.available_themes:
            self.theme = name
            return told
        self.theme = "pinfold"
        return [*told, f"There is no theme “{name}”; /theme lists them."]

    async def load_themes(self) -> list[str]:
        """Read the others. Gives warnings."""
        return self._take_in(*await asyncio.to_thread(themes.load, self._folders))

    def _take_in(self, loaded: Sequence[Theme], failed: Mapping[Path, str]) -> list[str]:
        for theme in loaded:
            self.register_theme(theme)
        names = (theme.name for theme in loaded)
        self._own = sorted(names, key=lambda name: (not name.startswith("pinfold"), name))
        return [f"{path} is not a theme: {why}" for path, why in failed.items()]
