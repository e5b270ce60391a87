"""Options of a compaction become the user's defaults, and nothing else in their file changes."""

import argparse
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.compaction.view import PlanOptions
from pinfold.settings import SettingsError
from pinfold.trust import trust
from pinfold.wiring.defaults import _changed, save
from pinfold.wiring.house import House, config_files, house
from pinfold.wiring.sessions import plan_options

FILES = {
    "ours": '# mine\n[compact]\nmode = "checkpoint"  # safe\n\n# the screen\n[ui]\ntheme = "a"\n',
    "another": '[ui]\ntheme = "a" # dark',
    "dotted": 'compact.mode = "checkpoint"\nui.theme = "a"\n',
    "inline": 'compact = {mode = "checkpoint"}\n[ui]\ntheme = "a"\n',
    "list": '[compact]\nkeep_files_glob = [\n  "a",  # one\n]\n[ui]\ntheme = "a"\n',
    "none": "",
}
NEW = {"mode": "prune", "max_tail_messages": 4, "keep_files_glob": ["src/**"]}


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setenv("PINFOLD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return house(argparse.Namespace(cd=tmp_path))


def user_file(at: House, text: str | None = None) -> Path:
    file, _ = config_files(at.cwd)
    if text is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return file


def options(at: House, **changes: object) -> PlanOptions:
    now = plan_options(at.settings.compact)
    return replace(now, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_what_is_written_is_read_and_the_rest_stays(at: House, text: str) -> None:
    file = user_file(at, text)
    said = save(at, "prune", options(at, max_tail_messages=4, keep_files_glob=("src/**",)))
    after = tomllib.loads(file.read_text())
    before = tomllib.loads(text)
    assert after == {**before, "compact": {**before.get("compact", {}), **NEW}}
    assert 'mode = "prune", max_tail_messages = 4, keep_files_glob = ["src/**"]' in said
    compact = at.at(at.cwd).settings.compact
    assert (compact.mode, compact.max_tail_messages) == ("prune", 4)


def test_comments_and_order_stay(at: House) -> None:
    file = user_file(at, FILES["ours"])
    save(at, "prune", options(at, max_tail_messages=4))
    assert file.read_text() == FILES["ours"].replace(
        '"checkpoint"  # safe\n', '"prune"  # safe\nmax_tail_messages = 4\n'
    )


@given(
    st.sampled_from(list(FILES.values())), st.dictionaries(st.sampled_from(list(NEW)), st.none())
)
def test_only_the_values_given_change(text: str, chosen: dict[str, None]) -> None:
    values = {name: NEW[name] for name in chosen}
    before = tomllib.loads(text)
    compact = {**before.get("compact", {}), **values}
    after = tomllib.loads(_changed(text, "compact", values))
    assert after == ({**before, "compact": compact} if compact else {**before, "compact": {}})


def test_line_ends_and_rights_stay(at: House) -> None:
    file = user_file(at, FILES["ours"].replace("\n", "\r\n"))
    file.chmod(0o644)
    save(at, "prune", options(at))
    assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n")
    assert file.stat().st_mode & 0o777 == 0o644
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_a_link_stays_one(at: House, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(FILES["ours"])
    file = user_file(at)
    file.parent.mkdir(parents=True)
    file.symlink_to(real)
    save(at, "prune", options(at))
    assert file.is_symlink()
    assert 'mode = "prune"' in real.read_text()


def test_what_is_the_default_already_is_not_written(at: House) -> None:
    assert save(at, at.settings.compact.mode, options(at)) == "These are the defaults already."
    assert not user_file(at).exists()


def test_a_file_that_can_t_be_read_is_left_alone(at: House) -> None:
    file = user_file(at, "[compact\n")
    with pytest.raises(SettingsError, match=r"config\.toml"):
        save(at, "prune", options(at))
    assert file.read_text() == "[compact\n"


def test_what_can_t_be_written_is_told(at: House) -> None:
    file = user_file(at, FILES["ours"])
    (file.parent / "config.toml.tmp").mkdir()  # where it would be written first
    with pytest.raises(SettingsError, match="could not be written"):
        save(at, "prune", options(at))
    assert file.read_text() == FILES["ours"]


def test_what_overrides_it_is_told(
    at: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINFOLD_COMPACT__MODE", "checkpoint")
    project = tmp_path / ".pinfold" / "config.toml"
    project.parent.mkdir()
    project.write_text("[compact]\nmax_tail_messages = 7\n")
    trust(at.home, tmp_path)
    said = save(at, "prune", options(at, max_tail_messages=4))
    assert "the environment still sets compact.mode" in said
    assert f"{project} still sets compact.max_tail_messages here." in said
    assert tomllib.loads(user_file(at).read_text())["compact"] == {
        "mode": "prune",
        "max_tail_messages": 4,
    }
