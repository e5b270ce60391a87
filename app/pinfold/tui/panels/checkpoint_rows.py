"""What pinfold remembers of a session, as lines: the checkpoint, the core, the digest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pinfold.agent.compaction.remembered import SessionMemory
from pinfold.checkpoint.model import Artifact, CheckpointV1, RecordedFact, stale
from pinfold.checkpoint.view import HASH_CHARS
from pinfold.digests.lines import SPEAKER
from pinfold.rollout.memory import Evidence
from pinfold.sanitize import one_line
from pinfold.tui.panels.table import Heading

VALID, SUSPECT, DONE, NOW, OPEN = "✓", "!", "✓", "◐", "○"
SHORT = 7
"""Characters of a hash where two are compared."""


@dataclass(frozen=True, slots=True)
class KeptRow:
    """Something that pinfold remembers."""

    key: str
    """Unique, and the same each time the rows are read."""
    text: str
    sign: str = ""
    note: str = ""
    """Why, by whom, or since when."""
    item: int | None = None
    """The number of its source item."""


def rows_of(kept: SessionMemory, goal: str, asked: int | None = None) -> list[KeptRow | Heading]:
    """All of it, in the order of `view_v1`; then the protected core and the digest.

    `goal` is what the session is for, and `asked` the item that says so, where one does.
    """
    return [*_Rows(kept).rows(KeptRow("goal", one_line(goal), note="goal", item=asked))]


def facts(kept: SessionMemory) -> list[str]:
    """The facts above the list: `as of event 40`, `4 facts`."""
    checkpoint = kept.checkpoint
    plan, known = checkpoint.plan, checkpoint.facts.values()
    suspect = sum(fact.status == "SUSPECT" for fact in known)
    said = [f"as of event {checkpoint.seq:,}"]
    if plan.steps:
        said.append(f"{sum(plan.done.values())} of {len(plan.steps)} steps done")
    said.append(f"{len(known)} fact{'s' if len(known) != 1 else ''}")
    if suspect:
        said.append(f"{SUSPECT} {suspect} suspect")
    return said


def chosen(rows: Sequence[KeptRow | Heading], query: str) -> list[KeptRow | Heading]:
    """The rows with all words of `query`, under their headings."""
    words = query.lower().split()
    if not words:
        return list(rows)
    found: list[KeptRow | Heading] = []
    heading: Heading | None = None
    for row in rows:
        if isinstance(row, Heading):
            heading = row
            continue
        said = f"{row.text} {row.note} {f'#{row.item}' if row.item else ''}".lower()
        if all(word in said for word in words):
            if heading is not None:
                found.append(heading._replace(note=""))  # it counts them all
                heading = None
            found.append(row)
    return found


def why(fact: RecordedFact, artifacts: Mapping[str, Artifact]) -> str:
    """Why a fact is suspect."""
    dependency = stale(fact.depends_on, artifacts)
    if dependency is None:
        return "it has no known source"
    uri, artifact = one_line(dependency.uri), artifacts.get(dependency.uri)
    if dependency.hash is None:
        return f"the content of {uri} at that time is unknown"
    if artifact is None:
        return f"{uri} is no longer watched"
    if artifact.hash is None:
        return f"{uri} is gone, or was not read again"
    return f"{uri} changed: {dependency.hash[:SHORT]} → {artifact.hash[:SHORT]}"


class _Rows:
    def __init__(self, kept: SessionMemory) -> None:
        self._kept = kept
        self._checkpoint: CheckpointV1 = kept.checkpoint
        self._anchors = kept.anchors

    def rows(self, goal: KeptRow) -> Iterator[KeptRow | Heading]:
        for name, rows in (
            ("Task", self._task()),
            ("Plan", self._plan()),
            ("Recent artifacts", self._artifacts()),
            ("Decisions", self._decisions()),
            ("Current facts", self._facts("VALID")),
            ("Suspect facts", self._facts("SUSPECT")),
            ("In your words", self._core(goal)),
        ):
            yield from _section(name, list(rows))
        yield from _section("Digest", list(self._digest()))

    def _item_of(self, evidence: Evidence | None) -> int | None:
        return None if evidence is None else self._anchors.of_evidence(evidence)

    def _task(self) -> Iterator[KeptRow]:
        task = self._checkpoint.task
        if task is not None:
            yield KeptRow("task", one_line(task.text), item=self._item_of(task.evidence))

    def _plan(self) -> Iterator[KeptRow]:
        plan = self._checkpoint.plan
        item = self._item_of(plan.evidence)
        for step in plan.steps:
            now = NOW if step.id in plan.in_progress else OPEN
            sign = DONE if plan.done.get(step.id) else now
            yield KeptRow(f"step/{step.id}", one_line(step.text), sign, item=item)

    def _artifacts(self) -> Iterator[KeptRow]:
        known = self._checkpoint.artifacts
        for uri in reversed(self._checkpoint.recent_artifacts):
            artifact = known.get(uri)
            if artifact is not None:
                is_file = artifact.kind == "file"
                note = artifact.hash[:HASH_CHARS] if is_file and artifact.hash else ""
                name = one_line(uri).removeprefix("cmd:").removeprefix("call:")
                sign = {"file": "", "command": "$", "tool_output": "→"}[artifact.kind]
                item = self._anchors.of_artifact(uri)
                yield KeptRow(f"artifact/{uri}", name, sign, one_line(note), item)

    def _decisions(self) -> Iterator[KeptRow]:
        decisions = self._checkpoint.decisions
        superseded = {decision.supersedes for decision in decisions}
        for decision in decisions:
            if decision.decision_id not in superseded:
                text, note = one_line(decision.decision), one_line(decision.rationale)
                item = self._item_of(decision.evidence)
                yield KeptRow(f"decision/{decision.decision_id}", text, "", note, item)

    def _facts(self, status: str) -> Iterator[KeptRow]:
        checkpoint = self._checkpoint
        for key, fact in checkpoint.facts.items():
            if fact.status == status:
                suspect = status == "SUSPECT"
                yield KeptRow(
                    f"fact/{key}",
                    one_line(f"{key}: {fact.value}"),
                    SUSPECT if suspect else VALID,
                    why(fact, checkpoint.artifacts) if suspect else "",
                    self._item_of(fact.evidence),
                )

    def _core(self, goal: KeptRow) -> Iterator[KeptRow]:
        if goal.text:
            yield goal
        for statement in self._kept.stated:
            text = one_line(statement.text)
            yield KeptRow(f"said/{statement.item}/{text}", text, item=statement.item or None)
        for one in self._kept.suggested:
            text = one_line(one.text)
            yield KeptRow(f"?{one.item}/{text}", text, "?", "not confirmed", one.item)

    def _digest(self) -> Iterator[KeptRow]:
        for at, line in enumerate(self._kept.digest.lines):
            who = SPEAKER.get(line.kind, "").strip(": ")
            yield KeptRow(f"line/{line.n}/{at}/{line.key}", one_line(line.text), "", who, line.n)


def _section(name: str, rows: Sequence[KeptRow]) -> Iterator[KeptRow | Heading]:
    yield Heading(name, str(len(rows)) if len(rows) > 1 else "" if rows else "none")
    yield from rows
