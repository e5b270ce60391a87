"""Keeps what is before the window byte for byte the same while the prompt cache has it.

It is written again at a compaction, where nothing went out with it yet, and where the set of tools
has changed. Until then, what changed in it is appended.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pinfold.agent.context import instructions
from pinfold.agent.context.remembering import Remembering
from pinfold.agent.context.skills import Skills
from pinfold.agent.context.telling import Telling, tell
from pinfold.agent.record import Record
from pinfold.agent.state import digest
from pinfold.agent.updates import Appended, Update
from pinfold.numbers import dollars, tokens
from pinfold.ports.clock import Clock
from pinfold.ports.provider import ModelInfo
from pinfold.rollout.context import AgentsFile, Context, ToolSchema
from pinfold.rollout.events import ArtifactObserved, ContextSet
from pinfold.tokens.prices import Price, cold_cost, price_of

ENVIRONMENT = "environment"
SKILLS = "skills"
RULES, NESTED = "AGENTS.md ", "nested AGENTS.md "
"""Subjects, before the file's path."""


class Front:
    """Tells the model what changed, and the rules of folders whose files it reads or edits."""

    def __init__(
        self,
        record: Record,
        cwd: Path,
        user_folder: Path,
        tools: Callable[[], Sequence[ToolSchema]],
        model: Callable[[], ModelInfo],
        clock: Clock,
        remembering: Remembering,
        skills: Skills,
        prices: Mapping[str, Price],
        with_servers: Callable[[Context, bool], Context] | None = None,
    ) -> None:
        """`with_servers` adds the servers' part to a context; True keeps that part as it was sent.
        Slow: for a thread."""
        self._record = record
        self._cwd = cwd
        self._user_folder = user_folder
        self._tools = tools
        self._model = model
        self._clock = clock
        self._remembering = remembering
        self._skills = skills
        self._prices = prices
        self._with_servers = with_servers
        self._entered: set[Path] = set()
        """Folders where files were read or edited since it was last told of their rules."""
        self._unread = frozenset[str]()
        """The warnings about rules that can't be read."""
        record.subscribe(self._hear)

    async def fresh(self) -> ContextSet:
        """Instructions, rules, tools and environment, read now."""
        model = self._model()
        skills = await self._skills.front(model)  # the tools depend on it
        made = await asyncio.to_thread(
            instructions.build,
            self._cwd,
            self._user_folder,
            model,
            self._tools(),
            self._clock.now(),
            await self._remembering.front(self._cwd, model),
            skills,
        )
        if self._with_servers is None or not model.tools:
            return made
        # Servers may have many tools, with long texts.
        context = await asyncio.to_thread(self._with_servers, made.context, self._is_sent)
        return await asyncio.to_thread(instructions.hashed, context)

    @property
    def _is_sent(self) -> bool:
        """Whether the provider may have the front in its cache."""
        model = self._model()
        return self._record.state.sent_to == f"{model.provider}/{model.name}"

    async def move_in(self) -> None:
        """Replace the set-up of another tool with ours. Raises `JournalError`."""
        record = self._record
        if record.journal.started.adopted and not record.journal.read_only:
            context = await self.fresh()
            if context.hash != record.state.context.hash:
                await record.append(context)

    async def foresee(self) -> None:
        """Have the gauge count it before the first request."""
        if not self._record.state.context.hash:
            self._record.gauge.foresee((await self.fresh()).context)

    async def renew(self) -> None:
        """Journal a new front where it may be written again. Raises `JournalError`."""
        context = await self.settle()
        if context.hash != self._record.state.context.hash:
            await self._record.append(context)

    async def settle(self) -> ContextSet:
        """The context of the next request: the old one, with changes appended as items, or a new
        one. Raises `JournalError`."""
        record, sent, fresh = self._record, self._is_sent, await self.fresh()
        await self._warn_unread()
        now = record.state.context
        tools = {tool.name: tool for tool in now.context.tools}
        changed = tools != {tool.name: tool for tool in fresh.context.tools}
        if sent and changed:
            record.warn(self._cache_warning(now.context, fresh.context))
        if changed or not sent:
            now = fresh
        await tell(record, *_tellings(now.context, fresh.context, record.state.known))
        self._entered |= {
            Path(about.removeprefix(NESTED)).parent
            for about in record.state.known
            if about.startswith(NESTED)
        }
        return now

    async def tell(self) -> None:
        """Before a request: tell the rules of entered folders, and the skills whose text was
        compacted. Raises `JournalError`."""
        if self._model().tools:
            await self._skills.tell()
            await self._tell_entered()

    async def _tell_entered(self) -> None:
        entered, self._entered = self._entered, set()
        if not entered:
            return
        known = self._record.state.known
        for file in await asyncio.to_thread(instructions.nested, self._cwd, entered):
            about = NESTED + file.path
            if file.text or about in known:
                text = _rules_text(file, known=about in known)
                await tell(self._record, Telling(about, text, file.text))

    async def _warn_unread(self) -> None:
        """Warn once about each file of rules that can't be read."""
        if not self._model().tools:
            return
        unread = await asyncio.to_thread(instructions.unread, self._cwd, self._user_folder)
        for problem in unread:
            if problem not in self._unread:
                self._record.warn(problem)
        self._unread = frozenset(unread)

    def _hear(self, update: Update) -> None:
        if not isinstance(update, Appended):
            return
        match update.event.data:
            case ArtifactObserved(kind="file", uri=uri, item=int(n)):
                if self._record.window.archive.touches(n).get(uri) in ("read", "edit"):
                    self._entered.add((self._cwd / uri).parent)

    def _cache_warning(self, now: Context, fresh: Context) -> str:
        before, after = ({tool.name for tool in c.tools} for c in (now, fresh))
        names = [f"+{name}" for name in sorted(after - before)]
        names += [f"-{name}" for name in sorted(before - after)]
        used = self._record.gauge.correct(self._record.gauge.estimate)
        model = self._model()
        price = price_of(model.provider, model.name, self._prices)
        costs = f", about {dollars(cold_cost(used, price))}" if price else ""
        return (
            f"The set of tools changed ({', '.join(names) or 'their descriptions'}): the prompt "
            f"cache is lost, and the next request reads all {tokens(used)} tokens again{costs}."
        )


