"""Settings from four sources, each able to be wrong."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.settings import Settings, SettingsError
from pinfold.settings_check import complaint
from pinfold.settings_load import Loaded, load
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
    tmp_path.mkdir(exist_ok=True)
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
    found = loaded(tmp_path, user, project, env, {"model.name": "flag"}, trusted=True)
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


UNKNOWN = {
    "[model]\nnmae = 'x'": "model.nmae is not a setting; did you mean model.name?",
    "[modle]\nname = 'x'": "modle is not a section of settings; did you mean model?",
    "[qq]\na = 1": "qq is not a section of settings; there are model, providers, ",
    "[model]\nqq = 1": "model.qq is not a setting; there are name, provider, ",
    "nmae = 1": "nmae is not a section of settings",
    "[providers.x]\nbase_url = 'u'\napi_key = 'sk-1'": "did you mean providers.x.api_key_env?",
    "[prices.'gpt-5.2']\ninput = 1\nouput = 1": "prices.gpt-5.2.ouput is not a setting",
}


@pytest.mark.parametrize(("text", "said"), UNKNOWN.items(), ids=UNKNOWN)
def test_a_setting_that_is_not_known_is_refused_with_the_nearest(
    tmp_path: Path, text: str, said: str
) -> None:
    for trusted, files in ((False, (text, "")), (True, ("", text))):
        with pytest.raises(SettingsError, match=r"(user|project)\.toml: ") as caught:
            loaded(tmp_path, *files, trusted=trusted)
        assert said in str(caught.value)
        assert "sk-1" not in str(caught.value)
        (tmp_path / "user.toml").unlink(missing_ok=True)


def test_neither_is_one_from_a_flag_or_a_variable(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="nosuch is not a section"):
        loaded(tmp_path, flags={"nosuch.key": "1"})
    with pytest.raises(SettingsError, match=r"the environment: .* is not a setting"):
        loaded(tmp_path, env={"PINFOLD_AGENT__MAX_STEP": "1"})


VALUES = {
    "model.context_window=abc": (
        "model.context_window must be a number, not 'abc'; allowed: whole numbers from 1"
    ),
    "model.context_window=0": "model.context_window can't be '0'; allowed: whole numbers from 1",
    "agent.max_retries=-1": "agent.max_retries can't be '-1'; allowed: whole numbers from 0",
    "agent.prewarm=maybe": "agent.prewarm must be true or false, not 'maybe'; allowed: true, false",
    "approvals.mode=yolo": (
        "approvals.mode can't be 'yolo'; allowed: ask, full, read-only, workspace"
    ),
    "compact.target_pct=2": "compact.target_pct can't be '2'; allowed: numbers above 0 to 1",
    "compact.prepare_budget_pct=x": (
        "compact.prepare_budget_pct must be a number, not 'x'; allowed: numbers from 0 to 1"
    ),
    "compact.keep_roles=tool,toll": (
        "compact.keep_roles can't be ['tool', 'toll']; allowed: a list of decision, diff, tool"
    ),
    "providers.x.wire_api=chat": "providers.x needs base_url",
    "model=3": (
        "model must be a section, [model], not '3'; did you mean model.name? "
        "allowed: text in quotes"
    ),
    "approvals=yolo": (
        "approvals must be a section, [approvals], not 'yolo'; did you mean approvals.mode? "
        "allowed: ask, full, read-only, workspace"
    ),
    "providers.x=3": (
        "providers.x must be a section, [providers.x], not '3'; did you mean "
        "providers.x.base_url? allowed: text in quotes"
    ),
    "hooks.pre_tool=x": "hooks.pre_tool must be a list, not 'x'; allowed: a list of text in quotes",
}


@pytest.mark.parametrize(("given", "said"), VALUES.items(), ids=VALUES)
def test_a_value_that_cannot_be_used_is_told_with_what_can(
    tmp_path: Path, given: str, said: str
) -> None:
    name, _, value = given.partition("=")
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, flags={name: value})
    assert str(caught.value) == f"a flag: {said}"


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.dictionaries(
        st.sampled_from(["model", "providers", "agent", "hooks", "prices", "keys", "x\x1b[31m"]),
        odd
        | st.dictionaries(
            st.sampled_from(["name", "context_window", "prewarm", "pre_tool", "input", "\u202e"]),
            odd | st.dictionaries(st.sampled_from(["base_url", "headers", "input", "output"]), odd),
        ),
    )
)
def test_whatever_is_wrong_is_told_in_a_sentence(data: dict[str, Any]) -> None:
    """In a short one, with nothing that drives a terminal."""
    said = complaint(data, Settings)
    try:
        msgspec.convert(data, Settings, strict=False)
    except msgspec.ValidationError:
        assert said is not None
        assert "\x1b" not in said
        assert "\u202e" not in said
        assert len(said) < 400
    else:
        assert said is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a = " + b"[" * 5_000, "nested too deeply"),
        (b"a = " + b"9" * 5_000, "is not valid TOML"),
        (b"[model\n", "is not valid TOML: "),
        (b"a = '\xff'", "can't be read: it is not UTF-8 text"),
        (b"#" * 300_000, "can't be read: it has more than 262,144 bytes"),
    ],
)
def test_a_file_that_is_no_config_is_told_plainly(
    tmp_path: Path, content: bytes, said: str
) -> None:
    for name in ("user.toml", "project.toml"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SettingsError, match=name) as caught:
            loaded(tmp_path)
        assert said in str(caught.value)
        (tmp_path / name).unlink()


def test_a_pipe_in_the_place_of_a_config_file_hangs_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "project.toml")
    with pytest.raises(
        SettingsError, match=r"project\.toml can't be read: it is not a regular file"
    ):
        loaded(tmp_path)


WIDE = '[approvals]\nmode = "full"\nallow = ["rm"]\n[providers.evil]\nbase_url = "http://x"\n'


def test_an_untrusted_project_widens_nothing(tmp_path: Path) -> None:
    found = loaded(tmp_path, project=WIDE)
    assert found.settings.approvals.mode == "ask"
    assert found.settings.approvals.allow == ()
    assert not found.settings.providers
    assert "/trust" in found.warnings[0]


NARROW = """
[approvals]
mode = "read-only"
[compact]
auto = "off"
prepare = false
[agent]
prewarm = false
[memories]
enabled = false
generate = "off"
use = false
[ui]
theme = "paper"
"""


def test_an_untrusted_project_may_narrow(tmp_path: Path) -> None:
    found = loaded(tmp_path, "[agent]\nprewarm = true\n[memories]\nenabled = true", NARROW)
    settings = found.settings
    assert settings.approvals.mode == "read-only"
    assert (settings.compact.auto, settings.compact.prepare) == ("off", False)
    assert (settings.agent.prewarm, settings.ui.theme) == (False, "paper")
    memories = settings.memories
    assert (memories.enabled, memories.generate, memories.use) == (False, "off", False)
    assert not found.warnings


@pytest.mark.parametrize(
    ("user", "project"),
    [
        ("read-only", "ask"),
        ("ask", "workspace"),
        ("", "full"),
        ("", "yolo"),
        ("workspace", ["ask"]),
        ("workspace", True),
    ],
)
def test_approvals_only_narrow(tmp_path: Path, user: str, project: object) -> None:
    text = f'[approvals]\nmode = "{user}"' if user else ""
    found = loaded(tmp_path, text, f"[approvals]\nmode = {json.dumps(project)}")
    assert found.settings.approvals.mode == (user or "ask")
    assert "approvals.mode waits until you trust" in found.warnings[0]


@pytest.mark.parametrize(
    ("user", "project", "then"),
    [
        ("", "always", "always"),
        ("off", "after-compaction", "after-compaction"),
        ("", "off", "after-compaction"),
        ("always", "after-compaction", "always"),
        ("", ["always"], "after-compaction"),
    ],
)
def test_the_drift_question_only_comes_more_often(
    tmp_path: Path, user: str, project: object, then: str
) -> None:
    text = f'[approvals]\ndrift = "{user}"' if user else ""
    found = loaded(tmp_path, text, f"[approvals]\ndrift = {json.dumps(project)}")
    assert found.settings.approvals.drift == then
    assert bool(found.warnings) == (then != project)


WAITS = """
[model]
name = "dear-1"
reasoning_effort = "high"
max_output = 1_000_000
[agent]
prewarm = true
turn_metadata = false
max_steps = 7
[compact]
auto = "auto"
mode = "checkpoint"
prepare = true
[memories]
enabled = true
generate = "offline"
[prices.dear-1]
input = 0
output = 0
[tools]
env_keep = ["OPENAI_API_KEY"]
[typo]
x = 1
"""


def test_all_else_waits_for_trust_and_is_named(tmp_path: Path) -> None:
    user = "[compact]\nprepare = false\nauto = 'ask'"
    found = loaded(tmp_path, user, WAITS)
    assert found.settings == loaded(tmp_path / "none", user).settings
    (warning,) = found.warnings
    assert warning == (
        f"{tmp_path / 'project.toml'}: model.name, model.reasoning_effort, model.max_output, "
        "agent.prewarm, agent.turn_metadata, agent.max_steps, compact.auto, compact.mode, "
        "compact.prepare, memories.enabled, memories.generate, prices.dear-1 and 2 more wait until "
        "you trust this folder (/trust)"
    )


def test_a_project_sets_no_servers(tmp_path: Path) -> None:
    servers = "[mcp.servers.a]\ncommand = 'x'"
    for trusted in (False, True):
        found = loaded(tmp_path, project=servers, trusted=trusted)
        assert not found.settings.mcp.servers
        assert "mcp.servers can only be set in your own config" in found.warnings[0]
    assert loaded(tmp_path, servers).settings.mcp.servers["a"].command == "x"


def test_the_names_that_wait_are_few_short_and_harmless(tmp_path: Path) -> None:
    names = [f'"k{n}\\u001b]52;c;\\u0007{"x" * 2_000}" = 1' for n in range(100)]
    (warning,) = loaded(tmp_path, project="[model]\n" + "\n".join(names)).warnings
    assert "and 88 more wait until" in warning
    assert len(warning) < 1_200
    assert warning.isprintable()


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


def test_an_untrusted_project_binds_no_key_and_chooses_no_model(tmp_path: Path) -> None:
    project = '[keys]\nallow = "enter"\n[model]\nname = "m"\nprovider = "openrouter"'
    found = loaded(tmp_path, project=project)
    assert found.settings == Settings()
    assert "keys.allow, model.name, model.provider wait until" in found.warnings[0]


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
    with pytest.raises(SettingsError, match=r"user\.toml: .* can't be .*; allowed: "):
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


TEAM = '[memories]\ndatabase = "postgresql+psycopg://ada@db/team"\n[[memories.team]]\n'


def test_only_the_user_says_what_is_shared_with_whom(tmp_path: Path) -> None:
    text = f'{TEAM}folder = "/work/payments"\nname = "payments"'
    (team,) = loaded(tmp_path / "a", text).settings.memories.team
    assert (team.folder, team.name) == ("/work/payments", "payments")
    found = loaded(tmp_path / "b", project=text, trusted=True)
    assert found.settings == Settings()
    (warning,) = found.warnings
    assert "memories.database and memories.team can only be set in your own config" in warning


@pytest.mark.parametrize(
    ("team", "said"),
    [
        ('folder = "work"\nname = "p"', "memories.team.folder can't be 'work'"),
        ('folder = "/w"\nname = "../p"', "memories.team.name can't be '../p'"),
        ('folder = "/w"', "memories.team needs name"),
    ],
)
def test_a_wrong_team_is_named(tmp_path: Path, team: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, TEAM + team)
    assert said in str(caught.value)
