"""Evidence leads to an item."""

from fakes.checkpoints import command, event, file, output, result, said
from pinfold.checkpoint.sources import Sources
from pinfold.rollout.events import Data
from pinfold.rollout.memory import Evidence


def known(*data: Data) -> Sources:
    sources = Sources()
    for seq, written in enumerate(data, 1):
        sources.step(event(seq, written))
    return sources


def test_each_kind_of_evidence_names_its_item() -> None:
    sources = known(
        said(1, "Go."),
        *result(3, "a"),
        output("a", "h", 3),
        file("src/a.py", "h", 3),
        *result(5, "b"),
    )
    assert sources.of_evidence(Evidence("user", "#1")) == 1
    assert sources.of_evidence(Evidence("file", "src/a.py")) == 3
    assert sources.of_evidence(Evidence("tool_output", "a")) == 3
    assert sources.of_evidence(Evidence("tool_output", "b")) == 5


def test_what_names_no_item_leads_nowhere() -> None:
    sources = known(file("src/a.py", "h", None))
    for source in (Evidence("user", "goal"), Evidence("file", "src/a.py"), Evidence("file", "x")):
        assert sources.of_evidence(source) is None


def test_the_last_item_about_an_artifact_counts() -> None:
    sources = known(
        file("src/a.py", "h", 3),
        command("make", "h", 5),
        file("src/a.py", "i", 8, op="update"),
        file("src/a.py", "j", None),
    )
    assert sources.of_artifact("src/a.py") == 8
    assert sources.of_artifact("cmd:make") == 5
