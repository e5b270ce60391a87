"""`pinfold doctor`: what was found, and what is missing and how to get it."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from pinfold import __version__, paths
from pinfold.adopt.foreign_list import files, tool_folders
from pinfold.host.app_context import AppContext, config_files
from pinfold.host.sandbox import OFF
from pinfold.numbers import plural
from pinfold.sanitize import one_line
from pinfold.tools.sandbox.confine import find

LIBRARIES = ("textual", "rich", "httpx2", "tiktoken", "pydantic", "msgspec")


class Finding(NamedTuple):
    name: str
    text: str
    ok: bool | None = None
    """None for plain facts."""


async def report(ctx: AppContext) -> str:
    """Every section, as lines for a terminal or a file."""
    from pinfold.host.models import choice_of
    from pinfold.providers.local_setup import status

    choice = await choice_of(ctx)
    model = [
        Finding("chosen", choice.why, ok=choice.kind in ("endpoint", "embedded")),
        Finding("", choice.how_to_change),
    ]
    if info := choice.model:
        model.append(
            Finding("window", f"{info.context_window:,} tokens (from: {info.window_source})")
        )
    sections = {
        "Versions": _versions(),
        "Model": model,
        "Embedded model": (Finding(name, text, ok=ok) for name, ok, text in status()),
        "Configuration": _configuration(ctx),
        "Storage": _storage(ctx),
        "Other tools": _other_tools(),
        "Terminal": _terminal(),
        "Sandbox": _sandbox(ctx),
        "Programs": _programs(),
    }
    lines: list[str] = []
    for title, found in sections.items():
        findings = list(found)
        width = max((len(one_line(finding.name)) for finding in findings), default=0)
        lines.append(title)
        for finding in findings:
            sign = {None: " ", True: "✓", False: "✗"}[finding.ok]
            lines.append(f"  {sign} {one_line(finding.name):<{width}}  {one_line(finding.text)}")
        lines.append("")
    return "\n".join(lines).rstrip()


def _versions() -> Iterator[Finding]:
    yield Finding("pinfold", __version__)
    yield Finding("python", platform.python_version())
    for name in LIBRARIES:
        try:
            yield Finding(name, version(name))
        except PackageNotFoundError:
            yield Finding(name, f"missing: pip install {name}", ok=False)
    yield Finding("system", f"{platform.system()} {platform.release()} {platform.machine()}")


def _configuration(ctx: AppContext) -> Iterator[Finding]:
    loaded = ctx.loaded
    for path in config_files(ctx.cwd):
        absent = "not read" if path.exists() else "not there"
        yield Finding(paths.shown(path), "read" if path in loaded.files else absent)
    for key, source in sorted(loaded.origins.items()):
        yield Finding(key, f"set by {source}")
    for text in loaded.warnings:
        yield Finding("warning", text, ok=False)


def _storage(ctx: AppContext) -> Iterator[Finding]:
    home = ctx.home
    try:
        home.mkdir(parents=True, exist_ok=True)
        writable = os.access(home, os.W_OK)
        free = shutil.disk_usage(home).free
    except OSError as error:
        yield Finding(paths.shown(home), str(error), ok=False)
        return
    yield Finding(paths.shown(home), "writable" if writable else "not writable", ok=writable)
    yield Finding("free", f"{free / 2**30:.1f} GiB", ok=free > 2**28)
    yield Finding("sessions", str(len(ctx.store.list())))


def _other_tools() -> Iterator[Finding]:
    for place in tool_folders():
        sessions = plural(len(files(place)), "session")
        yield Finding(place.tool, f"{sessions} in {paths.shown(place.folder)}")
    yield Finding("", "List them, and continue one: pinfold adopt")


def _terminal() -> Iterator[Finding]:
    env = os.environ
    size = shutil.get_terminal_size()
    encoding = (getattr(sys.stdout, "encoding", "") or "").lower()
    yield Finding("terminal", env.get("TERM", "unknown") + (" in tmux" if "TMUX" in env else ""))
    large = size.columns >= 40 and size.lines >= 12
    yield Finding("size", f"{size.columns}x{size.lines}", ok=large)
    yield Finding("colour", _colours())
    yield Finding("text", encoding or "unknown", ok="utf" in encoding)
    yield Finding("remote", "over ssh" if "SSH_CONNECTION" in env else "no")


def _colours() -> str:
    if os.environ.get("NO_COLOR"):
        return "off (NO_COLOR)"
    if os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        return "16 million"
    if "256" in os.environ.get("TERM", ""):
        return "256 (set COLORTERM=truecolor if the terminal can do more)"
    return "16"


def _sandbox(ctx: AppContext) -> Iterator[Finding]:
    settings = ctx.settings.sandbox
    if not settings.enabled:
        yield Finding("", OFF)
        return
    found = find()
    yield Finding("commands", found.text, ok=found.kind is not None)
    if found.kind is not None:
        yield Finding("network", "allowed by [sandbox] network" if settings.network else "none")
        for name in settings.writable:
            yield Finding("writable", name)


def _programs() -> Iterator[Finding]:
    where = shutil.which("rg")
    missing = "missing (faster search: install ripgrep)"
    yield Finding("rg", where or missing, ok=where is not None)
