"""A folder of memories: two sessions that really lie there, their records, and the files."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pinfold.memories.keeper import Keeper
from pinfold.memories.places import MEMORY, SUMMARY
from pinfold.memories.records import Extracted, SessionCandidate
from pinfold.rollout.events import ItemAdded, SessionStarted
from pinfold.rollout.items import Item
from pinfold.rollout.journal import Journal

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ONE = "0198ab12-1234-7000-8000-000000000001"
TWO = "0198cd34-5678-7000-8000-000000000002"


class FakeMemories:
    """`host.memories.Memories` over real files; nothing is made of sessions."""

    def __init__(self, home: Path) -> None:
        self.keeper = Keeper(home, lambda: NOW)
        self.enabled = True
        self.runs = 0

    async def run(self, but: Collection[str] = ()) -> str:
        self.runs += 1
        return "2 sessions were read."

    def switch(self, *, on: bool) -> str:
        self.enabled = on
        return f"Memories are {'on' if on else 'off'}."


def remembered(home: Path, cwd: str, write: Callable[[Path], object] | None = None) -> FakeMemories:
    """Memories of two sessions in `home`: one worked in `cwd`, the other elsewhere."""
    made = FakeMemories(home)
    keeper = made.keeper
    raw = {
        ONE: f"- rule: Run the tests with `make test`. [{ONE}#2]\n"
        f'- fact: The limit is 40. [{ONE}#3] "LIMIT = 40" in "limits.py"\n',
        TWO: f"- command: `npm run build` builds the site. [{TWO}#2]\n"
        f"- decision: Pages are written in Markdown. [{TWO}#3]\n",
    }
    said = {
        ONE: ("Please run the tests with make test, not pytest.", "LIMIT = 40 in limits.py."),
        TWO: ("How is the site built?", "npm run build builds it; pages are Markdown."),
    }
    folders = {ONE: cwd, TWO: "/home/ada/site"}
    for age, session in ((3, ONE), (9, TWO)):
        folder = home / "sessions" / "2026" / "02" / "20" / session
        started = SessionStarted(schema=1, id=session, cwd=folders[session], version="test")
        with Journal.create(folder, started, lambda: NOW) as journal:
            for n, text in enumerate(said[session], 2):
                kind = "user" if n == 2 else "assistant"
                journal.append(ItemAdded(item=Item(n=n, kind=kind, content=text)))
        at = (NOW - timedelta(days=age)).timestamp()
        found = SessionCandidate(session, str(folder / "rollout.jsonl"), folders[session], at)
        (claim,) = keeper.reader.state.claim_sessions([found], 1)
        keeper.reader.state.finish_extracted(claim, found, Extracted(raw[session], "s", "slug"))
    keeper.reader.state.count_use([ONE], NOW - timedelta(hours=5))
    one, two = (raw[text].splitlines() for text in (ONE, TWO))
    keeper.places.files.mkdir(parents=True)
    summary = (
        f"# Memory summary\n\n## {cwd}\n\n{one[0]}\n{one[1]}\n\n## /home/ada/site\n\n{two[0]}\n"
    )
    (keeper.places.files / SUMMARY).write_text(summary)
    (keeper.places.files / MEMORY).write_text(
        summary.replace("# Memory summary", "# Memory")
        + f"\n## Unconfirmed\n\n- The moon. [{TWO}#2]\n"
    )
    return made
