"""Evidence leads to an item."""

from fakes.checkpoints import command, file, output, reduced, result, said
from pinfold.checkpoint.anchors import Anchors
from pinfold.rollout.events import Data
from pinfold.rollout.memory import Evidence


def known(*data: Data) -> Anchors:
    return reduced(data).anchors


def test_each_kind_of_evidence_names_its_item() -> None:
    anchors = known(
        said(1, "Go."),
        *result(3, "a"),
        output("a", "h", 3),
        file("src/a.py", "h", 3),
        *result(5, "b"),
    )
    assert anchors.of_evidence(Evidence("user", "#1")) == 1
    assert anchors.of_evidence(Evidence("file", "src/a.py")) == 3
    assert anchors.of_evidence(Evidence("tool_output", "a")) == 3
    assert anchors.of_evidence(Evidence("tool_output", "b")) == 5


def test_what_names_no_item_leads_nowhere() -> None:
    anchors = known(file("src/a.py", "h", None))
    for source in (Evidence("user", "goal"), Evidence("file", "src/a.py"), Evidence("file", "x")):
        assert anchors.of_evidence(source) is None


def test_the_last_item_about_an_artifact_counts() -> None:
    anchors = known(
        file("src/a.py", "h", 3),
        command("make", "h", 5),
        file("src/a.py", "i", 8, op="update"),
        file("src/a.py", "j", None),
    )
    assert anchors.of_artifact("src/a.py") == 8
    assert anchors.of_artifact("cmd:make") == 5
