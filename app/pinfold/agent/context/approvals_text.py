"""What the model is told about approvals, the sandbox and its window."""

from pinfold.ports.tool import Sandbox
from pinfold.settings import Mode


def approvals_text(mode: Mode, sandbox: Sandbox | None) -> str:
    """Which commands run without asking in that mode, and what `sandbox` keeps them from."""
    when = "are refused" if mode == "read-only" else "ask the user"
    if sandbox is None:
        when = "run without asking" if mode == "full" else when
        return f"Approvals are {mode}: commands {when}, and run in no sandbox."
    network = "with the network" if sandbox.network else "without network"
    if not sandbox.writes:
        return f"Approvals are {mode}: commands run in a sandbox {network} and can't write."
    reads = "that only read run without asking, others ask the user, and all run"
    when = "run without asking" if mode == "workspace" else reads
    others = "".join(f", {root}" for root in sandbox.roots[1:])
    return (
        f"Approvals are {mode}: commands {when} in a sandbox {network}. They write to the "
        f"working directory{others} and $TMPDIR. For a command that needs more, give the "
        "reason as `outside`: the user is asked."
    )


def window_text(context_window: int) -> str:
    """How large the window is, in tokens, and what happens as it fills."""
    return (
        f"Your context window has {context_window:,} tokens: as it fills, old results are masked, "
        "then it is compacted; `recall` brings anything back."
    )
