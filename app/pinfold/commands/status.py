"""`/status`, `/cost`, `/diff`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pinfold import paths
from pinfold.commands.action import Action, opens
from pinfold.commands.arguments import CommandError
from pinfold.commands.model import MEANING, price_said
from pinfold.numbers import dollars, tokens
from pinfold.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pinfold.commands.context import Context
    from pinfold.rollout.values import Usage

MAX_DIFF = 2_000_000
"""Bytes of a diff that are shown."""
_SCRIPT = """
cd "$(git rev-parse --show-toplevel)" || exit 1
options="--no-pager diff --no-ext-diff --no-textconv --no-color --ignore-submodules=dirty"
base=$(git rev-parse -q --verify HEAD || git hash-object -t tree /dev/null)
git $options "$base" --
git ls-files --others --exclude-standard -z |
  xargs -0 -I{} git $options --no-index -- /dev/null {}
exit 0
"""


async def status(context: Context) -> None:
    session = context.session
    reading, model = session.reading(), session.model
    if session.approvals == "full":
        sandbox = "off in full mode"
    else:
        sandbox = f"off: {one_line(session.unconfined)}" if session.unconfined else "on"
    edits = "; edits are allowed for this session" if session.edits_allowed else ""
    share = f"{reading.used / max(1, reading.limit):.0%}"
    rows = [
        ("Model", f"{one_line(model.name)} from {one_line(model.provider)}"),
        ("Folder", one_line(paths.shown(session.cwd))),
        ("Approvals", f"{session.approvals}: {MEANING[session.approvals]}{edits}"),
        ("Sandbox", sandbox),
        ("Window", f"{tokens(reading.used)} of {tokens(reading.limit)} tokens, {share}"),
        ("Session", session.id),
    ]
    if session.auto_paused:
        rows.insert(-1, ("Compaction", "paused, as it failed: /threshold says what resumes it"))
    context.tell(_table(rows))


async def cost(context: Context) -> None:
    from pinfold.rollout.events import ChildFinished, RequestFinished
    from pinfold.tokens.prices import Spend

    session = context.session
    spend, requests, agents = Spend(), 0, Spend()
    for event in await session.events():
        match event.data:
            case RequestFinished(provider=provider, model=model, usage=usage) if usage is not None:
                spend.add(provider, model, usage)
                requests += 1
            case ChildFinished(models=models):
                agents.take(models)
    for live in session.children.spends:
        agents.take(live.models)
    if not requests and not agents.models:
        context.tell("No request has been answered yet: 0 tokens.")
        return
    both = Spend(dict(spend.models))
    both.take(agents.models)
    money = session.children.money(both)
    price = (
        'the price is not known: set it in [prices."MODEL"]' if money is None else dollars(money)
    )
    rows = [("Cost", price), ("Requests", f"{requests:,}")]
    if one := session.choice.price:
        rows.append(("Price", price_said(one)))
    rows += [(one_line(name), _used(usage)) for name, usage in spend.models.items()]
    rows += [(f"Agents: {one_line(name)}", _used(usage)) for name, usage in agents.models.items()]
    context.tell(_table(rows))


def _used(usage: Usage) -> str:
    cached = f", {usage.cached:,} of them cached" if usage.cached else ""
    return f"{usage.input:,} tokens in{cached}; {usage.output:,} out"


async def working_tree(folder: Path) -> str:
    """The diff to the last commit in the repository of `folder`, untracked files included.

    Raises `CommandError` outside a repository.
    """
    from pinfold.tools.git import no_filters, safe_env
    from pinfold.tools.process import RunningCommand

    if paths.repository_root(folder) is None:
        raise CommandError("/diff needs a Git repository, and this folder is in none.")
    found = b""
    env = safe_env(await no_filters(folder))
    async with RunningCommand(["sh", "-c", _SCRIPT], folder, env=env) as command:
        async for piece in command.output():
            found += piece
            if len(found) > MAX_DIFF:
                break
        else:
            if await command.exit_code():
                raise CommandError(f"Git failed: {one_line(found.decode(errors='replace'))}")
    return _named(found[:MAX_DIFF].decode(errors="replace"))


def _named(text: str) -> str:
    """The diff with file headers reduced to names, `(deleted)` and `(binary)`."""
    out: list[str] = []
    for part in re.split(r"^diff --git ", text, flags=re.MULTILINE)[1:]:
        head, hunk, body = part.partition("\n@@ ")
        lines = head.split("\n")
        found = dict(line.split(" ", 1) for line in lines[1:] if " " in line)
        old, new = found.get("---", "a/").strip(), found.get("+++", "").strip()
        name = new or lines[0].rpartition(" b/")[2]
        if new == os.devnull:
            name = f"{old.removeprefix('a/')} (deleted)"
        elif "Binary" in found:
            name = f"{name} (binary)"
        out += [f"--- {old}", f"+++ b/{name.removeprefix('b/')}"]
        if hunk:
            out.append(f"@@ {body}".strip("\n"))
    return "\n".join(out)


def _table(rows: Sequence[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


ACTIONS = (
    Action(
        "status",
        "Show model, folder, approvals, sandbox, window and session id",
        "session",
        ("status",),
        run=status,
    ),
    Action("cost", "Show the tokens and the money spent", "session", ("cost",), run=cost),
    Action(
        "diff", "Show what changed in the working tree", "session", ("diff",), run=opens("diff")
    ),
)
