"""The profile for macOS, as text: nobody has run it."""

from pathlib import Path
from typing import Any

from pinfold.ports.tool import Sandbox
from pinfold.tools.sandbox.places import GuardedPlaces
from pinfold.tools.sandbox.seatbelt import profile

WORK = Path("/Users/u/work")
PLACES = GuardedPlaces({WORK / ".git" / "hooks": (1, 0)}, {WORK / ".git": (2, 0)})
HIDDEN = {Path("/Users/u/.ssh"), WORK / "secret"}


def lines(**changed: Any) -> list[str]:
    sandbox = Sandbox("seatbelt", (WORK,), Path("/s"), **changed)
    return profile(sandbox, PLACES, HIDDEN, [Path("/s/tmp")]).splitlines()


def test_what_may_be_written_is_said_before_what_may_not() -> None:
    found = lines()
    assert found[1] == "(deny default)"
    allowed = found.index('(allow file-read* file-write* (subpath "/Users/u/work"))')
    for rule in (
        '(deny file-read* file-write* (subpath "/Users/u/work/secret"))',
        '(deny file-write* (subpath "/Users/u/work/.git/hooks"))',
        '(deny file-write-unlink (literal "/Users/u/work/.git"))',
    ):
        assert found.index(rule) > allowed
    assert found.index('(deny file-read* file-write* (subpath "/Users/u/.ssh"))') < allowed
    assert '(allow file-read* file-write* (subpath "/s/tmp"))' in found


def test_without_a_writable_place() -> None:
    assert not [
        line
        for line in lines(writes=False)
        if "allow" in line and "/Users" in line and "write" in line
    ]


def test_the_network_is_there_where_it_is_allowed() -> None:
    assert not [line for line in lines() if "network" in line]
    assert "(deny network-outbound (remote unix-socket))" in lines(network=True)


def test_a_name_cannot_end_a_rule() -> None:
    sandbox = Sandbox("seatbelt", (Path('/x")(allow default)("'),), Path("/s"))
    assert '(subpath "/x\\")(allow default)(\\""))' in profile(sandbox, GuardedPlaces(), (), ())
