"""The profile for macOS's `sandbox-exec`. Its text is tested; nobody has tried it yet."""

import json
from collections.abc import Collection, Iterable
from pathlib import Path

from pinfold.ports.tool import Sandbox
from pinfold.tools.sandbox.places import GuardedPlaces

PROGRAM = "/usr/bin/sandbox-exec"
SERVICES = (
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.logger",
    "com.apple.system.notification_center",
    "com.apple.SystemConfiguration.configd",
    "com.apple.trustd.agent",
)
"""What ordinary programs ask of the system; nothing that starts others."""
HEAD = """\
(version 1)
(deny default)
(allow process-exec process-fork sysctl-read pseudo-tty ipc-posix-sem ipc-posix-shm)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow file-read*)
(allow file-read* file-write* file-ioctl (regex #"^/dev/(null|zero|tty|ptmx|pty|fd/)"))"""


def profile(
    sandbox: Sandbox, places: GuardedPlaces, hidden: Collection[Path], extra: Iterable[Path]
) -> str:
    """Later rules win: what is hidden or guarded comes last."""
    lines = [HEAD, *(f"(allow mach-lookup (global-name {json.dumps(n)}))" for n in SERVICES)]
    roots = sorted(sandbox.roots)
    outer = [path for path in sorted(hidden) if not any(map(path.is_relative_to, roots))]
    lines += _rule("deny file-read* file-write*", outer)
    lines += _rule("allow file-read*", [*sandbox.readable, *roots])
    if sandbox.writes:
        lines += _rule("allow file-read* file-write*", [*roots, *extra])
    lines += _rule("deny file-read* file-write*", sorted(set(hidden) - set(outer) - set(roots)))
    if sandbox.writes:
        lines += _rule("deny file-write*", sorted(places.kept))
        lines += [f"(deny file-write-unlink (literal {_text(path)}))" for path in places.stays]
    if sandbox.network:
        lines.append("(allow network-outbound network-inbound network-bind system-socket)")
        lines.append("(deny network-outbound (remote unix-socket))")
    return "\n".join(lines)


def _rule(action: str, paths: Iterable[Path]) -> list[str]:
    return [f"({action} (subpath {_text(path)}))" for path in paths]


def _text(path: Path) -> str:
    return json.dumps(str(path), ensure_ascii=False)
