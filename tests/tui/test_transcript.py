import json
from typing import Literal

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from fakes.transcripts import DIFF, REPLY, Host, call, conversation, messages, shown
from pinfold.ports.provider import CallDelta, ReasoningDelta, TextDelta
from pinfold.rollout.items import Item
from pinfold.tui.transcript.view import Transcript

SIZE = (80, 24)


def text_of(transcript: Transcript) -> str:
    return "\n".join(shown(transcript))


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> None:
    await pilot.mouse_down(Transcript, offset=start)
    await pilot.hover(Transcript, offset=end)
    await pilot.mouse_up(Transcript, offset=end)
    await pilot.pause()


async def test_a_resumed_session_opens_at_its_end_and_draws_little() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.load(messages(5_000))
        await pilot.pause()
        assert "item 5000 line" in shown(transcript)[-1]
        drawn = [block for block in transcript._column.blocks if block.drawn]
        assert len(drawn) < 50


@pytest.mark.slow
async def test_scrolling_up_through_estimates_never_skips_a_row() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        long = "word " * 60
        transcript.load(
            Item(n=n, kind="assistant", content=f"first {n}\n\n- {long}\n\n```\n{n}\n```\nlast {n}")
            for n in range(1, 20)
        )
        await pilot.pause()
        while transcript.scroll_y > 0:
            before = shown(transcript)
            transcript.scroll_up(animate=False)
            await pilot.pause()
            assert shown(transcript)[1:] == before[:-1]
        assert "first 1" in shown(transcript)[0]


async def test_home_shows_the_first_item_whatever_was_estimated() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load(messages(3_000))
        await pilot.pause()
        app.transcript.scroll_home()
        await pilot.pause()
        assert "item 1 line 0" in shown(app.transcript)[0]


async def test_a_streamed_reply_looks_as_the_item_that_takes_its_place() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.append(Item(n=1, kind="user", content="Why?"))
        for i in range(0, len(REPLY), 7):
            transcript.stream(TextDelta(REPLY[i : i + 7]))
            transcript.flush()
        await pilot.pause()
        streamed = [row[6:] for row in shown(transcript)]
        transcript.append(Item(n=2, kind="assistant", content=REPLY))
        await pilot.pause()
        assert [row[6:] for row in shown(transcript)] == streamed
        fresh = [Item(n=1, kind="user", content="Why?")]
        transcript.load([*fresh, Item(n=2, kind="assistant", content=REPLY)])
        await pilot.pause()
        assert [row[6:] for row in shown(transcript)] == streamed


async def test_void_pieces_disappear() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.append(Item(n=1, kind="user", content="Why?"))
        for delta in (ReasoningDelta("hm"), TextDelta("Because"), CallDelta(0, "shell", "{")):
            transcript.stream(delta)
        transcript.flush()
        await pilot.pause()
        assert "∙ thinking" in text_of(transcript)
        assert "Because" in text_of(transcript)
        transcript.drop_stream()
        await pilot.pause()
        assert [row for row in shown(transcript) if row] == ["   #1 ▌ Why?"]


async def test_deltas_are_painted_by_the_frame_not_one_by_one() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.stream(TextDelta("a "))
        transcript.flush()
        for word in ("b ", "c"):
            transcript.stream(TextDelta(word))
            assert shown(transcript)[0].strip() == "a"
        transcript.flush()
        await pilot.pause()
        assert shown(transcript)[0].strip() == "a b c"


async def test_what_the_user_reads_stays_put_while_more_comes() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.load(messages(100))
        await pilot.pause()
        transcript.scroll_up(animate=False)
        await pilot.pause()
        before = shown(transcript)
        transcript.stream(TextDelta("one\n\ntwo\n\nthree"))
        transcript.flush()
        transcript.append(Item(n=101, kind="assistant", content="one\n\ntwo\n\nthree"))
        await pilot.pause()
        assert shown(transcript) == before
        assert transcript.behind == 6
        transcript.scroll_end()
        await pilot.pause()
        assert shown(transcript)[-1].endswith("three")
        assert transcript.behind == 0


