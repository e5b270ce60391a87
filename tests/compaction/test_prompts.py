"""Prompts come from the house, unless the user or a trusted project has their own."""

from pathlib import Path

import pytest

from pinfold.compaction import prompts


def test_every_prompt_of_the_house_says_something() -> None:
    assert {"handoff", "handoff_prefix"} <= set(prompts.names())
    assert all(prompts.text(name, {}) for name in prompts.names())


def test_an_override_takes_the_place_of_the_house_and_an_empty_one_does_not() -> None:
    assert prompts.text("handoff", {"handoff": "Be short."}) == "Be short."
    assert prompts.text("handoff", {"handoff": ""}) == prompts.text("handoff", {})


def test_a_prompt_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        prompts.text("poem", {})


def test_they_come_with_the_package() -> None:
    assert all(
        (Path(prompts.__file__).parent / "prompts" / f"{n}.md").is_file() for n in prompts.names()
    )
