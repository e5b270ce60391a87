"""`/name`: inserts a skill's or command's text before the user's words."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pinfold.agent.calls.approvals import RefusedCall
from pinfold.agent.calls.calls import Calls
from pinfold.agent.calls.results import observed
from pinfold.agent.context.skills import Skills
from pinfold.agent.hooks import Stopped
from pinfold.agent.record import Record
from pinfold.agent.requests.model_choice import ModelChoice
from pinfold.agent.updates import Told
from pinfold.numbers import dollars
from pinfold.ports.approver import Approver, Question
from pinfold.ports.errors import ProviderError
from pinfold.ports.tool import Observation, Review, ToolError
from pinfold.rollout.items import Item
from pinfold.rollout.provenance import Prompt
from pinfold.sanitize import one_line
from pinfold.skills.expansion import Plain, Read, Run, parts
from pinfold.skills.library import Invocation
from pinfold.tokens.prices import price_of

NAME = "command"
"""The name of the items that hold such a text."""
NEITHER = "Neither: don't send it"
MOST_FILLED = 50
"""Commands and files of one text; those after them stand as text."""


@dataclass(eq=False)
class Expanding:
    _record: Record
    _skills: Skills
    _calls: Calls
    _ask: Approver
    _choice: ModelChoice
    _switch: Callable[[str], Awaitable[None]]
    """Continues with another model. Raises `ProviderError`, `JournalError`."""

    async def called(self, prompt: Prompt) -> Invocation | None:
        """The skill or command that a prompt calls, from its file now; None for plain text.

        Raises `Stopped` where that can't be used.
        """
        library = self._skills.library
        if not prompt.expands or library is None:
            return None
        await asyncio.to_thread(library.refresh)
        found = library.parse(prompt.text, ())
        if found is None:
            raise Stopped(f"There is no {prompt.text.split()[0]}: the prompt was not sent.")
        if found.extension.state != "ready":
            raise Stopped(
                f"{found.extension.shown} is the project's, and you have not accepted it as it is: "
                f"/{found.extension.kind}s shows what it says."
            )
        return found

    async def choose_model(self, called: Invocation) -> None:
        """Continue with the model that a command asks for; a project's only where the user says
        so. Raises `Stopped`, `JournalError`."""
        wanted = called.extension.model
        if wanted in ("", self._choice.model.name):
            return
        if called.extension.source == "project" and not await self._user_agrees(wanted, called):
            return
        before = self._choice.model.name
        try:
            await self._switch(wanted)
        except ProviderError as error:
            self._record.warn(f"The model is still {before}: {error}")
        else:
            self._record.tell(
                Told(f"{called.extension.shown} asks for {wanted}. /model {before} goes back.")
            )

    async def _user_agrees(self, wanted: str, called: Invocation) -> bool:
        """Whether the user lets a project choose the model. Raises `Stopped`."""
        choice, provider = self._choice, self._choice.model.provider
        use, stay = f"Use {_priced(wanted, provider, choice)}", "Stay with "
        stay += _priced(choice.model.name, provider, choice)
        question = Question(
            call_id="",
            tool="",
            arguments="",
            review=Review("read", f"/{called.extension.name} asks for another model. Use it?"),
            reason=f"{called.extension.shown} is this project's",
            choices=(use, stay),
            own=NEITHER,
        )
        decision = await self._ask(question)
        if decision.verdict == "yes" and decision.note not in (use, stay):
            raise Stopped(f"/{called.extension.name} is not sent.")
        return decision.verdict == "yes" and decision.note == use

    async def put(self, called: Invocation) -> None:
        """Journal the text, with what it asks to read and to run. Raises `JournalError`."""
        one = called.extension
        if one.kind == "skill":
            from pinfold.skills.tool import SKILL, page

            head, text = await asyncio.to_thread(page, one)
            head = f"The user asks for the skill {one.name}. {head}"
            detail, seen = {SKILL: one.name}, list[Observation]()
        else:
            head = f"The user ran /{one.name}. The text of that command comes from {one.shown}:\n\n"
            text, seen = await self._filled_text(called)
            detail = {}
        stated = {
            "act": "host",
            "quiet": True,
            "title": f"/{one.name} from {one.shown}",
            "host": [[0, len(head)]],
            **detail,
        }
        item = Item(n=0, kind="context", name=NAME, content=head + text, detail=stated)
        await self._record.put(item, lambda n: (observed(observation, n) for observation in seen))

    async def _filled_text(self, called: Invocation) -> tuple[str, list[Observation]]:
        """The text of a command, with outputs and files, and what was seen for it."""
        texts: list[str] = []
        seen: list[Observation] = []
        left = MOST_FILLED
        for part in parts(called.extension.body, called.arguments):
            left -= not isinstance(part, Plain)
            match part:
                case Plain(text):
                    texts.append(text)
                case Run(_, text) | Read(_, text) if left < 0:
                    texts.append(text)
                case Run(command, text):
                    self._record.tell(Told(f"/{called.extension.name}: $ {one_line(command)}"))
                    texts.append(await self._tool_output("shell", {"command": command}, text, seen))
                case Read(path, text):
                    texts.append(await self._tool_output("read_file", {"path": path}, text, seen))
        if left < 0:
            name = called.extension.name
            self._record.warn(
                f"/{name} has more than {MOST_FILLED} commands and files: the others stay as text."
            )
        return "".join(texts), seen

    async def _tool_output(
        self, tool: str, arguments: dict[str, str], text: str, seen: list[Observation]
    ) -> str:
        """A tool's output; `text` if it did not run."""
        call_id = f"user-{self._record.state.last_n + 1}-{len(seen)}"
        call = Item(
            n=0, kind="tool_call", name=tool, call_id=call_id, content=json.dumps(arguments)
        )
        try:
            outcome = await self._calls.aside(call)
        except ToolError as error:
            if tool == "shell":
                return f"{text} [not run: {error}]"
            return text  # an @ that names no file
        except RefusedCall as error:
            return f"{text} [{'not run' if tool == 'shell' else 'not read'}: {error}]"
        seen += outcome.observations
        return f"{text}\n{outcome.output}\n"


def _priced(name: str, provider: str, choice: ModelChoice) -> str:
    price = price_of(provider, name, choice.prices)
    if price is None:
        return f"{one_line(name)} (price unknown)"
    return (
        f"{one_line(name)} ({dollars(price.input)} in, {dollars(price.output)} out per 1M tokens)"
    )