async def test_rows_in_view_stay_put_when_those_above_change() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.stream(ReasoningDelta("so\n" * 20))
        transcript.stream(TextDelta("\n\n".join(f"line {i}" for i in range(60))))
        transcript.flush()
        await pilot.pause()
        transcript.scroll_up(animate=False)
        await pilot.pause()
        before = shown(transcript)
        transcript.append(Item(n=1, kind="reasoning", content="so\n" * 20))
        await pilot.pause()
        assert shown(transcript) == before


async def test_a_resize_keeps_the_end_in_view() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load(conversation())
        await pilot.pause()
        for size in ((40, 20), (120, 40), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert "interrupted" in shown(app.transcript)[-1]
            assert all(len(row) <= size[0] for row in shown(app.transcript))


async def test_a_card_goes_from_call_to_result() -> None:
    app = Host()
    made, result = call(2, "shell", {"command": "make"}, "all done", exit_code=0, seconds=2.0)
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.stream(CallDelta(0, "shell", '{"command": "ma'))
        transcript.flush()
        await pilot.pause()
        assert "◌ shell  $ ma" in shown(transcript)[0]
        transcript.append(made)
        transcript.tool_started("c2", "shell", "$ make")
        transcript.tool_output("c2", "\x1b[32mcompiling\x1b[0m\n")
        transcript.flush()
        await pilot.pause()
        assert shown(transcript)[0] == "   #2 ◌ shell  $ make  running"
        assert shown(transcript)[1].strip() == "compiling"
        transcript.append(result)
        await pilot.pause()
        assert shown(transcript)[:2] == [
            "   #2 ● shell  $ make  exit 0 · 2.0s",
            "   #3   all done",
        ]


@pytest.mark.parametrize(
    ("detail", "state", "head"),
    [
        ({"ok": False, "exit_code": 1}, "complete", "✗ shell  $ x  exit 1"),
        ({"ok": False, "refused": True}, "complete", "⊘ shell  $ x  refused"),
        ({"ok": False}, "interrupted", "■ shell  $ x  interrupted"),
        ({"ok": False}, "unknown", "■ shell  $ x  interrupted"),
    ],
)
async def test_how_a_call_ended_is_told_in_signs_and_words(
    detail: dict[str, object], state: str, head: str
) -> None:
    app = Host()
    made = Item(n=1, kind="tool_call", name="shell", call_id="c", content='{"command": "x"}')
    result = Item(n=2, kind="tool_result", call_id="c", content="", state=state, detail=detail)  # type: ignore[arg-type]
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load([made, result])
        await pilot.pause()
        assert head in shown(app.transcript)[0]


async def test_a_call_that_the_user_edited_is_shown_as_it_ran() -> None:
    """The card of a command names the one that runs, and keeps the model's below it."""
    app = Host()
    ran = '{"command": "make test"}'
    output = f"[The user changed the arguments to {ran}]\ndone"
    made, result = call(1, "shell", {"command": "make all\nmake lint"}, output, edited=ran)
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.append(made)
        transcript.tool_started("c1", "shell", "$ make test")
        await pilot.pause()
        assert shown(transcript)[0] == "   #1 ◌ shell  $ make test  running"
        transcript.append(result)
        await pilot.pause()
        assert [row for row in shown(transcript) if row] == [
            "   #1 ● shell  $ make test  edited by you",
            "   #2   Before your edit: make all",
            "        done",
        ]
        transcript.focus()
        await pilot.press("up", "enter")
        await pilot.pause()
        assert "make lint" in text_of(transcript)


async def test_a_command_of_the_user_takes_the_place_of_its_live_card() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.tool_started("user-1", "shell", "$ git status")
        transcript.append(
            Item(
                n=1,
                kind="context",
                name="shell",
                call_id="user-1",
                content="The user ran `git status`:\nclean\n[exit code 0, 0.1 s]",
                detail={"ok": True, "command": "git status", "exit_code": 0},
            )
        )
        await pilot.pause()
        assert [row for row in shown(transcript) if row] == [
            "   #1 ● you  $ git status · exit 0",
            "        clean",
        ]


@pytest.mark.parametrize(
    "output",
    [
        "2 passed\n[exit code 1, 2.0 s]",
        "Chunk ID: c9\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n2 passed",
        "Exit code: 1\nWall time: 0.1 seconds\nOutput:\n2 passed\n",
    ],
)
async def test_the_exit_code_stands_in_the_head_of_a_card_alone(output: str) -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load(call(1, "shell", {"command": "x"}, output, ok=False, exit_code=1))
        await pilot.pause()
        assert [row for row in shown(app.transcript) if row] == [
            "   #1 ✗ shell  $ x  exit 1",
            "   #2   2 passed",
        ]


async def test_a_thought_without_words_is_left_out() -> None:
    app = Host()
    empty = Item(n=2, kind="reasoning", content="", detail={"seconds": 3})
    async with app.run_test(size=SIZE) as pilot:
        prompt, reply = (
            Item(n=1, kind="user", content="a"),
            Item(n=3, kind="assistant", content="b"),
        )
        for item in (prompt, empty, reply):
            app.transcript.append(item)
        await pilot.pause()
        assert shown(app.transcript)[:4] == ["   #1 ▌ a", "", "   #3   b", ""]


async def test_what_the_model_is_told_of_its_surroundings_is_one_line() -> None:
    app = Host()
    told = "Approvals are ask: commands ask the user.\n" * 9
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load([Item(n=1, kind="context", content=told)])
        app.transcript.focus()
        await pilot.pause()
        assert shown(app.transcript)[0].startswith("   #1 ∙ context · Approvals are ask")
        assert not shown(app.transcript)[1]
        await pilot.press("up", "enter")
        assert shown(app.transcript)[9].endswith("  Approvals are ask: commands ask the user.")


@pytest.mark.parametrize("kind", ["checkpoint", "summary"])
async def test_a_checkpoint_is_one_row_until_it_is_opened(
    kind: Literal["checkpoint", "summary"],
) -> None:
    app = Host()
    preamble = f"[SNAPSHOT] {'Earlier parts were thinned. ' * 9}\nIt is a record."
    async with app.run_test(size=SIZE) as pilot:
        text = f"{preamble}\n\n[PLAN]\n- one"
        app.transcript.load([Item(n=1, kind=kind, content=text)])
        app.transcript.focus()
        await pilot.pause()
        rows = [row[6:] for row in shown(app.transcript)]
        size = -(-len(text) // 4)
        assert rows[0] == f"◆ {kind} · {size} tokens · Enter shows it"
        assert not rows[1]
        await pilot.press("up", "enter")
        assert "It is a record." in text_of(app.transcript)
        rows = [row[6:] for row in shown(app.transcript)]
        assert rows[0] == f"◆ {kind}"
        assert "│ • one" in rows


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("The user refused this call.", []),
        ("The user refused this call. They said: not now", ["You said: not now"]),
        ("Refused: the user's settings deny it.", ["Refused: the user's settings deny it."]),
    ],
)
async def test_a_refused_call_shows_the_users_words(content: str, rows: list[str]) -> None:
    app = Host()
    made = Item(n=1, kind="tool_call", name="shell", call_id="c", content='{"command": "x"}')
    detail = {"ok": False, "refused": True}
    result = Item(n=2, kind="tool_result", call_id="c", content=content, detail=detail)
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load([made, result])
        await pilot.pause()
        drawn = [row[6:].strip() for row in shown(app.transcript) if row.strip()]
        assert drawn == ["⊘ shell  $ x  refused", *rows]


