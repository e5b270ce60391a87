"""Where vim's motions lead in a text; offsets are characters from its start. Pure."""

import re
from collections.abc import Callable


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def on_a_character(text: str, at: int) -> int:
    """`at`, but never behind the last character of a line that has one."""
    at = max(0, min(at, len(text)))
    start, end = line_start(text, at), line_end(text, at)
    return max(start, min(at, end - 1))


def first_word(text: str, start: int) -> int:
    end = line_end(text, start)
    line = text[start:end]
    return on_a_character(text, start + len(line) - len(line.lstrip()))


def _words(motion: str, text: str) -> list[re.Match[str]]:
    return list(re.finditer(r"\S+" if motion.isupper() else r"\w+|[^\w\s]+", text))


def _next_word(motion: str, text: str, cursor: int, count: int | None) -> int:
    starts = [word.start() for word in _words(motion, text) if word.start() > cursor]
    return starts[(count or 1) - 1] if len(starts) >= (count or 1) else len(text)


def word_end(motion: str, text: str, cursor: int, count: int | None) -> int:
    ends = [word.end() - 1 for word in _words(motion, text) if word.end() - 1 > cursor]
    return ends[min(count or 1, len(ends)) - 1] if ends else max(0, len(text) - 1)


def _word_back(motion: str, text: str, cursor: int, count: int | None) -> int:
    starts = [word.start() for word in _words(motion, text) if word.start() < cursor]
    return starts[-(count or 1)] if len(starts) >= (count or 1) else 0


def _in_line(motion: str, text: str, cursor: int, count: int | None) -> int:
    times = count or 1
    start, end = line_start(text, cursor), line_end(text, cursor)
    match motion:
        case "h":
            return max(start, cursor - times)
        case "l":
            return min(max(start, end - 1), cursor + times)
        case "0":
            return start
        case "^":
            return first_word(text, start)
        case _:
            return max(start, end - 1)


def _up_or_down(motion: str, text: str, cursor: int, count: int | None) -> int | None:
    column = cursor - line_start(text, cursor)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    row = text.count("\n", 0, cursor)
    wanted = row + (count or 1) * (1 if motion == "j" else -1)
    if not 0 <= wanted < len(starts):
        return None
    start = starts[wanted]
    return min(start + column, max(start, line_end(text, start) - 1))


def _to_line(motion: str, text: str, _: int, count: int | None) -> int:
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    row = count if count is not None else 1 if motion == "gg" else len(starts)
    return first_word(text, starts[min(row, len(starts)) - 1])


def _to_character(motion: str, text: str, cursor: int, count: int | None) -> int | None:
    kind, character = motion[0], motion[1]
    start, end = line_start(text, cursor), line_end(text, cursor)
    at = cursor
    for _ in range(count or 1):
        forward = kind in "ft"
        at = text.find(character, at + 1, end) if forward else text.rfind(character, start, at)
        if at < 0:
            return None
    return at if kind in "fF" else at - 1 if kind == "t" else at + 1


_Motion = Callable[[str, str, int, "int | None"], "int | None"]
MOTIONS: dict[str, _Motion] = {
    **dict.fromkeys("wW", _next_word),
    **dict.fromkeys("eE", word_end),
    **dict.fromkeys("bB", _word_back),
    **dict.fromkeys("hl0^$", _in_line),
    **dict.fromkeys("jk", _up_or_down),
    **dict.fromkeys("gG", _to_line),
    **dict.fromkeys("fFtT", _to_character),
}
