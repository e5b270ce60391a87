"""A session of any tool as a digest within a token budget, its secrets removed.

Pure: the same events give the same bytes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from pinfold.digests.choice import ChosenLines, DigestLines, render, size
from pinfold.digests.lines import DigestLine, Kind
from pinfold.digests.record import DigestRecord
from pinfold.export.redact import Secrets
from pinfold.rollout.events import Event, ItemAdded
from pinfold.rollout.items import Item

_SPARE = 0.02
"""Of the budget that may stay free before lines of results are looked for."""
_SHORT, _SHORT_RESULT = 4_000, 500
"""Characters; a longer item is searched for secrets only if the digest has lines of it."""


class Thinned(Struct, frozen=True):
    """A digest and its text."""

    digest: DigestLines
    text: str
    tokens: int
    """Of the text, in o200k."""
    secrets: int = 0
    """How many different ones were replaced."""


class Thinner:
    """A session, read once for digests of any size."""

    def __init__(self, events: Iterable[Event], numbers: Mapping[int, int] | None = None) -> None:
        """`numbers` maps items to the numbers shown for them, where these differ."""
        self._numbers = numbers
        self._record = DigestRecord()
        self._items: list[Item] = []
        for event in events:
            self._record.step(event)
            if isinstance(event.data, ItemAdded):
                self._items.append(event.data.item)

    def thin(
        self,
        budget_tokens: int,
        *,
        redact: bool = True,
        fits: Callable[[str], bool] | None = None,
    ) -> Thinned:
        """The most informative lines, in at most `budget_tokens` and in a text that `fits`."""
        choice = self._choice(budget_tokens)
        digest = choice.digest()
        secrets = Secrets(self._texts(digest) if redact else ())
        for tries in count(1):
            clean = _cleaned(self._renumbered(digest), secrets)
            text, tokens = render(clean), size(clean)
            over = tokens - budget_tokens
            if over <= 0 and fits is not None and not fits(text):
                over = max(1, tries * tokens // 20)
            if over <= 0 or not digest.lines:
                break
            choice.less(over)
            digest = choice.digest()
        return Thinned(clean, text, tokens, len(secrets))

    def _choice(self, budget: int) -> ChosenLines:
        """Lines of results are used only where room is left beside all others: finding them takes
        as long as all others together."""
        for found in (False, True):
            choice = ChosenLines(self._record, self._record.lines(found=found), budget)
            if choice.room <= _SPARE * budget:
                break
        return choice

    def _renumbered(self, digest: DigestLines) -> DigestLines:
        numbers = self._numbers
        if numbers is None:
            return digest
        lines, left = (
            tuple(replace(line, n=numbers[line.n]) for line in some)
            for some in (digest.lines, digest.left)
        )
        return replace(digest, lines=lines, left=left)

    def _texts(self, digest: DigestLines) -> Iterator[str]:
        """Texts to find secrets in; the details of items say nothing that neither lines nor
        contents do."""
        numbers = {line.n for line in digest.lines}
        for item in self._items:
            short = _SHORT_RESULT if item.kind == "tool_result" else _SHORT
            if item.n in numbers or len(item.content) <= short:
                yield item.content
        for line in digest.lines:
            yield from (line.text, line.full, line.lead)


def left_out(digest: DigestLines) -> dict[Kind, int]:
    """How many lines of each kind were left out."""
    return dict(Counter(line.kind for line in digest.left))


def _cleaned(digest: DigestLines, secrets: Secrets) -> DigestLines:
    if not secrets:
        return digest

    def clean(line: DigestLine) -> DigestLine:
        return replace(
            line,
            text=secrets.replaced(line.text),
            full=secrets.replaced(line.full),
            lead=secrets.replaced(line.lead),
        )

    return replace(digest, lines=tuple(map(clean, digest.lines)))