async def test_the_lines_of_a_list_wrap_below_their_text() -> None:
    app = Host()
    text = f"Modes:\n  → ask        {'word ' * 20}\n  full       short\n{'prose ' * 20}"
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.note(text, "info")
        await pilot.pause()
        rows = [row[6:].rstrip() for row in shown(app.transcript) if row.strip()]
        assert rows[0] == "· Modes:"
        assert rows[1].startswith("    → ask        word word")
        assert rows[2].startswith("                 word")
        assert rows[-3] == "    full       short"
        assert rows[-2].startswith("  prose")
        assert rows[-1].startswith("  prose")


async def test_what_the_model_is_told_has_words_for_people() -> None:
    app = Host()
    detail = {"for_user": "Gone since: src/calc.py. " * 5}
    text = "[Gone: src/calc.py. Check it again before you rely on it.]"
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load([Item(n=1, kind="checkpoint", content=text, detail=detail)])
        await pilot.pause()
        (row,) = [row[6:] for row in shown(app.transcript) if row.strip()]
        assert row.startswith("◆ Gone since: src/calc.py. Gone")
        assert row.endswith("… · 15 tokens · Enter shows it")


async def test_output_that_is_opened_breaks_between_words_and_is_copied_as_it_was() -> None:
    app = Host()
    line = "  integrated   into hooks and strategy code" * 3 + "  x" * 20
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load(call(1, "shell", {"command": "x"}, f"{line}\n{'y' * 200}"))
        app.transcript.focus()
        await pilot.press("up", "enter")
        rows = [row[8:] for row in shown(app.transcript)[1:4]]
        assert " ".join(" ".join(rows).split()) == " ".join(line.split())
        await drag(pilot, (0, 1), (79, 3))
        await pilot.press("c")
        assert app.clipboard.split("\n")[0].rstrip() == line


