"""`python -m benchmarks.handoffs FOLDER [--write]`: what the protected core adds to a strong
writer's handoffs.

Whoever is the writer answers by hand: each request stands in FOLDER/requests, its answer goes into
FOLDER/answers under the same name. Run it again when all are answered: the next compaction asks for
the next handoffs. Both variants come from one conversation, and their first request is the same:
it is asked once.
"""

import argparse
import asyncio
import sys
from collections import Counter as Counted
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import fmean

from benchmarks.figures import conditions
from benchmarks.results import BY_HAND, write_section
from pinfold.agent.clock import CLOCK
from pinfold.agent.requests.writing import Writer
from pinfold.evaluation.author import ComposedConversation, compose
from pinfold.evaluation.baselines import BareHandoff, CoreHandoff
from pinfold.evaluation.dialogues import dialogues
from pinfold.evaluation.scores import PROBES, Spread, coherence, spread
from pinfold.evaluation.trials import WINDOW, Setting, Trial, run
from pinfold.ports.errors import RequestRejected
from pinfold.ports.provider import Compacted, Delta, ModelInfo, PartDone, Request, ResponseDone
from pinfold.rollout.events import CoreChanged, Data, GoalSet
from pinfold.rollout.values import CoreStatement
from pinfold.tokens.catalog import O200K
from pinfold.tokens.counter import Counter

TITLE = f"Handoffs with and without the protected core ({BY_HAND}, not by `make bench`)."
DIALOGUES = ("deps-review", "nachtmigration")
TRIALS, COMPACTIONS, BUDGET = 5, 3, 2_000
VARIANTS = (BareHandoff(), CoreHandoff())
WRITER = ModelInfo("writer", "folder", 200_000, "config", max_output=4_000)
README = """\
Each file of requests/ holds instructions and the record of a session. Do what the instructions say,
from the record alone, and save only the notes that they ask for as answers/NAME, where NAME is the
name of the request. Look neither at other requests nor at other answers, and keep to the number of
words that the instructions give.
"""

ABOUT = f"""\
{len(DIALOGUES)} made-up conversations ({", ".join(DIALOGUES)}), {TRIALS} trials of other values,
{COMPACTIONS} compactions to {BUDGET:,} tokens; means over the conversations, with standard
deviation and range over the trials. The same strong writer wrote all notes, each from a request
that names no variant. With the core, the user has set the goal and put each rule into it: these
stand in front word for word, so that a score of 1 is what it promises; the figures without it say
what that is worth. Both variants share the first notes, not the later ones."""
SHOWN = ("goal", "constraints", "coherence", "overall", "tokens")


