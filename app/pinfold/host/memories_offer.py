"""What the first screen says about memories."""

from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice

from pinfold.atomic_files import write_atomic
from pinfold.host.app_context import AppContext
from pinfold.numbers import plural
from pinfold.paths import shown

OFFERED = "memories-offered"
"""A file in pinfold's home: memories were offered."""
OFFER = (
    "New: pinfold can note what finished sessions taught, each line with its source, and give it "
    "to later sessions. /memories on turns that on: the model then reads each session "
    'once, which costs tokens; [memories] generate = "offline" uses no model.'
)


def shared(ctx: AppContext) -> str:
    """A sentence on the memories of the folder that a team shares; empty if none."""
    from pinfold.host.memory_access import teams_of
    from pinfold.memories.team.sharing import team_of

    teams = teams_of(ctx)
    team = team_of(ctx.cwd, teams.every) if teams else None
    if teams is None or team is None:
        return ""
    copy = next(copy for copy in teams.copies if copy.team == team)
    have = copy.read()
    others = [line.owner for line in have.by_id.values() if line.owner != have.role]
    count = len(copy.shared())
    ours = f"{plural(count, 'line')} of yours shared so far"
    theirs = (
        f"{len(others):,} of {len({*others}):,} others are here" if others else "none of others"
    )
    at = datetime.fromtimestamp(have.pulled_at, UTC)
    since = f", pulled {at:%Y-%m-%d %H:%M} UTC" if have.pulled_at else ""
    return (
        f"Shared with {team.name}: what sessions in {shown(team.folder)} teach. "
        f"{ours}, {theirs}{since}. /memories shows whose each line is."
    )


def offer(ctx: AppContext) -> str:
    """Once, the offer to a user with earlier sessions; with a team, what it shares."""
    if ctx.settings.memories.team:
        return shared(ctx)
    if "memories.enabled" in ctx.loaded.origins or (ctx.home / OFFERED).exists():
        return ""
    if len(list(islice(ctx.home.glob("sessions/*/*/*/*/rollout.jsonl"), 2))) < 2:
        return ""  # this is the first
    with suppress(OSError):  # then it is offered again
        write_atomic(ctx.home / OFFERED, b"")
    return OFFER
