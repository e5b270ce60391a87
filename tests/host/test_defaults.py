"""Options of a compaction become the user's defaults, and nothing else in their file changes."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinfold.compaction.view import PlanOptions
from pinfold.host.app_context import AppContext, app_context, config_files
from pinfold.host.defaults import _changed, save
from pinfold.host.sessions import plan_options
from pinfold.settings import SettingsError
from pinfold.trust import trust

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
def ctx(home: Path) -> AppContext:
    return app_context()


def user_file(ctx: AppContext, text: str | None = None) -> Path:
    file, _ = config_files(ctx.cwd)
    if text is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return file


def options(ctx: AppContext, **changes: object) -> PlanOptions:
    now = plan_options(ctx.settings.compact)
    return replace(now, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_what_is_written_is_read_and_the_rest_stays(ctx: AppContext, text: str) -> None:
    file = user_file(ctx, text)
    said = save(ctx, "prune", options(ctx, max_tail_messages=4, keep_files_glob=("src/**",)))
    after = tomllib.loads(file.read_text())
    before = tomllib.loads(text)
    assert after == {**before, "compact": {**before.get("compact", {}), **NEW}}
    assert 'mode = "prune", max_tail_messages = 4, keep_files_glob = ["src/**"]' in said
    compact = ctx.in_folder(ctx.cwd).settings.compact
    assert (compact.mode, compact.max_tail_messages) == ("prune", 4)


def test_comments_and_order_stay(ctx: AppContext) -> None:
    file = user_file(ctx, FILES["ours"])
    save(ctx, "prune", options(ctx, max_tail_messages=4))
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


def test_line_ends_and_rights_stay(ctx: AppContext) -> None:
    file = user_file(ctx, FILES["ours"].replace("\n", "\r\n"))
    file.chmod(0o644)
    save(ctx, "prune", options(ctx))
    assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n")
    assert file.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_link_stays_one(ctx: AppContext, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(FILES["ours"])
    file = user_file(ctx)
    file.parent.mkdir(parents=True)
    file.symlink_to(real)
    save(ctx, "prune", options(ctx))
    assert file.is_symlink()
    assert 'mode = "prune"' in real.read_text()


def test_what_is_the_default_already_is_not_written(ctx: AppContext) -> None:
    assert save(ctx, ctx.settings.compact.mode, options(ctx)) == "These are already the defaults."
    assert not user_file(ctx).exists()


def test_a_file_that_can_t_be_read_is_left_alone(ctx: AppContext) -> None:
    file = user_file(ctx, "[compact\n")
    with pytest.raises(SettingsError, match=r"config\.toml"):
        save(ctx, "prune", options(ctx))
    assert file.read_text() == "[compact\n"


def test_what_can_t_be_written_is_told(ctx: AppContext) -> None:
    file = user_file(ctx, FILES["ours"])
    (file.parent / "config.toml.tmp").mkdir()  # where it would be written first
    with pytest.raises(SettingsError, match="could not be written"):
        save(ctx, "prune", options(ctx))
    assert file.read_text() == FILES["ours"]


def test_what_overrides_it_is_told(
    ctx: AppContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINFOLD_COMPACT__MODE", "checkpoint")
    project = tmp_path / ".pinfold" / "config.toml"
    project.parent.mkdir()
    project.write_text("[compact]\nmax_tail_messages = 7\n")
    trust(ctx.home, tmp_path)
    said = save(ctx, "prune", options(ctx, max_tail_messages=4))
    assert "the environment still sets compact.mode" in said
    assert f"{project} still sets compact.max_tail_messages here." in said
    assert tomllib.loads(user_file(ctx).read_text())["compact"] == {
        "mode": "prune",
        "max_tail_messages": 4,
    }
