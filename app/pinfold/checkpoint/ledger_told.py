"""What a page of the ledger tells of files: their paths, whole, and their hashes."""

import posixpath
import re
from collections.abc import Iterator

SECTION = "[FILES]"
SHORT_HASH = 7
"""Of a hash on a page: as many as git shows of one."""
INDENT = "  "
"""Before a folder that stands under another."""
GROUPS = ("outdated", "created", "edited", "deleted", "read", "seen", "with")
"""Of a folder: its files, by what happened to them, and names that stand in them."""

_FOLDER = re.compile(
    rf"(?P<indent>{INDENT})?(?P<path>\S.*?/|/)(?: (?P<groups>(?:{'|'.join(GROUPS)}) .*))?$"
)
"""The line of a folder."""
_FILE = re.compile(
    r"- (?P<name>.+?): (?P<said>(?:created|edited|deleted|read)(?: \d+x)?(?:[,;]| [#(]|$).*)"
)
"""The line of a file."""
_HEADER = re.compile(r"\[[^/]*\]$")
_PARTING = frozenset(" ;")
_HASHED = re.compile(rf"(?P<name>.+)=(?P<hash>[0-9a-f]{{{SHORT_HASH}}})$")
_HASH = re.compile(rf"\(hash=(?P<hash>[0-9a-f]{{{SHORT_HASH}}})\)")


def hashed(name: str, known: str) -> str:
    """A file's name and hash, in its folder's line."""
    return f"{name}={known[:SHORT_HASH]}"


def is_plain(name: str) -> bool:
    """Whether a file's name can stand among others; else it needs a line of its own."""
    return not _PARTING.intersection(name) and _HASHED.match(name) is None


def paths_told(page: str) -> Iterator[str]:
    """The paths on a page; their folders stand above them."""
    return (path for path, _ in _told(page))


def hashes_told(page: str) -> dict[str, str]:
    """By path: the first digits of the files' hashes."""
    return {path: known for path, known in _told(page) if known}


def _told(page: str) -> Iterator[tuple[str, str]]:
    section = root = folder = ""
    for line in page.splitlines():
        if _HEADER.match(line):
            section, root, folder = line, "", ""
        elif section != SECTION:
            continue
        elif file := _FILE.match(line):
            known = _HASH.search(file["said"])
            yield posixpath.join(folder, file["name"]), known["hash"] if known else ""
        elif match := _FOLDER.match(line):
            folder = match["path"].removeprefix("./")
            if match["indent"]:
                folder = posixpath.join(root, folder)
            else:
                root = folder
            yield folder, ""
            for told in _names(match["groups"] or ""):
                known = _HASHED.match(told)
                name = known["name"] if known else told
                yield posixpath.join(folder, name), known["hash"] if known else ""


def _names(groups: str) -> Iterator[str]:
    for group in groups.split("; "):
        label, *names = group.split() or [""]
        if label != "with":
            yield from names
