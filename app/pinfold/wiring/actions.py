"""What each command of the command line does. Each returns the exit code."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from pinfold.host.app_context import AppContext, WrongUse, app_context
from pinfold.wiring.first import first_frame

if TYPE_CHECKING:
    import argparse

    from pinfold.rollout.provenance import Prompt, Span
    from pinfold.tui.early_screen import EarlyScreen
    from pinfold.wiring.replaying import Player


def shell(arguments: argparse.Namespace | None = None) -> int:
    ctx, prompt = app_context(arguments), _prompt(arguments)
    with nullcontext() if prompt else first_frame(ctx, None) as early:
        from pinfold.host.host import Host
        from pinfold.wiring.screen import run

        host = Host(ctx)
        return run(ctx, host.new, host, prompt=prompt, early=early)


def _prompt(arguments: argparse.Namespace | None) -> Prompt | None:
    """What to send first."""
    text: str = getattr(arguments, "prompt", None) or ""
    if not text.strip():
        return None
    from pinfold.rollout import provenance

    return provenance.Prompt(text, tuple(provenance.guess(text)))


def resume_last() -> int:
    """Continue the newest session of the folder, with nothing else asked."""
    asked = SimpleNamespace(session=None, last=True, read_only=False, fork=False)
    return resume(cast("argparse.Namespace", asked))


def resume(arguments: argparse.Namespace) -> int:
    ctx = app_context(arguments)
    prompt = _prompt(arguments)
    chosen = arguments.last or arguments.session or arguments.read_only or arguments.fork
    if not chosen and sys.stdin.isatty() and sys.stdout.isatty():
        from pinfold.host.host import Host
        from pinfold.wiring.screen import run

        host = Host(ctx)
        return run(ctx, host.new, host, choosing=True, prompt=prompt)
    named = "" if arguments.last else arguments.session
    if prompt or arguments.read_only or arguments.fork:
        return _resume(ctx, arguments, named, prompt, None)
    with first_frame(ctx, named) as early:
        return _resume(ctx, arguments, named, prompt, early)


def _resume(
    ctx: AppContext,
    arguments: argparse.Namespace,
    named: str | None,
    prompt: Prompt | None,
    early: EarlyScreen | None,
) -> int:
    from pinfold.host.host import Host
    from pinfold.host.sessions import own_folder
    from pinfold.wiring.screen import run

    folder, note = _folder_or_kept(ctx, named)
    if early is not None and early.frame.session != str(folder):
        early.leave()
    how = _how_to_open(arguments, folder, early)
    if how == "quit":
        return 0
    ctx = own_folder(ctx, folder, else_here=how == "fork")
    host = Host(ctx)
    if how == "fork":
        return run(ctx, partial(host.fork, folder, None), host, prompt=prompt)
    start = partial(host.open_folder, folder, read_only=how == "read-only")
    return run(ctx, start, host, prompt=prompt, note=note, early=early)


def _folder_or_kept(ctx: AppContext, session: str | None) -> tuple[Path, str]:
    """The session's folder; one that only the vault has is adopted first, and the note says so.

    Raises `JournalError`.
    """
    from pinfold.host.sessions import folder_of
    from pinfold.rollout.journal import JournalError

    try:
        return folder_of(ctx, session), ""
    except JournalError:
        from pinfold.host.adopting import adopt
        from pinfold.host.vault import file_of

        kept = file_of(ctx, session) if session else None
        if kept is None:
            raise
        adopted = adopt(ctx, kept)
        return adopted.folder, adopted.said


def _how_to_open(
    arguments: argparse.Namespace, folder: Path, early: EarlyScreen | None = None
) -> str:
    """`write`, `read-only`, `fork` or `quit`. Raises `SessionHeld` where nobody can be asked."""
    from pinfold.agent.clock import CLOCK
    from pinfold.rollout.hold import SessionHeld
    from pinfold.rollout.journal import Journal

    if arguments.read_only or arguments.fork:
        return "fork" if arguments.fork else "read-only"
    try:
        Journal.open(folder, CLOCK.now).close()
    except SessionHeld as held:
        if early is not None:
            early.leave()
        if not sys.stdin.isatty():
            raise
        print(held)
        try:
            answer = input("Open it [r]ead-only, [f]ork it, or [q]uit? ").strip().lower()[:1]
        except EOFError:
            answer = "q"
        return {"r": "read-only", "f": "fork"}.get(answer, "quit")
    return "write"


def exec_(arguments: argparse.Namespace) -> int:
    import asyncio
    import tempfile

    from pinfold.rollout import provenance
    from pinfold.wiring import stdin

    prompt = arguments.prompt
    pasted: tuple[Span, ...]
    if prompt in (None, "-"):
        if sys.stdin.isatty():
            raise WrongUse("exec needs a prompt, as an argument or on stdin")
        prompt = stdin.read()
        pasted = ((0, len(prompt)),)
    else:
        pasted = provenance.guess(prompt)  # a shell may have put a file there
        if stdin.is_given() and (more := stdin.read().strip()):
            # Spans of their own: where it is too large, what was piped in goes into a file alone.
            for piece in ("\n\n<stdin>\n", more, "\n</stdin>"):
                pasted = (*pasted, (len(prompt), len(prompt) + len(piece)))
                prompt += piece
    if not prompt.strip():
        raise WrongUse("the prompt is empty")
    if arguments.fork and not (arguments.session or arguments.last):
        raise WrongUse("--fork needs the session to copy: --resume ID or --last")
    ephemeral = getattr(arguments, "ephemeral", False)
    if ephemeral and (arguments.session or arguments.last):
        raise WrongUse("--ephemeral begins a new session: leave out --resume and --last")
    ctx, prompt = app_context(arguments), provenance.Prompt(prompt, pasted)
    if not ephemeral:
        return asyncio.run(_exec(ctx, arguments, prompt))
    with tempfile.TemporaryDirectory(prefix="pinfold-") as sessions:
        return asyncio.run(_exec(replace(ctx, sessions=Path(sessions)), arguments, prompt))


async def _exec(ctx: AppContext, arguments: argparse.Namespace, prompt: Prompt) -> int:
    from pinfold import headless
    from pinfold.host.host import Host
    from pinfold.host.sessions import folder_of, own_folder
    from pinfold.output import warn
    from pinfold.paths import program
    from pinfold.rollout.hold import SessionHeld
    from pinfold.rollout.journal import JournalError

    schema = _schema(arguments)
    folder: Path | None = None
    if arguments.session or arguments.last:
        folder = folder_of(ctx, arguments.session)
        ctx = own_folder(ctx, folder, else_here=arguments.fork)
    for warning in ctx.loaded.warnings:
        warn(warning)
    host = Host(ctx, attended=False)
    try:
        if folder is None:
            session = await host.new(headless.no_terminal, "exec")
        elif arguments.fork:
            session = await host.fork(folder, None, headless.no_terminal)
        else:
            session = await host.open_folder(folder, headless.no_terminal)
    except SessionHeld as held:
        assert folder is not None
        again = f"{program()} exec --fork --resume {folder.name}"
        raise JournalError(f"{held} Continue in a fork with: {again}") from held
    _interrupt_on_signals(session.interrupt)
    try:
        return await headless.run(session, prompt, as_json=arguments.json, schema=schema)
    finally:
        await host.stop()


def _schema(arguments: argparse.Namespace) -> Mapping[str, Any] | None:
    """What `--output-schema` names. Raises `WrongUse`."""
    from pinfold.reply_schema import WrongSchema, load

    path: str | None = getattr(arguments, "output_schema", None)
    if path is None:
        return None
    try:
        return load(Path(path))
    except WrongSchema as error:
        raise WrongUse(str(error)) from error


def _interrupt_on_signals(interrupt: Callable[[], None]) -> None:
    import asyncio

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            asyncio.get_running_loop().add_signal_handler(number, interrupt)


def context(arguments: argparse.Namespace) -> int:
    import msgspec

    from pinfold.agent.clock import CLOCK
    from pinfold.commands.context_text import lines
    from pinfold.output import print_json
    from pinfold.wiring.sources import Folded, find

    ctx = app_context(arguments)
    model: str | None = getattr(arguments, "model", None)
    found = Folded(ctx, find(ctx, arguments), model).overview()
    if arguments.sort == "size":
        rows = sorted(found.rows, key=lambda row: -row.tokens)
        found = msgspec.structs.replace(found, rows=tuple(rows))
    if arguments.json:
        print_json(found)
        return 0
    for line in lines(found, CLOCK.now()):
        print(line)
    return 0


def replay(arguments: argparse.Namespace) -> int:
    import asyncio

    from pinfold.wiring.replaying import Player, play_unseen

    if arguments.threshold is not None and not 0 < arguments.threshold <= 1:
        raise WrongUse("--threshold is a share of the usable window: above 0, at most 1")
    speed = _speed(arguments)
    seen = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.json
    ctx = app_context(arguments)
    player = Player(
        ctx,
        arguments.file,
        speed if seen else 0,
        arguments.index,
        strategy=arguments.strategy,
        threshold=arguments.threshold,
    )
    if seen:
        return _play(ctx, player)
    try:
        return asyncio.run(play_unseen(player, as_json=arguments.json))
    finally:
        player.close()


def demo(arguments: argparse.Namespace) -> int:
    from pinfold.wiring.replaying import Player, demo_file

    speed = _speed(arguments)
    ctx = app_context(arguments)
    return _play(ctx, Player(ctx, demo_file(), speed))


def _speed(arguments: argparse.Namespace) -> float:
    if not arguments.speed >= 0:  # nor is it nan
        raise WrongUse("--speed takes a number from 0 up")
    return float(arguments.speed)


def _play(ctx: AppContext, player: Player) -> int:
    from pinfold.host.host import Host
    from pinfold.wiring.screen import run

    try:
        code = run(ctx, player.start, Host(ctx), kept=False)
    finally:
        player.close()
    if player.rounds:
        print("\n".join(player.table()))
    return code


def doctor(arguments: argparse.Namespace) -> int:
    import asyncio

    from pinfold.host.doctor import report

    print(asyncio.run(report(app_context(arguments, even_if_broken=True))))
    return 0


def local(arguments: argparse.Namespace) -> int:
    from pinfold.providers.local_setup import run_setup, status

    if arguments.action == "setup":
        return run_setup()
    found = status()
    for name, ok, text in found:
        print(f"{'✓' if ok else '✗'} {name}: {text}")
    return 0 if all(ok for _, ok, _ in found) else 1
