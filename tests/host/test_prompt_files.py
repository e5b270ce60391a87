"""The user's own prompts, and those of a project that they trust."""

import os
from pathlib import Path

import pytest

from pinfold import paths
from pinfold.host.app_context import AppContext
from pinfold.host.prompts import MAX_BYTES, overrides
from pinfold.settings import SettingsError
from pinfold.trust import trust


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / "prompts" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_the_users_prompts_take_the_place_of_the_houses(ctx: AppContext) -> None:
    assert overrides(ctx) == {}
    write(paths.config_folder(), "handoff", "Be terse.\n")
    write(paths.config_folder(), "handoff_prefix", "\n")
    write(paths.config_folder(), "poem", "Roses are red.")
    assert overrides(ctx) == {"handoff": "Be terse."}


def test_a_projects_prompts_count_only_where_it_is_trusted(ctx: AppContext) -> None:
    write(paths.config_folder(), "handoff", "The user's.")
    write(ctx.cwd / ".pinfold", "handoff", "The project's.")
    assert overrides(ctx) == {"handoff": "The user's."}
    trust(ctx.home, ctx.cwd)
    assert overrides(ctx) == {"handoff": "The project's."}


def test_what_is_no_prompt_is_named(ctx: AppContext) -> None:
    file = write(paths.config_folder(), "handoff", "x" * (MAX_BYTES + 1))
    with pytest.raises(SettingsError, match=r"handoff\.md can't be read as a prompt: it has more"):
        overrides(ctx)
    file.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(
        SettingsError, match=r"handoff\.md can't be read as a prompt: it is not UTF"
    ):
        overrides(ctx)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(SettingsError, match=r"handoff\.md can't be read as a prompt: it is not a"):
        overrides(ctx)
