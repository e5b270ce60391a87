"""Commands on the screen, and keys that its widgets handle."""

import asyncio
from operator import methodcaller

from pinfold.commands.action import Action, opens, writable
from pinfold.commands.arguments import Argument, CommandError
from pinfold.commands.context import Context


async def find(context: Context, text: str = "", *, all: bool = False) -> None:  # noqa: A002
    if all:
        context.open("find", text)
    else:
        context.find(text)


async def theme(context: Context, name: str = "") -> None:
    if not name:
        context.open("themes")
        return
    if name not in context.themes:
        raise CommandError(f"There is no theme “{name}”. Themes: {', '.join(context.themes)}.")
    context.set_theme(name)


async def statusline(context: Context, command: str = "") -> None:
    if not command:
        now = await asyncio.to_thread(lambda: context.host.statusline)
        context.tell(
            f"Status line: {f'written by {now}' if now else 'as pinfold writes it'}.\n"
            "/statusline COMMAND has a command of yours write it: it gets JSON on standard "
            "input, and its first line is shown. /statusline off ends that."
        )
        return
    wanted = "" if command == "off" else command
    said = await asyncio.to_thread(context.host.save_statusline, wanted)
    context.use_statusline(wanted)
    context.tell(said)


async def copy(context: Context) -> None:
    replies = (item for item in reversed(context.session.items) if item.kind == "assistant")
    reply = next(replies, None)
    if reply is None:
        raise CommandError("There is no reply to copy yet.")
    context.copy(reply.content)
    context.tell(f"Copied #{reply.n}: {len(reply.content):,} characters.")


async def paste_picture(context: Context) -> None:
    from pinfold.ports.tool import ToolError
    from pinfold.tools.clipboard import save_picture
    from pinfold.tools.pictures import mention

    try:
        saved = await save_picture(writable(context).folder)
    except ToolError as error:
        raise CommandError(str(error)) from error
    context.insert(mention(str(saved)))


async def doctor(context: Context) -> None:
    context.tell(await asyncio.to_thread(context.host.doctor))


ACTIONS = (
    Action(
        "help",
        "Show keys and commands",
        "screen",
        ("help",),
        keys="f1",
        run=opens("help"),
        early=True,
    ),
    Action("palette", "Find an action", "screen", keys="ctrl+p", run=opens("palette"), early=True),
    Action(
        "context", "See and steer what the model sees", "screen", ("context",), run=opens("context")
    ),
    Action(
        "find",
        "Search this session and its agents, folded items included; or all sessions",
        "screen",
        ("find",),
        (Argument("text", kind="rest"), Argument("--all", "in all sessions", kind="flag")),
        keys="ctrl+f",
        run=find,
        early=True,
    ),
    Action(
        "theme",
        "Choose a theme",
        "screen",
        ("theme",),
        (Argument("name", kind="rest", offers=lambda context: context.themes),),
        run=theme,
        early=True,
    ),
    Action(
        "statusline",
        "Have a command of yours write the status line",
        "screen",
        ("statusline",),
        (Argument("command", kind="rest", metavar="COMMAND|off", offers=lambda _: ("off",)),),
        run=statusline,
    ),
    Action("copy", "Copy the last reply", "screen", ("copy",), run=copy),
    Action(
        "paste_picture",
        "Paste the clipboard's picture as @path",
        "screen",
        keys="alt+v",
        run=paste_picture,
    ),
    Action(
        "editor",
        "Write the prompt in $EDITOR",
        "screen",
        ("editor",),
        keys="ctrl+g",
        run=methodcaller("edit_prompt"),
        early=True,
    ),
    Action(
        "doctor",
        "Show what was found and what is missing",
        "screen",
        ("doctor",),
        run=doctor,
        early=True,
    ),
    Action(
        "quit",
        "Quit; the session is saved",
        "screen",
        ("quit", "exit"),
        keys="ctrl+q",
        run=methodcaller("quit"),
        early=True,
    ),
    Action("send", "Send; during a turn, after the next tool call", "prompt", keys="enter"),
    Action(
        "newline",
        "New line, as \\ and Enter (Shift+Enter in terminals that report it)",
        "prompt",
        keys="ctrl+j,shift+enter,alt+enter",
    ),
    Action(
        "interrupt",
        "Interrupt the turn; twice at an empty prompt: rewind",
        "prompt",
        keys="escape",
    ),
    Action("older", "Older prompt; edit the one that waits", "prompt", keys="up"),
    Action("newer", "Newer prompt", "prompt", keys="down"),
    Action("search_prompts", "Search earlier prompts", "prompt", keys="ctrl+r"),
    Action(
        "complete",
        "Complete a command or an @file; else queue the prompt until the turn ends",
        "prompt",
        keys="tab",
    ),
    Action("cut", "Cut; remove the prompt that waits", "prompt", keys="ctrl+x"),
    Action(
        "undo_typing",
        "Undo typing",
        "prompt",
        keys="ctrl+underscore,ctrl+shift+minus",
    ),
    Action(
        "leave",
        "Interrupt the turn; else clear the prompt; twice: quit",
        "prompt",
        keys="ctrl+c",
    ),
    Action("end", "Quit at an empty prompt", "prompt", keys="ctrl+d"),
    Action(
        "suspend",
        "Suspend; `fg` in the shell resumes",
        "transcript",
        keys="ctrl+z",
        run=methodcaller("suspend_job"),
        early=True,
    ),
    Action(
        "cycle_approvals",
        "Next approval mode: ask, workspace, read-only, plan",
        "transcript",
        keys="shift+tab",
    ),
    Action(
        "switch_focus",
        "Go to the card or the transcript, and back; preview a pending compaction",
        "transcript",
        keys="f6",
    ),
    Action("plan", "Unfold or fold the plan", "transcript", keys="ctrl+t"),
    Action("page_up", "Scroll back", "transcript", keys="pageup"),
    Action("page_down", "Scroll forward", "transcript", keys="pagedown"),
    Action("top", "To the first line", "transcript", keys="ctrl+home"),
    Action("bottom", "To the last line", "transcript", keys="ctrl+end"),
    Action("allow", "Allow it", "approval", keys="y"),
    Action("network", "Allow it the network in its sandbox", "approval", keys="w"),
    Action("refuse", "Refuse it and tell the model why", "approval", keys="n"),
    Action("always", "Always allow this command", "approval", keys="a"),
    Action("change", "Edit it, then allow it", "approval", keys="e"),
    Action("enlarge", "Enlarge or shrink it", "approval", keys="f"),
)
