"""Every command of `pinfold`, in the order of its help. What carries one out is imported then."""

from pinfold.wiring.command_line import sessions, setup, trials, windows

COMMANDS = (
    *sessions.COMMANDS,
    *windows.COMMANDS,
    *trials.COMMANDS,
    *setup.COMMANDS,
)