async def test_the_sections_of_a_checkpoint_stand_at_the_margin() -> None:
    app = Host()
    text = "[RECENT_ARTIFACTS]\n- cmd: sleep 100\n[DECISIONS]\n- keep [THIS]\n[FACTS_VALID]\nnone"
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load([Item(n=1, kind="checkpoint", content=text)])
        app.transcript.focus()
        await pilot.press("up", "enter")
        rows = [row[6:].rstrip() for row in shown(app.transcript)]
        for section in ("[RECENT_ARTIFACTS]", "[DECISIONS]", "[FACTS_VALID]"):
            assert f"│ {section}" in rows
        assert "│ • keep [THIS]" in rows


async def test_folding_by_key_and_by_click() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.load(call(1, "shell", {"command": "x"}, "\n".join(map(str, range(100)))))
        transcript.focus()
        await pilot.pause()
        assert "… 94 more lines (enter)" in text_of(transcript)
        await pilot.press("up", "enter")
        assert "more lines" not in text_of(transcript)
        assert transcript.current is not None
        assert transcript.current.n == 1
        await pilot.click(Transcript, offset=(10, 0))
        await pilot.pause()
        assert "… 94 more lines (enter)" in text_of(transcript)


async def test_all_at_once() -> None:
    app = Host()
    async with app.run_test(size=(80, 200)) as pilot:
        app.transcript.load(conversation())
        app.transcript.focus()
        await pilot.press("right_square_bracket")
        assert "more line" not in text_of(app.transcript)
        assert "tests/test_20.py" in text_of(app.transcript)
        await pilot.press("left_square_bracket")
        assert "tests/test_20.py" not in text_of(app.transcript)


async def test_the_cursor_walks_over_items_and_jumps() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.load(messages(300))
        transcript.note("a note is no item")
        transcript.focus()
        await pilot.press("up")
        assert transcript.current is not None
        assert transcript.current.n == 300
        assert transcript.jump(20)
        await pilot.pause()
        assert transcript.current.n == 20
        assert any("#20▎" in row for row in shown(transcript)[:2])
        assert not transcript.jump(999)


async def test_copying_gives_the_source_of_the_item() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load([Item(n=1, kind="assistant", content=REPLY)])
        app.transcript.focus()
        await pilot.press("up", "c")
        assert app.clipboard == REPLY


