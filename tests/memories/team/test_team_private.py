"""What never leaves: private folders, rollouts, absolute paths, names of homes, secrets."""

from pathlib import Path

import pytest

from fakes.digests import asked, called, replied
from fakes.postgres import ADMIN, needed, postgres
from fakes.teams import Machine
from pinfold.memories.team.server import TeamDatabase

pytestmark = [needed, pytest.mark.slow]

KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 2


def test_of_fifty_lines_of_a_private_folder_none_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server writes every statement with its parameters into its log."""
    marks = [f"MARK{n:02}quux" for n in range(50)]
    home = tmp_path / "home" / "quirinus"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    with postgres("log_statement = 'all'", "log_parameter_max_length = -1") as pg:
        pg.team_database("team")
        owner = TeamDatabase(pg.url(ADMIN, "team"), {})
        with owner.transaction():
            pass
        ada, ben = Machine(home, "ada", pg, "team"), Machine(tmp_path / "ben", "ben", pg, "team")
        for at in range(0, 40, 5):  # sessions of the private folder itself
            ada.worked(
                *(
                    f"Please remember rule {mark}: never ship it on a Friday."
                    for mark in marks[at : at + 5]
                ),
                cwd=ada.private,
                command=f"make {marks[at]}",
                file=f"{marks[at]}.py",
            )
        for at in range(40, 50):  # sessions of the shared one that look into it
            (ada.private / f"{marks[at]}.txt").write_text(marks[at])
            _looked(ada, marks[at], at)
        remembered = "".join(row.raw_memory for row in ada.state.outputs())
        assert [mark for mark in marks if mark not in remembered] == []
        ada.worked("Please always run the tests with make test; the refund limit is 60.")
        ada.through()
        ben.through()
        ada.through()
        assert any("refund limit" in text for text in ben.lines)
        tables = pg.sql(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'pinfold'", database="team"
        )
        held = {
            str(name): str(pg.sql(f"SELECT * FROM pinfold.{name}", database="team"))
            for (name,) in tables
        }
        held["log"] = pg.log.read_text(errors="replace")
        assert "refund limit is 60" in held["lines"]
        assert "refund limit is 60" in held["log"]
        for where, text in held.items():
            for gone in [*marks, KEY, "quirinus", "rollout.jsonl", str(tmp_path), "/home/"]:
                assert gone.casefold() not in text.casefold(), f"{gone} is in {where}"
        for one in (ada, ben):
            one.close()
        owner.close()


def _looked(machine: Machine, mark: str, n: int) -> None:
    private = machine.private / f"{mark}.txt"
    up = f"../private/{mark}.txt"
    reads = [f"cat {private}", f"cat {up}", f"cat ~/work/private/{mark}.txt"][n % 3]
    machine.session(
        asked(f"Please look into issue {n} of the refund queue, and use the key {KEY} for it."),
        called("command", mark, command=reads, exit_code=0),
        called("command", mark, command=reads, exit_code=0),
        called("read", mark, paths=[str(private)]),
        called("edit", "edited", paths=[up], diff=f"@@\n-old\n+{mark}"),
        replied(
            f"Fixed issue {n} in {machine.repository}/limits.py, as {machine.repository} needs."
        ),
    )
