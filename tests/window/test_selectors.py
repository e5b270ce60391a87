"""How people name items and files."""

import pytest

from fakes.histories import fold
from pinfold.rollout.events import ArtifactObserved, ItemAdded, PinsChanged
from pinfold.rollout.items import Item
from pinfold.window.refused import Refused
from pinfold.window.selectors import parse
from pinfold.window.window import Window

TOO_MANY = "src/{1..2000}.py"


def window(*pins: str) -> Window:
    seen = ArtifactObserved(uri="src/a.py", kind="file", op="read", item=1)
    item = ItemAdded(item=Item(n=1, kind="user", content="x"))
    return fold([PinsChanged(add=pins), item, seen])[0]


def test_commas_in_braces_part_nothing() -> None:
    assert parse("1, src/{a,b}.py,*.md", window()) == (1, "src/{a,b}.py", "*.md")
    assert window("src/{a,b}.py").pin_on(1) == "src/{a,b}.py"


def test_a_range_may_have_a_dash() -> None:
    assert parse("1-3", window()) == (1,)


def test_a_glob_for_too_many_patterns_is_refused() -> None:
    with pytest.raises(Refused, match="too many"):
        parse(TOO_MANY, window())


def test_one_in_a_rollout_holds_nothing_and_hinders_nothing() -> None:
    assert window(TOO_MANY).pin_on(1) is None
