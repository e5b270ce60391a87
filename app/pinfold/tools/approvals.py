"""Decides whether a call may run, from its review, the mode and the rules."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pinfold.ports.tool import Foreign, Review
from pinfold.settings import Mode
from pinfold.tools import guard
from pinfold.tools.command_line import (
    MAX_COMMAND,
    expanded,
    is_read_only,
    named,
    reads_with,
    says,
    strays,
    texts,
    words,
)
from pinfold.tools.options import suspect


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may run."""

    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The user decides."""

    reason: str
    edits: bool = False
    """Whether a yes to all plain edits in the folder would have spared the question."""


@dataclass(frozen=True, slots=True)
class Denied:
    """The call does not run; the model gets the reason."""

    reason: str


Verdict = Allowed | Ask | Denied


def verdict(
    mode: Mode,
    review: Review,
    read_only: bool,
    workspace: Path,
    prefixes: Collection[str],
    readable: Collection[Path] = (),
    said: Collection[str] = (),
    *,
    deny: Collection[str] = (),
    roots: Collection[Path] = (),
    confined: bool = False,
    trusted: bool = False,
    drift: str = "",
    edits: bool = False,
    attended: bool = True,
) -> Verdict:
    """Decide on a call.

    `prefixes` are the settings'; `said` is what the user answered "always" to (see `always`).
    `read_only` is the tool's own word; a call that reads with a tool that may write counts as
    a write. `readable` are folders outside the workspace that may be read as if they were in it:
    the session's own outputs. `deny` are words that no command may have; `roots` are folders to
    work in besides the workspace; `confined` says that commands run in a sandbox of that mode,
    `trusted` that the user trusts the folder: what only reads needs one of them to run unasked;
    `drift` is why a write asks that nothing else speaks against; `edits` says that the user allowed
    plain edits in the workspace; `attended` says that there is a user to ask. All paths are
    resolved.
    """
    if review.foreign is not None:
        return _foreign_verdict(
            mode, review, review.foreign, workspace, prefixes, said, deny, drift, attended=attended
        )
    command = review.command or ""
    if denied := next((prefix for prefix in deny if says(command, prefix)), None):
        return Denied(f"`{denied}` is denied by [approvals] deny.")
    if mode == "full":
        return Allowed("full mode")
    if review.access == "web":
        if not review.origin or review.origin in said:
            return Allowed("this host is allowed")
        return Ask("fetches from the web")
    reads = review.access == "read" and read_only
    free = (workspace, *roots, *(readable if reads else ()))
    outside = [path for path in review.paths if not any(map(path.is_relative_to, free))]
    if mode == "read-only":
        if review.access == "command" and confined:
            if review.outside:
                return Denied("Approvals are read-only: nothing runs outside the sandbox.")
            return Allowed("runs in the sandbox, which can't write")
        if not reads:
            return Denied("Approvals are read-only: nothing can be written or run.")
        if outside:
            return Denied(f"Approvals are read-only: {outside[0]} is outside the workspace.")
        return Allowed("reads the workspace")
    if outside:
        return Ask(f"{'reads' if reads else 'touches'} {outside[0]}, outside the workspace")
    if reads:
        return Allowed("reads the workspace")
    if review.access == "command" and confined:
        if review.outside:
            return Ask(f"outside the sandbox: {review.outside}")
        if mode == "workspace":
            return Allowed("runs in the sandbox")
        if is_read_only(command, workspace):
            return Allowed("only reads, in the sandbox")
        return _command_verdict(command, prefixes, said, workspace, "runs in the sandbox")
    if review.access == "command":
        # Git runs what the folder's own configuration names.
        if trusted and is_read_only(command, workspace):
            return Allowed("only reads, in a folder that you trust")
        return _command_verdict(command, prefixes, said, workspace, "runs a command")
    for path in review.paths:
        if why := guard.reason(path, workspace, review.paths):
            return Ask(f"writes {_shown(path, workspace)}: {why}")
        if any(map(path.is_relative_to, readable)):
            return Ask(f"writes {_shown(path, workspace)}, which belongs to pinfold")
    if drift and review.access == "write":
        return Ask(drift)
    plain = review.access == "write" and bool(review.paths)
    if plain and (mode == "workspace" or edits):
        return Allowed("writes in the workspace")
    return Ask("writes a file", edits=plain)


def _foreign_verdict(
    mode: Mode,
    review: Review,
    call: Foreign,
    workspace: Path,
    prefixes: Collection[str],
    said: Collection[str],
    deny: Collection[str],
    drift: str,
    *,
    attended: bool,
) -> Verdict:
    """The decision on a call of another program's tool, which may run outside our sandbox."""
    if call.name in deny:
        return Denied(f"`{call.name}` is denied by [approvals] deny.")
    named = call.name in prefixes
    if not named and not attended:
        return Denied(
            f"Nobody can be asked here, and `{call.name}` is not among [approvals] allow."
        )
    if mode == "full":
        return Allowed("full mode")
    if not named and mode == "read-only":
        return Denied(f"Approvals are read-only, and `{call.name}` is not allowed by name.")
    for path in review.paths:
        if why := guard.reason(path, workspace, review.paths):
            reason = f"names {_shown(path, workspace)}: {why}"
            return (
                Denied(f"Approvals are read-only: it {reason}")
                if mode == "read-only"
                else Ask(reason)
            )
    if drift:
        return Ask(drift)
    if named or call.consent in said:
        return Allowed("you allow this tool")
    return Ask(f"MCP server {call.server}" + (f" says: {call.claims}" if call.claims else ""))


def _shown(path: Path, workspace: Path) -> Path:
    return path.relative_to(workspace) if path.is_relative_to(workspace) else path


# Commands


def always(command: str, workspace: Path) -> tuple[str | None, bool]:
    """What "always" allows from now on, if anything, and whether that is this command alone.

    That is a prefix, such as `git log`, for a command that is known only to read: see
    `readers.toml`. Of any other, nobody can say what it does with other words.
    """
    known, odd = reads_with(command, workspace)
    if known is not None and odd is None:
        return known.name, False
    return (command.strip(), True) if len(command) <= MAX_COMMAND else (None, False)


def matches(command: str, prefix: str) -> bool:
    """Whether `command` is one plain command whose first words are the prefix."""
    found, wanted = texts(command), texts(prefix)
    return bool(wanted) and found[: len(wanted)] == wanted


def _command_verdict(
    command: str, prefixes: Collection[str], said: Collection[str], workspace: Path, reason: str
) -> Verdict:
    if command.strip() in said:
        return Allowed("you always allow this command")
    known, odd = reads_with(command, workspace)
    if known is not None and known.name in said:
        if odd is None:
            return Allowed(f"`{known.name}` is allowed")
        reason = f"`{known.name}` is allowed, but not with {odd}"
    for prefix in prefixes:
        if not matches(command, prefix):
            continue
        found, after = words(command), len(texts(prefix))
        rest = expanded(found[after:], workspace)
        if rest is None:
            reason = f"`{prefix}` is allowed, but it names too many files"
        elif option := suspect([*texts(prefix), *rest], after):
            reason = f"`{prefix}` is allowed, but {option} may run or write something else"
        elif stray := next((word for word in rest if _strays(word, workspace)), None):
            reason = f"`{prefix}` is allowed, but {stray} leaves the workspace or is guarded"
        else:
            return Allowed(f"`{prefix}` is allowed")
    return Ask(reason)


def _strays(word: str, workspace: Path) -> bool:
    return strays(word, workspace) or any(
        guard.reason(path, workspace) for path in named(word, workspace)
    )
