"""Looking back at the prompts of a session, and going back to one."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fakes.commands import FakeContext, run
from fakes.live_session import live_session
from pinfold.commands.arguments import CommandError
from pinfold.commands.look_back import LookBack
from pinfold.commands.rewind import go_back
from pinfold.rollout.events import ArtifactObserved, Event, ItemAdded
from pinfold.rollout.items import Item
from pinfold.tools.restore import Undo

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def prompt(n: int, text: str) -> ItemAdded:
    return ItemAdded(item=Item(n=n, kind="user", content=text))


def changed(uri: str, n: int) -> ArtifactObserved:
    return ArtifactObserved(uri=uri, kind="file", op="update", hash=str(n), backup="0", item=n)


def ran(n: int) -> ArtifactObserved:
    return ArtifactObserved(uri="cmd:make", kind="command", op="run", item=n)


def past(*data: Any) -> LookBack:
    return LookBack(Event(seq, AT, value) for seq, value in enumerate(data, 1))


THREE = past(
    prompt(1, "first"),
    changed("a", 2),
    prompt(3, "second"),
    ItemAdded(item=Item(n=4, kind="assistant", content="hm")),
    changed("a", 5),
    changed("b", 5),
    ran(6),
    prompt(7, "third"),
    ran(8),
)


async def test_a_prompt_comes_back_with_what_was_pasted_into_it() -> None:
    detail = {"act": "said", "pasted": [[4, 11]]}
    pasted = ItemAdded(item=Item(n=1, kind="user", content="see a\nb c d ok", detail=detail))
    context = FakeContext()
    await go_back(context, past(pasted), 1, ())
    assert (context.prompt, context.pasted) == ("see a\nb c d ok", ["a\nb c d"])


def test_each_prompt_tells_what_was_done_since() -> None:
    assert [(queued.n, queued.text, queued.files) for queued in THREE.prompts()] == [
        (7, "third", 0),
        (3, "second", 2),
        (1, "first", 2),
    ]
    assert [change.uri for change in THREE.changes(3)] == ["a", "b"]
    assert THREE.changes(1)[0].last.hash == "5"
    assert [THREE.commands(n) for n in (1, 3, 7)] == [2, 2, 1]


@pytest.mark.parametrize("n", [2, 4, 99])
def test_only_a_prompt_can_be_gone_back_to(n: int) -> None:
    with pytest.raises(CommandError, match=f"#{n} is not one of your prompts"):
        THREE.prompt(n)


async def test_the_command_opens_the_list_or_takes_a_number() -> None:
    context = FakeContext()
    await run(context, "/rewind")
    assert (context.opened, context.search) == (["rewind"], "")
    await run(context, "/rewind #3")
    assert (context.opened, context.search) == (["rewind"] * 2, "3")
    with pytest.raises(CommandError, match="number of a prompt"):
        await run(context, "/rewind yesterday")
    context.session.enter("streaming")
    with pytest.raises(CommandError, match="A turn is running"):
        await run(context, "/rewind")


async def test_going_back_forks_undoes_and_brings_the_prompt_back() -> None:
    context = FakeContext(session=live_session(id="old"))
    (change, _) = THREE.changes(3)
    await go_back(context, THREE, 3, [Undo(change, Path("a"), "ready")])
    assert context.host.opened == ["rewind 3"]
    assert context.prompt == "second"
    assert context.told == [
        "Rewound to before #3. The session as it was: /resume old",
        "Nothing was changed: the saved content of a is damaged.",  # none was ever saved
        "2 commands ran; what they changed is not undone.",
    ]


async def test_files_stay_where_they_are_not_named() -> None:
    context = FakeContext()
    await go_back(context, THREE, 7, ())
    assert context.told[1:] == ["1 command ran; what it changed is not undone."]
