"""Filler between the statements that count: pastes, notes, reads, searches, test runs."""

import json
from collections.abc import Callable
from random import Random

from msgspec import Struct

from pinfold.evaluation.dialogues import Chatter
from pinfold.rollout.events import ArtifactObserved

_NOUNS = ("item", "batch", "record", "worker", "cursor", "buffer", "handler", "stream", "drawer")
_VERBS = ("load", "fetch", "merge", "sort", "trim", "split", "hold", "scan", "flush", "match")
_PLACES = ("vendor/alpha", "vendor/beta", "examples/basic", "examples/large", "legacy/core")


class ToolUse(Struct, frozen=True):
    """A call, its result, and the artifact that the host observed."""

    name: str
    arguments: str
    output: str
    seen: ArtifactObserved | None = None


class FillerWriter:
    """Makes filler. None of it looks like a value that a probe asks for."""

    def __init__(self, rng: Random, chatter: Chatter) -> None:
        self._rng = rng
        self._chatter = chatter

    def message(self) -> str:
        ask = self._rng.choice(self._chatter.asks)
        body = self.prose(8) if self._rng.random() < 0.6 else f"```\n{self._log(18)}\n```"
        return f"{ask}\n\n{body}"

    def prose(self, sentences: int) -> str:
        return " ".join(self._sentence() for _ in range(sentences))

    def reply(self) -> str:
        return self._rng.choice(self._chatter.replies)

    def use(self) -> ToolUse:
        """A read, a search or a command that changes nothing."""
        made: Callable[[], ToolUse] = self._rng.choice((self._read, self._search, self._run))
        return made()

    def code(self, lines: int) -> str:
        return "\n".join(self._code() for _ in range(lines))

    def _sentence(self) -> str:
        rng = self._rng
        word = rng.choice(self._chatter.words)
        return rng.choice(self._chatter.prose).format(
            word=word, n=rng.randrange(40, 900), m=rng.randrange(3, 40)
        )

    def _log(self, lines: int) -> str:
        rng = self._rng
        return "\n".join(
            f"10:{rng.randrange(10, 60)}:{rng.randrange(10, 60)} {rng.choice(_NOUNS)}-"
            f"{rng.randrange(1, 90)} {rng.choice(_VERBS)} took {rng.randrange(1, 900)} ms"
            for _ in range(lines)
        )

    def _code(self) -> str:
        verb, noun = self._rng.choice(_VERBS), self._rng.choice(_NOUNS)
        return f"    {noun}_{self._rng.randrange(1, 90)} = {verb}_{noun}(source, {noun}_size)"

    def _path(self) -> str:
        rng = self._rng
        return f"{rng.choice(_PLACES)}/{rng.choice(_NOUNS)}_{rng.randrange(1, 400)}.txt"

    def _read(self) -> ToolUse:
        path = self._path()
        seen = ArtifactObserved(uri=path, kind="file", op="read", hash=digest(self._rng))
        return ToolUse("read_file", json.dumps({"path": path}), self.code(22), seen)

    def _search(self) -> ToolUse:
        verb = self._rng.choice(_VERBS)
        found = "\n".join(
            f"{self._path()}:{self._rng.randrange(1, 400)}:{self._code()}" for _ in range(10)
        )
        return ToolUse("grep", json.dumps({"pattern": f"{verb}_"}), found)

    def _run(self) -> ToolUse:
        command = f"make {self._rng.choice(_VERBS)}"
        seconds = self._rng.randrange(1, 90) / 10
        output = f"{self._log(14)}\n[exit code 0, {seconds} s]"
        seen = ArtifactObserved(uri=f"cmd:{command}", kind="command", op="run")
        return ToolUse("shell", json.dumps({"command": command}), output, seen)


def digest(rng: Random) -> str:
    """A made-up hash of a file."""
    return "".join(rng.choice("0123456789abcde") for _ in range(40))
