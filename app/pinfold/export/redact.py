"""Secrets out of texts: each is replaced by what it is, and the same one by the same words."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from msgspec import structs

from pinfold.export.detectors import Hit, hits
from pinfold.export.transcript import Entry, Transcript
from pinfold.rollout.events import AgentsFile, Context
from pinfold.rollout.items import Item

_TELLING = 8
"""Characters from which a secret is looked for without its surroundings, too."""


class Secrets:
    """Takes all texts first, so that what is known from one is found in every other."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._names: dict[str, str] = {}
        """What stands in the place of each secret."""
        self._hits: dict[str, tuple[Hit, ...]] = {}
        """By text, of those that hold any."""
        counts: Counter[str] = Counter()
        for text in texts:
            found = tuple(hits(text))
            if found:
                self._hits[text] = found
            for start, end, kind in found:
                secret = text[start:end]
                if secret not in self._names:
                    counts[kind] += 1
                    self._names[secret] = f"[secret: {kind} {counts[kind]}]"
        self._known = _any_of(filter(_is_telling, self._names))

    def __len__(self) -> int:
        return len(self._names)

    def replaced(self, text: str) -> str:
        """One of the texts, without its secrets."""
        if not self._names:
            return text
        parts: list[str] = []
        end = 0
        for hit in self._hits.get(text, ()):
            parts += [self._sub(text[end : hit.start]), self._names[text[hit.start : hit.end]]]
            end = hit.end
        return "".join([*parts, self._sub(text[end:])])

    def _sub(self, text: str) -> str:
        if self._known is None:
            return text
        return self._known.sub(lambda match: self._names[match.group()], text)


def _is_telling(secret: str) -> bool:
    """Whether it can't be a word that means something else elsewhere."""
    return len(secret) >= _TELLING and any(map(str.isdigit, secret))


def _any_of(secrets: Iterable[str]) -> re.Pattern[str] | None:
    words = sorted(secrets, key=len, reverse=True)
    if not words:
        return None
    return re.compile(rf"(?:(?<!\w)|(?<=\\[nrt]))(?:{'|'.join(map(re.escape, words))})(?!\w)")


def redacted(transcript: Transcript) -> tuple[Transcript, int]:
    """A transcript without secrets, and how many there were."""
    secrets = Secrets(_texts(transcript))
    if not secrets:
        return transcript, 0

    def item(each: Item) -> Item:
        detail = {
            name: secrets.replaced(value) if isinstance(value, str) else value
            for name, value in each.detail.items()
        }
        return structs.replace(each, content=secrets.replaced(each.content), detail=detail)

    def entry(each: Entry) -> Entry:
        return replace(each, item=item(each.item))

    clean = replace(
        transcript,
        title=secrets.replaced(transcript.title),
        context=_context(transcript.context, secrets.replaced),
        entries=tuple(map(entry, transcript.entries)),
        window=tuple(map(item, transcript.window)),
    )
    return clean, len(secrets)


def redacted_lines(lines: Iterable[bytes]) -> tuple[list[bytes], int]:
    """Raw lines of a rollout without secrets, and how many there were."""
    texts = [line.decode("utf-8", "surrogateescape") for line in lines]
    secrets = Secrets(texts)
    clean = [secrets.replaced(text).encode("utf-8", "surrogateescape") for text in texts]
    return clean, len(secrets)


def _texts(transcript: Transcript) -> Iterator[str]:
    yield transcript.title
    context = transcript.context
    yield from (context.instructions, context.environment)
    yield from (file.text for file in context.agents)
    for item in [*(entry.item for entry in transcript.entries), *transcript.window]:
        yield item.content
        yield from (value for value in item.detail.values() if isinstance(value, str))


def _context(context: Context, clean: Callable[[str], str]) -> Context:
    return structs.replace(
        context,
        instructions=clean(context.instructions),
        environment=clean(context.environment),
        agents=tuple(AgentsFile(file.path, clean(file.text)) for file in context.agents),
    )
