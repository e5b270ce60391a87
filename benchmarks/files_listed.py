"""What a window says of files: which are still as the session read them."""

import re

_LINE = re.compile(r"^- (unchanged|changed|deleted)[^:\n]*: (.+)$", re.MULTILINE)
_FILE = re.compile(r"(.+?) #\d+(?:, |$)")


def files_listed(text: str) -> dict[str, str]:
    """Each path that a line of `[FILES]` names, with `unchanged`, `changed` or `deleted`."""
    found: dict[str, str] = {}
    for line in _LINE.finditer(text):
        for file in _FILE.finditer(line[2]):
            found[file[1]] = line[1]
    return found