def _tellings(now: Context, fresh: Context, told: Mapping[str, str]) -> list[Telling]:
    """What the model does not know of `fresh`, if the front is `now`."""
    before = {file.path: file for file in now.agents}
    after = {file.path: file for file in fresh.agents}
    earlier = (about.removeprefix(RULES) for about in told if about.startswith(RULES))
    found = []
    for path in dict.fromkeys([*after, *before, *earlier]):
        file = after.get(path, AgentsFile(path, ""))
        about = RULES + path
        known = before.get(path, AgentsFile(path, "")).text
        if told.get(about, digest(known)) != digest(file.text):
            said = _rules_text(file, known=bool(known) or about in told)
            found.append(Telling(about, said, file.text))
    if told.get(ENVIRONMENT, digest(now.environment)) != digest(fresh.environment):
        text = f"The environment has changed. It is now:\n{fresh.environment}"
        found.append(Telling(ENVIRONMENT, text, fresh.environment))
    known, index = (context.skills.told if context.skills else "" for context in (now, fresh))
    if told.get(SKILLS, digest(known)) != digest(index):
        text = f"The skills have changed. They are now:\n{index}" if index else "No skill is left."
        found.append(Telling(SKILLS, text, index))
    return found


def _rules_text(file: AgentsFile, *, known: bool) -> str:
    """What the model reads of a file of rules; `known` where it has read an earlier text."""
    if not file.text:
        return f"{file.path} is gone: its instructions, given above, no longer apply."
    if known:
        return (
            f"{file.path} has changed. The text below replaces all earlier text from that file:"
            f"\n\n{file.text}"
        )
    return f"AGENTS.md, the project's instructions to agents, from {file.path}:\n\n{file.text}"
