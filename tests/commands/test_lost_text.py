"""What was lost, in words."""

from pinfold.commands.lost_text import about, by_item, listed
from pinfold.compaction.loss import LostLine
from pinfold.rollout.items import Item

PASTE = Item(n=12, kind="user", content="\n".join(map(str, range(300))))
LOST = (
    LostLine("file", "a.py", 12),
    LostLine("file", "b.py", 9),
    LostLine("number", "200", 12),
    LostLine("number", "101", 12),
)


def test_an_item_is_named_with_its_size() -> None:
    assert about(PASTE, 4_800) == "your message, 300 lines, 4.8k tokens"
    call = Item(n=3, kind="tool_call", name="shell", content="{}")
    assert about(call, 1) == "call shell, 1 token"


def test_each_item_is_named_once_with_all_that_it_said() -> None:
    assert {n: len(some) for n, some in by_item(LOST).items()} == {12: 3, 9: 1}
    assert listed(LOST, {12: "your message", 9: "call read_file"}) == (
        "#12 your message: file a.py, number 200, 101; #9 call read_file: file b.py"
    )
