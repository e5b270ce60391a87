"""Prompts on their way to a session: those that wait for the first one, and those that are too
large to be sent without a question. None is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pinfold import paths
from pinfold.rollout.provenance import Prompt, slices

if TYPE_CHECKING:
    from collections.abc import Callable

    from pinfold.agent.session import Session
    from pinfold.agent.turn.large_prompts import Smaller
    from pinfold.commands.context import Level
    from pinfold.tui.lines import QueueLines
    from pinfold.tui.panels.large import Way
    from pinfold.tui.prompt.editor import Editor


class Outbox:
    def __init__(
        self,
        editor: Editor,
        queue: QueueLines,
        tell: Callable[[str, Level], None],
        edit: Callable[[], object],
    ) -> None:
        """`edit` opens what is in the prompt in the user's own editor."""
        self._editor = editor
        self._queue = queue
        self._tell = tell
        self._edit = edit
        self._early: list[Prompt] = []
        """They wait for the first session."""
        self._asked: list[tuple[Session, Prompt, bool]] = []
        """A large one, and those that came behind it."""

    def send(self, session: Session | None, prompt: Prompt, *, steers: bool = True) -> None:
        """Send it; while a turn runs it joins that where it steers, else waits for its end."""
        if session is None:
            self._early.append(prompt)
            self._show_early()
            return
        large = not prompt.text.startswith("!") and session.large.may_be(prompt.text)
        if not large and not self._asked:
            self._hand_over(session, prompt, steers)
            return
        self._asked.append((session, prompt, steers))
        if len(self._asked) == 1:
            self._editor.run_worker(self._ask_for_each(), group="outbox")

    def open(self, session: Session) -> None:
        """Send what waited for the first session."""
        early, self._early = self._early, []
        for prompt in early:
            self.send(session, prompt)

    def fail(self) -> None:
        """There will be no session: what waited goes back into the prompt."""
        if self._early:
            text = "\n\n".join(prompt.text for prompt in self._early)
            pasted = [
                paste for prompt in self._early for paste in slices(prompt.text, prompt.pasted)
            ]
            self._early.clear()
            self._show_early()
            self._editor.put_before(text, pasted)

    def unqueue_newest(self, session: Session | None) -> str:
        """Remove the newest prompt that waits and return its text; empty if none waits."""
        if self._early:
            text = self._early.pop().text
            self._show_early()
            return text
        if session is not None and session.queue:
            return session.unqueue(session.queue[-1][0])
        return ""

    def _show_early(self) -> None:
        self._queue.show([(prompt.text, False) for prompt in self._early])
        self._editor.has_queued = bool(self._early)

    def _hand_over(self, session: Session, prompt: Prompt, steers: bool) -> None:
        try:
            if prompt.text.startswith("!"):
                session.run_command(prompt.text[1:].strip())
            else:
                session.send(prompt.text, prompt.pasted, steers=steers, expands=prompt.expands)
        except Exception:
            self._return_to_editor(prompt)
            raise

    def _return_to_editor(self, prompt: Prompt) -> None:
        self._editor.put_before(prompt.text, slices(prompt.text, prompt.pasted))

    # Large ones

    def drop_questions(self) -> None:
        """As the user leaves, return the prompts that were still asked about to the editor."""
        asked, self._asked = self._asked, []
        for _, prompt, _ in reversed(asked):
            self._return_to_editor(prompt)

    async def _ask_for_each(self) -> None:
        while self._asked:
            entry = self._asked[0]
            try:
                await self._ask(*entry)
            except Exception as error:  # those behind it must continue
                self._editor.app._handle_exception(error)
            self._asked = [pair for pair in self._asked if pair is not entry]

    async def _ask(self, session: Session, prompt: Prompt, steers: bool) -> None:
        """Send `prompt` as the user wants it, or put it back."""
        try:
            way = await self._ask_how(session, prompt)
            if way == "attach":
                prompt = self._kept(await session.large.attach(prompt))
            elif way == "cut":
                prompt = self._kept(await session.large.cut(prompt))
        except OSError as error:
            self._tell(f"Not sent: {error}", "error")
            self._return_to_editor(prompt)
            return
        except Exception:
            self._return_to_editor(prompt)
            raise
        if way in ("attach", "cut", "whole"):
            self._hand_over(session, prompt, steers)
            return
        self._return_to_editor(prompt)
        if way == "edit":
            self._edit()

    async def _ask_how(self, session: Session, prompt: Prompt) -> Way | None:
        from pinfold.tui.panels.large import LargePanel

        if prompt.text.startswith("!") or (size := await session.large.measure(prompt)) is None:
            return "whole"
        return await self._editor.app.push_screen_wait(LargePanel(size, session.model))

    def _kept(self, smaller: Smaller) -> Prompt:
        for file in smaller.files:
            self._tell(f"The whole text is kept in {paths.shown(file)}", "info")
        return smaller.prompt
