"""Skills and custom commands of a session."""

from functools import partial

from pinfold.host.app_context import AppContext
from pinfold.skills.library import Library
from pinfold.skills.places import places


def library_of(ctx: AppContext) -> Library:
    """Empty until it is read."""
    return Library(partial(places, ctx.cwd), ctx.home, lambda: ctx.trusted)