async def test_a_drag_selects_text_without_gutter_and_joins_wrapped_rows() -> None:
    app = Host()
    text = "all the words of a paragraph that is longer than one row of this small screen are here"
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load([Item(n=1, kind="assistant", content=text)])
        await pilot.pause()
        await drag(pilot, (8, 0), (30, 1))
        await pilot.press("c")
        assert "\n" not in app.clipboard
        assert text.startswith(app.clipboard)
        assert len(app.clipboard) > 72


async def test_a_selection_over_rows_that_drifted_copies_what_is_marked() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.load(messages(50))
        await pilot.pause()
        for _ in range(30):
            transcript.scroll_up(animate=False)
        await pilot.pause()
        row = next(y for y in range(24) if "line" in shown(transcript)[y])
        await drag(pilot, (8, row), (14, row))
        selected = app.screen.get_selected_text()
        assert selected
        assert shown(transcript)[row][8:].startswith(selected)


async def test_selecting_all_takes_the_sources() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load(messages(1_000))
        await pilot.pause()
        text, _ = app.transcript.get_selection(Selection(None, None)) or ("", "")
        assert text.startswith("item 1 line 0")
        part, _ = app.transcript.get_selection(Selection(Offset(0, 0), Offset(0, 0))) or ("x", "")
        assert part == ""


async def test_nothing_in_a_text_drives_the_terminal_or_is_markup() -> None:
    app = Host()
    evil = "\x1b[2J\x9b31m \u202e [red]x[/red] \x07"
    arguments = json.dumps({"command": evil})
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.load(
            [
                Item(n=1, kind="user", content=evil),
                Item(n=2, kind="reasoning", content=evil),
                Item(n=3, kind="assistant", content=evil + "\n```\n" + evil + "\n```"),
                Item(n=4, kind="tool_call", name=evil, call_id="c", content=arguments),
                Item(n=5, kind="tool_result", call_id="c", content=evil, detail={"diff": evil}),
                Item(n=6, kind="summary", content=evil),
            ]
        )
        transcript.note(evil, "error")
        transcript.stream(TextDelta(evil))
        transcript.flush()
        await pilot.pause()
        text = text_of(transcript)
        assert not set("\x1b\x9b\x07\u202e") & set(text)
        assert text.count("[red]x[/red]") >= 7


async def test_a_new_theme_repaints_what_was_drawn() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load([Item(n=1, kind="user", content="hello")])
        await pilot.pause()
        dark = list(app.transcript.render_line(0))
        app.theme = "textual-light"
        await pilot.pause()
        light = list(app.transcript.render_line(0))
        assert [segment.text for segment in light] == [segment.text for segment in dark]
        assert light != dark


async def test_the_welcome_stands_until_the_first_item() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.set_welcome("Say something")
        await pilot.pause()
        assert "Say something" in text_of(app.transcript)
        app.transcript.append(Item(n=1, kind="user", content="something"))
        await pilot.pause()
        assert "Say something" not in text_of(app.transcript)


async def test_a_diff_is_shown_with_its_counts() -> None:
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load(call(1, "edit_file", {"path": "app/config.py"}, "ok", diff=DIFF))
        await pilot.pause()
        assert shown(app.transcript)[0] == "   #1 ● edit_file  app/config.py  +3 −3"
        assert any("13 -" in row for row in shown(app.transcript))


async def test_a_plan_is_shown_step_by_step() -> None:
    steps = [
        {"text": "Look", "status": "done"},
        {"text": "Leap", "status": "in_progress"},
        {"text": "Fall", "status": "pending"},
    ]
    title = "1 of 3 steps done"
    made = call(1, "update_plan", {"steps": steps}, "", act="plan", title=title, plan=steps)
    app = Host()
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.load(made)
        await pilot.pause()
        text = text_of(app.transcript)
        assert "update_plan  1 of 3 steps done" in text
        for row in ("✓ Look", "◐ Leap", "○ Fall"):
            assert row in text
