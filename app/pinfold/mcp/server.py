"""One server of a session: starts it, asks the user about it, ends it."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pinfold.atomic_files import failure
from pinfold.mcp.answers import Answers, ServerConsent, named_files, start_hash
from pinfold.mcp.connection import ServerConnection, SignInNeeded
from pinfold.mcp.definition import Definition, DefinitionError, expanded
from pinfold.mcp.grants import GrantFile
from pinfold.mcp.log import keep_loggers_quiet
from pinfold.mcp.offers import Offer, digest
from pinfold.mcp.place import ServerPlace, signs_in, transport_of
from pinfold.mcp.questions import about_start, start_question, texts_question
from pinfold.ports.servers import ServerState, TrustQuestion
from pinfold.ports.tool import ToolError
from pinfold.sanitize import one_line

MOST_REFUSED = 200
"""Tools that a provider refused, that are remembered."""
REFUSED = "You did not allow it. Restart it in /mcp to be asked again."
NOBODY = (
    "It needs your answer, and nobody can be asked here: run `pinfold mcp test {name}` in this "
    "folder."
)


class McpServer:
    """Starts it, asks about it, and ends it."""

    def __init__(
        self, definition: Definition, place: ServerPlace, changed: Callable[[str], None]
    ) -> None:
        self.definition = definition
        self._place = place
        self._changed = changed
        self._base = place.workspace
        if definition.source == "project" and place.project is not None:
            self._base = place.project
        self._answers = Answers(place.state, self._base)
        self.state = ServerState(definition.name, "stopped", source=definition.source)
        self._said: asyncio.Future[bool] | None = None
        """The user's answer, while a question is open."""
        self._connection: ServerConnection | None = None
        self._running: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        """Set unless it is starting or stopping."""
        self._settled.set()
        self._again = False
        """Whether to ask again what the user refused before."""
        self._start = ""
        self._about = ""
        self._offer = Offer()
        self._considering = asyncio.Lock()
        """One question at a time."""

    def known(self) -> ServerState | None:
        """What it offered when the user last accepted that. Blocking."""
        answer = self._answers.read(self.definition)
        if not answer.texts or answer.start != self._hash():
            return None
        return self._as_state("stopped", answer.offer, answer.unsendable)

    def remember_refused(self, tools: Sequence[str]) -> None:
        """What a provider refused, for later sessions. Blocking."""
        answer = self._answers.read(self.definition)
        kept = tuple(dict.fromkeys((*answer.unsendable, *tools)))[-MOST_REFUSED:]
        with suppress(OSError):
            self._answers.write(self.definition, replace(answer, unsendable=kept))

    async def start(self, *, again: bool = False) -> None:
        """Start it where it does not run; returns once it is under way. `again`: the user is asked
        also what they said no to."""
        if self._running is not None and self.state.state in ("failed", "stopped"):
            await asyncio.wait([self._running])  # it is about to end
        if self._running is None or self._running.done():
            self._settled.clear()
            self._again = again
            self._set("starting")
            self._running = asyncio.create_task(self._run())

    async def stop(self, why: str = "") -> None:
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            await asyncio.wait([running])
        if self.state.state != "stopped" or why:
            self._set("stopped", why)

    def answer(self, *, yes: bool) -> None:
        """The user's answer to the question that waits, if one does."""
        if self._said is not None and not self._said.done():
            self._settled.clear()
            self._set("starting" if yes else "stopped", "" if yes else REFUSED)
            self._said.set_result(yes)

    async def settled(self) -> None:
        """Wait until it is ready, waits for the user, or won't become either."""
        await self._settled.wait()

    async def ready(self) -> ServerConnection:
        """The connection, once it runs and the user has accepted it. Raises `ToolError`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * self.definition.startup_timeout):
                await self._settled.wait()
        state = self.state
        if state.state == "ready" and self._connection is not None:
            return self._connection
        if state.state == "waiting":
            raise ToolError(f'The server "{state.name}" waits for the user\'s answer.')
        why = f": {state.why}" if state.why else ""
        raise ToolError(f'The server "{state.name}" is not running{why}'.rstrip(".") + ".")

    async def _run(self) -> None:
        try:
            await self._live()
        except (ToolError, DefinitionError) as error:
            sign_in = isinstance(error, SignInNeeded)
            self._set("failed", _sentence(str(error)), sign_in=sign_in)
        except OSError as error:
            self._set("failed", failure(self._place.state, error))
        except Exception as error:  # a server must not stay "starting" for a mistake of ours
            self._set("failed", f"pinfold failed: {type(error).__name__}: {one_line(str(error))}")
        finally:
            self._said = None
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.close()
            self._settled.set()

    async def _live(self) -> None:
        definition, place = self.definition, self._place
        answer = await asyncio.to_thread(self._answers.read, definition)
        await asyncio.to_thread(self._describe)
        if definition.source == "project" and answer.start != self._start:
            before = answer.about if answer.start else ""
            question = start_question(definition, self._about, before)
            if not await self._ask(question, self._start):
                return
            answer = replace(answer, start=self._start, about=self._about, refused="")
            await asyncio.to_thread(self._answers.write, definition, answer)
        if not place.attended and (not answer.texts or answer.start != self._start):
            self._set("stopped", NOBODY.format(name=definition.name))
            return
        given = expanded(definition, place.env, place.secret)
        await asyncio.to_thread(_prepare, place.state)
        if signs_in(given):
            await asyncio.to_thread(import_module, "pinfold.mcp.oauth")
        self._connection = connection = ServerConnection(
            definition, lambda: transport_of(given, place, self._base), self._stale
        )
        self._set("starting")
        await connection.open()
        offer = await connection.offer()
        ending = asyncio.create_task(connection.ended())
        try:
            considering = asyncio.create_task(self._consider(offer))
            try:
                await asyncio.wait([considering, ending], return_when=asyncio.FIRST_COMPLETED)
                if considering.done() and not await considering:
                    return
            finally:
                considering.cancel()
            raise ToolError(await ending)
        finally:
            ending.cancel()

    def _describe(self) -> None:
        """Blocking."""
        definition, workspace = self.definition, self._base
        self._start = self._hash()
        files = named_files(definition, workspace, self._place.env)
        self._about = about_start(definition, workspace, files, self._confined())

    def _hash(self) -> str:
        """Blocking."""
        confined = self.definition.sandbox and self._place.sandbox is not None
        return start_hash(self.definition, self._base, self._place.env, confined=confined)

    def _confined(self) -> str:
        if not self.definition.sandbox:
            return "outside the sandbox, with all your rights"
        if self._place.sandbox is None:
            return f"with all your rights, because there is no sandbox: {self._place.no_sandbox}"
        return f"in the sandbox, with{'' if self.definition.network else 'out'} the network"

    async def _stale(self) -> None:
        """Called when its lists have changed."""
        if self._connection is None:
            return
        try:
            offer = await self._connection.offer()
        except ToolError:
            return  # what it offered stays, until it answers again
        if offer.hash != self._offer.hash and not await self._consider(offer):
            running, self._running = self._running, None
            if running is not None:
                running.cancel()

    async def _consider(self, offer: Offer) -> bool:
        """Offer these texts to the model if the user accepts them or has before."""
        async with self._considering:
            self._offer = offer
            answer = await asyncio.to_thread(self._answers.read, self.definition)
            if answer.start != self._start or answer.texts != offer.hash:
                before = answer.offer if answer.texts else None
                question = await asyncio.to_thread(texts_question, self.definition, offer, before)
                if before is not None and not question.diff and answer.about != self._about:
                    question = start_question(self.definition, self._about, answer.about)
                    question = replace(question, about="texts")
                if not await self._ask(question, digest([self._start, offer.hash])):
                    return False
                answer = ServerConsent(
                    self._start, self._about, offer.hash, offer, answer.unsendable
                )
                await asyncio.to_thread(self._answers.write, self.definition, answer)
            self._settled.set()
            self._become(self._as_state("ready", offer, answer.unsendable))
            return True

    async def _ask(self, question: TrustQuestion, key: str) -> bool:
        """Whether the user says yes. No is kept: what has that `key` is not asked again."""
        if not self._place.attended:
            self._set("stopped", NOBODY.format(name=self.definition.name))
            return False
        before = await asyncio.to_thread(self._answers.read, self.definition)
        if before.refused == key and not self._again:
            self._set("stopped", REFUSED)
            return False
        self._said = asyncio.get_running_loop().create_future()
        self._settled.set()
        self._set("waiting", question.title, question=question)
        try:
            yes = await self._said
        finally:
            self._said = None
        if not yes:
            refused = replace(before, refused=key)
            await asyncio.to_thread(self._answers.write, self.definition, refused)
        return yes

    def _as_state(self, state: Any, offer: Offer, unsendable: tuple[str, ...]) -> ServerState:
        definition = self.definition
        return ServerState(
            definition.name,
            state,
            tools=tuple(tool for tool in offer.tools if definition.uses(tool.name)),
            instructions=offer.instructions,
            prompts=offer.prompts,
            resources=offer.resources,
            hash=offer.hash,
            unsendable=unsendable,
            source=definition.source,
            approved=True,
        )

    def _set(self, state: Any, why: str = "", **more: Any) -> None:
        source = self.definition.source
        self._become(ServerState(self.definition.name, state, why, source=source, **more))

    def _become(self, state: ServerState) -> None:
        self.state = state
        self._changed(state.name)

    async def sign_in(self, show: Callable[[str], None]) -> str:
        """Have the user sign in, and start it again; where the tokens are kept. `show` takes the
        address for the browser. Raises `ToolError`."""
        definition, place = self.definition, self._place
        try:
            given = expanded(definition, place.env, place.secret)
        except DefinitionError as error:
            raise ToolError(str(error)) from error
        if not signs_in(given):
            why = "its configuration has a token" if given.url else "it is a command"
            raise ToolError(f'Nobody signs in to the server "{definition.name}": {why}.')
        answer = await asyncio.to_thread(self._answers.read, definition)
        start = await asyncio.to_thread(self._hash)
        if definition.source == "project" and answer.start != start:
            raise ToolError(f'First allow the server "{definition.name}" to start.')
        await asyncio.to_thread(_prepare, place.state)
        login = (await asyncio.to_thread(import_module, "pinfold.mcp.oauth")).login
        file = GrantFile(place.state, given, self._base)
        where: str = await login(given.url, given.headers, file, show, place.http)
        await self.stop()
        await self.start()
        return where

    def apart(self) -> AbstractAsyncContextManager[None]:
        """Around what others change in guarded places: see `RunningCommand.apart`."""
        return self._connection.apart() if self._connection is not None else nullcontext()


def _prepare(state: Path) -> None:
    """Import the SDK, which takes a while. Blocking. Raises `OSError`."""
    from mcp.client import Client, streamable_http  # noqa: F401

    keep_loggers_quiet(state)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
