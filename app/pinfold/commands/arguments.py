"""Arguments of commands, declared once for slash commands and the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from msgspec import Struct

if TYPE_CHECKING:
    import argparse

    from pinfold.commands.context import Context

Kind = Literal["word", "words", "prose", "rest", "flag", "off", "whole", "number", "path"]
_TYPES: dict[Kind, type] = {"whole": int, "number": float, "path": Path}
_WORD = re.compile(r"""(--[\w-]+=)?(?:"([^"]*)"|'([^']*)')(?!\S)|(\S+)""")
"""A word of prose, or a quoted text: an apostrophe in a word quotes nothing."""


class CommandError(Exception):
    """A command can't be carried out; `str()` tells the user why."""


class Argument(Struct, frozen=True):
    """An argument; an option if its name begins with a dash."""

    names: str
    """Its names, separated by spaces."""
    help: str = ""
    metavar: str = ""
    """How its value is written."""
    kind: Kind = "word"
    """`words` and `prose` take any number of words, `prose` as they are written in a sentence;
    `rest` takes all text of a slash command as typed, except flags before and after it; `flag` is
    true and `off` false when given."""
    read: Callable[[str], Any] | None = None
    """Converts a word. Raises `ValueError` that says what it must be."""
    choices: tuple[str, ...] = ()
    """All values it can have."""
    offers: Callable[[Context], Sequence[str]] | None = None
    """Completions, if not `choices`."""
    default: Any = None
    into: str = ""
    """The name of the value, if not that of the argument."""
    apart: str = ""
    """Only one of the options that share this may be given."""
    many: Literal["", "append", "extend"] = ""
    """It may be repeated: each value is appended, or each list extends the last."""
    count: int | None = None
    """How many values it takes, if not one."""
    needed: bool = False

    @property
    def is_option(self) -> bool:
        return self.names.startswith("-")

    @property
    def value(self) -> str:
        """The name of its value."""
        return self.into or _long(self.names).lstrip("-").replace("-", "_")

    @property
    def usage(self) -> str:
        if self.kind in ("flag", "off"):
            return f"[{self.names}]"
        shown = self.metavar or "|".join(self.choices) or self.names.upper()
        shown = f"{self.names} {shown}" if self.is_option else shown
        if self.kind in ("words", "prose"):
            return " ".join(f"[{word}]" for word in shown.split())
        return shown if self.needed else f"[{shown}]"

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        more: dict[str, Any] = {"help": self.help or None}
        if self.is_option:
            more["dest"] = self.value
        elif self.kind in ("words", "prose"):
            more["nargs"] = "+" if self.needed else "*"
        elif not self.needed:
            more["nargs"] = "?"
        if self.kind in ("flag", "off"):
            more["action"] = f"store_{'true' if self.kind == 'flag' else 'false'}"
        else:
            metavars = tuple(self.metavar.split()) if self.count else self.metavar
            more |= {"metavar": metavars or None}
            more |= {} if self.default is None else {"default": self.default}
            more |= {"type": self._converted} if self.kind in _TYPES or self.read else {}
            more |= {"choices": self.choices} if self.choices else {}
            more |= {"action": self.many} if self.many else {}
            more |= {"nargs": self.count} if self.count else {}
        parser.add_argument(*self.names.split(), **more)

    def _converted(self, text: str) -> Any:
        from argparse import ArgumentTypeError

        try:
            return (self.read or _TYPES[self.kind])(text)
        except ValueError as error:
            why = str(error) if self.read else f"{text!r} is not a number"
            raise ArgumentTypeError(why) from error


def _long(names: str) -> str:
    """The first name that is not a single letter."""
    return next((name for name in names.split() if len(name) > 2), names.split(maxsplit=1)[0])


def add(parser: argparse.ArgumentParser, arguments: Iterable[Argument]) -> None:
    groups: dict[str, argparse._ActionsContainer] = {"": parser}
    for argument in arguments:
        if argument.apart not in groups:
            groups[argument.apart] = parser.add_mutually_exclusive_group()
        argument.add_to(groups[argument.apart])


def usage(arguments: Sequence[Argument], *, short: bool = False) -> str:
    """How they are written; `short` leaves out options."""
    return " ".join(argument.usage for argument in arguments if not (short and argument.is_option))


def read(command: str, arguments: Sequence[Argument], text: str) -> Mapping[str, Any]:
    """The values in the text of a slash command, by name. Raises `CommandError`."""
    if any(argument.kind == "rest" for argument in arguments):
        return _rest(command, arguments, text)
    import argparse
    import shlex

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            why = message.removeprefix("argument ").rstrip(".")
            raise CommandError(f"{command}: {why}. {command} {usage(arguments)}")

    parser = Parser(prog=command, add_help=False, allow_abbrev=False)
    add(parser, arguments)
    try:
        is_prose = any(argument.kind == "prose" for argument in arguments)
        words = _prose(text) if is_prose else shlex.split(text)
    except ValueError as error:
        raise CommandError(f"{command}: {error}.") from error
    if words and not arguments:
        raise CommandError(f"{command} takes no arguments.")
    return vars(parser.parse_intermixed_args(words))


def _prose(text: str) -> list[str]:
    """Raises `ValueError` where a word begins a quote that does not end."""
    for word in _WORD.finditer(text):
        if (plain := word[4]) and plain[0] in "'\"" and plain.count(plain[0]) == 1:
            raise ValueError("No closing quotation")
    return ["".join(filter(None, found.groups())) for found in _WORD.finditer(text)]


def _rest(command: str, arguments: Sequence[Argument], text: str) -> Mapping[str, Any]:
    """The text, without the flags before and after it."""
    (rest,) = (argument for argument in arguments if argument.kind == "rest")
    flags = {argument.names: argument.value for argument in arguments if argument.kind == "flag"}
    given = dict.fromkeys(flags.values(), False)
    while (words := text.split()) and (found := {words[0], words[-1]} & flags.keys()):
        flag = found.pop()
        given[flags[flag]] = True
        text = text.removeprefix(flag).removesuffix(flag).strip()
    if text and rest.choices and text not in rest.choices:
        raise CommandError(f"{command} takes {', '.join(rest.choices)} or nothing, not “{text}”.")
    return {**given, rest.value: text}


def whole(least: int) -> Callable[[str], int]:
    """A reader of whole numbers from `least` up."""

    def read_whole(text: str) -> int:
        number = int(text) if text.lstrip("+-").isdecimal() else least - 1
        if number < least:
            raise ValueError(f"must be a whole number, at least {least}")
        return number

    return read_whole
