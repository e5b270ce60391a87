"""Playing a recorded session on the screen: nothing is sent, no tool runs, nothing is kept."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from pinfold.agent.request import Connection
from pinfold.agent.session import Session
from pinfold.ports import Approver
from pinfold.providers.silent import Silent
from pinfold.rollout.store import SessionStore
from pinfold.wiring.house import House
from pinfold.wiring.sessions import new_journal, open_session
from pinfold.wiring.sources import model_of, read, wire_api_of


def demo_file() -> Path:
    """The recording that ships with pinfold."""
    return Path(str(files("pinfold") / "demo" / "rollout.jsonl"))


class Player:
    """Opens a session and plays a recording in it, whatever tool made that."""

    def __init__(self, at: House, file: Path, speed: float, index: int = 0) -> None:
        """Read the recording. Raises `NotASession`, `JournalError`."""
        self._events = read(file, index).events
        self._speed = speed
        self._kept = TemporaryDirectory(prefix="pinfold-replay-")
        self._at = replace(at, store=SessionStore(Path(self._kept.name)))
        self._note = f"Playing {file.name}: no model is asked and no tool runs."

    async def start(self, approver: Approver) -> Session:
        """The session, with its first prompt on the way."""
        model = model_of(self._at, self._events)
        connection = Connection(Silent(), model, wire_api_of(self._at, model.provider), self._note)
        session = await open_session(
            self._at, approver, lambda: new_journal(self._at), connection=connection, tools=()
        )
        session.play(self._events, self._speed)
        return session

    def close(self) -> None:
        """Throw away what the playing wrote."""
        self._kept.cleanup()
