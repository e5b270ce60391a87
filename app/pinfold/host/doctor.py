"""`pinfold doctor`: what was found, and what is missing and how to get it."""

import os
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pinfold import __version__, paths
from pinfold.sanitize import one_line
from pinfold.settings_load import Loaded

LIBRARIES = ("textual", "rich", "httpx2", "tiktoken", "pydantic", "msgspec")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. `ok` is None for plain facts."""

    name: str
    text: str
    ok: bool | None = None


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    lines: tuple[Finding, ...]


def versions() -> Section:
    found = [Finding("pinfold", __version__), Finding("python", platform.python_version())]
    for name in LIBRARIES:
        try:
            found.append(Finding(name, version(name)))
        except PackageNotFoundError:
            found.append(Finding(name, f"missing: pip install {name}", ok=False))
    found.append(
        Finding("system", f"{platform.system()} {platform.release()} {platform.machine()}")
    )
    return Section("Versions", tuple(found))


def configuration(loaded: Loaded, candidates: Sequence[Path]) -> Section:
    lines = []
    for path in candidates:
        absent = "not read" if path.exists() else "not there"
        lines.append(Finding(paths.shown(path), "read" if path in loaded.files else absent))
    lines += [Finding(key, f"set by {source}") for key, source in sorted(loaded.origins.items())]
    lines += [Finding("warning", text, ok=False) for text in loaded.warnings]
    return Section("Configuration", tuple(lines))


def storage(home: Path, sessions: int) -> Section:
    try:
        home.mkdir(parents=True, exist_ok=True)
        writable = os.access(home, os.W_OK)
        free = shutil.disk_usage(home).free
    except OSError as error:
        return Section("Storage", (Finding(paths.shown(home), str(error), ok=False),))
    lines = (
        Finding(paths.shown(home), "writable" if writable else "not writable", ok=writable),
        Finding("free", f"{free / 2**30:.1f} GiB", ok=free > 2**28),
        Finding("sessions", str(sessions)),
    )
    return Section("Storage", lines)


def terminal(env: Mapping[str, str] = os.environ) -> Section:
    size = shutil.get_terminal_size()
    colors = env.get("COLORTERM", "")
    encoding = (getattr(sys.stdout, "encoding", "") or "").lower()
    true_color = colors in ("truecolor", "24bit")
    lines = [
        Finding("terminal", env.get("TERM", "unknown") + (" in tmux" if "TMUX" in env else "")),
        Finding("size", f"{size.columns}x{size.lines}", ok=size.columns >= 40 and size.lines >= 12),
        Finding("colour", _colour(env, true_color=true_color)),
        Finding("text", encoding or "unknown", ok="utf" in encoding),
        Finding("remote", "over ssh" if "SSH_CONNECTION" in env else "no"),
    ]
    return Section("Terminal", tuple(lines))


def _colour(env: Mapping[str, str], *, true_color: bool) -> str:
    if env.get("NO_COLOR"):
        return "off (NO_COLOR)"
    if true_color:
        return "16 million"
    if "256" in env.get("TERM", ""):
        return "256 (set COLORTERM=truecolor if the terminal can do more)"
    return "16"


def programs() -> Section:
    wanted = {
        "rg": "faster search: install ripgrep",
    }
    lines = []
    for name, why in wanted.items():
        where = shutil.which(name)
        lines.append(Finding(name, where or f"missing ({why})", ok=where is not None))
    return Section("Programs", tuple(lines))


def as_text(sections: Sequence[Section]) -> str:
    """The report for a terminal or a file."""
    out = []
    for section in sections:
        out.append(section.title)
        width = max((len(one_line(line.name)) for line in section.lines), default=0)
        for line in section.lines:
            sign = {None: " ", True: "✓", False: "✗"}[line.ok]
            out.append(f"  {sign} {one_line(line.name):<{width}}  {one_line(line.text)}")
        out.append("")
    return "\n".join(out).rstrip()
