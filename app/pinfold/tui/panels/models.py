"""The models to choose from, with their windows, prices and reasoning levels."""

from collections.abc import Iterator

from pinfold.commands.model import model
from pinfold.host.model_list import ModelLine
from pinfold.numbers import tokens
from pinfold.sanitize import one_line
from pinfold.tui.panels.host import PanelHost
from pinfold.tui.panels.picker import Choice, Picker
from pinfold.tui.panels.registry import Panel

_NAME = 28
"""Columns of a name; a longer one moves the rest of its line."""


async def _pick(host: PanelHost, _: str) -> None:
    session = host.session
    connection, prices = session.choice.connection, session.choice.prices

    def source() -> Iterator[Choice]:
        return map(_choice, host.host.models(connection, prices))

    price = "$ in/out per 1M tokens"
    title = f"Models of {one_line(connection.model.provider)} · window · {price} · effort"
    picker = Picker(title, source=source, empty="There is no model to choose.")
    if chosen := await host.push_screen_wait(picker):
        await model(host, chosen)


def _choice(line: ModelLine) -> Choice:
    window = "?" if line.window is None else tokens(line.window)
    price = f"{line.price.input:g}/{line.price.output:g}" if line.price else "?"
    effort = f"{line.efforts[0]}–{line.efforts[-1]}" if line.efforts else ""
    recent = "recent" if line.recent else ""
    note = f"{window:>6}  {price:>7}  {effort:<12} {recent}"
    return Choice(line.asked_as, f"{one_line(line.name):<{_NAME}}", note.rstrip())


PANEL = Panel("", (), _pick)
