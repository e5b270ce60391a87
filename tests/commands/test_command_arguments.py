"""Arguments are declared once, for slash commands and for the command line."""

from argparse import ArgumentParser

import pytest

from pinfold.commands.arguments import Argument, CommandError, add, read, usage, whole

TAIL = Argument("--max-tail", metavar="N", read=whole(1))
DRY = Argument("--dry-run", kind="flag")
WORDS = (Argument("words", metavar="FORMAT", kind="words"), TAIL, DRY)
REST = (Argument("text", kind="rest"), DRY)


def test_both_read_the_same_values() -> None:
    parser = ArgumentParser()
    add(parser, WORDS)
    given = ["md", "--max-tail", "3", "a b"]
    assert vars(parser.parse_intermixed_args(given)) == read("/x", WORDS, "md --max-tail 3 'a b'")


def test_a_rest_stays_as_it_is_typed_and_flags_stand_around_it() -> None:
    typed = 'don\'t "touch"  --dry-runs'
    assert read("/x", REST, typed) == {"text": typed, "dry_run": False}
    assert read("/x", REST, f"--dry-run {typed} --dry-run") == {"text": typed, "dry_run": True}


def test_usage_names_options_unless_it_is_short() -> None:
    assert usage(WORDS) == "[FORMAT] [--max-tail N] [--dry-run]"
    assert usage(WORDS, short=True) == "[FORMAT]"
    assert usage(()) == ""


@pytest.mark.parametrize(
    ("arguments", "text", "why"),
    [
        (WORDS, "--max-tail 0", "--max-tail: must be a whole number, at least 1. /x .FORMAT"),
        (WORDS, "--max-tail x", "at least 1"),
        ((), "more", "/x takes no arguments"),
        ((Argument("one", kind="rest", choices=("on", "off")),), "up", "takes on, off or nothing"),
    ],
)
def test_what_is_wrong_is_said(arguments: tuple[Argument, ...], text: str, why: str) -> None:
    with pytest.raises(CommandError, match=why):
        read("/x", arguments, text)
