"""The agents that pinfold brings."""

from pinfold.agent.children.definition import Agent

_READS = ("read_file", "list_dir", "glob", "grep", "shell", "shell_output", "web_fetch")

EXPLORE = Agent(
    "explore",
    "searches and reads only",
    "Find out what the task asks, and change nothing. Search widely before you read closely. "
    "Report what you found, with paths and line numbers, and what you did not find.",
    tools=_READS,
    approvals="read-only",
)
REVIEW = Agent(
    "review",
    "reviews changes",
    "Review the changes that the task names, and change nothing. Read the code around them, too. "
    "Look for bugs, lost cases, broken callers, missing tests; not for matters of taste. "
    "List what you are sure of, the worst first: path:line, what is wrong, what happens, how to "
    "fix it. If nothing is wrong, say so.",
    tools=_READS,
    approvals="read-only",
)
BUILT_IN = {agent.name: agent for agent in (EXPLORE, REVIEW)}
