"""Prompts come with pinfold, unless the user or a trusted project has their own."""

import pytest

from pinfold.compaction import prompts


def test_an_override_replaces_a_prompt_and_an_empty_one_does_not() -> None:
    assert {"handoff", "handoff_prefix"} <= set(prompts.names())
    assert all(prompts.text(name, {}) for name in prompts.names())
    assert prompts.text("handoff", {"handoff": "Be short."}) == "Be short."
    assert prompts.text("handoff", {"handoff": ""}) == prompts.text("handoff", {})
    with pytest.raises(KeyError):
        prompts.text("poem", {})
