"""Options that make an ordinary program run another one, or write where it should only read."""

from collections.abc import Sequence

ANY = "editor eval exec output output-file pager require"
"""Long options that are suspect in any program."""
LONG = {
    "cargo": "config",
    "fd": "exec-batch",
    "find": "delete execdir fls fprint fprint0 fprintf ok okdir",
    "git": "config config-env exec-path ext-diff git-dir open-files-in-pager receive-pack template "
    "upload-pack work-tree",
    "go": "ldflags modfile overlay toolexec vettool",
    "make": "file makefile",
    "npm": "git node-options prefix script-shell shell userconfig",
    "pnpm": "node-options script-shell shell",
    "pytest": "basetemp junit-xml junitxml log-file pastebin",
    "rg": "hostname-bin pre",
    "sort": "compress-program",
    "tar": "checkpoint-action info-script new-volume-script rmt-command rsh-command to-command "
    "use-compress-program",
    "yarn": "node-options script-shell",
}
LETTERS = {
    "cargo": "CZ",
    "fd": "xX",
    "git archive": "o",
    "git clone": "cu",
    "git format-patch": "o",
    "git grep": "O",
    "less": "koO",
    "make": "Ef",
    "man": "HP",
    "shuf": "o",
    "sort": "o",
    "tar": "FI",
    "tree": "o",
}
"""Short options, which may stand together in one word."""
TEXTUAL = frozenset({"echo", "egrep", "fgrep", "grep", "printf", "rg"})
"""Programs to which NAME=VALUE is text like any other."""


def suspect(words: Sequence[str], after: int) -> str | None:
    """The first word from `after` on that may run or write something, or set a variable."""
    names = [word.rsplit("/", 1)[-1] for word in words[:3]]
    # The program may be behind a runner: `uv run pytest`, `python -m pytest`.
    keys = [*names, " ".join(names[:2])]
    long = [name for key in keys for name in LONG.get(key, "").split()] + ANY.split()
    letters = {letter for key in keys for letter in LETTERS.get(key, "")}
    for word in words[after:]:
        if _is_option(word, long, letters):
            return word
        if not word.startswith("-") and names[0] not in TEXTUAL and _assigns(word):
            return word
    return None


def _is_option(word: str, long: Sequence[str], letters: set[str]) -> bool:
    name = word.partition("=")[0]
    if name.startswith("--"):
        # Most programs take an abbreviation for the whole.
        return len(name) > 2 and any(one.startswith(name[2:]) for one in long)
    return name.startswith("-") and (name[1:] in long or not letters.isdisjoint(name))


def _assigns(word: str) -> bool:
    name, sign, _ = word.partition("=")
    return bool(sign and name) and "/" not in name and " " not in name
