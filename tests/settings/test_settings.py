"""Settings from four sources, each able to be wrong."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pinfold.settings import Loaded, SettingsError, load
from pinfold.trust import is_trusted, trust


def loaded(
    tmp_path: Path,
    user: str = "",
    project: str = "",
    env: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
    *,
    trusted: bool = False,
) -> Loaded:
    files = tmp_path / "user.toml", tmp_path / "project.toml"
    for file, text in zip(files, (user, project), strict=True):
        if text:
            file.write_text(text)
    return load(
        env=env or {},
        user_file=files[0],
        project_file=files[1],
        trusted=trusted,
        flags=flags or {},
    )


def test_nothing_set_gives_defaults(tmp_path: Path) -> None:
    found = loaded(tmp_path)
    assert found.settings.approvals.mode == "ask"
    assert found.files == ()


def test_a_flag_beats_the_environment_beats_the_project_beats_the_user(tmp_path: Path) -> None:
    user = '[model]\nname = "user"\nprovider = "p"\ncontext_window = 1\nmax_output = 1'
    project = '[model]\nname = "project"\ncontext_window = 2\nmax_output = 2'
    env = {"PINFOLD_MODEL__NAME": "env", "PINFOLD_MODEL__MAX_OUTPUT": "3"}
    found = loaded(tmp_path, user, project, env, {"model.name": "flag"})
    model = found.settings.model
    assert (model.name, model.max_output, model.context_window, model.provider) == (
        "flag",
        3,
        2,
        "p",
    )
    assert found.origins["model.name"] == "a flag"
    assert found.origins["model.max_output"] == "the environment"
    assert found.origins["model.provider"].endswith("user.toml")


def test_a_provider_can_come_from_the_environment_alone(tmp_path: Path) -> None:
    env = {
        "PINFOLD_PROVIDERS__MINE__BASE_URL": "http://localhost:1/v1",
        "PINFOLD_PROVIDERS__MINE__IDLE_TIMEOUT": "5",
    }
    provider = loaded(tmp_path, env=env).settings.providers["mine"]
    assert (provider.base_url, provider.idle_timeout) == ("http://localhost:1/v1", 5.0)


def test_a_list_in_the_environment_is_split_at_commas(tmp_path: Path) -> None:
    env = {"PINFOLD_APPROVALS__ALLOW": "git status,pytest"}
    assert loaded(tmp_path, env=env).settings.approvals.allow == ("git status", "pytest")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[model]\ncontext_window = "many"', "context_window"),
        ('[approvals]\nmode = "yolo"', "approvals.mode"),
        ("[providers.x]\nwire_api = 'chat'", "base_url"),
        ("[model", "user.toml"),
        ("model = 3", "model"),
    ],
)
def test_a_wrong_value_names_its_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=r"user\.toml") as caught:
        loaded(tmp_path, text)
    assert said in str(caught.value)


def test_a_wrong_variable_says_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="the environment"):
        loaded(tmp_path, env={"PINFOLD_MODEL__CONTEXT_WINDOW": "many"})


def test_unknown_settings_are_warned_of_and_kept_out(tmp_path: Path) -> None:
    found = loaded(tmp_path, "[model]\nnmae = 'x'\n[tpyo]\na = 1")
    assert len(found.warnings) == 2
    assert "model.nmae" in found.warnings[0]


WIDE = '[approvals]\nmode = "full"\nallow = ["rm"]\n[providers.evil]\nbase_url = "http://x"\n'


def test_an_untrusted_project_widens_nothing(tmp_path: Path) -> None:
    found = loaded(tmp_path, project=WIDE)
    assert found.settings.approvals.mode == "ask"
    assert found.settings.approvals.allow == ()
    assert not found.settings.providers
    assert "/trust" in found.warnings[0]


def test_an_untrusted_project_may_narrow(tmp_path: Path) -> None:
    found = loaded(tmp_path, project='[approvals]\nmode = "read-only"')
    assert found.settings.approvals.mode == "read-only"
    assert not found.warnings


SPENDING = """
[agent]
prewarm = true
turn_metadata = true
max_steps = 7
[compact]
mode = "snapshot"
model = "dear-1"
context_window = 1000000
prepare = true
prepare_threshold_pct = 0.01
prepare_budget_pct = 1.0
target_pct = 0.2
"""


def test_an_untrusted_project_spends_nothing(tmp_path: Path) -> None:
    user = "[agent]\nturn_metadata = false\n[compact]\nprepare = false"
    found = loaded(tmp_path, user, SPENDING)
    agent, compact = found.settings.agent, found.settings.compact
    assert (agent.prewarm, agent.turn_metadata, agent.max_steps) == (False, False, 7)
    assert (compact.mode, compact.model, compact.context_window) == ("layered", None, None)
    assert (compact.prepare, compact.target_pct) == (False, 0.2)
    assert (compact.prepare_threshold_pct, compact.prepare_budget_pct) == (0.70, 0.10)
    (warning,) = found.warnings
    left_out = warning.partition(": ")[2].partition(" left out")[0].split(", ")
    assert left_out == [
        "agent.prewarm",
        "agent.turn_metadata",
        "compact.mode",
        "compact.model",
        "compact.context_window",
        "compact.prepare",
        "compact.prepare_threshold_pct",
        "compact.prepare_budget_pct",
    ]
    assert "/trust" in warning


def test_an_untrusted_project_may_spend_less(tmp_path: Path) -> None:
    user = '[agent]\nprewarm = true\n[compact]\nmode = "snapshot"'
    project = '[agent]\nprewarm = false\n[compact]\nprepare = false\nmode = "{}"'
    for mode in ("prune", "checkpoint", "layered"):
        found = loaded(tmp_path, user, project.format(mode))
        assert not found.warnings
        assert not found.settings.agent.prewarm
        assert (found.settings.compact.mode, found.settings.compact.prepare) == (mode, False)


def test_an_untrusted_project_begins_no_summaries_in_the_background(tmp_path: Path) -> None:
    """A user of `checkpoint` has none, and `layered` would write them."""
    user, project = '[compact]\nmode = "checkpoint"', '[compact]\nmode = "layered"'
    found = loaded(tmp_path, user, project)
    assert found.settings.compact.mode == "checkpoint"
    assert "compact.mode" in found.warnings[0]


def test_a_trusted_project_counts_in_full(tmp_path: Path) -> None:
    settings = loaded(tmp_path, project=WIDE, trusted=True).settings
    assert settings.approvals.mode == "full"
    assert "evil" in settings.providers


def test_trust_covers_what_lies_in_the_folder(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "code"
    assert not is_trusted(home, folder)
    trust(home, folder)
    assert is_trusted(home, folder / "inner")
    assert not is_trusted(home, tmp_path)
    (home / "trusted.json").write_text("{broken")
    assert not is_trusted(home, folder)


def test_an_untrusted_project_binds_no_key_and_chooses_no_provider(tmp_path: Path) -> None:
    project = '[keys]\nallow = "enter"\n[model]\nname = "m"\nprovider = "openrouter"'
    found = loaded(tmp_path, project=project)
    assert not found.settings.keys
    assert found.settings.model.provider is None
    assert found.settings.model.name == "m"
    assert "keys, model.provider left out" in found.warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        "[agent]\nmax_steps = 0",
        "[agent]\nmax_retries = -1",
        "[model]\ncontext_window = 0",
        "[model]\nmax_output = -5",
        '[providers.x]\nbase_url = "http://x"\nidle_timeout = 0',
    ],
)
def test_a_number_out_of_range_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match=r"user\.toml.*>"):
        loaded(tmp_path, text)


def test_a_flag_and_a_variable_list_prefixes_alike(tmp_path: Path) -> None:
    given = loaded(tmp_path, flags={"approvals.allow": "git status,pytest"})
    assert given.settings.approvals.allow == ("git status", "pytest")
    bound = loaded(tmp_path, env={"PINFOLD_KEYS__ALLOW": "ctrl+y"})
    assert bound.settings.keys == {"allow": "ctrl+y"}


def test_a_value_that_is_also_a_section_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"a flag: both model\.name and model\.name\.y"):
        loaded(tmp_path, flags={"model.name": "x", "model.name.y": "z"})
    with pytest.raises(SettingsError, match="the environment"):
        loaded(tmp_path, env={"PINFOLD_MODEL__NAME": "x", "PINFOLD_MODEL__NAME__Y": "z"})


def test_the_seeds_name_of_snapshot_is_read(tmp_path: Path) -> None:
    found = loaded(tmp_path, '[compact]\nmode = "hierarchical"')
    assert found.settings.compact.mode == "snapshot"
