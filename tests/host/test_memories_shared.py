"""What the first screen says of a folder that is shared with a team."""

from pathlib import Path

from fakes.team_copies import NOBODY, pulled, shared
from pinfold.host.app_context import AppContext
from pinfold.host.memories_offer import offer
from pinfold.settings import MemorySettings, Settings, TeamSettings
from pinfold.settings_load import Loaded


def test_it_says_what_is_shared_with_whom_and_what_is_here(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    teams = pulled(
        tmp_path, work, shared("The limit is 60."), shared("The limit is 70.", owner="eve")
    )
    teams.copies[0].note_shared("s", {"- fact: x [s#1]": "an id"})
    memories = MemorySettings(
        enabled=True, database=NOBODY, team=(TeamSettings(str(work), "payments"),)
    )
    loaded = Loaded(Settings(memories=memories), {}, (), ())

    def said(cwd: Path) -> str:
        return offer(AppContext(loaded, cwd, tmp_path, tmp_path, {}))

    assert said(work / "src") == (
        f"Shared with payments: what sessions in {work} teach. 1 line of yours shared so far, "
        "2 of 2 others are here, pulled 2026-02-25 06:13 UTC. /memories shows whose each line is."
    )
    assert said(tmp_path) == ""
