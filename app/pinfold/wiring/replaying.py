"""Playing a recorded session on the screen: nothing is sent, no tool runs, nothing is kept."""

import asyncio
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from pinfold.agent.request import Connection
from pinfold.agent.session import Session
from pinfold.ports import Approver
from pinfold.providers.replay import Replay
from pinfold.rollout.journal import JournalError
from pinfold.rollout.store import SessionStore
from pinfold.wiring.house import House
from pinfold.wiring.sessions import CLOCK, new_journal, open_session

PAUSE = 1.2
"""Seconds between a reply and the next recorded prompt, at normal speed."""


def demo_file() -> Path:
    """The recording that ships with pinfold."""
    return Path(str(files("pinfold") / "demo" / "rollout.jsonl"))


class Player:
    """Opens a session on a recording and sends it the recorded prompts, one after another."""

    def __init__(self, at: House, file: Path, speed: float) -> None:
        """Read the recording. Raises `JournalError`."""
        try:
            self._replay = Replay(file, CLOCK, speed=speed)
        except (OSError, ValueError) as error:
            raise JournalError(f"{file} can't be played: {error}") from error
        if self._replay.model is None:
            raise JournalError(f"{file} can't be played: it does not say which model spoke.")
        self._model = self._replay.model
        self._at = at
        self._speed = speed
        self._kept = TemporaryDirectory(prefix="pinfold-replay-")
        self._playing: asyncio.Task[None] | None = None
        self._note = f"Playing {file.name}: no model is asked and no tool runs."

    async def start(self, approver: Approver) -> Session:
        """The session, with its first prompt on the way."""
        store = SessionStore(Path(self._kept.name))
        at = replace(self._at, store=store)
        connection = Connection(self._replay, self._model, "chat", self._note)
        session = await open_session(
            at,
            approver,
            lambda: new_journal(at),
            connection=connection,
            tools=self._replay.tools(),
        )
        self._playing = asyncio.create_task(self._play(session))
        return session

    async def _play(self, session: Session) -> None:
        for prompt in self._replay.prompts:
            if self._speed:
                await CLOCK.sleep(PAUSE / self._speed)
            session.send(prompt)
            await session.idle()
            if session.last_ending != "done":
                return

    async def finished(self) -> None:
        """Wait until all prompts are played."""
        if self._playing is not None:
            await self._playing

    def close(self) -> None:
        """Throw away what the playing wrote."""
        self._kept.cleanup()
