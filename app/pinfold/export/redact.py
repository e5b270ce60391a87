"""Replaces secrets in texts by their kind; the same secret always by the same words."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any

from msgspec import structs

from pinfold.export.detectors import hits
from pinfold.export.keys import SecretHit
from pinfold.export.transcript import ExportedItem, ExportedSession
from pinfold.rollout import arguments
from pinfold.rollout.context import AgentsFile, Context
from pinfold.rollout.items import Item
from pinfold.window.window import Boundary

SEALED = "encrypted_content"
"""In an opaque item: only its provider can read it, and a change would make it useless."""
_TELLING = 8
"""The shortest secret, or rest of one, that is recognised by itself. In characters."""
_ROW = 24
"""The shortest line of a key that is a secret by itself. In characters."""


class Secrets:
    """Reads all texts first, so that a secret found in one is replaced in all."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._names: dict[str, str] = {}
        """The replacement of each secret."""
        self._hits: dict[str, tuple[SecretHit, ...]] = {}
        """By text; without texts that have none."""
        counts: Counter[str] = Counter()
        for text in dict.fromkeys(texts):
            found = tuple(hits(text))
            if found:
                self._hits[text] = found
            for start, end, kind in found:
                secret = text[start:end]
                if secret not in self._names:
                    counts[kind] += 1
                    self._names[secret] = f"[secret: {kind} {counts[kind]}]"
        self._parts = {**dict(self._rows()), **self._names}
        """Also single lines of secrets with several."""
        self._known: dict[str, list[str]] = {}
        """By how they begin, the longest first."""
        for secret in sorted(filter(_is_telling, self._parts), key=len, reverse=True):
            self._known.setdefault(secret[:_TELLING], []).append(secret)
        self._beginnings = _any_of(self._known)

    def _rows(self) -> Iterator[tuple[str, str]]:
        for secret, name in self._names.items():
            rows = secret.split("\n")[1:] if "\n" in secret else ()
            yield from ((row.strip(), name) for row in rows if len(row.strip()) >= _ROW)

    def __len__(self) -> int:
        return len(self._names)

    def replaced(self, text: str) -> str:
        """`text`, one of those given, without secrets."""
        if not self._names:
            return text
        parts: list[str] = []
        end = 0
        for hit in self._hits.get(text, ()):
            parts += [self._sub(text[end : hit.start]), self._names[text[hit.start : hit.end]]]
            end = hit.end
        return "".join([*parts, self._sub(text[end:])])

    def _sub(self, text: str) -> str:
        if self._beginnings is None:
            return text
        parts: list[str] = []
        end = 0
        for match in self._beginnings.finditer(text):
            start = match.start()
            found = self._secret_at(text, start, match.group()) if start >= end else None
            if found is not None:
                name, stop = found
                parts += [text[end:start], name]
                end = stop
        return "".join([*parts, text[end:]])

    def _secret_at(self, text: str, start: int, beginning: str) -> tuple[str, int] | None:
        """The name and the end of a secret that begins at `start`, whole or cut off."""
        for secret in self._known[beginning]:
            pairs = zip(secret, text[start : start + len(secret)], strict=False)
            left = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            end = start + len(left)
            after = text[end : end + 1]
            if _is_word(after):
                continue
            if left == secret or after == "…" or any(map(str.isdigit, left)):
                return self._parts[secret], end
        return None


def _is_telling(secret: str) -> bool:
    """Whether it can't be an ordinary word elsewhere."""
    return len(secret) >= _TELLING and any(map(str.isdigit, secret))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _any_of(beginnings: Iterable[str]) -> re.Pattern[str] | None:
    words = "|".join(map(re.escape, beginnings))
    return re.compile(rf"(?:(?<!\w)|(?<=\\[nrt]))(?:{words})") if words else None


def redacted(transcript: ExportedSession) -> tuple[ExportedSession, int]:
    """The session without secrets, and how many there were."""
    secrets = Secrets(_texts(transcript))
    if not secrets:
        return transcript, 0

    def item(of: Item) -> Item:
        origin = of.origin
        if origin is not None:
            origin = structs.replace(origin, model=secrets.replaced(origin.model))
        return structs.replace(
            of,
            content=secrets.replaced(of.content),
            call_id=cleaned(of.call_id, secrets.replaced),
            name=cleaned(of.name, secrets.replaced),
            detail=cleaned(of.detail, secrets.replaced),
            opaque=cleaned(of.opaque, secrets.replaced),
            origin=origin,
        )

    def entry(of: ExportedItem) -> ExportedItem:
        return replace(of, item=item(of.item))

    def boundary(of: Boundary) -> Boundary:
        return replace(of, strategy=secrets.replaced(of.strategy))

    model = transcript.model
    clean = replace(
        transcript,
        opening=secrets.replaced(transcript.opening),
        session=secrets.replaced(transcript.session),
        cwd=secrets.replaced(transcript.cwd),
        model=structs.replace(model, name=secrets.replaced(model.name)),
        context=_context(transcript.context, secrets.replaced),
        entries=tuple(map(entry, transcript.entries)),
        window=tuple(map(item, transcript.window)),
        boundaries=tuple(map(boundary, transcript.boundaries)),
    )
    return clean, len(secrets)


def redacted_lines(lines: Iterable[bytes]) -> tuple[list[bytes], int]:
    """Raw lines of a rollout without secrets, and how many there were."""
    texts = [line.decode("utf-8", "surrogateescape") for line in lines]
    secrets = Secrets(texts)
    clean = [secrets.replaced(text).encode("utf-8", "surrogateescape") for text in texts]
    return clean, len(secrets)


def _texts(transcript: ExportedSession) -> Iterator[str]:
    yield from (transcript.opening, transcript.session, transcript.cwd, transcript.model.name)
    yield from (boundary.strategy for boundary in transcript.boundaries)
    context = transcript.context
    yield from (context.instructions, context.environment)
    for file in context.agents:
        yield from (file.path, file.text)
    for item in [*(entry.item for entry in transcript.entries), *transcript.window]:
        yield item.content
        if item.origin is not None:
            yield item.origin.model
        yield from strings([item.call_id, item.name, item.detail, item.opaque])


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value, except sealed ones."""
    return arguments.strings(value, {SEALED})


def cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    """A JSON value with each of its texts cleaned."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {
                key: inner if key == SEALED else cleaned(inner, clean)
                for key, inner in value.items()
            }
        case list() | tuple():
            return [cleaned(inner, clean) for inner in value]
        case _:
            return value


def _context(context: Context, clean: Callable[[str], str]) -> Context:
    return structs.replace(
        context,
        instructions=clean(context.instructions),
        environment=clean(context.environment),
        agents=tuple(AgentsFile(clean(file.path), clean(file.text)) for file in context.agents),
    )
