"""What stands before the window, as text."""

from pinfold.rollout.events import Context


def system_text(context: Context) -> str:
    """Instructions, each AGENTS.md under its path, and the environment."""
    parts = [context.instructions]
    parts += [
        f"AGENTS.md, the project's instructions to agents, from {file.path}:\n\n{file.text}"
        for file in context.agents
    ]
    parts.append(context.environment)
    return "\n\n".join(part.strip() for part in parts if part.strip())
