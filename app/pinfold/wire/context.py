"""What is before the window, as text."""

from pinfold.rollout.context import Context


def system_text(context: Context) -> str:
    """Instructions, each AGENTS.md under its path, the environment, skills, servers, memories."""
    parts = [context.instructions]
    parts += [
        f"AGENTS.md, the project's instructions to agents, from {file.path}:\n\n{file.text}"
        for file in context.agents
    ]
    skills = context.skills.told if context.skills else ""
    parts += [context.environment, skills, *(server.text for server in context.servers)]
    parts += [context.remembered]
    return "\n\n".join(part.strip() for part in parts if part.strip())
