"""Bubblewrap's arguments."""

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from pinfold.ports.tool import Sandbox
from pinfold.tools.sandbox.places import GuardedPlaces

NULL = "/dev/null"
CONFINED = (
    *("--unshare-user", "--unshare-all", "--cap-drop", "ALL", "--die-with-parent"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
)
_PROC = [
    Path("/proc") / name
    for name in ("acpi", "dynamic_debug", "fs", "mtrr", "scsi", "sys", "sysrq-trigger")
]
"""What root may write there without any capability; bubblewrap seals the rest by itself."""
_HELPER = Path(__file__).with_name("landlock.py").resolve()
"""It runs inside, wherever pinfold is installed."""
_TEMPORARY = [Path("/tmp"), Path("/var/tmp")]  # noqa: S108
_RUN = Path("/run")
_NEEDED = [_RUN / name for name in ("current-system", "opengl-driver", "systemd/resolve")]
"""What programs or name resolution are found by on some systems."""


def arguments(
    sandbox: Sandbox,
    places: GuardedPlaces,
    hidden: Collection[Path],
    extra: Sequence[Path],
    folder: Path,
) -> list[str]:
    """All but the program and the command.

    `hidden` are files and folders that are there; `extra` is writable besides the roots: git
    folders of a worktree.
    """
    out = [*CONFINED, *(["--share-net"] if sandbox.network else [])]
    if os.geteuid() == 0:
        out += _mounts("--ro-bind", _PROC)
    emptied = [path for path in (*_TEMPORARY, _RUN) if path.is_dir()]
    sealed = ["/dev"]
    for path in emptied:
        if sandbox.writes and path in _TEMPORARY:
            out += ["--bind", str(sandbox.scratch / "tmp"), str(path)]
        else:
            out += ["--perms", "0555", "--tmpfs", str(path)]
            sealed.append(str(path))
    out += _mounts("--ro-bind", _NEEDED)
    if any(map(_HELPER.is_relative_to, emptied)):
        out += _mounts("--ro-bind", [_HELPER])

    roots = _outermost(sandbox.roots)
    inner = {path for path in hidden if any(map(path.is_relative_to, roots))}
    outer = {path for path in hidden if not any(map(path.is_relative_to, emptied))}
    sealed += _hide(out, _outermost(outer - inner))
    out += _mounts("--ro-bind", _outermost(sandbox.readable))
    out += _mounts("--bind" if sandbox.writes else "--ro-bind", roots)
    sealed += _hide(out, _outermost(inner - set(roots)))
    if sandbox.writes:
        mounts = dict.fromkeys((*places.stays, *extra), "--bind")
        mounts |= dict.fromkeys(places.kept, "--ro-bind")
        for path in sorted(mounts):
            if not path.is_symlink():
                out += _mounts(mounts[path], [path])
    if sandbox.writes:
        # What is hidden holds nothing and goes with the command; only `/dev` matters.
        out += ["--tmpfs", "/dev/shm"]  # noqa: S108
        sealed = ["/dev"]
    for name in sealed:
        out += ["--remount-ro", name]
    return [*out, "--chdir", str(folder)]


def _mounts(option: str, paths: Iterable[Path]) -> list[str]:
    """Mount those that exist at their own paths."""
    there = [str(path) for path in paths if path.exists()]
    return [word for path in there for word in (option, path, path)]


def _hide(out: list[str], paths: Iterable[Path]) -> list[str]:
    """Hide them; the folders to remount read-only at the end."""
    folders = []
    for path in paths:
        if path.is_dir():
            out += ["--perms", "0555", "--tmpfs", str(path)]
            folders.append(str(path))
        else:
            out += ["--ro-bind", NULL, str(path)]
    return folders


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """The paths that are below none of the others, sorted."""
    found: list[Path] = []
    for path in sorted(paths):
        if not any(map(path.is_relative_to, found)):
            found.append(path)
    return found
