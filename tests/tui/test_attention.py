"""What the terminal is told beside the screen."""

from collections.abc import Mapping

import pytest

from pinfold.settings import Notify
from pinfold.tui.attention import Attention, method


@pytest.mark.parametrize(
    ("env", "how"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, "osc9"),
        ({"KITTY_WINDOW_ID": "1"}, "osc9"),
        ({"VTE_VERSION": "7600"}, "osc777"),
        ({"TERM": "rxvt-unicode-256color"}, "osc777"),
        ({"TERM_PROGRAM": "iTerm.app", "TMUX": "/tmp/1"}, "bell"),
        ({"TERM": "xterm-256color"}, "bell"),
    ],
)
def test_the_terminal_says_how_it_is_notified(env: Mapping[str, str], how: str) -> None:
    assert method(env) == how


@pytest.mark.parametrize(
    ("how", "sequences"),
    [
        ("osc9", ["\x1b]9;pinfold: work: waiting for approval\x07"]),
        ("osc777", ["\x1b]777;notify;pinfold;work: waiting for approval\x07"]),
        ("bell", ["\x07"]),
        ("off", []),
    ],
)
def test_a_question_is_told_only_where_nobody_looks(how: Notify, sequences: list[str]) -> None:
    written: list[str] = []
    attention = Attention(written.append, how, {}, has_title=False)
    attention.show("work", "idle")
    attention.changed("tools", "approval")
    assert written == []
    attention.focus(False)
    attention.changed("tools", "approval")
    assert written == sequences
    attention.changed("approval", "tools")
    assert written == sequences
    attention.changed("tools", "idle")
    assert len(written) == 2 * len(sequences)


def test_the_title_follows_the_phase_and_is_given_back() -> None:
    written: list[str] = []
    attention = Attention(written.append, "off", {})
    attention.show("we\x07ird\x1b]0;x", "idle")
    attention.changed("idle", "requesting")
    attention.changed("requesting", "streaming")
    attention.changed("tools", "approval")
    attention.close()
    attention.changed("approval", "idle")
    assert written[0].startswith("\x1b[22;2t\x1b]2;pinfold · ")
    assert written[0].count("\x07") == 1
    assert [line[4:6] for line in written[1:3]] == ["… ", "? "]
    assert written[3:] == ["\x1b[23;2t"]
