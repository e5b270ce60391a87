"""The registry: one list that commands, keys, palette and help draw on."""

from collections import Counter

import pytest

from pinfold.commands import registry
from pinfold.commands.arguments import CommandError


def test_ids_and_slash_names_are_unique() -> None:
    names = [name for action in registry.ACTIONS for name in action.slash]
    assert not [name for name, count in Counter(names).items() if count > 1]
    assert len(registry.BY_ID) == len(registry.ACTIONS)


def test_every_command_can_be_run_and_every_other_action_has_a_key() -> None:
    for action in registry.ACTIONS:
        assert action.run if action.slash else action.keys, action.id


def test_parse_splits_name_and_argument() -> None:
    parsed = registry.parse("/fork  12 ")
    assert parsed is not None
    assert (parsed[0].id, parsed[1]) == ("fork", "12")


@pytest.mark.parametrize("text", ["hello", "/usr/bin is full", " /help", "/", "a /help"])
def test_other_text_is_no_command(text: str) -> None:
    assert registry.parse(text) is None


def test_an_unknown_command_names_the_nearest() -> None:
    with pytest.raises(CommandError, match=r"no command /modle\. Did you mean /model\?"):
        registry.parse("/modle x")
