"""`pinfold memories`: what earlier sessions learned, without the screen."""

import argparse
import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from pinfold import paths
from pinfold.closest import shown, suggestion
from pinfold.commands.context_text import age
from pinfold.commands.failures import told
from pinfold.commands.memories import source_page
from pinfold.host.app_context import AppContext, WrongUse, app_context
from pinfold.host.memories import Memories
from pinfold.memories.keeper import CitedItem, Keeper, MemoryFinding
from pinfold.memories.listing import ListedMemory
from pinfold.memories.places import MemoriesRefused
from pinfold.memories.records import StateError
from pinfold.memories.team import asking
from pinfold.output import print_json, print_rows
from pinfold.sanitize import one_line
from pinfold.tokens.counter import Counter
from pinfold.wiring.stdin import confirmed

_ENCODING = "o200k_base"
ACTIONS = ("list", "show", "run", "forget", "clear", "doctor")
_SHORTEST = 4
"""Fewest characters that name a memory."""


def command(arguments: argparse.Namespace) -> int:
    """Raises `MemoriesRefused`, `StateError`, `WrongUse`, `OSError`."""
    ctx = app_context(arguments)
    memories = Memories(ctx)
    try:
        return _carry_out(ctx, memories, arguments)
    except Exception as error:
        if arguments.json:
            print_json({"error": str(error) if isinstance(error, WrongUse) else told(error)})
        raise
    finally:
        memories.keeper.close()


def _carry_out(ctx: AppContext, memories: Memories, arguments: argparse.Namespace) -> int:
    keeper = memories.keeper
    action, *names = arguments.words or ["list"]
    as_json: bool = arguments.json
    match action:
        case "list":
            return _list(_all(keeper), on=memories.enabled, as_json=as_json)
        case "show":
            return _show(keeper, names, as_json=as_json)
        case "run":
            return _run(ctx, memories, names, arguments)
        case "forget":
            return _forget(keeper, names, yes=arguments.yes, as_json=as_json)
        case "clear":
            if not confirmed("Remove every memory, and every copy of them?", yes=arguments.yes):
                return _declined(as_json=as_json)
            return _say(keeper.clear(), as_json=as_json)
        case "doctor":
            return _doctor(ctx, memories, as_json=as_json)
    raise WrongUse(f"memories has no action “{shown(action)}”{suggestion(action, ACTIONS)}")


def _run(
    ctx: AppContext, memories: Memories, words: Sequence[str], arguments: argparse.Namespace
) -> int:
    """Make memories of the sessions that are due, or of those named."""
    if not words and arguments.jobs is None:
        return _say(asyncio.run(memories.run()), as_json=arguments.json)
    from pinfold.wiring.many_memories import made

    outcome, code = made(ctx, memories, words, arguments)
    _say(outcome, as_json=arguments.json)
    return code


def _all(keeper: Keeper) -> list[ListedMemory]:
    return keeper.memories(Counter(_ENCODING, paths.cache_folder()).count)


def _say(outcome: str, *, as_json: bool, key: str = "done") -> int:
    if as_json:
        print_json({key: outcome})
    else:
        print(one_line(outcome))
    return 0


def _declined(*, as_json: bool) -> int:
    _say("Nothing removed.", as_json=as_json, key="declined")
    return 1


def _list(found: Sequence[ListedMemory], *, on: bool, as_json: bool) -> int:
    if as_json:
        for memory in found:
            print_json(memory)
        return 0
    if not found:
        print("There are no memories yet." if on else "Memories are off; there are none.")
        return 0
    now, numbers = datetime.now(UTC), ("age", "used", "tokens")
    shared = any(memory.team for memory in found)
    rows = (
        (
            memory.key[:8],
            memory.state,
            age(datetime.fromtimestamp(memory.at, UTC), now) if memory.at else "",
            str(memory.uses),
            f"{memory.tokens:,}",
            *([whose(memory)] if shared else []),
            f"{memory.kind}: {one_line(memory.text)}",
        )
        for memory in found
    )
    headings = ("key", "state", *numbers, *(["whose"] if shared else []), "memory")
    print_rows(headings, rows, right=numbers)
    return 0


def _show(keeper: Keeper, names: Sequence[str], *, as_json: bool) -> int:
    if not names:
        raise WrongUse("show takes the key of a memory, as shown by list")
    for memory in _chosen(keeper, names):
        sources = keeper.sources(memory.cites)
        if as_json:
            print_json({"memory": memory, "sources": sources})
            continue
        print(f"{memory.kind}: {one_line(memory.text)}")
        where = f"{memory.file}:{memory.number}" if memory.number else memory.file
        used = f"used {memory.uses}×"
        since = f"{datetime.fromtimestamp(memory.at, UTC):%Y-%m-%d}" if memory.at else ""
        facts = (memory.state, memory.why, whose(memory), since, where, used, memory.folder)
        print(" · ".join(one_line(fact) for fact in facts if fact))
        print(f"\n{_page(sources)}\n")
    return 0