class Folder:
    """A provider whose requests and answers are files."""

    name = "folder"

    def __init__(self, folder: Path, label: str) -> None:
        self._requests, self._answers = folder / "requests", folder / "answers"
        for path in (self._requests, self._answers):
            path.mkdir(parents=True, exist_ok=True)
        self._label = label
        self.compaction = 0
        self.waiting = set[str]()

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Raises `RequestRejected` where there is no answer yet."""
        told = "\n".join(item.content for item in request.items)
        text = f"INSTRUCTIONS\n\n{request.context.instructions}\n\nTHE RECORD\n\n{told}\n"
        mark = sha256(text.encode()).hexdigest()[:8]
        name = f"{self.compaction}-{self._label}-{mark}.md"
        answer = self._answers / name
        if not answer.exists() or not (said := answer.read_text("utf-8").strip()):
            (self._requests / name).write_text(text, "utf-8")
            self.waiting.add(name)
            raise RequestRejected(f"{name} is not answered.")
        yield PartDone("assistant", said)
        yield ResponseDone(None, "stop")

    async def warm(self) -> None: ...

    async def count(self, request: Request) -> int | None:
        return None

    async def compact(self, request: Request) -> Compacted:
        raise RequestRejected("A folder compacts nothing.")

    async def close(self) -> None: ...


def main() -> int:
    asked = argparse.ArgumentParser(prog="benchmarks.handoffs")
    asked.add_argument("folder", type=Path)
    asked.add_argument("--write", action="store_true", help="write the section of RESULTS.md")
    given = asked.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    (given.folder / "README.md").write_text(README, "utf-8")
    counter = Counter(O200K)
    counter.load()
    every: list[dict[str, list[Trial]]] = []
    """By trial and variant, a conversation each."""
    waiting = set[str]()
    for seed in range(1, TRIALS + 1):
        by_variant: dict[str, list[Trial]] = {variant.name: [] for variant in VARIANTS}
        for name in DIALOGUES:
            trials, more = asyncio.run(tried(given.folder, name, seed, counter))
            waiting |= more
            for trial in trials:
                by_variant[trial.strategy].append(trial)
        every.append(by_variant)
    text = "\n".join(table(every))
    print(text)
    for name in sorted(waiting):
        print(f"to be answered: {name}")
    failed = {trial.not_run for some in every for row in some.values() for trial in row}
    for why in sorted(why for why in failed if why and not why.endswith("is not answered.")):
        print(f"did not run: {why}")
    if given.write and not any(failed):
        write_section(TITLE, f"{conditions()}\n\n{ABOUT}\n\n{text}")
    return 0 if not any(failed) else 1


async def tried(
    folder: Path, name: str, seed: int, counter: Counter
) -> tuple[list[Trial], set[str]]:
    """A conversation under all variants, and the requests that nobody has answered."""
    source = next(dialogue for dialogue in dialogues() if dialogue.name == name)
    provider = Folder(folder, f"{name}-{seed}")
    writer = Writer(provider, WRITER, counter, CLOCK)
    model = ModelInfo("", "", WINDOW * BUDGET, "config", max_output=0)
    made = compose(source, seed, compactions=COMPACTIONS, budget=BUDGET, count=counter.count)
    begun = Counted[str]()

    async def step(strategy: str) -> None:
        begun[strategy] += 1
        provider.compaction = begun[strategy]

    conversation = with_core(made)
    setting = Setting(BUDGET, counter, model, writer)
    return await run(conversation, VARIANTS, setting, step), provider.waiting


def with_core(made: ComposedConversation) -> ComposedConversation:
    """The user sets the goal and puts each rule into the core, as it holds before a compaction."""
    standing = tuple[str, ...]()
    stretches = []
    for stretch in made.stretches:
        rules = tuple(constraint.text for constraint in stretch.truth.constraints)
        core: list[Data] = [
            GoalSet(text=stretch.truth.goal.text),
            CoreChanged(
                add=tuple(CoreStatement(text) for text in rules if text not in standing),
                remove=tuple(text for text in standing if text not in rules),
            ),
        ]
        standing = rules
        stretches.append(replace(stretch, events=(*stretch.events, *core)))
    return replace(made, stretches=tuple(stretches))


def table(every: Sequence[dict[str, list[Trial]]]) -> Iterator[str]:
    """What the trials that came so far say after each compaction."""
    yield (
        "| after | score | " + " | ".join(variant.name for variant in VARIANTS) + " | difference |"
    )
    yield "| --- | --- | " + " | ".join("---" for _ in VARIANTS) + " | --- |"
    for at in range(1, COMPACTIONS + 1):
        whole = [
            some
            for some in every
            if all(len(trial.points) > at for row in some.values() for trial in row)
        ]
        if not whole:
            return
        columns = [[scored(some[variant.name], at) for some in whole] for variant in VARIANTS]
        for score in SHOWN:
            values = [[trial[score] for trial in column] for column in columns]
            differences = [one - other for one, other in zip(values[1], values[0], strict=True)]
            cells = [shown(spread(row)) for row in (*values, differences)]
            yield f"| {at} | {score} | {' | '.join(cells)} |"


def scored(some: Sequence[Trial], at: int) -> dict[str, float]:
    """The means over the conversations of a trial."""
    points = [trial.points[at] for trial in some]
    return {
        **{probe: fmean(point.read[probe] for point in points) for probe in PROBES},
        "coherence": fmean(coherence(point.read) for point in points),
        "overall": fmean(fmean(point.read.values()) for point in points),
        "tokens": fmean(point.tokens for point in points),
    }


def shown(of: Spread) -> str:
    if of.mean >= 10 or of.mean <= -10:
        return f"{of.mean:,.0f} ± {of.deviation:,.0f}"
    return f"{of.mean:.3f} ± {of.deviation:.3f} ({of.low:.3f} to {of.high:.3f})"


if __name__ == "__main__":
    sys.exit(main())
