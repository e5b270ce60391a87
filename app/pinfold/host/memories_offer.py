"""What the first screen says of memories."""

from contextlib import suppress
from itertools import islice

from pinfold.atomic_files import write_atomic
from pinfold.host.app_context import AppContext

OFFERED = "memories-offered"
"""The file in pinfold's home that says that memories were offered."""
OFFER = (
    "New: pinfold can note what finished sessions taught, each line with its source, and give it "
    "to later sessions. /memories on turns that on: the model then reads each session "
    'once, which costs tokens; [memories] generate = "offline" uses no model.'
)


def offer(ctx: AppContext) -> str:
    """The offer, once, to a user with earlier sessions; else empty."""
    if "memories.enabled" in ctx.loaded.origins or (ctx.home / OFFERED).exists():
        return ""
    if len(list(islice(ctx.home.glob("sessions/*/*/*/*/rollout.jsonl"), 2))) < 2:
        return ""  # this is the first
    with suppress(OSError):  # then it is offered again
        write_atomic(ctx.home / OFFERED, b"")
    return OFFER