def _page(sources: Sequence[CitedItem]) -> str:
    return source_page(sources)[1] if sources else "You wrote it: it does not come from a session."


def _chosen(keeper: Keeper, names: Sequence[str]) -> list[ListedMemory]:
    """The memories whose keys begin with `names`. Raises `MemoriesRefused`."""
    every = _all(keeper)
    found: dict[str, ListedMemory] = {}
    for name in names:
        fitting = [
            memory for memory in every if len(name) >= _SHORTEST and memory.key.startswith(name)
        ]
        if len(fitting) != 1:
            whose = "More than one" if fitting else "No"
            raise MemoriesRefused(f"{whose} memory's key begins with “{one_line(name)}”.")
        found[fitting[0].key] = fitting[0]
    return list(found.values())


def _forget(keeper: Keeper, names: Sequence[str], *, yes: bool, as_json: bool) -> int:
    if not names:
        raise WrongUse("forget takes keys of memories, as shown by list, or ids of sessions")
    every = _all(keeper)
    ours = [memory for memory in every if not asking.is_others(keeper.teams, memory)]
    known = {row.session_id for row in keeper.reader.state.outputs()}
    known |= {session for memory in ours for session in memory.sessions}
    sessions: dict[str, None] = {}
    lines: dict[str, ListedMemory] = {}
    for name in names:
        ids = [session_id for session_id in known if len(name) >= 8 and session_id.startswith(name)]
        if len(ids) == 1:
            sessions[ids[0]] = None
            continue
        for memory in _chosen(keeper, [name]):
            if asking.is_others(keeper.teams, memory):
                lines[memory.key] = memory
            else:
                sessions |= dict.fromkeys(memory.sessions)
    gone = [memory for memory in ours if {*memory.sessions} & {*sessions}]
    shared = keeper.teams.shares(list(sessions)) if keeper.teams else []
    if not as_json:
        for memory in [*gone, *lines.values()]:
            print(f"  {memory.kind}: {one_line(memory.text)}")
        for line in lines.values():
            print(asking.forgetting(keeper.teams, line, 0))
        if shared:
            print(asking.shared_too(shared))
    many = len(gone) + len(lines)
    never = ", and never read their sessions again" if sessions or not lines else ""
    if not confirmed(f"Forget these {many:,}{never}?", yes=yes):
        return _declined(as_json=as_json)
    outcomes = [keeper.forget_memory(line) for line in lines.values()]
    outcomes += [keeper.forget(list(sessions))] if sessions else []
    return _say(" ".join(outcomes), as_json=as_json)


def _doctor(ctx: AppContext, memories: Memories, *, as_json: bool) -> int:
    keeper = memories.keeper
    count = Counter(_ENCODING, paths.cache_folder()).count
    every = keeper.memories(count)
    state = keeper.reader.state
    settings = ctx.settings.memories
    teams = keeper.teams.every if keeper.teams else ()
    facts = {
        "memories": "on" if settings.enabled else "off",
        "made": settings.generate,
        "given to new sessions": "yes" if settings.use else "no",
        "folder": paths.shown(keeper.places.files),
        "database": paths.shown(state.path),
        **{f"team {team.name}": f"shares {paths.shown(team.folder)}" for team in teams},
        "sessions read": len(state.outputs()),
        "sessions forgotten": len(state.forgotten()),
        "lines": len(every),
    }
    findings = keeper.findings(count)
    refused = ""
    if keeper.teams:
        try:
            facts |= keeper.teams.facts()
        except StateError as error:
            refused = str(error)
            findings.append(MemoryFinding(refused, "nothing is shared until then"))
    if as_json:
        print_json({"facts": facts, "findings": findings})
        return int(bool(refused))
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {one_line(str(value))}")
    for finding in findings:
        remedy = f" ({finding.remedy})" if finding.remedy else ""
        print(f"! {one_line(finding.what)}{remedy}")
    if not findings:
        print("Nothing is wrong.")
    return int(bool(refused))


def whose(memory: ListedMemory) -> str:
    """Who shared it with which team; empty for a private one."""
    return f"{one_line(memory.owner) or 'you'} · {memory.team}" if memory.team else ""
